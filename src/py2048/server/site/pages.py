"""Rendering, formatting and forms shared by all pages, and pages without store access."""

from __future__ import annotations

import functools
import re
import statistics
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
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
from py2048.core.board import Board, Rows
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error
from py2048.core.language import LANGUAGES, N_, _, language, ngettext
from py2048.core.language import number as grouped
from py2048.core.rules import COURSE_PRESETS, Rules, get_rules, list_rules
from py2048.players import Unit
from py2048.presentation import screen, themes
from py2048.presentation.actions import BY_NAME
from py2048.presentation.hints import ONLY_MOVE, PLAYERS
from py2048.presentation.plots import bar_plot, dot, line_graph, line_plot
from py2048.presentation.words import (
    accuracy_note,
    accuracy_text,
    grade_word,
    level_name,
    luck_word,
    plain_amount,
    sentences,
)
from py2048.review import Grade
from py2048.review.levels import LEVELS, PERFECT, goal_of, parse_level
from py2048.review.simulation import network_path
from py2048.server import schema
from py2048.server.cache import TimedCache
from py2048.server.http.assets import Assets
from py2048.server.http.limits import RateLimits
from py2048.server.http.middleware import LANGUAGE_COOKIE
from py2048.server.play.backend import Backend
from py2048.server.play.games import MAX_SIDE, GameService
from py2048.server.play.messages import game_row, rules_info
from py2048.server.settings import ServerSettings
from py2048.server.site.auth import Authenticator, UserRequest
from py2048.server.site.reviews import ReviewQueue

_TEMPLATES = Path(__file__).parents[1] / "templates"
DIGITS = Path(themes.__file__).with_name("digits.ttf")
NETWORKS = {
    name: path
    for name in ("classic", "2x4", "3x3", "3x4", "cmput175", "ist")
    if (path := network_path(get_rules(name)))
}
"""Networks for offline play in the browser, by preset."""
_GOAL_RANKS = 20
"""Number of largest tiles for which the page gets goals."""
StoredGame = RecordSummary | OpenGame
"""A finished game or a game in progress."""


