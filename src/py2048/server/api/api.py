"""The JSON API and its OpenAPI 3.1 description.

The OpenAPI description is generated from the types in `py2048.server.schema`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import msgspec
from msgspec import UNSET
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from py2048 import Board, Direction, Record, Rules, __version__
from py2048.app.session import Hint, PositionSnapshot
from py2048.app.session.levels import ME
from py2048.core.errors import BoardError, GameOverError, RecordError
from py2048.core.fairness import check_fair
from py2048.players.registry import describe_player
from py2048.review.levels import parse_level
from py2048.server import schema
from py2048.server.hints import level_of
from py2048.server.http.connections import SHUTDOWN_HOOK
from py2048.server.play import messages
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.rooms import Client, Room
from py2048.server.schema import BOT, CASUAL, ActionRejected
from py2048.server.site.auth import BEARER_ONLY, User, UserRequest
from py2048.server.site.games import send_record, turns_answer
from py2048.server.site.pages import Site, presets, render_text
from py2048.server.site.reviews import review_answer

Json = dict[str, Any]
JSON, NDJSON = "application/json", "application/x-ndjson"
_KEEPALIVE_S = 10.0  # How often to send empty lines while a stream has no events.
MAX_TURNS = 50_000  # Longer records are not verified.
_MAX_TILE = 2**60
STATUS = {"not_yours": 403, "mode": 403, "sealed": 403, "off": 403, "unknown_game": 404, "gap": 409,
          "over": 409, "early": 409, "nothing": 409, "unsaved": 422, "length": 422, "busy": 429,
          "rate": 429, "storage": 503}  # fmt: skip
"""HTTP status for each reason of an `ActionRejected`."""


class Api(Site):
    """The endpoints of the JSON API.

    The first line of each endpoint's docstring becomes its summary in the OpenAPI description.
    """

    # Without the store

    async def rules(self, _request: UserRequest) -> list[schema.RulesInfo]:
        """List the presets."""
        return presets()

    async def check_rules(self, _: UserRequest, query: schema.RulesQuery) -> schema.RulesInfo:
        """Check the text of custom rules, and describe the rules."""
        return messages.rules_info(str(checked_rules(query.text)))

    async def players(self, _request: UserRequest) -> list[schema.PlayerInfo]:
        """List the computer players that can give hints."""
        specs = self.hints.specs
        return [schema.PlayerInfo(spec, describe_player(spec.partition(":")[0])) for spec in specs]

    async def slides(self, _: UserRequest, body: schema.PositionRequest) -> schema.SlidesAnswer:
        """Return the effect of moving a board in each direction."""
        return messages.slides_info(*_position(body))

    async def hint(self, request: UserRequest, body: schema.AdviceRequest) -> schema.HintAnswer:
        """Return the best move and the value of each direction."""
        rules, board = _position(body)
        spec = self.hints.checked(body.player, rules, board)
        if body.level == ME:
            await self.auth.identify_player(request)
            level = await self.read("hint", request.caller, level_of, request.user.account, rules)
        else:
            level = parse_level(body.level)
        if not board.can_move():
            raise GameOverError("no move changes this board: the game is over")
        snapshot = PositionSnapshot(rules, board, 0)
        found = await anext(self.hints.advise("hint", request.caller, spec, snapshot, level))
        assert isinstance(found, Hint)  # `advise` yields a hint first
        return messages.hint_answer(found)

    async def check(self, request: UserRequest, query: schema.VerifyQuery) -> schema.VerifiedAnswer:
        """Verify a record against its rules and, if the secret is given, verify its tiles."""
        text, value = await _json(request)
        if not isinstance(value, dict):
            raise HTTPException(422, "a record must be a JSON object")
        facts = _verified, text, query.secret
        return await self.admission.do("verification", request.caller, *facts)

    # With the store

    async def me(self, request: UserRequest) -> schema.BotAnswer:
        """Show the program that the token belongs to, and the program's games in progress."""
        if request.user.bot_of is None:
            text = "send the token of a program: Authorization: Bearer …"
            raise HTTPException(401, text, BEARER_ONLY)
        return await self.backend.do(_about, request.user, request.user.bot_of)

    async def leaderboard(
        self, _: UserRequest, query: schema.LeaderboardQuery
    ) -> schema.LeaderboardAnswer:
        """List the best game of each player on a leaderboard."""
        board, rules, period = wanted = query.board, str(checked_rules(query.rules)), query.period
        found = await self.backend.do(lambda games: games.store.leaderboards.top(*wanted))
        return schema.LeaderboardAnswer(rules, board, period, messages.game_rows(found))

    async def create_game(self, request: UserRequest, body: schema.GameRequest) -> Response:
        """Start a game: a bot game with a token, or a casual game with a cookie."""
        user, mode = request.user, body.mode
        self.limits.check("new_games", user.account)
        if mode is UNSET:
            mode = BOT if user.bot_of else CASUAL
        _check_mode(user, mode)
        facts = user.account, body.rules, mode
        game = await self.write("game", request.caller, GameService.begin_game, *facts)
        response = _answer(messages.state_of(game, mine=True, autoplay=None), 201)
        response.headers["location"] = f"/api/games/{game.id}"
        request.set_cookies(response)
        return response

    async def game(self, request: UserRequest) -> schema.StateMessage:
        """Show the state of a game."""
        game, rooms = await self.visible_game(request), self.backend.rooms
        room = await rooms.find(game, request.caller)
        await room.ready()
        state = room.state_for(request.user.account)
        rooms.release(room)
        return state

    async def turns(self, request: UserRequest, query: schema.TurnsQuery) -> schema.TurnsAnswer:
        """List the turns of a finished game, each with the board and the score after the turn."""
        game = await self.visible_game(request)
        return await self.read("turns", request.caller, turns_answer, game, query)

    async def stream(self, request: UserRequest) -> Response:
        """Stream a game live: first its state, then its events, until the game is over."""
        game = await self.visible_game(request)
        if request.method == "HEAD":
            return Response(media_type=NDJSON)
        return GameStream(self, await self.backend.rooms.find(game, request.caller), request)

    async def review(self, request: UserRequest, query: schema.TurnsQuery) -> schema.ReviewAnswer:
        """Show the state of a finished game's review, and some of the reviewed moves."""
        game = await self.visible_game(request)
        facts = game, query.first, query.limit
        return await self.read("turns", request.caller, review_answer, *facts)

    async def request_review(
        self, request: UserRequest, body: schema.ReviewRequest
    ) -> schema.ReviewAnswer:
        """Request the review of a finished game. Repeated requests have no effect."""
        await self.reviews.request(request.game, request.caller, body.level)
        return await self.read("turns", request.caller, review_answer, request.game)

    async def move(self, request: UserRequest, body: schema.MoveBody) -> Response:
        """Make a move. The response is sent after the move has been stored."""
        arrived, user, rooms = time.monotonic(), request.user, self.backend.rooms
        await self.limits.pace(user.account, is_program=user.bot_of is not None)
        room = await rooms.find_own(request.game, request.caller)
        client = Client(user.account)
        rooms.enter(client, room)
        try:
            _check_mode(user, room.game.info.mode)
            await room.loaded()
            direction = Direction.parse(body.direction)
            room.end_autoplay()
            if user.bot_of:
                rooms.keep(room)
            events = room.game.move(body.number, direction, arrived)
            room.broadcast(events, client)
            frame = await client.next() or b""
        finally:
            rooms.leave(client)
        if b'"type":"refused"' in frame[:20]:
            rejected = msgspec.json.decode(frame, type=schema.RejectedMessage)
            retry_ms = 0 if rejected.retry_ms is UNSET else rejected.retry_ms
            raise ActionRejected(rejected.reason, rejected.message, retry_ms / 1000)
        return Response(frame, media_type=JSON)


