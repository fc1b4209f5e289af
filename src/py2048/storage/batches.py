"""Many games' changes in one transaction, which is what makes a durable move cheap."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.access import Access
from py2048.storage.boards import insert_rounds
from py2048.storage.engine import is_sqlite
from py2048.storage.games import SAME_GAME
from py2048.storage.notices import notify
from py2048.storage.schema import games, turns
from py2048.storage.upsert import upsert
from py2048.storage.values import GameChange, NewRound, utc_now

_ADVANCE = sa.update(games).where(*SAME_GAME)

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


class Batches(Access):
    """Changes of games in progress, written together."""

    def write_changes(self, changes: Sequence[GameChange | NewRound], origin: str = "") -> set[str]:
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
            with self._writing() as connection:
                if not _write(connection, ordered, origin):
                    raise _SomeAreStaleError
        except _SomeAreStaleError:
            with self._writing() as connection:
                return {each.id for each in ordered if not _write(connection, [each], origin)}
        return set()


def _write(connection: Connection, ordered: Sequence[GameChange | NewRound], origin: str) -> bool:
    """Write changes; if one of several is stale the transaction must be given up.

    Returns:
        Whether all could be written. Of a single one that is stale nothing is.
    """
    new = [change for change in ordered if isinstance(change, NewRound)]
    changes = [change for change in ordered if isinstance(change, GameChange)]
    if new and not insert_rounds(connection, new):
        return False
    if changes:
        if _advance(connection, changes) != len(changes):
            return False
        _add_turns(connection, changes)
        notify(connection, origin, [(change.id, change.revision) for change in changes])
    return True


def _advance(connection: Connection, changes: Sequence[GameChange]) -> int:
    """Bring the games that are as their changes saw them to the new facts; return how many."""
    rows = _rows(changes)
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


def _rows(changes: Sequence[GameChange]) -> list[dict[str, Any]]:
    now = utc_now()
    return [
        {
            "game": change.id,
            "seen": change.seen,
            "revision": change.revision,
            "length": change.length,
            "position": change.position,
            "score": change.score,
            "is_over": change.is_over,
            "undos": change.undos,
            "hints": change.hints,
            "extra": dict(change.extra),
            "updated": now,
        }
        for change in changes
    ]
