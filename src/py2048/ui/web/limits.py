"""Token buckets: how much an address or an account may ask for in a while."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_MOST_BUCKETS = 20_000


class Buckets:
    """A bucket of tokens for each key, which fills steadily and is emptied by requests.

    Args:
        rate: tokens a second.
        burst: how many a full bucket holds.
        clock: tells the seconds.
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, key: str, tokens: float = 1.0) -> float:
        """Take tokens; return 0.0, or the seconds to wait if there are not enough of them."""
        now = self._clock()
        level, since = self._levels.get(key, (self._burst, now))
        level = min(self._burst, level + (now - since) * self._rate)
        if level < tokens:
            return (tokens - level) / self._rate
        self._levels[key] = (level - tokens, now)
        if len(self._levels) > _MOST_BUCKETS:
            self._forget_full(now)
        return 0.0

    def _forget_full(self, now: float) -> None:
        """Drop the buckets that are full again: they are as good as new."""
        needed = self._burst / self._rate
        kept = {key: value for key, value in self._levels.items() if now - value[1] < needed}
        # Under attack from very many addresses memory comes first.
        self._levels = kept if len(kept) <= _MOST_BUCKETS else {}


class Seats:
    """Counts what each key holds at the same time, up to a limit.

    Args:
        most: how many one key may hold.
        most_in_all: how many all keys may hold together.
    """

    def __init__(self, most: int, most_in_all: int) -> None:
        self._most = most
        self._most_in_all = most_in_all
        self._held: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many are held in all."""
        return self._held.total()

    @contextmanager
    def held(self, key: str) -> Iterator[bool]:
        """Hold one within the block, which is told whether there was one left."""
        is_free = self._held[key] < self._most and self.taken < self._most_in_all
        if not is_free:
            yield False
            return
        self._held[key] += 1
        try:
            yield True
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
