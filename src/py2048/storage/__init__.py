"""One store for games in progress, finished records, best scores and settings.

The store is SQLite in the player's data folder, or any database that
``PY2048_DATABASE_URL`` names; the same code serves both. Importing this package is cheap:
SQLAlchemy is loaded by the first `open_store`, Alembic only when a database is out of date.
"""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from py2048.errors import StaleGameError, StorageError
from py2048.storage.values import (
    Account,
    AccountError,
    GameChange,
    LoginSession,
    NewOnlineGame,
    OnlineGameInfo,
    OpenGame,
    RecordSummary,
    SavedGame,
    ScoreSummary,
)

if TYPE_CHECKING:
    from py2048.storage.store import Store

__all__ = [
    "PATIENCE",
    "Account",
    "AccountError",
    "GameChange",
    "LoginSession",
    "NewOnlineGame",
    "OnlineGameInfo",
    "OpenGame",
    "RecordSummary",
    "SavedGame",
    "ScoreSummary",
    "StaleGameError",
    "StorageError",
    "Store",
    "data_folder",
    "open_store",
]

HOME_VARIABLE = "PY2048_HOME"
URL_VARIABLE = "PY2048_DATABASE_URL"
FILE_NAME = "py2048.sqlite3"
PATIENCE = 30.0
"""Seconds to wait for another process that writes, before the store gives up."""


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

    if url is None:
        url = os.environ.get(URL_VARIABLE, "").strip() or data_folder() / FILE_NAME
    return Store(url, durability, patience)


def data_folder() -> Path:
    """Return the folder for a player's data: ``PY2048_HOME``, else the platform's own place.

    The folder need not exist yet; `open_store` creates it.
    """
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("py2048", appauthor=False)


def __getattr__(name: str) -> type[Store]:
    if name != "Store":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from py2048.storage.store import Store

    return Store
