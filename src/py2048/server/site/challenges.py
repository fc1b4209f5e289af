"""The challenge of the day, streaks of days, the puzzle of the day, and the pages of battles.

What stands beside the board for a visitor, today's challenge, puzzle and scores, is here, too.

A daily game belongs to the day that it was dealt for, whenever it ends; one that continued after
the secret of its day was known counts for no streak. Days are those of UTC.

The answer to a puzzle is part of the address and nothing of it is kept, so the page needs no store,
and the address of an answer tells the answer.
"""

from __future__ import annotations

import asyncio
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from py2048.app.storage import AccountError
from py2048.app.storage.values import DailyResult
from py2048.core.direction import Direction
from py2048.core.errors import StaleGameError
from py2048.core.fairness import revelation_of
from py2048.core.language import _
from py2048.core.rules import Rules
from py2048.server.play import battles
from py2048.server.play.games import DAILY_RULES, GameService, checked_rules, is_known
from py2048.server.play.messages import game_row, game_rows, rules_info
from py2048.server.schema import DAILY
from py2048.server.site import pages
from py2048.server.site.auth import Visit
from py2048.server.site.pages import page, render

if TYPE_CHECKING:
    from py2048.review.puzzles import Puzzle

_DAY = timedelta(days=1)
_FIRST_DAY = date(2024, 1, 1)
_CURVE = 15
"""How many games the curve of scores shows."""


# The challenge


async def challenge(visit: Visit) -> Response:
    """Show the challenge of a day."""
    now, services = datetime.now(UTC), visit.services
    today = now.date()
    day = checked_day(visit.query_params.get("day"), today)
    values = await services.do(daily_page, day.isoformat(), visit.user.account, today)
    lists = await services.leaderboards.part(
        "_leaderboard.html", services.do, _daily_lists, day.isoformat()
    )
    if values["mine"]:
        lists = pages.marked(lists, values["mine"].game)
    values |= {"lists": lists, "next_min": minutes_left(now)}
    return render(visit, "daily.html", today=today.isoformat(), **days_at(day, today), **values)


def daily_page(games: GameService, day: str, account: str, today: date) -> dict[str, Any]:
    """Return what the page of a day's challenge shows to an account alone, and of its secret."""
    commitment, secret = games.challenge(day)
    results = games.store.online.daily_results(account)
    by_day = {each.day: each for each in results}
    week = [str(today - n * _DAY) for n in range(6, -1, -1)]
    game = games.find(by_day[day].game_id) if day in by_day else None
    standing = games.store.leaderboards.standing(account, "daily", str(DAILY_RULES), day)
    revealed = revelation_of(day).date()
    opened = [each for each in results if each.category and revelation_of(each.day).date() <= today]
    return {
        "mine": game and game_row(game),
        "board": game and pages.last_board(games, game),
        "place": standing and standing[0],
        "week": [(each, by_day.get(each)) for each in week],
        "counts": is_known(games.account(account)),
        "streak": streak_of(results, today),
        "opened": opened[-1] if opened else None,
        "commitment": commitment,
        "secret": secret,
        "revealed": revealed,
        "is_revealed": revealed <= today,
    }


def _daily_lists(games: GameService, day: str) -> dict[str, Any]:
    """Return the best games of a day and how all did, which are the same for all who look."""
    best = games.store.leaderboards.top("daily", str(DAILY_RULES), day)
    is_open = revelation_of(day) <= datetime.now(UTC)
    return {
        "board": "daily",
        "rows": game_rows(best),
        "boards": pages.boards_of(games, best[:3]) if is_open else {},
        "is_open": is_open,
        **_went(games, day),
    }


def _went(games: GameService, day: str) -> dict[str, Any]:
    """Return how the challenge of a day went for all who have finished it."""
    found = games.store.online.day_scores(day)
    return {
        "finished": len(found),
        "median": statistics.median_low(score for score, _tile in found) if found else None,
        "tiles": sorted(Counter(tile for _score, tile in found).items()),
    }


