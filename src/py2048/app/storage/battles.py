"""Battles: participants, start and end times, and results."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.database import Repository, insert_new, lock_rows
from py2048.app.storage.online import insert_online_games
from py2048.app.storage.schema import accounts, battle_players, battles
from py2048.app.storage.values import AccountError, Battle, BattlePlayer, NewOnlineGame, utc_now
from py2048.core.errors import StaleGameError

_PLAYERS = (
    sa.select(*(each for each in battle_players.c if each.name != "battle_id"), accounts.c.name)
    .outerjoin(accounts, accounts.c.id == battle_players.c.account)
    .order_by(battle_players.c.seat)
)
_next = battles.alias()
# If all players left a rematch, it has been deleted, and the outer join yields NULL.
_BATTLE = sa.select(
    *(column for column in battles.c if column.name != "rematch"), _next.c.id.label("rematch")
).outerjoin(_next, _next.c.id == battles.c.rematch)


class Battles(Repository):
    """The battles of a server."""

    def create(self, battle_id: str, account: str, rules: str, minutes: int, secret: str) -> None:
        """Create a battle with the account in its first seat."""
        with self._database.write() as connection:
            _create(connection, battle_id, rules, minutes, secret)
            _seat(connection, battle_id, account, 1)

    def find(self, battle_id: str) -> Battle | None:
        """Return a battle, or None."""
        with self._database.read() as connection:
            return _find(connection, battle_id)

    def of_game(self, game_id: str) -> str | None:
        """Return the id of a game's battle, or None if the game is not in a battle."""
        query = sa.select(battle_players.c.battle_id).where(battle_players.c.game_id == game_id)
        found: str | None = self._database.value(query)
        return found

    def window(self, game_id: str) -> tuple[str, str] | None:
        """Return the start and end time of a game's battle, or None if the game is not in a battle.

        If the player has left the battle, the start time is returned as the end time.
        """
        query = (
            sa.select(battles.c.starts, battles.c.ends, battle_players.c.has_left)
            .join(battle_players, battle_players.c.battle_id == battles.c.id)
            .where(battle_players.c.game_id == game_id)
        )
        for row in self._database.rows(query):
            return row.starts, row.starts if row.has_left else row.ends
        return None

    def join(self, battle_id: str, account: str, *, most: int) -> None:
        """Give an account a seat in a battle that has not started, unless it already has one.

        Raises:
            AccountError: If the battle is full, has started, or does not exist.
        """
        with self._database.write() as connection:
            battle = _locked(connection, battle_id)
            if battle.seat_of(account):
                return
            if battle.starts:
                raise AccountError("this battle has started: watch it, or create another")
            if len(battle.players) >= most:
                raise AccountError(f"this battle is full: at most {most} players can join")
            seat = max((each.seat for each in battle.players), default=0) + 1
            _seat(connection, battle_id, account, seat)

    def leave(self, battle_id: str, account: str) -> None:
        """Remove an account from a battle that has not started. Delete the battle if empty."""
        with self._database.write() as connection:
            battle = _locked(connection, battle_id)
            if battle.starts or battle.seat_of(account) is None:
                return
            mine = battle_players.c.account == account, battle_players.c.battle_id == battle_id
            connection.execute(sa.delete(battle_players).where(*mine))
            if len(battle.players) == 1:
                connection.execute(sa.delete(battles).where(battles.c.id == battle_id))

    def start(
        self, battle: Battle, new: Mapping[int, NewOnlineGame], starts: str, ends: str
    ) -> None:
        """Start a battle with a new game for each seat.

        Raises:
            StaleGameError: If a player has joined or left in the meantime, or the battle has
                started.
        """
        with self._database.write() as connection:
            if _locked(connection, battle.id) != battle:
                raise StaleGameError("a player has joined or left: check who is here and try again")
            insert_online_games(connection, list(new.values()))
            for seat, each in new.items():
                connection.execute(_change(battle.id, seat).values(game_id=each.id))
            begun = sa.update(battles).where(battles.c.id == battle.id)
            connection.execute(begun.values(starts=starts, ends=ends))

    def note(self, battle_id: str, seat: int, *, has_left: bool, **stand: int) -> None:
        """Save a player's final result, unless it has already been saved."""
        unknown = battle_players.c.score.is_(None)
        change = _change(battle_id, seat).where(unknown).values(has_left=has_left, **stand)
        self._database.change(change)

    def settle(self, battle_id: str) -> None:
        """Mark all scores of a battle as final."""
        settled = sa.update(battles).where(battles.c.id == battle_id)
        self._database.change(settled.values(is_settled=True))

    def rematch(self, battle: Battle, fresh: str, secret: str) -> str:
        """Return the id of a battle's rematch, or create a rematch with the id `fresh`."""
        with self._database.write() as connection:
            now = _locked(connection, battle.id)
            if now.rematch is not None:
                return now.rematch
            _create(connection, fresh, battle.rules, battle.minutes, secret)
            follows = sa.update(battles).where(battles.c.id == battle.id)
            connection.execute(follows.values(rematch=fresh))
        return fresh

    def overdue(self, now: str) -> list[str]:
        """Return the ids of battles that have ended, but whose scores are not final yet."""
        late = battles.c.is_settled.is_(False), battles.c.ends < now
        return self._database.values(sa.select(battles.c.id).where(*late))

    def forget(self, before: str) -> None:
        """Delete battles that were created before a given time and never started."""
        old = (battles.c.is_settled.is_(False), battles.c.created < before)
        with self._database.write() as connection:
            query = sa.select(battles.c.id).where(*old, battles.c.starts.is_(None))
            ids = list(connection.scalars(query))
            gone = battle_players.c.battle_id.in_(ids)
            connection.execute(sa.delete(battle_players).where(gone))
            connection.execute(sa.delete(battles).where(battles.c.id.in_(ids)))


