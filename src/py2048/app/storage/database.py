"""The database layer of the store: engines, transactions, upserts and error messages."""

from __future__ import annotations

import importlib
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
import sqlalchemy.exc
from sqlalchemy.engine import URL, Connection, Dialect, Engine, Row, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool
from sqlalchemy.sql.dml import Insert

from py2048.app.storage import TIMEOUT_S, data_folder
from py2048.core.errors import StorageError, extra_for
from py2048.core.folders import expanded

WRITES = "py2048_writes"  # execution option for connections that write

_CONNECT_TIMEOUT_S = 10
_SECRETS = ("password", "sslpassword", "passfile")
_SYNCHRONOUS = {"disk": "FULL", "process": "NORMAL"}

T = TypeVar("T")


def make_engine(
    location: str | PathLike[str], durability: str = "disk", timeout_s: float = TIMEOUT_S
) -> tuple[Engine, str]:
    """Return an unconnected engine for `location`, and a display name.

    Args:
        location: Database URL or SQLite path.
        durability: ``disk`` if commits must survive a power failure, or ``process`` if they must
            only survive the death of the process. PostgreSQL uses its own ``synchronous_commit``
            setting.
        timeout_s: Seconds to wait for another process to release its lock.

    Raises:
        StorageError: If `location` is not the URL of a supported database.
        MissingExtraError: If psycopg is needed but not installed.
    """
    url = _parse(location)
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url, durability, timeout_s), url.database or "the store in memory"
    return _postgresql_engine(url, timeout_s), _display_name(url)


def is_sqlite(engine: Engine) -> bool:
    """Return whether the engine uses SQLite rather than PostgreSQL."""
    return engine.dialect.name == "sqlite"


def _parse(location: str | PathLike[str]) -> URL:
    if isinstance(location, PathLike) or ("://" not in location and _looks_like_path(location)):
        return URL.create("sqlite", database=str(expanded(location).absolute()))
    try:
        url = make_url(location)
    except (ArgumentError, ValueError) as error:
        raise _bad_url(location, "is not a database URL") from error
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        in_memory = url.database in (None, "", ":memory:")
        return url.set(database=None if in_memory else str(Path(url.database or "").absolute()))
    if url.drivername in ("postgres", "postgresql", "postgresql+psycopg"):
        return url.set(drivername="postgresql+psycopg")
    raise _bad_url(location, f"names {url.drivername!r}, which py2048 cannot use")


def _looks_like_path(text: str) -> bool:
    """Return whether text without a URL scheme is a file path."""
    return "/" in text or "\\" in text or bool(Path(text).suffix) or Path(text).is_file()


def _bad_url(location: str, reason: str) -> StorageError:
    hidden = re.sub(r"(://[^:/@]*:).*@", r"\1***@", location)
    return StorageError(
        f"{hidden!r} {reason}; set PY2048_DATABASE_URL to postgresql://user:password@host/name"
        " or sqlite:///file, or unset it"
    )


def _display_name(url: URL) -> str:
    shown = url.set(drivername="postgresql").difference_update_query(_SECRETS)
    return shown.render_as_string(hide_password=True)


def _sqlite_engine(url: URL, durability: str, timeout_s: float) -> Engine:
    # Transactions are started by `_begin_sqlite`, not by the driver.
    options: dict[str, Any] = {"isolation_level": None, "timeout": timeout_s}
    if url.database is None:
        # An in-memory database belongs to a single connection, so all threads share this
        # connection.
        options["check_same_thread"] = False
        engine = sa.create_engine(
            url, poolclass=QueuePool, pool_size=1, max_overflow=0, connect_args=options
        )
    else:
        if Path(url.database).is_dir():
            raise StorageError(f"{url.database} is a folder: name a file in it for the database")
        _make_folder(Path(url.database).parent)
        with suppress(OSError):  # SQLite reports errors later
            os.close(os.open(url.database, os.O_CREAT | os.O_EXCL, 0o600))
        engine = sa.create_engine(url, hide_parameters=True, connect_args=options)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")

    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_folder(folder: Path) -> None:
    """Create the data folder on first use. All other folders must already exist."""
    if folder.is_dir():
        return
    if folder != data_folder():
        raise StorageError(f"the database folder {folder} does not exist; create it first")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"the data folder {folder} cannot be created ({error.strerror});"
            " set PY2048_HOME to a writable folder, or play with --no-save"
        ) from error


