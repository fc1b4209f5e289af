"""The game in a terminal: a Textual application, and a mode of plain text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py2048.app.session import Session


def run(session: Session, **how: Any) -> int:
    """Play in the terminal until the player quits; return the exit status.

    Args:
        session: where the game is; it is left open.
        how: the other arguments of `GameApp`.

    Raises:
        ThemeError: if there is no such theme.
    """
    from py2048.app.terminal.app import GameApp  # Textual takes a moment to import

    _paint_on_a_terminal()
    app = GameApp(session, **how)
    app.run()
    return app.return_code or 0


def _paint_on_a_terminal() -> None:
    """Let Textual, which paints on standard error, use standard output where only that can be."""
    out, error = sys.__stdout__, sys.__stderr__
    if out is not None and out.isatty() and not (error is not None and error.isatty()):
        sys.__stderr__ = out  # type: ignore[misc]  # the driver looks nowhere else
