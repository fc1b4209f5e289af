"""Programs at play: how fast they may move, the games kept open for them, and their streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from py2048.server.http.connections import END
from py2048.server.http.limits import RateLimits
from py2048.server.http.middleware import address_of
from py2048.server.play.rooms import LINGER_S, Client, Room, Rooms
from py2048.server.schema import ActionRejected

if TYPE_CHECKING:
    from py2048.server.services import Services

NDJSON = "application/x-ndjson"
MAX_GAMES = 32
"""The games that a program plays at the same time."""

_MAX_WAIT_S = 2.0
"""How long a move that comes too soon is held back; beyond that it is refused."""

_SILENCE_S = 10.0
"""After this an empty line shows that a stream is alive."""

_MAX_ROOMS = 2000


def keep_open(rooms: Rooms, room: Room) -> None:
    """Keep the room of a program's game open while it plays.

    Raises:
        ActionRejected: reason ``busy``, if too many programs play, or this one too many games.
    """
    kept = [] if room.is_kept else [each for each in rooms.open.values() if each.is_kept]
    if len(kept) >= _MAX_ROOMS:
        raise ActionRejected("busy", "too many programs play just now", LINGER_S)
    if sum(each.game.info.owner == room.game.info.owner for each in kept) >= MAX_GAMES:
        most = f"a program plays at most {MAX_GAMES} games at the same time"
        raise ActionRejected("busy", most, LINGER_S)
    room.keep()


async def wait_turn(limits: RateLimits, account: str) -> None:
    """Hold a program back that moves too fast; the time does not count as thinking.

    Raises:
        ActionRejected: reason ``rate``, if it would have to wait for long.
    """
    own, of_all = limits.buckets["bot_moves"], limits.buckets["bots"]
    wait = max(own.wait(account), of_all.wait(""))
    if wait > _MAX_WAIT_S:
        most = f"a program makes at most {own.rate:g} moves a second"
        raise ActionRejected("rate", f"too fast: {most}", wait)
    own.owe(account, 1)
    of_all.owe("", 1)
    if wait:
        await asyncio.sleep(wait)


async def check_pace(services: Services, account: str, *, is_program: bool) -> None:
    """Hold a program back that moves too fast; refuse people who do.

    Raises:
        ActionRejected: reason ``rate``.
    """
    try:
        if is_program:
            await wait_turn(services.limits, account)
        else:
            services.limits.check(moves=account)
    except ActionRejected:
        services.metrics.limited.inc()
        raise


class GameStream(StreamingResponse):
    """The stream of a game, which ends with the game, its reader, or the server.

    Args:
        services: the server's parts.
        reader: who reads, in the room of the game.
    """

    def __init__(self, services: Services, reader: Client) -> None:
        # nginx would wait for more without the second.
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(self._lines(), headers=headers, media_type=NDJSON)
        self._services = services
        self._reader = reader

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        reader, rooms = self._reader, self._services.rooms
        try:
            with self._services.limits.sockets.held(address_of(scope)) as is_free:
                if not is_free:
                    raise ActionRejected("busy", "too many streams are open: close one", 1.0)
                rooms.clients.add(reader)
                scope[END] = lambda: reader.close(0)
                await super().__call__(scope, receive, send)
        finally:
            rooms.clients.discard(reader)
            rooms.leave(reader)

    async def _lines(self) -> AsyncIterator[bytes]:
        while not self._is_done:
            try:
                frame = await asyncio.wait_for(self._reader.next(), _SILENCE_S)
            except TimeoutError:
                frame = b""
            if frame is None:
                return
            yield frame + b"\n"

    @property
    def _is_done(self) -> bool:
        """Whether all was sent, and nothing more will happen."""
        room = self._reader.room
        is_over = room is None or (room.is_settled and room.game.is_over)
        return is_over and self._reader.has_sent_all
