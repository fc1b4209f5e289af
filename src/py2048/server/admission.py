"""Admission of expensive requests: prices in processor time, fair queueing, worker processes.

Each kind of expensive request (a *door*) has a price in processor seconds, which follows the
measured times. A request is charged to the caller's address and account when it arrives, and the
charge is corrected when the request is done.

A free worker takes the next request from the address with the earliest virtual clock (Lixia Zhang,
*Virtual Clock: A New Traffic Control Algorithm for Packet Switching Networks*, SIGCOMM 1990), and
within this address from the account with the earliest virtual clock. Each request first sets both
clocks to the current time if they are behind, and then advances them by its price divided by
`SHARE`. If an address exceeds its share, its requests wait behind those of all others, no matter
how many accounts it has.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from math import ceil
from typing import NamedTuple, TypeVar

from py2048.core.language import _
from py2048.server.http.limits import TokenBuckets
from py2048.server.http.monitoring import Metrics
from py2048.server.schema import ActionRejected
from py2048.server.workers import Outcome, Worker, timed

T = TypeVar("T")

WORKERS = 2
RATE, BURST_S = 0.75, 300.0  # CPU seconds that an address earns per second, and can save up.
SHARE = 0.05  # CPU seconds that each address can use per second at full priority.
MAX_WAIT_S = 5.0  # A request is rejected if it would wait longer than this for a worker.
MIN_PRICE_S = 0.005  # Covers the server process's own work for a request.
HERE_FACTORS = {"battle": 10, "game": 10, "offline": 100, "open": 10, "puzzle": 10}
"""Charge multipliers for requests that run in threads of the server process. Threads slow down
moves, so these requests cost more than requests in worker processes."""

_LEARNING_RATE = 0.05

PRICES_S = {
    "autoplay": 0.01,
    "hint": 0.1,
    "list": 0.02,
    "password": 0.1,
    "picture": 0.1,
    "plots": 0.05,
    "review": 0.02,
    "turns": 0.02,
    "verification": 0.2,
    **dict.fromkeys(HERE_FACTORS, MIN_PRICE_S),
}
"""Initial price of each kind of request in processor seconds. Measurements adjust these prices."""


class Caller(NamedTuple):
    """The client that is charged.

    Attributes:
        address: Network address (see `address_of`).
        account: The account.
        is_known: Whether the caller has priority over unknown callers.
    """

    address: str
    account: str
    is_known: bool = False


SERVER = Caller("server", "")
"""Caller that is charged for work that no user requested."""


class Request(NamedTuple):
    """A request that is running or waiting for a worker.

    Attributes:
        caller: The client that is charged.
        price_s: Expected processor time.
        start: Called with the request when its turn comes.
    """

    caller: Caller
    price_s: float
    start: Callable[[Request], object]


class FairQueue:
    """A queue that shares time fairly between addresses, then between an address's accounts.

    At most half of the running requests can come from one address.

    Args:
        places: Maximum number of requests that run at the same time.
        clock: Monotonic clock in seconds.
    """

    def __init__(self, places: int = WORKERS, clock: Callable[[], float] = time.monotonic) -> None:
        self._places, self._places_each = places, max(1, places // 2)
        self._budgets = TokenBuckets(RATE, BURST_S, clock=clock)
        self._clocks = TokenBuckets(SHARE, 1.0, clock=clock)
        self._waiting: list[Request] = []
        self._running = Counter[str]()

    def __len__(self) -> int:
        return len(self._waiting)

    def wait_s(self, caller: Caller) -> float:
        """Return the seconds until the caller's address may use processor time, or 0.0."""
        return self._budgets.wait_s(caller.address)

    def charge(self, caller: Caller, seconds: float) -> None:
        """Charge processor time, or refund it if `seconds` is negative."""
        self._budgets.charge(caller.address, seconds)
        for key in caller[:2]:
            self._clocks.charge(key, seconds)

    def add(self, request: Request) -> float:
        """Add a request and return 0.0, or return the seconds to wait before it can be added."""
        backlogs = defaultdict[str, float](float)
        for each in self._waiting:
            backlogs[each.caller.address] += each.price_s
        own = backlogs.pop(request.caller.address, 0.0)
        # Fair queueing lets no other address use more than `most` before this request runs.
        most = own + request.price_s
        ahead = own + sum(min(most, each) for each in backlogs.values())
        wait_s = max(own / self._places_each, ahead / self._places) - MAX_WAIT_S
        wait_s = max(wait_s, self.wait_s(request.caller), 0.0)
        if not wait_s:
            self._waiting.append(request)
            self._run()
        return wait_s

    def end(self, request: Request, seconds: float) -> None:
        """Mark a request as finished, and adjust the request's charge to the measured time."""
        self.charge(request.caller, seconds - request.price_s)
        self._running[request.caller.address] -= 1
        self._running += Counter()  # drops zeros
        self._run()

    def _run(self) -> None:
        """Start waiting requests while places are free."""
        running, most = self._running, self._places_each
        while running.total() < self._places:
            ready = [each for each in self._waiting if running[each.caller.address] < most]
            if not ready:
                return
            chosen = min(ready, key=self._turn)
            self._waiting.remove(chosen)
            running[chosen.caller.address] += 1
            self.charge(chosen.caller, chosen.price_s)
            chosen.start(chosen)

    def _turn(self, request: Request) -> tuple[float, ...]:
        caller = request.caller
        return not caller.is_known, *(self._clocks.start(key) for key in caller[:2])


