"""What the help says: all keys, the mouse, and what this is."""

from __future__ import annotations

import platform

from py2048 import __version__
from py2048.ui.desktop.actions import ACTIONS

LINES = (
    *((action.shown, action.help) for action in ACTIONS if action.shown),
    ("", ""),
    ("Mouse", "Drag over the board, or click near one of its sides, to slide"),
    ("Tab", "Goes to the buttons and back; Space or Enter presses one"),
    ("Escape", "Closes a dialog"),
    ("", "The game is saved after every move."),
)


def about() -> tuple[tuple[str, str], ...]:
    """Return what this is, line by line."""
    return (
        ("py2048", f"version {__version__}"),
        ("", "The game 2048: to play it, to teach with it, to study it."),
        ("Python", platform.python_version()),
    )
