"""Rate limits, concurrency limits and queues, by address or account."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

from py2048.core.language import N_, _
from py2048.server.http.monitoring import Metrics
from py2048.server.schema import ActionRejected
from py2048.server.settings import ServerSettings

_MAX_KEYS = 20_000
_MAX_DELAY_S = 2.0  # A program that would have to wait longer gets an error.
VERIFICATION_TOKENS_PER_CPU_S = 5.0

_T = TypeVar("_T")


@dataclass
class TokenBuckets:
    """A token bucket per key, kept as the time at which the bucket will be full again.

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
    _full: OrderedDict[str, float] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        self.burst = max(1.0, self.burst)

    def wait_s(self, key: str) -> float:
        """Return the seconds until a token is available."""
        return max(0.0, self._full.get(key, -inf) - self.clock() - (self.burst - 1) / self.rate)

    def take(self, key: str) -> float:
        """Take a token and return 0.0, or return the seconds until one is available."""
        wait_s = self.wait_s(key)
        if not wait_s:
            self.charge(key, 1)
        return wait_s

    def charge(self, key: str, tokens: float) -> None:
        """Remove tokens, even below zero, or refund them if `tokens` is negative."""
        full = max(self._full.get(key, -inf), self.clock())
        self._full[key] = full + tokens / self.rate
        self._full.move_to_end(key)
        if len(self._full) > _MAX_KEYS:  # only during a flood from very many addresses
            self._full.popitem(last=False)


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
        slots: One slot for each call that is running or waiting.
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
                text = _("too many requests of this kind: try again in a moment")
                raise ActionRejected("busy", text, 2.0)
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
        moves, requests, day = settings.moves_rate, settings.requests_rate, 86_400
        crowd = max(200.0, settings.sockets_per_address)
        log_in = N_("too many new daily games from here: log in with a name from before today")
        tomorrow = N_("too many new daily games from here: try again tomorrow")
        rate_burst_advice: dict[str, tuple[float, float, str]] = {
            "moves": (moves, moves * 3, N_("too many moves: wait a moment")),
            "bot_moves": (settings.bot_moves_rate, settings.bot_moves_rate, ""),
            "bots": (settings.bots_rate, settings.bots_rate, ""),
            "requests": (requests, requests * 5, ""),
            "files": (requests * 20, requests * 200, ""),
            "passwords": (1.0, 60, ""),  # enough for a class that signs in together
            "logins": (1 / 60, 5, ""),  # failed logins
            "new_games": (0.5, 20, N_("too many new games: wait a moment")),
            "new_games_from": (20.0, crowd, N_("too many new games from here: wait a moment")),
            "new_dailies": (10 / day, 10, log_in),
            "known_dailies": (60 / day, 60, tomorrow),
            "hints": (2.0, 10, N_("too many hints: wait a moment")),
            "cards": (2.0, 40, N_("too many pictures: wait a moment")),
            "battles": (1.0, 20, N_("too many battle actions: wait a moment")),
            "puzzles": (1.0, 60, N_("too many answers to puzzles: wait a moment")),
            # Charged for turns times cells.
            "offline": (10_000, 200_000, N_("too many moves at once: wait a moment")),
            "reviews": (1 / 30, 5, N_("too many reviews: wait a minute")),
            "reviews_from": (0.5, 60, N_("too many reviews from here: wait a minute")),
            "verifications": (0.5, 20, N_("too many records to verify: wait a moment")),
            "replays": (4.0, 120, N_("too many turns: wait a moment")),
        }
        self.buckets = {name: TokenBuckets(*how) for name, how in rate_burst_advice.items()}
        self.hashing, self.known_hashing = WorkQueue(2, 40, 160), WorkQueue(1, 20, 40)
        # These queues run one call at a time outside the game threads, to keep move latency low.
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
        """Limit the rate of moves: delay programs' moves, reject people's.

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
