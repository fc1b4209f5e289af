"""The API's part for programs: who they are, and a game as a stream of lines of JSON."""

from __future__ import annotations

import asyncio
import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from py2048.server import schema
from py2048.server.api.openapi import NDJSON, Endpoint
from py2048.server.http.connections import END
from py2048.server.http.middleware import address_of
from py2048.server.play.games import GameService
from py2048.server.play.rooms import Client
from py2048.server.play.time_controls import UNLIMITED
from py2048.server.schema import ActionRejected
from py2048.server.services import Services
from py2048.server.site.auth import Auth, User

_log = logging.getLogger("py2048.web")
_SILENCE = 10.0
"""Seconds after which an empty line shows that the stream is alive."""


class BotApi:
    """What the API has for programs.

    Args:
        services: the server's parts.
        auth: tells who asks.
    """

    def __init__(self, services: Services, auth: Auth) -> None:
        self._services = services
        self._auth = auth
        self.endpoints = (
            Endpoint("/api/bot", self.me, schema.BotAnswer, also=(401, 503)),
            Endpoint(
                "/api/games/{game}/stream", self.stream,
                schema.StateMessage | schema.EventsMessage | schema.RejectedMessage, media=NDJSON,
            ),
        )  # fmt: skip

    async def me(self, request: Request) -> Response:
        """The program of a token, and its games in progress."""
        user = await self._auth.player(request)
        if not user.bot_of:
            headers = {"www-authenticate": "Bearer"}
            raise HTTPException(
                401, "send the token of a program: Authorization: Bearer …", headers
            )
        answer = await self._services.do(_about, user)
        return Response(schema.encode(answer), media_type="application/json")

    async def stream(self, request: Request) -> Response:
        """A game as it happens: its state, then each event, until it is over."""
        user = await self._auth.player(request)
        game = await self._services.visible_game(request.path_params["game"], user.account)
        room = await self._services.rooms.find(game)
        reader = GameReader(user.account, user.session, user.generation)
        self._services.rooms.enter(reader, room)
        try:
            await room.ready()
        except ActionRejected:
            self._services.rooms.leave(reader)
            raise
        room.send_state(reader)
        return GameStream(self._services, reader)


def _about(games: GameService, user: User) -> schema.BotAnswer:
    found = [
        schema.BotGame(
            each.id, each.rules, each.control or UNLIMITED, each.score, each.position, each.updated
        )
        for each in games.store.online.open_games(user.account)
    ]
    return schema.BotAnswer(user.display, games.account(user.bot_of or "").name, found)


class GameReader(Client):
    """Whoever reads the stream of a game."""

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
        reader: whoever reads, in the room of the game.
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
        tasks = [
            asyncio.create_task(each)
            for each in (
                self._reader.run(lambda frame: self._forward(frame, send)),
                self._reader.overflowed.wait(),
                scope[END].wait(),
                _gone(receive),
                _keep_alive(self._reader),
            )
        ]
        await send(start)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception) and not isinstance(result, OSError):
                _log.error("a stream failed", exc_info=result)
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
        await asyncio.sleep(_SILENCE)
        reader.send(b"")
