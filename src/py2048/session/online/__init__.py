"""Games on a server: numbered actions, group commits, honest scores. No screen, no socket."""

from __future__ import annotations

from py2048.session.online.bounds import LARGEST_SIDE, checked_rules
from py2048.session.online.daily import challenge, check_shown
from py2048.session.online.fairness import (
    check_fair,
    commitment_of,
    daily_seed,
    draws_of,
    known_secret,
    revelation_of,
)
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
from py2048.session.online.table import (
    BOT,
    CASUAL,
    DAILY,
    MODES,
    RANKED,
    Action,
    RefusedError,
    Table,
)
from py2048.session.online.writer import Writer, Written
from py2048.storage import Account, AccountError, GameChange, RecordSummary, Round

__all__ = [
    "BOARDS",
    "BOT",
    "CASUAL",
    "DAILY",
    "LARGEST_SIDE",
    "LIVE",
    "MODES",
    "PERIODS",
    "RANKED",
    "Account",
    "AccountError",
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
    "challenge",
    "check_fair",
    "check_shown",
    "checked_rules",
    "commitment_of",
    "daily_seed",
    "draws_of",
    "guest_name",
    "known_secret",
    "new_account_id",
    "open_house",
    "revelation_of",
]
