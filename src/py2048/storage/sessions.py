"""Who is signed in where: sessions of people and tokens of programs, which can be ended."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from py2048.storage.access import Access
from py2048.storage.accounts import add_token
from py2048.storage.schema import accounts, names, sessions
from py2048.storage.values import Account, Session, utc_now

_FOUND = (
    sa.select(accounts, names.c.recovery, names.c.bot_of, sessions.c.seen)
    .join(sessions, sessions.c.owner == accounts.c.id)
    .outerjoin(names, names.c.account == accounts.c.id)
)


class Sessions(Access):
    """The sessions. The store knows a session by the SHA-256 of its token, never the token."""

    def begin_session(self, session_id: str, owner: str, label: str) -> None:
        """Sign somebody in."""
        with self._writing() as connection:
            add_token(connection, session_id, owner, label)

    def find_session(self, session_id: str) -> tuple[Account, str] | None:
        """Return who is signed in and when that was last noted; None if the session is over."""
        query = _FOUND.where(sessions.c.id == session_id)
        with self._reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else (Account.of(row), row.seen)

    def note_session(self, session_id: str) -> None:
        """Note that a session is in use now."""
        with self._writing() as connection:
            connection.execute(
                sa.update(sessions).where(sessions.c.id == session_id).values(seen=utc_now())
            )

    def sessions(self, owner: str) -> list[Session]:
        """Return an account's sessions, the one in use last first."""
        query = sa.select(sessions.c.id, sessions.c.label, sessions.c.created, sessions.c.seen)
        query = query.where(sessions.c.owner == owner).order_by(sessions.c.seen.desc())
        with self._reading() as connection:
            return [Session(*row) for row in connection.execute(query)]

    def live_sessions(self, session_ids: Collection[str]) -> set[str]:
        """Return those of the sessions that are not over."""
        query = sa.select(sessions.c.id).where(sessions.c.id.in_(session_ids))
        with self._reading() as connection:
            return set(connection.scalars(query))

    def live_guests(self, passes: Collection[tuple[str, int]]) -> set[tuple[str, int]]:
        """Return those of the guests, each with a generation, that still are what they say.

        A guest is written down with the first game: one that the store does not know is one.
        """
        query = sa.select(accounts.c.id, accounts.c.name, accounts.c.generation)
        query = query.where(accounts.c.id.in_([account for account, _ in passes]))
        with self._reading() as connection:
            known = {row.id: row for row in connection.execute(query)}
        return {
            (account, generation)
            for account, generation in passes
            if (row := known.get(account)) is None
            or (row.name is None and row.generation == generation)
        }

    def end_session(self, session_id: str, owner: str) -> None:
        """End one of an account's sessions."""
        with self._writing() as connection:
            connection.execute(
                sa.delete(sessions).where(sessions.c.id == session_id, sessions.c.owner == owner)
            )

    def end_sessions(self, owner: str) -> None:
        """End all of an account's sessions."""
        with self._writing() as connection:
            connection.execute(sa.delete(sessions).where(sessions.c.owner == owner))

    def forget_sessions(self, before: str) -> None:
        """Remove sessions of people that nobody has used since a time."""
        programs = sa.select(names.c.account).where(names.c.bot_of.is_not(None))
        with self._writing() as connection:
            connection.execute(
                sa.delete(sessions).where(
                    sessions.c.seen < before, sessions.c.owner.not_in(programs)
                )
            )
