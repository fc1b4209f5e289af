"""Accounts of a server's players: guests, and people with a name and a password."""

from __future__ import annotations

import unicodedata
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from py2048.errors import StorageError
from py2048.storage.access import Access
from py2048.storage.leaderboards import enter_all
from py2048.storage.schema import accounts, bests, games, leaders, records, rounds, settings, turns
from py2048.storage.values import Account, utc_now

_OWNED = (games, records, rounds, bests, leaders, settings)


class NameTakenError(StorageError):
    """Somebody has this name already."""


class Accounts(Access):
    """The accounts. A guest is written down with the first game; a name makes it a player."""

    def add_guest(self, account_id: str) -> None:
        """Write a guest down; one that is there already stays as it is."""
        with self._writing() as connection:
            ensure_account(connection, account_id)

    def find_account(self, account_id: str) -> Account | None:
        """Return the account, None where there is none."""
        with self._reading() as connection:
            return _account(_row(connection, accounts.c.id == account_id))

    def find_name(self, name: str) -> Account | None:
        """Return the account with this name, however its letters are written."""
        with self._reading() as connection:
            return _account(_row(connection, accounts.c.name_key == name_key(name)))

    def claim_name(self, account_id: str, name: str, password: str) -> Account:
        """Give a guest a name and the hash of a password; return the account.

        Raises:
            NameTakenError: Somebody has the name.
            StorageError: The account has a name already.
        """
        with self._writing() as connection:
            ensure_account(connection, account_id)
            taken = _row(connection, accounts.c.name_key == name_key(name))
            if taken is not None:
                raise NameTakenError(f"the name {name!r} is taken: choose another")
            changed = connection.execute(
                sa.update(accounts).where(accounts.c.id == account_id, accounts.c.name.is_(None)),
                {"name": name, "name_key": name_key(name), "password": password},
            )
            if not changed.rowcount:
                raise StorageError("this account has a name already: it cannot take another")
            enter_all(connection, account_id)
            found = _account(_row(connection, accounts.c.id == account_id))
        assert found is not None  # it has just been written
        return found

    def set_password(self, account_id: str, password: str) -> int:
        """Replace the password's hash, end all sessions, and return the new generation."""
        with self._writing() as connection:
            connection.execute(
                sa.update(accounts)
                .where(accounts.c.id == account_id)
                .values(password=password, generation=accounts.c.generation + 1)
            )
            row = _row(connection, accounts.c.id == account_id)
        return 0 if row is None else int(row.generation)

    def delete_account(self, account_id: str) -> None:
        """Remove an account with all its games, records, scores and settings."""
        with self._writing() as connection:
            for table in _OWNED:
                connection.execute(sa.delete(table).where(table.c.owner == account_id))
            connection.execute(sa.delete(accounts).where(accounts.c.id == account_id))

    def export_account(self, account_id: str) -> dict[str, Any]:
        """Return all that is kept of an account, as plain values; the password's hash is not."""
        with self._reading() as connection:
            row = _row(connection, accounts.c.id == account_id)
            exported: dict[str, Any] = {
                table.name: _plain(connection, sa.select(table).where(table.c.owner == account_id))
                for table in _OWNED
            }
            played = sa.select(turns).join(games).where(games.c.owner == account_id)
            exported["turns"] = _plain(connection, played.order_by(turns.c.game_id, turns.c.ply))
        account = None if row is None else {"name": row.name, "created": row.created}
        return {"account": account, **exported}


def ensure_account(connection: Connection, account_id: str) -> None:
    """Write a guest down within a transaction, unless the account is there."""
    if _row(connection, accounts.c.id == account_id) is None:
        row = {"id": account_id, "generation": 0, "created": utc_now()}
        connection.execute(sa.insert(accounts), row)


def name_key(name: str) -> str:
    """Return what two names have in common that look alike: case, width and spaces aside."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def _row(connection: Connection, condition: sa.ColumnElement[bool]) -> Row[Any] | None:
    return connection.execute(sa.select(accounts).where(condition)).one_or_none()


def _account(row: Row[Any] | None) -> Account | None:
    if row is None:
        return None
    return Account(row.id, row.name, row.password, row.generation, row.created)


def _plain(connection: Connection, query: sa.Select[Any]) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in connection.execute(query)]
