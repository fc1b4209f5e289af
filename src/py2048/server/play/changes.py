"""Group commit to the store, and notices to other processes.

One transaction saves the changes of many games, so writing every move to disk costs little.

Processes notify each other through PostgreSQL. A game has no owner: any process may play a move in
any game. Correctness does not depend on notices, because the database accepts a change only from a
process that knows the latest revision (see ``docs/decisions/no-owner.md``). A notice lists changed
games with their revisions. Processes that have one of these games open read its new turns from the
store. If a notice is lost, polling finds the change a little later.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from py2048.app.storage import GameChange
from py2048.core.errors import StaleGameError, StorageError
from py2048.server.bounds import MAX_NOTICES
from py2048.server.cache import Latest

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")
_MAX_BATCH = 512  # changes in one transaction

# After a batch of at least this size, the writer pauses for as long as the transaction took, so
# that more changes collect for the next batch. Under load, the pauses halve the number of
# transactions and leave more CPU time for moves.
_LARGE_BATCH = 8
_MAX_PAUSE_S = 0.02
_CLOSE_TIMEOUT_S = 30.0

_NOTICE_DELAY_S = 0.05  # Changes within this time are announced by a single notice.
_RETRY_S = 1.0
_LISTEN_S = 0.5
_MAX_NOTICE_GAMES = 150  # A notice in PostgreSQL is limited to 8,000 bytes.

Done = Callable[[StorageError | None], object]
"""Called in the event loop with None when a change is saved, or with the error. `StaleGameError`
means that another process changed the game first.
"""


class GroupCommit:
    """Saves changes in order, with a transaction for each batch of changes.

    If a batch fails, it is split until only the change that causes the error fails. If the store
    itself cannot be written, all waiting changes fail at once.

    Args:
        store: The store.
        on_written: Called with the saved changes of each batch, after their `done` callbacks.
    """

    def __init__(self, store: Store, on_written: Callable[[Sequence[GameChange]], object]) -> None:
        self._store = store
        self._on_written = on_written
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "py2048-commit")
        self._waiting: list[tuple[GameChange, Done]] = []
        self._writing: asyncio.Task[None] | None = None
        self._is_closing = False

    @property
    def backlog(self) -> int:
        """Number of waiting changes."""
        return len(self._waiting)

    def submit(self, change: GameChange, done: Done) -> None:
        """Add a change to the next batch; call `done` in the event loop when the change is saved.

        The queue may contain only one change per game.

        Raises:
            StorageError: If the server is shutting down.
        """
        if self._is_closing:
            raise StorageError("the server is shutting down: the move was not made")
        self._waiting.append((change, done))
        if self._writing is None:
            self._writing = self._loop.create_task(self._write_waiting())

    async def close(self) -> None:
        """Save the waiting changes, and stop the thread."""
        self._is_closing = True
        if self._writing is not None:
            await asyncio.wait([self._writing], timeout=_CLOSE_TIMEOUT_S)
        self._thread.shutdown(wait=False)

    async def _write_waiting(self) -> None:
        while self._waiting:
            began = time.perf_counter()
            batch, self._waiting = self._waiting[:_MAX_BATCH], self._waiting[_MAX_BATCH:]
            changes = [change for change, _ in batch]
            faults = await self._loop.run_in_executor(self._thread, self._write, changes)
            self._loop.call_soon(self._report, batch, faults)
            if len(batch) >= _LARGE_BATCH:
                await asyncio.sleep(min(time.perf_counter() - began, _MAX_PAUSE_S))
        self._writing = None

    def _report(
        self, batch: Sequence[tuple[GameChange, Done]], faults: Sequence[StorageError | None]
    ) -> None:
        for (_, done), fault in zip(batch, faults, strict=True):
            done(fault)
        self._on_written(
            [change for (change, _), fault in zip(batch, faults, strict=True) if not fault]
        )

    def _write(self, batch: Sequence[GameChange]) -> list[StorageError | None]:
        """Save a batch. If a change cannot be saved, split the batch into halves."""
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
    """Sends notices about changed games to other processes, and receives their notices.

    Args:
        store: A store on PostgreSQL.

    Attributes:
        fault: Why notices cannot be received at the moment, or None if they can.
    """

    def __init__(self, store: Store) -> None:
        self.fault: str | None = None
        self._store = store
        self._revisions = Latest[str, int](MAX_NOTICES)
        self._is_wanted = asyncio.Event()

    def tell(self, game_id: str, revision: int) -> None:
        """Announce to other processes that a game has reached a revision."""
        self._revisions[game_id] = revision
        self._is_wanted.set()

    async def run(self, on_notice: Callable[[Mapping[str, int]], None]) -> None:
        """Send and receive notices, until cancelled or the store is closed.

        Args:
            on_notice: Called with the revisions of the games in a notice.
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
            games = list(self._revisions.items())
            self._revisions.clear()
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
        """Receive notices in a thread, until the connection to the database is lost.

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
        """Set the fault, and log when notices are lost or can be received again."""
        if fault and not self.fault:
            _log.error("other processes cannot be heard", extra={"fault": fault})
        elif self.fault and not fault:
            _log.info("other processes can be heard again")
        self.fault = fault
