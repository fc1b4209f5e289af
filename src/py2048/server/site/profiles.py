"""A player's page: what was played when, and how well, as plots and as a table."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from py2048.review.plots import bar_plot, line_plot
from py2048.server.http.middleware import address_of
from py2048.server.play import messages
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.messages import rules_info
from py2048.server.site.auth import services_of, user_of
from py2048.server.site.daily import streak_of
from py2048.server.site.pages import page, render, text_of
from py2048.storage import GameEnd, ScoreSummary

_MAX_RECENT = 20
_MAX_DAYS, _MAX_WEEKS = 31, 105


async def show(request: Request) -> Response:
    """A player's statistics and games."""
    user, services = await user_of(request), services_of(request)
    name, rules = request.path_params["name"][:100], request.query_params.get("rules")
    chosen = None if rules is None else str(checked_rules(rules))
    found = None if "\0" in name else await services.do(player_page, name, chosen)
    if found is None:
        raise HTTPException(404, "There is no player of that name here.")
    values, plotted = found
    plots = Markup("")
    if plotted is not None:
        address, games = address_of(request.scope), services.rooms.games
        work = services.limits.plotting
        plots = await services.plots.get(
            plotted, lambda: work.do(address, plots_section, games, plotted)
        )
    return render(request, user, "player.html", plots=plots, **values)


@dataclass(frozen=True)
class Plotted:
    """What the plots of a player show: as long as it is equal, so are they.

    Attributes:
        account: whose games they are.
        rules: the text of their rules.
        games: how many there are, by category.
        reviews: how many games of the account are reviewed.
    """

    account: str
    rules: str
    games: Hashable
    reviews: int


def player_page(
    games: GameService, name: str, rules: str | None = None
) -> tuple[dict[str, Any], Plotted | None] | None:
    """Return what the page of a player shows, and what its plots do; None if there is no player.

    Args:
        games: the games.
        name: the player's name.
        rules: the text of the rules for the plots; None takes those that were played most.
    """
    store = games.store
    account = store.accounts.find_name(name)
    if account is None:
        return None
    summaries = store.scores.summaries(account.id)
    played = _games_by_rules(summaries)
    chosen = rules or next(iter(played), None)
    values = {
        "player": account.name,
        "person": games.account(account.bot_of).name if account.bot_of else None,
        "since": account.created,
        "streak": streak_of(store.online.daily_results(account.id), datetime.now(UTC).date()),
        "summaries": [(rules_info(each.rules), each) for each in summaries],
        "recent": messages.game_rows(
            store.records.select(owner=account.id, order="finished", limit=_MAX_RECENT)
        ),
        "live": messages.game_rows(games.live_games_of(account.id)),
        "played": [rules_info(text) for text in played],
        "chosen": chosen and rules_info(chosen),
    }
    counts = tuple((each.category, each.games) for each in summaries if each.rules == chosen)
    if chosen is None or not counts:
        return values, None
    return values, Plotted(account.id, chosen, counts, store.reviews.count(account.id))


def _games_by_rules(summaries: Sequence[ScoreSummary]) -> dict[str, int]:
    """Return how many games an account played under which rules, the most first."""
    played: Counter[str] = Counter()
    for each in summaries:
        if each.category != "computer":
            played[each.rules] += each.games
    return {rules: count for rules, count in played.most_common() if count}


def plots_section(games: GameService, plotted: Plotted) -> Markup:
    """Return the plots of some games, and their numbers as a table; nothing without games."""
    ends = games.store.records.ends(plotted.account, plotted.rules)
    if not ends:
        return Markup("")
    accuracies = games.store.reviews.figures(plotted.account, plotted.rules, "accuracy")
    periods = periods_of(ends, accuracies)
    return Markup(text_of("_plots.html", periods=periods, plots=plots_of(periods, ends)))


ROUTES = (page("/player/{name}", show),)


# Periods


@dataclass(frozen=True, slots=True)
class Period:
    """The games that ended in a day, a week or a month.

    Attributes:
        name: what it is called, such as ``2026-11-23``, ``2026-W48`` or ``2026-11``.
        scores: their scores.
        accuracies: the accuracies of those that are reviewed, 0 to 100.
    """

    name: str
    scores: tuple[int, ...]
    accuracies: tuple[float, ...]

    @property
    def best(self) -> int | None:
        """The best score."""
        return max(self.scores, default=None)

    @property
    def median(self) -> float | None:
        """The median score."""
        return statistics.median(self.scores) if self.scores else None

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy."""
        return statistics.fmean(self.accuracies) if self.accuracies else None


def periods_of(
    ends: Sequence[GameEnd], accuracies: Sequence[tuple[str, float]] = ()
) -> list[Period]:
    """Return games by the days on which they ended, by weeks or by months, none left out between.

    Args:
        ends: the games, the oldest first.
        accuracies: when reviewed games ended, and the accuracy of each.
    """
    if not ends:
        return []
    first, last = _day(ends[0].finished), _day(ends[-1].finished)
    name = _naming((last - first).days)
    scores = _grouped((name(_day(end.finished)), end.score) for end in ends)
    shares = _grouped((name(_day(time)), accuracy) for time, accuracy in accuracies)
    names = dict.fromkeys(map(name, _days(first, last)))
    return [
        Period(each, tuple(scores.get(each, ())), tuple(shares.get(each, ()))) for each in names
    ]


def _day(time: str) -> date:
    return date.fromisoformat(time[:10])


def _days(first: date, last: date) -> Iterator[date]:
    for days in range((last - first).days + 1):
        yield first + timedelta(days=days)


def _naming(days: int) -> Callable[[date], str]:
    """Return what names the period of a day where `days` are shown."""
    if days < _MAX_DAYS:
        return date.isoformat
    return _week if days < 7 * _MAX_WEEKS else lambda day: f"{day:%Y-%m}"


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def _grouped(pairs: Iterable[tuple[str, float]]) -> Mapping[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


# Plots


def plots_of(periods: Sequence[Period], ends: Sequence[GameEnd]) -> dict[str, str]:
    """Return the plots of some games by their titles, elements of SVG."""
    names = [period.name for period in periods]
    tiles = sorted(Counter(end.max_tile for end in ends).items())
    best = max(end.score for end in ends)
    median = statistics.median(end.score for end in ends)
    span = f"from {names[0]} to {names[-1]}" if len(names) > 1 else f"of {names[0]}"
    reached = ", ".join(f"{tile} in {count}" for tile, count in tiles)
    plots = {
        "Games": bar_plot(
            f"{len(ends):,} games {span}.",
            [(period.name, len(period.scores)) for period in periods],
        ),
        "Best and median score": line_plot(
            f"Best and median score {span}: in all {best:,} and {median:,.10g}.",
            names,
            {"best": [each.best for each in periods], "median": [each.median for each in periods]},
        ),
        "Largest tiles": bar_plot(
            f"Games by their largest tile: {reached}.",
            [(str(tile), count) for tile, count in tiles],
        ),
    }
    shares = [period.accuracy for period in periods]
    known = [share for share in shares if share is not None]
    if known:
        plots["Accuracy of reviewed games"] = line_plot(
            f"Mean accuracy of reviewed games {span}, {min(known):.1f} to {max(known):.1f} %.",
            names,
            {"accuracy": [share and round(share, 1) for share in shares]},
            low=min(10 * (int(min(known)) // 10), 90),
            unit=" %",
        )
    return plots
