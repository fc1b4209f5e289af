"""Batched writing: changes to many games in one transaction, so that durable moves are cheap."""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import attrgetter

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository
from py2048.app.storage.records import retract_records
from py2048.app.storage.schema import json_text, reviews
from py2048.app.storage.values import GameChange, utc_now
from py2048.core.errors import StaleGameError, StorageError

# Raw SQL, because at thousands of rows per second SQLAlchemy's processing of each value would take
# longer than the database's work.
_ADVANCE = """
UPDATE games SET revision = ?, length = ?, position = ?, score = ?, is_over = ?, undos = ?,
    hints = ?, extra = ?, updated = ?
WHERE id = ? AND revision = ?
"""
_ADD = """
INSERT INTO turns (game_id, ply, code, millis) VALUES (?, ?, ?, ?)
ON CONFLICT (game_id, ply) DO UPDATE SET code = excluded.code, millis = excluded.millis
"""

# On PostgreSQL, passing all rows in a single JSON parameter costs a quarter as much as separate
# rows; on SQLite it saves nothing. Rows are locked in id order to avoid deadlocks between
# processes.
_ADVANCE_ALL = sa.text("""
WITH new AS (
    SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS given(
        revision int, length int, position int, score bigint, is_over boolean, undos int,
        hints int, extra text, updated text, game text, seen int
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
_ADVANCED = (
    *("revision", "length", "position", "score", "is_over", "undos", "hints", "extra", "updated"),
    *("game", "seen"),
)
_ADD_ALL = sa.text("""
INSERT INTO turns (game_id, ply, code, millis)
SELECT game_id, ply, code, millis FROM json_to_recordset(CAST(:rows AS json)) AS given(
    game_id text, ply int, code text, millis bigint
)
ON CONFLICT (game_id, ply) DO UPDATE SET code = excluded.code, millis = excluded.millis
""")
_ADDED = "game_id", "ply", "code", "millis"


class Changes(Repository):
    """Writes batches of changes to games in progress."""

    def write(self, changes: Sequence[GameChange]) -> set[str]:
        """Write the changes in one transaction; they are on disk when this returns.

        Args:
            changes: At most one per game.

        Returns:
            The ids of games that another process has changed; their changes were not written.
        """
        ordered, on_sqlite = sorted(changes, key=attrgetter("id")), self._database.is_sqlite
        try:
            with self._database.write() as connection:
                if not _write(connection, ordered, on_sqlite=on_sqlite):
                    raise StaleGameError("a change is stale")  # roll back
        except StaleGameError:
            with self._database.write() as connection:
                return {
                    each.id
                    for each in ordered
                    if not _write(connection, [each], on_sqlite=on_sqlite)
                }
        return set()


def _write(connection: Connection, changes: Sequence[GameChange], *, on_sqlite: bool) -> bool:
    """Write changes; return False if any game is stale.

    If there are several changes, the caller must then roll back. A single stale change writes
    nothing.
    """
    now = utc_now()
    rows = [
        (
            each.revision, each.length, each.position, each.score, each.is_over, each.undos,
            each.hints, _extra_text(each), now, each.id, each.seen,
        )
        for each in changes
    ]  # fmt: skip
    if on_sqlite:
        advanced = connection.exec_driver_sql(_ADVANCE, rows)
    else:
        named = [dict(zip(_ADVANCED, row, strict=True)) for row in rows]
        advanced = connection.execute(_ADVANCE_ALL, {"rows": json.dumps(named)})
    if advanced.rowcount != len(changes):
        return False
    turns = [(change.id, *turn) for change in changes for turn in change.turns]
    if turns and on_sqlite:
        connection.exec_driver_sql(_ADD, turns)
    elif turns:
        # PostgreSQL rejects a statement that writes a row twice, so only the last turn per ply is
        # kept.
        unique = {row[:2]: dict(zip(_ADDED, row, strict=True)) for row in turns}
        connection.execute(_ADD_ALL, {"rows": json.dumps(list(unique.values()))})
    # An undo may reopen a finished game, so its review is no longer valid.
    undone = [each.id for each in changes if each.revision - each.seen != len(each.turns)]
    if undone:
        retract_records(connection, undone)
        connection.execute(sa.delete(reviews).where(reviews.c.game_id.in_(undone)))
    return True


def _extra_text(change: GameChange) -> str:
    try:
        return json_text(dict(change.extra))
    except (TypeError, ValueError) as error:
        raise StorageError(f"{change.extra} of game {change.id} is not JSON: {error}") from None
