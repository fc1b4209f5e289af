"""Queries that create, list and delete the games on a server."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, insert_new
from py2048.app.storage.games import row_of
from py2048.app.storage.schema import OWNED_TABLES, accounts, days, games, records, rounds
from py2048.app.storage.values import DailyResult, NewOnlineGame, OnlineGameInfo, OpenGame, utc_now

MIN_GUEST_TURNS = 10  # `sweep_guests` deletes shorter unfinished games

_HAS_RECORD = sa.exists().where(records.c.id == games.c.id)
_INFO = sa.select(rounds, accounts.c.name).outerjoin(accounts, accounts.c.id == rounds.c.owner)
_INFO_BY_ID = _INFO.where(rounds.c.game_id == sa.bindparam("game_id"))
_OPEN = sa.select(games, rounds.c.mode, rounds.c.day, accounts.c.name).limit(sa.bindparam("most"))
_OPEN = _OPEN.join(rounds, rounds.c.game_id == games.c.id)
_OPEN = _OPEN.join(accounts, accounts.c.id == games.c.owner)
_OPEN = _OPEN.order_by(games.c.updated.desc(), games.c.id)
_OPEN_OF = _OPEN.where(games.c.owner == sa.bindparam("owner"), games.c.is_over.is_(False))
_OPEN_BY_ID = _OPEN.where(games.c.id == sa.bindparam("id"))
_INSERT = sa.insert(games)


class OnlineGames(Repository):
    """The server's data about games, such as mode, day, secret and account."""

    def begin(self, new: NewOnlineGame) -> bool:
        """Insert a new game, or return False if the account already has a game for the same day."""
        with self._database.write() as connection:
            return insert_online_games(connection, [new])

    def discard(self, game_id: str, revision: int) -> None:
        """Delete a game on the server, unless it has changed since `revision`."""
        with self._database.write() as connection:
            unchanged = (games.c.id == game_id, games.c.revision == revision)
            if connection.execute(sa.delete(games).where(*unchanged)).rowcount:
                connection.execute(sa.delete(rounds).where(rounds.c.game_id == game_id))

    def info(self, game_id: str) -> OnlineGameInfo | None:
        """Return the server's data about a game, or None if no server created the game."""
        return self._database.one(OnlineGameInfo, _INFO_BY_ID, game_id=game_id)

    def daily(self, owner: str, day: str) -> OnlineGameInfo | None:
        """Return an account's game for a day's challenge, or None."""
        same = rounds.c.owner == owner, rounds.c.day == day
        return self._database.one(OnlineGameInfo, _INFO.where(*same))

    def daily_results(self, owner: str, since: str) -> list[DailyResult]:
        """Return an account's daily games since a given day, oldest first."""
        columns = rounds.c.day, rounds.c.game_id, rounds.c.streak
        query = sa.select(*columns, records.c.category, records.c.score).order_by(rounds.c.day)
        query = query.outerjoin(records, records.c.id == rounds.c.game_id)
        query = query.where(rounds.c.owner == owner, rounds.c.day >= since)
        return self._database.all(DailyResult, query)

    def longest_streak(self, owner: str) -> int:
        """Return the largest number of consecutive days with a finished daily game."""
        query = sa.select(sa.func.max(rounds.c.streak)).where(rounds.c.owner == owner)
        return int(self._database.value(query) or 0)

    def day_scores(self, day: str, *, limit: int = 10_000) -> list[tuple[int, int]]:
        """Return the score and largest tile of a day's finished games, including guests' games.

        Args:
            day: Date, such as ``2048-01-31``.
            limit: Maximum number of games.
        """
        query = sa.select(records.c.score, records.c.max_tile).limit(limit)
        query = query.join(rounds, rounds.c.game_id == records.c.id)
        query = query.where(rounds.c.day == day, records.c.category == "daily")
        return [(row.score, row.max_tile) for row in self._database.rows(query)]

    def day_secret(self, day: str, fresh: str) -> str:
        """Return the secret of a daily challenge, saving `fresh` if there is none yet."""
        secret = self.find_day_secret(day)
        if secret is None:
            with self._database.write() as connection:
                connection.execute(
                    insert_new(connection.dialect, days), {"day": day, "secret": fresh}
                )
            secret = self.find_day_secret(day)
        return secret or fresh

    def find_day_secret(self, day: str) -> str | None:
        """Return the secret of a daily challenge, or None if no secret has been saved."""
        found: str | None = self._database.value(sa.select(days.c.secret).where(days.c.day == day))
        return found

    def open_games(self, owner: str, *, limit: int = 1000) -> list[OpenGame]:
        """Return an account's games in progress, most recently changed first."""
        return self._open(_OPEN_OF, owner=owner, most=limit)

    def open_game(self, game_id: str) -> OpenGame | None:
        """Return a game that is in progress or whose last move can be undone, or None."""
        return next(iter(self._open(_OPEN_BY_ID, id=game_id, most=1)), None)

    def live(self, ids: Collection[str]) -> list[OpenGame]:
        """Return up to 20 of the given games for spectators, most recently changed first.

        Games without moves are excluded. Daily games are excluded for fairness, as explained in
        `py2048.core.fairness`.
        """
        may_watch = games.c.length > 0, games.c.is_over.is_(False), rounds.c.day.is_(None)
        return self._open(_OPEN.where(games.c.id.in_(ids), *may_watch), most=20)

    def _open(self, query: sa.Select[Any], **values: object) -> list[OpenGame]:
        return [OpenGame.of(row) for row in self._database.rows(query, **values)]

    def orphans(self, *, spare: Collection[str] = (), limit: int = 100) -> list[str]:
        """Return the ids of server games that are over but have no record.

        Args:
            spare: Ids of games to exclude.
            limit: Maximum number of games.
        """
        is_wanted = games.c.is_over, ~_HAS_RECORD, games.c.id.not_in(spare)
        query = sa.select(games.c.id).join(rounds, rounds.c.game_id == games.c.id)
        query = query.where(*is_wanted).order_by(games.c.started).limit(limit)
        return self._database.values(query)

    def close_ended(self, before: str) -> None:
        """Delete recorded games that ended before a time. Their last moves become final."""
        ended = games.c.is_over, games.c.updated < before, _HAS_RECORD
        self._database.change(sa.delete(games).where(*ended))

    def sweep_guests(self, before: str, *, spare: Collection[str] = (), limit: int = 1000) -> None:
        """Delete short unfinished games of guests, and then guests who own no data.

        Args:
            before: Time as ISO 8601 in UTC. Only games last changed before this time are deleted.
                Games with fewer than `MIN_GUEST_TURNS` turns count as short.
            spare: Ids of games to keep, because they are open in a room.
            limit: Maximum number of games to delete, oldest first.
        """
        is_short = games.c.length < MIN_GUEST_TURNS
        useless = ~games.c.is_over, is_short, games.c.updated < before
        query = sa.select(games.c.id, games.c.owner).order_by(games.c.started).limit(limit)
        query = query.join(accounts, accounts.c.id == games.c.owner).where(
            games.c.started < before, *useless, accounts.c.name.is_(None), games.c.id.not_in(spare)
        )
        if not (found := self._database.rows(query)):
            return
        swept = sa.delete(games).where(games.c.id.in_([row.id for row in found]), *useless)
        with self._database.write() as connection:
            gone = connection.scalars(swept.returning(games.c.id)).all()
            connection.execute(sa.delete(rounds).where(rounds.c.game_id.in_(gone)))
            _forget_guests(connection, {row.owner for row in found})


