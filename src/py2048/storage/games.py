"""Games in progress: saved after every move, changed only by those who know their revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from py2048.errors import StaleGameError, StorageError
from py2048.storage.database import Database, insert_new, upsert
from py2048.storage.schema import games, turns
from py2048.storage.values import SavedGame, utc_now

# Parameters may not be named like columns: those are the new values.
SAME_GAME = (games.c.id == sa.bindparam("game"), games.c.revision == sa.bindparam("seen"))
"""The game of a change, at the revision that its writer saw."""

_CHANGE = (
    sa.update(games)
    .where(*SAME_GAME, games.c.length >= sa.bindparam("reach"))
    .values(revision=games.c.revision + 1)
)
_DELETE = sa.delete(games).where(*SAME_GAME)
_TURNS = (
    sa.select(turns.c.game_id, turns.c.code, turns.c.millis)
    .join(games)
    .where(turns.c.game_id.in_(sa.bindparam("ids", expanding=True)), turns.c.ply < games.c.length)
    .order_by(turns.c.game_id, turns.c.ply)
)


class SavedGames:
    """The games in progress.

    A game has a revision that grows with each change. Whoever changes it names the revision
    they last saw; when another process has changed it since, nothing happens and
    `StaleGameError` is raised, so nobody's moves are overwritten.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        *,
        rules: str,
        seed: int | None,
        start: str,
        player: str,
        owner: str = "local",
        extra: Mapping[str, Any] | None = None,
    ) -> SavedGame:
        """Begin a game without turns and return it, at revision 0."""
        game = SavedGame.new(
            rules=rules, seed=seed, start=start, player=player, owner=owner, extra=extra
        )
        self.add(game)
        return self.load(game.id)

    def add(self, game: SavedGame) -> None:
        """Add a game without turns under its own name, unless it is there already."""
        with self._database.write() as connection:
            connection.execute(insert_new(connection, games), row_of(game))

    def append_turn(
        self,
        game_id: str,
        revision: int,
        position: int,
        code: str,
        *,
        score: int,
        is_over: bool = False,
        millis: int | None = None,
    ) -> int:
        """Add a turn after the first `position` turns and return the new revision.

        Turns that were undone (those from `position` on) are cut off. When this returns, the
        turn is on the disk.

        Args:
            game_id: The game.
            revision: The revision that the caller last saw.
            position: How many turns precede this one, 0-based ply of the new turn.
            code: The turn, opaque to the store.
            score: The score after the turn.
            is_over: Whether the turn ends the game.
            millis: The player's thinking time in milliseconds.

        Raises:
            StaleGameError: Another process has changed, finished or discarded the game.
            StorageError: The game has fewer than `position` turns, or the disk fails.
        """
        turn = {"game_id": game_id, "ply": position, "code": code, "millis": millis}
        after = position + 1
        with self._database.write() as connection:
            _change(
                connection, game_id, revision, reach=position,
                position=after, length=after, score=score, is_over=is_over,
            )  # fmt: skip
            connection.execute(upsert(connection, turns), turn)
        return revision + 1

    def set_position(
        self,
        game_id: str,
        revision: int,
        position: int,
        *,
        score: int,
        is_over: bool = False,
        undos: int,
        hints: int,
        extra: Mapping[str, Any] | None = None,
    ) -> int:
        """Undo or redo to the first `position` turns, keep all turns, return the new revision.

        The counts of undos and hints replace the stored ones, and so does `extra` unless None;
        with an unchanged position this saves just them.

        Raises:
            StaleGameError: Another process has changed, finished or discarded the game.
            StorageError: The game has fewer than `position` turns, or the disk fails.
        """
        facts = {} if extra is None else {"extra": dict(extra)}
        with self._database.write() as connection:
            _change(
                connection, game_id, revision, reach=position,
                position=position, score=score, is_over=is_over, undos=undos, hints=hints, **facts,
            )  # fmt: skip
        return revision + 1

    def load(self, game_id: str) -> SavedGame:
        """Return the game in progress.

        Raises:
            StorageError: There is no such game, or it is finished or discarded.
        """
        found = self.find(game_id)
        if found is None:
            raise StorageError(f"no game {game_id!r} is in progress in {self._database.name}")
        return found

    def find(self, game_id: str) -> SavedGame | None:
        """Return the game in progress, None if there is none."""
        with self._database.read() as connection:
            query = sa.select(games).where(games.c.id == game_id)
            found = _with_turns(connection, connection.execute(query).all())
        return found[0] if found else None

    def current(self, owner: str = "local", rules: str | None = None) -> SavedGame | None:
        """Return the owner's game to resume: the last changed one that is not over."""
        found = self.select(owner, finished=False, rules=rules, limit=1)
        return found[0] if found else None

    def select(
        self,
        owner: str = "local",
        *,
        finished: bool | None = None,
        rules: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[SavedGame]:
        """Return the owner's games in progress, the last changed first.

        Args:
            owner: Whose games.
            finished: True for games that are over and wait for `Records.finish` (the process
                ended in between), False for those that are not over, None for both.
            rules: Only games under these rules.
            limit: At most so many.
            offset: Skip so many.
        """
        query = sa.select(games).where(games.c.owner == owner)
        if finished is not None:
            query = query.where(games.c.is_over == finished)
        if rules is not None:
            query = query.where(games.c.rules == rules)
        query = query.order_by(games.c.updated.desc(), games.c.id).limit(limit).offset(offset)
        with self._database.read() as connection:
            return _with_turns(connection, connection.execute(query).all())

    def discard(self, game_id: str, revision: int) -> None:
        """Throw a game away, with its turns; one that is gone already is no error.

        Raises:
            StaleGameError: Another process has changed the game.
        """
        with self._database.write() as connection:
            remove_game(connection, game_id, revision)


def remove_game(connection: Connection, game_id: str, revision: int) -> Row[Any] | None:
    """Remove a game within a transaction and return its row; None when it is not there.

    Raises:
        StaleGameError: Another process has changed the game.
    """
    game = _stored(connection, game_id)
    deleted = connection.execute(_DELETE, {"game": game_id, "seen": revision})
    if not deleted.rowcount and _stored(connection, game_id) is not None:
        _refuse(connection, game_id, revision, 0)
    return game if deleted.rowcount else None


def row_of(game: SavedGame) -> dict[str, Any]:
    """Return the row of a game that has no turns yet."""
    row = {field.name: getattr(game, field.name) for field in fields(game)}
    del row["turns"], row["millis"]
    return row | {"seed": None if game.seed is None else str(game.seed), "length": 0}


def _change(
    connection: Connection, game_id: str, revision: int, *, reach: int, **values: Any
) -> None:
    """Set columns of a game that is as the caller knows it and has `reach` turns."""
    condition = {"game": game_id, "seen": revision, "reach": reach}
    changed = connection.execute(_CHANGE, {**condition, **values, "updated": utc_now()})
    if not changed.rowcount or reach < 0:
        _refuse(connection, game_id, revision, reach)


def _refuse(connection: Connection, game_id: str, revision: int, position: int) -> NoReturn:
    """Say why a change of a game was not made."""
    game = _stored(connection, game_id)
    if game is None:
        raise StaleGameError(f"game {game_id} was finished or discarded by another window")
    if game.revision != revision:
        raise StaleGameError(
            f"game {game_id} was changed by another window (its revision is {game.revision},"
            f" not {revision}); load it again to follow"
        )
    raise StorageError(f"game {game_id} has {game.length} turns; it has no position {position}")


def _stored(connection: Connection, game_id: str) -> Row[Any] | None:
    return connection.execute(sa.select(games).where(games.c.id == game_id)).one_or_none()


def _with_turns(connection: Connection, rows: Sequence[Row[Any]]) -> list[SavedGame]:
    """Return the games of `rows`, in that order, each with its turns."""
    played: dict[str, list[tuple[str, int | None]]] = {row.id: [] for row in rows}
    for game_id, code, millis in connection.execute(_TURNS, {"ids": list(played)}):
        played[game_id].append((code, millis))
    return [_saved_game(row, played[row.id]) for row in rows]


def _saved_game(row: Row[Any], played: Sequence[tuple[str, int | None]]) -> SavedGame:
    columns = dict(row._mapping)
    del columns["length"]
    columns["seed"] = None if row.seed is None else int(row.seed)
    return SavedGame(
        **columns,
        turns=tuple(code for code, _ in played),
        millis=tuple(millis for _, millis in played),
    )