@functools.cache
def _environment() -> tuple[jinja2.Environment, Assets]:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        extensions=["jinja2.ext.i18n"],
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.install_gettext_callables(_, ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.globals |= {"language": language, "languages": LANGUAGES, "networks": NETWORKS}
    environment.globals |= {"bar_plot": bar_plot, "line_graph": line_graph, "line_plot": line_plot}
    environment.filters |= {"ago": ago, "day": day_name, "grouped": grouped, "title_of": title_of}
    environment.filters |= {"median": statistics.median, "rank": themes.DEFAULT_THEME.rank}
    environment.globals |= {"levels": [*map(str, LEVELS), PERFECT], "sentences": page_sentences}
    environment.globals |= {"accuracy_note": accuracy_note, "dot": dot, "luck_word": luck_word}
    environment.globals |= {"courses": COURSE_PRESETS}
    environment.filters |= {
        "accuracy": accuracy_text,
        "level": lambda text: level_name(parse_level(text)),
        "amount": lambda value, unit, **how: plain_amount(Unit(unit), value, **how),
        "graded": lambda count, grade: grade_word(Grade(grade), count),
        "initials": _initials,
        "face": lambda name: 3 + sum(name.encode()) % 6,  # tile colour, determined by the name
    }
    looks = environment.get_template("themes.css").render(vars(themes))
    made = {"css/themes.css": looks.encode(), "digits.ttf": DIGITS.read_bytes()}
    networks = {f"networks/{name}.js": path for name, path in NETWORKS.items()}
    files = Assets(made, networks, _network_script)
    environment.globals["asset"] = files.address
    return environment, files


def assets() -> Assets:
    """Return the static files."""
    return _environment()[1]


def _network_script(path: Path) -> bytes:
    from py2048.players.ntuple.weights import browser_script  # imports NumPy

    return browser_script(path, levels=_levels_of(get_rules(path.stem)))


def _levels_of(rules: Rules) -> dict[str, dict[str, object]]:
    """Return each level's slip, and its goals by the rank of the largest tile, for browsers."""
    rest = [0] * (rules.columns - 1)
    boards = [Board.from_rows([[r and 1 << r, *rest]] * rules.rows) for r in range(_GOAL_RANKS)]
    return {
        str(level): {"slip": level.slip, "goals": [goal_of(rules, level, each) for each in boards]}
        for level in LEVELS
    }


def page_sentences() -> dict[str, object]:
    """Return the sentences of hints and reviews for browsers."""
    headlines = {str(a): {str(b): headline_of(a, b) for b in Direction} for a in Direction}
    return sentences() | {"headlines": headlines, "only": _(ONLY_MOVE)}


def _initials(name: str) -> str:
    """Return the initials of a name's first two words."""
    return "".join(word[0] for word in re.split(r"[\W_]+", name) if word)[:2].upper()


def render_text(template: str, **values: object) -> str:
    """Render a template."""
    return _environment()[0].get_template(template).render(**values)


async def cached_template(
    cache: TimedCache, template: str, load: Callable[..., Awaitable[dict[str, Any]]], *args: object
) -> Markup:
    """Render a template with the result of ``load(*args)``, cached by template and arguments."""

    async def compute() -> Markup:
        return Markup(render_text(template, **await load(*args)).strip())

    found: Markup = await cache.get((template, *args), compute)
    return found


def render(
    request: UserRequest, template: str, status: int = 200, **values: object
) -> HTMLResponse:
    """Render a page for the request's user."""
    me = {"name": request.user.display_name, "is_guest": request.user.is_guest}
    facts = {"me": me, "path": request.url.path, "version": __version__, "status": status}
    text = render_text(template, **facts, **values)
    headers = {"cache-control": "private, no-cache", "content-language": language()}
    return HTMLResponse(text, status, headers | {"vary": "accept-language"})


def presets() -> list[schema.RulesInfo]:
    """Return the presets."""
    return [rules_info(str(rules)) for rules in list_rules()]


def row_of(games: GameService, game_id: str) -> schema.GameRow | None:
    """Return a game's row for a list of games, or None if there is no such game."""
    found = games.find(game_id)
    return game_row(found) if found else None


def last_board(games: GameService, game: StoredGame) -> Rows | None:
    """Return the last board of a game, or None if it cannot be replayed."""
    try:
        state = game.finished if isinstance(game, RecordSummary) else game.revision
        return _board_of(games, game.id, state)
    except Py2048Error:
        return None


@functools.lru_cache(maxsize=1024)
def _board_of(games: GameService, game_id: str, _state: str | int) -> Rows:
    return games.load(game_id).session.game.board.rows


def boards_of(games: GameService, found: Iterable[StoredGame]) -> dict[str, Rows | None]:
    """Return the last board of each game, by game id."""
    return {each.id: last_board(games, each) for each in found}


def mark_own_game(lists: Markup, game: str) -> Markup:
    """Highlight the user's own game in a cached list."""
    row = f'id="row-{game}"'
    return Markup(str(lists).replace(row, f'{row} aria-current="true"'))


def sentence(error: object) -> str:
    """Return an error message as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


# Times

_MONTHS = (
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"),
    N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December"),
)  # fmt: skip


def ago(moment: str, now: datetime | None = None) -> str:
    """Format an ISO 8601 time as time elapsed; a date without a time is formatted as a date."""
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
    """Return the title of a set of rules, optionally with the board's size."""
    return screen.title_of(rules.name, (rules.rows, rules.columns) if sized else None)


def day_name(day: str, today: date | None = None) -> str:
    """Format an ISO date for users, omitting the current year."""
    found, now = date.fromisoformat(day), today or datetime.now(UTC).date()
    text = _("{day} {month}") if found.year == now.year else _("{day} {month} {year}")
    return text.format(day=found.day, month=_(_MONTHS[found.month - 1]), year=found.year)


# Forms


class FormError(HTTPException):
    """A rejected form."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(status, message)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        FormError: If the request has no valid form.
    """
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded")
    if kind.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError(_("Send the form as application/x-www-form-urlencoded."))
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=10)
        if any("\0" in values[-1] for values in fields.values()):
            raise ValueError  # PostgreSQL rejects NUL characters
    except (ClientDisconnect, ValueError):
        raise FormError(_("The form cannot be read.")) from None
    return {key: values[-1] for key, values in fields.items()}


