"""The main window: header, board, drawn buttons, the line of words, the keys."""

from __future__ import annotations

import sys
import tkinter as tk
from collections.abc import Callable
from functools import partial

from py2048.language import N_, _, number
from py2048.ui.desktop import style
from py2048.ui.desktop.board_view import CanvasBoard
from py2048.ui.desktop.style import RING, Button, Drawn, cut, font, measured, wrapped, write
from py2048.ui.shared.actions import ACTIONS, UserAction
from py2048.ui.shared.board_image import BoardGrid, face
from py2048.ui.shared.screen import CoachStatus, Status
from py2048.ui.shared.themes import MOTION_MS, RADIUS, TYPE, Theme

WIDTH, HEIGHT = 560, 760
MIN_WIDTH, MIN_HEIGHT = 320, 300

NARROW, LOW = 480, 460
"""Below this width and height there is less room around things, in pixels of usual size."""

LINES, LINE = 2, TYPE["small"][1]
"""The room for what is said, always the same so that the board stays: lines, and their height."""

TOOLS = (
    ("undo", N_("Undo"), "undo"),
    ("hint", N_("Hint"), "hint"),
    ("autoplay", N_("Watch it play"), "play"),
    ("new", N_("New"), "new"),
)
"""The buttons: their actions, words and icons."""


