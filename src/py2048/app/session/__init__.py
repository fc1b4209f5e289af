"""The session, which performs a player's actions and reports the results as events."""

from __future__ import annotations

from py2048.app.session.session import Session, hint_player, open_session
from py2048.app.session.tracked_game import HUMAN_CATEGORIES, Replay
from py2048.app.storage.values import Career, ScoreSummary
from py2048.review.advice import Hint, PositionSnapshot, ReviewUpdate, advise, review_game

__all__ = [
    "HUMAN_CATEGORIES",
    "Career",
    "Hint",
    "PositionSnapshot",
    "Replay",
    "ReviewUpdate",
    "ScoreSummary",
    "Session",
    "advise",
    "hint_player",
    "open_session",
    "review_game",
]
