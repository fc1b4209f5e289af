"""Rate limits, concurrency limits and queues, by address or account."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from py2048.core.language import N_, _
from py2048.server.http.monitoring import Metrics
from py2048.server.schema import ActionRejected
from py2048.server.settings import ServerSettings

_MAX_KEYS = 20_000
_MAX_DELAY_S = 2.0  # Maximum delay of a program's move; beyond, the move is rejected.
VERIFICATION_TOKENS_PER_CPU_S = 5.0

_T = TypeVar("_T")


@dataclass
class TokenBuckets:
    """A token bucket per key.

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
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        self.burst = max(1.0, self.burst)

    def wait_s(self, key: str) -> float:
        """Return the seconds until a token is available."""
        return max(0.0, (1 - self._level(key)) / self.rate)

    def take(self, key: str) -> float:
        """Take a token and return 0.0, or return the seconds until one is available."""
        wait_s = self.wait_s(key)
        if not wait_s:
            self.charge(key, 1)
        return wait_s

    def charge(self, key: str, tokens: float) -> None:
        """Remove tokens even below zero; later requests wait. Negative values refund tokens."""
        now = self.clock()
        self._levels[key] = (self._level(key) - tokens, now)
        self._levels.move_to_end(key)
        if len(self._levels) > _MAX_KEYS:  # only during a flood from very many addresses
            self._levels.popitem(last=False)

    def _level(self, key: str) -> float:
        now = self.clock()
        level, since = self._levels.get(key, (self.burst, now))
        return min(self.burst, level + (now - since) * self.rate)


@dataclass
class Slots:
    """Limits how many slots are in use at the same time, per key and in total.

    Args:
        max_each: Slots per key.
        max_total: Slots of all keys together.
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
        """Hold a slot within the block, which receives False if no slot is free."""
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


class WorkQueue:
    """Runs expensive calls in threads, with bounded concurrency and a bounded queue.

    Args:
        max_running: Calls that run at the same time.
        max_each: Calls per key, running or waiting.
        max_total: Calls of all keys together, running or waiting.

    Attributes:
        slots: Calls that are running or waiting.
    """

    def __init__(self, max_running: int, max_each: int, max_total: int) -> None:
        self._running = asyncio.Semaphore(max_running)
        self.slots = Slots(max_each, max_total)

    async def do(self, key: str, call: Callable[..., _T], *args: object) -> _T:
        """Run a call in a thread when its turn comes.

        Raises:
            ActionRejected: If the queue is full (``busy``).
        """
        with self.slots.held(key) as is_free:
            if not is_free:
                raise ActionRejected(
                    "busy", _("too many requests of this kind: try again in a moment"), 2.0
                )
            async with self._running:
                return await asyncio.to_thread(call, *args)


class RateLimits:
    """All rate limits and work queues of a server.

    Args:
        settings: How the server is run.
        metrics: Counts rejected requests.

    Attributes:
        buckets: Token buckets by the name of the limit.
    """

    def __init__(self, settings: ServerSettings, metrics: Metrics) -> None:
        self._limited = metrics.limited
        moves, requests = settings.moves_rate, settings.requests_rate
        day, crowd = 86_400, max(200.0, settings.sockets_per_address)
        self.buckets = {
            "moves": TokenBuckets(moves, moves * 3, N_("too many moves: wait a moment")),
            "bot_moves": TokenBuckets(settings.bot_moves_rate, settings.bot_moves_rate),
            "bots": TokenBuckets(settings.bots_rate, settings.bots_rate),
            "requests": TokenBuckets(requests, requests * 5),
            "files": TokenBuckets(requests * 20, requests * 200),
            "passwords": TokenBuckets(1.0, 60),  # enough for a class that signs in together
            "logins": TokenBuckets(1 / 60, 5),  # failed ones
            "new_games": TokenBuckets(0.5, 20, N_("too many new games: wait a moment")),
            "new_games_from": TokenBuckets(
                20.0, crowd, N_("too many new games from here: wait a moment")
            ),
            "new_dailies": TokenBuckets(
                *(10 / day, 10),
                N_("too many new daily games from here: log in with a name from before today"),
            ),
            "known_dailies": TokenBuckets(
                60 / day, 60, N_("too many new daily games from here: try again tomorrow")
            ),
            "hints": TokenBuckets(2.0, 10, N_("too many hints: wait a moment")),
            "cards": TokenBuckets(2.0, 40, N_("too many pictures: wait a moment")),
            "battles": TokenBuckets(1.0, 20, N_("too many battle actions: wait a moment")),
            "offline": TokenBuckets(  # charged for turns times cells
                10_000, 200_000, N_("too many moves at once: wait a moment")
            ),
            "reviews": TokenBuckets(1 / 30, 5, N_("too many reviews: wait a minute")),
            "reviews_from": TokenBuckets(0.5, 60, N_("too many reviews from here: wait a minute")),
            "verifications": TokenBuckets(0.5, 20, N_("too many records to verify: wait a moment")),
            "replays": TokenBuckets(4.0, 120, N_("too many turns: wait a moment")),
        }
        self.hashing, self.known_hashing = WorkQueue(2, 40, 160), WorkQueue(1, 20, 40)
        # These run one call at a time outside the game threads, to keep move latency low.
        self.verifying, self.replaying = WorkQueue(1, 4, 8), WorkQueue(1, 20, 60)
        self.plotting = WorkQueue(1, 4, 60)
        self.sockets = Slots(settings.sockets_per_address, settings.sockets)

    def take(self, limit: str, key: str) -> float:
        """Take a token and return 0.0, or return the seconds to wait."""
        if wait_s := self.buckets[limit].take(key):
            self._limited.inc()
        return wait_s

    def check(self, **keys: str) -> None:
        """Take a token from each named limit for its key.

        Raises:
            ActionRejected: If a limit is exceeded (``rate`` for moves, otherwise ``busy``).
        """
        for limit, key in keys.items():
            if wait_s := self.take(limit, key):
                reason = "rate" if limit == "moves" else "busy"
                raise ActionRejected(reason, _(self.buckets[limit].advice), wait_s)

    async def pace(self, account: str, *, is_program: bool) -> None:
        """Limit the rate of moves: delay programs that are too fast, reject people.

        The delay does not count as the program's thinking time.

        Raises:
            ActionRejected: If the limit is exceeded (``rate``); for programs, if the delay would
                be too long.
        """
        if not is_program:
            self.check(moves=account)
            return
        own, of_all = self.buckets["bot_moves"], self.buckets["bots"]
        wait_s = max(own.wait_s(account), of_all.wait_s(""))
        if wait_s > _MAX_DELAY_S:
            self._limited.inc()
            limit = f"a program makes at most {own.rate:g} moves a second"
            raise ActionRejected("rate", f"too fast: {limit}", wait_s)
        own.charge(account, 1)
        of_all.charge("", 1)
        await asyncio.sleep(wait_s)

    async def verify(self, address: str, call: Callable[..., _T], *args: object) -> _T:
        """Run a record's verification in the queue; its CPU time counts against the address.

        Raises:
            ActionRejected: If the limit is exceeded or the queue is full (``busy``).
        """
        self.check(verifications=address)
        result, cpu_s = await self.verifying.do(address, lambda: _timed(call, *args))
        self.buckets["verifications"].charge(address, VERIFICATION_TOKENS_PER_CPU_S * cpu_s)
        return result


def _timed(call: Callable[..., _T], *args: object) -> tuple[_T, float]:
    """Return a call's result and CPU time in seconds."""
    began = time.thread_time()
    return call(*args), time.thread_time() - began
