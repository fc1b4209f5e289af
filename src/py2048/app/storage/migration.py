"""Schema migration, which creates the tables or converts those of an earlier revision.

Every schema change has a conversion function. A conversion runs in one transaction, supports both
databases, and keeps all data that matters to players.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from py2048.app.storage import TIMEOUT_S, schema
from py2048.app.storage.database import WRITES, is_sqlite
from py2048.core.errors import StorageError

_ADVISORY_LOCK = 2048_0001  # arbitrary lock ID, which must never change


def bring_up_to_date(engine: Engine, name: str) -> None:
    """Create the tables of a database, or convert them to the current revision.

    If several processes call this function at once, one does the work while the others wait.

    Raises:
        StorageError: If the database belongs to a newer version or to another program.
    """
    if is_sqlite(engine):
        _use_write_ahead_log(engine)
    with engine.begin() as connection:
        if _revision(connection) == schema.REVISION:
            return
    with engine.execution_options(**{WRITES: True}).begin() as connection:
        if not is_sqlite(engine):  # on SQLite, BEGIN IMMEDIATE has already taken a lock
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
        revision = _revision(connection)
        if revision is None:
            _create(connection, name)
        elif revision in _CONVERSIONS:
            for since, convert in _CONVERSIONS.items():
                if revision <= since:
                    convert(connection)
            connection.execute(sa.update(schema.version), {"version_num": schema.REVISION})
        elif revision != schema.REVISION:
            age, way_out = "a newer", "upgrade py2048 to use it"
            if revision < schema.REVISION:
                age = "an older"
                way_out = "open it once with the last py2048 before 0.1.0, or move it away"
            raise StorageError(
                f"{name} was written by {age} py2048 (schema {revision}, here {schema.REVISION});"
                f" it was not changed: {way_out}"
            )


_CONVERSIONS: dict[str, Callable[[Connection], object]] = {"0011": schema.milestones.create}
"""The conversion of each earlier revision to the next one."""


def _use_write_ahead_log(engine: Engine) -> None:
    """Enable write-ahead logging permanently, so that readers do not block the writer.

    Changing the mode requires exclusive access. The function retries, because SQLite does not wait
    for this access.
    """
    deadline = time.monotonic() + TIMEOUT_S
    # Both PRAGMA statements count as writes, and block commits while the cursor is open.
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        while cursor.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
            try:
                cursor.execute("PRAGMA journal_mode = WAL")
                return  # the mode stays unchanged on file systems without shared memory
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def _revision(connection: Connection) -> str | None:
    """Return the schema's revision, or `None` if the database has no py2048 tables."""
    if not sa.inspect(connection).has_table(schema.version.name):
        return None
    return connection.execute(sa.select(schema.version.c.version_num)).scalar_one_or_none()


def _create(connection: Connection, name: str) -> None:
    """Create all tables in an empty database."""
    if is_sqlite(connection.engine) and sa.inspect(connection).get_table_names():
        raise StorageError(
            f"{name} is a database of another program; it was not changed:"
            " move it away, or set PY2048_HOME to another folder"
        )
    schema.metadata.create_all(connection, checkfirst=False)
    schema.version.create(connection, checkfirst=False)
    connection.execute(sa.insert(schema.version), {"version_num": schema.REVISION})
