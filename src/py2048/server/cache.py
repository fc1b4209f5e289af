"""A short-lived cache for results shared by many callers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from py2048.core.language import language

_MAX_ENTRIES = 256


class TimedCache:
    """Caches results of coroutines per key and language.

    Concurrent callers await the same computation. Exceptions are raised in every waiting caller,
    but not cached.

    Args:
        ttl_s: Lifetime of a result, in seconds.
        clock: Monotonic clock in seconds.
    """

    def __init__(self, ttl_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl_s = ttl_s
        self._clock = clock
        self._entries: dict[object, tuple[float, asyncio.Future[Any]]] = {}

    async def get(self, key: object, compute: Callable[[], Awaitable[Any]]) -> Any:
        """Return the cached result for `key`, calling `compute` if it is missing or expired."""
        now, key = self._clock(), (key, language())
        since, found = self._entries.get(key, (0.0, None))
        is_done = found is not None and found.done()
        if found is None or (is_done and (now - since > self._ttl_s or found.exception())):
            if len(self._entries) >= _MAX_ENTRIES:
                self._entries.clear()
            found = asyncio.ensure_future(compute())
            self._entries[key] = now, found
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Drop all results."""
        self._entries.clear()
