"""Games on a server: begun with a secret, listed while in progress, swept when abandoned."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Subject, insert_new
from py2048.app.storage.games import row_of
from py2048.app.storage.schema import OWNED, accounts, days, games, records, rounds
from py2048.app.storage.values import DailyResult, NewOnlineGame, OnlineGameInfo, OpenGame, utc_now

MIN_TURNS = 10
"""Fewer turns make no game of a guest that is worth keeping for long."""

_INFO = sa.select(rounds, accounts.c.name).outerjoin(accounts, accounts.c.id == rounds.c.owner)


class OnlineGames(Subject):
    """What the server's games have besides their turns: a mode, a day, a secret, an account."""

    def begin(self, new: NewOnlineGame) -> bool:
        """Write a new game; return False if the account has a daily game of the same day."""
        with self._database.write() as connection:
            return insert_online_games(connection, [new])

    def discard(self, game_id: str, revision: int) -> None:
        """Throw a game on the server away, unless it was changed since."""
        with self._database.write() as connection:
            unchanged = (games.c.id == game_id, games.c.revision == revision)
            if connection.execute(sa.delete(games).where(*unchanged)).rowcount:
                connection.execute(sa.delete(rounds).where(rounds.c.game_id == game_id))

    def info(self, game_id: str) -> OnlineGameInfo | None:
        """Return what a game on the server has besides, None for other games."""
        return self._database.one(OnlineGameInfo, _INFO.where(rounds.c.game_id == game_id))

    def daily(self, owner: str, day: str) -> OnlineGameInfo | None:
        """Return the account's daily game of a day, None where there is none."""
        same = rounds.c.owner == owner, rounds.c.day == day
        return self._database.one(OnlineGameInfo, _INFO.where(*same))

    def daily_results(self, owner: str) -> list[DailyResult]:
        """Return the account's daily games, the first day first."""
        query = (
            sa.select(rounds.c.day, rounds.c.game_id, records.c.category, records.c.score)
            .outerjoin(records, records.c.id == rounds.c.game_id)
            .where(rounds.c.owner == owner, rounds.c.day.is_not(None))
            .order_by(rounds.c.day)
        )
        return self._database.all(DailyResult, query)

    def day_scores(self, day: str, *, limit: int = 10_000) -> list[tuple[int, int]]:
        """Return the scores and largest tiles of finished games of a day, guests' too.

        Args:
            day: The date, such as ``2048-01-31``.
            limit: How many at most.
        """
        query = (
            sa.select(records.c.score, records.c.max_tile)
            .join(rounds, rounds.c.game_id == records.c.id)
            .where(rounds.c.day == day, records.c.category == "daily")
            .limit(limit)
        )
        return [(row.score, row.max_tile) for row in self._database.rows(query)]

    def day_secret(self, day: str, fresh: str) -> str:
        """Return what the draws of a day's challenge come from: `fresh` if there is none yet."""
        there = self.find_day_secret(day)
        if there is None:
            with self._database.write() as connection:
                connection.execute(insert_new(connection, days), {"day": day, "secret": fresh})
            there = self.find_day_secret(day)
        return there or fresh

    def find_day_secret(self, day: str) -> str | None:
        """Return what the draws of a day's challenge come from, None where there is none."""
        found: str | None = self._database.value(sa.select(days.c.secret).where(days.c.day == day))
        return found

    def open_games(self, owner: str, *, limit: int = 1000) -> list[OpenGame]:
        """Return an account's games in progress, the last changed first."""
        return self._open(games.c.owner == owner, games.c.is_over.is_(False), limit=limit)

    def over_games(self, owner: str, rules: str) -> list[OpenGame]:
        """Return an account's games under rules that are over and have no record yet."""
        mine = games.c.owner == owner, games.c.rules == rules
        return self._open(*mine, games.c.is_over, limit=100)

    def open_game(self, game_id: str) -> OpenGame | None:
        """Return a game that has no record yet; None if there is none."""
        found = self._open(games.c.id == game_id, limit=1)
        return found[0] if found else None

    def live(self, ids: Collection[str]) -> list[OpenGame]:
        """Return 20 of the games that may be watched and have moves, the last changed first.

        Daily games are not among them: see `py2048.core.fairness`.
        """
        may_watch = games.c.length > 0, games.c.is_over.is_(False), rounds.c.day.is_(None)
        return self._open(games.c.id.in_(ids), *may_watch, limit=20)

    def _open(self, *conditions: sa.ColumnElement[bool], limit: int) -> list[OpenGame]:
        query = (
            sa.select(games, rounds.c.mode, rounds.c.day, accounts.c.name)
            .join(rounds, rounds.c.game_id == games.c.id)
            .join(accounts, accounts.c.id == games.c.owner)
            .where(*conditions)
            .order_by(games.c.updated.desc(), games.c.id)
            .limit(limit)
        )
        return [OpenGame.of(row) for row in self._database.rows(query)]

    def orphans(
        self, before: str, *, but: str = "", spare: Collection[str] = (), limit: int = 100
    ) -> list[str]:
        """Return games on the server that are over and last changed before a time.

        Args:
            before: The time, ISO 8601 in UTC.
            but: A mode whose games are left out.
            spare: Games that are left out.
            limit: Return no more games.
        """
        query = (
            sa.select(games.c.id)
            .join(rounds, rounds.c.game_id == games.c.id)
            .where(games.c.is_over, games.c.updated < before)
            .where(rounds.c.mode != but, games.c.id.not_in(spare))
            .order_by(games.c.started)
            .limit(limit)
        )
        return self._database.values(query)

    def sweep_guests(
        self, before: str, lost: str = "", *, spare: Collection[str] = (), limit: int = 1000
    ) -> None:
        """Remove guests' games in progress that are hardly begun or lost, and guests without any.

        Args:
            before: Games of fewer than `MIN_TURNS` turns go that have not changed since this time,
                ISO 8601 in UTC.
            lost: All go that have not changed since this time: no browser knows them any more.
            spare: Games that are open in a room.
            limit: Remove no more games, the oldest first.
        """
        is_short = sa.and_(games.c.length < MIN_TURNS, games.c.updated < before)
        useless = sa.and_(~games.c.is_over, sa.or_(is_short, games.c.updated < lost))
        query = (
            sa.select(games.c.id, games.c.owner)
            .join(rounds, rounds.c.game_id == games.c.id)
            .join(accounts, accounts.c.id == games.c.owner)
            .where(games.c.started < before, useless, accounts.c.name.is_(None))
            .where(games.c.id.not_in(spare))
            .order_by(games.c.started)
            .limit(limit)
        )
        found = self._database.rows(query)
        if not found:
            return
        ids = {row.id for row in found}
        with self._database.write() as connection:
            connection.execute(sa.delete(games).where(games.c.id.in_(ids), useless))
            gone = ids.difference(
                connection.scalars(sa.select(games.c.id).where(games.c.id.in_(ids)))
            )
            connection.execute(sa.delete(rounds).where(rounds.c.game_id.in_(gone)))
            _forget_guests(connection, {row.owner for row in found})


