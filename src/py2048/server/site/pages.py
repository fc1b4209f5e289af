"""What all pages share, templates and forms, and the pages that need no store.

A view is a function of a request, which knows its user; `page` makes a route of it, which gives the
browser its cookies.
"""

from __future__ import annotations

import functools
import re
import statistics
from collections.abc import Awaitable, Callable, Iterable
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
from py2048.app.storage import RecordSummary
from py2048.app.storage.values import OpenGame
from py2048.core.board import Rows
from py2048.core.errors import Py2048Error
from py2048.core.language import LANGUAGES, N_, _, language, ngettext
from py2048.core.language import number as grouped
from py2048.core.rules import list_rules
from py2048.players import Unit, ntuple
from py2048.presentation import screen, themes
from py2048.presentation.actions import BY_NAME
from py2048.presentation.hints import PLAYERS
from py2048.presentation.plots import bar_plot, line_plot
from py2048.presentation.words import grade_word, luck_word, plain_amount
from py2048.review import Grade
from py2048.server import schema
from py2048.server.http.assets import Assets
from py2048.server.http.middleware import LANGUAGE_COOKIE
from py2048.server.play.games import MAX_SIDE, GameService
from py2048.server.play.messages import game_row, rules_info
from py2048.server.site.auth import Visit, greet_user, services_of

View = Callable[[Visit], Awaitable[Response]]
_TEMPLATES = Path(__file__).parents[1] / "templates"
DIGITS = Path(themes.__file__).with_name("digits.ttf")
_NETWORKS = Path(ntuple.__path__[0]) / "data"
NETWORKS = {
    name: _NETWORKS / f"{name}.npz" for name in ("classic", "2x4", "3x3", "3x4", "cmput175", "ist")
}
"""The networks that play in the browser where no server is, by the presets that they are for."""


def page(path: str, view: View, method: str = "GET", *, needs_store: bool = True) -> Route:
    """Return the route of a page, whose view is told who asks."""

    async def answer(request: Request) -> Response:
        visit = Visit(request.scope, request.receive)
        await greet_user(visit, wait=needs_store)
        response = await view(visit)
        visit.remember(response)
        return response

    return Route(path, answer, methods=[method])


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
    environment.globals |= {"language": language, "languages": LANGUAGES}
    environment.filters |= {"ago": ago, "day": day_name, "grouped": grouped, "title_of": title_of}
    environment.filters["amount"] = lambda value, unit, **how: plain_amount(
        Unit(unit), value, **how
    )
    environment.globals |= {"bar_plot": bar_plot, "line_plot": line_plot, "luck_word": luck_word}
    environment.filters["graded"] = lambda count, grade: grade_word(Grade(grade), count)
    environment.filters["median"] = statistics.median
    environment.filters["rank"] = themes.DEFAULT_THEME.rank
    environment.filters["initials"] = _initials
    # One of the warm tiles, the same for a name everywhere.
    environment.filters["face"] = lambda name: 3 + sum(name.encode()) % 6
    looks = environment.get_template("themes.css").render(vars(themes))
    made = {"css/themes.css": looks.encode(), "digits.ttf": DIGITS.read_bytes()}
    networks = {f"networks/{name}.js": path for name, path in NETWORKS.items()}
    files = Assets(made, networks, _network_script)
    environment.globals |= {"asset": files.address, "networks": NETWORKS}
    return environment, files


def assets() -> Assets:
    """Return the files of the pages."""
    return _environment()[1]


def _network_script(path: Path) -> bytes:
    from py2048.players.ntuple.weights import browser_script  # with NumPy, which pages do not need

    return browser_script(path)


def _initials(name: str) -> str:
    """Return the first letters of a name's first two words."""
    return "".join(word[0] for word in re.split(r"[\W_]+", name) if word)[:2].upper()


def text_of(template: str, **values: object) -> str:
    """Return a template filled in."""
    return _environment()[0].get_template(template).render(**values)


