"""The game in a window of the desktop: tkinter's canvas, with tiles drawn by Pillow."""

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

_closed: list[GameWindow] = []
"""Windows that were closed. Tk must be freed by the thread that opened it, and the thread of the
background worker may be the one that collects garbage, so they are kept until the process ends."""

MISSING = (
    "the desktop game needs tkinter, which this Python lacks: install the package python3-tk "
    "(sudo apt install python3-tk; Fedora: python3-tkinter; Homebrew: python-tk)"
)
NO_DISPLAY = "the desktop game needs a display, and there is none: DISPLAY is not set"


class NoDesktopError(Py2048Error):
    """No window can be opened here; the message says what is missing."""


def has_display() -> bool:
    """Return whether there seems to be a display to open windows on."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY"))


def why_unavailable() -> str:
    """Return why no window can be opened here, in one line; an empty text if one can."""
    if not has_display():
        return NO_DISPLAY
    return "" if has_tkinter() else MISSING


def has_tkinter() -> bool:
    """Return whether tkinter is installed, with the library that it needs."""
    return all(importlib.util.find_spec(name) for name in ("tkinter", "_tkinter"))


class WindowOptions(TypedDict, total=False):
    """How to open a window.

    Attributes:
        theme: the name of a theme; by default the one used last.
        reduced_motion: show moves without animation; by default as chosen last.
        player: the spec of a player that plays from the start and gives hints; by default
            hints come from the player chosen last.
        begin: starts a game where there is none; by default the last unfinished game is
            resumed, or a new one starts.
        state_file: a file that remembers what the window looked like.
    """

    theme: str | None
    reduced_motion: bool
    player: str | None
    begin: Start | None
    state_file: Path | None


def run(session: Session | Callable[[], Session], **options: Unpack[WindowOptions]) -> int:
    """Play in a window until it is closed; return the exit status.

    Args:
        session: where the game is, which is left open; or a function that opens one, which is
            called after the first frame and its session closed in the end. If it cannot be
            opened, the window says so and the game is kept in memory.
        options: how to open the window.

    Raises:
        NoDesktopError: if no window can be opened.
        ThemeError: if there is no such theme.
    """
    if not has_tkinter():
        raise NoDesktopError(MISSING)
    from py2048.app.desktop.launch import GameWindow

    window = GameWindow(session, **options)
    _closed.append(window)
    return window.run()
