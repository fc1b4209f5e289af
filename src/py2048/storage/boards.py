"""Rounds on a server: games that go on, and what is looked up of those that are over."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from py2048.errors import StorageError
from py2048.storage.games import Games, row_of
from py2048.storage.schema import accounts, days, games, metadata, records, rounds
from py2048.storage.upsert import insert_new
from py2048.storage.values import NewRound, RecordSummary, Round, SavedGame, utc_now

_SUMMARY = tuple(column for column in records.c if column.name != "record")
_ROUND = sa.select(rounds, accounts.c.name).outerjoin(accounts, accounts.c.id == rounds.c.owner)


class Boards(Games):
    """Rounds: games that a server deals."""

    def create_round(self, *, mode: str, day: str | None, secret: str, **game: Any) -> SavedGame:
        """Begin a game of an account, written down if it is new; as `create_game` otherwise.

        All of it happens or nothing.

        Raises:
            StorageError: The account has a daily game of this day.
        """
        begun = SavedGame.new(**game)
        new = NewRound(begun, Round(begun.id, begun.owner, mode, day, secret))
        with self._writing() as connection:
            if not insert_rounds(connection, [new]):
                raise StorageError(f"a daily game of {day} has begun: one a day is all there is")
        return begun

    def discard_round(self, game_id: str, revision: int) -> None:
        """Throw a game on the server away, unless somebody has gone on with it."""
        with self._writing() as connection:
            unchanged = (games.c.id == game_id, games.c.revision == revision)
            if connection.execute(sa.delete(games).where(*unchanged)).rowcount:
                connection.execute(sa.delete(rounds).where(rounds.c.game_id == game_id))

    def find_round(self, game_id: str) -> Round | None:
        """Return what a game on the server has besides, None for other games."""
        return self._one_round(rounds.c.game_id == game_id)

    def find_daily(self, owner: str, day: str) -> Round | None:
        """Return the account's daily game of a day, None where there is none."""
        return self._one_round(sa.and_(rounds.c.owner == owner, rounds.c.day == day))

    def day_secret(self, day: str, fresh: str) -> str:
        """Return what the draws of a day's challenge come from: `fresh` if there is none yet."""
        there = self.find_day_secret(day)
        if there is None:
            with self._writing() as connection:
                connection.execute(insert_new(connection, days), {"day": day, "secret": fresh})
            there = self.find_day_secret(day)
        return there or fresh

    def find_day_secret(self, day: str) -> str | None:
        """Return what the draws of a day's challenge come from, None where there is none."""
        with self._reading() as connection:
            secret: str | None = connection.scalar(
                sa.select(days.c.secret).where(days.c.day == day)
            )
        return secret

    def find_summary(self, record_id: str) -> RecordSummary | None:
        """Return the summary of a finished game, None where there is none."""
        query = sa.select(*_SUMMARY).where(records.c.id == record_id)
        with self._reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else RecordSummary(**row._mapping)

    def open_rounds(self, owner: str, *, limit: int = 1000) -> list[Row[Any]]:
        """Return an account's games that go on, the last changed first, as `live_games` does."""
        return self._open(games.c.owner == owner, games.c.is_over.is_(False), limit=limit)

    def find_open_round(self, game_id: str) -> Row[Any] | None:
        """Return a game that has no record yet, as `live_games` does; None if there is none."""
        found = self._open(games.c.id == game_id, limit=1)
        return found[0] if found else None

    def live_games(self, ids: Collection[str], *, limit: int = 20) -> list[Row[Any]]:
        """Return those of the games that have moves and are not over, the last changed first.

        Each row has the columns of a game, its round's `mode` and `day` and its player's `name`.
        """
        goes_on = (games.c.length > 0, games.c.is_over.is_(False))
        return self._open(games.c.id.in_(ids), *goes_on, limit=limit)

    def _open(self, *conditions: sa.ColumnElement[bool], limit: int) -> list[Row[Any]]:
        query = (
            sa.select(games, rounds.c.mode, rounds.c.day, accounts.c.name)
            .join(rounds, rounds.c.game_id == games.c.id)
            .join(accounts, accounts.c.id == games.c.owner)
            .where(*conditions)
            .order_by(games.c.updated.desc(), games.c.id)
            .limit(limit)
        )
        with self._reading() as connection:
            return list(connection.execute(query))

    def tile_counts(self, owner: str) -> list[tuple[int, int]]:
        """Return how many finished games of an account ended with which largest tile."""
        query = (
            sa.select(records.c.max_tile, sa.func.count())
            .where(records.c.owner == owner)
            .group_by(records.c.max_tile)
            .order_by(records.c.max_tile)
        )
        with self._reading() as connection:
            return [(tile, games) for tile, games in connection.execute(query)]

    def rounds_left_behind(self, before: str, *, limit: int = 100) -> list[str]:
        """Return the games on the server that are over and last changed before a time."""
        query = (
            sa.select(games.c.id)
            .join(rounds, rounds.c.game_id == games.c.id)
            .where(games.c.is_over, games.c.updated < before)
            .order_by(games.c.started)
            .limit(limit)
        )
        with self._reading() as connection:
            return list(connection.scalars(query))

    def sweep_guests(
        self, before: str, *, since: str = "", spare: Collection[str] = (), limit: int = 1000
    ) -> str:
        """Throw away guests' games without a move, and guests who have nothing else.

        Args:
            before: Only games that began before this time, ISO 8601 in UTC.
            since: Only games that began at this time or later.
            spare: Games at which somebody sits.
            limit: Look at no more games.

        Returns:
            When the next game to look at began; empty when all were looked at.
        """
        query = (
            sa.select(games.c.id, games.c.owner, games.c.length, games.c.started, accounts.c.name)
            .join(rounds, rounds.c.game_id == games.c.id)
            .join(accounts, accounts.c.id == games.c.owner)
            .where(games.c.started >= since, games.c.started < before)
            .order_by(games.c.started)
            .limit(limit + 1)
        )
        with self._reading() as connection:
            found = connection.execute(query).all()
        old = found[:limit]
        empty = [row for row in old if not (row.length or row.name or row.id in spare)]
        if empty:
            self._throw_away([row.id for row in empty], {row.owner for row in empty})
        return found[limit].started if len(found) > limit else ""

    def _throw_away(self, ids: Sequence[str], owners: Collection[str]) -> None:
        is_empty = games.c.id.in_(ids), games.c.length == 0
        with self._writing() as connection:
            connection.execute(sa.delete(games).where(*is_empty))
            left = sa.select(games.c.id).where(games.c.id.in_(ids))
            gone = set(ids) - set(connection.scalars(left))
            connection.execute(sa.delete(rounds).where(rounds.c.game_id.in_(gone)))
            _forget_guests(connection, owners)

    def _one_round(self, condition: sa.ColumnElement[bool]) -> Round | None:
        with self._reading() as connection:
            row = connection.execute(_ROUND.where(condition)).one_or_none()
        return None if row is None else Round(**row._mapping)