class MainWindow:
    """What is seen of the game: everything is drawn, and lies where the window has room for it.

    Args:
        root: the window to fill.
        theme: the colours.
        scale: how many pixels of this screen are one of an ordinary screen.
        act: called with the name of an action that the mouse or a button asks for.

    Attributes:
        unit: how many pixels are one of the usual size; large windows have larger letters.
    """

    def __init__(
        self, root: tk.Tk, theme: Theme, scale: float, act: Callable[[str], object]
    ) -> None:
        self.root, self.theme, self.scale = root, theme, scale
        self.unit = scale
        style.apply(root, theme, scale)
        self.header = ScoreHeader(root, theme)
        self.board = CanvasBoard(root, theme, lambda direction: act(str(direction)))
        self.board.overlay.act = act
        self.board.reshaped = self.lay_out
        self.coach = CoachRow(root, theme)

        def add(name: str, text: str, icon: str, kind: str = "plain") -> Button:
            return Button(root, text, lambda: act(name), theme, scale, kind=kind, icon=icon)

        self.buttons = {name: add(name, _(text), icon) for name, text, icon in TOOLS}
        self.buttons["more"] = add("more", _("More"), "more", "ghost")
        self.line = TextLine(root, theme)
        self.notice = NoticeBar(root, theme, scale)
        self.notice.changed = self.lay_out
        root.bind("<Configure>", self._follow)
        self.board.focus_set()

    def set_theme(self, theme: Theme) -> None:
        """Change the colours of everything."""
        self.theme = theme
        style.apply(self.root, theme, self.scale)
        for part in (self.header, self.board, self.coach, self.line, self.notice):
            part.set_theme(theme)
        for button in self.buttons.values():
            button.show(theme=theme)

    # Where things lie

    def _follow(self, event: tk.Event[tk.Misc]) -> None:
        if event.widget is self.root:
            self.lay_out()

    def lay_out(self) -> None:
        """Put everything where the window has room: the board is as large as can be."""
        width, height = self.root.winfo_width(), self.root.winfo_height()
        if min(width, height) < 100:
            return
        # From a phone's height to that of a 4K screen letters grow by half.
        self.unit = self.scale * min(1.5, max(1.0, (1.1 * height / self.scale / 100 + 6) / 16))
        unit, is_low = self.unit, height < LOW * self.scale
        pad = round((16 if width < NARROW * unit else 20) * unit)
        if is_low and width > 1.3 * height:  # all that is read stands beside the board
            grid = BoardGrid.fit(self.board.board.shape, width // 2, height - 2 * pad)
            self._place_board(pad, (height - grid.height) // 2, grid)
            left = 2 * pad + grid.width
            self._place_words(left, pad, width - left - pad, grid=None)
            return
        head, gap = round((50 if is_low else 56) * unit), round(14 * unit)
        coach = round(28 * unit) if self.coach.status else 0
        below = self._height_below(width - 2 * pad)
        room = height - 2 * pad - head - gap - coach - below
        grid = BoardGrid.fit(self.board.board.shape, width - 2 * pad, max(60, room))
        column = min(width - 2 * pad, max(grid.width, round(288 * unit)))
        top = pad + max(0, room - grid.height) * 2 // 5
        left = (width - column) // 2
        self._place_board((width - grid.width) // 2, top + head + gap + coach, grid)
        self._place_words(left, top, column, grid)

    def _height_below(self, width: int) -> int:
        """Return how high what lies below the board is."""
        return round((16 + 44 + 10 + self._lines(width) * LINE) * self.unit) + self.notice.height

    def _lines(self, width: int) -> int:
        return LINES + (width < NARROW * self.unit)

    def _place_board(self, left: int, top: int, grid: BoardGrid) -> None:
        margin = self.board.margin = round(8 * self.unit)
        width, height = grid.width + 2 * margin, grid.height + 2 * margin
        self.board.overlay.unit = self.unit
        self.board.place(x=left - margin, y=top - margin, width=width, height=height)

    def _place_words(self, left: int, top: int, width: int, grid: BoardGrid | None) -> None:
        """Put header, coach, buttons and words into a column, around the board or beside it."""
        unit = self.unit
        head = round((50 if self.root.winfo_height() < LOW * self.scale else 56) * unit)
        self.header.place(x=left, y=top, width=width, height=head)
        top += head + round(14 * unit)
        if self.coach.status:
            self.coach.place(x=left, y=top - round(6 * unit), width=width, height=round(24 * unit))
            top += round(28 * unit)
        else:
            self.coach.place_forget()
        top += grid.height + round(16 * unit) if grid else 0
        self._place_buttons(left, top, width)
        top += round((44 + 10) * unit)
        self.line.lines, self.line.unit = self._lines(width), unit
        lines = round(self.line.lines * LINE * unit)
        self.line.place(x=left, y=top, width=width, height=lines)
        self.notice.place_in(left, top + lines, width, unit)

    def _place_buttons(self, left: int, top: int, width: int) -> None:
        """Put the buttons into a row, with as many words as have room; the last at its end."""
        ring, gap, unit = round(RING * self.unit), round(8 * self.unit), self.unit
        *row, more = self.buttons.values()
        silent: tuple[str, ...] = ()
        last = more.fit(unit, has_words=False)
        for letters, silent in (
            *((size, ()) for size in (TYPE["button"][0], TYPE["small"][0])),
            (TYPE["button"][0], ("autoplay",)),
            (TYPE["small"][0], ("autoplay",)),
            (TYPE["small"][0], ("autoplay", "new")),
            (TYPE["small"][0], tuple(self.buttons)),
        ):
            widths = [
                self.buttons[name].fit(unit, has_words=name not in silent, letters=letters)
                for name, *_ in TOOLS
            ]
            if sum(widths) + last - 10 * ring + 4 * gap <= width:
                break
        x = left - ring
        for button, room in zip(row, widths, strict=True):
            button.place(x=x, y=top - ring)
            x += room - 2 * ring + gap
        more.place(x=left + width - last + ring, y=top - ring)

    # Messages

    def say(self, text: str) -> None:
        """Say what happened; the first of several lines is the answer to a question."""
        self.line.show(text)

    def warn(self, text: str) -> None:
        """Say what went wrong, until the player has taken note of it."""
        self.notice.show(warning=_("Warning: {text}").format(text=text))

    def show_unsaved(self, reason: str) -> None:
        """Say why something is not saved, as long as that is so."""
        text = _("Not saved: {reason}").format(reason=reason)
        self.notice.show(unsaved=text if reason else "")

    @property
    def said(self) -> str:
        """What is shown: the notice, if there is one, else the line."""
        return self.notice.text or self.line.text

    # Buttons, and the coach's row

    def show_possible(self, *, undo: bool) -> None:
        """Show which buttons can do something."""
        self.buttons["undo"].show(is_possible=undo)

    def show_autoplay(self, *, is_on: bool) -> None:
        """Show what the button for it does now."""
        text = _("Pause") if is_on else _("Watch it play")
        self.buttons["autoplay"].show(text, icon="pause" if is_on else "play")

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show what the coach says, or take its row away."""
        had = self.coach.status is not None
        self.coach.show(status)
        if had != (status is not None):
            self.lay_out()


class TextLine(Drawn):
    """Words that wrap, below the board; where there is no room for all of them, they end early.

    Attributes:
        text: what is said, all of it.
        lines: how many there is room for.
        unit: how many pixels are one of the usual size.
    """

    def __init__(self, root: tk.Tk, theme: Theme) -> None:
        super().__init__(root, theme)
        self.text, self.lines, self.unit = "", LINES, 1.0

    def show(self, text: str) -> None:
        """Show a text; the first of several lines is the larger."""
        self.text = text
        self.draw()

    def draw(self) -> None:
        """Draw the words that have room."""
        text = self.text
        self.delete("all")
        width, unit, y = self.winfo_width(), self.unit, 0
        lead, _newline, rest = text.rpartition("\n")
        for part, colour, name in (
            (lead, self._theme.good, "button"),
            (rest, self._theme.muted, "small"),
        ):
            letters = font(self, TYPE[name][0] * unit, bold=part is lead)
            for words in wrapped(self, part, letters, width, self.lines - y) if part else ():
                place = 1, y * LINE * unit
                self.create_text(*place, text=words, fill=colour, font=letters, anchor="nw")
                y += 1


class CoachRow(Drawn):
    """What the coach says: a bar, as full as the position is good, and words beside it.

    Attributes:
        status: what is shown, if anything.
        line: the words that have room.
    """

    def __init__(self, root: tk.Tk, theme: Theme) -> None:
        super().__init__(root, theme)
        self.status: CoachStatus | None = None
        self.line = ""

    def show(self, status: CoachStatus | None) -> None:
        """Show what the coach says now."""
        self.status = status
        self.draw()

    def draw(self) -> None:
        """Draw bar and words, in fewer words where there is no room for all."""
        self.delete("all")
        status = self.status
        width, height, theme = self.winfo_width(), self.winfo_height(), self._theme
        if status is None or height < 10:
            return
        bar, thick = min(width // 4, 6 * height), height // 3
        top = (height - thick) // 2
        filled = max(thick, round(bar * min(status.share, 1.0)))
        for long, colour, ground in (
            (bar, theme.line, theme.page),
            (filled, theme.good, theme.line),
        ):
            draw = partial(face, long, thick, thick // 2, colour, ground)
            photo = self._photos.get((long, colour, thick), draw)
            self.create_image(0, top, image=photo, anchor="nw")
        pixels, room = height * 13 / 24, width - bar - height / 2
        letters = font(self, pixels)
        parts = range(len(status.parts), 0, -1)
        offers = [" · ".join(status.parts[:count]) for count in parts]
        fitting = (each for each in offers if measured(self, each, letters) <= room)
        self.line = next(fitting, cut(self, offers[-1], letters, room))
        place = bar + height / 2, height / 2
        write(self, place, self.line, theme.ink, pixels, anchor="w")


class NoticeBar(tk.Frame):
    """What the player must not miss, below the board: all of it, for as long as it matters.

    Attributes:
        changed: called when it appears, goes or gets another size.
        height: how high it is, 0 where there is none.
    """

    def __init__(self, root: tk.Tk, theme: Theme, scale: float) -> None:
        super().__init__(root, borderwidth=0)
        self._warning = self._unsaved = ""
        self.changed: Callable[[], object] = lambda: None
        self._scale, pad = scale, round(6 * scale)
        self._label = tk.Label(self, anchor="w", justify="left", borderwidth=0)
        self.button = Button(
            self, _("OK"), lambda: self.show(warning=""), theme, scale, ground="panel", height=32
        )
        self._label.pack(side="left", fill="both", expand=True, padx=2 * pad, pady=pad)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self.configure(background=theme.panel)
        letters = font(self, TYPE["small"][0] * self._scale, bold=True)
        self._label.configure(background=theme.panel, foreground=theme.danger, font=letters)
        self.button.show(theme=theme)

    @property
    def text(self) -> str:
        """What is shown, an empty text if nothing."""
        return "\n".join(filter(None, (self._unsaved, self._warning)))

    @property
    def height(self) -> int:
        """How high it is with the space around it."""
        return self.winfo_reqheight() + round(8 * self._scale) if self.text else 0

    def show(self, *, warning: str | None = None, unsaved: str | None = None) -> None:
        """Replace the warning, which stays until it is dismissed, or what is not saved."""
        self._warning = self._warning if warning is None else warning
        self._unsaved = self._unsaved if unsaved is None else unsaved
        self._label.configure(text=self.text)
        self.button.pack_forget()
        if self._warning:
            self.button.pack(before=self._label, side="right")
        self.update_idletasks()
        self.changed()

    def place_in(self, left: int, top: int, width: int, unit: float) -> None:
        """Lie at a place of this width, or nowhere."""
        if not self.text:
            self.place_forget()
            return
        self._label.configure(wraplength=max(100, width - round(110 * unit)))
        self.place(x=left, y=top, width=width)


class ScoreHeader(Drawn):
    """The rules and what comes next at the left, the scores at the right."""

    def __init__(self, parent: tk.Misc, theme: Theme) -> None:
        super().__init__(parent, theme)
        self._gain_at = 0.0, 0.0, 0.0
        self._timer = ""
        self.status = Status()

    def show(self, status: Status) -> None:
        """Show the scores."""
        if status != self.status:
            self.status = status
            self.draw()

    def show_gain(self, points: int) -> None:
        """Show points in the corner of the score for a moment, in place of those before."""
        self.delete("gain")
        if self._timer:
            self.after_cancel(self._timer)
        x, room, unit = self._gain_at
        if not points or not unit:
            return
        text, pixels = f"{points:+,}", TYPE["caption"][0] * unit
        colour = self._theme.good if points > 0 else self._theme.danger
        is_wide = measured(self, text, font(self, pixels, bold=True)) > room
        self.itemconfigure("caption", state="hidden" if is_wide else "normal")
        write(self, (x, 16 * unit), text, colour, pixels, bold=True, anchor="e", tags="gain")
        self._timer = self.after(MOTION_MS["rise"], self._forget_gain)

    def _forget_gain(self) -> None:
        self.delete("gain")
        self.itemconfigure("caption", state="normal")

    def draw(self) -> None:
        """Draw the title, the line below it and the scores."""
        width, height = self.winfo_width(), self.winfo_height()
        if width < 20:
            return
        self.delete("head")
        unit, theme, status = height / 56, self._theme, self.status
        is_narrow = width < 400 * unit
        left = self._draw_card(_("Best"), status.best, width, is_narrow=is_narrow)
        left = self._draw_card(
            _("Score"), status.score, left - round(8 * unit), is_narrow=is_narrow, tags="caption"
        )
        room = left - 12 * unit
        if room < 30 * unit:
            return
        title = status.rules.capitalize() or "2048"
        letters = font(self, 22 * unit, bold=True)
        pixels = min(22 * unit, 22 * unit * room / max(1, measured(self, title, letters)))
        place, tags = (1, height * 0.32), ("head", "title")
        write(self, place, title, theme.ink, pixels, bold=True, anchor="w", tags=tags)
        pixels = TYPE["small"][0] * unit
        letters = font(self, pixels)
        offers = self._lines()
        fitting = (each for each in offers if measured(self, each, letters) <= room)
        text = next(fitting, cut(self, offers[-1], letters, room))
        colour = theme.accent if status.note else theme.muted
        place, tags = (1, height * 0.78), ("head", "line")
        write(self, place, text, colour, pixels, anchor="w", tags=tags)
        self.tag_raise("gain")

    def _lines(self) -> list[str]:
        """Return what may stand below the title, the longest first."""
        status = self.status
        if status.note:
            return [status.note]
        if status.teaching:
            return [status.teaching]
        said = [_("Next: {tile}").format(tile=status.next_tile), *status.facts]
        return [" · ".join(said[:count]) for count in range(len(said), 0, -1)]

    def _draw_card(
        self, label: str, value: int, right: int, *, is_narrow: bool, tags: str = "best"
    ) -> int:
        """Draw a card with a figure that ends at `right`, and return where it begins."""
        height = self.winfo_height()
        unit, text, theme = height / 56, number(value), self._theme
        pixels, pad = (18 if is_narrow else 22) * unit, (10 if is_narrow else 14) * unit
        words = measured(self, text, font(self, pixels, bold=True)) + 2 * pad
        most = self.winfo_width() / 2 - 4 * unit
        width = round(min(max((84 if is_narrow else 114) * unit, words), most))
        pixels *= min(1.0, most / words)
        photo = self._photos.get(
            (width, height),
            lambda: face(width, height, round(RADIUS["button"] * unit), theme.panel, theme.page),
        )
        self.create_image(right, 0, image=photo, anchor="ne", tags="head")
        x, small = right - width + pad, TYPE["caption"][0] * unit
        write(self, (x, 17 * unit), label, theme.muted, small, anchor="w", tags=("head", tags))
        write(self, (x, 39 * unit), text, theme.ink, pixels, bold=True, anchor="w", tags="head")
        used = measured(self, label, font(self, small)) + 8 * unit
        if tags == "caption":
            self._gain_at = right - pad, width - 2 * pad - used, unit
        return right - width


# Keys: Tk's names for those of the table of actions, on any keyboard

TK_NAMES = {
    **{name: name.capitalize() for name in ("up", "down", "left", "right", "home", "end")},
    "escape": "Escape",
    "f1": "F1",
    "backspace": "BackSpace",
    "question_mark": "question",
    "equals_sign": "equal",
    "pageup": "Prior",
    "pagedown": "Next",
    "enter": "Return",
}
"""Tk's names for Textual's names of keys, where they differ."""


def tk_keys(action: UserAction) -> tuple[str, ...]:
    """Return the keys of an action in Tk's names; ``Control-`` before one held with Control."""
    common = (TK_NAMES.get(key, key.replace("ctrl+", "Control-")) for key in action.keys)
    return (*common, *action.window_keys)


_BY_KEY = {key: action for action in ACTIONS for key in tk_keys(action)}

# Tk numbers the modifiers by system: 8 is Alt under X, Command on a Mac, Num Lock on Windows.
CONTROL = 0x8 if sys.platform == "darwin" else 0x4
ALT = {"win32": 0x20000, "darwin": 0x10}.get(sys.platform, 0x8)

# Keyboards with other letters: where the keys are, by X11's key codes.
_X11_ROWS = {24: "qwertyuiop", 38: "asdfghjkl", 52: "zxcvbnm"}
_X11_LETTERS = {
    first + place: letter for first, row in _X11_ROWS.items() for place, letter in enumerate(row)
}


def action_of(keysym: str, state: int = 0, keycode: int = 0, char: str = "") -> UserAction | None:
    """Return the action of a key press, if any.

    On a keyboard that writes other letters than Latin ones a key counts as the Latin letter in
    its place.

    Args:
        keysym: Tk's name of the key.
        state: Tk's mask of the modifiers held.
        keycode: the system's number of the key.
        char: what the key writes.
    """
    if state & ALT:
        return None
    if char.isalpha() and not char.isascii():
        keysym = _latin_letter(keycode) or keysym
    if state & CONTROL:
        return _BY_KEY.get(f"Control-{keysym.lower() if len(keysym) == 1 else keysym}")
    return _BY_KEY.get(keysym)


def _latin_letter(keycode: int) -> str:
    """Return the letter that an American keyboard has at this key; empty for other keys."""
    if sys.platform == "win32":  # its key codes are the codes of those letters
        return chr(keycode).lower() if ord("A") <= keycode <= ord("Z") else ""
    return _X11_LETTERS.get(keycode, "")
