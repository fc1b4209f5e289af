"""Places: the tables that are open in one process, and who sits at them.

A move is applied at once, then written by the `Writer` together with others, and only then told
to anybody. What cannot be written is taken back, and everybody at the table is told so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Protocol

from py2048.errors import StorageError
from py2048.server import messages
from py2048.server.metrics import Metrics
from py2048.server.outbox import Outbox
from py2048.server.table import Action, Table
from py2048.server.writer import Writer, Written

_RETRY_MS = 2000
"""Milliseconds after which a page may try again what could not be written."""


class Seat:
    """Somebody at a table: a browser that plays or watches.

    Args:
        account: who it is.
        outbox: the way to the browser.
    """

    def __init__(self, account: str, outbox: Outbox) -> None:
        self.account = account
        self.outbox = outbox
        self.place: Place | None = None


_Frame = tuple[str, Seat | None, float]
"""A frame, who shall get it (everybody at the table if nobody is named), since when it waits."""


class Hub(Protocol):
    """What a place needs of the hub."""

    writer: Writer
    metrics: Metrics

    def reload(self, place: Place, error: StorageError | None) -> None:
        """Read the game of a place again, as the disk has it."""

    def rested(self, place: Place) -> None:
        """Hear that all of a table is on the disk."""


class Place:
    """A table in the hub, with those who sit at it and the frames that wait for the disk."""

    def __init__(self, hub: Hub, table: Table) -> None:
        self._hub = hub
        self.table = table
        self.seats: set[Seat] = set()
        self.autoplay: str | None = None
        self.task: asyncio.Task[None] | None = None
        self.settled = asyncio.Event()
        self.settled.set()
        self.is_reloading = False
        self.trouble: StorageError | None = None
        self._is_told = False
        self._waiting: list[_Frame] = []
        self._writing: list[_Frame] | None = None

    def post(self, frame: str, seat: Seat | None = None) -> None:
        """Send a frame when all that happened before it is on the disk."""
        is_clean = self._writing is None and not self.table.ledger.is_dirty
        if is_clean or self.is_reloading:
            self._deliver([(frame, seat, 0.0)])
        else:
            self._waiting.append((frame, seat, time.perf_counter()))
            self.write()

    def tell(self, action: Action, seat: Seat | None = None) -> None:
        """Tell of an action: to everybody, or with a state to `seat` if it was done before."""
        if action.events:
            message = messages.events_message(self.table, action.events, self.autoplay)
            changed = any(event["kind"] != "nothing_moved" for event in message["events"])
            is_news = changed or self.table.ledger.is_dirty
            self.post(messages.encode(message), None if is_news else seat)
        elif seat is not None:
            self.post_state(seat)

    def post_state(self, seat: Seat) -> None:
        """Send how the table stands."""
        self.post(messages.encode(self.state_for(seat)), seat)

    def state_for(self, seat: Seat) -> messages.Json:
        """Return how the table stands, for one who sits at it."""
        mine = seat.account == self.table.round.owner
        return messages.state_message(self.table, mine=mine, autoplay=self.autoplay)

    def write(self) -> None:
        """Have what happened written, unless something is on its way already."""
        is_free = self._writing is None and not self.is_reloading
        if is_free and self.table.ledger.is_dirty:
            self._writing, self._waiting = self._waiting, []
            self.settled.clear()
            self._hub.writer.submit(self.table.take())

    def written(self, written: Written) -> None:
        """Go on after a change reached the disk, or did not."""
        frames, self._writing = self._writing or [], None
        if written.error is not None or written.is_stale:
            self._hub.reload(self, written.error)
            return
        now = time.perf_counter()
        for _, _, since in frames:
            self._hub.metrics.latency.observe(now - since)
        self._deliver(frames)
        self.write()
        if self._writing is None:
            self._rest()

    def _rest(self) -> None:
        """Nothing is on its way: what waited for nothing but order may go."""
        frames, self._waiting = self._waiting, []
        self._deliver(frames)
        self.settled.set()
        self._hub.rested(self)

    async def ready(self) -> None:
        """Wait until all that was done is on the disk.

        Raises:
            RefusedError: while the store cannot be written or read (``storage``).
        """
        while not self.settled.is_set():
            if self.trouble is not None:
                raise messages.unsaved(self.trouble)
            await self.settled.wait()

    def begin_reload(self, error: StorageError | None) -> None:
        """Forget what is not on the disk; `error` says why it could not be written."""
        self._waiting.clear()
        self.is_reloading = True
        self.settled.clear()
        if error is not None:
            self._suffer(error)

    def tell_trouble(self, error: StorageError) -> None:
        """Tell everybody, once, that the store can be neither written nor read."""
        if not self._is_told:
            self._suffer(self.trouble or error)
            self._is_told = True
            for seat in self.seats:
                self._tell_trouble(seat, error, None)

    def _suffer(self, error: StorageError) -> None:
        """Stop the computer player, and let go whoever waits for the disk."""
        self.trouble = error
        task, self.task, self.autoplay = self.task, None, None
        if task is not None:
            task.cancel()
        self.settled.set()
        self.settled.clear()

    def _tell_trouble(self, seat: Seat, error: StorageError, state: messages.Json | None) -> None:
        refusal = messages.unsaved(error)
        message = messages.refused_message(refusal, "", state, retry_ms=_RETRY_MS)
        self.post(messages.encode(message), seat)

    def replace(self, table: Table) -> None:
        """Lay the game on the table anew, as the disk has it, and tell everybody."""
        self.table = table
        self._waiting, self._writing = [], None
        for seat in self.seats:
            if self.trouble is None or self._is_told:
                self.post_state(seat)
            else:
                self._tell_trouble(seat, self.trouble, self.state_for(seat))
        self.trouble, self._is_told = None, False
        self.is_reloading = False
        self.settled.set()

    def _deliver(self, frames: Sequence[_Frame]) -> None:
        for frame, seat, _ in frames:
            if seat is not None:
                seat.outbox.post(frame)
                continue
            for each in self.seats:
                each.outbox.post(frame)
