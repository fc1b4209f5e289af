"""The main window: layout, score header, notices and key bindings."""

from __future__ import annotations

import sys
import tkinter as tk
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from tkinter import ttk
from typing import TYPE_CHECKING, Any

from py2048.app.desktop.board_view import CanvasBoard, ResultPanel
from py2048.app.desktop.style import Button, Flow, Look, NumberCard, Text, TextArea, look_of
from py2048.core.language import N_, _, number
from py2048.presentation import motion
from py2048.presentation.actions import ACTIONS, UserAction
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.screen import CoachStatus, Status
from py2048.presentation.themes import MOTION_MS, Theme

if TYPE_CHECKING:
    from py2048.presentation.result import Result

# Unscaled pixels.
MIN_WIDTH, MIN_HEIGHT = 320, 300
STRIP_WIDTH, NARROW_WIDTH, MIN_COLUMN_WIDTH = 280, 480, 304
"""Widths of the strip that contains the scores and buttons.

Beside the board, the strip is `STRIP_WIDTH` wide. Above the board, it is at least
`MIN_COLUMN_WIDTH` wide. It has a compact layout if it is narrower than `NARROW_WIDTH`.
"""

MIN_SCORE_WIDTH, MAX_RESULT_WIDTH = 124, 460

TOOLS = (
    ("undo", N_("Undo"), "undo"),
    ("hint", N_("Hint"), "hint"),
    ("autoplay", N_("Watch it play"), "play"),
    ("new", N_("New"), "new"),
    ("more", N_("More"), "more"),
)
"""Actions, labels and icons of the toolbar buttons."""

BUTTON_FITS: Any = (15, "left", 10, 12), (13, "left", 8, 8), (13, "text", 6, 10), (11, "text", 2, 7)
"""Font size, icon position and padding of toolbar buttons, tried in order until they fit."""


def text_unit(height: float, scale: float) -> float:
    """Return the scale factor for text, which is up to 50 % larger in tall windows."""
    return scale * min(1.5, max(1.0, round(1.1 * height / scale / 100 + 6) / 16))


def opening_size(screen_height: int, scale: float) -> tuple[float, float]:
    """Return the initial window size. The height is 85 % of the screen's height."""
    height = 0.85 * screen_height - 30 * scale
    return height + STRIP_WIDTH * text_unit(height, scale), height


