"""The keys of a window: Tk's names for those of the table of actions, on any keyboard."""

from __future__ import annotations

import sys

from py2048.ui.shared.actions import ACTIONS, UserAction

TK_NAMES = {
    "up": "Up", "down": "Down", "left": "Left", "right": "Right", "backspace": "BackSpace",
    "question_mark": "question", "equals_sign": "equal", "f1": "F1", "pageup": "Prior",
    "pagedown": "Next", "home": "Home", "end": "End", "enter": "Return", "escape": "Escape",
}  # fmt: skip
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