def render(visit: Visit, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """Return a page for a user."""
    me = {"name": visit.user.display, "is_guest": visit.user.is_guest}
    facts = {"me": me, "path": visit.url.path, "version": __version__, "status": status}
    text = text_of(template, **facts, **values)
    headers = {"cache-control": "private, no-cache", "content-language": language()}
    return HTMLResponse(text, status, headers | {"vary": "accept-language"})


def origin_of(visit: Visit) -> str:
    """Return where this server is, as others may reach it."""
    public = visit.services.settings.origin
    return public or f"{visit.url.scheme}://{visit.url.netloc}"


def presets() -> list[schema.RulesInfo]:
    """Return the presets."""
    return [rules_info(str(rules)) for rules in list_rules()]


def row_of(games: GameService, game_id: str) -> schema.GameRow | None:
    """Return a game as a row of a list, None if there is none."""
    found = games.find(game_id)
    return game_row(found) if found else None


def last_board(games: GameService, game: RecordSummary | OpenGame) -> Rows | None:
    """Return the rows of the board of a game, None if it cannot be replayed."""
    try:
        state = game.finished if isinstance(game, RecordSummary) else game.revision
        return _board_of(games, game.id, state)
    except Py2048Error:
        return None


@functools.lru_cache(maxsize=1024)
def _board_of(games: GameService, game_id: str, _state: str | int) -> Rows:
    return games.load(game_id).session.game.board.rows


def boards_of(
    games: GameService, found: Iterable[RecordSummary | OpenGame]
) -> dict[str, Rows | None]:
    """Return the last boards of some games by their ids."""
    return {each.id: last_board(games, each) for each in found}


def marked(lists: Markup, game: str) -> Markup:
    """Return lists that all are shown with a game of them marked as one's own."""
    row = f'id="row-{game}"'
    return Markup(str(lists).replace(row, f'{row} aria-current="true"'))


def sentence(error: object) -> str:
    """Return an error as a sentence for people."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


# How times and people are shown

_MONTHS = (
    N_("January"), N_("February"), N_("March"), N_("April"), N_("May"), N_("June"),
    N_("July"), N_("August"), N_("September"), N_("October"), N_("November"), N_("December"),
)  # fmt: skip


def ago(moment: str, now: datetime | None = None) -> str:
    """Return how long ago a moment of ISO 8601 was, as people say it; of a day its name."""
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
    """Return what people call some rules, with the size of the board if that is wanted."""
    return screen.title_of(rules.name, (rules.rows, rules.columns) if sized else None)


def day_name(day: str, today: date | None = None) -> str:
    """Return what people call a date such as ``2026-11-26``; the year is said if it is another."""
    found, now = date.fromisoformat(day), today or datetime.now(UTC).date()
    said = _("{day} {month}") if found.year == now.year else _("{day} {month} {year}")
    return said.format(day=found.day, month=_(_MONTHS[found.month - 1]), year=found.year)


# Forms


class FormError(HTTPException):
    """A form that cannot be granted."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(status, message)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        FormError: if the request carries none.
    """
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded")
    if kind.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError(_("Send the form as application/x-www-form-urlencoded."))
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=10)
        if any("\0" in values[-1] for values in fields.values()):
            raise ValueError  # no browser sends it, and PostgreSQL cannot look for it
    except (ClientDisconnect, ValueError):
        raise FormError(_("The form cannot be read.")) from None
    return {key: values[-1] for key, values in fields.items()}


# The pages


def play_values() -> dict[str, Any]:
    """Return what the page for playing shows wherever it is."""
    return {"rules": presets(), "people": PLAYERS, "longest_side": MAX_SIDE, "actions": BY_NAME}


async def play(visit: Visit) -> Response:
    """Play at once. This page needs no store: it is the first that people see."""
    today, players = {"day": str(datetime.now(UTC).date())}, visit.services.hints.specs
    return render(visit, "play.html", today=today, players=players, **play_values())


async def about(visit: Visit) -> Response:
    """Show what is promised."""
    return render(visit, "about.html")


async def choose_language(request: Request) -> Response:
    """Have this browser's pages in a language, and go back to the page that asked."""
    chosen = (await read_form(request)).get("language", "")
    if chosen not in LANGUAGES:
        raise FormError(_("There is no such language."))
    came_from = urlsplit(request.headers.get("referer", ""))
    back = f"/{came_from.path.lstrip('/')}?{came_from.query}".rstrip("?")
    cookie = services_of(request).cookies.header(LANGUAGE_COOKIE, chosen)
    return RedirectResponse(back, 303, {"set-cookie": cookie})


async def show_file(request: Request) -> Response:
    """Send a file of the pages."""
    return await assets().file(request)


ROUTES = (
    page("/", play, needs_store=False),
    page("/about", about, needs_store=False),
    Route("/language", choose_language, methods=["POST"]),
    Route("/static/{path:path}", show_file),
)
