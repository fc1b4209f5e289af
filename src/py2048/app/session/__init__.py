"""The session: what every screen can do, and the events that say what happened."""

from __future__ import annotations

from py2048.app.session.session import Session, hint_player, is_by_computer, open_session
from py2048.app.session.tracked_game import HUMAN_CATEGORIES, Replay, name_of
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
from py2048.review.advice import (
    Hint,
    PositionSnapshot,
    ReviewUpdate,
    advise,
    ready_judge,
    review_game,
)

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
    "is_by_computer",
    "name_of",
    "open_session",
    "ready_judge",
    "review_game",
]
