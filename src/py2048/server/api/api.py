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
from py2048.server.api import openapi
from py2048.server.api.bot_api import BotApi
from py2048.server.api.openapi import Endpoint, Handler
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.fairness import check_fair
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.rooms import Client
from py2048.server.schema import BOT, CASUAL, ActionRejected, checked_game_id
from py2048.server.services import Services
from py2048.server.site.auth import Auth, User
from py2048.server.site.pages import Pages
from py2048.server.site.replays import Replays
from py2048.server.site.reviews import review_answer
from py2048.session import Hint, PositionSnapshot

MOST_TURNS = 50_000
"""The longest record that is verified here."""

_LARGEST_TILE = 2**60
_T = TypeVar("_T")
STATUS = {"not_yours": 403, "mode": 403, "sealed": 403, "off": 403, "unknown_game": 404, "gap": 409,
          "over": 409, "early": 409, "nothing": 409, "unsaved": 422, "length": 422, "busy": 429,
          "rate": 429, "storage": 503}  # fmt: skip
"""The HTTP status for each reason of a rejection."""


class Api:
    """The JSON API.

    Args:
        services: the server's parts.
        auth: tells who asks.
        pages: renders the description for people.
    """

    def __init__(self, services: Services, auth: Auth, pages: Pages) -> None:
        self._services = services
        self._auth = auth
        self._pages = pages
        self._replays = Replays()
        self.endpoints = (*self._make_endpoints(), *BotApi(services, auth).endpoints)

    def routes(self) -> list[Route]:
        """Return the routes of the API."""
        handlers: dict[str, dict[str, Handler]] = {}
        for each in self.endpoints:
            handlers.setdefault(each.path, {})[each.method] = each.handler
        return [
            Route("/api/openapi.json", self.description),
            Route("/api/docs", self.documentation),
            *(_route(path, by_method) for path, by_method in handlers.items()),
        ]

    def _make_endpoints(self) -> tuple[Endpoint, ...]:
        return (
            Endpoint("/api/rules", self.rules, list[schema.RulesInfo]),
            Endpoint(
                "/api/rules/check", self.check_rules, schema.RulesInfo, query=schema.RulesQuery
            ),
            Endpoint("/api/players", self.players, list[schema.PlayerInfo]),
            Endpoint(
                "/api/boards/slides", self.slides, schema.SlidesAnswer, schema.PositionRequest
            ),
            Endpoint("/api/hints", self.hint, schema.HintAnswer, schema.AdviceRequest, also=(409,)),
            Endpoint(
                "/api/records/verify", self.verify, schema.VerifiedAnswer, dict[str, Any],
                schema.VerifyQuery,
            ),
            Endpoint(
                "/api/leaderboards", self.leaderboard, schema.LeaderboardAnswer,
                query=schema.LeaderboardQuery, also=(503,),
            ),
            Endpoint(
                "/api/games", self.create_game, schema.StateMessage, schema.GameRequest,
                status=201, also=(401, 403, 503),
            ),
            Endpoint("/api/games/{game}", self.game, schema.StateMessage),
            Endpoint(
                "/api/games/{game}/turns", self.turns, schema.TurnsAnswer, query=schema.TurnsQuery
            ),
            Endpoint("/api/games/{game}/record", self.record, schema.RecordAnswer),
            Endpoint(
                "/api/games/{game}/review", self.review, schema.ReviewAnswer,
                query=schema.TurnsQuery,
            ),
            Endpoint(
                "/api/games/{game}/review", self.request_review, schema.ReviewAnswer,
                schema.ReviewRequest, status=202,
            ),
            Endpoint(
                "/api/games/{game}/moves", self.move, schema.EventsMessage | schema.StateMessage,
                schema.MoveBody, also=(409,),
            ),
        )  # fmt: skip

    # What needs no store

    async def description(self, _request: Request) -> Response:
        """The description of the API itself."""
        return _answer(openapi.document(self.endpoints))

    async def documentation(self, _request: Request) -> Response:
        """The description for people."""
        return HTMLResponse(self._pages.text("api.html", endpoints=self.endpoints))

    async def rules(self, _request: Request) -> Response:
        """The presets."""
        return _answer([messages.rules_info(str(rules)) for rules in list_rules()])

    async def check_rules(self, request: Request) -> Response:
        """What a rules text means here, or why it means nothing."""
        query = _query(request, schema.RulesQuery)
        return _answer(messages.rules_info(str(checked_rules(query.text))))

    async def players(self, _request: Request) -> Response:
        """The computer players that may be asked."""
        specs = self._services.hints.specs
        return _answer(
            [schema.PlayerInfo(spec, describe_player(spec.partition(":")[0])) for spec in specs]
        )

    async def slides(self, request: Request) -> Response:
        """What each direction does to a board."""
        rules, board = _position(await _body(request, schema.PositionRequest))
        return _answer(messages.slides_info(rules, board))

    async def hint(self, request: Request) -> Response:
        """What a computer player would do, and the value of each direction."""
        message = await _body(request, schema.AdviceRequest)
        rules, board = _position(message)
        spec = self._services.hints.checked(message.player, rules, board)
        if not board.can_move():
            raise GameOverError("no move changes this board: the game is over")
        self._services.limits.check_hint(address_of(request.scope))
        hint = await anext(self._services.hints.advise(spec, PositionSnapshot(rules, board, 0)))
        assert isinstance(hint, Hint)  # the first answer always is
        return _answer(messages.hint_answer(hint))

    async def verify(self, request: Request) -> Response:
        """Whether a record follows its rules; with a secret, whether its tiles are fair."""
        text = await _text(request)
        if not isinstance(_parsed(text), dict):
            raise HTTPException(422, "a record is a JSON object")
        secret = _query(request, schema.VerifyQuery).secret
        limits, address = self._services.limits, address_of(request.scope)
        return _answer(await limits.verify(address, _verified, text, secret))

    # What does

    async def leaderboard(self, request: Request) -> Response:
        """The best game of each player."""
        query = _query(request, schema.LeaderboardQuery)
        rules = str(checked_rules(query.rules))
        found = await self._services.do(
            lambda games: games.store.leaderboards.top(query.board, rules, query.period)
        )
        rows = messages.game_rows(found)
        return _answer(schema.LeaderboardAnswer(rules, query.board, query.period, rows))

    async def create_game(self, request: Request) -> Response:
        """Begin a game: with a token a bot game, with a cookie a casual one."""
        user, message = await self._auth.player(request), await _body(request, schema.GameRequest)
        self._services.limits.check_new_game(user.account, address_of(request.scope))
        mode = message.mode
        if mode is UNSET:
            mode = BOT if user.bot_of else CASUAL
        _check_mode(user, mode)
        rooms = await self._services.ready()
        control = None if message.time_control is UNSET else message.time_control
        game = await rooms.begin(rooms.games.plan_game, user.account, message.rules, mode, control)
        response = _answer(messages.state_of(game, mine=True, autoplay=None), 201)
        response.headers["location"] = f"/api/games/{game.id}"
        self._auth.remember(response, user)
        return response

    async def game(self, request: Request) -> Response:
        """The state of a game."""
        user = await self._auth.player(request)
        rooms = self._services.rooms
        room = await rooms.find(await self._visible_game(request, user))
        await room.ready()
        state = room.state_for(user.account)
        rooms.release(room)
        return _answer(state)

    async def turns(self, request: Request) -> Response:
        """The turns of a finished game, each with the board and the score after it."""
        game = await self._visible_game(request, await self._auth.player(request))
        query, games = _query(request, schema.TurnsQuery), self._services.rooms.games
        limits, address = self._services.limits, address_of(request.scope)
        limits.check_replay(address)
        return _answer(await limits.replaying.do(address, self._turns, games, game, query))

    def _turns(self, games: GameService, game: str, query: schema.TurnsQuery) -> schema.TurnsAnswer:
        """Return some turns of a finished game.

        Raises:
            ActionRejected: if there is no record of such a game.
        """
        record = Record.from_json(games.record_text(game))
        return self._replays.turns(game, record, query.first, query.limit)

    async def record(self, request: Request) -> Response:
        """The record of a finished game."""
        game = await self._visible_game(request, await self._auth.player(request))
        text = await self._services.do(GameService.record_text, game)
        return Response(text, media_type="application/json")

    async def review(self, request: Request) -> Response:
        """The review of a finished game as far as it is, with some of its moves."""
        game = await self._visible_game(request, await self._auth.player(request))
        query = _query(request, schema.TurnsQuery)
        return _answer(await self._services.do(review_answer, game, query.first, query.limit))

    async def request_review(self, request: Request) -> Response:
        """Ask for the review of a finished game; it is computed once, whoever asks."""
        user = await self._auth.player(request)
        await _body(request, schema.ReviewRequest)
        game = await self._services.request_review(
            request.path_params["game"], user.account, address_of(request.scope)
        )
        return _answer(await self._services.do(review_answer, game), 202)

    async def move(self, request: Request) -> Response:
        """Slide; answered when it is on the disk."""
        arrived = time.monotonic()
        user, message = await self._auth.player(request), await _body(request, schema.MoveBody)
        await self._check_pace(user)
        rooms = self._services.rooms
        room = await rooms.find_own(checked_game_id(request.path_params["game"]), user.account)
        client = Client(user.account)
        rooms.enter(client, room)
        try:
            _check_mode(user, room.game.info.mode)
            await room.loaded()
            direction = Direction.parse(message.direction)
            room.end_autoplay()
            if user.bot_of:
                self._services.bots.sit(rooms, room)
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

    async def _check_pace(self, user: User) -> None:
        """Hold a program back that moves too fast; refuse people who do.

        Raises:
            ActionRejected: reason ``rate``.
        """
        limits, metrics = self._services.limits, self._services.metrics
        try:
            if user.bot_of:
                await self._services.bots.wait_turn(user.account)
            elif wait := limits.moves.take(user.account):
                raise ActionRejected("rate", "too fast: wait a moment", wait)
        except ActionRejected:
            metrics.limited.inc()
            raise

    async def _visible_game(self, request: Request, user: User) -> str:
        """Return the id of a game that the user may see."""
        return await self._services.visible_game(request.path_params["game"], user.account)


def _route(path: str, handlers: dict[str, Handler]) -> Route:
    """Return the one route of an address, which knows all methods that it takes."""

    async def handle(request: Request) -> Response:
        return await handlers["GET" if request.method == "HEAD" else request.method](request)

    return Route(path, handle, methods=list(handlers))


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
        HTTPException: if it is no JSON.
        ActionRejected: if it is no such JSON object.
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
        raise HTTPException(400, "the body is no text") from None


def _parsed(text: str) -> object:
    try:
        return msgspec.json.decode(text)  # unlike `json`, refuses half a character ("\ud800")
    except (msgspec.DecodeError, RecursionError):
        raise HTTPException(400, "the body is no JSON") from None


def _position(message: schema.PositionRequest) -> tuple[Rules, Board]:
    """Return the rules and the board of a request; without rules, classic ones of its size.

    Raises:
        ActionRejected: if the rules are not played here.
        BoardError: if the board is none, or of another size.
    """
    board = Board.from_rows(message.board)
    if board.max_tile > _LARGEST_TILE:
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
        if (turns := sum(1 for _ in record.steps)) > MOST_TURNS:
            most = f"at most {MOST_TURNS:,} are verified here: use the command py2048 verify"
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
