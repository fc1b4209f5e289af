"""Persistent storage for games in progress, finished records, scores and settings.

The store is an SQLite file in the player's data folder, or the database named by
``PY2048_DATABASE_URL``. The same code works with SQLite and PostgreSQL. SQLAlchemy is imported by
the first `open_store`, so importing this package is fast. Result types are in `values`.
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
TIMEOUT_S = 30.0  # maximum wait for the write lock of another process


def open_store(
    url: str | PathLike[str] | None = None,
    *,
    durability: Literal["disk", "process"] = "disk",
    timeout_s: float = TIMEOUT_S,
) -> Store:
    """Open the store at `url`, and create or upgrade the database if needed.

    Args:
        url: A database URL (``postgresql://…``, ``sqlite:///file``, or ``sqlite://`` for an
            in-memory store) or the path of an SQLite file. Defaults to ``PY2048_DATABASE_URL``,
            or else to ``py2048.sqlite3`` in `data_folder`.
        durability: What saved changes survive: ``"disk"`` means a power failure, and ``"process"``,
            which is faster on SQLite, means the death of the process. PostgreSQL uses its own
            setting instead.
        timeout_s: Seconds to wait for another process to release its lock.

    Raises:
        StorageError: If the database cannot be reached, read or written, or has an unknown schema.
        MissingExtraError: If the URL requires psycopg, which is not installed.
    """
    from py2048.app.storage.store import Store

    return Store(_location(url), durability, timeout_s)


def load_store(url: str | PathLike[str] | None = None) -> bool:
    """Import the modules that `open_store` needs, without opening a store.

    For the default SQLite file, returns False without the slow import.

    Args:
        url: As for `open_store`.

    Returns:
        Whether several server processes can share the store. This requires PostgreSQL.

    Raises:
        StorageError: If the URL names an unsupported kind of database.
        MissingExtraError: If the URL requires psycopg, which is not installed.
    """
    if (location := _location(url)) == data_folder() / FILE_NAME:
        return False
    import py2048.app.storage.store  # noqa: F401 - imports the modules
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