def ensure_accounts(connection: Connection, ids: Collection[str]) -> None:
    """Insert an account for each guest without an account, in the caller's transaction."""
    rows = [{"id": each, "generation": 0, "created": utc_now()} for each in sorted(ids)]
    connection.execute(insert_new(connection.dialect, accounts), rows)


def insert_online_games(connection: Connection, new: Sequence[NewOnlineGame]) -> bool:
    """In the caller's transaction, insert games, their server data and missing accounts.

    Returns:
        False if an account already has a daily game for the same day. Callers that pass several
        games must then roll back, because some rows may have been inserted.
    """
    ensure_accounts(connection, {each.game.owner for each in new})
    facts = [{column.name: getattr(each.info, column.name) for column in rounds.c} for each in new]
    if connection.execute(insert_new(connection.dialect, rounds), facts).rowcount < len(new):
        return False
    connection.execute(_INSERT, [row_of(each.game) for each in new])
    return True


def _forget_guests(connection: Connection, owners: Collection[str]) -> None:
    """Delete guest accounts that own no data."""
    # Keep guests who have logged out, because `generation` invalidates their old cookies.
    is_guest = accounts.c.id.in_(owners), accounts.c.name.is_(None), accounts.c.generation == 0
    owns = (sa.exists().where(table.c.owner == accounts.c.id) for table in OWNED_TABLES)
    connection.execute(sa.delete(accounts).where(*is_guest, *(~each for each in owns)))
