"""How a game stands, told as events to a screen that comes to it later."""

from __future__ import annotations

from py2048.session import Event, GameOver, GameStarted, Session


def standing(session: Session) -> list[Event]:
    """Return the events that introduce the game on the table as it is now."""
    game = session.game
    told: list[Event] = [GameStarted(game.board, game.score, session.best, resumed=game.ply > 0)]
    if game.is_over:
        is_best = 0 < game.score == session.best
        told.append(GameOver(game.outcome, game.score, session.best, is_best))
    return told
