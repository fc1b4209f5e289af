"""The JSON API: boards, games, records and hints for programs, and its description in OpenAPI 3.1.

The description is made from the types of messages and answers in `py2048.server.schema`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from py2048 import __version__
from py2048.app.session import Hint, PositionSnapshot
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, GameOverError, RecordError
from py2048.core.fairness import check_fair
from py2048.core.game import Record
from py2048.core.rules import Rules
from py2048.players.registry import describe_player
from py2048.server import schema
from py2048.server.http.connections import END
from py2048.server.play import messages
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.rooms import Client, Room
from py2048.server.schema import BOT, CASUAL, ActionRejected
from py2048.server.site.auth import User, Visit, greet_player
from py2048.server.site.games import ask_for_review, page_of_turns, record, visible_game
from py2048.server.site.pages import presets, text_of
from py2048.server.site.reviews import review_answer

Json = dict[str, Any]
JSON, NDJSON = "application/json", "application/x-ndjson"
_SILENCE_S = 10.0
"""After this an empty line shows that a stream is alive."""

MAX_TURNS = 50_000
"""The longest record that is verified here."""

_MAX_TILE = 2**60
STATUS = {"not_yours": 403, "mode": 403, "sealed": 403, "off": 403, "unknown_game": 404, "gap": 409,
          "over": 409, "early": 409, "nothing": 409, "unsaved": 422, "length": 422, "busy": 429,
          "rate": 429, "storage": 503}  # fmt: skip
"""The HTTP status for each reason of a rejection."""

# What needs no store


async def rules(_visit: Visit) -> list[schema.RulesInfo]:
    """List the presets."""
    return presets()


async def check_rules(_visit: Visit, query: schema.RulesQuery) -> schema.RulesInfo:
    """Say what a rules text means here, or why it means nothing."""
    return messages.rules_info(str(checked_rules(query.text)))


async def players(visit: Visit) -> list[schema.PlayerInfo]:
    """List the computer players that may be asked."""
    specs = visit.services.hints.specs
    return [schema.PlayerInfo(spec, describe_player(spec.partition(":")[0])) for spec in specs]


async def slides(_visit: Visit, message: schema.PositionRequest) -> schema.SlidesAnswer:
    """Say what each direction does to a board."""
    return messages.slides_info(*_position(message))


async def hint(visit: Visit, message: schema.AdviceRequest) -> schema.HintAnswer:
    """Say what a computer player would do, and the value of each direction."""
    hints, (rules, board) = visit.services.hints, _position(message)
    spec = hints.checked(message.player, rules, board)
    if not board.can_move():
        raise GameOverError("no move changes this board: the game is over")
    visit.services.limits.check(hints=visit.address)
    found = await anext(hints.advise(spec, PositionSnapshot(rules, board, 0)))
    assert isinstance(found, Hint)  # the first answer always is
    return messages.hint_answer(found)


async def verify(visit: Visit, query: schema.VerifyQuery) -> schema.VerifiedAnswer:
    """Verify that a record follows its rules; with a secret, that its tiles are fair."""
    text = await _text(visit)
    if not isinstance(_parsed(text), dict):
        raise HTTPException(422, "a record is a JSON object")
    return await visit.services.limits.verify(visit.address, _verified, text, query.secret)


# What does


async def me(visit: Visit) -> schema.BotAnswer:
    """Show the program of a token, and its games in progress."""
    if visit.user.bot_of is None:
        headers = {"www-authenticate": "Bearer"}
        raise HTTPException(401, "send the token of a program: Authorization: Bearer …", headers)
    return await visit.services.do(_about, visit.user, visit.user.bot_of)


def _about(games: GameService, user: User, person: str) -> schema.BotAnswer:
    found = [
        schema.BotGame(each.id, each.rules, each.score, each.position, each.updated)
        for each in games.store.online.open_games(user.account)
    ]
    return schema.BotAnswer(user.display, games.account(person).name, found)


async def leaderboard(visit: Visit, query: schema.LeaderboardQuery) -> schema.LeaderboardAnswer:
    """List the best game of each player."""
    wanted = query.board, str(checked_rules(query.rules)), query.period
    found = await visit.services.do(lambda games: games.store.leaderboards.top(*wanted))
    board, rules, period = wanted
    return schema.LeaderboardAnswer(rules, board, period, messages.game_rows(found))


async def create_game(visit: Visit, message: schema.GameRequest) -> Response:
    """Begin a game: with a token a bot game, with a cookie a casual one."""
    services, user = visit.services, visit.user
    services.limits.check(new_games=user.account, new_games_from=visit.address)
    mode = message.mode
    if mode is UNSET:
        mode = BOT if user.bot_of else CASUAL
    _check_mode(user, mode)
    game = await services.do(GameService.begin_game, user.account, message.rules, mode)
    response = _answer(messages.state_of(game, mine=True, autoplay=None), 201)
    response.headers["location"] = f"/api/games/{game.id}"
    visit.remember(response)
    return response


async def game(visit: Visit) -> schema.StateMessage:
    """Show the state of a game."""
    rooms = visit.services.rooms
    room = await rooms.find(await visible_game(visit))
    await room.ready()
    state = room.state_for(visit.user.account)
    rooms.release(room)
    return state


async def turns(visit: Visit, query: schema.TurnsQuery) -> schema.TurnsAnswer:
    """List the turns of a finished game, each with the board and the score after it."""
    game, limits = await visible_game(visit), visit.services.limits
    games = visit.services.rooms.games

    def found() -> schema.TurnsAnswer:
        record = Record.from_json(games.record_text(game))
        return page_of_turns(game, record, query.first, query.limit)

    limits.check(replays=visit.address)
    return await limits.replaying.do(visit.address, found)


async def stream(visit: Visit) -> Response:
    """Stream a game as it happens: its state, then each event, until it is over."""
    game = await visible_game(visit)
    if visit.method == "HEAD":
        return Response(media_type=NDJSON)
    return GameStream(visit, await visit.services.rooms.find(game))


class GameStream(StreamingResponse):
    """The stream of a game, which ends with the game, its reader, or the server.

    Args:
        visit: who asks for it.
        room: the room of the game.
    """

    def __init__(self, visit: Visit, room: Room) -> None:
        # nginx would wait for more without the second.
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(self._lines(), headers=headers, media_type=NDJSON)
        self._visit = visit
        self._room = room
        self._reader = Client(visit.user.account, visit.user.session)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines."""
        reader, rooms = self._reader, self._visit.services.rooms
        with self._visit.services.limits.sockets.held(self._visit.address) as is_free:
            if not is_free:
                raise ActionRejected("busy", "too many streams are open: close one", 1.0)
            rooms.clients.add(reader)
            rooms.enter(reader, self._room)
            try:
                await self._room.ready()
                self._room.send_state(reader)
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


