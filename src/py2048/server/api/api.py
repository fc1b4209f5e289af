"""The JSON API: boards, games, records and hints for programs; `openapi` describes it."""

from __future__ import annotations

import time
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import BoardError, GameOverError, RecordError
from py2048.game import Record
from py2048.players.registry import describe_player
from py2048.rules import Rules, list_rules
from py2048.server import schema
from py2048.server.api import bots
from py2048.server.api.openapi import Endpoint, View, document
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.fairness import check_fair
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.rooms import Client
from py2048.server.schema import BOT, CASUAL, ActionRejected, checked_game_id
from py2048.server.site.auth import User, player_of, remember, services_of
from py2048.server.site.games import ask_for_review, visible_game
from py2048.server.site.pages import text_of
from py2048.server.site.reviews import review_answer
from py2048.session import Hint, PositionSnapshot

MAX_TURNS = 50_000
"""The longest record that is verified here."""

_MAX_TILE = 2**60
_T = TypeVar("_T")
STATUS = {"not_yours": 403, "mode": 403, "sealed": 403, "off": 403, "unknown_game": 404, "gap": 409,
          "over": 409, "early": 409, "nothing": 409, "unsaved": 422, "length": 422, "busy": 429,
          "rate": 429, "storage": 503}  # fmt: skip
"""The HTTP status for each reason of a rejection."""

# What needs no store


async def rules(_request: Request) -> Response:
    """The presets."""
    return _answer([messages.rules_info(str(rules)) for rules in list_rules()])


async def check_rules(request: Request) -> Response:
    """What a rules text means here, or why it means nothing."""
    query = _query(request, schema.RulesQuery)
    return _answer(messages.rules_info(str(checked_rules(query.text))))


async def players(request: Request) -> Response:
    """The computer players that may be asked."""
    specs = services_of(request).hints.specs
    return _answer(
        [schema.PlayerInfo(spec, describe_player(spec.partition(":")[0])) for spec in specs]
    )


async def slides(request: Request) -> Response:
    """What each direction does to a board."""
    rules, board = _position(await _body(request, schema.PositionRequest))
    return _answer(messages.slides_info(rules, board))


async def hint(request: Request) -> Response:
    """What a computer player would do, and the value of each direction."""
    message, services = await _body(request, schema.AdviceRequest), services_of(request)
    rules, board = _position(message)
    spec = services.hints.checked(message.player, rules, board)
    if not board.can_move():
        raise GameOverError("no move changes this board: the game is over")
    services.limits.check(hints=address_of(request.scope))
    found = await anext(services.hints.advise(spec, PositionSnapshot(rules, board, 0)))
    assert isinstance(found, Hint)  # the first answer always is
    return _answer(messages.hint_answer(found))


async def verify(request: Request) -> Response:
    """Whether a record follows its rules; with a secret, whether its tiles are fair."""
    text = await _text(request)
    if not isinstance(_parsed(text), dict):
        raise HTTPException(422, "a record is a JSON object")
    secret = _query(request, schema.VerifyQuery).secret
    limits, address = services_of(request).limits, address_of(request.scope)
    return _answer(await limits.verify(address, _verified, text, secret))


# What does


async def leaderboard(request: Request) -> Response:
    """The best game of each player."""
    query = _query(request, schema.LeaderboardQuery)
    rules = str(checked_rules(query.rules))
    found = await services_of(request).do(
        lambda games: games.store.leaderboards.top(query.board, rules, query.period)
    )
    rows = messages.game_rows(found)
    return _answer(schema.LeaderboardAnswer(rules, query.board, query.period, rows))


async def create_game(request: Request) -> Response:
    """Begin a game: with a token a bot game, with a cookie a casual one."""
    user, message = await player_of(request), await _body(request, schema.GameRequest)
    services = services_of(request)
    services.limits.check(new_games=user.account, new_games_from=address_of(request.scope))
    mode = message.mode
    if mode is UNSET:
        mode = BOT if user.bot_of else CASUAL
    _check_mode(user, mode)
    rooms = await services.ready()
    game = await rooms.begin(rooms.games.plan_game, user.account, message.rules, mode)
    response = _answer(messages.state_of(game, mine=True, autoplay=None), 201)
    response.headers["location"] = f"/api/games/{game.id}"
    remember(request, response)
    return response


async def game(request: Request) -> Response:
    """The state of a game."""
    user, rooms = await player_of(request), services_of(request).rooms
    room = await rooms.find(await visible_game(request, user))
    await room.ready()
    state = room.state_for(user.account)
    rooms.release(room)
    return _answer(state)


async def turns(request: Request) -> Response:
    """The turns of a finished game, each with the board and the score after it."""
    game, services = await visible_game(request, await player_of(request)), services_of(request)
    query, games = _query(request, schema.TurnsQuery), services.rooms.games
    limits, address = services.limits, address_of(request.scope)

    def found() -> schema.TurnsAnswer:
        record = Record.from_json(games.record_text(game))
        return services.replays.turns(game, record, query.first, query.limit)

    limits.check(replays=address)
    return _answer(await limits.replaying.do(address, found))


async def record(request: Request) -> Response:
    """The record of a finished game."""
    game = await visible_game(request, await player_of(request))
    text = await services_of(request).do(GameService.record_text, game)
    return Response(text, media_type="application/json")


