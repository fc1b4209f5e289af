"""Rate limits and concurrency limits, by address or account."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil, inf

from py2048.core.language import N_, _
from py2048.server.bounds import MAX_KEYS
from py2048.server.cache import Latest
from py2048.server.http.monitoring import Metrics
from py2048.server.schema import ActionRejected
from py2048.server.settings import ServerSettings

_MAX_DELAY_S = 2.0  # Programs that would have to wait longer get an error.


@dataclass
class TokenBuckets:
    """Token buckets by key. A bucket is stored as the time when it will be full again.

    Args:
        rate: Tokens refilled per second.
        burst: Capacity of a bucket, at least 1.
        advice: Translatable message for users who exceed the limit.
        clock: Monotonic clock in seconds.
    """

    rate: float
    burst: float
    advice: str = ""
    clock: Callable[[], float] = time.monotonic
    _full: Latest[str, float] = field(default_factory=lambda: Latest(MAX_KEYS), init=False)

    def __post_init__(self) -> None:
        self.burst = max(1.0, self.burst)

    def start(self, key: str) -> float:
        """Return when the key's bucket will be full, or the current time if it is full."""
        return max(self._full.get(key, -inf), self.clock())

    def wait_s(self, key: str) -> float:
        """Return the seconds until a token is available."""
        return max(0.0, self._full.get(key, -inf) - self.clock() - (self.burst - 1) / self.rate)

    def take(self, key: str) -> float:
        """Take a token and return 0.0, or return the seconds until one is available."""
        now = self.clock()
        full = max(self._full.get(key, now), now)
        wait_s = full - now - (self.burst - 1) / self.rate
        if wait_s > 0:
            return wait_s
        self._full[key] = full + 1 / self.rate
        return 0.0

    def charge(self, key: str, tokens: float) -> None:
        """Remove tokens, or refund them if `tokens` is negative. The balance can be negative."""
        self._full[key] = self.start(key) + tokens / self.rate


@dataclass
class Slots:
    """Limits how many slots are in use at the same time, per key and in total.

    Args:
        max_each: Slots per key.
        max_total: Slots for all keys together.
    """

    max_each: int
    max_total: int
    _held: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def taken(self) -> int:
        """Number of slots in use."""
        return self._held.total()

    @contextmanager
    def held(self, key: str) -> Iterator[bool]:
        """Hold a slot within the block. Yields whether a slot was free."""
        is_free = self._held[key] < self.max_each and self.taken < self.max_total
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


class RateLimits:
    """The rate limits of a server. `Admission` limits requests that cost processor time.

    Args:
        settings: How the server is run.
        metrics: Counts rejected requests.

    Attributes:
        buckets: Token buckets by the name of the limit.
    """

    def __init__(self, settings: ServerSettings, metrics: Metrics) -> None:
        self._limited = metrics.limited
        moves, requests, day = settings.moves_rate, settings.requests_rate, 86_400
        attempts = N_("Too many attempts: wait {n} seconds.")
        log_in = N_("too many new daily games: log in with an account created before today")
        tomorrow = N_("too many new daily games: try again tomorrow")
        rate_burst_advice: dict[str, tuple[float, float, str]] = {
            "moves": (moves, moves * 3, N_("too many moves: wait a moment")),
            "bot_moves": (settings.bot_moves_rate, settings.bot_moves_rate, ""),
            "bots": (settings.bots_rate, settings.bots_rate, ""),
            "requests": (requests, requests * 5, ""),
            "files": (requests * 20, requests * 200, ""),
            # The burst lets a school class log in at once.
            "passwords": (1.0, 60, attempts),
            "logins": (1 / 60, 5, attempts),
            "new_games": (0.5, 20, N_("too many new games: wait a moment")),
            "new_dailies": (10 / day, 10, log_in),
            "known_dailies": (60 / day, 60, tomorrow),
        }
        self.buckets = {name: TokenBuckets(*how) for name, how in rate_burst_advice.items()}
        self.sockets = Slots(settings.sockets_per_address, settings.sockets)
        metrics.gauge("py2048_sockets", "Connected players", lambda: self.sockets.taken)
        most = "Most connected players"
        metrics.gauge("py2048_sockets_limit", most, lambda: self.sockets.max_total)

    def take(self, limit: str, key: str) -> float:
        """Take a token and return 0.0, or return the seconds to wait."""
        if wait_s := self.buckets[limit].take(key):
            self._limited.labels(limit).inc()
        return wait_s

    def check(self, limit: str, key: str) -> None:
        """Take a token.

        Raises:
            ActionRejected: If the limit is exceeded (``rate`` for moves, otherwise ``busy``).
        """
        if wait_s := self.take(limit, key):
            reason = "rate" if limit == "moves" else "busy"
            text = _(self.buckets[limit].advice).format(n=ceil(wait_s))
            raise ActionRejected(reason, text, wait_s)

    async def pace(self, account: str, *, is_program: bool) -> None:
        """Limit the rate of moves: delay moves by programs, and reject moves by people.

        The delay does not count as the program's thinking time.

        Raises:
            ActionRejected: If the limit is exceeded (``rate``); for programs, if the delay would
                be too long.
        """
        if not is_program:
            self.check("moves", account)
            return
        own, of_all = self.buckets["bot_moves"], self.buckets["bots"]
        wait_s = max(own.wait_s(account), of_all.wait_s(""))
        if wait_s > _MAX_DELAY_S:
            self._limited.labels("bot_moves").inc()
            limit = f"a program makes at most {own.rate:g} moves a second"
            raise ActionRejected("rate", f"too fast: {limit}", wait_s)
        own.charge(account, 1)
        of_all.charge("", 1)
        await asyncio.sleep(wait_s)
