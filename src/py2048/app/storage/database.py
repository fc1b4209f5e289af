"""The database under the store: engines, transactions, upserts, and errors in one line."""

from __future__ import annotations

import importlib
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
import sqlalchemy.exc
from sqlalchemy.engine import URL, Connection, Engine, Row, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.dml import Insert

from py2048.app.storage import TIMEOUT_S, data_folder
from py2048.core.errors import StorageError, extra_for
from py2048.core.folders import expanded

WRITES = "py2048_writes"
"""The execution option that marks a connection's transactions as writing ones."""

_CONNECT_TIMEOUT_S = 10
_SECRETS = ("password", "sslpassword", "passfile")
# With "disk" a commit returns when the move is on the disk: it outlives a kill and a power cut.
# With "process" it returns when the system has it: it outlives a kill of any process.
_SYNCHRONOUS = {"disk": "FULL", "process": "NORMAL"}

T = TypeVar("T")


def make_engine(
    location: str | PathLike[str], durability: str = "disk", timeout_s: float = TIMEOUT_S
) -> tuple[Engine, str]:
    """Return the engine for `location`, not yet connected, and its name for messages.

    Args:
        location: the database.
        durability: ``disk`` or ``process``, what a committed change outlives; PostgreSQL has
            its own setting for that, ``synchronous_commit``.
        timeout_s: seconds to wait for another process that holds the database.

    Raises:
        StorageError: `location` is not a URL of a database that py2048 can use.
        MissingExtraError: psycopg is needed and not installed.
    """
    url = _parse(location)
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url, durability, timeout_s), url.database or "the store in memory"
    return _postgresql_engine(url, timeout_s), _display_name(url)


def is_sqlite(engine: Engine) -> bool:
    """Say whether the engine's database is SQLite; otherwise it is PostgreSQL."""
    return engine.dialect.name == "sqlite"


def _parse(location: str | PathLike[str]) -> URL:
    if isinstance(location, PathLike) or ("://" not in location and _is_path(location)):
        return URL.create("sqlite", database=str(expanded(location).absolute()))
    try:
        url = make_url(location)
    except (ArgumentError, ValueError) as error:
        raise _malformed(location, "is not a database URL") from error
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        in_memory = url.database in (None, "", ":memory:")
        return url.set(database=None if in_memory else str(Path(url.database or "").absolute()))
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise _malformed(location, f"names {url.drivername!r}, which py2048 cannot use")


def _is_path(text: str) -> bool:
    """Return whether a text that is not a URL is meant as the path of a file."""
    return "/" in text or "\\" in text or bool(Path(text).suffix) or Path(text).is_file()


def _malformed(location: str, reason: str) -> StorageError:
    hidden = re.sub(r"(://[^:/@]*:).*@", r"\1***@", location)
    return StorageError(
        f"{hidden!r} {reason}; set PY2048_DATABASE_URL to postgresql://user:password@host/name"
        " or sqlite:///file, or unset it"
    )


def _display_name(url: URL) -> str:
    shown = url.set(drivername="postgresql").difference_update_query(_SECRETS)
    return shown.render_as_string(hide_password=True)


def _sqlite_engine(url: URL, durability: str, timeout_s: float) -> Engine:
    # Transactions begin where `_begin_sqlite` says.
    options: dict[str, Any] = {"isolation_level": None, "timeout": timeout_s}
    if url.database is None:
        # One connection holds the store in memory; threads take turns.
        options["check_same_thread"] = False
        engine = sa.create_engine(
            url, poolclass=QueuePool, pool_size=1, max_overflow=0, connect_args=options
        )
    else:
        if Path(url.database).is_dir():
            raise StorageError(f"{url.database} is a folder: name a file in it for the database")
        _make_folder(Path(url.database).parent)
        with suppress(OSError):  # it is there, or SQLite says what is wrong
            os.close(os.open(url.database, os.O_CREAT | os.O_EXCL, 0o600))
        engine = sa.create_engine(url, hide_parameters=True, connect_args=options)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")

    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    """Make the data folder on first use; any other must be there."""
    if folder.is_dir():
        return
    if folder != data_folder():
        raise StorageError(f"there is no folder {folder} for a database: make it first")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the data folder {folder} cannot be made ({error.strerror});"
            " set PY2048_HOME to a folder that can be written"
        ) from error


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once. Were it to upgrade later, two readers that both want
    # to write would fail instead of waiting for each other.
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql_engine(url: URL, timeout_s: float) -> Engine:
    defaults = {"connect_timeout": str(_CONNECT_TIMEOUT_S), "application_name": "py2048"}
    url = url.set(query={**defaults, **url.query})
    with extra_for("PostgreSQL", "postgres"):
        engine = sa.create_engine(url, pool_pre_ping=True, hide_parameters=True)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.execute(f"SET lock_timeout = {int(timeout_s * 1000)}")
        connection.commit()

    return engine