async def review(request: Request) -> Response:
    """The review of a finished game as far as it is, with some of its moves."""
    game = await visible_game(request, await player_of(request))
    query = _query(request, schema.TurnsQuery)
    found = await services_of(request).do(review_answer, game, query.first, query.limit)
    return _answer(found)


async def request_review(request: Request) -> Response:
    """Ask for the review of a finished game; it is computed once, however often it is asked for."""
    user = await player_of(request)
    await _body(request, schema.ReviewRequest)
    game = await ask_for_review(request, user)
    return _answer(await services_of(request).do(review_answer, game), 202)


async def move(request: Request) -> Response:
    """Slide; answered when it is on the disk."""
    arrived = time.monotonic()
    user, message = await player_of(request), await _body(request, schema.MoveBody)
    services = services_of(request)
    await _check_pace(request, user)
    rooms = services.rooms
    room = await rooms.find_own(checked_game_id(request.path_params["game"]), user.account)
    client = Client(user.account)
    rooms.enter(client, room)
    try:
        _check_mode(user, room.game.info.mode)
        await room.loaded()
        direction = Direction.parse(message.direction)
        room.end_autoplay()
        if user.bot_of:
            services.bots.sit(rooms, room)
        events = room.game.move(message.number, direction, arrived)
        room.broadcast(events, client)
        frame = await client.first()
    finally:
        rooms.leave(client, by_choice=True)
    if b'"type":"refused"' in frame[:20]:
        refused = msgspec.json.decode(frame, type=schema.RejectedMessage)
        wait = 0 if refused.retry_ms is UNSET else refused.retry_ms
        raise ActionRejected(refused.reason, refused.message, wait / 1000)
    return Response(frame, media_type="application/json")


async def _check_pace(request: Request, user: User) -> None:
    """Hold a program back that moves too fast; refuse people who do.

    Raises:
        ActionRejected: reason ``rate``.
    """
    services = services_of(request)
    try:
        if user.bot_of:
            await services.bots.wait_turn(user.account)
        else:
            services.limits.check(moves=user.account)
    except ActionRejected:
        services.metrics.limited.inc()
        raise


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
    return Response(schema.encode(answer), status, media_type="application/json")


async def _body(request: Request, kind: type[_T]) -> _T:
    """Return the body of a request.

    Raises:
        HTTPException: if it is not JSON.
        ActionRejected: if it is not such a JSON object.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send a body of the type application/json")
    return schema.convert(_parsed(await _text(request)), kind)


def _query(request: Request, kind: type[_T]) -> _T:
    return schema.convert(dict(request.query_params), kind, strict=False)


async def _text(request: Request) -> str:
    try:
        return (await request.body()).decode()
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

ENDPOINTS = (
    Endpoint("/api/rules", rules, list[schema.RulesInfo]),
    Endpoint("/api/rules/check", check_rules, schema.RulesInfo, query=schema.RulesQuery),
    Endpoint("/api/players", players, list[schema.PlayerInfo]),
    Endpoint("/api/boards/slides", slides, schema.SlidesAnswer, schema.PositionRequest),
    Endpoint("/api/hints", hint, schema.HintAnswer, schema.AdviceRequest, also=(409,)),
    Endpoint(
        "/api/records/verify",
        verify,
        schema.VerifiedAnswer,
        dict[str, Any],
        schema.VerifyQuery,
    ),
    Endpoint(
        "/api/leaderboards",
        leaderboard,
        schema.LeaderboardAnswer,
        query=schema.LeaderboardQuery,
        also=(503,),
    ),
    Endpoint(
        "/api/games",
        create_game,
        schema.StateMessage,
        schema.GameRequest,
        status=201,
        also=(401, 403, 503),
    ),
    Endpoint("/api/games/{game}", game, schema.StateMessage),
    Endpoint("/api/games/{game}/turns", turns, schema.TurnsAnswer, query=schema.TurnsQuery),
    Endpoint("/api/games/{game}/record", record, schema.RecordAnswer),
    Endpoint("/api/games/{game}/review", review, schema.ReviewAnswer, query=schema.TurnsQuery),
    Endpoint(
        "/api/games/{game}/review",
        request_review,
        schema.ReviewAnswer,
        schema.ReviewRequest,
        status=202,
    ),
    Endpoint(
        "/api/games/{game}/moves",
        move,
        schema.EventsMessage | schema.StateMessage,
        schema.MoveBody,
        also=(409,),
    ),
    *bots.ENDPOINTS,
)


async def description(_request: Request) -> Response:
    """The description of the API itself."""
    return _answer(document(ENDPOINTS))


async def documentation(_request: Request) -> Response:
    """The description for people."""
    return HTMLResponse(text_of("api.html", endpoints=ENDPOINTS))


def _routes() -> list[Route]:
    """Return one route for each address, which knows all methods that it takes."""
    views: dict[str, dict[str, View]] = {}
    for each in ENDPOINTS:
        views.setdefault(each.path, {})[each.method] = each.view
    return [_route(path, by_method) for path, by_method in views.items()]


def _route(path: str, views: dict[str, View]) -> Route:
    async def answer(request: Request) -> Response:
        return await views["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, answer, methods=list(views))


ROUTES = (
    Route("/api/openapi.json", description),
    Route("/api/docs", documentation),
    *_routes(),
)
