"""Short messages between processes that share a PostgreSQL database, using LISTEN and NOTIFY."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing

import sqlalchemy as sa

from py2048.app.storage.database import Repository, storage_errors

CHANNEL = "py2048_games"

# The commit does not wait for the disk, because a power failure loses notifications anyway.
_ASYNC_COMMIT = sa.text("SET LOCAL synchronous_commit = off")
_NOTIFY = sa.text("""
SELECT pg_notify(:channel, message)
FROM json_array_elements_text(CAST(:messages AS json)) AS message
""")


class Notifications(Repository):
    """Sends and receives messages on the PostgreSQL channel `CHANNEL`.

    Only processes that are currently listening receive a message.
    """

    def send(self, messages: Sequence[str]) -> None:
        """Send messages of less than 8,000 bytes each in one transaction.

        Raises:
            StorageError: If the database cannot be reached.
        """
        with self._database.write() as connection:
            connection.execute(_ASYNC_COMMIT)
            connection.execute(_NOTIFY, {"channel": CHANNEL, "messages": json.dumps(messages)})

    def listen(self, timeout_s: float) -> Iterator[str | None]:
        """Yield each received message until the store is closed.

        Also yields `None` when listening starts, and after every `timeout_s` seconds without a
        message.

        Raises:
            StorageError: If the connection is lost.
        """
        engine = self._database.engine
        with storage_errors(self._database.name):
            try:
                pooled = engine.raw_connection()
                connection = pooled.driver_connection
                assert connection is not None
                pooled.detach()  # the pool must not reuse a listening connection
                with closing(connection):
                    connection.autocommit = True
                    connection.execute(f"LISTEN {CHANNEL}")
                    while not self._database.is_closed:
                        yield None
                        for notice in connection.notifies(timeout=timeout_s):
                            yield notice.payload
            except engine.dialect.loaded_dbapi.OperationalError as error:  # SQLAlchemy wraps none
                raise sa.exc.OperationalError(None, None, error) from error
