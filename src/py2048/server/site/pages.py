"""Rendering, formatting and forms for all pages, and the pages that do not use the store."""

from __future__ import annotations

import base64
import json
import re
import statistics
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jinja2
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from py2048 import __version__
from py2048.app.controller.review import headline_of
from py2048.app.storage.values import OpenGame, RecordSummary
from py2048.core.board import Rows
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error
from py2048.core.language import LANGUAGES, N_, _, language, ngettext, use_language
from py2048.core.language import number as grouped
from py2048.core.rules import COURSE_PRESETS, get_rules, list_rules
from py2048.players import Unit
from py2048.presentation import hints, plots, screen, themes, words
from py2048.presentation.actions import BY_NAME
from py2048.presentation.result import race_rows, time_text
from py2048.review import Grade, levels
from py2048.review.simulation import network_path
from py2048.server import schema
from py2048.server.admission import Admission
from py2048.server.bounds import MAX_BOARDS, MAX_TEMPLATES
from py2048.server.cache import TimedCache
from py2048.server.hints import HintService
from py2048.server.http.assets import Assets
from py2048.server.http.limits import RateLimits
from py2048.server.http.middleware import LANGUAGE_COOKIE
from py2048.server.http.monitoring import Metrics
from py2048.server.play.backend import Backend
from py2048.server.play.battles import BattleFeeds
from py2048.server.play.games import MAX_SIDE, GameService
from py2048.server.play.messages import game_row, rules_info
from py2048.server.settings import ServerSettings
from py2048.server.site.auth import Authenticator, Cookies, UserRequest
from py2048.server.site.reviews import ReviewQueue

Values = dict[str, Any]
"""Template values."""

ValuesOf = Callable[..., Values]
"""Function that returns template values, given the game service and other arguments."""

Boards = dict[str, Rows | None]
"""Maps game ids to the last board, or to None if the game cannot be replayed."""

_TEMPLATES = Path(__file__).parents[1] / "templates"
NETWORKS = {
    name: path
    for name in ("classic", "2x4", "3x3", "3x4", "cmput175", "ist")
    if (path := network_path(get_rules(name)))
}
"""N-tuple networks for offline play in the browser, by rule preset."""
LEADERBOARD_TTL_S, PLOTS_TTL_S = 1.0, 60.0

StoredGame = RecordSummary | OpenGame
"""A game in the store, either finished or in progress."""