def _begin_sqlite(connection: Connection) -> None:
    # Take the write lock at the start of a write transaction. Otherwise, SQLite might reject the
    # first write after a read instead of waiting for the lock.
    writes = connection.get_execution_options().get(WRITES)
    connection.connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


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
    """An open database, shared between threads.

    Attributes:
        name: File path, or server URL without the password.
        engine: The SQLAlchemy engine.
        is_sqlite: Whether the database is SQLite rather than PostgreSQL.
        is_closed: Whether `close` was called.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self.engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self.is_closed = False
        self._shared = threading.local()
        self.is_sqlite = is_sqlite(engine)
        database = engine.url.database if self.is_sqlite else None
        self._file = None if database is None else Path(database)
        self._file_id_at_open = _file_id(self._file)
        if self.is_sqlite:
            self._reader = engine
            # Threads of this process wait for a Python lock first, because SQLite polls its own
            # write lock.
            self._write_lock: AbstractContextManager[object] = threading.Lock()
        else:
            # REPEATABLE READ transactions read a consistent snapshot, as SQLite transactions do.
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
            self._write_lock = nullcontext()

    def close(self) -> None:
        """Close all connections. The store cannot be used afterwards."""
        self.is_closed = True
        self.engine.dispose()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Use a single transaction for all reads of this thread within the block.

        A shared transaction is faster and gives all reads the same snapshot. The block must not
        write.
        """
        before = getattr(self._shared, "connection", None)
        with self.read() as connection:
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = before

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection on which all reads see the same snapshot."""
        self._check_open()
        shared: Connection | None = getattr(self._shared, "connection", None)
        transaction = nullcontext(shared) if shared else self._reader.begin()
        with storage_errors(self.name), transaction as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a connection whose changes are committed together, or rolled back on an exception.

        Raises:
            StorageError: If a statement fails, or the database file was moved or replaced.
        """
        self._check_open()
        if _file_id(self._file) != self._file_id_at_open:
            raise _storage_error("moved", self.name)
        with storage_errors(self.name), self._write_lock, self._writer.begin() as connection:
            yield connection

    def one(self, kind: Callable[..., T], query: sa.Select[Any], **values: object) -> T | None:
        """Return the only row of a query, converted by `kind`, or `None` if there is no row."""
        return next(iter(self.all(kind, query, **values)), None)

    def all(self, kind: Callable[..., T], query: sa.Select[Any], **values: object) -> list[T]:
        """Return the rows of a query, passing the columns of each row to `kind`."""
        return [kind(**row._mapping) for row in self.rows(query, **values)]

    def rows(self, query: sa.Select[Any], **values: object) -> Sequence[Row[Any]]:
        """Return the rows of a query.

        SQLAlchemy takes longer to build a query than to run it, so frequent queries are module
        constants with bound parameters.
        """
        with self.read() as connection:
            return connection.execute(query, values).all()

    def value(self, query: sa.Select[Any]) -> Any:
        """Return the first column of a query's first row, or `None` if there is no row."""
        with self.read() as connection:
            return connection.scalar(query)

    def values(self, query: sa.Select[Any]) -> list[Any]:
        """Run a query, and return its first column as a list."""
        with self.read() as connection:
            return list(connection.scalars(query))

    def check(self) -> None:
        """Read the whole SQLite file to check that it is intact.

        Raises:
            StorageError: If the file is damaged.
        """
        with self.read() as connection:
            if self._file and connection.scalar(sa.text("PRAGMA quick_check(1)")) != "ok":
                raise _storage_error("damaged", self.name)

    def change(self, statement: sa.UpdateBase) -> int:
        """Run a single statement in its own transaction, and return the number of affected rows."""
        with self.write() as connection:
            return connection.execute(statement).rowcount

    def _check_open(self) -> None:
        if self.is_closed:
            raise StorageError(f"the store {self.name} is closed; open it again", "closed")


def _file_id(file: Path | None) -> tuple[int, int] | None:
    """Return the device and inode of a file, or `None` if there is no file."""
    with suppress(OSError):
        if file is not None:
            found = file.stat()
            return found.st_dev, found.st_ino
    return None


