"""Notices of changed games between processes that share a PostgreSQL, by LISTEN and NOTIFY."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from py2048.storage.access import Access
from py2048.storage.engine import is_sqlite
from py2048.storage.faults import explained

CHANNEL = "py2048_games"
_MOST_IN_ONE = 200  # a notice holds less than 8,000 bytes
_NOTIFY = sa.text("SELECT pg_notify(:channel, :payload)")


@dataclass(frozen=True, slots=True)
class Notice:
    """Games that a process has changed.

    Attributes:
        origin: The process that wrote.
        games: Each game with its new revision.
    """

    origin: str
    games: tuple[tuple[str, int], ...]


class Notices(Access):
    """Hearing of what other processes write."""

    @property
    def can_listen(self) -> bool:
        """Whether other processes can be heard: SQLite has no such thing."""
        return not is_sqlite(self._engine)

    def listen(self, patience: float) -> Iterator[Notice | None]:
        """Yield each notice, and None after each `patience` seconds without one.

        The first None comes as soon as every later notice will be heard.

        Raises:
            StorageError: The connection is lost.
        """
        with explained(self.name), self._told():
            pooled = self._engine.raw_connection()
            connection = pooled.driver_connection
            assert connection is not None  # it has just been opened
            pooled.detach()  # a listening connection must not go back to the pool
            with closing(connection):
                connection.autocommit = True
                connection.execute(f"LISTEN {CHANNEL}")
                yield None
                while not self._closed:
                    for notice in connection.notifies(timeout=patience):
                        yield _parse(notice.payload)
                    yield None

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Pass on the driver's own errors as SQLAlchemy would: a detached connection is not its."""
        driver = self._engine.dialect.loaded_dbapi
        try:
            yield
        except driver.OperationalError as error:
            raise sa.exc.OperationalError(None, None, error) from error


def notify(connection: Connection, origin: str, changed: Sequence[tuple[str, int]]) -> None:
    """Tell other processes of changed games, once the transaction is done."""
    if is_sqlite(connection.engine):
        return
    for first in range(0, len(changed), _MOST_IN_ONE):
        payload = json.dumps([origin, changed[first : first + _MOST_IN_ONE]])
        connection.execute(_NOTIFY, {"channel": CHANNEL, "payload": payload})


def _parse(payload: str) -> Notice:
    origin, games = json.loads(payload)
    return Notice(origin, tuple((str(game), int(revision)) for game, revision in games))
