"""The hub: the places of one process, and how their moves are saved.

Everything here happens in the event loop, but for what may block: that goes to `House` in a
thread.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any, ParamSpec, TypeVar

from py2048.errors import Py2048Error, StorageError
from py2048.server.house import LIVE, House
from py2048.server.metrics import Metrics
from py2048.server.places import Place, Seat
from py2048.server.settings import Settings
from py2048.server.table import CASUAL, Action, RefusedError, Table
from py2048.server.writer import Writer, Written
from py2048.storage import GameChange

_log = logging.getLogger("py2048.web")
_P = ParamSpec("_P")
_T = TypeVar("_T")
_THREADS = 8
_LONGEST_WAIT = 5.0
_MOST_LIVE = 40
_MEMORY = 3.0
"""Seconds for which the server is not ready after something that could not be written."""


class Hub:
    """The tables of one process.

    Args:
        house: the games.
        settings: how the server is run.
        metrics: counts what happens.
    """

    def __init__(self, house: House, settings: Settings, metrics: Metrics) -> None:
        self.house = house
        self.settings = settings
        self.metrics = metrics
        self.origin = secrets.token_hex(4)
        self.places: dict[str, Place] = {}
        self.seats: set[Seat] = set()
        self._opening: dict[str, asyncio.Future[Place]] = {}
        self._beginning: dict[str, asyncio.Future[Written]] = {}
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="py2048-house")
        # Games are played again one at a time, so that those who play feel little of it.
        self._finishing = ThreadPoolExecutor(1, thread_name_prefix="py2048-finish")
        self._tasks: set[asyncio.Task[None]] = set()
        self._moved: dict[str, float] = {}  # games by the time of their last change, the last last
        self._fault: tuple[float, StorageError] | None = None
        self.writer = Writer(house.store, self._written, origin=self.origin)

    async def in_thread(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Do something that blocks."""
        return await self._loop.run_in_executor(self._pool, lambda: call(*args, **kwargs))

    # Sitting down and leaving

    async def deal(self, seat: Seat, rules: str, mode: str) -> Place:
        """Begin a new game and sit down at it.

        Raises:
            RefusedError, StorageError: see `House.deal`.
        """
        table = await self.begin(seat.account, rules, mode)
        place = self.places.setdefault(table.id, Place(self, table))
        self.sit(seat, place)
        return place

    async def begin(self, account: str, rules: str, mode: str) -> Table:
        """Return the table of a new game, which is written together with the moves of others.

        Raises:
            RefusedError, StorageError: see `House.deal`.
        """
        table = await self.in_thread(self.house.plan, account, rules, mode)
        new, table.unwritten = table.unwritten, None
        if new is None:
            return table
        self.writer.submit(new)
        self._beginning[new.id] = self._loop.create_future()  # done in a later turn of the loop
        written = await self._beginning[new.id]
        if written.error is not None:
            raise written.error
        if written.is_stale:
            return await self.in_thread(self.house.seat_daily, account, new)
        return table

    async def open(self, seat: Seat, game_id: str) -> Place:
        """Sit down at a game.

        Raises:
            RefusedError: if there is no such game.
            StorageError: if the store cannot be read.
        """
        place = await self.find(game_id)
        self.sit(seat, place)
        return place

    async def find(self, game_id: str) -> Place:
        """Return the place of a game, loading it if nobody sits at it yet."""
        if game_id in self.places:
            return self.places[game_id]
        if game_id not in self._opening:
            self._opening[game_id] = asyncio.ensure_future(self._load(game_id))
        return await asyncio.shield(self._opening[game_id])

    async def _load(self, game_id: str) -> Place:
        try:
            table = await self.in_thread(self.house.seat, game_id)
            return self.places.setdefault(game_id, Place(self, table))
        finally:
            del self._opening[game_id]

    def sit(self, seat: Seat, place: Place) -> None:
        """Move somebody to a place."""
        if seat.place is not place:
            self.leave(seat)
            self.places.setdefault(place.table.id, place)
            place.seats.add(seat)
            seat.place = place

    def leave(self, seat: Seat) -> None:
        """Let somebody leave the table; the game stays in the store."""
        place, seat.place = seat.place, None
        if place is not None:
            place.seats.discard(seat)
            self.release(place)

    def dismiss(self, account: str) -> None:
        """End the connections of an account, which has to sign in again or is no more."""
        for seat in tuple(self.seats):
            if seat.account == account:
                seat.outbox.close(1008)

    def release(self, place: Place) -> None:
        """Forget a table at which nobody sits, when all of it is on the disk."""
        if place.seats or not place.settled.is_set() or place.task:
            return
        if self.places.pop(place.table.id, None) and place.table.is_over:
            self.start(self._finish(place.table.id))

    # Writing

    def _written(self, results: Sequence[Written]) -> None:
        """Hear from the writer's thread."""
        self._loop.call_soon_threadsafe(self._all_written, results)

    def _all_written(self, results: Sequence[Written]) -> None:
        self.metrics.commits += 1
        for written in results:
            if isinstance(written.change, GameChange):
                if not (written.error or written.is_stale):
                    self.metrics.moves += len(written.change.turns)
                    self._note_moved(written.change.id)
                if place := self.places.get(written.change.id):
                    place.written(written)
                continue
            beginning = self._beginning.pop(written.change.id)
            if not beginning.done():  # whoever asked for the game may have gone
                beginning.set_result(written)

    def _note_moved(self, game_id: str) -> None:
        self._moved.pop(game_id, None)
        self._moved[game_id] = time.monotonic()
        self._forget_moved()

    def _forget_moved(self) -> None:
        """Forget the games that have not changed for a while."""
        since = time.monotonic() - LIVE.total_seconds()
        while self._moved and next(iter(self._moved.values())) < since:
            del self._moved[next(iter(self._moved))]

    def live_games(self) -> list[str]:
        """Return the games that changed last, here or in a process that is heard from."""
        self._forget_moved()
        return list(islice(reversed(self._moved), _MOST_LIVE))

    def rested(self, place: Place) -> None:
        """Hear that all of a table is on the disk."""
        table = place.table
        if table.is_over and table.round.mode != CASUAL:
            self.start(self._finish(table.id))
        self.release(place)

    def reload(self, place: Place, error: StorageError | None) -> None:
        """Lay a table anew that another process has changed, or that could not be written."""
        if error is not None:
            self.note_fault(error, "a move could not be written")
        if not place.is_reloading:
            place.begin_reload(error)
            self.start(self._reload(place))

    async def _reload(self, place: Place) -> None:
        """Read a game again, for as long as somebody waits for it."""
        wait = 0.1
        while True:
            try:
                table = await self.in_thread(self.house.seat, place.table.id)
                break
            except Py2048Error as error:
                fault = error if isinstance(error, StorageError) else StorageError(str(error))
                self.note_fault(fault, "a game cannot be read again")
                place.tell_trouble(fault)
                if not (place.seats and fault.kind):
                    self._give_up(place)
                    return
                await asyncio.sleep(wait)
                wait = min(2 * wait, _LONGEST_WAIT)
        place.replace(table)
        self.release(place)

    def _give_up(self, place: Place) -> None:
        """Forget a table that nobody waits for, or that cannot be read any more."""
        self.places.pop(place.table.id, None)
        for seat in place.seats:
            seat.place = None

    def note_fault(self, error: StorageError, what: str) -> None:
        """Count and log that the store failed; until it works again the server is not ready."""
        self.metrics.storage_faults += 1
        _log.error(what, extra={"fault": str(error)})
        if error.kind:
            self._fault = time.monotonic(), error

    def check_faults(self) -> None:
        """Raise what the store failed with, if that was a moment ago.

        Raises:
            StorageError: the fault.
        """
        if self._fault is not None and time.monotonic() - self._fault[0] < _MEMORY:
            raise self._fault[1]

    async def _finish(self, game_id: str) -> None:
        try:
            finish = self.house.finish
            board = await self._loop.run_in_executor(self._finishing, finish, game_id)
        except StorageError as error:  # it is finished later
            self.note_fault(error, "a game could not be finished")
            return
        except Py2048Error as error:
            self.metrics.unverified += 1
            _log.error("a game was not counted", extra={"game": game_id, "fault": str(error)})
            return
        if board:
            self.metrics.finished += 1

    # Other processes

    async def hear(self, game_id: str, revision: int) -> None:
        """Follow what another process did at a table that is open here."""
        self._note_moved(game_id)
        await self._follow(game_id, revision)

    async def _follow(self, game_id: str, revision: int) -> None:
        place = self.places.get(game_id)
        if place is None or place.is_reloading or revision <= place.table.version:
            return
        await place.settled.wait()
        saved = await self.in_thread(self.house.saved_game, game_id)
        if self.places.get(game_id) is not place or place.is_reloading:
            return
        if saved is None:  # it is finished already
            place.begin_reload(None)
            await self._reload(place)
            return
        await place.settled.wait()
        events = place.table.catch_up(saved)
        if events is None:
            place.replace(place.table)
        elif events:
            place.tell(Action(place.table.version, events))

    async def look_around(self) -> None:
        """Follow what other processes did while they could not be heard."""
        for place in tuple(self.places.values()):
            await self._follow(place.table.id, place.table.version + 1)

    # Keeping house

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something on the side, and end it with the server."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Write all that was done, finish what is over, and close the store."""
        for place in tuple(self.places.values()):
            if place.task:
                place.task.cancel()
        for place in tuple(self.places.values()):
            with suppress(RefusedError):  # the store is away: what was acknowledged is in it
                await place.ready()
        await asyncio.wait_for(asyncio.to_thread(self.writer.close), 40)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._finishing.shutdown()
        self._pool.shutdown()
        self.house.store.close()
