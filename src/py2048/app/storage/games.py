"""Games in progress, saved after every move with optimistic locking."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from py2048.app.storage.database import Repository, insert_new
from py2048.app.storage.schema import games, turns
from py2048.app.storage.values import GameChange, SavedGame
from py2048.core.errors import StaleGameError

_TURNS = (
    sa.select(turns.c.game_id, turns.c.code, turns.c.millis)
    .join(games)
    .where(turns.c.game_id.in_(sa.bindparam("ids", expanding=True)), turns.c.ply < games.c.length)
    .order_by(turns.c.game_id, turns.c.ply)
)


_BY_ID = sa.select(games).where(games.c.id == sa.bindparam("id"))
_LOCKED = _BY_ID.with_for_update()
_DELETE = sa.delete(games).where(games.c.id == sa.bindparam("id"))


class SavedGames(Repository):
    """The games in progress.

    Every change increments the game's revision. A write must name the revision that it is based on.
    If another process has changed the game, the write is rejected, so that no moves are lost.
    """

    def add(self, game: SavedGame) -> None:
        """Insert a game without its turns, unless a game with the same id exists."""
        with self._database.write() as connection:
            connection.execute(insert_new(connection.dialect, games), row_of(game))

    def find(self, game_id: str) -> SavedGame | None:
        """Return a game in progress, or `None` if it is unknown, finished or discarded."""
        return next(iter(self._with_turns(_BY_ID, id=game_id)), None)

    def change_since(self, game_id: str, revision: int, length: int) -> GameChange | None:
        """Return all changes to a game since a revision, or `None` if the game was deleted.

        The cost is proportional to the number of new turns. At the given revision, the game must
        have had `length` turns.
        """
        new = turns.c.game_id == game_id, turns.c.ply >= length
        with self._database.read() as connection:
            row = connection.execute(_BY_ID, {"id": game_id}).one_or_none()
            if row is None:
                return None
            query = sa.select(turns.c.ply, turns.c.code, turns.c.millis).order_by(turns.c.ply)
            added = connection.execute(query.where(*new, turns.c.ply < row.length)).all()
        return GameChange(
            id=game_id, seen=revision, revision=row.revision, length=row.length,
            position=row.position, score=row.score, is_over=row.is_over, undos=row.undos,
            hints=row.hints, extra=row.extra,
            turns=tuple((ply, code, millis or 0) for ply, code, millis in added),
        )  # fmt: skip

    def revisions(self, ids: Collection[str]) -> dict[str, int]:
        """Return the current revision of each given game that is in progress, by id."""
        query = sa.select(games.c.id, games.c.revision).where(games.c.id.in_(ids))
        return {row.id: row.revision for row in self._database.rows(query)}

    def current(self, owner: str = "local", rules: str | None = None) -> SavedGame | None:
        """Return the most recently changed game of the owner that is not over."""
        return next(iter(self.select(owner, finished=False, rules=rules, limit=1)), None)

    def select(
        self,
        owner: str = "local",
        *,
        finished: bool | None = None,
        rules: str | None = None,
        limit: int = 50,
        with_turns: bool = True,
    ) -> list[SavedGame]:
        """Return the owner's games in progress, most recently changed first.

        Args:
            owner: Owner of the games.
            finished: Whether to select finished games (True), unfinished games (False) or both
                (None). Finished games are stored here while their last move can be undone, or if
                their process exited before saving the record.
            rules: Restricts the result to games under these rules.
            limit: Maximum number of games.
            with_turns: Whether to load the turns. Long games have thousands of turns.
        """
        query = sa.select(games).where(games.c.owner == owner)
        if finished is not None:
            query = query.where(games.c.is_over == finished)
        if rules is not None:
            query = query.where(games.c.rules == rules)
        query = query.order_by(games.c.updated.desc(), games.c.id).limit(limit)
        if with_turns:
            return self._with_turns(query)
        return [_saved_game(row, ()) for row in self._database.rows(query)]

    def discard(self, game_id: str, revision: int) -> None:
        """Delete a game and its turns. A missing game is ignored.

        Raises:
            StaleGameError: If another process has changed the game.
        """
        with self._database.write() as connection:
            remove_game(connection, game_id, revision)

    def _with_turns(self, query: sa.Select[Any], **values: object) -> list[SavedGame]:
        """Run a query for games, and load their turns."""
        with self._database.read() as connection:
            rows = connection.execute(query, values).all()
            played: dict[str, list[tuple[str, int | None]]] = {row.id: [] for row in rows}
            for game_id, code, millis in connection.execute(_TURNS, {"ids": list(played)}):
                played[game_id].append((code, millis))
        return [_saved_game(row, played[row.id]) for row in rows]


def lock_game(connection: Connection, game_id: str, revision: int) -> Row[Any] | None:
    """Lock a game until the transaction ends, and return its row if it exists.

    Raises:
        StaleGameError: If another process has changed the game.
    """
    game = connection.execute(_LOCKED, {"id": game_id}).one_or_none()
    if game is not None and game.revision != revision:
        raise StaleGameError(
            f"game {game_id} was changed by another window (its revision is {game.revision},"
            f" not {revision}); load it again to follow"
        )
    return game


def remove_game(connection: Connection, game_id: str, revision: int) -> Row[Any] | None:
    """Lock a game with `lock_game` and delete it in the same transaction."""
    game = lock_game(connection, game_id, revision)
    connection.execute(_DELETE, {"id": game_id})
    return game


def row_of(game: SavedGame) -> dict[str, object]:
    """Return the database row of a game, without its turns."""
    row: dict[str, object] = {field.name: getattr(game, field.name) for field in fields(game)}
    del row["turns"], row["millis"]
    row |= {"length": 0, "position": 0, "score": 0, "is_over": False, "revision": 0}
    return row | {"seed": None if game.seed is None else str(game.seed)}


def _saved_game(row: Row[Any], played: Sequence[tuple[str, int | None]]) -> SavedGame:
    columns = dict(row._mapping)
    del columns["length"]
    columns["seed"] = None if row.seed is None else int(row.seed)
    return SavedGame(
        **columns,
        turns=tuple(code for code, _ in played),
        millis=tuple(millis for _, millis in played),
    )