def _about(games: GameService, user: User, person: str) -> schema.BotAnswer:
    found = [
        schema.BotGame(each.id, each.rules, each.score, each.position, each.updated)
        for each in games.store.online.open_games(user.account)
    ]
    return schema.BotAnswer(user.display_name, games.account(person).name, found)


class GameStream(StreamingResponse):
    """A live stream of a game, one JSON message per line.

    Args:
        api: The parts of the server.
        room: The game's room.
        request: The request, with its user.
    """

    def __init__(self, api: Api, room: Room, request: UserRequest) -> None:
        # X-Accel-Buffering disables response buffering in nginx.
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(self._lines(), headers=headers, media_type=NDJSON)
        self._api, self._room, self._address = api, room, request.address
        self._client = Client(request.user.account, request.user.session)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Join the room of the game, and send the room's messages.

        Raises:
            ActionRejected: If too many streams are open (``busy``).
        """
        client, rooms = self._client, self._api.backend.rooms
        with self._api.limits.sockets.held(self._address) as is_free:
            if not is_free:
                raise ActionRejected("busy", "too many streams are open: close one", 1.0)
            rooms.clients.add(client)
            rooms.enter(client, self._room)
            try:
                await self._room.ready()
                self._room.send_state(client)
                scope[SHUTDOWN_HOOK] = lambda: client.close(0)
                await super().__call__(scope, receive, send)
            finally:
                rooms.clients.discard(client)
                rooms.leave(client)

    async def _lines(self) -> AsyncIterator[bytes]:
        is_over = False
        while not (is_over and self._client.has_sent_all):
            try:
                frame = await asyncio.wait_for(self._client.next(), _KEEPALIVE_S)
            except TimeoutError:
                frame = b""
            if frame is None:
                return
            yield frame + b"\n"
            room = self._client.room
            is_over = room is None or (room.is_settled and room.game.is_over)


def _check_mode(user: User, mode: str) -> None:
    """Reject ranked and daily games by people, who must play them on the website.

    Raises:
        ActionRejected: If games of this mode cannot be played through the API (``mode``).
    """
    if not user.bot_of and mode != CASUAL:
        text = f"{mode} games are not played here: programs use a token, people the page"
        raise ActionRejected("mode", text)


def _answer(answer: object, status: int = 200) -> Response:
    return Response(schema.encode(answer), status, media_type=JSON)


async def _body(request: UserRequest, kind: type[msgspec.Struct]) -> msgspec.Struct:
    """Return the body of a request, decoded to an instance of `kind`.

    Raises:
        HTTPException: If the body is not JSON.
        ActionRejected: If the JSON does not match `kind`.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != JSON:
        raise HTTPException(415, "send a body of the type application/json")
    return schema.convert((await _json(request))[1], kind)