# Views


@dataclass(frozen=True)
class Site:
    """The parts of a server that all views share.

    Attributes:
        settings: How the server is run.
        auth: Authentication of users.
        backend: The store and the open games.
        limits: Rate limits and queues.
        reviews: Queue of review requests.
        leaderboards: Cache of rendered leaderboards.
        plots: Cache of rendered plots.
    """

    settings: ServerSettings
    auth: Authenticator
    backend: Backend
    limits: RateLimits
    reviews: ReviewQueue
    leaderboards: TimedCache
    plots: TimedCache

    def url(self, request: UserRequest, path: str) -> str:
        """Return an absolute URL with the public origin, or by default the request's origin."""
        return (self.settings.origin or f"{request.url.scheme}://{request.url.netloc}") + path

    async def visible_game(self, request: UserRequest) -> str:
        """Return the game id in the path if the user may see the game, which may not exist.

        Raises:
            ActionRejected: If the id is invalid or the game is sealed.
        """
        await self.backend.do(GameService.check_visible, request.game, request.user.account)
        return request.game


View = Callable[[Site, UserRequest], Awaitable[Response]]


@dataclass(frozen=True)
class Page:
    """The route of a page or of a form's action.

    Attributes:
        path: The URL path, with parameters in braces.
        view: Request handler, called once the user is identified.
        method: HTTP method.
        needs_store: Whether to wait for the store before calling the view.
    """

    path: str
    view: View
    method: str = "GET"
    needs_store: bool = True

    def route(self, site: Site) -> Route:
        """Return the route of the page on a site."""

        async def endpoint(request: Request) -> Response:
            identified = UserRequest(request.scope, request.receive)
            await site.auth.identify(identified, wait=self.needs_store)
            response = await self.view(site, identified)
            identified.set_cookies(response)
            return response

        return Route(self.path, endpoint, methods=[self.method])


def play_page() -> dict[str, Any]:
    """Return the template values for the play page, with or without a server."""
    return {"rules": presets(), "people": PLAYERS, "longest_side": MAX_SIDE, "actions": BY_NAME}


async def _play(site: Site, request: UserRequest) -> Response:
    """Show the board without waiting for the store, because most visitors see this page first."""
    today, players = {"day": str(datetime.now(UTC).date())}, site.settings.players
    return render(request, "play.html", today=today, players=players, **play_page())


async def _about(_site: Site, request: UserRequest) -> Response:
    """Show the about page."""
    return render(request, "about.html")


async def _choose_language(site: Site, request: UserRequest) -> Response:
    """Set the language cookie and redirect to the previous page."""
    chosen = (await read_form(request)).get("language", "")
    if chosen not in LANGUAGES:
        raise FormError(_("There is no such language."))
    referer = urlsplit(request.headers.get("referer", ""))
    back = f"/{referer.path.lstrip('/')}?{referer.query}".rstrip("?")
    cookie = site.auth.cookies.header(LANGUAGE_COOKIE, chosen)
    return RedirectResponse(back, 303, {"set-cookie": cookie})


async def show_file(request: Request) -> Response:
    """Send a static file."""
    return await assets().file(request)


PAGES = (
    Page("/", _play, needs_store=False),
    Page("/about", _about, needs_store=False),
    Page("/language", _choose_language, "POST", needs_store=False),
)
