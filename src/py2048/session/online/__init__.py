"""Games on a server: numbered actions, group commits, honest scores. No screen, no socket."""

from __future__ import annotations

from py2048.session.online.bounds import LARGEST_SIDE, checked_rules
from py2048.session.online.fairness import check_fair, commitment_of, daily_seed, draws_of
from py2048.session.online.house import (
    BOARDS,
    LIVE,
    PERIODS,
    House,
    OpenGame,
    guest_name,
    new_account_id,
    open_house,
)
from py2048.session.online.table import CASUAL, DAILY, MODES, RANKED, Action, RefusedError, Table
from py2048.session.online.writer import Writer, Written
from py2048.storage import Account, GameChange, RecordSummary, Round

__all__ = [
    "BOARDS",
    "CASUAL",
    "DAILY",
    "LARGEST_SIDE",
    "LIVE",
    "MODES",
    "PERIODS",
    "RANKED",
    "Account",
    "Action",
    "GameChange",
    "House",
    "OpenGame",
    "RecordSummary",
    "RefusedError",
    "Round",
    "Table",
    "Writer",
    "Written",
    "check_fair",
    "checked_rules",
    "commitment_of",
    "daily_seed",
    "draws_of",
    "guest_name",
    "new_account_id",
    "open_house",
]