@cache
def _environment() -> tuple[jinja2.Environment, Assets]:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.install_gettext_callables(_, ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.globals |= {
        "language": language,
        "languages": LANGUAGES,
        "networks": NETWORKS,
        "plots": plots,
        "words": words,
        "levels": [*map(str, levels.LEVELS), levels.PERFECT],
        "sentences": page_sentences,
        "courses": COURSE_PRESETS,
        "actions": BY_NAME,
        "race_rows": race_rows,
    }
    environment.filters |= {
        "ago": ago,
        "day": day_name,
        "time": time_text,
        "title_of": title_of,
        "grouped": grouped,
        "median": statistics.median,
        "rank": themes.DEFAULT_THEME.rank,
        "level": lambda text: words.level_name(levels.parse_level(text)),
        "amount": lambda value, unit, **how: words.plain_amount(Unit(unit), value, **how),
        "graded": lambda count, grade: words.grade_word(Grade(grade), count),
        "initials": _initials,
        "face": lambda name: 3 + sum(name.encode()) % 6,  # tile colour, determined by the name
    }
    digits = base64.b64encode(Path(themes.__file__).with_name("digits.ttf").read_bytes()).decode()
    looks = environment.get_template("themes.css").render(vars(themes), digits=digits)
    made: dict[str, bytes | Path] = {"css/themes.css": looks.encode()}
    for code in LANGUAGES:
        with use_language(code):
            script = f"export default {json.dumps(page_sentences(), ensure_ascii=False)};\n"
            made[f"js/sentences-{code}.js"] = script.encode()
    made |= {f"networks/{name}.js": path for name, path in NETWORKS.items()}
    files = Assets(made, _network_script)
    environment.globals["asset"] = files.address
    return environment, files


def assets() -> Assets:
    """Return the static files."""
    return _environment()[1]


def _network_script(path: Path) -> bytes:
    from py2048.players.ntuple.weights import browser_script  # imports NumPy

    return browser_script(path, levels=levels.facts_of_levels(get_rules(path.stem)))


def page_sentences() -> dict[str, object]:
    """Return the sentences that browsers use for hints and reviews."""
    headlines = {str(a): {str(b): headline_of(a, b) for b in Direction} for a in Direction}
    return words.sentences() | {"headlines": headlines, "only": _(hints.ONLY_MOVE)}


def _initials(name: str) -> str:
    """Return the initials of the first two words of a name."""
    return "".join(word[0] for word in re.split(r"[\W_]+", name) if word)[:2].upper()


def render_text(template: str, **values: object) -> str:
    """Render a template."""
    return _environment()[0].get_template(template).render(**values)


def rendered(
    games: GameService, template: str, values: Values, call: ValuesOf, *args: object
) -> Markup:
    """Render a template with `values` and the result of a call."""
    return Markup(render_text(template, **values, **call(games, *args)).strip())


def no_values(_games: GameService) -> Values:
    """Return no template values."""
    return {}


def load_templates(_games: GameService) -> None:
    """Load the templates in advance."""
    _environment()


def render(request: UserRequest, template: str, status: int = 200, **values: object) -> Response:
    """Render a small page in this process, for the user who sent the request."""
    return _response(render_text(template, **_facts(request, status), **values), status)


def _facts(request: UserRequest, status: int) -> dict[str, object]:
    """Return the template values that all pages need."""
    me = {"name": request.user.display_name, "is_guest": request.user.is_guest}
    return {"me": me, "path": request.url.path, "version": __version__, "status": status}


def _response(text: str, status: int) -> HTMLResponse:
    headers = {"cache-control": "private, no-cache", "content-language": language()}
    return HTMLResponse(text, status, headers | {"vary": "accept-language"})


def presets() -> list[schema.RulesInfo]:
    """Return the presets."""
    return [rules_info(str(rules)) for rules in list_rules()]


def row_of(games: GameService, game_id: str) -> schema.GameRow | None:
    """Return a game's row for lists of games, or None if the game does not exist."""
    found = games.find(game_id)
    return game_row(found) if found else None


def last_board(games: GameService, game: StoredGame) -> Rows | None:
    """Return the last board of a game, or None if the game cannot be replayed."""
    try:
        state = game.finished if isinstance(game, RecordSummary) else game.revision
        return board_of(games, game.id, state)
    except Py2048Error:
        return None


@lru_cache(MAX_BOARDS)
def board_of(games: GameService, game_id: str, _state: str | int) -> Rows:
    """Return the last board of a game, cached until the game's state changes."""
    return games.load(game_id).session.game.board.rows


def boards_of(games: GameService, found: Iterable[StoredGame]) -> Boards:
    """Return the last board of each game."""
    return {each.id: last_board(games, each) for each in found}


def mark_own_game(lists: Markup, game: str) -> Markup:
    """Highlight the user's own game in a cached list."""
    row = f'id="row-{game}"'
    return Markup(str(lists).replace(row, f'{row} aria-current="true"'))


def sentence(error: object) -> str:
    """Format an error message as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


# Times

_MONTHS = (
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"),
    N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December"),
)  # fmt: skip


def ago(moment: str, now: datetime | None = None) -> str:
    """Format an ISO 8601 timestamp as elapsed time, and an ISO date as a date."""
    if "T" not in moment:
        return day_name(moment)
    now = now or datetime.now(UTC)
    minutes = (now - datetime.fromisoformat(moment)) // timedelta(minutes=1)
    hours, days = minutes // 60, minutes // (24 * 60)
    if minutes < 1:
        return _("just now")
    if hours < 1:
        return ngettext("{n} min ago", "{n} min ago", minutes).format(n=minutes)
    if days < 1:
        return ngettext("{n} h ago", "{n} h ago", hours).format(n=hours)
    if days < 2:
        return _("yesterday")
    if days < 31:
        return ngettext("{n} day ago", "{n} days ago", days).format(n=days)
    return day_name(moment[:10], now.date())


def title_of(rules: schema.RulesInfo, *, sized: bool = False) -> str:
    """Return the title of a set of rules. With `sized`, the title includes the board's size."""
    return screen.title_of(rules.name, (rules.rows, rules.columns) if sized else None)


def day_name(day: str, today: date | None = None) -> str:
    """Format an ISO date for users. The year is omitted if it is the current year."""
    found, now = date.fromisoformat(day), today or datetime.now(UTC).date()
    text = _("{day} {month}") if found.year == now.year else _("{day} {month} {year}")
    return text.format(day=found.day, month=_(_MONTHS[found.month - 1]), year=found.year)


# Forms


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        HTTPException: If the request does not contain a valid form.
    """
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded")
    if kind.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise HTTPException(400, _("Send the form as application/x-www-form-urlencoded."))
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=10)
        if any("\0" in values[-1] for values in fields.values()):
            raise ValueError  # PostgreSQL rejects NUL characters
    except (ClientDisconnect, ValueError):
        raise HTTPException(400, _("The form cannot be read.")) from None
    return {key: values[-1] for key, values in fields.items()}


# Views


class Site:
    """Components of a server that all views use. A `Site` must be created within an event loop.

    Args:
        settings: How the server is run.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.metrics = metrics = Metrics()
        self.limits = RateLimits(settings, metrics)
        self.admission = Admission(metrics)
        self.backend = Backend(settings, metrics, self.admission)
        self.read, self.write = self.backend.read, self.backend.write
        self.auth = Authenticator(self.backend, Cookies(settings.key, secure=settings.is_secure))
        self.hints = HintService(settings.players, self.admission)
        self.reviews = ReviewQueue(settings, self.backend, metrics)
        self.battles = BattleFeeds()
        self.leaderboards = TimedCache(LEADERBOARD_TTL_S, MAX_TEMPLATES)
        self.plots = TimedCache(PLOTS_TTL_S, MAX_TEMPLATES)

    async def show(
        self, request: UserRequest, template: str, call: ValuesOf, *args: object,
        status: int = 200, **values: object,
    ) -> HTMLResponse:  # fmt: skip
        """Render a page from `values` and the result of a read-only call, in a worker process.

        Raises:
            ActionRejected: If the server is too busy (``busy``).
        """
        values |= _facts(request, status)
        text = await self.read("list", request.caller, rendered, template, values, call, *args)
        return _response(text, status)

    async def show_part(
        self, request: UserRequest, door: str, template: str, call: ValuesOf, *args: object
    ) -> Markup:
        """Render a part of a page in a worker process, cached by template and arguments.

        Plots are cached for longer than leaderboards.
        """
        compute = partial(self.read, door, request.caller, rendered, template, {}, call, *args)
        cache = self.plots if door == "plots" else self.leaderboards
        found: Markup = await cache.get((language(), template, *args), compute)
        return found

    def url(self, request: UserRequest, path: str) -> str:
        """Return an absolute URL with the public origin, or else with the request's origin."""
        return (self.settings.origin or f"{request.url.scheme}://{request.url.netloc}") + path

    async def visible_game(self, request: UserRequest) -> str:
        """Return the game id in the path if the user may see this game. The game may not exist.

        Raises:
            ActionRejected: If the id is invalid, or the day's secret is still hidden.
        """
        await self.backend.do(GameService.check_visible, request.game, request.user.account)
        return request.game


View = Callable[[Site, UserRequest], Awaitable[Response]]


@dataclass(frozen=True)
class Page:
    """The route of a page or of a form's action.

    Attributes:
        path: The URL path, in which parameters are in braces.
        view: Request handler, which is called after the user has been identified.
        method: HTTP method.
        needs_store: Whether to wait for the store before calling the view.
    """

    path: str
    view: View
    method: str = "GET"
    needs_store: bool = True

    def route(self, site: Site) -> Route:
        """Create the page's route for a site."""

        async def endpoint(request: Request) -> Response:
            identified = UserRequest(request.scope, request.receive)
            await site.auth.identify(identified, wait=self.needs_store)
            response = await self.view(site, identified)
            identified.set_cookies(response)
            return response

        return Route(self.path, endpoint, methods=[self.method])


def play_page() -> Values:
    """Return the template values of the play page, with or without a server."""
    return {"rules": presets(), "people": hints.PLAYERS, "longest_side": MAX_SIDE}


async def _play(site: Site, request: UserRequest) -> Response:
    """Show the play page without waiting for the store, because most visitors see it first."""
    today, players = {"day": str(datetime.now(UTC).date())}, site.settings.players
    return render(request, "play.html", today=today, players=players, **play_page())


async def _about(_site: Site, request: UserRequest) -> Response:
    """Show the about page."""
    return render(request, "about.html")


async def _choose_language(site: Site, request: UserRequest) -> Response:
    """Set the language cookie, and redirect to the previous page."""
    chosen = (await read_form(request)).get("language", "")
    if chosen not in LANGUAGES:
        raise HTTPException(400, _("This language is not available."))
    referer = urlsplit(request.headers.get("referer", ""))
    back = f"/{referer.path.lstrip('/')}?{referer.query}".rstrip("?")
    cookie = site.auth.cookies.header(LANGUAGE_COOKIE, chosen)
    return RedirectResponse(back, 303, {"set-cookie": cookie})


PAGES = (
    Page("/", _play, needs_store=False),
    Page("/about", _about, needs_store=False),
    Page("/language", _choose_language, "POST", needs_store=False),
)
