"""Group commit: a thread that writes moves and new games of many players in one transaction."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from py2048.errors import StorageError
from py2048.storage import GameChange, NewOnlineGame

if TYPE_CHECKING:
    from py2048.storage import Store


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


_CROWD = 8
"""After so many changes in one transaction the thread rests for as long as that took.

More of them gather meanwhile: with half the transactions the server has time for more moves.
"""

_LONGEST_REST = 0.02

Listener = Callable[[Sequence[CommitResult]], None]


class GroupCommit:
    """Writes changes in the order in which they come, all that wait in one transaction.

    A change that the store cannot keep fails alone. When the store as a whole cannot be written,
    all that wait fail at once.

    Args:
        store: where to.
        done: is called in the thread after each transaction.
        origin: the name of this process in notices to others.
        most: at most so many changes in one transaction.
    """

    def __init__(self, store: Store, done: Listener, *, origin: str = "", most: int = 512) -> None:
        self._store = store
        self._done = done
        self._origin = origin
        self._most = most
        self._waiting: list[Change] = []
        self._condition = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="py2048-commit", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """How many changes wait."""
        return len(self._waiting)

    def submit(self, change: Change) -> None:
        """Write `change` soon. A game may have one change at a time in the queue."""
        with self._condition:
            if self._closing:
                raise StorageError("the server is going down: the move was not made")
            self._waiting.append(change)
            self._condition.notify()

    def close(self, patience: float = 30.0) -> None:
        """Write what waits, then end."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join(patience)

    def _run(self) -> None:
        while batch := self._next_batch():
            began = time.perf_counter()
            self._done(self._write(batch))
            if len(batch) >= _CROWD:
                time.sleep(min(time.perf_counter() - began, _LONGEST_REST))

    def _next_batch(self) -> list[Change]:
        with self._condition:
            self._condition.wait_for(lambda: self._waiting or self._closing)
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        return batch

    def _write(self, batch: Sequence[Change]) -> list[CommitResult]:
        """Write changes together, or in halves if one of them cannot be kept: it fails alone."""
        try:
            stale = self._store.changes.write(batch, self._origin)
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread must continue
            fault = error if isinstance(error, StorageError) else StorageError(repr(error))
            if len(batch) > 1 and not fault.kind:
                middle = len(batch) // 2
                return self._write(batch[:middle]) + self._write(batch[middle:])
            return [CommitResult(change, error=fault) for change in batch]
        return [CommitResult(change, change.id in stale) for change in batch]
