"""The session: everything a screen can do with a game, and the events that report the results."""

from __future__ import annotations

from py2048.app.session.session import Session, hint_player, open_session
from py2048.app.session.tracked_game import HUMAN_CATEGORIES, Replay
from py2048.app.storage import RecordSummary
from py2048.presentation.events import (
    Event,
    GameOver,
    GameStarted,
    Hinted,
    IllegalMove,
    Moved,
    SavingChanged,
    StorageFailed,
    Undone,
    Won,
)
from py2048.review.advice import Hint, PositionSnapshot, ReviewUpdate, advise, review_game

__all__ = [
    "HUMAN_CATEGORIES",
    "Event",
    "GameOver",
    "GameStarted",
    "Hint",
    "Hinted",
    "IllegalMove",
    "Moved",
    "PositionSnapshot",
    "RecordSummary",
    "Replay",
    "ReviewUpdate",
    "SavingChanged",
    "Session",
    "StorageFailed",
    "Undone",
    "Won",
    "advise",
    "hint_player",
    "open_session",
    "review_game",
]
