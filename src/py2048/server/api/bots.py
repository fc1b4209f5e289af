"""Programs at play: how fast they may move, the games kept open for them, and their streams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from py2048.server import schema
from py2048.server.api.openapi import NDJSON, Endpoint
from py2048.server.http.connections import END
from py2048.server.http.middleware import address_of
from py2048.server.play.games import GameService
from py2048.server.play.rooms import Client, Room, Rooms, until_one_ends
from py2048.server.schema import ActionRejected
from py2048.server.settings import Settings
from py2048.server.site.auth import User, player_of, services_of
from py2048.server.site.games import visible_game

if TYPE_CHECKING:
    from py2048.server.services import Services

MAX_GAMES = 32
"""The games that a program plays at the same time."""

LINGER_S = 60.0
"""How long a game stays open after the last move: loading it again replays it."""

_MAX_WAIT_S = 2.0
"""How long a move that comes too soon is held back; beyond that it is refused."""

_BURST_S = 1.0
"""The moves of this time may come at once."""

_SILENCE_S = 10.0
"""After this an empty line shows that a stream is alive."""

_MAX_SEATS = 2000
_MAX_KEYS = 20_000


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
        """Whether the program has left."""
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
        left = self.used + LINGER_S - time.monotonic()
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
        if wait > _MAX_WAIT_S:
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
            if len(self._seats) >= _MAX_SEATS:
                raise ActionRejected("busy", "too many programs play just now", LINGER_S)
            owner = room.game.info.owner
            if sum(each.account == owner for each in self._seats.values()) >= MAX_GAMES:
                raise ActionRejected(
                    "busy", f"a program plays at most {MAX_GAMES} games at the same time", LINGER_S
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
        return max(0.0, self._next.get(key, 0.0) - self.clock() - _BURST_S)

    def take(self, key: str) -> None:
        """Count one, done now or after its delay."""
        now = self.clock()
        self._next[key] = max(self._next.get(key, 0.0), now) + 1 / self.rate
        if len(self._next) > _MAX_KEYS:
            self._next = {each: when for each, when in self._next.items() if when > now}


# The views


async def me(request: Request) -> Response:
    """The program of a token, and its games in progress."""
    user = await player_of(request)
    if not user.bot_of:
        headers = {"www-authenticate": "Bearer"}
        raise HTTPException(401, "send the token of a program: Authorization: Bearer …", headers)
    answer = await services_of(request).do(_about, user)
    return Response(schema.encode(answer), media_type="application/json")


async def stream(request: Request) -> Response:
    """A game as it happens: its state, then each event, until it is over."""
    user, services = await player_of(request), services_of(request)
    room = await services.rooms.find(await visible_game(request, user))
    reader = GameReader(user.account, user.session, user.generation)
    services.rooms.enter(reader, room)
    try:
        await room.ready()
    except ActionRejected:
        services.rooms.leave(reader)
        raise
    room.send_state(reader)
    return GameStream(services, reader)


ENDPOINTS = (
    Endpoint("/api/bot", me, schema.BotAnswer, also=(401, 503)),
    Endpoint(
        "/api/games/{game}/stream",
        stream,
        schema.StateMessage | schema.EventsMessage | schema.RejectedMessage,
        media=NDJSON,
    ),
)


# Streams


def _about(games: GameService, user: User) -> schema.BotAnswer:
    found = [
        schema.BotGame(each.id, each.rules, each.score, each.position, each.updated)
        for each in games.store.online.open_games(user.account)
    ]
    return schema.BotAnswer(user.display, games.account(user.bot_of or "").name, found)


class GameReader(Client):
    """A reader of the stream of a game."""

    @property
    def is_done(self) -> bool:
        """Whether all was sent, and nothing more will happen."""
        room = self.room
        is_over = room is None or (room.is_settled and room.game.is_over)
        return is_over and self.has_sent_all


class GameStream(Response):
    """The stream of a game, which ends with the game, its reader, or the server.

    Args:
        services: the server's parts.
        reader: who reads, in the room of the game.
    """

    def __init__(self, services: Services, reader: GameReader) -> None:
        super().__init__(media_type=NDJSON)
        del self.headers["content-length"]
        self.headers["cache-control"] = "no-store"
        self.headers["x-accel-buffering"] = "no"  # nginx would wait for more
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
                await self._send_lines(scope, receive, send)
        finally:
            rooms.clients.discard(reader)
            rooms.leave(reader)

    async def _send_lines(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        if scope["method"] == "HEAD":
            await send(start)
            await send(_body(b"", more=False))
            return
        while (await receive()).get("more_body"):  # the body, which has no meaning
            pass
        scope[END] = asyncio.Event()
        await send(start)
        await until_one_ends(
            self._reader.run(lambda frame: self._forward(frame, send)),
            scope[END].wait(),
            _gone(receive),
            _keep_alive(self._reader),
        )
        await send(_body(b"", more=False))

    async def _forward(self, frame: bytes, send: Send) -> None:
        await send(_body(frame + b"\n"))
        if self._reader.is_done:
            self._reader.close(0)


def _body(data: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": more}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _keep_alive(reader: Client) -> None:
    while True:
        await asyncio.sleep(_SILENCE_S)
        reader.send(b"")
