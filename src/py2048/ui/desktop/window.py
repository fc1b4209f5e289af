"""The main window: header, buttons, board, the bar of autoplay, the status line, the keys."""

from __future__ import annotations

import sys
import tkinter as tk
from collections.abc import Callable
from tkinter import ttk

from py2048.ui.desktop import style
from py2048.ui.desktop.board_image import rounded
from py2048.ui.desktop.board_view import CanvasBoard, Photos
from py2048.ui.desktop.style import cut, font, measured, write
from py2048.ui.shared.actions import ACTIONS, UserAction
from py2048.ui.shared.screen import CoachStatus, Status
from py2048.ui.shared.themes import Theme

WIDTH, HEIGHT = 480, 640
MIN_WIDTH, MIN_HEIGHT = 350, 300

LINES, NARROW = 2, 400
"""The room for what is said, always the same so that the board stays; a narrow window has more."""

TOOLS = (
    ("new", "New"),
    ("undo", "Undo"),
    ("redo", "Redo"),
    ("hint", "Hint"),
    ("autoplay", "Auto"),
    ("rules", "Rules"),
)


GAIN_MS = 600
"""Milliseconds for which the points of a move are shown."""

HEADER_HEIGHT = 58
"""The height of the header, in pixels of an ordinary screen."""

HEADER_LINE = 12
"""The height of its small line's font, in pixels of an ordinary screen."""


