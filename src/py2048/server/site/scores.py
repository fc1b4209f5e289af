"""Scores: the leaderboards, the games that are played now, and a player's page with its plots."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

from py2048.app.storage.values import GameEnd
from py2048.core import fairness
from py2048.core.board import Rows
from py2048.core.language import _, language
from py2048.server import schema
from py2048.server.play import messages
from py2048.server.play.games import GameService, checked_rules
from py2048.server.play.messages import rules_info
from py2048.server.schema import BOARDS, PERIODS
from py2048.server.site.auth import Visit
from py2048.server.site.challenges import streak_of
from py2048.server.site.pages import boards_of, marked, page, presets, render, text_of

if TYPE_CHECKING:
    from py2048.server.services import Services

HELD_S, PLOTS_HELD_S = 1.0, 60.0
"""How long a leaderboard, and the plots of a player, are shown as they were."""

_MAX_ANSWERS = 256
_MAX_RECENT, _MAX_LIVE, _MAX_BEST = 20, 3, 3
_MAX_DAYS, _MAX_WEEKS = 31, 105


async def leaderboards(visit: Visit) -> Response:
    """Show the best games by rules, board and time."""
    services, query = visit.services, visit.query_params
    chosen = rules_info(str(checked_rules(query.get("rules", "classic"))))
    board, period = query.get("board", "ranked"), query.get("period", "ever")
    seasons = await services.do(lambda games: games.store.leaderboards.seasons())
    if board not in BOARDS or board == "daily" or period not in (*PERIODS, *seasons):
        raise HTTPException(404, _("There is no such board."))
    wanted = board, chosen.text, period
    part = services.leaderboards.part
    lists = await part("_leaderboard.html", services.do, _lists, *wanted)
    now = await part("_now.html", _live, services, _MAX_LIVE)
    mine = None
    if not visit.user.is_guest:
        mine = await services.do(standing_of, visit.user.account, *wanted)
    if mine and (own := marked(lists, mine.game)) != lists:
        lists, mine = own, None
    shown: dict[str, Any] = {"chosen": chosen, "board": board, "period": period, "rules": presets()}
    shown |= {"seasons": seasons, "lists": lists, "mine": mine}
    return render(visit, "leaderboards.html", now=now if period in PERIODS else "", **shown)


def _lists(games: GameService, board: str, rules: str, period: str) -> dict[str, Any]:
    """Return the lists of a leaderboard, which are the same for all who look at it."""
    best = games.store.leaderboards.top(board, rules, period)
    return {"board": board, "rows": messages.game_rows(best), "boards": boards_of(games, best[:3])}


def standing_of(
    games: GameService, account: str, board: str, rules: str, period: str
) -> schema.GameRow | None:
    """Return an account's own row of a board, with its place there; None if it has none."""
    found = games.store.leaderboards.standing(account, board, rules, period)
    return found and messages.game_row(found[1], found[0])


async def live(visit: Visit) -> Response:
    """Show the games that can be watched now."""
    return render(visit, "live.html", **await _live(visit.services))


async def _live(services: Services, most: int | None = None) -> dict[str, Any]:
    """Return the games that are played now, with the boards of those that are open here."""
    found = (await services.rooms.live_games())[:most]
    rooms = ((each.id, services.rooms.open.get(each.id)) for each in found)
    boards: dict[str, Rows | None] = {
        game: room.game.session.game.board.rows
        for game, room in rooms
        if room and room.is_settled  # what is not written may be taken back
    }
    left = [each for each in found if each.id not in boards]
    boards |= await services.do(boards_of, left)
    return {
        "live": messages.game_rows(found),
        "live_boards": boards,
        "moved": {each.id: each.updated for each in found},
    }


async def player(visit: Visit) -> Response:
    """Show a player's statistics and games."""
    services, rules = visit.services, visit.query_params.get("rules")
    name, chosen = visit.path_params["name"][:100], rules and str(checked_rules(rules))
    found = None if "\0" in name else await services.do(player_page, name, chosen)
    if found is None:
        raise HTTPException(404, _("There is no player of that name here."))
    account, values = found
    plots = ""
    if values["chosen"]:
        queue, games = services.limits.plotting, services.rooms.games
        drawn = partial(queue.do, visit.address, plots_of_player, games)
        plots = await services.plots.part("_plots.html", drawn, account, values["chosen"].text)
    return render(visit, "player.html", plots=plots, **values)


