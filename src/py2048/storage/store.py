"""The store: all its subjects on one open database."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from py2048.storage import PATIENCE, default_location
from py2048.storage.accounts import Accounts, Sessions
from py2048.storage.backup import back_up, restore
from py2048.storage.changes import Changes
from py2048.storage.database import Database, explained, make_engine, upsert
from py2048.storage.games import SavedGames
from py2048.storage.migration import bring_up_to_date
from py2048.storage.online import OnlineGames
from py2048.storage.records import Leaderboards, Records, Scores
from py2048.storage.schema import settings


class DatabaseStore(Database):
    """The `py2048.storage.Store` on SQLite or PostgreSQL."""

    def __init__(self, engine: Engine, name: str) -> None:
        super().__init__(engine, name)
        self.games = SavedGames(self)
        self.changes = Changes(self)
        self.records = Records(self)
        self.scores = Scores(self)
        self.settings = StoredSettings(self)
        self.online = OnlineGames(self)
        self.leaderboards = Leaderboards(self)
        self.accounts = Accounts(self)
        self.sessions = Sessions(self)

    @classmethod
    def open(
        cls,
        location: str | PathLike[str] | None = None,
        *,
        durability: str = "disk",
        patience: float = PATIENCE,
    ) -> Self:
        """Open the store; see `py2048.storage.open_store`."""
        where = default_location() if location is None else location
        engine, name = make_engine(where, durability, patience)
        try:
            with explained(name):
                bring_up_to_date(engine, name)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, name)

    def back_up(self, path: Path) -> int:
        """Write the whole store to a file; return the number of rows."""
        return back_up(self, path)

    def restore(self, path: Path) -> int:
        """Fill this store, which must be empty, from a backup; return the number of rows."""
        return restore(self, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.name}>"


class StoredSettings:
    """Settings by owner and key, each any JSON value: the theme, the last rules, the speed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str, default: Any = None, *, owner: str = "local") -> Any:
        """Return the setting's value, or `default` where it was never set."""
        query = sa.select(settings.c.value).where(settings.c.owner == owner, settings.c.key == key)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return default if row is None else row.value

    def set(self, key: str, value: Any, *, owner: str = "local") -> None:
        """Remember a JSON value under `key`.

        Raises:
            StorageError: `value` cannot be written as JSON.
        """
        with self._database.write() as connection:
            row = {"owner": owner, "key": key, "value": value}
            connection.execute(upsert(connection, settings), row)

    def check_writable(self) -> None:
        """Write something as durably as a move, and leave nothing behind.

        Raises:
            StorageError: The store cannot be written.
        """
        row = {"owner": "", "key": "check", "value": None}
        with self._database.write() as connection:
            connection.execute(upsert(connection, settings), row)
            connection.execute(sa.delete(settings).where(settings.c.owner == ""))