class MainWindow:
    """The widgets of the game.

    Args:
        root: the window to fill.
        theme: the colours.
        scale: how many pixels of this screen are one of an ordinary screen.
        act: called with the name of an action that the mouse or a button asks for.
    """

    def __init__(
        self, root: tk.Tk, theme: Theme, scale: float, act: Callable[[str], object]
    ) -> None:
        self.root, self.theme, self.scale = root, theme, scale
        self._act = act
        self.coach: CoachBar | None = None
        style.apply(root, theme, scale)
        self.header = ScoreHeader(root, theme, scale)
        self.tools = ttk.Frame(root)
        self.buttons = {name: self._add_tool(name, text) for name, text in TOOLS}
        self.board = CanvasBoard(root, theme, lambda direction: act(str(direction)))
        self.board.overlay.act = act
        self.line = tk.Label(root, anchor="nw", justify="left", height=LINES)
        self.header.pack(fill="x", padx=round(4 * scale), pady=(round(4 * scale), 0))
        self.tools.pack(fill="x", padx=round(6 * scale), pady=round(2 * scale))
        self.line.pack(side="bottom", fill="x", padx=round(8 * scale), pady=round(4 * scale))
        self.notice = WarningBar(root, scale)
        self.board.pack(fill="both", expand=True, padx=round(4 * scale))
        self.line.bind("<Configure>", lambda event: self._wrap(event.width))
        self._colour_line()
        self.board.focus_set()

    def _add_tool(self, name: str, text: str) -> ttk.Button:
        button = ttk.Button(
            self.tools, text=text, style="Tool.TButton", command=lambda: self._act(name)
        )
        column = len(self.tools.grid_slaves())
        button.grid(row=0, column=column, sticky="ew", padx=round(2 * self.scale))
        self.tools.columnconfigure(column, weight=1, uniform="tools")
        return button

    def set_theme(self, theme: Theme) -> None:
        """Change the colours of everything."""
        style.apply(self.root, theme, self.scale)
        self.header.set_theme(theme)
        self.board.set_theme(theme)
        self.theme = theme
        self._colour_line()

    def _colour_line(self) -> None:
        letters = font(self.root, 13 * self.scale)
        self.line.configure(background=self.theme.page, foreground=self.theme.ink, font=letters)

    # Messages

    def say(self, text: str) -> None:
        """Say what happened."""
        self.line.configure(text=text)

    def warn(self, text: str) -> None:
        """Say what went wrong, until the player has taken note of it."""
        self.notice.show(warning=f"Warning: {text}")

    def show_unsaved(self, reason: str) -> None:
        """Say why something is not saved, as long as that is so."""
        self.notice.show(unsaved=f"Not saved: {reason}" if reason else "")

    @property
    def said(self) -> str:
        """What is shown: the notice, if there is one, else the line."""
        return self.notice.text or str(self.line.cget("text"))

    def _wrap(self, width: int) -> None:
        lines = LINES if width > NARROW * self.scale else LINES + 1
        if int(self.line.cget("height")) != lines:
            self.line.configure(height=lines)
        self.line.configure(wraplength=max(100, width - 4))

    # Buttons, and the coach's bar

    def show_possible(self, *, undo: bool, redo: bool) -> None:
        """Show which buttons can do something."""
        for name, is_possible in (("undo", undo), ("redo", redo)):
            self.buttons[name].state(["!disabled" if is_possible else "disabled"])

    def show_autoplay(self, *, is_on: bool) -> None:
        """Show what the button for it does now."""
        self.buttons["autoplay"].configure(text="Pause" if is_on else "Auto")

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show the bar of the coach, or take it away."""
        if status is None:
            if self.coach is not None:
                self.coach.destroy()
                self.coach = None
            return
        if self.coach is None:
            self.coach = CoachBar(self.root, self.scale)
            pad = round(8 * self.scale), round(2 * self.scale)
            self.coach.pack(before=self.board, fill="x", padx=pad[0], pady=pad[1])
        self.coach.show(status)


class CoachBar(ttk.Frame):
    """What the coach says: a bar, as full as the position is good, and a line of words beside it.

    Attributes:
        status: what is shown.
    """

    def __init__(self, root: tk.Tk, scale: float) -> None:
        super().__init__(root)
        self._scale = scale
        self.status = CoachStatus(0.0, "", "")
        self._bar = ttk.Progressbar(self, maximum=1.0, length=round(100 * scale))
        self.line = ttk.Label(self, width=1)  # as wide as there is room
        self._bar.pack(side="left")
        self.line.pack(side="left", fill="x", expand=True, padx=(round(8 * scale), 0))
        self.bind("<Configure>", lambda _: self.show(self.status))

    def show(self, status: CoachStatus) -> None:
        """Show what the coach says now, in fewer words where there is no room for all."""
        self.status = status
        self._bar.configure(value=status.share)
        letters, room = font(self, 13 * self._scale), max(1, self.line.winfo_width())
        is_long = measured(self, status.text, letters) > room
        self.line.configure(text=cut(self, status.short if is_long else status.text, letters, room))


class WarningBar(ttk.Frame):
    """What the player must not miss, below the board: all of it, for as long as it matters.

    Args:
        root: the window.
        scale: how many pixels of this screen are one of an ordinary screen.
    """

    def __init__(self, root: tk.Tk, scale: float) -> None:
        super().__init__(root, style="Warning.TFrame")
        self._scale = scale
        self._warning = self._unsaved = ""
        pad = round(6 * scale)
        self._label = ttk.Label(self, anchor="w", justify="left", style="Warning.TLabel")
        self._button = ttk.Button(self, text="OK", command=lambda: self.show(warning=""))
        self._label.pack(side="left", fill="both", expand=True, padx=pad, pady=pad)
        self._label.bind(
            "<Configure>", lambda event: self._label.configure(wraplength=max(100, event.width - 4))
        )

    @property
    def text(self) -> str:
        """What is shown, an empty text if nothing."""
        return "\n".join(filter(None, (self._unsaved, self._warning)))

    def show(self, *, warning: str | None = None, unsaved: str | None = None) -> None:
        """Replace the warning, which stays until it is dismissed, or what is not saved."""
        self._warning = self._warning if warning is None else warning
        self._unsaved = self._unsaved if unsaved is None else unsaved
        self._label.configure(text=self.text)
        self._button.pack_forget()
        self.pack_forget()
        if self._warning:
            self._button.pack(before=self._label, side="right", padx=round(6 * self._scale))
        if self.text:
            self.pack(side="bottom", fill="x", padx=round(8 * self._scale))


class ScoreHeader(tk.Canvas):
    """The name at the left, the scores at the right."""

    def __init__(self, parent: tk.Misc, theme: Theme, scale: float) -> None:
        super().__init__(
            parent, highlightthickness=0, borderwidth=0, height=round(HEADER_HEIGHT * scale)
        )
        self._scale = scale
        self._theme = theme
        self._photos = Photos(self)
        self._boxes: dict[str, float] = {}
        self._timer = ""
        self.status = Status()
        self.bind("<Configure>", lambda _: self._draw())
        self.set_theme(theme)

    def destroy(self) -> None:
        """Close, and free the pictures at once, as `CanvasBoard.destroy` says."""
        super().destroy()
        self._photos.clear()

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self._theme = theme
        self._photos.clear()
        self.configure(background=theme.page)
        self._draw()

    def show(self, status: Status) -> None:
        """Show the scores."""
        if status != self.status:
            self.status = status
            self._draw()

    def show_gain(self, points: int) -> None:
        """Show points in the corner of the score for a moment, in place of those before."""
        self.delete("gain")
        if self._timer:
            self.after_cancel(self._timer)
        if points and "Score" in self._boxes:
            place, size = (self._boxes["Score"], self.winfo_height() * 0.29), 11 * self._scale
            text, colour = f"{points:+,}", self._theme.accent
            write(self, place, text, colour, size, bold=True, anchor="e", tags="gain")
            self._timer = self.after(GAIN_MS, lambda: self.delete("gain"))

    def _draw(self) -> None:
        width, height = self.winfo_width(), self.winfo_height()
        if width < 20:
            return
        self.delete("head")
        scale, theme, status = self._scale, self._theme, self.status
        left = self._draw_box("Best", status.best, width - round(6 * scale), height)
        left = self._draw_box("Score", status.score, left - round(6 * scale), height)
        room = left - 12 * scale
        title, size = "2048" if room > 70 * scale else "", min(34 * scale, room / 3)
        write(
            self,
            (8 * scale, height * 0.36),
            title,
            theme.ink,
            size,
            bold=True,
            anchor="w",
            tags="head",
        )
        text = status.note or " · ".join([status.rules, *status.facts] if status.rules else [])
        text = cut(self, text, font(self, HEADER_LINE * scale), room)
        place, colour = (9 * scale, height * 0.8), theme.accent if status.note else theme.muted
        write(self, place, text, colour, HEADER_LINE * scale, anchor="w", tags=("head", "line"))
        self.tag_raise("gain")

    def _draw_box(self, label: str, value: int, right: int, height: int) -> int:
        scale, theme, text = self._scale, self._theme, f"{value:,}"
        size = 19 if self.winfo_width() > 400 * scale else 15
        width = round(max(86.0, len(text) * size * 0.66 + 20) * scale)
        box_height = height - round(8 * scale)
        photo = self._photos.get(
            (width, box_height), lambda: rounded(width, box_height, round(5 * scale), theme.panel)
        )
        self.create_image(right, height / 2, image=photo, anchor="e", tags="head")
        x, self._boxes[label] = right - width + 10 * scale, right - 8 * scale
        write(self, (x, height * 0.29), label, theme.muted, 12 * scale, anchor="w", tags="head")
        place, pixels = (x, height * 0.64), size * scale
        write(self, place, text, theme.ink, pixels, bold=True, anchor="w", tags="head")
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
