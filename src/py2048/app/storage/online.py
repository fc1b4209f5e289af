"""Games on a server: creating them, listing those in progress, and deleting abandoned ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, insert_new
from py2048.app.storage.games import row_of
from py2048.app.storage.schema import OWNED_TABLES, accounts, days, games, records, rounds
from py2048.app.storage.values import DailyResult, NewOnlineGame, OnlineGameInfo, OpenGame, utc_now

MIN_GUEST_TURNS = 10  # guests' games with fewer turns are deleted earlier than longer ones

_HAS_RECORD = sa.exists().where(records.c.id == games.c.id)
_INFO = sa.select(rounds, accounts.c.name).outerjoin(accounts, accounts.c.id == rounds.c.owner)


class OnlineGames(Repository):
    """Server data of games: mode, day, secret and account."""

    def begin(self, new: NewOnlineGame) -> bool:
        """Insert a new game; return False if the account already has a game for the same day."""
        with self._database.write() as connection:
            return insert_online_games(connection, [new])

    def discard(self, game_id: str, revision: int) -> None:
        """Delete a game on the server, unless it has changed since `revision`."""
        with self._database.write() as connection:
            unchanged = (games.c.id == game_id, games.c.revision == revision)
            if connection.execute(sa.delete(games).where(*unchanged)).rowcount:
                connection.execute(sa.delete(rounds).where(rounds.c.game_id == game_id))

    def info(self, game_id: str) -> OnlineGameInfo | None:
        """Return a game's server data, or None if it is not a server's game."""
        return self._database.one(OnlineGameInfo, _INFO.where(rounds.c.game_id == game_id))

    def daily(self, owner: str, day: str) -> OnlineGameInfo | None:
        """Return the account's daily game of a day, or None."""
        same = rounds.c.owner == owner, rounds.c.day == day
        return self._database.one(OnlineGameInfo, _INFO.where(*same))

    def daily_results(self, owner: str, since: str) -> list[DailyResult]:
        """Return the account's daily games from a day on, oldest first."""
        columns = rounds.c.day, rounds.c.game_id, rounds.c.streak
        query = (
            sa.select(*columns, records.c.category, records.c.score)
            .outerjoin(records, records.c.id == rounds.c.game_id)
            .where(rounds.c.owner == owner, rounds.c.day >= since)
            .order_by(rounds.c.day)
        )
        return self._database.all(DailyResult, query)

    def longest_streak(self, owner: str) -> int:
        """Return the largest number of days in a row on which the account finished its game."""
        query = sa.select(sa.func.max(rounds.c.streak)).where(rounds.c.owner == owner)
        return int(self._database.value(query) or 0)

    def day_scores(self, day: str, *, limit: int = 10_000) -> list[tuple[int, int]]:
        """Return the score and largest tile of a day's finished games, including guests' games.

        Args:
            day: Date, such as ``2048-01-31``.
            limit: Maximum number of games.
        """
        query = (
            sa.select(records.c.score, records.c.max_tile)
            .join(rounds, rounds.c.game_id == records.c.id)
            .where(rounds.c.day == day, records.c.category == "daily")
            .limit(limit)
        )
        return [(row.score, row.max_tile) for row in self._database.rows(query)]

    def day_secret(self, day: str, fresh: str) -> str:
        """Return the secret of a daily challenge; if there is none, save and return `fresh`."""
        secret = self.find_day_secret(day)
        if secret is None:
            with self._database.write() as connection:
                connection.execute(insert_new(connection, days), {"day": day, "secret": fresh})
            secret = self.find_day_secret(day)
        return secret or fresh

    def find_day_secret(self, day: str) -> str | None:
        """Return the secret of a daily challenge, or None."""
        found: str | None = self._database.value(sa.select(days.c.secret).where(days.c.day == day))
        return found

    def open_games(self, owner: str, *, limit: int = 1000) -> list[OpenGame]:
        """Return an account's games in progress, most recently changed first."""
        return self._open(games.c.owner == owner, games.c.is_over.is_(False), limit=limit)

    def open_game(self, game_id: str) -> OpenGame | None:
        """Return a game that is in progress or whose end can be undone, or None."""
        found = self._open(games.c.id == game_id, limit=1)
        return found[0] if found else None

    def live(self, ids: Collection[str]) -> list[OpenGame]:
        """Return up to 20 of these games that can be watched, most recently changed first.

        Games without moves are left out, and so are daily games, for fairness (see
        `py2048.core.fairness`).
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

    def orphans(self, *, spare: Collection[str] = (), limit: int = 100) -> list[str]:
        """Return the ids of server games that are over and have no record.

        Args:
            spare: Game ids to leave out.
            limit: Maximum number of games.
        """
        is_wanted = games.c.is_over, ~_HAS_RECORD, games.c.id.not_in(spare)
        query = sa.select(games.c.id).join(rounds, rounds.c.game_id == games.c.id)
        query = query.where(*is_wanted).order_by(games.c.started).limit(limit)
        return self._database.values(query)

    def close_ended(self, before: str) -> None:
        """Delete games that have a record and ended before a time; no undo can then reopen them."""
        ended = games.c.is_over, games.c.updated < before, _HAS_RECORD
        self._database.change(sa.delete(games).where(*ended))

    def sweep_guests(
        self, before: str, lost: str = "", *, spare: Collection[str] = (), limit: int = 1000
    ) -> None:
        """Delete guests' short or lost games, and then the guests who have no data left.

        Args:
            before: Games with fewer than `MIN_GUEST_TURNS` turns are deleted if they have not
                changed since this time, ISO 8601 in UTC.
            lost: Games of any length are deleted if they have not changed since this time: the
                cookies that gave access to them have expired.
            spare: Ids of games not to delete, because they are open in a room.
            limit: Maximum number of games to delete, oldest first.
        """
        is_short = sa.and_(games.c.length < MIN_GUEST_TURNS, games.c.updated < before)
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
    """Insert accounts for guests within a transaction, unless they exist."""
    rows = [{"id": each, "generation": 0, "created": utc_now()} for each in sorted(ids)]
    connection.execute(insert_new(connection, accounts), rows)


def insert_online_games(connection: Connection, new: Sequence[NewOnlineGame]) -> bool:
    """Insert games with their server data, and any missing accounts, within a transaction.

    Returns:
        False if an account already has a daily game of the same day. If several games were given,
        the caller must then roll back.
    """
    ensure_accounts(connection, {each.game.owner for each in new})
    facts = [{column.name: getattr(each.info, column.name) for column in rounds.c} for each in new]
    counted = insert_new(connection, rounds).execution_options(preserve_rowcount=True)
    if connection.execute(counted, facts).rowcount < len(new):
        return False
    connection.execute(sa.insert(games), [row_of(each.game) for each in new])
    return True


def _forget_guests(connection: Connection, owners: Collection[str]) -> None:
    """Delete guest accounts that own no data."""
    connection.execute(
        sa.delete(accounts).where(
            accounts.c.id.in_(owners),
            accounts.c.name.is_(None),
            accounts.c.generation == 0,  # the others keep invalidated cookies invalid
            *(~sa.exists().where(table.c.owner == accounts.c.id) for table in OWNED_TABLES),
        )
    )