ROUTES = (page("/leaderboards", leaderboards), page("/live", live), page("/player/{name}", player))


def player_page(
    games: GameService, name: str, rules: str | None = None
) -> tuple[str, dict[str, Any]] | None:
    """Return a player's account, and what its page shows beside plots; None if there is none.

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
        "streak": streak_of(store.online.daily_results(account.id), datetime.now(UTC).date()),
        "games": sum(each.games for each in own),
        "best": max((each.best for each in of_chosen), default=None),
        "max_tile": max((each.max_tile for each in of_chosen), default=0),
        "summaries": [(rules_info(each.rules), each) for each in summaries],
        "recent": messages.game_rows(recent),
        "live": messages.game_rows(games.live_games_of(account.id)),
        "played": played,
        "chosen": chosen,
    }


def plots_of_player(games: GameService, account: str, rules: str) -> dict[str, Any]:
    """Return what the plots of an account's games show; nothing without games."""
    ends = games.store.records.ends(account, rules)
    if not ends:
        return {}
    periods = periods_of(ends, games.store.reviews.figures(account, rules, "accuracy"))
    reached = Counter(end.max_tile for end in ends)
    tiles = [(str(tile), reached[tile]) for tile in sorted(reached)]
    found = games.store.records.select(owner=account, rules=rules, limit=_MAX_BEST)
    infos = ((each, games.store.online.info(each.id)) for each in found)
    best = [each for each, info in infos if not (info and fairness.sealed_until(info.day))]
    return {
        "periods": periods,
        "counts": [(each.name, len(each.scores)) for each in periods],
        "scores": [end.score for end in ends],
        "tiles": tiles,
        "reached": ", ".join(_("{tile} in {n}").format(tile=tile, n=n) for tile, n in tiles),
        "best": messages.game_rows(best),
        "boards": boards_of(games, best),
    }


# Periods


class Period(NamedTuple):
    """The games that ended in a day, a week or a month.

    Attributes:
        name: what it is called, such as ``2026-11-23``, ``2026-W48`` or ``2026-11``.
        scores: their scores.
        best: the best of these, if there is one.
        median: the median.
        accuracy: the mean accuracy of those that are reviewed, 0 to 100.
    """

    name: str
    scores: list[int]
    best: int | None
    median: float | None
    accuracy: float | None


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
    days = (last - first).days + 1
    name = "%Y-%m-%d" if days <= _MAX_DAYS else "%G-W%V" if days <= 7 * _MAX_WEEKS else "%Y-%m"
    scores, shares = defaultdict[str, list[int]](list), defaultdict[str, list[float]](list)
    for end in ends:
        scores[_day(end.finished).strftime(name)].append(end.score)
    for ended, accuracy in accuracies:
        shares[_day(ended).strftime(name)].append(accuracy)
    found = []
    for each in dict.fromkeys((first + timedelta(n)).strftime(name) for n in range(days)):
        made, median = scores[each], statistics.median(scores[each]) if scores[each] else None
        mean = round(statistics.fmean(shares[each]), 1) if shares[each] else None
        found.append(Period(each, made, max(made, default=None), median, mean))
    return found


def _day(ended: str) -> date:
    return date.fromisoformat(ended[:10])


# What is kept for a while


class RecentParts:
    """Parts of pages that are the same for all who look, each made once for all who ask meanwhile.

    Args:
        seconds: how long one is used.
        clock: tells the seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._answers: dict[object, tuple[float, asyncio.Future[Any]]] = {}

    async def part(
        self, template: str, values: Callable[..., Awaitable[dict[str, Any]]], *about: object
    ) -> Markup:
        """Return a template filled in with what `values` returns of these facts."""

        async def made() -> Markup:
            return Markup(text_of(template, **await values(*about)).strip())

        found: Markup = await self.get((template, *about), made)
        return found

    async def get(self, question: object, answer: Callable[[], Awaitable[Any]]) -> Any:
        """Return the recent answer, or work it out; a failure is told to all who wait, once."""
        now, question = self._clock(), (question, language())
        since, found = self._answers.get(question, (0.0, None))
        is_over = found is not None and found.done()
        if found is None or (is_over and (now - since > self._seconds or found.exception())):
            if len(self._answers) >= _MAX_ANSWERS:
                self._answers.clear()
            found = asyncio.ensure_future(answer())
            self._answers[question] = now, found
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Forget all answers."""
        self._answers.clear()
