"""From a URL to an SQLAlchemy engine with the settings that keep every acknowledged move."""

from __future__ import annotations

import functools
import re
from os import PathLike
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from py2048.errors import MissingExtraError, StorageError
from py2048.storage import PATIENCE
from py2048.storage.location import data_folder

WRITES = "py2048_writes"
"""The execution option that marks a connection's transactions as writing ones."""

_CONNECT_TIMEOUT = 10  # seconds
_SECRETS = ("password", "sslpassword", "passfile")
# With "disk" a commit returns when the move is on the disk: it outlives a kill and a power cut.
# With "process" it returns when the system has it: it outlives a kill of any process.
_SYNCHRONOUS = {"disk": "FULL", "process": "NORMAL"}


def make_engine(
    location: str | PathLike[str], durability: str = "disk", patience: float = PATIENCE
) -> tuple[Engine, str]:
    """Return the engine for `location`, not yet connected, and its name for messages.

    Args:
        location: the database.
        durability: ``disk`` or ``process``, what a committed change outlives; PostgreSQL has
            its own setting for that, ``synchronous_commit``.
        patience: seconds to wait for whoever holds the database.

    Raises:
        StorageError: `location` is no URL of a database that py2048 can use.
        MissingExtraError: psycopg is needed and not installed.
    """
    url = _parse(location)
    if url.get_backend_name() == "sqlite":
        return _sqlite_engine(url, durability, patience), url.database or "the store in memory"
    return _postgresql_engine(url, patience), _display_name(url)


def is_sqlite(engine: Engine) -> bool:
    """Say whether the engine's database is SQLite; otherwise it is PostgreSQL."""
    return engine.dialect.name == "sqlite"


def _parse(location: str | PathLike[str]) -> URL:
    if isinstance(location, PathLike) or ("://" not in location and _is_path(location)):
        return URL.create("sqlite", database=str(Path(location).expanduser().absolute()))
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
    """Return whether a text that is no URL is meant as the path of a file."""
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


def _sqlite_engine(url: URL, durability: str, patience: float) -> Engine:
    if url.database is None:
        # One connection holds the store in memory; threads take turns.
        engine = sa.create_engine(
            url, poolclass=QueuePool, pool_size=1, max_overflow=0,
            connect_args={"check_same_thread": False},
        )  # fmt: skip
    else:
        _make_folder(Path(url.database).parent)
        engine = sa.create_engine(url)
    pragmas = (
        f"PRAGMA busy_timeout = {int(patience * 1000)}",
        "PRAGMA foreign_keys = ON",
        f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}",
    )
    sa.event.listen(engine, "connect", functools.partial(_prepare_sqlite, pragmas))
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


def _prepare_sqlite(pragmas: tuple[str, ...], connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    for pragma in pragmas:
        connection.execute(pragma)


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the lock at once. Were it to upgrade later, two readers that both want
    # to write would fail instead of waiting for each other.
    writes = connection.get_execution_options().get(WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql_engine(url: URL, patience: float) -> Engine:
    defaults = {"connect_timeout": str(_CONNECT_TIMEOUT), "application_name": "py2048"}
    url = url.set(query={**defaults, **url.query})
    try:
        engine = sa.create_engine(url, pool_pre_ping=True)
    except ImportError as error:
        raise MissingExtraError(
            "PostgreSQL needs psycopg, which is not installed: pip install 'py2048[postgres]'"
        ) from error
    sa.event.listen(engine, "connect", functools.partial(_prepare_postgresql, patience))
    return engine


def _prepare_postgresql(patience: float, connection: Any, _record: object) -> None:
    connection.execute(f"SET lock_timeout = {int(patience * 1000)}")
    connection.commit()
