"""The store: all its subjects on one open database, and its backups."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import secrets
import zlib
from os import PathLike
from pathlib import Path
from typing import IO, Self

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.errors import StorageError
from py2048.game.record import check_replaceable, is_same_file
from py2048.storage import schema
from py2048.storage.accounts import Accounts, Sessions
from py2048.storage.battles import Battles
from py2048.storage.changes import Changes
from py2048.storage.database import (
    Database,
    Subject,
    explained,
    is_sqlite,
    make_engine,
    upsert,
)
from py2048.storage.follows import Follows
from py2048.storage.games import SavedGames
from py2048.storage.migration import bring_up_to_date
from py2048.storage.notices import Notices
from py2048.storage.online import OnlineGames
from py2048.storage.practice import Mistakes, PuzzleAnswers
from py2048.storage.records import Leaderboards, Records, Scores
from py2048.storage.reviews import Reviews
from py2048.storage.schema import settings

SQLITE_ENDINGS = "", "-wal", "-shm", "-journal"
"""What the names of the files of an SQLite database end in, after the database's own."""


class Store(Database):
    """Games in progress, records, scores, settings and accounts, in one database.

    Screens and servers use its subjects. Each method of a subject is one transaction: it has
    happened when it returns, and not at all when it raises. Every failure is a `StorageError`
    that names the store and the way out. Threads may share a store.

    Args:
        location: see `py2048.storage.open_store`, and for the other two.
        durability: what a committed change outlives.
        patience: seconds to wait for whoever holds the database.

    Attributes:
        name: The file's path, or the database server's URL without its password.
        games: The games in progress.
        changes: Changes of many games in one transaction.
        notices: Messages between processes.
        records: The finished games.
        scores: The best scores by owner, rules and category.
        settings: Small values to remember.
        online: What the games of a server have besides.
        battles: Games of several players with one secret.
        leaderboards: The best game of each player with a name.
        accounts: The players of a server.
        sessions: Who is signed in where.
        follows: Who follows whom.
        mistakes: What each player is to practise.
        puzzle_answers: How each player answered puzzles.
        reviews: The reviews of finished games.
    """

    def __init__(self, location: str | PathLike[str], durability: str, patience: float) -> None:
        engine, name = make_engine(location, durability, patience)
        try:
            with explained(name):
                bring_up_to_date(engine, name)
        except BaseException:
            engine.dispose()
            raise
        super().__init__(engine, name)
        self.games = SavedGames(self)
        self.changes = Changes(self)
        self.notices = Notices(self)
        self.records = Records(self)
        self.scores = Scores(self)
        self.settings = StoredSettings(self)
        self.online = OnlineGames(self)
        self.battles = Battles(self)
        self.leaderboards = Leaderboards(self)
        self.accounts = Accounts(self)
        self.sessions = Sessions(self)
        self.follows = Follows(self)
        self.mistakes = Mistakes(self)
        self.puzzle_answers = PuzzleAnswers(self)
        self.reviews = Reviews(self)

    def back_up(self, path: Path, *, replace: bool = True) -> int:
        """Write all tables, as they are at one moment, to a file; return the number of rows.

        Players can continue meanwhile. The file appears under its name when it is complete.

        Args:
            path: The file.
            replace: Whether it may take the place of another file.

        Raises:
            StorageError: The store cannot be read or the file not be written.
        """
        self._check_elsewhere(path)
        # The name is nobody else's. It does without `with_name`, which some paths do not have.
        partial = path.parent / f"{path.name}.{secrets.token_hex(4)}.part"
        try:
            check_replaceable(path)
            if path.exists() and not replace:
                raise StorageError(
                    f"{path} exists: choose another name, or give --force to replace it"
                )
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as raw:  # it holds password hashes
                with gzip.open(raw, "wt", encoding="utf-8") as file, self.read() as connection:
                    rows = _write_rows(connection, file)
                os.fsync(raw.fileno())
            partial.replace(path)
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from None
        finally:
            partial.unlink(missing_ok=True)
        return rows

    def _check_elsewhere(self, path: Path) -> None:
        """Check that a file to write is none of the database's own.

        Raises:
            StorageError: it is.
        """
        database = self.engine.url.database
        if database is None or not is_sqlite(self.engine):
            return
        if any(is_same_file(path, Path(f"{database}{end}")) for end in SQLITE_ENDINGS):
            raise StorageError(f"{path} is the store itself: name another file for the backup")

    def restore(self, path: Path) -> int:
        """Fill this store, which must be empty, from a backup; return the number of rows.

        Raises:
            StorageError: The store holds something, or the file is no complete backup of this
                version; nothing was changed.
        """
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file, self.write() as connection:
                _check_empty(connection, self.name)
                return _read_rows(connection, file, path)
        except (OSError, EOFError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise StorageError(f"{path} is no backup that can be read: {why}") from None
        except (zlib.error, LookupError, TypeError):
            raise StorageError(f"{path} is no backup that can be read: it is damaged") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Store {self.name}>"


class StoredSettings(Subject):
    """Settings by owner and key, each any JSON value: the theme, the last rules, the speed."""

    def get(self, key: str, default: object = None, *, owner: str = "local") -> object:
        """Return the setting's value, or `default` where it was never set."""
        query = sa.select(settings.c.value).where(settings.c.owner == owner, settings.c.key == key)
        row = self._database.one(query)
        return default if row is None else row.value

    def set(self, key: str, value: object, *, owner: str = "local") -> None:
        """Remember a JSON value under `key`.

        Raises:
            StorageError: `value` cannot be written as JSON.
        """
        with self._database.write() as connection:
            row = {"owner": owner, "key": key, "value": value}
            connection.execute(upsert(connection, settings), row)

    def remove(self, key: str, *, owner: str = "local") -> None:
        """Forget the setting, if there is one."""
        same = settings.c.owner == owner, settings.c.key == key
        with self._database.write() as connection:
            connection.execute(sa.delete(settings).where(*same))

    def check_writable(self) -> None:
        """Write something as durably as a move, and leave nothing behind.

        Raises:
            StorageError: The store cannot be written.
        """
        row = {"owner": "", "key": "check", "value": None}
        with self._database.write() as connection:
            connection.execute(upsert(connection, settings), row)
            connection.execute(sa.delete(settings).where(settings.c.owner == ""))


# Backups: JSON lines, compressed by gzip: first ``{"py2048": "backup", "schema": "0002"}``, then
# ``[table, row]`` for each row, at last ``{"rows": n}``, by which a cut file is noticed.

_ROWS_AT_ONCE = 500


def _write_rows(connection: Connection, file: IO[str]) -> int:
    print(json.dumps({"py2048": "backup", "schema": schema.REVISION}), file=file)
    rows = 0
    for table in schema.metadata.sorted_tables:
        found = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(sa.select(table))
        for row in found:
            print(json.dumps([table.name, list(row)]), file=file)
            rows += 1
    print(json.dumps({"rows": rows}), file=file)
    return rows


def _check_empty(connection: Connection, name: str) -> None:
    for table in schema.metadata.sorted_tables:
        if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
            raise StorageError(
                f"{name} holds games or settings already: restore into a new store, such as "
                "--database sqlite:///new.sqlite3"
            )


def _read_rows(connection: Connection, file: IO[str], path: Path) -> int:
    try:
        head = json.loads(next(file, "null"))
    except (gzip.BadGzipFile, ValueError):
        head = None
    if not isinstance(head, dict) or head.get("py2048") != "backup":
        raise StorageError(f"{path} is no backup of py2048: give a file that py2048 backup wrote")
    if head.get("schema") != schema.REVISION:
        raise StorageError(
            f"{path} holds schema {head.get('schema')}, this py2048 has {schema.REVISION}: "
            "restore it with the version that wrote it, which a newer one then upgrades"
        )
    rows, claimed = 0, None
    for table, lines in itertools.groupby(map(json.loads, file), key=_table_of):
        if table is None:
            claimed = next(lines)["rows"]
            continue
        columns = schema.metadata.tables[table].columns.keys()
        while batch := [
            dict(zip(columns, values, strict=True))
            for _, values in itertools.islice(lines, _ROWS_AT_ONCE)
        ]:
            connection.execute(sa.insert(schema.metadata.tables[table]), batch)
            rows += len(batch)
    if claimed != rows:
        raise StorageError(f"{path} is cut off: it holds {rows} rows of {claimed or 'more'}")
    return rows


def _table_of(line: object) -> str | None:
    """Return the table of a line, None for the last line, which belongs to none."""
    if not isinstance(line, list):
        return None
    if line[0] not in schema.metadata.tables:
        raise ValueError(f"no table is called {line[0]!r}")
    return str(line[0])
