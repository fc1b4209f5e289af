"""One store for games in progress, finished records, best scores and settings.

The store is SQLite in the player's data folder, or any database that
``PY2048_DATABASE_URL`` names; the same code serves both. Importing this package is cheap:
SQLAlchemy is loaded by the first `open_store`, Alembic only when a database is out of date.
"""

from __future__ import annotations

import importlib
import os
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from py2048.errors import StaleGameError, StorageError

HOME_VARIABLE = "PY2048_HOME"
URL_VARIABLE = "PY2048_DATABASE_URL"
FILE_NAME = "py2048.sqlite3"
PATIENCE = 30.0
"""Seconds to wait for another process that writes, before the store gives up."""

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from py2048.storage.accounts import Accounts, Sessions
    from py2048.storage.changes import Changes
    from py2048.storage.games import SavedGames
    from py2048.storage.online import OnlineGames
    from py2048.storage.records import Leaderboards, Records, Scores
    from py2048.storage.store import StoredSettings
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


class Store(Protocol):
    """Games in progress, records, scores, settings and accounts, in one database.

    This is all that screens and servers know of it. Each method of a subject is one transaction:
    it has happened when it returns, and not at all when it raises. Every failure is a
    `StorageError` that names the store and the way out. Threads may share a store.

    Attributes:
        name: The file's path, or the database server's URL without its password.
        games: The games in progress.
        changes: Changes of many games in one transaction.
        records: The finished games.
        scores: The best scores by owner, rules and category.
        settings: Small values to remember.
        online: What the games of a server have besides.
        leaderboards: The best game of each player with a name.
        accounts: The players of a server.
        sessions: Who is signed in where.
    """

    name: str
    games: SavedGames
    changes: Changes
    records: Records
    scores: Scores
    settings: StoredSettings
    online: OnlineGames
    leaderboards: Leaderboards
    accounts: Accounts
    sessions: Sessions

    def snapshot(self) -> AbstractContextManager[None]:
        """Let what this thread reads within the block be one transaction; see `Database`."""

    def back_up(self, path: Path) -> int:
        """Write the whole store to a file; see `py2048.storage.backup`."""

    def restore(self, path: Path) -> int:
        """Fill this store, which must be empty, from a backup; see `py2048.storage.backup`."""

    def close(self) -> None:
        """Close all connections; using the store afterwards is an error."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


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
    from py2048.storage.store import DatabaseStore

    return DatabaseStore.open(url, durability=durability, patience=patience)


def data_folder() -> Path:
    """Return the folder for a player's data: ``PY2048_HOME``, else the platform's own place.

    The folder need not exist yet; `open_store` creates it.
    """
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home).expanduser().absolute()
    import platformdirs

    return platformdirs.user_data_path("py2048", appauthor=False)


def default_location() -> str | Path:
    """Return the URL in ``PY2048_DATABASE_URL``, else the SQLite file in the data folder."""
    return os.environ.get(URL_VARIABLE, "").strip() or data_folder() / FILE_NAME


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module("py2048.storage.values"), name)
