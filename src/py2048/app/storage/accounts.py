"""Storage of a server's accounts and login sessions. Players and their programs have accounts."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.app.storage.battles import forget_player
from py2048.app.storage.database import Repository, lock_rows
from py2048.app.storage.online import ensure_accounts
from py2048.app.storage.records import NAMED, enter_records
from py2048.app.storage.schema import (
    OWNED_TABLES,
    accounts,
    battle_players,
    games,
    names,
    puzzle_answers,
    records,
    recovery_codes,
    sessions,
    turns,
)
from py2048.app.storage.values import (
    Account,
    AccountError,
    LoginSession,
    lookalike_key,
    name_key,
    utc_now,
)

_ACCOUNT = sa.select(
    *(column for column in accounts.c if column.name != "name_key"), names.c.bot_of
).outerjoin(names, names.c.account == accounts.c.id)
_ACCOUNT_BY_ID = _ACCOUNT.where(accounts.c.id == sa.bindparam("id"))


class Accounts(Repository):
    """The accounts.

    A guest account is stored together with the guest's first game. A guest who chooses a name
    becomes a player.
    """

    def find(self, account_id: str) -> Account | None:
        """Return the account with this id, or None if it does not exist."""
        return self._database.one(Account, _ACCOUNT_BY_ID, id=account_id)

    def find_name(self, name: str) -> Account | None:
        """Return the account with the same normalised name, or None if there is none."""
        return self._database.one(Account, _ACCOUNT.where(accounts.c.name_key == name_key(name)))

    def claim_name(
        self, account_id: str, name: str, password: str, codes: Collection[str] = ()
    ) -> Account:
        """Give a guest a name, and store hashes of the password and the recovery codes.

        All of the guest's sessions end.

        Raises:
            AccountError: If the name or a lookalike is taken, or the account already has a name.
        """
        with self._database.write() as connection:
            ensure_accounts(connection, [account_id])
            _take_name(connection, account_id, name)
            _set_password(connection, account_id, password)
            _set_codes(connection, account_id, codes)
            enter_records(connection, NAMED.where(records.c.owner == account_id))
            row = connection.execute(_ACCOUNT_BY_ID, {"id": account_id}).one()
        return Account(**row._mapping)

    def set_password(self, account_id: str, password: str) -> None:
        """Replace the password hash and end all sessions."""
        with self._database.write() as connection:
            _set_password(connection, account_id, password)

    def set_recovery(self, account_id: str, codes: Collection[str]) -> None:
        """Replace the hashes of the recovery codes."""
        with self._database.write() as connection:
            lock_rows(connection, accounts.c.id, [account_id])
            _set_codes(connection, account_id, codes)

    def recovery_codes(self, account_id: str) -> set[str]:
        """Return the hashes of the unused recovery codes."""
        query = sa.select(recovery_codes.c.code).where(recovery_codes.c.owner == account_id)
        return set(self._database.values(query))

    def recover(self, account_id: str, code: str, password: str) -> bool:
        """Consume a recovery code, replace the password hash and end all sessions.

        Returns:
            False if the account has no unused code with this hash. In this case, nothing changes.
        """
        used = sa.delete(recovery_codes).where(
            recovery_codes.c.owner == account_id, recovery_codes.c.code == code
        )
        with self._database.write() as connection:
            if not connection.execute(used).rowcount:
                return False
            _set_password(connection, account_id, password)
        return True

    def end_guest(self, account_id: str) -> None:
        """Invalidate all cookies of a guest, because guests have no login sessions to end."""
        is_guest = accounts.c.id == account_id, accounts.c.name.is_(None)
        ended = accounts.c.generation + 1
        self._database.change(sa.update(accounts).where(*is_guest).values(generation=ended))

    def delete(self, account_id: str) -> None:
        """Delete an account with its games, records, scores, settings and programs."""
        with self._database.write() as connection:
            for bot in _bots(connection, account_id):
                _delete(connection, bot.id)
            _delete(connection, account_id)

    def forget_guests(self, before: str, *, limit: int = 1000) -> bool:
        """Delete guests who have not played since a given time, and all of their data.

        Args:
            before: Time as ISO 8601 in UTC.
            limit: Maximum number of guests to delete.

        Returns:
            Whether any guests were deleted.
        """
        guests, answers = accounts.c, puzzle_answers.c
        played = games.c.updated, records.c.finished, answers.answered
        used = (sa.exists().where(e.table.c.owner == guests.id, e >= before) for e in played)
        is_lost = guests.name.is_(None), guests.created < before, *(~each for each in used)
        found = self._database.values(sa.select(guests.id).where(*is_lost).limit(limit))
        for each in found:
            self.delete(each)
        # Guests who have only solved puzzles have no account. The local player of this computer has
        # no account.
        unknown = answers.owner != "local", answers.owner.not_in(sa.select(guests.id))
        self._database.change(sa.delete(puzzle_answers).where(answers.answered < before, *unknown))
        return bool(found)

    # Programs

    def add_bot(self, account_id: str, name: str, person: str, token: str, *, most: int) -> None:
        """Create an account for a person's program, and store the hash of its token.

        Raises:
            AccountError: If the name or a lookalike is taken, or the person already has `most`
                programs.
        """
        with self._database.write() as connection:
            lock_rows(connection, accounts.c.id, [person])
            if len(_bots(connection, person)) >= most:
                raise AccountError(f"you already have {most} programs: delete one first")
            ensure_accounts(connection, [account_id])
            _take_name(connection, account_id, name, bot_of=person)
            _add_token(connection, token, account_id, "token")

    def renew_token(self, person: str, bot: str, token: str) -> bool:
        """Replace the token of a person's program, or return False if there is no such program."""
        with self._database.write() as connection:
            if bot not in {each.id for each in _bots(connection, person)}:
                return False
            connection.execute(sa.delete(sessions).where(sessions.c.owner == bot))
            _add_token(connection, token, bot, "token")
        return True

    def bots(self, person: str) -> list[Account]:
        """Return the accounts of a person's programs, oldest first."""
        with self._database.read() as connection:
            return _bots(connection, person)

    def live_guests(self, guests: Collection[str]) -> set[str]:
        """Return the given guests who have neither taken a name nor logged out.

        Unknown ids are included, because guests are not stored before their first game.
        """
        is_over = sa.or_(accounts.c.name.is_not(None), accounts.c.generation > 0)
        query = sa.select(accounts.c.id).where(accounts.c.id.in_(guests), is_over)
        return set(guests).difference(self._database.values(query))

    def export(self, account_id: str) -> dict[str, Any]:
        """Return all data of an account as plain values, except the hashes of secrets."""
        played = sa.select(turns).join(games).where(games.c.owner == account_id)
        queries: dict[str, sa.Select[Any]] = {
            table.name: sa.select(table).where(table.c.owner == account_id)
            for table in OWNED_TABLES
        }
        fought = battle_players.c.account == account_id
        queries["battles"] = sa.select(battle_players).where(fought)
        queries["turns"] = played.order_by(turns.c.game_id, turns.c.ply)
        with self._database.snapshot():
            account = self.find(account_id)
            exported: dict[str, Any] = {
                name: self._database.all(dict, query) for name, query in queries.items()
            }
            bots = self.bots(account_id)
        for table, secret in (("sessions", "id"), ("recovery_codes", "code")):
            for row in exported[table]:
                del row[secret]
        exported["bots"] = [{"name": each.name, "created": each.created} for each in bots]
        about = None if account is None else {"name": account.name, "created": account.created}
        return {"account": about, **exported}