class Repository:
    """Base class for the queries on a group of related tables.

    Args:
        database: The open database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database


# Upserts (dialect-specific SQL)


@lru_cache
def upsert(
    dialect: Dialect,
    table: sa.Table,
    *,
    rising: str | None = None,
    falling: str | None = None,
    sums: tuple[str, ...] = (),
) -> Insert:
    """Return a statement that inserts a row or, if its primary key exists, updates that row.

    Args:
        dialect: SQL dialect of the connection.
        table: Table to insert into.
        rising: A column that may only increase. An existing row is updated only if the new value is
            higher.
        falling: A column that may only decrease. An existing row is updated only if the new value
            is lower.
        sums: Columns whose new values are added to the stored values.
    """
    insert = _insert(dialect, table)
    changed = {each.name: insert.excluded[each.name] for each in table.c if not each.primary_key}
    for name in sums:
        changed[name] += table.c[name]
    where = table.c[rising] < insert.excluded[rising] if rising else None
    where = table.c[falling] > insert.excluded[falling] if falling else where
    facts = {"index_elements": list(table.primary_key), "set_": changed, "where": where}
    statement: Insert = insert.on_conflict_do_update(**facts)
    return statement


@lru_cache
def insert_new(dialect: Dialect, table: sa.Table) -> Insert:
    """Return a statement that inserts a row unless the row violates a unique index.

    The statement's `rowcount` is 1 if the row was inserted, and 0 otherwise.
    """
    statement: Insert = _insert(dialect, table).on_conflict_do_nothing()
    return statement.execution_options(preserve_rowcount=True)


def lock_rows(connection: Connection, column: sa.Column[Any], values: Collection[object]) -> None:
    """Lock all rows with these values in a column until the transaction ends."""
    # In both databases, an UPDATE locks its rows even if no value changes.
    connection.execute(sa.update(column.table).where(column.in_(values)).values({column: column}))


def _insert(dialect: Dialect, table: sa.Table) -> Any:
    return importlib.import_module(f"sqlalchemy.dialects.{dialect.name}").insert(table)


# Errors

# Messages by kind of error.
_ERROR_TEXTS = {
    "full": "the disk of {name} is full; free some space and try again"
    " (everything saved so far is kept)",
    "read-only": "{name} is not writable; make its folder writable,"
    " or set PY2048_HOME to another folder",
    "damaged": "{name} is damaged or is not a database; restore a backup,"
    " or move the file away to start a new one",
    "moved": "{name} was moved away or replaced while it was open; put it back, or start py2048"
    " again",
    "locked": "{name} is locked by another program; close that program and try again",
    "disk": "the disk of {name} is failing or full ({why}); check it and try again",
    "foreign": "{name} contains another program's tables; set PY2048_DATABASE_URL to a separate"
    " database or file",
    "forbidden": "{name} denies access ({why}); ask its administrator for permission",
    "unreachable": "cannot reach {name} ({why}); start the database server or correct"
    " PY2048_DATABASE_URL",
    # Errors that affect a single operation, not the whole store.
    "value": "{name} cannot store this value ({why}); nothing was changed",
    "": "{name} reports: {why}; nothing was changed",
}

# Prefixes of error codes by kind. For SQLite see https://sqlite.org/rescode.html, for PostgreSQL
# https://www.postgresql.org/docs/current/errcodes-appendix.html.
_CODES = {
    "full": ("SQLITE_FULL", "53100"),
    "read-only": ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"),
    "damaged": ("SQLITE_NOTADB", "SQLITE_CORRUPT", "XX00"),
    "locked": ("SQLITE_BUSY", "SQLITE_LOCKED", "55P03"),
    "disk": ("SQLITE_IOERR", "58"),
    "foreign": ("42P07",),
    "forbidden": ("25006", "28", "42501"),
    "unreachable": ("08", "3D", "53300", "57P"),
    "value": ("SQLITE_TOOBIG", "22", "54"),
}


@contextmanager
def storage_errors(name: str) -> Iterator[None]:
    """Convert all database errors in the block to `StorageError`, with `name` in the message."""
    try:
        yield
    except (sqlalchemy.exc.SQLAlchemyError, sqlite3.Error, OverflowError, UnicodeError) as error:
        cause = getattr(error, "orig", None) or error
        why = (str(cause).strip().splitlines() or [type(cause).__name__])[0].strip()
        raise _storage_error(_error_kind(error, cause), name, why) from error


def _storage_error(kind: str, name: str, why: str = "") -> StorageError:
    return StorageError(
        _ERROR_TEXTS[kind].format(name=name, why=why), "" if kind == "value" else kind
    )


def _error_kind(error: Exception, cause: BaseException) -> str:
    if isinstance(cause, sqlite3.Error):
        return _kind_of_code(getattr(cause, "sqlite_errorname", ""))
    if not isinstance(error, sqlalchemy.exc.DBAPIError):
        return "value" if isinstance(cause, (TypeError, ValueError, OverflowError)) else ""
    known = _kind_of_code(getattr(cause, "sqlstate", None) or "")
    if not known and isinstance(error, sqlalchemy.exc.OperationalError):
        return "unreachable"
    return known or ("value" if isinstance(error, sqlalchemy.exc.DataError) else "")


def _kind_of_code(code: str) -> str:
    return next((kind for kind, prefixes in _CODES.items() if code.startswith(prefixes)), "")
