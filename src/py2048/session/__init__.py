"""The session: what every screen can do, and the events that say what happened."""

from __future__ import annotations

from py2048.session.advice import (
    Finding,
    Hint,
    PositionSnapshot,
    advise,
    ready_judge,
    review_game,
)
from py2048.session.events import (
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
from py2048.session.session import Session, hint_player, is_by_computer, open_session
from py2048.session.tracked_game import HUMAN_CATEGORIES, Replay, name_of
from py2048.storage import RecordSummary

__all__ = [
    "HUMAN_CATEGORIES",
    "Event",
    "Finding",
    "GameOver",
    "GameStarted",
    "Hint",
    "Hinted",
    "IllegalMove",
    "Moved",
    "PositionSnapshot",
    "RecordSummary",
    "Replay",
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
