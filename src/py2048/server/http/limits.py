"""How much an address or an account may ask for in a while, and how much at the same time."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from py2048.server.schema import ActionRejected
from py2048.server.settings import Settings

_MAX_BUCKETS = 20_000
VERIFICATION_PRICE = 5.0
"""Tokens for each second of the processor that a verification takes."""

_T = TypeVar("_T")


@dataclass
class Buckets:
    """A bucket of tokens for each key, which fills steadily and is emptied by requests.

    Args:
        rate: tokens a second.
        burst: how many a full bucket holds; less than one would let nothing through.
        clock: tells the seconds.
    """

    rate: float
    burst: float
    clock: Callable[[], float] = time.monotonic
    _levels: dict[str, tuple[float, float]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.burst = max(1.0, self.burst)

    def take(self, key: str) -> float:
        """Take a token; return 0.0, or the seconds to wait if there is none."""
        now = self.clock()
        level, since = self._levels.get(key, (self.burst, now))
        level = min(self.burst, level + (now - since) * self.rate)
        if level < 1:
            return (1 - level) / self.rate
        self._levels[key] = (level - 1, now)
        if len(self._levels) > _MAX_BUCKETS:
            self.forget_full(now)
        return 0.0

    def __len__(self) -> int:
        """Return how many buckets are remembered."""
        return len(self._levels)

    def owe(self, key: str, tokens: float) -> None:
        """Take tokens that need not be there yet, after `take`: the next one waits for them."""
        level, since = self._levels.get(key, (self.burst, self.clock()))
        self._levels[key] = (level - tokens, since)

    def forget_full(self, now: float) -> None:
        """Drop the buckets that are full again at a time: they are as good as new."""
        kept = {
            key: (level, since)
            for key, (level, since) in self._levels.items()
            if level + (now - since) * self.rate < self.burst
        }
        # Under attack from very many addresses memory comes first.
        self._levels = kept if len(kept) <= _MAX_BUCKETS else {}


@dataclass
class Backoff:
    """Delays that double with each failure in a row, for each key.

    Args:
        free: so many failures cost nothing; the next has to wait.
        first: the first delay in seconds.
        longest: the longest delay.
        clock: tells the seconds.
    """

    free: int = 5
    first: float = 10.0
    longest: float = 900.0
    clock: Callable[[], float] = time.monotonic
    _failures: OrderedDict[str, tuple[int, float]] = field(default_factory=OrderedDict, init=False)

    def attempt(self, key: str) -> float:
        """Count an attempt as failed until it is forgiven; return 0.0, or the seconds to wait.

        An attempt that has to wait is not counted.
        """
        now = self.clock()
        failures, until = self._failures.get(key, (0, 0.0))
        if now < until:
            return until - now
        if now > until + self.longest:  # long ago
            failures = 0
        beyond = failures + 1 - self.free
        delay = 0.0 if beyond < 0 else min(self.first * 2.0**beyond, self.longest)
        self._failures[key] = (failures + 1, now + delay)
        self._failures.move_to_end(key)
        if len(self._failures) > _MAX_BUCKETS:
            self._failures.popitem(last=False)
        return 0.0

    def forgive(self, key: str) -> None:
        """Forget the failures: the last attempt was none."""
        self._failures.pop(key, None)


@dataclass
class Slots:
    """Counts what each key holds at the same time, up to a limit.

    Args:
        most: how many one key may hold.
        most_in_all: how many all keys may hold together.
    """

    most: int
    most_in_all: int
    _held: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def taken(self) -> int:
        """How many are held in all."""
        return self._held.total()

    @contextmanager
    def held(self, key: str) -> Iterator[bool]:
        """Hold one within the block, which is told whether there was one left."""
        is_free = self._held[key] < self.most and self.taken < self.most_in_all
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


class Queue:
    """Expensive work that waits for the processor: a little at a time, a bounded number in all.

    Args:
        at_once: how many are served at the same time.
        most_each: how many of one address may wait.
        most: how many may wait in all.

    Attributes:
        slots: who waits.
    """

    def __init__(self, at_once: int, most_each: int, most: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self.slots = Slots(most_each, most)

    async def do(self, who: str, call: Callable[..., _T], *args: object) -> _T:
        """Do something in a thread, in turn.

        Raises:
            ActionRejected: reason ``busy``, if too many wait already.
        """
        with self.slots.held(who) as is_free:
            if not is_free:
                raise ActionRejected(
                    "busy", "too many ask for this just now: try again in a moment", 2.0
                )
            async with self._free:
                return await asyncio.to_thread(call, *args)


class RateLimits:
    """All that is limited by rate.

    Args:
        settings: how the server is run.
    """

    def __init__(self, settings: Settings) -> None:
        self.moves = Buckets(settings.moves_rate, settings.moves_rate * 3)
        self.requests = Buckets(settings.requests_rate, settings.requests_rate * 5)
        self.files = Buckets(settings.requests_rate * 20, settings.requests_rate * 200)
        self.logins = Backoff()
        self.password_addresses = Buckets(1.0, 60)  # a class signs in together
        self.new_games = Buckets(0.5, 20)
        self.new_games_from = Buckets(20.0, max(200.0, settings.sockets_per_address))
        self.hints = Buckets(2.0, 10)
        self.cards = Buckets(2.0, 40)
        self.battles = Buckets(1.0, 20)
        self.offline = Buckets(10_000, 200_000)  # turns played offline, times cells
        self.dailies = {False: Buckets(10 / 86_400, 10), True: Buckets(60 / 86_400, 60)}
        self.reviews = Buckets(1 / 30, 5)
        self.reviews_from = Buckets(0.5, 60)
        self.verifications = Buckets(0.5, 20)
        self.replays = Buckets(4.0, 120)
        # One at a time each, and not where games are opened: players feel little of either.
        self.verifying, self.replaying = Queue(1, 4, 8), Queue(1, 20, 60)
        self.plotting = Queue(1, 4, 60)
        self.sockets = Slots(settings.sockets_per_address, settings.sockets)

    def check_new_game(self, account: str, address: str) -> None:
        """Reject new games that come too fast.

        Raises:
            ActionRejected: reason ``busy``.
        """
        if wait := self.new_games.take(account) or self.new_games_from.take(address):
            raise ActionRejected("busy", "too many new games: wait a moment", wait)

    def check_hint(self, account: str) -> None:
        """Reject hints that come too fast.

        Raises:
            ActionRejected: reason ``busy``.
        """
        if self.hints.take(account):
            raise ActionRejected("busy", "too many hints: wait a moment")

    def check_offline(self, address: str, cost: int) -> None:
        """Reject turns played offline that come too fast: each is played again here.

        Args:
            address: where they come from.
            cost: how many turns there are, times the cells of the board.

        Raises:
            ActionRejected: reason ``busy``.
        """
        if wait := self.offline.take(address):
            raise ActionRejected("busy", "too many moves at once: wait a moment", wait)
        self.offline.owe(address, cost)

    def check_daily(self, address: str, *, is_known: bool) -> None:
        """Reject daily games that begin too often: who plays many knows the tiles to come.

        Args:
            address: where the player comes from.
            is_known: whether the player has a name and an account from before today.

        Raises:
            ActionRejected: reason ``busy``.
        """
        if wait := self.dailies[is_known].take(address):
            advice = "try again tomorrow" if is_known else "log in with a name from before today"
            raise ActionRejected("busy", f"too many new daily games from here: {advice}", wait)

    def check_review(self, account: str, address: str) -> None:
        """Reject requests for reviews that come too fast.

        Raises:
            ActionRejected: reason ``busy``.
        """
        if self.reviews.take(account) or self.reviews_from.take(address):
            raise ActionRejected("busy", "too many reviews: wait a minute")

    async def verify(self, address: str, call: Callable[..., _T], *args: object) -> _T:
        """Verify a record in turn; who sends long ones may send fewer.

        Raises:
            ActionRejected: reason ``busy``, if they come too fast, or too many wait.
        """
        if wait := self.verifications.take(address):
            raise ActionRejected("busy", "too many records to verify: wait a moment", wait)
        answer, seconds = await self.verifying.do(address, lambda: _timed(call, *args))
        self.verifications.owe(address, VERIFICATION_PRICE * seconds)
        return answer

    def check_replay(self, address: str) -> None:
        """Reject requests for turns that come too fast: each replays a game up to there.

        Raises:
            ActionRejected: reason ``busy``.
        """
        if wait := self.replays.take(address):
            raise ActionRejected("busy", "too many turns: wait a moment", wait)


def _timed(call: Callable[..., _T], *args: object) -> tuple[_T, float]:
    """Return what a call returns, and the seconds of the processor that it took."""
    began = time.thread_time()
    return call(*args), time.thread_time() - began
