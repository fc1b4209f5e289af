"""The desktop game: a tkinter window with tiles drawn by Pillow."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from py2048.core.errors import Py2048Error
from py2048.core.language import N_, _

if TYPE_CHECKING:
    from py2048.app.controller.controller import ScreenOptions
    from py2048.app.desktop.launch import GameWindow
    from py2048.app.session import Session

# The thread that created a Tk object must also free it, but the garbage collector may run in any
# thread. This list keeps closed windows alive until the process exits.
_closed_windows: list[GameWindow] = []

NO_TKINTER = N_(
    "the desktop game needs tkinter, which this Python lacks: install the package python3-tk "
    "(sudo apt install python3-tk; Fedora: python3-tkinter; Homebrew: python-tk)"
)
NO_DISPLAY = N_("the desktop game needs a display, and there is none: DISPLAY is not set")


class NoDesktopError(Py2048Error):
    """No window can be opened. The message says what is missing."""


def has_display() -> bool:
    """Return whether a display for windows appears to be available."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY"))


def why_unavailable() -> str:
    """Return a one-line reason why no window can be opened, or "" if it can be opened."""
    if not has_display():
        return _(NO_DISPLAY)
    return "" if has_tkinter() else _(NO_TKINTER)


def has_tkinter() -> bool:
    """Return whether tkinter and its C extension are installed."""
    return all(importlib.util.find_spec(name) for name in ("tkinter", "_tkinter"))


def run(
    open_session: Callable[[], Session],
    state_file: Path | None = None,
    **options: Unpack[ScreenOptions],
) -> int:
    """Play in a window until it is closed, and return the exit status.

    Args:
        open_session: Opens a session after the first frame. The session is closed with the window.
            If opening raises `StorageError`, the window shows a warning and does not save the game.
        state_file: The file with the window's geometry, theme and language.
        options: See `ScreenOptions`.

    Raises:
        NoDesktopError: If no window can be opened.
        ThemeError: If the theme does not exist.
    """
    if not has_tkinter():
        raise NoDesktopError(_(NO_TKINTER))
    from py2048.app.desktop.launch import GameWindow

    window = GameWindow(open_session, state_file, **options)
    _closed_windows.append(window)
    return window.run()