# Transactions


class Database:
    """An open database; threads may share it."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        """The file's path, or the server's URL without its password."""
        self.engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self.is_closed = False
        self._shared = threading.local()
        self._file = engine.url.database if is_sqlite(engine) else None
        self._place = _place_of(self._file)
        if is_sqlite(engine):
            self._reader = engine
            # SQLite has one writer at a time and lets the others poll; threads of one
            # process wait for each other in line instead.
            self._turnstile: AbstractContextManager[object] = threading.Lock()
        else:
            # All reads of one transaction see the same moment, as they do on SQLite.
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
            self._turnstile = nullcontext()

    def close(self) -> None:
        """Close all connections; using the store afterwards is an error."""
        self.is_closed = True
        self.engine.dispose()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let what this thread reads within the block be one transaction.

        All of it sees the same moment, and costs less than transactions of their own. Write
        outside of such a block.
        """
        with self.read() as connection:
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = None

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection whose reads all see the same moment."""
        self._check_open()
        shared: Connection | None = getattr(self._shared, "connection", None)
        with explained(self.name), nullcontext(shared) if shared else self._reader.begin() as found:
            yield found

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection whose work is kept as a whole, or not at all.

        Raises:
            StorageError: Anything fails, or the file of the store is not where it was.
        """
        self._check_open()
        if _place_of(self._file) != self._place:
            raise _failure("moved", self.name)
        with explained(self.name), self._turnstile, self._writer.begin() as connection:
            yield connection

    def one(self, kind: Callable[..., T], query: sa.Select[Any]) -> T | None:
        """Return the only row that a query finds, as a `kind`; None where it finds none."""
        with self.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else kind(**row._mapping)

    def all(self, kind: Callable[..., T], query: sa.Select[Any]) -> list[T]:
        """Return the rows that a query finds, each as a `kind` with its columns as arguments."""
        with self.read() as connection:
            return [kind(**row._mapping) for row in connection.execute(query)]

    def rows(self, query: sa.Select[Any]) -> Sequence[Row[Any]]:
        """Return the rows that a query finds."""
        with self.read() as connection:
            return connection.execute(query).all()

    def value(self, query: sa.Select[Any]) -> Any:
        """Return the first column of the first row that a query finds, None where it finds none."""
        with self.read() as connection:
            return connection.scalar(query)

    def values(self, query: sa.Select[Any]) -> list[Any]:
        """Return the first column of the rows that a query finds."""
        with self.read() as connection:
            return list(connection.scalars(query))

    def check(self) -> None:
        """Read all of an SQLite file.

        Raises:
            StorageError: It is damaged.
        """
        with self.read() as connection:
            if self._file and connection.scalar(sa.text("PRAGMA quick_check(1)")) != "ok":
                raise _failure("damaged", self.name)

    def change(self, statement: sa.UpdateBase) -> int:
        """Update or delete by one statement in a transaction of its own; return how many rows."""
        with self.write() as connection:
            return connection.execute(statement).rowcount

    def _check_open(self) -> None:
        if self.is_closed:
            raise StorageError(f"the store {self.name} is closed; open it again", "closed")


def _place_of(file: str | None) -> tuple[int, int] | None:
    """Return what tells a file from another of the same path, None where there is none."""
    with suppress(OSError):
        if file is not None:
            found = Path(file).stat()
            return found.st_dev, found.st_ino
    return None


