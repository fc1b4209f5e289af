"""The main window: header, board, buttons, the line of words, the keys."""

from __future__ import annotations

import sys
import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk
from typing import TYPE_CHECKING

from py2048.app.desktop.board_view import CanvasBoard, ResultPanel
from py2048.app.desktop.style import RING, Button, Figure, Lines, Look, Text, look_of, measured
from py2048.core.language import N_, _, number
from py2048.presentation import motion
from py2048.presentation.actions import ACTIONS, UserAction
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.screen import CoachStatus, Status
from py2048.presentation.themes import MOTION_MS, Theme

if TYPE_CHECKING:
    from py2048.presentation.result import Result

WIDTH, HEIGHT = 560, 760
MIN_WIDTH, MIN_HEIGHT = 320, 300

NARROW, LOW = 480, 460
"""Below this width and height there is less room around things, in pixels of usual size."""

LEAST, RESULT = 304, 460
"""The least width of words and buttons, and the most of a result, in pixels of usual size."""

TOOLS = (
    ("undo", N_("Undo"), "undo"),
    ("hint", N_("Hint"), "hint"),
    ("autoplay", N_("Watch it play"), "play"),
    ("new", N_("New"), "new"),
)
"""The buttons: their actions, words and icons."""

SILENCE: tuple[tuple[int, tuple[str, ...]], ...] = (
    (15, ()),
    (13, ()),
    (15, ("autoplay",)),
    (13, ("autoplay", "new")),
    (15, tuple(name for name, *_ in TOOLS)),
)
"""How large the words on the buttons are, and which show none: what has room of these."""


