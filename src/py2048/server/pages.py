"""The pages that people read: what each template is given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from py2048 import __version__
from py2048.rules import get_rules, list_rules
from py2048.server import rows
from py2048.server.bounds import LARGEST_SIDE, checked_rules
from py2048.server.daily import challenge, check_shown
from py2048.server.fairness import daily_seed, known_secret, revelation_of
from py2048.server.house import BOARDS, PERIODS
from py2048.server.identity import Identity, Visitor
from py2048.server.messages import rules_value
from py2048.server.recent import Recent
from py2048.server.requests import is_game_id, is_text
from py2048.server.services import Services
from py2048.server.table import RefusedError
from py2048.ui.shared.themes import THEMES

TEMPLATES = Path(__file__).with_name("templates")
_MOST_RECENT = 20
_HOLDS = 1.0
"""Seconds for which a leaderboard is shown as it was."""


class Pages:
    """The pages.

    Args:
        services: the server's parts.
        identity: tells who asks.
    """

    def __init__(self, services: Services, identity: Identity) -> None:
        self._services = services
        self._identity = identity
        self._lists: Recent[Markup] = Recent(_HOLDS)
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/", self.play),
            Route("/game/{game}", self.game),
            Route("/game/{game}/record", self.record),
            Route("/leaderboards", self.leaderboards),
            Route("/daily", self.daily),
            Route("/player/{name}", self.player),
            Route("/about", self.about),
            Route("/themes.css", self.themes),
        ]

    def render(
        self, request: Request, visitor: Visitor, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """Return a page for a visitor."""
        text = self._environment.get_template(template).render(
            me={"name": visitor.display, "is_guest": visitor.is_guest},
            path=request.url.path,
            version=__version__,
            status=status,
            **values,
        )
        response = HTMLResponse(text, status, headers={"cache-control": "private, no-cache"})
        self._identity.remember(response, visitor)
        return response

    async def play(self, request: Request) -> Response:
        """Play at once. This page needs no store: it is the first that anybody sees."""
        visitor = await self._identity.visitor(request, wait=False)
        presets = [rules_value(str(rules)) for rules in list_rules()]
        players = self._services.advisers.specs
        return self.render(
            request, visitor, "play.html",
            rules=presets, players=players, longest_side=LARGEST_SIDE,
        )  # fmt: skip

    async def about(self, request: Request) -> Response:
        """What is promised."""
        visitor = await self._identity.visitor(request, wait=False)
        return self.render(request, visitor, "about.html")

    async def themes(self, _request: Request) -> Response:
        """The colours, from the one table of themes."""
        text = self._environment.get_template("themes.css").render(themes=THEMES)
        return Response(text, media_type="text/css", headers={"cache-control": "max-age=3600"})

    async def game(self, request: Request) -> Response:
        """A game for ever: its replay, or live while it goes on."""
        visitor = await self._identity.visitor(request)
        await self._check_shown(request, visitor)
        value = await self._in_thread(game_page, self._services, self._game_id(request))
        if value is None:
            raise HTTPException(404, "There is no such game.")
        value["mine"] = value.pop("owner") == visitor.account
        return self.render(request, visitor, "game.html", game=value)

    async def record(self, request: Request) -> Response:
        """The record of a game, to be kept and verified anywhere."""
        game = self._game_id(request)
        await self._check_shown(request, await self._identity.visitor(request))
        found = await self._in_thread(self._services.hub.house.record_text, game)
        if found is None:
            raise HTTPException(404, "There is no record of such a game yet.")
        disposition = f'attachment; filename="{game}.2048.json"'
        headers = {"content-disposition": disposition}
        return Response(found, media_type="application/json", headers=headers)

    async def leaderboards(self, request: Request) -> Response:
        """The best games by rules, board and time."""
        visitor = await self._identity.visitor(request)
        query = request.query_params
        chosen = _chosen_rules(query.get("rules", "classic"))
        board, period = query.get("board", "ranked"), query.get("period", "ever")
        if board not in BOARDS or board == "daily" or period not in PERIODS:
            raise HTTPException(404, "There is no such board.")
        lists = await self._lists.get(
            (board, chosen["text"], period), lambda: self._leaderboard(board, chosen, period)
        )
        return self.render(
            request, visitor, "leaderboards.html", chosen=chosen, board=board, period=period,
            rules=[rules_value(str(rules)) for rules in list_rules()],
            boards=[name for name in BOARDS if name != "daily"], periods=PERIODS, lists=lists,
        )  # fmt: skip

    def forget_lists(self) -> None:
        """Show no list any longer that is from before: somebody is gone from them."""
        self._lists.clear()

    async def _leaderboard(self, board: str, chosen: dict[str, Any], period: str) -> Markup:
        hub = await self._services.ready()
        found = await hub.in_thread(hub.house.store.leaderboard, board, chosen["text"], period)
        live = await hub.in_thread(hub.house.live_games, hub.live_games())
        template = self._environment.get_template("_leaderboard.html")
        return Markup(template.render(rows=rows.finished_rows(found), live=rows.open_rows(live)))

    async def daily(self, request: Request) -> Response:
        """The challenge of a day."""
        visitor = await self._identity.visitor(request)
        today = datetime.now(UTC).date()
        day = _day(request.query_params.get("day"), today)
        house = self._services.hub.house
        chosen = rules_value(str(get_rules("classic")))
        found = await self._in_thread(
            house.store.leaderboard, "daily", chosen["text"], day.isoformat()
        )
        commitment, secret = await self._in_thread(challenge, house.store, day.isoformat())
        mine = await self._in_thread(_my_daily, self._services, visitor.account, day.isoformat())
        one = timedelta(days=1)
        return self.render(
            request, visitor, "daily.html", day=day.isoformat(), today=today.isoformat(),
            previous=(day - one).isoformat(),
            next=(day + one).isoformat() if day < today else None,
            commitment=commitment, secret=secret, revealed=revelation_of(day.isoformat()).date(),
            chosen=chosen,
            rows=rows.finished_rows(found), mine=mine,
        )  # fmt: skip

    async def player(self, request: Request) -> Response:
        """A player's statistics and games."""
        visitor = await self._identity.visitor(request)
        name = request.path_params["name"][:100]
        if not is_text(name):
            raise HTTPException(404, "Nobody here has that name.")
        values = await self._in_thread(player_page, self._services, name)
        if values is None:
            raise HTTPException(404, "Nobody here has that name.")
        return self.render(request, visitor, "player.html", **values)

    async def _in_thread(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        hub = await self._services.ready()
        return await hub.in_thread(call, *args, **kwargs)

    async def _check_shown(self, request: Request, visitor: Visitor) -> None:
        store, game = (await self._services.ready()).house.store, self._game_id(request)
        try:
            await self._in_thread(check_shown, store, game, visitor.account)
        except RefusedError as error:
            raise HTTPException(403, f"{str(error).capitalize()}.") from None

    def _game_id(self, request: Request) -> str:
        game: str = request.path_params["game"]
        if not is_game_id(game):
            raise HTTPException(404, "There is no such game.")
        return game


def game_page(services: Services, game_id: str) -> dict[str, Any] | None:
    """Return what is to be known of a game, with its `owner`; None if there is none."""
    house = services.hub.house
    round_ = house.store.find_round(game_id)
    if round_ is None:
        return None
    # In this order: a game that is finished meanwhile is found in one of the two.
    place, summary = house.open_game(game_id), house.store.find_summary(game_id)
    if summary is not None:
        row = rows.finished_row(summary)
    elif place is not None:
        row = rows.open_row(place)
    else:
        return None
    row["player"] = round_.name
    is_over = summary is not None
    category = summary.category if summary else ""
    return {
        **row,
        "id": game_id,
        "owner": round_.owner,
        "mode": round_.mode,
        "day": round_.day,
        "is_over": is_over,
        "commitment": house.commitment(round_),
        "secret": known_secret(round_, is_over=is_over),
        "seed": daily_seed(date.fromisoformat(round_.day))
        if round_.day and not round_.secret
        else None,
        "assisted": category in ("assisted", "computer"),
        "verified": is_over,
    }


def player_page(services: Services, name: str) -> dict[str, Any] | None:
    """Return what the page of a player shows; None if nobody has the name."""
    house = services.hub.house
    account = house.store.find_name(name)
    if account is None:
        return None
    latest = house.store.records(owner=account.id, order="finished", limit=200)
    summaries = [
        {
            "rules": rules_value(each.rules),
            "board": each.category,
            "games": each.games,
            "best": each.best,
            "mean": each.mean_score,
            "max_tile": each.max_tile,
            "plies": each.plies,
        }
        for each in house.store.score_summaries(account.id)
    ]
    return {
        "player": account.name,
        "person": house.account(account.bot_of).name if account.bot_of else None,
        "since": account.created,
        "summaries": summaries,
        "recent": rows.finished_rows(latest[:_MOST_RECENT]),
        "live": rows.open_rows(house.live_games_of(account.id)),
        "history": rows.finished_rows(reversed(latest)),
        "tiles": house.store.tile_counts(account.id),
    }


def _my_daily(services: Services, account: str, day: str) -> rows.Row | None:
    house = services.hub.house
    round_ = house.store.find_daily(account, day)
    if round_ is None:
        return None
    summary = house.store.find_summary(round_.game_id)
    if summary is not None:
        return rows.finished_row(summary)
    place = house.open_game(round_.game_id)
    return rows.open_row(place) if place else None


def _chosen_rules(text: str) -> dict[str, Any]:
    try:
        return rules_value(str(checked_rules(text)))
    except RefusedError as error:
        raise HTTPException(404, str(error)) from None


def _day(text: str | None, today: date) -> date:
    try:
        day = date.fromisoformat(text) if text else today
    except ValueError:
        raise HTTPException(404, "That is no day.") from None
    if not date(2024, 1, 1) <= day <= today:
        raise HTTPException(404, "There is no challenge on that day.")
    return day