class Sessions(Repository):
    """Login sessions, identified by the SHA-256 hash of a token that is never stored."""

    def begin(self, session_id: str, owner: str, label: str, *, most: int | None = None) -> None:
        """Add a session, and keep only the account's `most` recently used sessions."""
        own = sessions.c.owner == owner
        last = sa.select(sessions.c.id).where(own).order_by(sessions.c.seen.desc()).limit(most)
        with self._database.write() as connection:
            _add_token(connection, session_id, owner, label)
            connection.execute(sa.delete(sessions).where(own, sessions.c.id.not_in(last)))

    def find(self, session_id: str) -> tuple[Account, str] | None:
        """Return a session's account and time of last use, or None for an ended session."""
        query = _ACCOUNT.join(sessions, sessions.c.owner == accounts.c.id).add_columns(
            sessions.c.seen
        )
        return self._database.one(
            lambda seen, **account: (Account(**account), seen),
            query.where(sessions.c.id == session_id),
        )

    def note_use(self, session_id: str) -> None:
        """Record that a session has just been used."""
        used = sa.update(sessions).where(sessions.c.id == session_id)
        self._database.change(used.values(seen=utc_now()))

    def of(self, owner: str) -> list[LoginSession]:
        """Return an account's sessions, most recently used first."""
        query = sa.select(sessions.c.id, sessions.c.label, sessions.c.created, sessions.c.seen)
        query = query.where(sessions.c.owner == owner).order_by(sessions.c.seen.desc())
        return self._database.all(LoginSession, query)

    def live(self, session_ids: Collection[str]) -> set[str]:
        """Return the ids of the given sessions that have not ended."""
        query = sa.select(sessions.c.id).where(sessions.c.id.in_(session_ids))
        return set(self._database.values(query))

    def end(self, session_id: str, owner: str) -> None:
        """End one of the account's sessions."""
        own = sessions.c.id == session_id, sessions.c.owner == owner
        self._database.change(sa.delete(sessions).where(*own))

    def end_all(self, owner: str) -> None:
        """End all of the account's sessions."""
        self._database.change(sa.delete(sessions).where(sessions.c.owner == owner))

    def forget(self, before: str) -> None:
        """Delete sessions last used before a given time, except sessions of programs."""
        programs = sa.select(names.c.account).where(names.c.bot_of.is_not(None))
        unused = sessions.c.seen < before, sessions.c.owner.not_in(programs)
        self._database.change(sa.delete(sessions).where(*unused))