class Subject:
    """What one part of a store's tables is for: the methods of a `Store` are those of its subjects.

    Args:
        database: where the tables are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database


# Insert or update, which SQLAlchemy spells per dialect


def upsert(connection: Connection, table: sa.Table, *, rising: str | None = None) -> Insert:
    """Return the statement that inserts a row, or updates the one with the same primary key.

    Args:
        connection: Tells the dialect.
        table: Where to.
        rising: A column that may only grow: a row with a lower or equal value changes nothing.
    """
    insert = _insert(connection, table)
    statement: Insert = insert.on_conflict_do_update(
        index_elements=list(table.primary_key),
        set_={each.name: insert.excluded[each.name] for each in table.c if not each.primary_key},
        where=None if rising is None else table.c[rising] < insert.excluded[rising],
    )
    return statement


def insert_new(connection: Connection, table: sa.Table) -> Insert:
    """Return the statement that inserts a row, unless a unique index has one like it.

    Its `rowcount` is 1 or 0.
    """
    statement: Insert = _insert(connection, table).on_conflict_do_nothing()
    return statement.execution_options(preserve_rowcount=True)


def lock_rows(connection: Connection, column: sa.Column[Any], values: Collection[object]) -> None:
    """Let others who ask for the rows with these values wait until the transaction is over."""
    # A change of nothing locks rows in both databases.
    connection.execute(sa.update(column.table).where(column.in_(values)).values({column: column}))


def _insert(connection: Connection, table: sa.Table) -> Any:
    return importlib.import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)


# Errors

# What is wrong with the whole store, by kind, for its owner.
_SENTENCES = {
    "full": "the disk of {name} is full; free some space and try again"
    " (all that was saved is kept)",
    "read-only": "{name} cannot be written; make its folder writable,"
    " or set PY2048_HOME to a folder that is",
    "damaged": "{name} is damaged or is not a database; restore a copy of it,"
    " or move it away and py2048 starts a new one",
    "moved": "{name} was moved away or replaced while it was open; put it back, or start py2048"
    " again",
    "locked": "{name} is held by another program; close that program and try again",
    "disk": "the disk of {name} fails or is full ({why}); check it and try again",
    "foreign": "{name} holds tables of another program; give py2048 a database or a file of its own"
    " by PY2048_DATABASE_URL",
    "forbidden": "{name} does not let this user in or write ({why}); ask for the right to it",
    "unreachable": "cannot reach {name} ({why}); start the server or correct PY2048_DATABASE_URL,"
    " or unset it to use a file",
    # Two that say nothing of the store as a whole.
    "value": "{name} cannot keep this value ({why}); nothing was changed",
    "": "{name} reports: {why}; nothing was changed",
}

# The first prefix that fits decides; names from https://sqlite.org/rescode.html.
_SQLITE = {
    "SQLITE_FULL": "full",
    "SQLITE_READONLY": "read-only",
    "SQLITE_CANTOPEN": "read-only",
    "SQLITE_PERM": "read-only",
    "SQLITE_NOTADB": "damaged",
    "SQLITE_CORRUPT": "damaged",
    "SQLITE_BUSY": "locked",
    "SQLITE_LOCKED": "locked",
    "SQLITE_IOERR": "disk",
    "SQLITE_TOOBIG": "value",
}
# Codes and classes from https://www.postgresql.org/docs/current/errcodes-appendix.html.
_POSTGRESQL = {
    "53100": "full",
    "42P07": "foreign",
    "25006": "forbidden",
    "28": "forbidden",
    "42501": "forbidden",
    "08": "unreachable",
    "3D": "unreachable",
    "53300": "unreachable",
    "57P": "unreachable",
    "55P03": "locked",
    "22": "value",
    "54": "value",
    "XX00": "damaged",
    "58": "disk",
}


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn every failure of the database `name` inside the block into a `StorageError`."""
    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, OverflowError, UnicodeError) as error:
        cause = getattr(error, "orig", None) or error
        why = (str(cause).strip().splitlines() or [type(cause).__name__])[0].strip()
        raise _failure(_kind(error, cause), name, why) from error


def _failure(kind: str, name: str, why: str = "") -> StorageError:
    return StorageError(
        _SENTENCES[kind].format(name=name, why=why), "" if kind == "value" else kind
    )


def _kind(error: Exception, cause: BaseException) -> str:
    if isinstance(cause, sqlite3.Error):
        return _lookup(_SQLITE, getattr(cause, "sqlite_errorname", ""))
    if not isinstance(error, sqlalchemy.exc.DBAPIError):
        return "value" if isinstance(cause, (TypeError, ValueError, OverflowError)) else ""
    known = _lookup(_POSTGRESQL, getattr(cause, "sqlstate", None) or "")
    if not known and isinstance(error, sqlalchemy.exc.OperationalError):
        return "unreachable"
    return known or ("value" if isinstance(error, sqlalchemy.exc.DataError) else "")


def _lookup(kinds: dict[str, str], code: str) -> str:
    return next((kind for prefix, kind in kinds.items() if code.startswith(prefix)), "")
