"""The pages that people read: what each template is given."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar

import jinja2
import msgspec
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from py2048 import __version__
from py2048.players import Unit
from py2048.review.plots import GRAPH
from py2048.review.words import number
from py2048.rules import get_rules, list_rules
from py2048.server import schema
from py2048.server.http.assets import Assets
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.fairness import (
    commitment_of,
    daily_seed,
    is_sealed,
    known_secret,
    revelation_of,
    sealed_until,
)
from py2048.server.play.games import MAX_SIDE, GameService, checked_rules
from py2048.server.play.messages import rules_info
from py2048.server.schema import BOARDS, PERIODS, POSITION
from py2048.server.services import Services
from py2048.server.settings import Settings
from py2048.server.site.auth import Auth, User
from py2048.server.site.icons import icon_route
from py2048.server.site.profiles import player_page
from py2048.server.site.reviews import MOST_MOVES, review_answer
from py2048.server.site.streaks import streak_of
from py2048.ui.shared.actions import BY_NAME
from py2048.ui.shared.themes import THEMES

TEMPLATES = Path(__file__).parents[1] / "templates"
_HOLDS = 1.0
"""Seconds for which a leaderboard is shown as it was."""

_MOST_ANSWERS = 256
_FIRST_DAY = date(2024, 1, 1)
_T = TypeVar("_T")


class Pages:
    """The pages.

    Args:
        services: the server's parts.
        auth: tells who asks.
    """

    def __init__(self, services: Services, auth: Auth) -> None:
        self._services = services
        self._auth = auth
        self._lists: RecentAnswers[Markup] = RecentAnswers(_HOLDS)
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= {
            "amount": lambda value, unit, **how: number(Unit(unit), value, **how),
            "rank": THEMES[0].rank,
        }
        self.assets = Assets({"css/themes.css": self.text("themes.css", themes=THEMES)})
        self._environment.globals["asset"] = self.assets.address

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/", self.play),
            Route("/game/{game}", self.game),
            Route("/game/{game}/record", self.record),
            Route("/game/{game}/review", self.request_review, methods=["POST"]),
            Route("/leaderboards", self.leaderboards),
            Route("/live", self.live),
            Route("/daily", self.daily),
            Route("/player/{name}", self.player),
            Route("/about", self.about),
            self.assets.route(),
            icon_route(),
        ]

    def text(self, template: str, **values: object) -> str:
        """Return a template filled in."""
        return self._environment.get_template(template).render(**values)

    def render(
        self, request: Request, user: User, template: str, status: int = 200, **values: object
    ) -> HTMLResponse:
        """Return a page for a user."""
        text = self.text(
            template,
            me={"name": user.display, "is_guest": user.is_guest},
            path=request.url.path,
            version=__version__,
            status=status,
            **values,
        )
        response = HTMLResponse(text, status, headers={"cache-control": "private, no-cache"})
        self._auth.remember(response, user)
        return response

    async def play(self, request: Request) -> Response:
        """Play at once. This page needs no store: it is the first that anybody sees."""
        user = await self._auth.user(request, wait=False)
        players = self._services.hints.specs
        return self.render(
            request, user, "play.html",
            rules=presets(), players=players, longest_side=MAX_SIDE, actions=BY_NAME,
        )  # fmt: skip

    async def about(self, request: Request) -> Response:
        """What is promised."""
        user = await self._auth.user(request, wait=False)
        return self.render(request, user, "about.html")

    async def game(self, request: Request) -> Response:
        """The permanent page of a game: its replay, or live while it is in progress."""
        user = await self._auth.user(request)
        game = await self._services.visible_game(request.path_params["game"], user.account)
        value = await self._services.do(game_page, game, user.account)
        if value is None:
            raise HTTPException(404, "There is no such game.")
        review = None
        if value["is_over"] and not value["sealed_until"]:
            review = await self._services.do(review_answer, game)
        return self.render(
            request, user, "game.html", game=value, review=review,
            most_moves=MOST_MOVES, graph=GRAPH,
            reviews_games=self._services.settings.reviews > 0,
        )  # fmt: skip

    async def request_review(self, request: Request) -> Response:
        """Ask for the review of a finished game, and go back to its page."""
        user = await self._auth.user(request)
        game = await self._services.request_review(
            request.path_params["game"], user.account, address_of(request.scope)
        )
        response = RedirectResponse(f"/game/{game}#review", 303)
        self._auth.remember(response, user)
        return response

    async def record(self, request: Request) -> Response:
        """The record of a game, to be kept and verified anywhere."""
        user = await self._auth.user(request)
        game = await self._services.visible_game(request.path_params["game"], user.account)
        found = await self._services.do(GameService.record_text, game)
        disposition = f'attachment; filename="{game}.2048.json"'
        headers = {"content-disposition": disposition}
        return Response(found, media_type="application/json", headers=headers)

    async def leaderboards(self, request: Request) -> Response:
        """The best games by rules, board and time."""
        user = await self._auth.user(request)
        query = request.query_params
        chosen = rules_info(str(checked_rules(query.get("rules", "classic"))))
        board, period = query.get("board", "ranked"), query.get("period", "ever")
        seasons = await self._services.do(lambda games: games.store.leaderboards.seasons())
        if board not in BOARDS or board == "daily" or period not in (*PERIODS, *seasons):
            raise HTTPException(404, "There is no such board.")
        lists = await self._lists.get(
            (board, chosen.text, period), lambda: self._leaderboard(board, chosen.text, period)
        )
        return self.render(
            request, user, "leaderboards.html", chosen=chosen, board=board, period=period,
            rules=presets(), boards=[name for name in BOARDS if name != "daily"],
            periods=PERIODS, seasons=seasons, lists=lists,
        )  # fmt: skip

    def forget_lists(self) -> None:
        """Forget the leaderboards shown before: an account is deleted."""
        self._lists.clear()

    async def _leaderboard(self, board: str, rules: str, period: str) -> Markup:
        rooms = await self._services.ready()
        found = await rooms.in_thread(rooms.games.store.leaderboards.top, board, rules, period)
        live = await rooms.live_games()
        rows, open_rows = messages.game_rows(found), messages.game_rows(live)
        is_past = period not in PERIODS
        return Markup(self.text("_leaderboard.html", rows=rows, live=open_rows, is_past=is_past))

    async def live(self, request: Request) -> Response:
        """The games that can be watched now."""
        user = await self._auth.user(request)
        rooms = await self._services.ready()
        rows = messages.game_rows(await rooms.live_games())
        return self.render(request, user, "live.html", games=rows)

    async def daily(self, request: Request) -> Response:
        """The challenge of a day."""
        user = await self._auth.user(request)
        today = datetime.now(UTC).date()
        day = checked_day(request.query_params.get("day"), today)
        values = await self._services.do(daily_page, day.isoformat(), user.account, today)
        return self.render(
            request, user, "daily.html", today=today.isoformat(), **days_at(day, today), **values
        )

    async def player(self, request: Request) -> Response:
        """A player's statistics and games."""
        user = await self._auth.user(request)
        name, rules = request.path_params["name"][:100], request.query_params.get("rules")
        chosen = None if rules is None else str(checked_rules(rules))
        values = None if "\0" in name else await self._services.do(player_page, name, chosen)
        if values is None:
            raise HTTPException(404, "Nobody here has that name.")
        return self.render(request, user, "player.html", **values)


