"""The desktop game: a tkinter window with tiles drawn by Pillow."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from py2048.core.errors import Py2048Error

if TYPE_CHECKING:
    from py2048.app.controller.presenter import Start
    from py2048.app.desktop.launch import GameWindow
    from py2048.app.session import Session

# Tk objects must be freed by the thread that created them, but garbage collection may run in a
# worker thread. Closed windows are therefore kept until the process exits.
_closed_windows: list[GameWindow] = []

NO_TKINTER = (
    "the desktop game needs tkinter, which this Python lacks: install the package python3-tk "
    "(sudo apt install python3-tk; Fedora: python3-tkinter; Homebrew: python-tk)"
)
NO_DISPLAY = "the desktop game needs a display, and there is none: DISPLAY is not set"


class NoDesktopError(Py2048Error):
    """No window can be opened; the message names what is missing."""


def has_display() -> bool:
    """Return whether a display appears to be available."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY"))


def why_unavailable() -> str:
    """Return a one-line reason why no window can be opened; empty if one can."""
    if not has_display():
        return NO_DISPLAY
    return "" if has_tkinter() else NO_TKINTER


def has_tkinter() -> bool:
    """Return whether tkinter and its C extension are installed."""
    return all(importlib.util.find_spec(name) for name in ("tkinter", "_tkinter"))


class WindowOptions(TypedDict, total=False):
    """Options for opening a window.

    Attributes:
        theme: Name of a theme. Defaults to the last one used.
        reduced_motion: Whether to show moves without animation. Defaults to the last setting.
        player: Spec of a player that plays from the start and gives hints. By default, hints come
            from the last player chosen.
        begin: Starts a game if there is none. By default, the last unfinished game is resumed, or
            a new one is started.
        state_file: File that stores the window's geometry, theme and language.
    """

    theme: str | None
    reduced_motion: bool
    player: str | None
    begin: Start | None
    state_file: Path | None


def run(session: Session | Callable[[], Session], **options: Unpack[WindowOptions]) -> int:
    """Play in a window until it is closed; return the exit status.

    Args:
        session: The session, which is left open, or a function that opens one. The function is
            called after the first frame, and its session is closed at the end. If it raises
            `StorageError`, the window shows a warning and keeps the game in memory.
        options: Options for the window.

    Raises:
        NoDesktopError: If no window can be opened.
        ThemeError: If the theme does not exist.
    """
    if not has_tkinter():
        raise NoDesktopError(NO_TKINTER)
    from py2048.app.desktop.launch import GameWindow

    window = GameWindow(session, **options)
    _closed_windows.append(window)
    return window.run()
