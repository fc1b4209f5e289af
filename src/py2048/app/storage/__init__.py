"""One store for games in progress, finished records, best scores and settings.

The store is SQLite in the player's data folder, or any database that
``PY2048_DATABASE_URL`` names; the same code serves both. Importing this package is cheap:
SQLAlchemy is loaded by the first `open_store`. What its subjects return is in `values`.
"""

from __future__ import annotations

import os
from os import PathLike
from typing import TYPE_CHECKING, Literal

from py2048.app.storage.values import (
    Account,
    AccountError,
    GameChange,
    NewOnlineGame,
    OnlineGameInfo,
    RecordSummary,
    SavedGame,
    ScoreSummary,
)
from py2048.core.errors import StaleGameError, StorageError
from py2048.core.folders import data_folder

if TYPE_CHECKING:
    from py2048.app.storage.store import Store

__all__ = [
    "TIMEOUT_S",
    "Account",
    "AccountError",
    "GameChange",
    "NewOnlineGame",
    "OnlineGameInfo",
    "RecordSummary",
    "SavedGame",
    "ScoreSummary",
    "StaleGameError",
    "StorageError",
    "Store",
    "data_folder",
    "load_store",
    "open_store",
]

URL_VARIABLE = "PY2048_DATABASE_URL"
FILE_NAME = "py2048.sqlite3"
TIMEOUT_S = 30.0
"""Seconds to wait for another process that writes, before the store gives up."""


def open_store(
    url: str | PathLike[str] | None = None,
    *,
    durability: Literal["disk", "process"] = "disk",
    timeout_s: float = TIMEOUT_S,
) -> Store:
    """Open the store at `url`, creating or upgrading it where that is needed.

    Args:
        url: A database URL (``postgresql://…``, ``sqlite:///file``, or ``sqlite://`` for a
            store in memory that is gone when it is closed) or the path of an SQLite file.
            None means ``PY2048_DATABASE_URL``, and without that ``py2048.sqlite3`` in
            `data_folder`.
        durability: What a saved change outlives: ``"disk"``, a power cut too; ``"process"``,
            the end of any process, which is faster on SQLite. PostgreSQL has its own setting.
        timeout_s: Seconds to wait for another process that holds the store.

    Raises:
        StorageError: The database cannot be reached, read, written or understood.
        MissingExtraError: PostgreSQL is asked for and psycopg is not installed.
    """
    from py2048.app.storage.store import Store

    return Store(_location(url), durability, timeout_s)


def load_store(url: str | PathLike[str] | None = None) -> bool:
    """Load what `open_store` needs, without opening anything.

    Args:
        url: As for `open_store`.

    Returns:
        Whether several processes of a server can share the store: one on PostgreSQL. One's own
        cannot, and loading it takes a while: it is left.

    Raises:
        StorageError: This is not a URL of a database that py2048 can use.
        MissingExtraError: PostgreSQL is asked for and psycopg is not installed.
    """
    if (location := _location(url)) == data_folder() / FILE_NAME:
        return False
    import py2048.app.storage.store  # noqa: F401 - loads all that it needs
    from py2048.app.storage.database import is_sqlite, make_engine

    engine, _ = make_engine(location)
    engine.dispose()
    return not is_sqlite(engine)


def _location(url: str | PathLike[str] | None) -> str | PathLike[str]:
    if url is None:
        return os.environ.get(URL_VARIABLE, "").strip() or data_folder() / FILE_NAME
    return url


def __getattr__(name: str) -> type[Store]:
    if name != "Store":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from py2048.app.storage.store import Store

    return Store