class MainWindow:
    """The widgets of the game's window, with their responsive layout.

    Args:
        root: The window to fill.
        theme: The initial theme.
        scale: Scale factor of the screen, relative to 96 dpi.
        do: Called with the name of an action after a gesture or when a button is pressed.

    Attributes:
        look: The styles.
        result: The game's result, which is set before the overlay appears.
    """

    def __init__(
        self, root: tk.Tk, theme: Theme, scale: float, do: Callable[[str], object]
    ) -> None:
        self.root, self.scale, self._do = root, scale, do
        self.look = look = Look(root, theme, scale)
        self.board = CanvasBoard(root, lambda direction: do(str(direction)))
        self.board.on_reshape = self.lay_out
        self.strip = strip = ttk.Frame(root, style=look.frame("page"))
        self.header = ScoreHeader(strip)
        self.tools = Flow(strip, "page")
        self.buttons = dict[str, Button]()
        for name, text, icon in TOOLS:
            self.buttons[name] = self.tools.add(_(text), partial(do, name), icon=icon)
        self.line = TextArea(strip, 2, "small", "muted", "page")
        self.race = Text(strip, "", "small", "ink", "page")
        for part in (self.header, self.tools, self.line, self.race):
            part.pack(fill="x", pady=(0, look.px(4)))
        self.notice = NoticeBar(strip, self.lay_out)
        self.result: Result | None = None
        self.panel: ResultPanel | None = None
        self._timer = ""
        root.bind("<Configure>", self._on_configure)
        self.board.focus_set()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self.look.change(theme)
        self.board.set_theme()

    # Layout

    def _on_configure(self, event: tk.Event[tk.Misc]) -> None:
        if event.widget is self.root:
            self.lay_out()

    def lay_out(self) -> None:
        """Place the scores and buttons beside or above the board to maximise the board."""
        width, height, margin = self.root.winfo_width(), self.root.winfo_height(), self.board.margin
        if min(width, height) < 100:
            return
        self.look.change(unit=text_unit(height, self.scale))
        shape, side, pad = self.board.shape, round(STRIP_WIDTH * self.look.unit), 2 * margin
        inner_width, inner_height = width - pad, height - pad
        grid = BoardGrid.fit(shape, inner_width - side - margin, inner_height)
        strip_height = self._fit_strip(inner_width, is_beside=False) + margin
        above = BoardGrid.fit(shape, inner_width, max(60, inner_height - strip_height))
        is_beside = grid.cell >= above.cell
        if not is_beside:
            side = min(inner_width, max(above.width, round(MIN_COLUMN_WIDTH * self.look.unit)))
        strip_height = self._fit_strip(side, is_beside=is_beside) + margin
        lift = 0 if is_beside else strip_height
        if lift:  # The narrower strip may be taller and leave less room for the board.
            grid = BoardGrid.fit(shape, inner_width, max(60, inner_height - lift))
        x = (inner_width - grid.width - (margin + side) * is_beside) // 2
        y = max(0, inner_height - grid.height - lift) // 2
        left = pad + x + grid.width if is_beside else (width - side) // 2
        high = grid.height if is_beside else lift - margin
        self.strip.place(x=left, y=margin + y, width=side, height=high)
        self.board.place(x=x, y=y + lift, width=grid.width + pad, height=grid.height + pad)
        self._place_panel()

    def _fit_strip(self, width: int, *, is_beside: bool) -> int:
        """Fit the scores and buttons into a width, and return their height."""
        unit, is_narrow = self.look.unit, width < NARROW_WIDTH * self.look.unit
        ring = self.look.px(Button.RING_PADDING)
        self.strip.place(width=width)
        self.header.fit(width, is_beside=is_beside)
        self.notice.label.fit(width - round(110 * unit))
        self.line.reserve((3 if self.race.text else 8) if is_beside else 2 + is_narrow)
        for pixels, icon, *pads in BUTTON_FITS:
            self.root.tk.call("font", "configure", "tools", "-size", -round(pixels * unit))
            padding = [round(pad * unit) + ring for pad in pads]
            for button in self.buttons.values():
                button.configure(compound=icon, padding=padding)
            if is_beside or sum(map(ttk.Button.winfo_reqwidth, self.buttons.values())) <= width:
                break
        self.tools.lay_out(width)
        self.strip.update_idletasks()
        return self.strip.winfo_reqheight()

    # Messages

    def say(self, text: str) -> None:
        """Show a message. If the message has two lines, the first line has a larger font."""
        self.line.show(text)

    def warn(self, text: str) -> None:
        """Show a warning until the player dismisses it."""
        self.notice.show(warning=_("Warning: {text}").format(text=text))

    def show_unsaved(self, reason: str) -> None:
        """Show why changes are not saved. An empty reason removes the notice."""
        text = _("Not saved: {reason}").format(reason=reason)
        self.notice.show(unsaved=text if reason else "")

    @property
    def message(self) -> str:
        """The displayed text: the notice if there is one, otherwise the last message."""
        return self.notice.text or self.line.text

    # Buttons, coach and result

    def show_status(self, status: Status, *, is_playing: bool) -> None:
        """Update scores and buttons."""
        lines = len(self.header.status.race)
        self.header.show(status)
        self.race.show("\n".join(map("  ".join, status.race)))
        if len(status.race) != lines:
            self.lay_out()
        self.buttons["undo"].enable(is_on=status.can_undo)
        text, icon = (_("Pause"), "pause") if is_playing else (_("Watch it play"), "play")
        if self.buttons["autoplay"].text != text:
            self.buttons["autoplay"].show(text, icon)
            self.lay_out()

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show the coach's figures above the board and the comment below. `None` hides both."""
        self.header.show_coach(status.facts if status else ())
        if status and status.comment:
            self.say(status.comment)

    def cover(self, result: Result | None) -> None:
        """Show a result overlay after the last move's animation. `None` removes the overlay."""
        is_update = result is not None and result.is_update_of(self.result)
        self.result = result
        if is_update:
            if self.panel and result:
                self.panel.show(result)
                self._place_panel()
            return
        if self._timer:
            self.root.after_cancel(self._timer)
            self._timer = ""
        if self.panel:
            self._remove_panel(self.panel)
        if result and self.board.is_animated:
            delay = motion.OVERLAY_DELAY_S if result.is_final else motion.SLIDE_S + motion.SETTLE_S
            self._timer = self.root.after(round(1000 * delay), self._show_result)
        elif result:
            self._show_result()

    def _remove_panel(self, panel: ResultPanel) -> None:
        # The focused widget is compared by name, because tkinter has no objects for menus and
        # drop-down lists.
        if str(self.root.tk.call("focus")).startswith(str(panel)):
            self.board.focus_set()
        panel.destroy()
        self.panel = None
        self.board.dim(is_on=False)

    def _show_result(self) -> None:
        self._timer = ""
        if self.result:
            self.panel = ResultPanel(self.root, self.result, self._do)
            self._place_panel()

    def _place_panel(self) -> None:
        """Place the result over the board or, if the board is too small, over the window."""
        panel, board, look = self.panel, self.board, self.look
        if not panel or not board.cells:
            return
        panel_width = min(round(MAX_RESULT_WIDTH * look.unit), board.cells.width * 94 // 100)
        panel_height = panel.fit(panel_width, board.cells.height)
        fits = panel_height <= board.cells.height and panel_width >= 300 * look.unit
        board.dim(is_on=fits)
        if fits:
            panel.place(in_=board, relx=0.5, rely=0.5, anchor="center")
            panel.place_configure(width=panel_width, height=panel_height)
        else:
            width, height = self.root.winfo_width(), self.root.winfo_height()
            panel.fit(width, height)
            panel.place(in_=self.root, relx=0, rely=0, anchor="nw", width=width, height=height)


class ScoreHeader(ttk.Frame):
    """Header with the rules and the next tile on the left, and the scores on the right.

    Attributes:
        status: The displayed scores and settings.
        gain: Label that briefly shows the points of the last move.
    """

    def __init__(self, parent: tk.Misc) -> None:
        look = look_of(parent)
        super().__init__(parent, style=look.frame("page"))
        self._title = Text(self, "2048", "score title button small", "ink", "page", "line")
        self._line = Text(self, "", "small", "muted", "page", "line")
        self._score = NumberCard(self, _("Score"), "0", "page", "")
        self._best = NumberCard(self, _("Best"), "0", "page", "")
        self.gain = self._score.note
        self._timer, self._size = "", (0, False)
        self.status, self._coach = Status(), tuple[str, ...]()

    def fit(self, width: int, *, is_beside: bool) -> None:
        """Place the scores below the rules or to their right, in the largest font that fits."""
        self._size = width, is_beside
        look, cards = look_of(self), (self._score, self._best)
        for font in ("score", "title", "button", "caption"):
            for card in cards:
                card.value.configure(font=font)
            digits = sum(card.value.winfo_reqwidth() for card in cards) + look.px(44)
            if digits <= width - 100 * look.unit * (not is_beside):
                break
        for column, card in enumerate(cards, 1):
            card.configure(padding=(look.px(9), look.px(8 if is_beside else 3)))
            space = 0 if is_beside and column == 1 else look.px(8)
            card.grid(row=int(is_beside), column=column, sticky="nswe", padx=(space, 0))
            self.columnconfigure(column, weight=int(is_beside))
        self.columnconfigure(0, weight=int(not is_beside))
        self.columnconfigure(1, minsize=round(MIN_SCORE_WIDTH * look.unit))
        self._title.grid(row=0, columnspan=1 + 2 * is_beside, sticky="we")
        self._line.grid(row=2, columnspan=3, sticky="we", pady=(look.px(6) * is_beside, 0))

    def show(self, status: Status) -> None:
        """Show the scores."""
        self.status = status
        self._best.value.show(number(status.best))
        self._score.value.show(number(status.score))
        self.fit(self._size[0], is_beside=self._size[1])
        self._title.show(status.rules.capitalize() or "2048")
        self._show_line()

    def show_coach(self, facts: tuple[str, ...]) -> None:
        """Show facts from the coach or, if there are none, facts about the game."""
        self._coach = facts
        self._show_line()

    def _show_line(self) -> None:
        status = self.status
        facts = self._coach or (_("Goal: {tile}").format(tile=status.next_tile), *status.facts)
        note = status.note or ("" if self._coach else status.teaching)
        self._line.configure(style=look_of(self).text("page", "accent" if status.note else "muted"))
        self._line.show(*([note] if note else _shortenings(facts)))

    def show_gain(self, points: int) -> None:
        """Briefly show the points of a move in the corner of the score."""
        self._hide_gain()
        if points:
            style = look_of(self).text("panel", "good" if points > 0 else "danger")
            self.gain.configure(text=f"{points:+,}", style=style)
            self.gain.place(relx=1.0, anchor="ne")
            self._timer = self.after(MOTION_MS["rise"], self._hide_gain)

    def _hide_gain(self) -> None:
        self.gain.place_forget()
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""


def _shortenings(parts: Sequence[str]) -> Iterator[str]:
    """Yield progressively shorter texts by dropping parts from the end."""
    for count in range(len(parts), 0, -1):
        yield " · ".join(parts[:count])


class NoticeBar(ttk.Frame):
    """Shows a warning below the board, and the reason why changes are not saved.

    Args:
        parent: The parent widget.
        changed: Called after every change of the displayed text.
    """

    def __init__(self, parent: tk.Misc, changed: Callable[[], object]) -> None:
        look = look_of(parent)
        super().__init__(parent, style=look.card("page"), padding=look.px(6))
        self._warning = self._unsaved = ""
        self._changed = changed
        self.label = Text(self, "", "label", "danger", "panel")
        self.button = Button(self, _("OK"), lambda: self.show(warning=""), background="panel")
        self.button.pack(side="right")
        self.label.pack(side="left", fill="both", expand=True, padx=look.px(6))

    @property
    def text(self) -> str:
        """The displayed text, which may be empty."""
        return "\n".join(filter(None, (self._unsaved, self._warning)))

    def show(self, *, warning: str | None = None, unsaved: str | None = None) -> None:
        """Set the warning, the reason why changes are not saved, or both. "" removes a text."""
        self._warning = self._warning if warning is None else warning
        self._unsaved = self._unsaved if unsaved is None else unsaved
        self.label.show(self.text)
        self.button.pack_forget()
        if self._warning:
            self.button.pack(before=self.label, side="right")
        self.pack(fill="x") if self.text else self.pack_forget()
        self._changed()


# Key bindings

TK_NAMES = {
    **{name: name.capitalize() for name in ("up", "down", "left", "right", "home", "end")},
    **{name: name.capitalize() for name in ("escape", "f1", "f2")},
    "backspace": "BackSpace",
    "question_mark": "question",
    "equals_sign": "equal",
    "pageup": "Prior",
    "pagedown": "Next",
    "enter": "Return",
}
"""The Tk keysyms that differ from Textual's key names, by key name."""


def tk_keys(action: UserAction) -> tuple[str, ...]:
    """Return the Tk keysyms of an action's keys, with the prefix ``Control-`` where needed."""
    common = (TK_NAMES.get(key, key.replace("ctrl+", "Control-")) for key in action.keys)
    return (*common, *action.window_keys)


_BY_KEY = {key: action for action in ACTIONS for key in tk_keys(action)}

# The meaning of modifier masks depends on the system: 0x8 is Alt on X11, Command on macOS and Num
# Lock on Windows.
CONTROL = 0x8 if sys.platform == "darwin" else 0x4
ALT = {"win32": 0x20000, "darwin": 0x10}.get(sys.platform, 0x8)

# Letter rows of a US keyboard, by the X11 key code of the first letter in the row.
_X11_ROWS = {24: "qwertyuiop", 38: "asdfghjkl", 52: "zxcvbnm"}
_X11_LETTERS = {
    code: letter for first, row in _X11_ROWS.items() for code, letter in enumerate(row, first)
}


def action_of(keysym: str, state: int = 0, keycode: int = 0, char: str = "") -> UserAction | None:
    """Return the action that a key press triggers, or None.

    With a non-Latin keyboard layout, a key acts like the key at the same position on a US keyboard.

    Args:
        keysym: Tk's name of the key.
        state: Tk's modifier mask.
        keycode: Key code, whose meaning depends on the system.
        char: The character typed.
    """
    if state & ALT:
        return None
    if char.isalpha() and not char.isascii():
        keysym = _latin_letter(keycode) or keysym
    if state & CONTROL:
        return _BY_KEY.get(f"Control-{keysym.lower() if len(keysym) == 1 else keysym}")
    return _BY_KEY.get(keysym)


def _latin_letter(keycode: int) -> str:
    """Return the letter of a key on a US keyboard, or "" if the key has no letter."""
    if sys.platform == "win32":  # On Windows, key codes of letters are ASCII codes.
        return chr(keycode).lower() if ord("A") <= keycode <= ord("Z") else ""
    return _X11_LETTERS.get(keycode, "")