async def today(visit: Visit) -> Response:
    """Send what stands beside the board, whose page comes without it as it needs no store."""
    day = datetime.now(UTC).date()
    rules = checked_rules(visit.query_params.get("rules", "classic"))
    values = await visit.services.do(today_page, visit.user.account, rules, day)
    puzzle = await asyncio.to_thread(_puzzle_of, day)
    values |= {"day": day.isoformat(), "is_known": True, "puzzle": puzzle.board.rows}
    return render(visit, "_today.html", today={**values, "rating": puzzle.rating})


def today_page(games: GameService, account: str, rules: Rules, day: date) -> dict[str, Any]:
    """Return how the day's challenge goes, and how an account's games under some rules went."""
    results = games.store.online.daily_results(account)
    mine = next((each.game_id for each in results if each.day == str(day)), "")
    shown = {"mine": pages.row_of(games, mine), "streak": streak_of(results, day).current}
    shown |= _went(games, str(day))
    ends = games.store.records.ends(account, str(rules))
    if not ends:
        return {**shown, "played": 0}
    accuracies = games.store.reviews.figures(account, str(rules), "accuracy")
    scores = [end.score for end in ends]
    return {
        **shown,
        "played": len(ends),
        "scores": scores[-_CURVE:],
        "median_score": statistics.median_low(scores),
        "target": rules.target,
        "reached": sum(end.max_tile >= (rules.target or inf) for end in ends),
        "best_tile": max(end.max_tile for end in ends),
        "accuracy": round(statistics.fmean(value for _, value in accuracies)) if accuracies else 0,
    }


def minutes_left(now: datetime) -> int:
    """Return the minutes until the next day begins."""
    return 24 * 60 - now.hour * 60 - now.minute


def checked_day(text: str | None, today: date) -> date:
    """Return the day that an address names, today if it names none.

    Raises:
        HTTPException: if it is not a day, or one without a challenge or a puzzle.
    """
    try:
        day = date.fromisoformat(text) if text else today
    except ValueError:
        raise HTTPException(404, _("That is not a day.")) from None
    if not _FIRST_DAY <= day <= today:
        raise HTTPException(404, _("There is nothing on that day."))
    return day


def days_at(day: date, today: date) -> dict[str, Any]:
    """Return a day with those before and after it that have a page, as templates show them."""
    return {
        "day": day.isoformat(),
        "previous": (day - _DAY).isoformat() if day > _FIRST_DAY else None,
        "next": (day + _DAY).isoformat() if day < today else None,
    }


# Streaks


@dataclass(frozen=True, slots=True)
class Streak:
    """Days in a row.

    Attributes:
        current: those up to today, or to the last day that can still be continued; 0 if a day was
            missed.
        longest: the most there ever were.
        is_done: whether today's game is among them.
    """

    current: int = 0
    longest: int = 0
    is_done: bool = False


def streak_of(results: Sequence[DailyResult], today: date) -> Streak:
    """Return the streak of a player with these daily games, as it stands on a day.

    Today's game may still come, and yesterday's may still end if it has begun: neither breaks the
    streak before it.
    """
    days = sorted(date.fromisoformat(each.day) for each in results if each.category == DAILY)
    if not days:
        return Streak()
    longest = length = 1
    for before, day in pairwise(days):
        length = length + 1 if day - before == _DAY else 1
        longest = max(longest, length)
    last, yesterday = days[-1], today - _DAY
    is_open = any(each.category is None and each.day == str(yesterday) for each in results)
    is_alive = last >= yesterday or (last == yesterday - _DAY and is_open)
    return Streak(length if is_alive else 0, longest, last == today)


# The puzzle


