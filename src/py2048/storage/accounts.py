"""Accounts of a server's players, their programs, and their sessions, which can be ended."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.database import Subject, insert_new
from py2048.storage.records import enter_records
from py2048.storage.schema import OWNED, accounts, games, names, records, sessions, turns
from py2048.storage.values import Account, AccountError, LoginSession, utc_now

_ACCOUNT = sa.select(accounts, names.c.recovery, names.c.bot_of).outerjoin(
    names, names.c.account == accounts.c.id
)


# Letters of other alphabets (Cyrillic, Greek, Armenian, phonetic) by the Latin letter or the
# digit for which they are taken, after Unicode's confusable characters (UTS #39).
_LOOK_ALIKES = {
    "A": "\u0410\u0391", "B": "\u0412\u0392", "C": "\u0421", "E": "\u0415\u0395",
    "H": "\u041d\u0397", "I": "\u0406\u0399", "J": "\u0408", "K": "\u041a\u039a",
    "M": "\u041c\u039c", "N": "\u039d", "O": "\u041e\u039f\u0555", "P": "\u0420\u03a1",
    "S": "\u0405\u054f", "T": "\u0422\u03a4", "U": "\u054d", "V": "\u0474", "X": "\u0425\u03a7",
    "Y": "\u0423\u03a5", "Z": "\u0396", "a": "\u0430\u03b1\u0251", "c": "\u0441\u03f2",
    "d": "\u0501", "e": "\u0435", "g": "\u0261\u0581", "h": "\u04bb\u0570",
    "i": "\u0456\u0131\u03b9", "j": "\u0458", "k": "\u043a\u03ba", "l": "\u04cf",
    "n": "\u03b7\u0578", "o": "\u043e\u03bf\u03c3\u0585", "p": "\u0440\u03c1",
    "q": "\u051b\u0566", "s": "\u0455", "u": "\u03c5\u057d", "v": "\u03bd\u0475",
    "w": "\u051d\u03c9", "x": "\u0445\u03c7", "y": "\u0443\u03b3", "3": "\u0417\u0437\u01b7",
    "6": "\u0431",
}  # fmt: skip
_SAME = {"I": "l", "1": "l", "0": "O"}
_PLAIN = str.maketrans(
    {seen: _SAME.get(plain, plain) for plain, many in _LOOK_ALIKES.items() for seen in many} | _SAME
)


class Accounts(Subject):
    """The accounts. A guest is written down with the first game; a name makes it a player."""

    def find(self, account_id: str) -> Account | None:
        """Return the account, None where there is none."""
        return self._one(accounts.c.id == account_id)

    def find_name(self, name: str) -> Account | None:
        """Return the account with this name, however its letters are written."""
        return self._one(accounts.c.name_key == name_key(name))

    def _one(self, condition: sa.ColumnElement[bool]) -> Account | None:
        row = self._database.one(_ACCOUNT.where(condition))
        return None if row is None else Account.of(row)

    def claim_name(
        self, account_id: str, name: str, password: str, recovery: str | None = None
    ) -> Account:
        """Give a guest a name and the hashes of a password and of a recovery code.

        Everybody signed in as the guest is signed out.

        Raises:
            AccountError: Somebody has the name, or one that looks like it.
            AccountError: The account has a name already.
        """
        with self._database.write() as connection:
            _ensure(connection, account_id)
            _take_name(connection, account_id, name, recovery=recovery)
            _set_password(connection, account_id, password)
            enter_records(connection, records.c.owner == account_id)
            row = connection.execute(_ACCOUNT.where(accounts.c.id == account_id)).one()
        return Account.of(row)

    def set_password(self, account_id: str, password: str, recovery: str | None = None) -> None:
        """Replace the password's hash, and that of the recovery code if given; end all sessions."""
        with self._database.write() as connection:
            _set_password(connection, account_id, password)
            if recovery is not None:
                connection.execute(_with_recovery(account_id, recovery))

    def set_recovery(self, account_id: str, recovery: str) -> None:
        """Replace the hash of the recovery code."""
        self._database.change(_with_recovery(account_id, recovery))

    def end_guest(self, account_id: str) -> None:
        """End what a guest's cookies may do; they have no sessions."""
        is_guest = accounts.c.id == account_id, accounts.c.name.is_(None)
        ended = accounts.c.generation + 1
        self._database.change(sa.update(accounts).where(*is_guest).values(generation=ended))

    def delete(self, account_id: str) -> None:
        """Remove an account with all its games, records, scores, settings and programs."""
        with self._database.write() as connection:
            for bot in _bots(connection, account_id):
                _delete(connection, bot.id)
            _delete(connection, account_id)

    # Programs

    def add_bot(self, account_id: str, name: str, person: str, token: str, *, most: int) -> None:
        """Make an account for a program of `person`, whose token has this hash.

        Raises:
            AccountError: Somebody has the name, or one that looks like it.
            AccountError: The person has as many programs as may be, `most`.
        """
        with self._database.write() as connection:
            if len(_bots(connection, person)) >= most:
                raise AccountError(f"you have {most} programs already: delete one first")
            _ensure(connection, account_id)
            _take_name(connection, account_id, name, bot_of=person)
            _add_token(connection, token, account_id, "token")

    def renew_token(self, person: str, bot: str, token: str) -> bool:
        """Replace the token of a person's program; return whether there is such a program."""
        with self._database.write() as connection:
            if bot not in {each.id for each in _bots(connection, person)}:
                return False
            connection.execute(sa.delete(sessions).where(sessions.c.owner == bot))
            _add_token(connection, token, bot, "token")
        return True

    def bots(self, person: str) -> list[Account]:
        """Return the accounts of a person's programs, the oldest first."""
        with self._database.read() as connection:
            return _bots(connection, person)

    def live_guests(self, passes: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
        """Return those of the guests, each with a generation, that still are what they say.

        A guest is written down with the first game: one that the store does not know is one.
        """
        query = sa.select(accounts.c.id, accounts.c.name, accounts.c.generation)
        query = query.where(accounts.c.id.in_([account for account, _ in passes]))
        known = {row.id: row for row in self._database.all(query)}
        return {
            (account, generation)
            for account, generation in passes
            if (row := known.get(account)) is None
            or (row.name is None and row.generation == generation)
        }

    def export(self, account_id: str) -> dict[str, Any]:
        """Return all that is kept of an account, as plain values; the password's hash is not."""
        played = sa.select(turns).join(games).where(games.c.owner == account_id)
        queries: dict[str, sa.Select[Any]] = {
            table.name: sa.select(table).where(table.c.owner == account_id) for table in OWNED
        }
        queries["turns"] = played.order_by(turns.c.game_id, turns.c.ply)
        with self._database.snapshot():
            account = self.find(account_id)
            exported: dict[str, Any] = {
                name: [dict(row._mapping) for row in self._database.all(query)]
                for name, query in queries.items()
            }
            bots = self.bots(account_id)
        for session in exported["sessions"]:
            del session["id"]
        exported["bots"] = [{"name": each.name, "created": each.created} for each in bots]
        about = None if account is None else {"name": account.name, "created": account.created}
        return {"account": about, **exported}


class Sessions(Subject):
    """The sessions. The store knows a session by the SHA-256 of its token, never the token."""

    def begin(self, session_id: str, owner: str, label: str) -> None:
        """Sign somebody in."""
        with self._database.write() as connection:
            _add_token(connection, session_id, owner, label)

    def find(self, session_id: str) -> tuple[Account, str] | None:
        """Return who is signed in and when that was last noted; None if the session is over."""
        query = _ACCOUNT.join(sessions, sessions.c.owner == accounts.c.id).add_columns(
            sessions.c.seen
        )
        row = self._database.one(query.where(sessions.c.id == session_id))
        return None if row is None else (Account.of(row), row.seen)

    def note_use(self, session_id: str) -> None:
        """Note that a session is in use now."""
        used = sa.update(sessions).where(sessions.c.id == session_id)
        self._database.change(used.values(seen=utc_now()))

    def of(self, owner: str) -> list[LoginSession]:
        """Return an account's sessions, the one in use last first."""
        query = sa.select(sessions.c.id, sessions.c.label, sessions.c.created, sessions.c.seen)
        query = query.where(sessions.c.owner == owner).order_by(sessions.c.seen.desc())
        return [LoginSession(**row._mapping) for row in self._database.all(query)]

    def live(self, session_ids: Collection[str]) -> set[str]:
        """Return those of the sessions that are not over."""
        query = sa.select(sessions.c.id).where(sessions.c.id.in_(session_ids))
        return {row.id for row in self._database.all(query)}

    def end(self, session_id: str, owner: str) -> None:
        """End one of an account's sessions."""
        own = sessions.c.id == session_id, sessions.c.owner == owner
        self._database.change(sa.delete(sessions).where(*own))

    def end_all(self, owner: str) -> None:
        """End all of an account's sessions."""
        self._database.change(sa.delete(sessions).where(sessions.c.owner == owner))

    def forget(self, before: str) -> None:
        """Remove sessions of people that nobody has used since a time."""
        programs = sa.select(names.c.account).where(names.c.bot_of.is_not(None))
        unused = sessions.c.seen < before, sessions.c.owner.not_in(programs)
        self._database.change(sa.delete(sessions).where(*unused))


def _ensure(connection: Connection, account_id: str) -> None:
    """Write a guest down within a transaction, unless the account is there."""
    row = {"id": account_id, "generation": 0, "created": utc_now()}
    connection.execute(insert_new(connection, accounts), row)


def _add_token(connection: Connection, token: str, owner: str, label: str) -> None:
    """Let the token with this hash speak for an account, within a transaction."""
    now = utc_now()
    row = {"id": token, "owner": owner, "label": label, "created": now, "seen": now}
    connection.execute(sa.insert(sessions), row)


def _take_name(connection: Connection, account_id: str, name: str, **more: str | None) -> None:
    key, looks = name_key(name), looks_of(name)
    same = sa.select(accounts.c.id).where(accounts.c.name_key == key)
    alike = sa.select(names.c.account).where(names.c.looks == looks)
    if connection.execute(sa.union(same, alike)).first():
        raise AccountError(f"the name {name!r} is taken, or looks like one: choose another")
    changed = connection.execute(
        sa.update(accounts).where(accounts.c.id == account_id, accounts.c.name.is_(None)),
        {"name": name, "name_key": key},
    )
    if not changed.rowcount:
        raise AccountError("this account has a name already: it cannot take another")
    connection.execute(sa.insert(names), {"account": account_id, "looks": looks, **more})


def _set_password(connection: Connection, account_id: str, password: str) -> None:
    changed = sa.update(accounts).where(accounts.c.id == account_id).values(password=password)
    connection.execute(changed)
    connection.execute(sa.delete(sessions).where(sessions.c.owner == account_id))


def _with_recovery(account_id: str, recovery: str) -> sa.Update:
    return sa.update(names).where(names.c.account == account_id).values(recovery=recovery)


def _delete(connection: Connection, account_id: str) -> None:
    for table in OWNED:
        connection.execute(sa.delete(table).where(table.c.owner == account_id))
    connection.execute(sa.delete(names).where(names.c.account == account_id))
    connection.execute(sa.delete(accounts).where(accounts.c.id == account_id))


def _bots(connection: Connection, person: str) -> list[Account]:
    query = _ACCOUNT.where(names.c.bot_of == person).order_by(accounts.c.created, accounts.c.id)
    return [Account.of(row) for row in connection.execute(query)]


# Names: when two are the same, and when they only look the same


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: case, width and spaces aside."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def looks_of(name: str) -> str:
    """Return what names have in common that people mistake for each other, as *Al* and *A1*."""
    return name_key(unicodedata.normalize("NFKC", name).translate(_PLAIN))