async def _json(request: UserRequest) -> tuple[str, object]:
    """Return the body of a request, as text and as decoded JSON."""
    try:
        text = (await request.body()).decode()
        return text, msgspec.json.decode(text)  # rejects lone surrogates, unlike `json`
    except ClientDisconnect:
        raise HTTPException(413, "the body is too large or too slow") from None
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


def _position(message: schema.PositionRequest) -> tuple[Rules, Board]:
    """Return the rules and the board in a request. The default rules are classic.

    Raises:
        ActionRejected: If the rules are invalid, or are not allowed on a server.
        BoardError: If the board is invalid or has the wrong size.
    """
    board = Board.from_rows(message.board)
    if board.max_tile > _MAX_TILE:
        raise BoardError("the tiles of this board are too large")
    size = "x".join(map(str, board.shape))
    text = f"classic:size={size}" if message.rules is UNSET else message.rules
    rules = checked_rules(text)
    if rules.shape != board.shape:
        raise BoardError(f"the rules play on {rules.rows}x{rules.columns}, the board has {size}")
    return rules, board


def _verified(text: str, secret: str | None) -> schema.VerifiedAnswer:
    """Verify a record and, if a secret is given, its tiles.

    Raises:
        ActionRejected: If the record is too long (``length``) or its rules are not allowed on a
            server (``rules``).
    """
    try:
        record = Record.from_json(text)
        checked_rules(str(record.rules))
        if (turns := sum(1 for _ in record.steps)) > MAX_TURNS:
            limit = f"at most {MAX_TURNS:,} are verified here: use the command py2048 verify"
            raise ActionRejected("length", f"this record has {turns:,} turns: {limit}")
        if secret:
            check_fair(record, secret)
        else:
            record.verify()
    except RecordError as error:
        return schema.VerifiedAnswer(ok=False, error=str(error))
    return schema.VerifiedAnswer(
        ok=True, rules=str(record.rules), player=record.player, score=record.score,
        plies=record.plies, seed=record.seed, fair=bool(secret),
    )  # fmt: skip


