"""The JSON API: boards, games, records and hints for programs; `openapi` describes it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from py2048.errors import GameOverError, Py2048Error
from py2048.players.registry import describe_player
from py2048.rules import list_rules
from py2048.server import api_values, messages, openapi, requests
from py2048.server.api_values import ApiError
from py2048.server.bounds import checked_rules
from py2048.server.daily import check_shown
from py2048.server.identity import Identity, Visitor
from py2048.server.outbox import Outbox
from py2048.server.places import Seat
from py2048.server.security import address_of
from py2048.server.services import Services
from py2048.server.table import BOT, CASUAL, RefusedError
from py2048.session import Hint, PositionSnapshot

_STATUS = {"not_yours": 403, "mode": 403, "sealed": 403, "unknown_game": 404, "gap": 409,
           "over": 409, "nothing": 409, "unsaved": 422, "busy": 429, "rate": 429,
           "storage": 503}  # fmt: skip
_Handler = Callable[[Request], Awaitable[Response]]


class Api:
    """The JSON API.

    Args:
        services: the server's parts.
        identity: tells who asks.
    """

    def __init__(self, services: Services, identity: Identity) -> None:
        self._services = services
        self._identity = identity

    def routes(self) -> list[Route]:
        """Return the routes of the API."""
        return [
            _route("/api/openapi.json", self.description),
            _route("/api/docs", self.documentation),
            _route("/api/rules", self.rules),
            _route("/api/rules/check", self.check_rules),
            _route("/api/players", self.players),
            _route("/api/boards/slides", self.slides, "POST"),
            _route("/api/hints", self.hint, "POST"),
            _route("/api/records/verify", self.verify, "POST"),
            _route("/api/leaderboards", self.leaderboard),
            _route("/api/games", self.deal, "POST"),
            _route("/api/games/{game}", self.game),
            _route("/api/games/{game}/turns", self.turns),
            _route("/api/games/{game}/record", self.record),
            _route("/api/games/{game}/moves", self.move, "POST"),
        ]

    # What needs no store

    async def description(self, _request: Request) -> Response:
        """The description of the API itself."""
        return JSONResponse(openapi.document())

    async def documentation(self, _request: Request) -> Response:
        """The description for people."""
        return HTMLResponse(openapi.page())

    async def rules(self, _request: Request) -> Response:
        """The presets."""
        return JSONResponse([messages.rules_value(str(rules)) for rules in list_rules()])

    async def check_rules(self, request: Request) -> Response:
        """What a rules text means here, or why it means nothing."""
        text = request.query_params.get("text", "classic")
        return JSONResponse(messages.rules_value(str(checked_rules(text))))

    async def players(self, _request: Request) -> Response:
        """The computer players that may be asked here."""
        specs = self._services.advisers.specs
        about = [
            {"spec": spec, "summary": describe_player(spec.partition(":")[0])} for spec in specs
        ]
        return JSONResponse(about)

    async def slides(self, request: Request) -> Response:
        """What each direction does to a board."""
        rules, board = api_values.position_of(await _body(request))
        return JSONResponse(api_values.slides_value(rules, board))

    async def hint(self, request: Request) -> Response:
        """What a computer player would do."""
        message = await _body(request)
        rules, board = api_values.position_of(message)
        spec = self._services.advisers.checked(requests.spec_of(message))
        if not board.can_move():
            raise GameOverError("no move changes this board: the game is over")
        self._services.limits.check_thought(address_of(request.scope))
        hint = await anext(self._services.advisers.advise(spec, PositionSnapshot(rules, board, 0)))
        assert isinstance(hint, Hint)  # the first answer always is
        return JSONResponse(messages.hint_value(hint))

    async def verify(self, request: Request) -> Response:
        """Whether a record keeps its rules."""
        text = await _text(request)
        if not isinstance(_parsed(text), dict):
            raise ApiError(422, "a record is a JSON object")
        secret = request.query_params.get("secret")
        found = await self._in_thread(api_values.verified_value, text, secret)
        return JSONResponse(found)

    # What does

    async def leaderboard(self, request: Request) -> Response:
        """The best games."""
        return JSONResponse(
            await self._in_thread(
                api_values.leaderboard_value, self._services.hub.house, dict(request.query_params)
            )
        )

    async def deal(self, request: Request) -> Response:
        """Begin a game: a bot game for a program's token, a casual one for a browser's cookie."""
        visitor, message = await self._identity.player(request), await _body(request)
        self._services.limits.check_deal(visitor.account, address_of(request.scope))
        rules = requests.text(message, "rules", "classic")
        mode = requests.text(message, "mode", _mode_of(visitor))
        _check_mode(visitor, mode)
        hub = await self._services.ready()
        table = await hub.begin(visitor.account, rules, mode)
        response = JSONResponse(messages.state_message(table, mine=True, autoplay=None), 201)
        response.headers["location"] = f"/api/games/{table.id}"
        self._identity.remember(response, visitor)
        return response

    async def game(self, request: Request) -> Response:
        """How a game stands."""
        visitor = await self._identity.player(request)
        place = await self._services.hub.find(await self._shown(request, visitor))
        await place.ready()
        seat = Seat(visitor.account, Outbox())
        state = place.state_for(seat)
        self._services.hub.release(place)
        return JSONResponse(state)

    async def turns(self, request: Request) -> Response:
        """The turns of a finished game, some at a time."""
        game = await self._shown(request, await self._identity.player(request))
        first = api_values.query_number(request, "from", 0, 10**9, 0)
        most = api_values.query_number(request, "limit", 1, 1000, 500)
        house = (await self._services.ready()).house
        found = await self._in_thread(api_values.turns_value, house, game, first, most)
        return JSONResponse(found)

    async def record(self, request: Request) -> Response:
        """The record of a finished game."""
        game = await self._shown(request, await self._identity.player(request))
        house = (await self._services.ready()).house
        text = await self._in_thread(house.record_text, game)
        if text is None:
            raise RefusedError("unknown_game", "there is no record of such a game yet")
        return Response(text, media_type="application/json")

    async def move(self, request: Request) -> Response:
        """Slide, and answer when it is on the disk."""
        visitor, message = await self._identity.player(request), await _body(request)
        number, direction = requests.number_of(message), requests.direction_of(message)
        if self._services.limits.moves.take(visitor.account):
            raise RefusedError("rate", "too fast: wait a moment")
        place = await self._services.hub.find(requests.game_id_of(request.path_params))
        if place.table.round.owner != visitor.account:
            self._services.hub.release(place)
            raise RefusedError("not_yours", "this is somebody else's game")
        seat = Seat(visitor.account, Outbox())
        self._services.hub.sit(seat, place)
        try:
            _check_mode(visitor, place.table.round.mode)
            place.tell(place.table.move(number, direction), seat)
            answer = json.loads(await seat.outbox.first())
            return JSONResponse(answer, _STATUS.get(answer.get("reason"), 200))
        finally:
            self._services.hub.leave(seat)

    async def _shown(self, request: Request, visitor: Visitor) -> str:
        """Return the id of a game that whoever asks may see."""
        game = requests.game_id_of(request.path_params)
        store = (await self._services.ready()).house.store
        await self._in_thread(check_shown, store, game, visitor.account)
        return game

    async def _in_thread(self, call: Callable[..., Any], *args: Any) -> Any:
        hub = await self._services.ready()
        return await hub.in_thread(call, *args)


def _mode_of(visitor: Visitor) -> str:
    return BOT if visitor.bot_of else CASUAL


def _check_mode(visitor: Visitor, mode: str) -> None:
    """Refuse to play ranked and daily games of people through the API.

    Raises:
        RefusedError: reason ``mode``.
    """
    if not visitor.bot_of and mode != CASUAL:
        raise RefusedError(
            "mode", f"{mode} games are not played here: programs use a token, people the page"
        )


def _route(path: str, handler: _Handler, method: str = "GET") -> Route:
    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except RefusedError as error:
            status = _STATUS.get(error.reason, 422)
            return JSONResponse({"error": str(error), "reason": error.reason}, status)
        except ApiError as error:
            return JSONResponse({"error": str(error)}, error.status)
        except ValueError as error:  # rules, boards and records that are none
            if not isinstance(error, Py2048Error):
                raise
            return JSONResponse({"error": str(error)}, 422)
        except GameOverError as error:
            return JSONResponse({"error": str(error)}, 409)

    return Route(path, answer, methods=[method])


async def _body(request: Request) -> requests.Json:
    """Return the JSON object that a request carries.

    Raises:
        ApiError: if it carries none.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise ApiError(415, "send a body of the type application/json")
    message = _parsed(await _text(request))
    if not isinstance(message, dict):
        raise ApiError(422, "the body must be a JSON object")
    return message


async def _text(request: Request) -> str:
    try:
        return (await request.body()).decode()
    except ClientDisconnect:
        raise ApiError(413, "the body is too large or too slow") from None
    except UnicodeDecodeError:
        raise ApiError(400, "the body is no text") from None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ApiError(400, "the body is no JSON") from None
