"""Expensive requests: prices, the fair queue in simulated time, and the workers."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable

import pytest

from py2048.server import admission
from py2048.server.admission import MAX_WAIT_S, RATE, Admission, Caller, FairQueue, Request
from py2048.server.http.monitoring import Metrics
from py2048.server.schema import ActionRejected, checked_game_id
from py2048.server.workers import NICENESS

HONEST = Caller("2001:db8::", "honest")
GUESTS = [Caller("198.51.100.7", f"guest {number}") for number in range(40)]
STRANGERS = [Caller(f"192.0.2.{number}", "") for number in range(1000)]


class Simulation:
    """A fair queue with two workers in simulated time.

    Attributes:
        waits: How long each caller's requests waited for their turn.
        rejected: How many requests of each caller were rejected.
        used: The processor time that each address used.
    """

    def __init__(self) -> None:
        self.now, self.ids = 0.0, itertools.count()
        self.queue = FairQueue(2, lambda: self.now)
        self.waits = defaultdict[Caller, list[float]](list)
        self.rejected, self.used = Counter[Caller](), defaultdict[str, float](float)
        self._events: list[tuple[float, int, Callable[[], None]]] = []

    def at(self, time: float, call: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self.ids), call))

    def run(self, end: float = 60.0) -> None:
        while self._events and self._events[0][0] <= end:
            self.now, _, call = heapq.heappop(self._events)
            call()

    def ask(self, caller: Caller, seconds: float, time: float = 0.0) -> None:
        """Send a request that takes some processor time and is expected to take 0.1 s."""

        def start(request: Request) -> None:
            self.waits[caller].append(self.now - time)
            self.used[caller.address] += seconds
            self.at(self.now + seconds, lambda: self.queue.end(request, seconds))

        def arrive() -> None:
            self.rejected[caller] += bool(self.queue.add(Request(caller, 0.1, start)))

        self.at(time, arrive)

    def flood(self, caller: Caller, seconds: float, every: float) -> None:
        """Send requests at regular times for five minutes."""
        for number in range(round(300 / every)):
            self.ask(caller, seconds, number * every)


def test_forty_guests_of_an_address_do_not_delay_a_player_elsewhere() -> None:
    """One address has one share, however many accounts it has and however expensive they are."""
    queue = Simulation()
    for guest in GUESTS:
        queue.flood(guest, seconds=0.5, every=0.5)
    queue.flood(HONEST, seconds=0.1, every=1.0)
    queue.run()
    assert not queue.rejected[HONEST]
    assert max(queue.waits[HONEST]) <= 0.5  # the rest of a request that runs already
    assert queue.rejected.total() > 4000


def test_the_accounts_of_an_address_share_its_part() -> None:
    """An account that asks for more than others of its address does not delay them."""
    queue, (greedy, modest) = Simulation(), GUESTS[:2]
    queue.flood(greedy, seconds=0.1, every=0.05)
    queue.flood(modest, seconds=0.1, every=1.0)
    queue.run()
    assert queue.rejected[greedy] > 500
    assert max(queue.waits[modest]) < 0.25


def test_addresses_that_ask_for_too_much_have_equal_parts() -> None:
    """The processor time is shared equally, whatever the requests cost."""
    queue = Simulation()
    for caller, seconds in zip(STRANGERS, (0.05, 0.4, 0.8), strict=False):
        queue.flood(caller, seconds, every=0.05)
    queue.run(end=300)
    assert max(queue.used.values()) < 1.05 * min(queue.used.values())


def test_known_browsers_go_first() -> None:
    """Requests of known browsers are not delayed by those of many strangers."""
    queue, known = Simulation(), Caller("device", "device", is_known=True)
    for caller in (*STRANGERS[:40], known):
        queue.ask(caller, seconds=0.2)
    queue.run()
    assert queue.waits[known] == [0.2]


def test_an_address_that_has_used_up_its_time_waits() -> None:
    """Measured time is charged in full, and later requests learn how long to wait."""
    queue = (simulation := Simulation()).queue
    queue.charge(GUESTS[0], 2000.0)
    wait_s = queue.wait_s(GUESTS[1])
    assert 1000 < wait_s < 2000 / RATE
    assert not queue.wait_s(HONEST)
    simulation.now += wait_s
    assert not queue.wait_s(GUESTS[1])


def test_the_queue_is_bounded() -> None:
    """Requests are rejected if they would wait too long, so few can wait."""
    for callers, places in ((STRANGERS, 2), (GUESTS * 25, 1)):
        queue = Simulation()
        for caller in callers:
            queue.ask(caller, seconds=0.1)
        queue.run(end=0)
        assert len(queue.queue) == pytest.approx(places * MAX_WAIT_S / 0.1, abs=2)
        queue.run()
        assert max(map(max, queue.waits.values())) < MAX_WAIT_S + 0.2


async def test_doors_run_their_calls_in_workers_of_low_priority(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Results and errors come back; a worker that dies fails its call only; doors are counted."""
    monkeypatch.setitem(admission.HERE_FACTORS, "game", 1e6)
    doors = Admission(metrics := Metrics())
    try:
        nice = await asyncio.gather(*(doors.do("hint", each, os.nice, 0) for each in GUESTS[:3]))
        assert min(nice) == min(os.nice(0) + NICENESS, 19)
        with pytest.raises(ActionRejected, match="there is no such game"):
            await doors.do("hint", HONEST, checked_game_id, "?")
        with pytest.raises(ActionRejected, match="could not finish"):
            await doors.do("hint", HONEST, os._exit, 1)
        with pytest.raises(RuntimeError, match="cannot pickle"):
            await doors.do("hint", HONEST, threading.Lock)
        assert await doors.do("hint", HONEST, abs, -1) == 1
        assert await doors.do_here("game", HONEST, abs, -1) == 1
        with pytest.raises(ActionRejected, match=r"try again in \d+ s") as refused:
            await doors.do("hint", HONEST, abs, -1)
        assert (refused.value.reason, refused.value.wait_s > 1000) == ("busy", True)
    finally:
        doors.close()
    text = metrics.text().decode()
    assert 'py2048_door_seconds_count{door="hint"} 7.0' in text
    assert 'py2048_limited_total{limit="hint"} 1.0' in text