def _add_token(connection: Connection, token: str, owner: str, label: str) -> None:
    """In the caller's transaction, insert a login session whose id is a hashed token."""
    now = utc_now()
    row = {"id": token, "owner": owner, "label": label, "created": now, "seen": now}
    connection.execute(sa.insert(sessions), row)


def _take_name(connection: Connection, account_id: str, name: str, **more: str | None) -> None:
    key, looks = name_key(name), lookalike_key(name)
    try:  # a unique index rejects names that were taken concurrently
        changed = connection.execute(
            sa.update(accounts).where(accounts.c.id == account_id, accounts.c.name.is_(None)),
            {"name": name, "name_key": key},
        )
        if not changed.rowcount:
            raise AccountError("this account already has a name, which cannot be changed")
        connection.execute(sa.insert(names), {"account": account_id, "looks": looks, **more})
    except sa.exc.IntegrityError:
        taken = f"the name {name!r} is taken or looks like a taken one: choose another"
        raise AccountError(taken) from None


def _set_password(connection: Connection, account_id: str, password: str) -> None:
    changed = sa.update(accounts).where(accounts.c.id == account_id).values(password=password)
    connection.execute(changed)
    connection.execute(sa.delete(sessions).where(sessions.c.owner == account_id))


def _set_codes(connection: Connection, account_id: str, codes: Collection[str]) -> None:
    connection.execute(sa.delete(recovery_codes).where(recovery_codes.c.owner == account_id))
    rows = [{"owner": account_id, "code": code, "created": utc_now()} for code in codes]
    if rows:
        connection.execute(sa.insert(recovery_codes), rows)


def _delete(connection: Connection, account_id: str) -> None:
    for table in OWNED_TABLES:
        connection.execute(sa.delete(table).where(table.c.owner == account_id))
    forget_player(connection, account_id)
    connection.execute(sa.delete(names).where(names.c.account == account_id))
    connection.execute(sa.delete(accounts).where(accounts.c.id == account_id))


def _bots(connection: Connection, person: str) -> list[Account]:
    query = _ACCOUNT.where(names.c.bot_of == person).order_by(accounts.c.created, accounts.c.id)
    return [Account(**row._mapping) for row in connection.execute(query)]
