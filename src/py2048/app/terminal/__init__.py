"""The terminal game: a Textual application and a plain text mode."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from py2048.app.controller.controller import ScreenOptions
    from py2048.app.session import Session


def run(session: Session, **options: Unpack[ScreenOptions]) -> int:
    """Play in the terminal until the player quits, and return the exit status.

    Args:
        session: An open session, which the caller closes.
        options: See `ScreenOptions`.

    Raises:
        ThemeError: If the theme does not exist.
    """
    from py2048.app.terminal.app import GameApp  # Textual is slow to import

    # Textual's driver always writes to `sys.__stderr__`, which may be redirected.
    out, error = sys.__stdout__, sys.__stderr__
    if out is not None and out.isatty() and not (error is not None and error.isatty()):
        sys.__stderr__ = out  # type: ignore[misc]
    app = GameApp(session, **options)
    app.run()
    return app.return_code or 0
