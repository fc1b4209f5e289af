"""Many games' changes in one transaction, which is what makes a durable move cheap.

Processes that share a PostgreSQL tell each other of them by LISTEN and NOTIFY.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.database import Subject, explained, is_sqlite, upsert
from py2048.storage.online import insert_online_games
from py2048.storage.schema import games, turns
from py2048.storage.values import GameChange, NewOnlineGame, utc_now

CHANNEL = "py2048_games"
_MOST_IN_ONE = 200  # a notice holds less than 8,000 bytes
_NOTIFY = sa.text("SELECT pg_notify(:channel, :payload)")

# Parameters may not be named like columns: those are the new values.
_ADVANCE = sa.update(games).where(
    games.c.id == sa.bindparam("game"), games.c.revision == sa.bindparam("seen")
)

# PostgreSQL takes all rows in one parameter, at a quarter of the cost; SQLite gains nothing by it.
# The rows are locked in one order, so that two processes never wait for each other's.
_ADVANCE_ALL = sa.text("""
WITH new AS (
    SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS given(
        game text, seen int, revision int, length int, position int, score bigint,
        is_over boolean, undos int, hints int, extra text, updated text
    )
), locked AS (
    SELECT id FROM games WHERE id IN (SELECT game FROM new) ORDER BY id FOR UPDATE
)
UPDATE games SET
    revision = new.revision, length = new.length, position = new.position, score = new.score,
    is_over = new.is_over, undos = new.undos, hints = new.hints, extra = new.extra,
    updated = new.updated
FROM new
WHERE games.id = new.game AND games.revision = new.seen AND games.id IN (SELECT id FROM locked)
""")
_ADD_ALL = sa.text("""
INSERT INTO turns (game_id, ply, code, millis)
SELECT game_id, ply, code, millis FROM json_to_recordset(CAST(:rows AS json)) AS given(
    game_id text, ply int, code text, millis bigint
)
ON CONFLICT (game_id, ply) DO UPDATE SET code = excluded.code, millis = excluded.millis
""")


class _SomeAreStaleError(Exception):
    """Ends a transaction in which a change did not find the revision that it starts from."""


class Changes(Subject):
    """Changes of games in progress: written together, and announced to other processes."""

    def write(self, changes: Sequence[GameChange | NewOnlineGame], origin: str = "") -> set[str]:
        """Write the changes in one transaction; when this returns they are on the disk.

        Args:
            changes: At most one for each game; games that begin are among them.
            origin: Who writes, so that listeners tell their own notices from others'.

        Returns:
            The games that another process has changed since, and daily games that the account
            has begun already; nothing of theirs was written.
        """
        ordered = sorted(changes, key=lambda change: change.id)
        try:
            with self._database.write() as connection:
                if not _write(connection, ordered, origin):
                    raise _SomeAreStaleError
        except _SomeAreStaleError:
            with self._database.write() as connection:
                return {each.id for each in ordered if not _write(connection, [each], origin)}
        return set()

    @property
    def can_listen(self) -> bool:
        """Whether other processes can be heard: SQLite has no such thing."""
        return not is_sqlite(self._database.engine)

    def listen(self, patience: float) -> Iterator[tuple[str, Mapping[str, int]] | None]:
        """Yield each notice, and None after each `patience` seconds without one.

        A notice is the origin of a change, and the games changed with their new revisions.
        The first None comes as soon as every later notice will be heard.

        Raises:
            StorageError: The connection is lost.
        """
        with explained(self._database.name), self._told():
            pooled = self._database.engine.raw_connection()
            connection = pooled.driver_connection
            assert connection is not None  # it has just been opened
            pooled.detach()  # a listening connection must not go back to the pool
            with closing(connection):
                connection.autocommit = True
                connection.execute(f"LISTEN {CHANNEL}")
                yield None
                while not self._database.is_closed:
                    for notice in connection.notifies(timeout=patience):
                        origin, changed = json.loads(notice.payload)
                        yield origin, dict(changed)
                    yield None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Pass on the driver's own errors as SQLAlchemy would: a detached connection is not its."""
        driver = self._database.engine.dialect.loaded_dbapi
        try:
            yield
        except driver.OperationalError as error:
            raise sa.exc.OperationalError(None, None, error) from error


def _write(
    connection: Connection, ordered: Sequence[GameChange | NewOnlineGame], origin: str
) -> bool:
    """Write changes; if one of several is stale the transaction must be given up.

    Returns:
        Whether all could be written. Of a single one that is stale nothing is.
    """
    new = [change for change in ordered if isinstance(change, NewOnlineGame)]
    changes = [change for change in ordered if isinstance(change, GameChange)]
    if new and not insert_online_games(connection, new):
        return False
    if changes:
        if _advance(connection, changes) != len(changes):
            return False
        _add_turns(connection, changes)
        _notify(connection, origin, [(change.id, change.revision) for change in changes])
    return True


def _advance(connection: Connection, changes: Sequence[GameChange]) -> int:
    """Bring the games that are as their changes saw them to the new facts; return how many."""
    now = utc_now()
    rows = [
        {name: value for name, value in vars(change).items() if name not in ("id", "turns")}
        | {"game": change.id, "extra": dict(change.extra), "updated": now}
        for change in changes
    ]
    if is_sqlite(connection.engine):
        return connection.execute(_ADVANCE, rows).rowcount
    return connection.execute(_ADVANCE_ALL, {"rows": json.dumps(rows)}).rowcount


def _add_turns(connection: Connection, changes: Sequence[GameChange]) -> None:
    rows = [
        {"game_id": change.id, "ply": ply, "code": code, "millis": millis}
        for change in changes
        # Of equal plies the last counts, and one statement may not write a row twice.
        for ply, (code, millis) in {ply: turn for ply, *turn in change.turns}.items()
    ]
    if rows and is_sqlite(connection.engine):
        connection.execute(upsert(connection, turns), rows)
    elif rows:
        connection.execute(_ADD_ALL, {"rows": json.dumps(rows)})


def _notify(connection: Connection, origin: str, changed: Sequence[tuple[str, int]]) -> None:
    """Tell other processes of changed games, once the transaction is done."""
    if is_sqlite(connection.engine):
        return
    for first in range(0, len(changed), _MOST_IN_ONE):
        payload = json.dumps([origin, changed[first : first + _MOST_IN_ONE]])
        connection.execute(_NOTIFY, {"channel": CHANNEL, "payload": payload})