class MainWindow:
    """What is seen of the game, as it lies where the window has room for it.

    Args:
        root: the window to fill.
        theme: the colours.
        scale: how many pixels of this screen are one of an ordinary screen.
        act: called with the name of an action that the mouse or a button asks for.

    Attributes:
        look: the colours and letters of everything.
        result: the result that covers the board, or will; `None` if there is none.
    """

    def __init__(
        self, root: tk.Tk, theme: Theme, scale: float, act: Callable[[str], object]
    ) -> None:
        self.root, self.scale, self._act = root, scale, act
        self.look = look = Look(root, theme, scale)
        self.page = page = ttk.Frame(root, style=look.frame("page"))
        self.header = ScoreHeader(page)
        self.coach = CoachRow(page)
        self.board = CanvasBoard(page, lambda direction: act(str(direction)))
        self.board.reshaped = self.lay_out
        self.tools = ttk.Frame(page, style=look.frame("page"))
        self.buttons = {
            name: Button(self.tools, _(text), partial(act, name), icon=icon, ground="page")
            for name, text, icon in TOOLS
        }
        for button in self.buttons.values():
            button.pack(side="left")
        more = partial(act, "more")
        self.buttons["more"] = Button(
            self.tools, _("More"), more, kind="ghost", icon="more", ground="page", has_words=False
        )
        self.buttons["more"].pack(side="right")
        self.line = Lines(page, 2, "small", "muted", "page")
        self.notice = NoticeBar(page, self.lay_out)
        self.result: Result | None = None
        self.panel: ResultPanel | None = None
        self._timer = ""
        root.bind("<Configure>", self._follow)
        self.board.focus_set()

    @property
    def theme(self) -> Theme:
        """The colours."""
        return self.look.theme

    def set_theme(self, theme: Theme) -> None:
        """Change the colours of everything."""
        self.look.change(theme)
        self.board.set_theme()

    # Where things lie

    def _follow(self, event: tk.Event[tk.Misc]) -> None:
        if event.widget is self.root:
            self.lay_out()

    def lay_out(self) -> None:
        """Put everything where the window has room: the board is as large as can be."""
        width, height, scale = self.root.winfo_width(), self.root.winfo_height(), self.scale
        if min(width, height) < 100:
            return
        # From a phone's height to that of a 4K screen letters grow by half.
        unit = scale * min(1.5, max(1.0, round(1.1 * height / scale / 100 + 6) / 16))
        self.look.change(unit=unit)
        margin, pad = self.board.margin, round((8 if width < NARROW * unit else 12) * unit)
        is_beside = height < LOW * scale and width > 1.3 * height
        shape, room, down = self.board.shape, width - 2 * pad, height - 2 * pad
        column = room - width // 2 if is_beside else room
        self._fit_words(column - 2 * margin, unit)
        parts = [self.header, self.tools, self.line]
        parts += [self.coach] * bool(self.coach.status) + [self.notice] * bool(self.notice.text)
        if is_beside:  # all that is read stands beside the board
            grid = BoardGrid.fit(shape, width // 2 - 2 * margin, down - 2 * margin)
        else:
            self.page.update_idletasks()
            taken = sum(each.winfo_reqheight() for each in parts) + round(32 * unit)
            most = max(60, down - taken - 2 * margin)
            grid = BoardGrid.fit(shape, room - 2 * margin, most)
            column = min(room, max(grid.width + 2 * margin, round(LEAST * unit)))
            self._fit_words(column - 2 * margin, unit)
        self.board.configure(width=grid.width + 2 * margin - 6, height=grid.height + 2 * margin - 6)
        rows, gap = (
            (self.header, self.coach, self.board, self.tools, self.line, self.notice),
            4 * unit,
        )
        for row, each in enumerate(rows):
            each.grid_forget()
            if each is self.board:
                place = (0, 0, 7) if is_beside else (row, 0, 1)
                each.grid(row=place[0], column=0, rowspan=place[2], pady=round(gap))
            elif each in parts:
                edge, above = margin - round(RING * scale) * (each is self.tools), (round(gap), 0)
                each.grid(row=row, column=int(is_beside), sticky="ew", padx=edge, pady=above)
        self.page.rowconfigure(6, weight=1)
        self.page.columnconfigure(0, weight=int(not is_beside))
        self.page.columnconfigure(1, weight=int(is_beside))
        self.page.update_idletasks()
        spare = down - self.page.winfo_reqheight()
        wide, top = room if is_beside else column, pad + max(0, spare * 2 // 5)
        self.page.place(relx=0.5, y=top, anchor="n", width=wide)
        self._cover()

    def _fit_words(self, width: int, unit: float) -> None:
        """Let what is read lie in a width: header, buttons, line and notice."""
        self.header.fit(width)
        self.notice.label.fit(width - round(110 * unit))
        self.line.reserve(2 + (width < NARROW * unit))
        for pixels, silent in SILENCE:
            self.root.tk.call("font", "configure", "tools", "-size", -round(pixels * unit))
            for name, *_rest in TOOLS:
                self.buttons[name].show_words(is_on=name not in silent)
            if sum(each.winfo_reqwidth() for each in self.buttons.values()) <= width:
                break

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

    # Buttons, the coach, and the end of a game

    def show_status(self, status: Status, *, is_playing: bool) -> None:
        """Show the scores, and what the buttons do now."""
        self.header.show(status)
        self.buttons["undo"].enable(is_on=status.can_undo)
        text, icon = (_("Pause"), "pause") if is_playing else (_("Watch it play"), "play")
        self.buttons["autoplay"].show(text, icon)

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show what the coach says, or take its row away."""
        had = self.coach.status is not None
        self.coach.show(status)
        if had != (status is not None):
            self.lay_out()

    def cover(self, result: Result | None) -> None:
        """Cover the board with a result, once the last move has been seen, or uncover it."""
        is_update = result is not None and result.is_update_of(self.result)
        self.result = result
        if is_update:
            if self.panel and result:
                self.panel.show(result)
            return
        if self._timer:
            self.root.after_cancel(self._timer)
            self._timer = ""
        if self.panel:
            self._uncover(self.panel)
        if result and self.board.is_animated:
            delay = motion.OVERLAY_DELAY_S if result.is_final else motion.SLIDE_S + motion.SETTLE_S
            self._timer = self.root.after(round(1000 * delay), self._show_result)
        elif result:
            self._show_result()

    def _uncover(self, panel: ResultPanel) -> None:
        """Take the panel away, and give its focus to the board."""
        # By name: tkinter has no object for an open menu or a list that has dropped down.
        if str(self.root.tk.call("focus")).startswith(str(panel)):
            self.board.focus_set()
        panel.destroy()
        self.panel = None
        self.board.veil(is_on=False)

    def _show_result(self) -> None:
        self._timer = ""
        if self.result:
            self.panel = ResultPanel(self.root, self.result, self._act)
            self._cover()

    def _cover(self) -> None:
        """Put the result over the board, or over the whole window where the board is small."""
        panel, board, look = self.panel, self.board, self.look
        if not panel or not board.cells:
            return
        width, height = self.root.winfo_width(), self.root.winfo_height()
        most = round(RESULT * look.unit)
        size = min(most, board.cells.width * 94 // 100)
        high = panel.fit(size, board.cells.height)
        is_small = high > board.cells.height or size < 300 * look.unit
        board.veil(is_on=not is_small)
        if is_small:
            panel.fit(width, height)
            panel.place(in_=self.root, relx=0, rely=0, anchor="nw", width=width, height=height)
        else:
            panel.place(in_=board, relx=0.5, rely=0.5, anchor="center", width=size, height=high)


class ScoreHeader(ttk.Frame):
    """The rules and what comes next at the left, the scores at the right.

    Attributes:
        gain: what the last move gained, for a moment.
    """

    def __init__(self, parent: tk.Misc) -> None:
        look = look_of(parent)
        super().__init__(parent, style=look.frame("page"))
        self._best = Figure(self, _("Best"), "0", "page", "")
        self._score = Figure(self, _("Score"), "0", "page", "")
        self._best.pack(side="right", fill="y", padx=(look.px(8), 0))
        self._score.pack(side="right", fill="y")
        words = ttk.Frame(self, style=look.frame("page"))
        words.pack(side="left", fill="x", expand=True, padx=(0, look.px(8)))
        self._title = Text(words, "2048", "score title button small", "ink", "page", "line")
        self._line = Text(words, "", "small", "muted", "page", "line")
        self._title.pack(fill="x")
        self._line.pack(fill="x")
        self.gain = self._score.note
        self._timer, self._width = "", 0

    def fit(self, width: int) -> None:
        """Lie in a width: the scores in the largest letters that leave room for the rules."""
        look, figures = look_of(self), (self._best, self._score)
        for kind in ("score", "title", "button", "caption"):
            words = sum(measured(self, each.value.text, kind) for each in figures)
            if words + look.px(44) <= width - 100 * look.unit:
                break
        for figure in figures:
            figure.value.configure(font=kind)
        self._width = width

    def show(self, status: Status) -> None:
        """Show the scores."""
        self._best.value.show(number(status.best))
        self._score.value.show(number(status.score))
        self.fit(self._width)
        self._title.show(status.rules.capitalize() or "2048")
        said = [_("Next: {tile}").format(tile=status.next_tile), *status.facts]
        texts = [" · ".join(said[:count]) for count in range(len(said), 0, -1)]
        alone = status.note or status.teaching
        self._line.configure(style=look_of(self).text("page", "accent" if status.note else "muted"))
        self._line.show(*([alone] if alone else texts))

    def show_gain(self, points: int) -> None:
        """Show points in the corner of the score for a moment, in place of those before."""
        self._forget_gain()
        if points:
            style = look_of(self).text("panel", "good" if points > 0 else "danger")
            self.gain.configure(text=f"{points:+,}", style=style)
            self.gain.place(relx=1.0, anchor="ne")
            self._timer = self.after(MOTION_MS["rise"], self._forget_gain)

    def _forget_gain(self) -> None:
        self.gain.place_forget()
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""


class CoachRow(ttk.Frame):
    """What the coach says: a bar, as full as the position is good, and words beside it.

    Attributes:
        status: what is shown, if anything.
    """

    def __init__(self, parent: tk.Misc) -> None:
        look = look_of(parent)
        super().__init__(parent, style=look.frame("page"))
        self.status: CoachStatus | None = None
        style = look.bar("good", "line", "page")
        self._bar = ttk.Progressbar(self, style=style, maximum=1.0, length=look.px(110))
        self._bar.pack(side="left", padx=(0, look.px(12)))
        self._words = Text(self, "", "small", "ink", "page", "line")
        self._words.pack(side="left", fill="x", expand=True)

    @property
    def line(self) -> str:
        """The words that have room."""
        return str(self._words["text"])

    def show(self, status: CoachStatus | None) -> None:
        """Show what the coach says now."""
        self.status = status
        if status:
            self._bar.configure(value=min(status.share, 1.0))
            counts = range(max(1, len(status.parts)), 0, -1)
            self._words.show(*(" · ".join(status.parts[:count]) for count in counts))


class NoticeBar(ttk.Frame):
    """What the player must not miss, below the board: all of it, for as long as it matters.

    Args:
        parent: the widget to stand in.
        changed: called when there is more or less to read.
    """

    def __init__(self, parent: tk.Misc, changed: Callable[[], object]) -> None:
        look = look_of(parent)
        super().__init__(parent, style=look.card("page"), padding=look.px(6))
        self._warning = self._unsaved = ""
        self._changed = changed
        self.label = Text(self, "", "label", "danger", "panel")
        self.button = Button(self, _("OK"), lambda: self.show(warning=""), ground="panel")
        self.button.pack(side="right")
        self.label.pack(side="left", fill="both", expand=True, padx=look.px(6))

    @property
    def text(self) -> str:
        """What is shown, an empty text if nothing."""
        return "\n".join(filter(None, (self._unsaved, self._warning)))

    def show(self, *, warning: str | None = None, unsaved: str | None = None) -> None:
        """Replace the warning, which stays until it is dismissed, or what is not saved."""
        self._warning = self._warning if warning is None else warning
        self._unsaved = self._unsaved if unsaved is None else unsaved
        self.label.show(self.text)
        self.button.pack_forget()
        if self._warning:
            self.button.pack(before=self.label, side="right")
        self._changed()


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
