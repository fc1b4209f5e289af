"""Whom players follow."""

from __future__ import annotations

import sqlalchemy as sa

from py2048.storage.accounts import lock_account
from py2048.storage.database import Subject, insert_new
from py2048.storage.schema import accounts, follows
from py2048.storage.values import AccountError, utc_now


class Follows(Subject):
    """Who follows whom; both have names."""

    def add(self, owner: str, followed: str, *, most: int) -> None:
        """Let an account follow another.

        Raises:
            AccountError: The account follows as many as may be, `most`.
        """
        with self._database.write() as connection:
            lock_account(connection, owner)
            mine = sa.select(sa.func.count()).where(follows.c.owner == owner)
            if (connection.scalar(mine) or 0) >= most:
                raise AccountError(f"you follow {most} players: leave one first")
            row = {"owner": owner, "followed": followed, "since": utc_now()}
            connection.execute(insert_new(connection, follows), row)

    def remove(self, owner: str, followed: str) -> None:
        """Let an account no longer follow another."""
        pair = follows.c.owner == owner, follows.c.followed == followed
        self._database.change(sa.delete(follows).where(*pair))

    def of(self, owner: str) -> dict[str, str]:
        """Return whom an account follows, with their names, in the order of these."""
        query = sa.select(accounts.c.id, accounts.c.name).join(
            follows, follows.c.followed == accounts.c.id
        )
        mine = query.where(follows.c.owner == owner).order_by(accounts.c.name_key)
        return {row.id: row.name for row in self._database.all(mine)}

    def count(self, followed: str) -> int:
        """Return how many follow an account."""
        query = sa.select(sa.func.count().label("followers")).where(follows.c.followed == followed)
        return sum(row.followers for row in self._database.all(query))