async def review(visit: Visit, query: schema.TurnsQuery) -> schema.ReviewAnswer:
    """Show the review of a finished game as far as it is, with some of its moves."""
    game = await visible_game(visit)
    return await visit.services.do(review_answer, game, query.first, query.limit)


async def request_review(visit: Visit, _asked: schema.ReviewRequest) -> schema.ReviewAnswer:
    """Ask for the review of a finished game; it is computed once, however often it is asked for."""
    return await visit.services.do(review_answer, await ask_for_review(visit))


async def move(visit: Visit, message: schema.MoveBody) -> Response:
    """Slide; answered when it is on the disk."""
    arrived, user, rooms = time.monotonic(), visit.user, visit.services.rooms
    await visit.services.limits.pace(user.account, is_program=user.bot_of is not None)
    room = await rooms.find_own(visit.game, user.account)
    client = Client(user.account)
    rooms.enter(client, room)
    try:
        _check_mode(user, room.game.info.mode)
        await room.loaded()
        direction = Direction.parse(message.direction)
        room.end_autoplay()
        if user.bot_of:
            rooms.keep(room)
        events = room.game.move(message.number, direction, arrived)
        room.broadcast(events, client)
        frame = await client.next() or b""
    finally:
        rooms.leave(client)
    if b'"type":"refused"' in frame[:20]:
        refused = msgspec.json.decode(frame, type=schema.RejectedMessage)
        wait = 0 if refused.retry_ms is UNSET else refused.retry_ms
        raise ActionRejected(refused.reason, refused.message, wait / 1000)
    return Response(frame, media_type=JSON)