def ensure_accounts(connection: Connection, ids: Collection[str]) -> None:
    """Write guests down within a transaction, unless the accounts are there."""
    rows = [{"id": each, "generation": 0, "created": utc_now()} for each in sorted(ids)]
    connection.execute(insert_new(connection, accounts), rows)


def insert_online_games(connection: Connection, new: Sequence[NewOnlineGame]) -> bool:
    """Insert games with their rows in `rounds` and, where they are missing, their accounts.

    Returns:
        Whether all of them could be: no account had a daily game of the same day. If one of
        several could not, the transaction must be given up.
    """
    ensure_accounts(connection, {each.game.owner for each in new})
    facts = [{column.name: getattr(each.info, column.name) for column in rounds.c} for each in new]
    counted = insert_new(connection, rounds).execution_options(preserve_rowcount=True)
    if connection.execute(counted, facts).rowcount < len(new):
        return False
    connection.execute(sa.insert(games), [row_of(each.game) for each in new])
    return True


def _forget_guests(connection: Connection, owners: Collection[str]) -> None:
    """Remove the accounts without a name of which nothing is kept."""
    connection.execute(
        sa.delete(accounts).where(
            accounts.c.id.in_(owners),
            accounts.c.name.is_(None),
            accounts.c.generation == 0,  # cookies that have ended stay ended
            *(~sa.exists().where(table.c.owner == accounts.c.id) for table in OWNED),
        )
    )
