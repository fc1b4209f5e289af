"""How much an address or an account may ask for in a while, and how much at the same time."""

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
from py2048.server.settings import Settings

_MAX_BUCKETS = 20_000
_MAX_WAIT_S = 2.0
"""How long a program's move that comes too soon is held back; beyond that it is refused."""

VERIFICATION_PRICE = 5.0
"""Tokens for each second of the processor that a verification takes."""

_T = TypeVar("_T")


@dataclass
class Buckets:
    """A bucket of tokens for each key, which fills steadily and is emptied by requests.

    Args:
        rate: tokens a second.
        burst: how many a full bucket holds; less than one would let nothing through.
        advice: what there are too many of when it is empty, and what to do, to be translated.
        clock: tells the seconds.
    """

    rate: float
    burst: float
    advice: str = ""
    clock: Callable[[], float] = time.monotonic
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        self.burst = max(1.0, self.burst)

    def wait(self, key: str) -> float:
        """Return the seconds until there is a token."""
        return max(0.0, (1 - self._level(key)) / self.rate)

    def take(self, key: str) -> float:
        """Take a token; return 0.0, or the seconds to wait if there is none."""
        wait = self.wait(key)
        if not wait:
            self.owe(key, 1)
        return wait

    def owe(self, key: str, tokens: float) -> None:
        """Take tokens, even such as are not there yet: the next waits for them. Or give some."""
        now = self.clock()
        self._levels[key] = (self._level(key) - tokens, now)
        self._levels.move_to_end(key)
        if len(self._levels) > _MAX_BUCKETS:  # under attack from very many addresses
            self._levels.popitem(last=False)

    def _level(self, key: str) -> float:
        now = self.clock()
        level, since = self._levels.get(key, (self.burst, now))
        return min(self.burst, level + (now - since) * self.rate)


@dataclass
class Slots:
    """Counts what each key holds at the same time, up to a limit.

    Args:
        max_each: how many one key may hold.
        max_in_all: how many all keys may hold together.
    """

    max_each: int
    max_in_all: int
    _held: Counter[str] = field(default_factory=Counter, init=False)

    @property
    def taken(self) -> int:
        """How many are held in all."""
        return self._held.total()

    @contextmanager
    def held(self, key: str) -> Iterator[bool]:
        """Hold one within the block, which is told whether there was one left."""
        is_free = self._held[key] < self.max_each and self.taken < self.max_in_all
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
        max_each: how many of one address may wait.
        max_in_all: how many may wait in all.

    Attributes:
        slots: who waits.
    """

    def __init__(self, at_once: int, max_each: int, max_in_all: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self.slots = Slots(max_each, max_in_all)

    async def do(self, who: str, call: Callable[..., _T], *args: object) -> _T:
        """Do something in a thread, in turn.

        Raises:
            ActionRejected: reason ``busy``, if too many wait already.
        """
        with self.slots.held(who) as is_free:
            if not is_free:
                raise ActionRejected(
                    "busy", _("too many ask for this just now: try again in a moment"), 2.0
                )
            async with self._free:
                return await asyncio.to_thread(call, *args)


class RateLimits:
    """All that is limited by rate.

    Args:
        settings: how the server is run.
        metrics: counts what came too fast.

    Attributes:
        buckets: for each limit by its name.
    """

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._limited = metrics.limited
        moves, requests = settings.moves_rate, settings.requests_rate
        day, crowd = 86_400, max(200.0, settings.sockets_per_address)
        self.buckets = {
            "moves": Buckets(moves, moves * 3, N_("too many moves: wait a moment")),
            # The moves of a second may come at once.
            "bot_moves": Buckets(settings.bot_moves_rate, settings.bot_moves_rate),
            "bots": Buckets(settings.bots_rate, settings.bots_rate),
            "requests": Buckets(requests, requests * 5),
            "files": Buckets(requests * 20, requests * 200),
            "passwords": Buckets(1.0, 60),  # a class signs in together
            "logins": Buckets(1 / 60, 5),  # wrong ones
            "new_games": Buckets(0.5, 20, N_("too many new games: wait a moment")),
            "new_games_from": Buckets(
                20.0, crowd, N_("too many new games from here: wait a moment")
            ),
            "new_dailies": Buckets(
                *(10 / day, 10),
                N_("too many new daily games from here: log in with a name from before today"),
            ),
            "known_dailies": Buckets(
                60 / day, 60, N_("too many new daily games from here: try again tomorrow")
            ),
            "hints": Buckets(2.0, 10, N_("too many hints: wait a moment")),
            "cards": Buckets(2.0, 40, N_("too many pictures: wait a moment")),
            "battles": Buckets(1.0, 20, N_("too many changes of battles: wait a moment")),
            "offline": Buckets(
                10_000, 200_000, N_("too many moves at once: wait a moment")
            ),  # times cells
            "reviews": Buckets(1 / 30, 5, N_("too many reviews: wait a minute")),
            "reviews_from": Buckets(0.5, 60, N_("too many reviews from here: wait a minute")),
            "verifications": Buckets(0.5, 20, N_("too many records to verify: wait a moment")),
            "replays": Buckets(4.0, 120, N_("too many turns: wait a moment")),
        }
        self.hashing, self.known_hashing = Queue(2, 40, 160), Queue(1, 20, 40)  # passwords
        # One at a time each, and not where games are opened: players feel little of either.
        self.verifying, self.replaying = Queue(1, 4, 8), Queue(1, 20, 60)
        self.plotting = Queue(1, 4, 60)
        self.sockets = Slots(settings.sockets_per_address, settings.sockets)

    def take(self, limit: str, key: str) -> float:
        """Count one for a key; return 0.0, or the seconds to wait if it is not granted."""
        if wait := self.buckets[limit].take(key):
            self._limited.inc()
        return wait

    def check(self, **keys: str) -> None:
        """Count one for a key of each limit that is named.

        Raises:
            ActionRejected: reason ``busy``, or ``rate`` of moves, if there are too many.
        """
        for limit, key in keys.items():
            if wait := self.take(limit, key):
                reason = "rate" if limit == "moves" else "busy"
                raise ActionRejected(reason, _(self.buckets[limit].advice), wait)

    async def pace(self, account: str, *, is_program: bool) -> None:
        """Hold a program back that moves too fast, which is not its thinking; refuse people who do.

        Raises:
            ActionRejected: reason ``rate``; a program's, if it would have to wait for long.
        """
        if not is_program:
            self.check(moves=account)
            return
        own, of_all = self.buckets["bot_moves"], self.buckets["bots"]
        wait = max(own.wait(account), of_all.wait(""))
        if wait > _MAX_WAIT_S:
            self._limited.inc()
            most = f"a program makes at most {own.rate:g} moves a second"
            raise ActionRejected("rate", f"too fast: {most}", wait)
        own.owe(account, 1)
        of_all.owe("", 1)
        await asyncio.sleep(wait)

    async def verify(self, address: str, call: Callable[..., _T], *args: object) -> _T:
        """Verify a record in turn; who sends long ones may send fewer.

        Raises:
            ActionRejected: reason ``busy``, if they come too fast, or too many wait.
        """
        self.check(verifications=address)
        answer, seconds = await self.verifying.do(address, lambda: _timed(call, *args))
        self.buckets["verifications"].owe(address, VERIFICATION_PRICE * seconds)
        return answer


def _timed(call: Callable[..., _T], *args: object) -> tuple[_T, float]:
    """Return what a call returns, and the seconds of the processor that it took."""
    began = time.thread_time()
    return call(*args), time.thread_time() - began