# Endpoints


@dataclass
class Endpoint:
    """An endpoint of the API, with the types of its requests and responses.

    Attributes:
        path: The URL path, in which ``{game}`` is a game id.
        view: A view, such as a method of `Api`, which receives the request and, if declared, its
            body and query.
        answer: Type of the response, or of each line in a stream. Defaults to the view's type.
        body: Type of the request body. Defaults to the view's type. Endpoints with a body use POST,
            and all others GET.
        status: Status of a successful response.
        media: Media type of the response.
        query: Type of the query parameters.
    """

    path: str
    view: Callable[..., Awaitable[Any]]
    answer: Any = None
    body: Any = None
    status: int = 200
    media: str = JSON
    query: type[msgspec.Struct] | None = field(init=False)

    def __post_init__(self) -> None:
        types = get_type_hints(self.view)
        self.answer = self.answer or types["return"]
        self.body = self.body or types.get("body")
        self.query = types.get("query")

    @property
    def method(self) -> str:
        """HTTP method."""
        return "GET" if self.body is None else "POST"

    @property
    def summary(self) -> str:
        """One-line summary without a full stop."""
        return (self.view.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def fields(self) -> list[str]:
        """Names of all fields in the body and the query."""
        kinds = [each for each in (self.body, self.query) if each not in (None, Json)]
        return [each.encode_name for kind in kinds for each in msgspec.structs.fields(kind)]

    @property
    def is_for_players(self) -> bool:
        """Whether users must be identified by a token or a cookie."""
        return self.path.startswith(("/api/bot", "/api/games"))

    async def respond(self, api: Api, request: UserRequest) -> Response:
        """Return the response to a request.

        Raises:
            HTTPException, ActionRejected: If the body or the query is invalid.
        """
        args: list[object] = []
        if self.is_for_players:
            await api.auth.identify_player(request)
        if self.body not in (None, Json):
            args.append(await _body(request, self.body))
        if self.query is not None:
            args.append(schema.convert(dict(request.query_params), self.query, strict=False))
        answer = await self.view(api, request, *args)
        return answer if isinstance(answer, Response) else _answer(answer, self.status)


_Streamed = schema.StateMessage | schema.EventsMessage | schema.RejectedMessage
_GAME = "/api/games/{game}"
ENDPOINTS = (
    Endpoint("/api/rules", Api.rules),
    Endpoint("/api/rules/check", Api.check_rules),
    Endpoint("/api/players", Api.players),
    Endpoint("/api/boards/slides", Api.slides),
    Endpoint("/api/hints", Api.hint),
    Endpoint("/api/records/verify", Api.check, body=Json),
    Endpoint("/api/leaderboards", Api.leaderboard),
    Endpoint("/api/bot", Api.me),
    Endpoint("/api/games", Api.create_game, schema.StateMessage, status=201),
    Endpoint(_GAME, Api.game),
    Endpoint(f"{_GAME}/moves", Api.move, schema.EventsMessage | schema.StateMessage),
    Endpoint(f"{_GAME}/stream", Api.stream, _Streamed, media=NDJSON),
    Endpoint(f"{_GAME}/turns", Api.turns),
    Endpoint(f"{_GAME}/record", send_record, schema.RecordAnswer),
    Endpoint(f"{_GAME}/review", Api.review),
    Endpoint(f"{_GAME}/review", Api.request_review, status=202),
)


def api_routes(api: Api) -> list[Route]:
    """Return the routes of all endpoints, and the route of the OpenAPI description."""
    routes = [Route("/api/openapi.json", description), Route("/api/docs", documentation)]
    return [*routes, *(_route(api, path) for path in dict.fromkeys(e.path for e in ENDPOINTS))]


def _route(api: Api, path: str) -> Route:
    """Return the route for all HTTP methods of a path, so that ``Allow`` lists all of them."""
    by_method = {each.method: each for each in ENDPOINTS if each.path == path}

    async def endpoint(request: Request) -> Response:
        found = by_method["GET" if request.method == "HEAD" else request.method]
        return await found.respond(api, UserRequest(request.scope, request.receive))

    return Route(path, endpoint, methods=list(by_method))


# OpenAPI description

ERRORS = {
    400: "The request cannot be read.",
    401: "The token is invalid or has been revoked.",
    403: "This account may not see this game or play this kind of game.",
    404: "There is no such game.",
    409: "The position of the game does not allow this.",
    413: "The body is too large.",
    415: "The body has the wrong type.",
    422: "A value is invalid.",
    429: "Too fast.",
    503: "The store cannot be reached.",
}
"""Descriptions of HTTP error statuses. All error responses have the same type."""


def document() -> Json:
    """Return the OpenAPI document."""
    types: list[Any] = [schema.ErrorAnswer]
    types += [kind for each in ENDPOINTS for kind in (each.answer, each.body, each.query) if kind]
    address = "#/components/schemas/{name}"
    schemas, components = msgspec.json.schema_components(types, ref_template=address)
    by_kind = {repr(kind): {"schema": found} for kind, found in zip(types, schemas, strict=True)}

    def response(meaning: str, kind: Any, media: str = JSON) -> Json:
        return {"description": meaning, "content": {media: by_kind[repr(kind)]}}

    errors = {str(code): response(meaning, schema.ErrorAnswer) for code, meaning in ERRORS.items()}
    paths: Json = {}
    for each in ENDPOINTS:
        success = {str(each.status): response(each.summary, each.answer, each.media)}
        operation: Json = {"summary": each.summary, "responses": success | errors}
        if each.is_for_players:
            operation["security"] = [{}, {"token": []}]
        if each.query is not None:
            fields = components[each.query.__name__]["properties"]
            operation["parameters"] = [
                {"name": name, "in": "query", "schema": kind} for name, kind in fields.items()
            ]
        if each.body is not None:
            body = {"content": {JSON: by_kind[repr(each.body)]}}
            operation["requestBody"] = {"required": True, **body}
        path = paths.setdefault(each.path, {})
        path[each.method.lower()] = operation
        if "{game}" in each.path:
            kind = {"type": "string", "pattern": "^[0-9a-zA-Z]{1,32}$"}
            path["parameters"] = [{"name": "game", "in": "path", "required": True, "schema": kind}]
    token = "A program's token, created on its owner's account page."
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "py2048",
            "version": __version__,
            "description": "Boards, games, records, verification and hints for programs.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": token}
            },
            "schemas": components,
        },
        "paths": paths,
    }


async def description(_request: Request) -> Response:
    """Serve the OpenAPI document."""
    return _answer(document())


async def documentation(_request: Request) -> Response:
    """Serve the documentation page."""
    return HTMLResponse(render_text("api.html", endpoints=ENDPOINTS, errors=ERRORS))