def forget_player(connection: Connection, account_id: str) -> None:
    """In the caller's transaction, remove an account from its battles, but keep its results."""
    mine = battle_players.c.account == account_id
    waiting = mine, battle_players.c.game_id.is_(None)
    query = sa.select(battle_players.c.battle_id).where(*waiting)
    ids = connection.scalars(query).all()
    lock_rows(connection, battles.c.id, ids)
    connection.execute(sa.delete(battle_players).where(*waiting))
    connection.execute(sa.update(battle_players).where(mine).values(account=None, game_id=None))
    is_empty = ~sa.exists().where(battle_players.c.battle_id == battles.c.id)
    connection.execute(sa.delete(battles).where(battles.c.id.in_(ids), is_empty))


def _create(connection: Connection, battle_id: str, rules: str, minutes: int, secret: str) -> None:
    state = {"created": utc_now(), "is_settled": False}
    row = {"id": battle_id, "rules": rules, "minutes": minutes, "secret": secret, **state}
    connection.execute(sa.insert(battles), row)


def _seat(connection: Connection, battle_id: str, account: str, seat: int) -> None:
    row = {"battle_id": battle_id, "seat": seat, "account": account, "has_left": False}
    connection.execute(insert_new(connection.dialect, battle_players), row)


def _change(battle_id: str, seat: int) -> sa.Update:
    mine = battle_players.c.battle_id == battle_id, battle_players.c.seat == seat
    return sa.update(battle_players).where(*mine)


def _locked(connection: Connection, battle_id: str) -> Battle:
    """Lock a battle's row until the transaction ends, and return the battle.

    Raises:
        AccountError: If the battle does not exist.
    """
    lock_rows(connection, battles.c.id, [battle_id])
    found = _find(connection, battle_id)
    if found is None:
        raise AccountError("this battle no longer exists")
    return found


def _find(connection: Connection, battle_id: str) -> Battle | None:
    row = connection.execute(_BATTLE.where(battles.c.id == battle_id)).first()
    if row is None:
        return None
    found = connection.execute(_PLAYERS.where(battle_players.c.battle_id == battle_id))
    players = tuple(BattlePlayer(**each._mapping) for each in found)
    return Battle(**row._mapping, players=players)