class Admission:
    """Decides when expensive requests may run, and runs most of them in worker processes.

    Args:
        metrics: Records the number of rejected requests, and the processor time by kind of request.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._queue = FairQueue()
        self._prices_s = dict(PRICES_S)
        self._workers = [Worker() for _ in range(WORKERS)]
        self._idle = list(self._workers)
        metrics.gauge("py2048_waiting", "Requests that wait for a worker", lambda: len(self._queue))

    async def do_here(self, door: str, caller: Caller, call: Callable[..., T], *args: object) -> T:
        """Run a call in a thread of the server's own process, without a queue.

        Raises:
            ActionRejected: If the address has used up its processor time (``busy``).
        """
        self._check(door, self._queue.wait_s(caller))
        price_s, factor = self._prices_s[door], HERE_FACTORS[door]
        self._queue.charge(caller, factor * price_s)
        outcome = await asyncio.to_thread(timed, call, *args)
        self._queue.charge(caller, factor * (self._measured(door, outcome) - price_s))
        found: T = outcome.value()
        return found

    async def do(self, door: str, caller: Caller, call: Callable[..., T], *args: object) -> T:
        """Run a call in a worker process when it is the caller's turn.

        Args:
            door: The kind of request. Must be in `PRICES_S`.
            caller: Who is charged.
            call: A picklable function.
            args: The function's arguments, which must be picklable.

        Raises:
            ActionRejected: If the address has used up its processor time, too many requests wait,
                or the worker dies (``busy``).
        """
        turn = asyncio.get_running_loop().create_future()
        request = Request(caller, self._prices_s[door], turn.set_result)
        self._check(door, self._queue.add(request))
        # Shielded, because the worker stays busy even if the caller is cancelled.
        running = asyncio.create_task(self._run(door, turn, call, *args))
        found: T = (await asyncio.shield(running)).value()
        return found

    def close(self) -> None:
        """Stop the workers."""
        for worker in self._workers:
            worker.close()

    def _check(self, door: str, wait_s: float) -> None:
        if wait_s:
            self._metrics.limited.labels(door).inc()
            text = _("the server is busy: try again in {n} s").format(n=ceil(wait_s))
            raise ActionRejected("busy", text, wait_s)

    async def _run(
        self, door: str, turn: asyncio.Future[Request], call: Callable[..., object], *args: object
    ) -> Outcome:
        request, worker = await turn, self._idle.pop()
        try:
            outcome = await asyncio.to_thread(worker.run, call, *args)
        except (EOFError, OSError):  # the worker died, or took too long
            text = _("the server could not finish this: try again")
            outcome = Outcome(None, ActionRejected("busy", text, 1.0), request.price_s)
        except Exception as error:  # noqa: BLE001 - raised in the caller
            outcome = Outcome(None, error, request.price_s)
        self._idle.append(worker)
        self._queue.end(request, self._measured(door, outcome))
        return outcome

    def _measured(self, door: str, outcome: Outcome) -> float:
        """Update the price for this kind of request; return the processor time to charge."""
        self._metrics.door_seconds.labels(door).observe(outcome.seconds)
        seconds = max(outcome.seconds, MIN_PRICE_S)
        self._prices_s[door] += _LEARNING_RATE * (seconds - self._prices_s[door])
        return seconds
