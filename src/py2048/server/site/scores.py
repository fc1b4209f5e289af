"""Leaderboards, live games, and player pages with their plots."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.responses import Response

from py2048.app.session.levels import largest_tiles
from py2048.app.storage import RecordSummary
from py2048.core import fairness
from py2048.core.board import Rows
from py2048.core.language import _
from py2048.core.rules import Rules
from py2048.presentation.result import quantile
from py2048.presentation.words import fit_text
from py2048.review import levels
from py2048.server import schema
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.messages import game_row, game_rows, rules_info
from py2048.server.schema import BOARDS, PERIODS
from py2048.server.site import pages, reviews
from py2048.server.site.auth import UserRequest
from py2048.server.site.challenges import streak_of
from py2048.server.site.pages import Page, Site, boards_of, render

LEADERBOARD_TTL_S, PLOTS_TTL_S = 1.0, 60.0

_MAX_RECENT, _MAX_LIVE, _MAX_BEST = 20, 3, 3
_MAX_DAYS, _MAX_WEEKS = 31, 105  # longer histories are plotted by week, and the longest by month


async def show_leaderboard(site: Site, request: UserRequest) -> Response:
    """Show the leaderboard for the requested rules, board and period."""
    do, query = site.backend.do, request.query_params
    chosen = rules_info(str(checked_rules(query.get("rules", "classic"))))
    board, period = query.get("board", "ranked"), query.get("period", "ever")
    seasons = await do(lambda games: games.store.leaderboards.seasons())
    if board not in BOARDS or board == "daily" or period not in (*PERIODS, *seasons):
        raise HTTPException(404, _("There is no such board."))
    wanted = board, chosen.text, period
    cached = partial(pages.cached_template, site.leaderboards)
    lists = await cached("_leaderboard.html", do, _lists, *wanted)
    now = await cached("_now.html", partial(_live_games, site), _MAX_LIVE)
    mine = None
    if not request.user.is_guest:
        mine = await do(standing_of, request.user.account, *wanted)
    if mine and (marked := pages.mark_own_game(lists, mine.game)) != lists:
        lists, mine = marked, None
    values: dict[str, Any] = {"chosen": chosen, "board": board, "period": period}
    values |= {"rules": pages.presets(), "seasons": seasons, "lists": lists, "mine": mine}
    values["now"] = now if period in PERIODS else ""
    return render(request, "leaderboards.html", **values)


async def show_live_games(site: Site, request: UserRequest) -> Response:
    """Show all games that can be watched now."""
    return render(request, "live.html", **await _live_games(site))


async def _live_games(site: Site, limit: int | None = None) -> dict[str, Any]:
    """Return the template values for live games."""
    rooms = site.backend.rooms
    found = (await rooms.live_games())[:limit]
    boards: dict[str, Rows | None] = {
        each.id: room.game.session.game.board.rows
        for each in found
        # Unsaved moves may be rolled back.
        if (room := rooms.open.get(each.id)) and room.is_settled
    }
    boards |= await site.backend.do(boards_of, [each for each in found if each.id not in boards])
    moved = {each.id: each.updated for each in found}
    return {"live": game_rows(found), "live_boards": boards, "moved": moved}


async def show_player(site: Site, request: UserRequest) -> Response:
    """Show a player's statistics, plots and games."""
    do, rules = site.backend.do, request.query_params.get("rules")
    name, chosen = request.path_params["name"][:100], rules and str(checked_rules(rules))
    found = None if "\0" in name else await do(player_page, name, chosen)
    if found is None:
        raise HTTPException(404, _("There is no player of that name here."))
    account, values = found
    plots = ""
    if values["chosen"]:
        queue, games = site.limits.plotting, site.backend.rooms.games
        draw = partial(queue.do, request.address, plots_of_player, games)
        plots = await pages.cached_template(
            site.plots, "_plots.html", draw, account, values["chosen"].text
        )
    return render(request, "player.html", plots=plots, **values)


PAGES = (
    Page("/leaderboards", show_leaderboard),
    Page("/live", show_live_games),
    Page("/player/{name}", show_player),
)


def _lists(games: GameService, board: str, rules: str, period: str) -> dict[str, Any]:
    """Return the template values of a leaderboard that all users share."""
    best = games.store.leaderboards.top(board, rules, period)
    return {"board": board, "rows": game_rows(best), "boards": boards_of(games, best[:3])}


def standing_of(games: GameService, account: str, *wanted: str) -> schema.GameRow | None:
    """Return an account's row on the `wanted` leaderboard (board, rules, period), or None."""
    found = games.store.leaderboards.standing(account, *wanted)
    return found and game_row(found[1], found[0])


