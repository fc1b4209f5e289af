"""Transactions: how every part of the store reads and writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from sqlalchemy.engine import Connection, Engine

from py2048.errors import StorageError
from py2048.storage.engine import WRITES, is_sqlite
from py2048.storage.faults import explained


class Access:
    """An open database; the parts of the store build on it.

    Threads may share it.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        """The file's path, or the server's URL without its password."""
        self._engine = engine
        self._writer = engine.execution_options(**{WRITES: True})
        self._closed = False
        self._shared = threading.local()
        if is_sqlite(engine):
            self._reader = engine
            # SQLite has one writer at a time and lets the others poll; threads of one
            # process wait for each other in line instead.
            self._turnstile: AbstractContextManager[object] = threading.Lock()
        else:
            # All reads of one transaction see the same moment, as they do on SQLite.
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
            self._turnstile = nullcontext()

    def close(self) -> None:
        """Close all connections; using the store afterwards is an error."""
        self._closed = True
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let what this thread reads within the block be one transaction.

        All of it sees the same moment, and costs less than transactions of their own. Write
        outside of such a block.
        """
        with self._reading() as connection:
            self._shared.connection = connection
            try:
                yield
            finally:
                self._shared.connection = None

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        self._check_open()
        if (shared := getattr(self._shared, "connection", None)) is not None:
            with explained(self.name):
                yield shared
            return
        with explained(self.name), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """Give a connection whose work is kept as a whole, or not at all."""
        self._check_open()
        with explained(self.name), self._turnstile, self._writer.begin() as connection:
            yield connection

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError(f"the store {self.name} is closed; open it again", "closed")
