"""Writes changes to many games in one transaction, so saving every move is cheap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, is_sqlite, upsert
from py2048.app.storage.records import retract_records
from py2048.app.storage.schema import games, json_text, milestones, reviews
from py2048.app.storage.values import GameChange, utc_now
from py2048.core.errors import StaleGameError, StorageError

# This module uses raw SQL. At thousands of rows per second, SQLAlchemy would take more time than
# the database itself.
_COLUMNS = (
    "revision int, length int, position int, score bigint, is_over boolean, undos int, hints int,"
    " extra text, updated text"
)
_NAMES = [column.split()[0] for column in _COLUMNS.split(",")]
_facts = attrgetter(*_NAMES[:-2])  # `_write` computes the last two columns
_ADVANCE = f"""
UPDATE games SET {", ".join(f"{name} = ?" for name in _NAMES)} WHERE id = ? AND revision = ?
"""
_ADD = """
INSERT INTO turns (game_id, ply, code, millis) VALUES (?, ?, ?, ?)
ON CONFLICT (game_id, ply) DO UPDATE SET code = excluded.code, millis = excluded.millis
"""

# On PostgreSQL, a single JSON parameter with all rows is four times as fast as separate rows. On
# SQLite it is not faster. Rows are locked in id order, so that processes cannot deadlock.
_ADVANCE_ALL = sa.text(f"""
WITH new AS (
    SELECT * FROM json_to_recordset(CAST(:rows AS json)) AS given(
        {_COLUMNS}, game text, seen int
    )
), locked AS (
    SELECT id FROM games WHERE id IN (SELECT game FROM new) ORDER BY id FOR UPDATE
)
UPDATE games SET {", ".join(f"{name} = new.{name}" for name in _NAMES)} FROM new
WHERE games.id = new.game AND games.revision = new.seen AND games.id IN (SELECT id FROM locked)
""")
_ADVANCED = *_NAMES, "game", "seen"
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
        """Write the changes in one transaction, and return when they are on disk.

        Args:
            changes: Changes to write, with at most one change per game.

        Returns:
            Ids of the games that were not written because another process had changed them.
        """
        ordered = sorted(changes, key=attrgetter("id"))
        try:
            with self._database.write() as connection:
                if not _write(connection, ordered):
                    raise StaleGameError("a change is stale")  # roll back
        except StaleGameError:
            with self._database.write() as connection:
                return {each.id for each in ordered if not _write(connection, [each])}
        return set()


def _write(connection: Connection, changes: Sequence[GameChange]) -> bool:
    """Write changes, and return False if any game is stale.

    If one of several changes is stale, the caller must roll back. A single stale change writes
    nothing.
    """
    now, on_sqlite = utc_now(), is_sqlite(connection.engine)
    rows = [(*_facts(each), _extra_text(each), now, each.id, each.seen) for each in changes]
    if on_sqlite:
        advanced = connection.exec_driver_sql(_ADVANCE, rows)
    else:
        advanced = connection.execute(_ADVANCE_ALL, {"rows": _encode(_ADVANCED, rows)})
    if advanced.rowcount != len(changes):
        return False
    turns = [(change.id, *turn) for change in changes for turn in change.turns]
    if turns and on_sqlite:
        connection.exec_driver_sql(_ADD, turns)
    elif turns:
        # PostgreSQL rejects a statement that writes a row twice, so only the last turn of each ply
        # is kept.
        unique = {row[:2]: row for row in turns}
        connection.execute(_ADD_ALL, {"rows": _encode(_ADDED, unique.values())})
    for change in changes:
        for reached in change.reached:
            query = sa.select(games.c.owner, games.c.rules).where(games.c.id == change.id)
            row = *connection.execute(query).one(), *reached, change.id
            statement = upsert(connection.dialect, milestones, falling="millis")
            connection.execute(statement, dict(zip(milestones.c.keys(), row, strict=True)))
    # An undo may reopen a finished game, which makes the game's review invalid.
    undone = [each.id for each in changes if each.revision - each.seen != len(each.turns)]
    if undone:
        retract_records(connection, undone)
        connection.execute(sa.delete(reviews).where(reviews.c.game_id.in_(undone)))
    return True


def _encode(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    from msgspec.json import encode  # three times as fast as `json`, but slow to import

    return encode([dict(zip(names, row, strict=True)) for row in rows]).decode()


def _extra_text(change: GameChange) -> str:
    try:
        return json_text(dict(change.extra))
    except (TypeError, ValueError) as error:
        raise StorageError(f"{change.extra} of game {change.id} is not JSON: {error}") from None