def player_page(
    games: GameService, name: str, rules: str | None = None
) -> tuple[str, dict[str, Any]] | None:
    """Return a player's account and the template values of the player's page, or None.

    Args:
        games: The game service.
        name: The player's name.
        rules: The rules to plot, as text; None selects the most played rules.
    """
    store = games.store
    account = store.accounts.find_name(name)
    if account is None:
        return None
    summaries = store.scores.summaries(account.id)
    counts: Counter[str] = Counter()
    own = [each for each in summaries if each.category != "computer"]
    for each in own:
        counts[each.rules] += each.games
    played = [rules_info(text) for text, count in counts.most_common() if count]
    chosen = rules_info(rules) if rules else next(iter(played), None)
    of_chosen = [each for each in own if chosen and each.rules == chosen.text]
    recent = store.records.select(owner=account.id, order="finished", limit=_MAX_RECENT)
    return account.id, {
        "player": account.name,
        "person": games.account(account.bot_of).name if account.bot_of else None,
        "since": account.created,
        "streak": streak_of(games, account.id, datetime.now(UTC).date()),
        "games": sum(each.games for each in own),
        "best": max((each.best for each in of_chosen), default=None),
        "max_tile": max((each.max_tile for each in of_chosen), default=0),
        "summaries": [(rules_info(each.rules), each) for each in summaries],
        "recent": game_rows(recent),
        "live": game_rows(games.live_games_of(account.id)),
        "played": played,
        "chosen": chosen,
    }


def plots_of_player(games: GameService, account: str, rules: str) -> dict[str, Any]:
    """Return the template values of an account's plots, or {} if it has no games."""
    store, career = games.store, games.store.records.career(account, rules)
    if not (ends := career.recent):
        return {}
    known = store.reviews.accuracies([each.id for each in ends], reviews.VERSION)
    accuracies = [(each.finished, known[each.id]) for each in ends if each.id in known]
    periods = periods_of(ends, accuracies)
    tiles = [(str(tile), n) for tile, n in sorted(career.tiles.items())]
    bests = store.scores.bests(rules, account)
    found = store.records.select(owner=account, rules=rules, limit=_MAX_BEST)
    infos = ((each, store.online.info(each.id)) for each in found)
    best = [each for each, info in infos if not (info and fairness.sealed_until(info.day))]
    fitted = Rules.parse(rules)
    own = largest_tiles(store, account, fitted) if levels.has_table(fitted) else []
    level = levels.fit_level(fitted, own) if len(own) >= levels.PRIOR_GAMES else None
    return {
        "fit": level and fit_text(level, levels.fit_of(fitted, level, own)),
        "periods": periods,
        "counts": [(each.name, len(each.scores)) for each in periods],
        "plotted": len(ends),
        "games": career.scores.total(),
        "top": max(best for kind, best in bests.items() if kind != "computer"),
        "middle": quantile(career.scores, 0.5),
        "tiles": tiles,
        "reached": ", ".join(_("{tile} in {n}").format(tile=tile, n=n) for tile, n in tiles),
        "best": game_rows(best),
        "boards": boards_of(games, best),
    }


# Periods


class Period(NamedTuple):
    """The games that ended in a day, week or month.

    Attributes:
        name: Such as ``2026-11-23``, ``2026-W48`` or ``2026-11``.
        scores: The scores of all games.
        best: The best score, if any.
        median: The median score, if any.
        accuracy: Mean accuracy of the reviewed games, 0 to 100.
    """

    name: str
    scores: list[int]
    best: int | None
    median: float | None
    accuracy: float | None


def periods_of(
    ends: Sequence[RecordSummary], accuracies: Sequence[tuple[str, float]] = ()
) -> list[Period]:
    """Group games by the day, week or month in which they ended; empty periods are included.

    Args:
        ends: The games, oldest first.
        accuracies: End time and accuracy of each reviewed game.
    """
    if not ends:
        return []
    first, last = _day(ends[0].finished), _day(ends[-1].finished)
    days = (last - first).days + 1
    name = "%Y-%m-%d" if days <= _MAX_DAYS else "%G-W%V" if days <= 7 * _MAX_WEEKS else "%Y-%m"
    scores, shares = defaultdict[str, list[int]](list), defaultdict[str, list[float]](list)
    for end in ends:
        scores[_day(end.finished).strftime(name)].append(end.score)
    for ended, accuracy in accuracies:
        shares[_day(ended).strftime(name)].append(accuracy)
    found = []
    for each in dict.fromkeys((first + timedelta(n)).strftime(name) for n in range(days)):
        scored, median = scores[each], statistics.median(scores[each]) if scores[each] else None
        mean = round(statistics.fmean(shares[each]), 1) if shares[each] else None
        found.append(Period(each, scored, max(scored, default=None), median, mean))
    return found


def _day(ended: str) -> date:
    return date.fromisoformat(ended[:10])
