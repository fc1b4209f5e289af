"""Programs at play: how fast they may move, and the games that are kept open for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from py2048.server.play.rooms import Client, Room, Rooms
from py2048.server.schema import ActionRejected
from py2048.server.settings import Settings

MOST_GAMES = 32
"""So many games a program plays at the same time."""

LINGER = 60.0
"""Seconds for which a game stays open after the last move: loading it again replays it."""

_LONGEST_WAIT = 2.0
"""Seconds for which a move that comes too soon is held back; beyond that it is refused."""

_BURST = 1.0
"""Seconds of moves that may come at once."""

_MOST_SEATS = 2000
_MOST_KEYS = 20_000


class Seat(Client):
    """The place of a program at its game: keeps the room open and starts the clock.

    Args:
        rooms: where the room is.
        room: the room.
    """

    def __init__(self, rooms: Rooms, room: Room) -> None:
        super().__init__(room.game.info.owner)
        self._rooms = rooms
        self.used = time.monotonic()
        rooms.enter(self, room)
        self.hears_from = 0  # every position, though none is meant for it

    @property
    def is_free(self) -> bool:
        """Whether nobody sits here any more."""
        return self.room is None

    def send(self, _frame: bytes) -> None:
        """Start the clock: a position is on its way to the program."""
        if self.room is not None:
            self.room.game.clock.since = time.monotonic()
            if self.room.game.is_over:
                asyncio.get_running_loop().call_soon(self.leave)

    def leave(self) -> None:
        """Let the room go."""
        self._rooms.leave(self)

    def watch(self) -> None:
        """Leave when nothing was done for a while."""
        left = self.used + LINGER - time.monotonic()
        if left <= 0:
            self.leave()
        elif not self.is_free:
            asyncio.get_running_loop().call_later(left, self.watch)


class BotService:
    """What programs share on a server: their pace, and the seats at their games.

    Args:
        settings: how the server is run.
    """

    def __init__(self, settings: Settings) -> None:
        self._rate = settings.bot_moves_rate
        self._pace = Pace(settings.bot_moves_rate)
        self._pace_of_all = Pace(settings.bots_rate)
        self._seats: dict[str, Seat] = {}

    async def wait_turn(self, account: str) -> None:
        """Hold a program back that moves too fast; the time does not count as thinking.

        Raises:
            ActionRejected: reason ``rate``, if it would have to wait for long.
        """
        wait = max(self._pace.delay(account), self._pace_of_all.delay(""))
        if wait > _LONGEST_WAIT:
            raise ActionRejected(
                "rate", f"too fast: a program makes at most {self._rate:g} moves a second", wait
            )
        self._pace.take(account)
        self._pace_of_all.take("")
        if wait:
            await asyncio.sleep(wait)

    def sit(self, rooms: Rooms, room: Room) -> None:
        """Keep the room of a program's game open while it plays.

        Raises:
            ActionRejected: reason ``busy``, if too many programs play, or this one too many games.
        """
        seat = self._seats.get(room.game.id)
        if seat is None or seat.room is not room:
            self._seats = {game: each for game, each in self._seats.items() if not each.is_free}
            if len(self._seats) >= _MOST_SEATS:
                raise ActionRejected("busy", "too many programs play just now", LINGER)
            owner = room.game.info.owner
            if sum(each.account == owner for each in self._seats.values()) >= MOST_GAMES:
                raise ActionRejected(
                    "busy", f"a program plays at most {MOST_GAMES} games at the same time", LINGER
                )
            seat = self._seats[room.game.id] = Seat(rooms, room)
            seat.watch()
        seat.used = time.monotonic()


@dataclass
class Pace:
    """Spaces what each key does by a rate, after a burst.

    Args:
        rate: how much a second.
        clock: tells the seconds.
    """

    rate: float
    clock: Callable[[], float] = time.monotonic
    _next: dict[str, float] = field(default_factory=dict, init=False)

    def delay(self, key: str) -> float:
        """Return the seconds to wait before the next."""
        return max(0.0, self._next.get(key, 0.0) - self.clock() - _BURST)

    def take(self, key: str) -> None:
        """Count one, done now or after its delay."""
        now = self.clock()
        self._next[key] = max(self._next.get(key, 0.0), now) + 1 / self.rate
        if len(self._next) > _MOST_KEYS:
            self._next = {each: when for each, when in self._next.items() if when > now}
