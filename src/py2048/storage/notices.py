"""Short messages between processes that share a PostgreSQL, by LISTEN and NOTIFY."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager

import sqlalchemy as sa

from py2048.storage.database import Subject, explained, is_sqlite

_MAX_BYTES = 7999
"""The bytes of a message that PostgreSQL takes."""

# A notice need not outlive a power cut, so its writer does not wait for the disk.
_HASTEN = sa.text("SET LOCAL synchronous_commit = off")
_NOTIFY = sa.text("""
SELECT pg_notify(channel, message)
FROM json_to_recordset(CAST(:rows AS json)) AS given(channel text, message text)
""")


class Notices(Subject):
    """Messages on named channels, which reach those who listen at that moment."""

    @property
    def can_listen(self) -> bool:
        """Whether other processes can be heard: SQLite has no such thing."""
        return not is_sqlite(self._database.engine)

    def send(self, messages: Sequence[tuple[str, str]]) -> None:
        """Send messages, each to its channel, in one transaction; one of 8,000 bytes is lost.

        Raises:
            StorageError: The database cannot be reached.
        """
        rows = [
            {"channel": channel, "message": message}
            for channel, message in messages
            if len(message.encode()) <= _MAX_BYTES
        ]
        with self._database.write() as connection:
            connection.execute(_HASTEN)
            connection.execute(_NOTIFY, {"rows": json.dumps(rows)})

    def listen(
        self, channels: Callable[[], Collection[str]], timeout_s: float
    ) -> Iterator[tuple[str, str] | None]:
        """Yield the channel and the text of each message, until the store is closed.

        None comes whenever all channels wanted at that moment are heard: at first, and after
        each `timeout_s` seconds without a message.

        Args:
            channels: Is asked each time which channels to hear.
            timeout_s: Seconds after which it is asked again, if nothing comes.

        Raises:
            StorageError: The connection is lost.
        """
        with explained(self._database.name), self._told():
            pooled = self._database.engine.raw_connection()
            connection = pooled.driver_connection
            assert connection is not None  # it has just been opened
            pooled.detach()  # a listening connection must not go back to the pool
            with closing(connection):
                connection.autocommit = True
                heard: set[str] = set()
                while not self._database.is_closed:
                    wanted = set(channels())
                    for channel in sorted(wanted ^ heard):
                        verb = "LISTEN" if channel in wanted else "UNLISTEN"
                        connection.execute(f'{verb} "{channel}"')
                    heard = wanted
                    yield None
                    for notice in connection.notifies(timeout=timeout_s):
                        yield notice.channel, notice.payload

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Pass on the driver's own errors as SQLAlchemy would: a detached connection is not its."""
        driver = self._database.engine.dialect.loaded_dbapi
        try:
            yield
        except driver.OperationalError as error:
            raise sa.exc.OperationalError(None, None, error) from error
