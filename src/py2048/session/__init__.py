"""The session: what every screen can do, and the events that tell it what happened."""

from __future__ import annotations

from py2048.session.advice import Hint, Question, advise
from py2048.session.events import (
    Event,
    GameOver,
    GameStarted,
    Hinted,
    Moved,
    Refused,
    SavingChanged,
    StorageTrouble,
    Undone,
    Won,
)
from py2048.session.replay import Replay
from py2048.session.session import HINT_PLAYER, Session, open_session
from py2048.storage import RecordSummary, SavedGame, ScoreSummary

__all__ = [
    "HINT_PLAYER",
    "Event",
    "GameOver",
    "GameStarted",
    "Hint",
    "Hinted",
    "Moved",
    "Question",
    "RecordSummary",
    "Refused",
    "Replay",
    "SavedGame",
    "SavingChanged",
    "ScoreSummary",
    "Session",
    "StorageTrouble",
    "Undone",
    "Won",
    "advise",
    "open_session",
]
