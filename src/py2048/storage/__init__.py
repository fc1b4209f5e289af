"""One store for games in progress, finished records, best scores and settings.

The store is SQLite in the player's data folder, or any database that
``PY2048_DATABASE_URL`` names; the same code serves both. Importing this package is cheap:
SQLAlchemy is loaded by the first `open_store`, Alembic only when a database is out of date.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from py2048.errors import StaleGameError, StorageError
from py2048.storage.location import data_folder

PATIENCE = 30.0
"""Seconds to wait for another process that writes, before the store gives up."""

if TYPE_CHECKING:
    from py2048.storage.store import Store
    from py2048.storage.values import (
        Account,
        AccountError,
        GameChange,
        NewRound,
        RecordSummary,
        Round,
        SavedGame,
        ScoreSummary,
        Session,
    )

__all__ = [
    "PATIENCE",
    "Account",
    "AccountError",
    "GameChange",
    "NewRound",
    "RecordSummary",
    "Round",
    "SavedGame",
    "ScoreSummary",
    "Session",
    "StaleGameError",
    "StorageError",
    "Store",
    "data_folder",
    "open_store",
]


def open_store(
    url: str | PathLike[str] | None = None,
    *,
    durability: Literal["disk", "process"] = "disk",
    patience: float = PATIENCE,
) -> Store:
    """Open the store at `url`, creating or upgrading it where that is needed.

    Args:
        url: A database URL (``postgresql://…``, ``sqlite:///file``, or ``sqlite://`` for a
            store in memory that is gone when it is closed) or the path of an SQLite file.
            None means ``PY2048_DATABASE_URL``, and without that ``py2048.sqlite3`` in
            `data_folder`.
        durability: What a saved change outlives: ``"disk"``, a power cut too; ``"process"``,
            the end of any process, which is faster on SQLite. PostgreSQL has its own setting.
        patience: Seconds to wait for another process that holds the store.

    Raises:
        StorageError: The database cannot be reached, read, written or understood.
        MissingExtraError: PostgreSQL is asked for and psycopg is not installed.
    """
    from py2048.storage.store import Store

    return Store.open(url, durability=durability, patience=patience)


def __getattr__(name: str) -> Any:
    if name == "Store":
        from py2048.storage.store import Store

        return Store
    if name in __all__:
        from py2048.storage import values

        return getattr(values, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
