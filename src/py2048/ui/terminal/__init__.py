"""The game in a terminal: a Textual application, and a mode of plain text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py2048.session import Session
    from py2048.ui.shared.presenter import Start


def run(
    session: Session,
    *,
    theme: str | None = None,
    reduced_motion: bool = False,
    player: str | None = None,
    begin: Start | None = None,
) -> int:
    """Play in the terminal until the player quits; return the exit status.

    Args:
        session: where the game is; it is left open.
        theme: the name of a theme; by default the one used last.
        reduced_motion: show moves without animation; by default as chosen last.
        player: the spec of a player that plays from the start and gives hints; by default
            a person plays, and hints come from the player chosen last.
        begin: starts a game if none was started; by default the last unfinished game is resumed,
            or a new one starts.

    Raises:
        ThemeError: if there is no such theme.
    """
    from py2048.ui.terminal.app import GameApp  # Textual takes a moment to import

    _paint_on_a_terminal()
    app = GameApp(session, theme=theme, reduced_motion=reduced_motion, player=player, begin=begin)
    app.run()
    return app.return_code or 0


def _paint_on_a_terminal() -> None:
    """Let Textual, which paints on standard error, use standard output where only that can be."""
    out, error = sys.__stdout__, sys.__stderr__
    if out is not None and out.isatty() and not (error is not None and error.isatty()):
        sys.__stderr__ = out  # type: ignore[misc]  # the driver looks nowhere else
