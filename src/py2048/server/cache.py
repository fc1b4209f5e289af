"""Short-lived caches, with a bounded number of entries."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class Latest(OrderedDict[_K, _V], Generic[_K, _V]):
    """A dictionary that keeps only the most recently set entries.

    Args:
        most: Maximum number of entries.
    """

    def __init__(self, most: int = 1 << 62) -> None:  # unpickling sets `most` afterwards
        super().__init__()
        self.most = most

    def __setitem__(self, key: _K, value: _V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self.most:
            self.popitem(last=False)


class TimedCache:
    """Caches results for some seconds.

    Args:
        ttl_s: Lifetime of a result, in seconds.
        most: Maximum number of results; the oldest are dropped first.
        clock: Monotonic clock in seconds.
    """

    def __init__(
        self, ttl_s: float, most: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ttl_s = ttl_s
        self._clock = clock
        self._entries = Latest[object, tuple[float, Any]](most)

    def find(self, key: object) -> Any:
        """Return the result for a key, or None if the result is missing or expired."""
        since, found = self._entries.get(key, (0.0, None))
        return found if found and self._clock() - since <= self._ttl_s else None

    def add(self, key: object, result: object) -> None:
        """Cache a result."""
        self._entries[key] = self._clock(), result

    async def get(self, key: object, compute: Callable[[], Awaitable[Any]]) -> Any:
        """Return the cached result for `key`; call `compute` if no current result is cached.

        Concurrent callers await the same computation. Exceptions are raised in all waiting callers,
        but are not cached.
        """
        _since, latest = self._entries.get(key, (0.0, None))
        found = latest if latest and not latest.done() else self.find(key)
        if found is None or (found.done() and found.exception()):
            found = asyncio.ensure_future(compute())
            self.add(key, found)
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Drop all results."""
        self._entries.clear()
