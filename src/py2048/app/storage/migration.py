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
from py2048.app.storage.schema import accounts, leaders, names, records, rounds, settings
from py2048.app.storage.summaries import COUNTED, count_records, extend_streak
from py2048.app.storage.values import lookalike_key
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
        if not is_sqlite(engine):  # BEGIN IMMEDIATE has already locked SQLite
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


def _convert_names(connection: Connection) -> None:
    """Convert the tables of revision 0009.

    All names get new lookalike keys. If several accounts have lookalike names, they keep the names,
    but only the oldest account gets the key.
    """
    for change in (
        "DROP TABLE bot_games",
        "DROP TABLE follows",
        "ALTER TABLE leaders ADD COLUMN think_ms BIGINT",
    ):
        connection.execute(sa.text(change))
    schema.puzzle_ratings.create(connection)
    rivals = sa.or_(settings.c.key == "rivals", settings.c.key.startswith("rival "))
    connection.execute(sa.delete(settings).where(rivals))
    query = sa.select(names.c.account, names.c.looks).where(names.c.looks.is_not(None))
    oldest_first = query.join(accounts, accounts.c.id == names.c.account).order_by(
        accounts.c.created, accounts.c.id
    )
    first: dict[str, str] = {}
    for account, looks in connection.execute(oldest_first):
        first.setdefault(lookalike_key(looks), account)
    connection.execute(sa.update(names).values(looks=None))
    for looks, account in first.items():
        connection.execute(sa.update(names).where(names.c.account == account).values(looks=looks))


def _add_summaries(connection: Connection) -> None:
    """Convert the tables of revision 0010, and compute the summaries of all records."""
    for change in (
        *(f"DROP INDEX records_by_{name}" for name in ("score", "time", "owner", "career")),
        "DROP TABLE bests",
        "ALTER TABLE records ADD COLUMN continued BOOLEAN",
        "ALTER TABLE rounds ADD COLUMN streak INTEGER",
        "ALTER TABLE rounds ADD COLUMN offline BOOLEAN",
        "CREATE INDEX rounds_by_streak ON rounds (owner, streak)",
    ):
        connection.execute(sa.text(change))
    for index in records.indexes:
        index.create(connection)
    schema.summaries.create(connection)
    is_offline = records.c.category == "offline"
    played = rounds.c.game_id.in_(sa.select(records.c.id).where(is_offline))
    connection.execute(sa.update(rounds).where(played).values(offline=True))
    connection.execute(sa.update(records).where(is_offline).values(category="assisted"))
    connection.execute(sa.delete(leaders).where(leaders.c.category == "offline"))
    counted = sa.select(*(records.c[name] for name in COUNTED))
    count_records(connection, connection.execute(counted))
    dailies = sa.select(rounds.c.game_id).where(rounds.c.day.is_not(None)).order_by(rounds.c.day)
    for game_id in connection.scalars(dailies).all():
        extend_streak(connection, game_id)


_CONVERSIONS: dict[str, Callable[[Connection], object]] = {
    "0009": _convert_names, "0010": _add_summaries, "0011": schema.milestones.create,
}  # fmt: skip


def _use_write_ahead_log(engine: Engine) -> None:
    """Enable write-ahead logging permanently, so that readers do not block the writer.

    Changing the journal mode requires an exclusive lock, for which SQLite does not wait. This
    function therefore retries.
    """
    deadline = time.monotonic() + TIMEOUT_S
    # PRAGMA statements count as writes, so a cursor left open would block commits.
    with closing(engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
        while cursor.execute("PRAGMA journal_mode").fetchone()[0] not in ("wal", "memory"):
            try:
                cursor.execute("PRAGMA journal_mode = WAL")
                return  # file systems without shared memory do not support WAL
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