def game_page(games: GameService, game_id: str, account: str) -> dict[str, Any] | None:
    """Return what the page of a game shows to an account; None if there is none."""
    info = games.store.online.info(game_id)
    if info is None:
        return None
    row = _row_of(games, game_id)
    if row is None:
        return None
    is_over = row.finished is not None
    return {
        **msgspec.structs.asdict(row),
        "player": info.name,
        "id": game_id,
        "mine": info.owner == account,
        "mode": info.mode,
        "control": info.control,
        "day": info.day,
        "is_over": is_over,
        "commitment": commitment_of(info.secret) if info.secret else None,
        "secret": known_secret(info, is_over=is_over),
        "seed": daily_seed(date.fromisoformat(info.day)) if info.day and not info.secret else None,
        "from_position": row.board == POSITION,
        "can_play_on": is_over and not is_sealed(info),
        "assisted": is_over and row.board in ("assisted", "computer"),
        "offline": row.board == "offline",
        "verified": is_over,
        "sealed_until": sealed_until(info),
    }


def _row_of(games: GameService, game_id: str) -> schema.GameRow | None:
    """Return a game as a row of a list, None if there is none."""
    # In this order: a game that is finished meanwhile is found in one of the two.
    in_progress = games.store.online.open_game(game_id)
    summary = games.store.records.summary(game_id)
    found = summary or in_progress
    return None if found is None else messages.game_row(found)


def daily_page(games: GameService, day: str, account: str, today: date) -> dict[str, Any]:
    """Return what the page of a day's challenge shows, with the account's own game."""
    rules = rules_info(str(get_rules("classic")))
    found = games.store.leaderboards.top("daily", rules.text, day)
    commitment, secret = games.challenge(day)
    results = games.store.online.daily_results(account)
    mine = next((each.game_id for each in results if each.day == day), None)
    revealed = revelation_of(day).date()
    opened = [each for each in results if each.category and revelation_of(each.day).date() <= today]
    return {
        "chosen": rules,
        "rows": messages.game_rows(found),
        "mine": mine and _row_of(games, mine),
        "streak": streak_of(results, today),
        "opened": opened[-1] if opened else None,
        "commitment": commitment,
        "secret": secret,
        "revealed": revealed,
        "is_revealed": revealed <= today,
    }


def origin_of(settings: Settings, request: Request) -> str:
    """Return where this server is, as others may reach it."""
    return settings.origin or f"{request.url.scheme}://{request.url.netloc}"


def presets() -> list[schema.RulesInfo]:
    """Return the presets."""
    return [rules_info(str(rules)) for rules in list_rules()]


def checked_day(text: str | None, today: date, what: str = "challenge") -> date:
    """Return the day that an address names, today if it names none.

    Raises:
        HTTPException: if it is no day, or one without a challenge or a puzzle.
    """
    try:
        day = date.fromisoformat(text) if text else today
    except ValueError:
        raise HTTPException(404, "That is no day.") from None
    if not _FIRST_DAY <= day <= today:
        raise HTTPException(404, f"There is no {what} on that day.")
    return day


def days_at(day: date, today: date) -> dict[str, Any]:
    """Return a day with those before and after it that have a page, as templates show them."""
    one = timedelta(days=1)
    return {
        "day": day.isoformat(),
        "previous": (day - one).isoformat() if day > _FIRST_DAY else None,
        "next": (day + one).isoformat() if day < today else None,
    }


class RecentAnswers(Generic[_T]):
    """The latest answers by question: worked out once, however many ask meanwhile.

    Args:
        seconds: how long an answer is used.
        clock: tells the seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._answers: dict[object, tuple[float, asyncio.Future[_T]]] = {}

    async def get(self, question: object, answer: Callable[[], Awaitable[_T]]) -> _T:
        """Return the recent answer, or work it out; a failure is told to all who wait."""
        now = self._clock()
        since, found = self._answers.get(question, (0.0, None))
        if found is None or (found.done() and now - since > self._seconds):
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            found = asyncio.ensure_future(answer())
            self._answers[question] = now, found
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Forget all answers."""
        self._answers.clear()
