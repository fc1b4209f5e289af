"""Short messages between processes that share a PostgreSQL, by LISTEN and NOTIFY."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing

import sqlalchemy as sa

from py2048.app.storage.database import Subject, explained, is_sqlite

CHANNEL = "py2048_games"

# A notice need not outlive a power cut, so its writer does not wait for the disk.
_HASTEN = sa.text("SET LOCAL synchronous_commit = off")
_NOTIFY = sa.text("""
SELECT pg_notify(:channel, message)
FROM json_array_elements_text(CAST(:messages AS json)) AS message
""")


class Notices(Subject):
    """Messages on `CHANNEL`, which reach those who listen at that moment."""

    @property
    def can_listen(self) -> bool:
        """Whether other processes can be heard: SQLite has no such thing."""
        return not is_sqlite(self._database.engine)

    def send(self, messages: Sequence[str]) -> None:
        """Send messages of less than 8,000 bytes in one transaction.

        Raises:
            StorageError: The database cannot be reached.
        """
        with self._database.write() as connection:
            connection.execute(_HASTEN)
            connection.execute(_NOTIFY, {"channel": CHANNEL, "messages": json.dumps(messages)})

    def listen(self, timeout_s: float) -> Iterator[str | None]:
        """Yield each message until the store is closed.

        None comes when they are heard, and after each `timeout_s` seconds without one.

        Raises:
            StorageError: The connection is lost.
        """
        engine = self._database.engine
        with explained(self._database.name):
            pooled = engine.raw_connection()
            connection = pooled.driver_connection
            assert connection is not None  # it has just been opened
            pooled.detach()  # a listening connection must not go back to the pool
            try:
                with closing(connection):
                    connection.autocommit = True
                    connection.execute(f"LISTEN {CHANNEL}")
                    while not self._database.is_closed:
                        yield None
                        for notice in connection.notifies(timeout=timeout_s):
                            yield notice.payload
            except engine.dialect.loaded_dbapi.OperationalError as error:  # detached: not wrapped
                raise sa.exc.OperationalError(None, None, error) from error
