"""Many games' changes in one transaction: what makes a durable move cheap."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from py2048.errors import StorageError
from py2048.storage import GameChange, NewOnlineGame

if TYPE_CHECKING:
    from py2048.storage import Store

_MAX_CHANGES = 512
"""In one transaction."""

_CROWD = 8
"""After this many changes in one transaction the thread rests for as long as that took.

More of them gather meanwhile: with half the transactions the server has time for more moves.
"""

_MAX_REST_S = 0.02
_CLOSE_TIMEOUT_S = 30.0

Change = GameChange | NewOnlineGame
"""What happened in a game, or the game itself when it begins."""


@dataclass(frozen=True, slots=True)
class CommitResult:
    """Whether a change was written.

    Attributes:
        change: the change.
        is_stale: another process was faster: nothing of it was written.
        error: why it could not be written, None if it could.
    """

    change: Change
    is_stale: bool = False
    error: StorageError | None = None


class GroupCommit:
    """Writes changes in the order in which they come, all that wait in one transaction.

    A change that the store cannot keep fails alone. When the store as a whole cannot be written,
    all that wait fail at once.

    Args:
        store: where to.
        done: is called in the thread after each transaction.
    """

    def __init__(self, store: Store, done: Callable[[Sequence[CommitResult]], None]) -> None:
        self._store = store
        self._done = done
        self._waiting: SimpleQueue[Change | None] = SimpleQueue()  # None ends the thread
        self._is_closing = False
        self._lock = threading.Lock()  # nothing comes after the end
        self._thread = threading.Thread(target=self._run, name="py2048-commit", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """How many changes wait."""
        return self._waiting.qsize()

    def submit(self, change: Change) -> None:
        """Write `change` soon. A game may have one change at a time in the queue."""
        with self._lock:
            if self._is_closing:
                raise StorageError("the server is going down: the move was not made")
            self._waiting.put(change)

    def close(self) -> None:
        """Write what waits, then end."""
        with self._lock:
            self._is_closing = True
            self._waiting.put(None)
        self._thread.join(_CLOSE_TIMEOUT_S)

    def _run(self) -> None:
        while batch := self._next_batch():
            began = time.perf_counter()
            self._done(self._write(batch))
            if len(batch) >= _CROWD:
                time.sleep(min(time.perf_counter() - began, _MAX_REST_S))

    def _next_batch(self) -> list[Change]:
        """Wait for a change, and return it with those that wait too; without one at the end."""
        batch = []
        change = self._waiting.get()
        with suppress(Empty):
            while change is not None:
                batch.append(change)
                if len(batch) == _MAX_CHANGES:
                    return batch
                change = self._waiting.get_nowait()
            self._waiting.put(None)  # the end comes after this batch
        return batch

    def _write(self, batch: Sequence[Change]) -> list[CommitResult]:
        """Write changes together, or in halves if one of them cannot be kept: it fails alone."""
        try:
            stale = self._store.changes.write(batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread must continue
            fault = error if isinstance(error, StorageError) else StorageError(repr(error))
            if len(batch) > 1 and not fault.kind:
                middle = len(batch) // 2
                return self._write(batch[:middle]) + self._write(batch[middle:])
            return [CommitResult(change, error=fault) for change in batch]
        return [CommitResult(change, change.id in stale) for change in batch]
