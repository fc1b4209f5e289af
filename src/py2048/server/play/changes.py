"""Group commit to the store, and notices between processes.

Saving the changes of many games in one transaction makes durable moves cheap.

Processes notify each other through PostgreSQL. A game has no owner: any process may play a move in
any game, and the database accepts a change only from a process that knows the latest revision (see
``docs/decisions/no-owner.md``), so correctness does not depend on notices. A notice lists revisions
of games; a process that has one of them open reads the new turns from the store. If a notice is
lost, polling finds the change a little later.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from py2048.app.storage import GameChange
from py2048.core.errors import StaleGameError, StorageError

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")
_MAX_BATCH = 512  # changes in one transaction

# After a batch of this size the thread pauses for as long as the transaction took, so that the next
# batch is larger. Under load this halves the transactions and leaves more time for moves.
_LARGE_BATCH = 8
_MAX_PAUSE_S = 0.02
_CLOSE_TIMEOUT_S = 30.0

_NOTICE_DELAY_S = 0.05  # Changes within this time share a notice.
_RETRY_S = 1.0
_LISTEN_S = 0.5
_MAX_NOTICE_GAMES = 150  # PostgreSQL limits a notice to 8,000 bytes.

Done = Callable[[StorageError | None], object]
"""Called with None or the error; `StaleGameError` if another process changed the game first."""


class GroupCommit:
    """Saves changes in order, each batch in one transaction.

    If a batch fails, it is split until only the change at fault fails. If the store itself cannot
    be written, all waiting changes fail at once.

    Args:
        store: The store.
        on_written: Called in the event loop with the changes of each transaction, after the
            callbacks of the changes.
    """

    def __init__(self, store: Store, on_written: Callable[[Sequence[GameChange]], object]) -> None:
        self._store = store
        self._on_written = on_written
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[GameChange, Done]] = deque()
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="py2048-commit", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Number of waiting changes."""
        return len(self._waiting)

    def submit(self, change: GameChange, done: Done) -> None:
        """Save a change soon, then call `done` in the event loop.

        A game may have only one change in the queue.

        Raises:
            StorageError: If the server is shutting down.
        """
        with self._changed:
            if self._is_closing:
                raise StorageError("the server is shutting down: the move was not made")
            self._waiting.append((change, done))
            self._changed.notify()

    def close(self) -> None:
        """Save the waiting changes and stop the thread."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join(_CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while batch := self._next_batch():
            began = time.perf_counter()
            faults = self._write([change for change, _ in batch])
            self._loop.call_soon_threadsafe(self._report, batch, faults)
            if len(batch) >= _LARGE_BATCH:
                time.sleep(min(time.perf_counter() - began, _MAX_PAUSE_S))

    def _report(
        self, batch: Sequence[tuple[GameChange, Done]], faults: Sequence[StorageError | None]
    ) -> None:
        for (_, done), fault in zip(batch, faults, strict=True):
            done(fault)
        self._on_written(
            [change for (change, _), fault in zip(batch, faults, strict=True) if not fault]
        )

    def _next_batch(self) -> list[tuple[GameChange, Done]]:
        """Wait for a change and return all waiting changes, or an empty list at the end."""
        with self._changed:
            while not (self._waiting or self._is_closing):
                self._changed.wait()
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), _MAX_BATCH))]

    def _write(self, batch: Sequence[GameChange]) -> list[StorageError | None]:
        """Save a batch, or its halves if one of the changes cannot be saved."""
        try:
            stale = self._store.changes.write(batch)
        except Exception as error:  # noqa: BLE001 - the thread must continue
            fault = error if isinstance(error, StorageError) else StorageError(repr(error))
            if len(batch) > 1 and not fault.kind:
                middle = len(batch) // 2
                return self._write(batch[:middle]) + self._write(batch[middle:])
            return [fault] * len(batch)
        if not stale:
            return [None] * len(batch)
        late = StaleGameError("another process changed the game first")
        return [late if change.id in stale else None for change in batch]


class GameNotices:
    """Sends notices about changed games to other processes, and receives theirs.

    Args:
        store: A store on PostgreSQL.

    Attributes:
        fault: Why no notices are received at the moment, or None.
    """

    def __init__(self, store: Store) -> None:
        self.fault: str | None = None
        self._store = store
        self._revisions: dict[str, int] = {}
        self._is_wanted = asyncio.Event()

    def tell(self, game_id: str, revision: int) -> None:
        """Announce soon that a game has reached a revision."""
        self._revisions[game_id] = revision
        self._is_wanted.set()

    async def run(self, on_notice: Callable[[Mapping[str, int]], None]) -> None:
        """Send and receive notices until cancelled or the store is closed.

        Args:
            on_notice: Called with the revisions of changed games.
        """
        loop, sending = asyncio.get_running_loop(), asyncio.create_task(self._send())
        try:
            while not self._store.is_closed:
                try:
                    await asyncio.to_thread(self._listen, loop, on_notice)
                except StorageError as error:
                    self._note(str(error))
                await asyncio.sleep(_RETRY_S)
        finally:
            sending.cancel()

    async def _send(self) -> None:
        while await self._is_wanted.wait():
            await asyncio.sleep(_NOTICE_DELAY_S)
            self._is_wanted.clear()
            revisions, self._revisions = self._revisions, {}
            games = list(revisions.items())
            notices = [
                msgspec.json.encode(dict(games[first : first + _MAX_NOTICE_GAMES])).decode()
                for first in range(0, len(games), _MAX_NOTICE_GAMES)
            ]
            try:
                await asyncio.to_thread(self._store.notices.send, notices)
            except StorageError as error:
                _log.warning("notices were not sent", extra={"fault": str(error)})

    def _listen(
        self, loop: asyncio.AbstractEventLoop, on_notice: Callable[[Mapping[str, int]], None]
    ) -> None:
        """Receive notices in a thread until the connection is lost.

        Raises:
            StorageError: When the connection is lost.
        """
        notices = self._store.notices.listen(_LISTEN_S)
        with suppress(RuntimeError):  # the loop is closed
            next(notices)
            loop.call_soon_threadsafe(self._note, None)
            for notice in filter(None, notices):  # includes this process's own
                revisions = msgspec.json.decode(notice, type=dict[str, int])
                loop.call_soon_threadsafe(on_notice, revisions)

    def _note(self, fault: str | None) -> None:
        """Set the fault and log if it appeared or disappeared."""
        if fault and not self.fault:
            _log.error("other processes cannot be heard", extra={"fault": fault})
        elif self.fault and not fault:
            _log.info("other processes can be heard again")
        self.fault = fault
