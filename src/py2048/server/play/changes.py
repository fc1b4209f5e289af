"""How changes leave a process: to the store, many in one transaction, and to other processes.

One transaction for the changes of many games is what makes a durable move cheap.

Other processes hear by PostgreSQL's notices. A game has no owner: any process may play a move in
any game, and the database takes a change only from a process that has seen the last revision (see
``docs/decisions/no-owner.md``). So nothing depends on a notice for being right. It says that games
are at a revision; a process that has one of them open reads the rest from the store. A notice that
is lost is found there, a little later.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import msgspec

from py2048.app.storage import GameChange
from py2048.core.errors import StaleGameError, StorageError

if TYPE_CHECKING:
    from py2048.app.storage import Store

_log = logging.getLogger("py2048.web")
_MAX_CHANGES = 512
"""In one transaction."""

_MANY_CHANGES = 8
"""After this many changes in one transaction the thread rests for as long as that took.

More of them gather meanwhile: with half the transactions the server has time for more moves.
"""

_MAX_REST_S = 0.02
_CLOSE_TIMEOUT_S = 30.0

_GATHER_S = 0.05
"""While this lasts, revisions gather for one notice."""

_RETRY_S = 1.0
_LISTEN_S = 0.5
_MAX_GAMES = 150
"""Games in one notice: PostgreSQL takes less than 8,000 bytes."""

Done = Callable[[StorageError | None], object]
"""Is told why a change is not written, if it is not; `StaleGameError`: another was faster."""


class GroupCommit:
    """Writes changes in the order in which they come, all that wait in one transaction.

    A change that the store cannot keep fails alone. When the store as a whole cannot be written,
    all that wait fail at once.

    Args:
        store: where to.
        after: is told in the event loop what a transaction has written, after the answers.
    """

    def __init__(self, store: Store, after: Callable[[Sequence[GameChange]], object]) -> None:
        self._store = store
        self._after = after
        self._loop = asyncio.get_running_loop()
        self._waiting: SimpleQueue[tuple[GameChange, Done] | None] = SimpleQueue()  # None: the end
        self._is_closing = False
        self._lock = threading.Lock()  # nothing comes after the end
        self._thread = threading.Thread(target=self._run, name="py2048-commit", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """How many changes wait."""
        return self._waiting.qsize()

    def submit(self, change: GameChange, done: Done) -> None:
        """Write `change` soon, then call `done` in the event loop.

        A game may have one change at a time in the queue.
        """
        with self._lock:
            if self._is_closing:
                raise StorageError("the server is going down: the move was not made")
            self._waiting.put((change, done))

    def close(self) -> None:
        """Write what waits, then end."""
        with self._lock:
            self._is_closing = True
            self._waiting.put(None)
        self._thread.join(_CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while batch := self._next_batch():
            began = time.perf_counter()
            faults = self._write([change for change, _ in batch])
            self._loop.call_soon_threadsafe(self._tell, batch, faults)
            if len(batch) >= _MANY_CHANGES:
                time.sleep(min(time.perf_counter() - began, _MAX_REST_S))

    def _tell(
        self, batch: Sequence[tuple[GameChange, Done]], faults: Sequence[StorageError | None]
    ) -> None:
        for (_, done), fault in zip(batch, faults, strict=True):
            done(fault)
        self._after([change for (change, _), fault in zip(batch, faults, strict=True) if not fault])

    def _next_batch(self) -> list[tuple[GameChange, Done]]:
        """Wait for a change, and return it with those that wait too; without one at the end."""
        batch = []
        each = self._waiting.get()
        with suppress(Empty):
            while each is not None:
                batch.append(each)
                if len(batch) == _MAX_CHANGES:
                    return batch
                each = self._waiting.get_nowait()
            self._waiting.put(None)  # the end comes after this batch
        return batch

    def _write(self, batch: Sequence[GameChange]) -> list[StorageError | None]:
        """Write changes together, or in halves if one of them cannot be kept: it fails alone."""
        try:
            stale = self._store.changes.write(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread must continue
            fault = error if isinstance(error, StorageError) else StorageError(repr(error))
            if len(batch) > 1 and not fault.kind:
                middle = len(batch) // 2
                return self._write(batch[:middle]) + self._write(batch[middle:])
            return [fault] * len(batch)
        late = StaleGameError("another process was faster")
        return [late if change.id in stale else None for change in batch]


class Notices:
    """Tells the other processes what is written here, and hears what they write.

    Args:
        store: a store on PostgreSQL.

    Attributes:
        fault: why nothing is heard now, None while all is well.
    """

    def __init__(self, store: Store) -> None:
        self.fault: str | None = None
        self._store = store
        self._revisions: dict[str, int] = {}
        self._is_wanted = asyncio.Event()

    def tell(self, game_id: str, revision: int) -> None:
        """Tell the others soon that a game is at a revision."""
        self._revisions[game_id] = revision
        self._is_wanted.set()

    async def run(self, hear: Callable[[Mapping[str, int]], None]) -> None:
        """Tell and hear until cancelled, or the store is closed.

        Args:
            hear: takes the revisions of games that some process has changed.
        """
        loop, telling = asyncio.get_running_loop(), asyncio.create_task(self._tell())
        try:
            while not self._store.is_closed:
                try:
                    await asyncio.to_thread(self._listen, loop, hear)
                except StorageError as error:
                    self._note(str(error))
                await asyncio.sleep(_RETRY_S)
        finally:
            telling.cancel()

    async def _tell(self) -> None:
        while await self._is_wanted.wait():
            await asyncio.sleep(_GATHER_S)
            self._is_wanted.clear()
            revisions, self._revisions = self._revisions, {}
            games = list(revisions.items())
            notices = [
                msgspec.json.encode(dict(games[first : first + _MAX_GAMES])).decode()
                for first in range(0, len(games), _MAX_GAMES)
            ]
            try:
                await asyncio.to_thread(self._store.notices.send, notices)
            except StorageError as error:
                _log.warning("notices were not sent", extra={"fault": str(error)})

    def _listen(
        self, loop: asyncio.AbstractEventLoop, hear: Callable[[Mapping[str, int]], None]
    ) -> None:
        """Listen until the connection is lost, in a thread.

        Raises:
            StorageError: when it is.
        """
        notices = self._store.notices.listen(_LISTEN_S)
        with suppress(RuntimeError):  # the loop is closed
            next(notices)
            loop.call_soon_threadsafe(self._note, None)
            for notice in filter(None, notices):  # of one's own, too, which tell nothing new
                revisions = msgspec.json.decode(notice, type=dict[str, int])
                loop.call_soon_threadsafe(hear, revisions)

    def _note(self, fault: str | None) -> None:
        """Note whether the others are heard, and log the change."""
        if fault and not self.fault:
            _log.error("other processes cannot be heard", extra={"fault": fault})
        elif self.fault and not fault:
            _log.info("other processes can be heard again")
        self.fault = fault
