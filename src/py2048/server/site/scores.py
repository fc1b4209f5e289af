"""Leaderboards, games in progress, and the pages of players with their plots."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import islice
from typing import NamedTuple

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

from py2048.app.session.levels import largest_tiles
from py2048.app.storage.values import OpenGame, RecordSummary
from py2048.core import fairness
from py2048.core.language import _, language
from py2048.core.rules import Rules
from py2048.presentation.result import quantile
from py2048.presentation.words import fit_text
from py2048.review import levels
from py2048.review.milestones import milestones
from py2048.server.admission import SERVER
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.messages import game_row, game_rows, rules_info
from py2048.server.schema import BOARDS, PERIODS, RANKED
from py2048.server.site import pages, reviews
from py2048.server.site.auth import User, UserRequest
from py2048.server.site.challenges import streak_of
from py2048.server.site.pages import Boards, Page, Site, Values, boards_of

_MAX_RECENT, _MAX_LIVE, _MAX_BEST, _MAX_TILES = 20, 3, 3, 5
_MAX_DAYS, _MAX_WEEKS = 31, 105  # longer histories are plotted by week, and the longest by month


async def show_leaderboard(site: Site, request: UserRequest) -> Response:
    """Show the leaderboard for the requested rules, category and period."""
    query = request.query_params
    chosen = rules_info(str(checked_rules(query.get("rules", "classic"))))
    board, period = query.get("board", "ranked"), query.get("period", "ever")
    tiles = [*map(str, islice(milestones(Rules.parse(chosen.text)), _MAX_TILES))]
    tile = query.get("tile", "")
    seasons = await site.backend.do(lambda games: games.store.leaderboards.seasons())
    is_known = tile in ("", *tiles) if board == RANKED else not tile
    is_known = is_known and period in (*PERIODS, *seasons)
    if board not in BOARDS or board == "daily" or not is_known:
        raise HTTPException(404, _("This leaderboard does not exist."))
    wanted = board, chosen.text, period
    if tile:
        times = "_times.html", _times, chosen.text, int(tile)
        lists = await site.show_part(request, "list", *times)
    else:
        lists = await site.show_part(request, "list", "_leaderboard.html", _lists, *wanted)
    now = await site.leaderboards.get((language(), "now"), partial(_live_part, site))
    values: Values = {"chosen": chosen, "board": board, "period": period, "tile": tile}
    values |= {"tiles": tiles, "seasons": seasons, "rules": pages.presets()}
    values["now"] = now if period in PERIODS else ""
    facts = request.user, lists, tile, *wanted
    return await site.show(request, "leaderboards.html", own_place, *facts, **values)


async def show_live_games(site: Site, request: UserRequest) -> Response:
    """Show all games that can be watched at the moment."""
    return await site.show(request, "live.html", live_games, *await _boards_now(site))


async def _live_part(site: Site) -> Markup:
    """Render the part of a page that lists games to watch."""
    facts = await _boards_now(site, _MAX_LIVE)
    return await site.read("list", SERVER, pages.rendered, "_now.html", {}, live_games, *facts)


async def _boards_now(site: Site, limit: int | None = None) -> tuple[list[OpenGame], Boards]:
    """Return the games that can be watched, and the boards of games open in this process."""
    rooms = site.backend.rooms
    found = (await rooms.live_games())[:limit]
    return found, {
        each.id: room.game.session.game.board.rows
        for each in found
        # Unsaved moves may be rolled back.
        if (room := rooms.open.get(each.id)) and room.is_settled
    }


async def show_player(site: Site, request: UserRequest) -> Response:
    """Show the statistics, plots and games of a player."""
    rules = request.query_params.get("rules")
    name, chosen = request.path_params["name"][:100], rules and str(checked_rules(rules))
    found = await site.read("list", request.caller, player_page, name, chosen)
    if found is None:
        raise HTTPException(404, _("No player has that name."))
    if found["chosen"]:
        wanted = "_plots.html", plots_of_player, found["account"], found["chosen"].text
        found["graphs"] = await site.show_part(request, "plots", *wanted)
    return await site.show(request, "player.html", pages.no_values, **found)


PAGES = (
    Page("/leaderboards", show_leaderboard),
    Page("/live", show_live_games),
    Page("/player/{name}", show_player),
)


def _lists(games: GameService, board: str, rules: str, period: str) -> Values:
    """Return a leaderboard's template values that are the same for all users."""
    best = games.store.leaderboards.top(board, rules, period)
    return {"board": board, "rows": game_rows(best), "boards": boards_of(games, best[:3])}


def _times(games: GameService, rules: str, tile: int) -> Values:
    """Return the template values for a milestone's ranking."""
    return {"rows": games.store.scores.fastest(rules, tile)}


def live_games(games: GameService, found: Sequence[OpenGame], boards: Boards) -> Values:
    """Return the template values for games that can be watched.

    Args:
        games: The game service.
        found: The games.
        boards: Boards that have been read already, by the id of the game.
    """
    stored = boards_of(games, (each for each in found if each.id not in boards))
    moved = {each.id: each.updated for each in found}
    return {"live": game_rows(found), "live_boards": {**boards, **stored}, "moved": moved}


def own_place(games: GameService, user: User, lists: Markup, tile: str, *wanted: str) -> Values:
    """Return a leaderboard's lists, with the user's own game marked.

    If the user's game is not on the lists, it is returned as a separate row.

    Args:
        games: The game service.
        user: The user.
        lists: The rendered leaderboard, which is cached for all users.
        tile: The milestone whose times are listed, or empty.
        wanted: The name, rules and period that identify the leaderboard.
    """
    if tile:
        return {"lists": pages.mark_own_game(lists, user.display_name), "mine": None}
    found = None if user.is_guest else games.store.leaderboards.standing(user.account, *wanted)
    mine = found and game_row(found[1], found[0])
    marked = pages.mark_own_game(lists, mine.game) if mine else lists
    return {"lists": marked, "mine": mine if marked == lists else None}


def player_page(games: GameService, name: str, rules: str | None = None) -> Values | None:
    """Return the template values of a player's page, or None for unknown players.

    Args:
        games: The game service.
        name: The player's name.
        rules: Rules of the plotted games. None selects the rules with the most games.
    """
    store = games.store
    account = None if "\0" in name else store.accounts.find_name(name)
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
    return {
        "account": account.id,
        "player": account.name,
        "since": account.created,
        "person": games.account(account.bot_of).name if account.bot_of else None,
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


def plots_of_player(games: GameService, account: str, rules: str) -> Values:
    """Return the template values for the plots of an account, or {} if it has no games."""
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


# Games over time


class Period(NamedTuple):
    """The games that ended in a day, week or month.

    Attributes:
        name: Name of the period, such as ``2026-11-23``, ``2026-W48`` or ``2026-11``.
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