def insert_rounds(connection: Connection, new: Sequence[NewRound]) -> bool:
    """Insert games with their rounds and, where they are missing, their accounts.

    Returns:
        Whether all of them could be: no account had a daily game of the same day. If one of
        several could not, the transaction must be given up.
    """
    now = utc_now()
    owners = sorted({each.game.owner for each in new})
    guests = [{"id": owner, "generation": 0, "created": now} for owner in owners]
    connection.execute(insert_new(connection, accounts), guests)
    facts = [
        {name: getattr(each.round, name) for name in rounds.columns.keys()}  # noqa: SIM118
        for each in new
    ]
    counted = insert_new(connection, rounds).execution_options(preserve_rowcount=True)
    if connection.execute(counted, facts).rowcount < len(new):
        return False
    connection.execute(sa.insert(games), [row_of(each.game) for each in new])
    return True


def _forget_guests(connection: Connection, owners: Collection[str]) -> None:
    """Remove the accounts without a name of which nothing is kept."""
    owned = [table for table in metadata.sorted_tables if "owner" in table.c]
    connection.execute(
        sa.delete(accounts).where(
            accounts.c.id.in_(owners),
            accounts.c.name.is_(None),
            accounts.c.generation == 0,  # cookies that have ended stay ended
            *(~sa.exists().where(table.c.owner == accounts.c.id) for table in owned),
        )
    )
