"""Rounds on a server, and the boards of scores that their records make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from py2048.errors import StorageError
from py2048.storage.games import Games, row_of
from py2048.storage.schema import accounts, days, games, records, rounds
from py2048.storage.upsert import insert_new
from py2048.storage.values import NewRound, RecordSummary, Round, SavedGame, utc_now

_SUMMARY = tuple(column for column in records.c if column.name not in ("record", "player"))
_ROUND = sa.select(rounds, accounts.c.name).outerjoin(accounts, accounts.c.id == rounds.c.owner)


class Boards(Games):
    """Rounds: games that a server deals; their records, the best of each player first."""

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
        query = sa.select(*_SUMMARY, records.c.player).where(records.c.id == record_id)
        with self._reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else RecordSummary(**row._mapping)

    def standings(
        self,
        category: str,
        *,
        rules: str | None = None,
        since: str | None = None,
        day: str | None = None,
        limit: int = 100,
    ) -> list[RecordSummary]:
        """Return the best game of each account with a name, the highest score first.

        Args:
            category: The board of scores.
            rules: Only games under these rules.
            since: Only games that ended at this time or later, ISO 8601 in UTC.
            day: Only daily games of this date.
            limit: At most so many.
        """
        place = sa.func.row_number().over(
            partition_by=records.c.owner,
            order_by=(records.c.score.desc(), records.c.finished, records.c.id),
        )
        query = (
            sa.select(*_SUMMARY, accounts.c.name.label("player"), place.label("place"))
            .join(accounts, accounts.c.id == records.c.owner)
            .where(accounts.c.name.is_not(None), records.c.category == category)
        )
        if rules is not None:
            query = query.where(records.c.rules == rules)
        if since is not None:
            query = query.where(records.c.finished >= since)
        if day is not None:
            query = query.join(rounds, rounds.c.game_id == records.c.id).where(rounds.c.day == day)
        best = query.subquery()
        order = (best.c.score.desc(), best.c.finished, best.c.id)
        with self._reading() as connection:
            found = connection.execute(
                sa.select(best).where(best.c.place == 1).order_by(*order).limit(limit)
            )
            return [_summary(row) for row in found]

    def open_rounds(self, owner: str, *, limit: int = 1000) -> list[Row[Any]]:
        """Return an account's games that go on, the last changed first, as `live_games` does."""
        return self._open(games.c.owner == owner, games.c.is_over.is_(False), limit=limit)

    def find_open_round(self, game_id: str) -> Row[Any] | None:
        """Return a game that has no record yet, as `live_games` does; None if there is none."""
        found = self._open(games.c.id == game_id, limit=1)
        return found[0] if found else None

    def live_games(self, since: str, *, limit: int = 20) -> list[Row[Any]]:
        """Return the games on the server that changed at `since` or later, the last first.

        Each row has the columns of a game, its round's `mode` and `day` and its player's `name`.
        """
        goes_on = (games.c.length > 0, games.c.is_over.is_(False))
        return self._open(games.c.updated >= since, *goes_on, limit=limit)

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
            .where(games.c.is_over.is_(True), games.c.updated < before)
            .limit(limit)
        )
        with self._reading() as connection:
            return list(connection.scalars(query))

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


def _summary(row: Row[Any]) -> RecordSummary:
    values = dict(row._mapping)
    del values["place"]
    return RecordSummary(**values)