def _check_mode(user: User, mode: str) -> None:
    """Refuse to play ranked and daily games of people through the API.

    Raises:
        ActionRejected: reason ``mode``.
    """
    if not user.bot_of and mode != CASUAL:
        raise ActionRejected(
            "mode", f"{mode} games are not played here: programs use a token, people the page"
        )


def _answer(answer: object, status: int = 200) -> Response:
    return Response(schema.encode(answer), status, media_type=JSON)


async def _body(visit: Visit, kind: type[msgspec.Struct]) -> msgspec.Struct:
    """Return the body of a request.

    Raises:
        HTTPException: if it is not JSON.
        ActionRejected: if it is not such a JSON object.
    """
    if visit.headers.get("content-type", "").partition(";")[0].strip() != JSON:
        raise HTTPException(415, "send a body of the type application/json")
    return schema.convert(_parsed(await _text(visit)), kind)


async def _text(visit: Visit) -> str:
    try:
        return (await visit.body()).decode()
    except ClientDisconnect:
        raise HTTPException(413, "the body is too large or too slow") from None
    except UnicodeDecodeError:
        raise HTTPException(400, "the body is not text") from None


def _parsed(text: str) -> object:
    try:
        return msgspec.json.decode(text)  # unlike `json`, refuses half a character ("\ud800")
    except (msgspec.DecodeError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


def _position(message: schema.PositionRequest) -> tuple[Rules, Board]:
    """Return the rules and the board of a request; without rules, classic ones of its size.

    Raises:
        ActionRejected: if the rules are not played here.
        BoardError: if the board is not one, or of another size.
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
    """Return whether a record follows its rules.

    Raises:
        ActionRejected: if it is too long (``length``), or of rules that are not played here.
    """
    try:
        record = Record.from_json(text)
        checked_rules(str(record.rules))
        if (turns := sum(1 for _ in record.steps)) > MAX_TURNS:
            most = f"at most {MAX_TURNS:,} are verified here: use the command py2048 verify"
            raise ActionRejected("length", f"this record has {turns:,} turns: {most}")
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


# The addresses


@dataclass(frozen=True)
class Endpoint:
    """An address of the API, what it takes and what it answers.

    Attributes:
        path: the address; ``{game}`` stands for the id of a game.
        view: answers a visit, given its body and query; the first line of its docstring is the
            summary.
        answer: the type of the answer.
        body: the type of the request's body; with one the method is POST, without one GET.
        query: the type of the query.
        status: the status of the answer.
        media: the type of the answer; `answer` describes each line of a stream.
    """

    path: str
    view: Callable[..., Awaitable[Any]]
    answer: Any
    body: Any = None
    query: type[msgspec.Struct] | None = None
    status: int = 200
    media: str = JSON

    @property
    def method(self) -> str:
        """The method of its requests."""
        return "GET" if self.body is None else "POST"

    @property
    def summary(self) -> str:
        """What it does, in one line without a full stop."""
        return (self.view.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def fields(self) -> list[str]:
        """The names of what it takes."""
        kinds = [each for each in (self.body, self.query) if each not in (None, Json)]
        return [field.encode_name for kind in kinds for field in msgspec.structs.fields(kind)]

    @property
    def is_for_players(self) -> bool:
        """Whether it matters who asks: a token may speak for a program."""
        return self.path.startswith(("/api/bot", "/api/games"))

    async def answered(self, visit: Visit) -> Response:
        """Return the answer to a request.

        Raises:
            HTTPException, ActionRejected: if it carries something else than this takes.
        """
        given = []
        if self.is_for_players:
            await greet_player(visit)
        if self.body not in (None, Json):
            given.append(await _body(visit, self.body))
        if self.query is not None:
            given.append(schema.convert(dict(visit.query_params), self.query, strict=False))
        answer = await self.view(visit, *given)
        return answer if isinstance(answer, Response) else _answer(answer, self.status)


_GAME = "/api/games/{game}"
ENDPOINTS = (
    Endpoint("/api/rules", rules, list[schema.RulesInfo]),
    Endpoint("/api/rules/check", check_rules, schema.RulesInfo, query=schema.RulesQuery),
    Endpoint("/api/players", players, list[schema.PlayerInfo]),
    Endpoint("/api/boards/slides", slides, schema.SlidesAnswer, schema.PositionRequest),
    Endpoint("/api/hints", hint, schema.HintAnswer, schema.AdviceRequest),
    Endpoint("/api/records/verify", verify, schema.VerifiedAnswer, Json, schema.VerifyQuery),
    Endpoint(
        "/api/leaderboards", leaderboard, schema.LeaderboardAnswer, query=schema.LeaderboardQuery
    ),
    Endpoint("/api/bot", me, schema.BotAnswer),
    Endpoint("/api/games", create_game, schema.StateMessage, schema.GameRequest, status=201),
    Endpoint(_GAME, game, schema.StateMessage),
    Endpoint(f"{_GAME}/moves", move, schema.EventsMessage | schema.StateMessage, schema.MoveBody),
    Endpoint(
        f"{_GAME}/stream",
        stream,
        schema.StateMessage | schema.EventsMessage | schema.RejectedMessage,
        media=NDJSON,
    ),
    Endpoint(f"{_GAME}/turns", turns, schema.TurnsAnswer, query=schema.TurnsQuery),
    Endpoint(f"{_GAME}/record", record, schema.RecordAnswer),
    Endpoint(f"{_GAME}/review", review, schema.ReviewAnswer, query=schema.TurnsQuery),
    Endpoint(
        f"{_GAME}/review", request_review, schema.ReviewAnswer, schema.ReviewRequest, status=202
    ),
)


# The description

ERRORS = {
    400: "The request cannot be read.",
    401: "The token is not, or no longer, one of a program.",
    403: "This account may not see this game, or not play this kind of game.",
    404: "There is no such game.",
    409: "Not in this position of the game.",
    413: "The body is too large.",
    415: "The body has another type.",
    422: "The values make no sense.",
    429: "Too fast.",
    503: "The store cannot be reached.",
}
"""The statuses of errors, which all have the same type."""


def document() -> Json:
    """Return the description of the whole API."""
    types: list[Any] = [schema.ErrorAnswer]
    types += [kind for each in ENDPOINTS for kind in (each.answer, each.body, each.query) if kind]
    schemas, components = msgspec.json.schema_components(
        types, ref_template="#/components/schemas/{name}"
    )
    known = {repr(kind): {"schema": found} for kind, found in zip(types, schemas, strict=True)}

    def told(meaning: str, kind: Any, media: str = JSON) -> Json:
        return {"description": meaning, "content": {media: known[repr(kind)]}}

    errors = {str(code): told(meaning, schema.ErrorAnswer) for code, meaning in ERRORS.items()}
    paths: Json = {}
    for each in ENDPOINTS:
        success = {str(each.status): told(each.summary, each.answer, each.media)}
        operation: Json = {"summary": each.summary, "responses": success | errors}
        if each.is_for_players:
            operation["security"] = [{}, {"token": []}]
        if each.query is not None:
            fields = components[each.query.__name__]["properties"]
            operation["parameters"] = [
                {"name": name, "in": "query", "schema": field} for name, field in fields.items()
            ]
        if each.body is not None:
            body = {"content": {JSON: known[repr(each.body)]}}
            operation["requestBody"] = {"required": True, **body}
        path = paths.setdefault(each.path, {})
        path[each.method.lower()] = operation
        if "{game}" in each.path:
            game_id = {"type": "string", "pattern": "^[0-9a-zA-Z]{1,32}$"}
            path["parameters"] = [
                {"name": "game", "in": "path", "required": True, "schema": game_id}
            ]
    token = "The token of a program; people make it on their account page."
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
    """Describe the API."""
    return _answer(document())


async def documentation(_request: Request) -> Response:
    """Describe the API for people."""
    return HTMLResponse(text_of("api.html", endpoints=ENDPOINTS, errors=ERRORS))


def _route(path: str) -> Route:
    """Return the route of an address, which knows all methods that it takes."""
    known = {each.method: each for each in ENDPOINTS if each.path == path}

    async def answer(request: Request) -> Response:
        asked = known["GET" if request.method == "HEAD" else request.method]
        return await asked.answered(Visit(request.scope, request.receive))

    return Route(path, answer, methods=list(known))


ROUTES = (
    Route("/api/openapi.json", description),
    Route("/api/docs", documentation),
    *map(_route, dict.fromkeys(each.path for each in ENDPOINTS)),
)