async def puzzle(visit: Visit) -> Response:
    """Show the puzzle of a day; with an answer, whether it is right and why."""
    today = datetime.now(UTC).date()
    day = checked_day(visit.query_params.get("day"), today)
    values = await asyncio.to_thread(_puzzle_page, day, visit.query_params.get("answer"))
    return render(visit, "puzzle.html", **days_at(day, today), **values)


def _puzzle_page(day: date, answer: str | None) -> dict[str, Any]:
    """Return what the page of a puzzle shows.

    Raises:
        HTTPException: if the answer is not a legal move.
    """
    puzzle = _puzzle_of(day)
    shown = {"puzzle": puzzle, "rules": rules_info(str(puzzle.rules)), "board": puzzle.board.rows}
    legal = {str(direction): direction for direction in puzzle.values}
    if answer is None:
        return {**shown, "legal": legal}
    if answer not in legal:
        raise HTTPException(404, _("That is not a move in this puzzle."))
    return {**shown, "legal": legal, "answer": _answered(puzzle, legal[answer])}


def _puzzle_of(day: date) -> Puzzle:
    # Reading the pack takes as long as other pages take altogether.
    from py2048.review.puzzles import daily_puzzle

    return daily_puzzle(day)


def _answered(puzzle: Puzzle, played: Direction) -> dict[str, Any]:
    """Return what is said of an answer: of a right one, why the next best is worse."""
    from py2048.presentation.words import mistake_name, mistake_reason
    from py2048.review.mistakes import mistake_kind

    ranked = sorted(puzzle.values, key=puzzle.values.__getitem__, reverse=True)
    is_right = played is puzzle.best
    worse = ranked[1] if is_right else played
    kind = mistake_kind(puzzle.rules, puzzle.board, worse, puzzle.best)
    return {
        "played": str(played),
        "is_right": is_right,
        "move": puzzle.graded(worse),
        "theme": mistake_name(kind),
        "why": mistake_reason(kind),
        "values": [puzzle.graded(direction) for direction in ranked],
    }


# Battles

_BATTLE_ACTIONS: dict[str, Callable[[GameService, str, str], str]] = {
    "join": battles.join,
    "leave": battles.leave,
    "start": battles.start,
    "rematch": battles.rematch,
}


async def choose_battle(visit: Visit) -> Response:
    """Choose the rules of a battle."""
    return render(visit, "battles.html", rules=pages.presets(), minutes=battles.MINUTES)


async def offer_battle(visit: Visit) -> Response:
    """Offer a battle, and go to its page."""
    form, account = await pages.read_form(visit), visit.user.account
    visit.services.limits.check(new_games=account, new_games_from=visit.address)
    asked = form.get("rules", "classic"), form.get("minutes", "5")
    return RedirectResponse(await visit.services.do(battles.offer, account, *asked), 303)


async def battle(visit: Visit) -> Response:
    """Show a battle: who takes part, how it goes, how it ended."""
    battle = visit.path_params["battle"]
    values = await visit.services.do(battles.battle_page, battle, visit.user.account)
    address = f"{pages.origin_of(visit)}{battles.address_of(battle)}"
    return render(visit, "battle.html", address=address, **values)


async def act_in_battle(visit: Visit) -> Response:
    """Join, start, leave, or play again."""
    action = _BATTLE_ACTIONS.get(visit.path_params["action"])
    if action is None:
        raise HTTPException(404, _("There is no such form."))
    account = visit.user.account
    visit.services.limits.check(battles=account)
    try:
        address = await visit.services.do(action, visit.path_params["battle"], account)
    except (AccountError, StaleGameError) as error:
        raise HTTPException(409, pages.sentence(error)) from None
    return RedirectResponse(address, 303)


ROUTES = (
    page("/daily", challenge),
    page("/today", today),
    page("/puzzle", puzzle, needs_store=False),
    page("/battle", choose_battle),
    page("/battle", offer_battle, "POST"),
    page("/battle/{battle}", battle),
    page("/battle/{battle}/{action}", act_in_battle, "POST"),
)
