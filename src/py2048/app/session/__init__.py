"""The session, which performs a player's actions and reports the results as events."""

from __future__ import annotations

from py2048.app.session.session import Session, hint_player, open_session
from py2048.app.session.tracked_game import Replay
from py2048.review.advice import Hint, PositionSnapshot, ReviewUpdate, advise, review_game

__all__ = [
    "Hint",
    "PositionSnapshot",
    "Replay",
    "ReviewUpdate",
    "Session",
    "advise",
    "hint_player",
    "open_session",
    "review_game",
]
