"""Daily challenges with their streaks, puzzles, and the pages of battles.

A daily game counts for the day on which it started, even if it ends later. If a game is still in
progress when its day's secret is revealed, it does not count towards the streak. Days are UTC days.

Submitting the answer to a puzzle saves the answer and redirects to the solution. The URL of the
solution contains the answer.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from py2048 import Direction, Rules
from py2048.app.storage.values import AccountError
from py2048.core.errors import Py2048Error, StaleGameError
from py2048.core.fairness import revelation_of
from py2048.core.language import _
from py2048.presentation.result import place_of, quantile
from py2048.server.play import battles
from py2048.server.play.games import DAILY_RULES, GameService, checked_rules, is_known
from py2048.server.play.messages import game_row, game_rows, rules_info
from py2048.server.site import pages, reviews
from py2048.server.site.auth import UserRequest
from py2048.server.site.pages import Page, Site, Values

if TYPE_CHECKING:
    from py2048.app.session.notebook import PuzzleBook
    from py2048.review.puzzles import Puzzle

_DAY = timedelta(days=1)
_FIRST_DAY = date(2024, 1, 1)
_MAX_CURVE_GAMES = 15
_BATTLE_ACTIONS: dict[str, Callable[[GameService, str, str], str]] = {
    each.__name__: each for each in (battles.join, battles.leave, battles.start, battles.rematch)
}


async def challenge(site: Site, request: UserRequest) -> Response:
    """Show the challenge of a day."""
    now = datetime.now(UTC)
    today = now.date()
    day = checked_day(request.query_params.get("day"), today)
    wanted = "_leaderboard.html", _daily_lists, str(day)
    lists = await site.show_part(request, "list", *wanted)
    facts = str(day), request.user.account, today, lists
    values = {"today": str(today), "next_min": minutes_left(now), **days_at(day, today)}
    return await site.show(request, "daily.html", daily_page, *facts, **values)


async def show_today(site: Site, request: UserRequest) -> Response:
    """Send the panel beside the board. The play page requests it separately."""
    day = datetime.now(UTC).date()
    rules = checked_rules(request.query_params.get("rules", "classic"))
    await site.backend.rooms.wait_for_records(request.user.account)
    return await site.show(request, "_today.html", _today, request.user.account, rules, day)


async def show_puzzle(site: Site, request: UserRequest) -> Response:
    """Show a puzzle or, if the URL contains an answer, its solution."""
    account, fields = request.user.account, dict(request.query_params)
    number = fields.get("id")
    if number == "next":
        following = await site.read("list", request.caller, _next_puzzle, account)
        return RedirectResponse(f"/puzzle?id={following}", 303)
    today = datetime.now(UTC).date()
    days = {} if number else days_at(checked_day(fields.get("day"), today), today)
    return await site.show(request, "puzzle.html", _puzzle_page, account, fields, **days)


async def answer_puzzle(site: Site, request: UserRequest) -> Response:
    """Save an answer to a puzzle, and redirect to the solution."""
    form = await pages.read_form(request)
    await site.write("puzzle", request.caller, _save_answer, request.user.account, form)
    return RedirectResponse(f"/puzzle?{urlencode(form)}", 303)


async def choose_battle(site: Site, request: UserRequest) -> Response:
    """Show the form that creates a battle."""
    values: Values = {"rules": pages.presets(), "minutes": battles.MINUTES}
    return await site.show(request, "battles.html", pages.no_values, **values)


async def offer_battle(site: Site, request: UserRequest) -> Response:
    """Create a battle, and redirect to the battle's page."""
    form, account = await pages.read_form(request), request.user.account
    site.limits.check("new_games", account)
    facts = account, form.get("rules", "classic"), form.get("minutes", "5")
    path = await site.write("battle", request.caller, battles.offer, *facts)
    return RedirectResponse(path, 303)


async def show_battle(site: Site, request: UserRequest) -> Response:
    """Show the page of a battle before, during or after play."""
    battle, account = request.path_params["battle"], request.user.account
    values = await site.write("battle", request.caller, battles.battle_page, battle, account)
    address = site.url(request, battles.path_of(battle))
    return await site.show(request, "battle.html", pages.no_values, address=address, **values)


async def act_in_battle(site: Site, request: UserRequest) -> Response:
    """Join, leave or start a battle, or ask for a rematch."""
    action = _BATTLE_ACTIONS.get(request.path_params["action"])
    if action is None:
        raise HTTPException(404, _("There is no such form."))
    battle, account = request.path_params["battle"], request.user.account
    try:
        path = await site.write("battle", request.caller, action, battle, account)
    except (AccountError, StaleGameError) as error:
        raise HTTPException(409, pages.sentence(error)) from None
    return RedirectResponse(path, 303)


PAGES = (
    Page("/daily", challenge),
    Page("/today", show_today),
    Page("/puzzle", show_puzzle),
    Page("/puzzle", answer_puzzle, "POST"),
    Page("/battle", choose_battle),
    Page("/battle", offer_battle, "POST"),
    Page("/battle/{battle}", show_battle),
    Page("/battle/{battle}/{action}", act_in_battle, "POST"),
)


# Daily challenge


def daily_page(games: GameService, day: str, account: str, today: date, lists: Markup) -> Values:
    """Return a daily challenge's template values that depend on the account or the time.

    Args:
        games: The game service.
        day: The challenge's day.
        account: The account.
        today: The current day.
        lists: The rendered leaderboard, which is cached for all users.
    """
    commitment, secret = games.challenge(day)
    online, week = games.store.online, [str(today - n * _DAY) for n in range(6, -1, -1)]
    by_day = {each.day: each for each in online.daily_results(account, week[0])}
    mine = online.daily(account, day)
    game = games.find(mine.game_id) if mine else None
    scores = Counter(score for score, _tile in online.day_scores(day))
    row = game and game_row(game)
    counted = row and row.finished and row.board == "daily"
    return {
        "mine": row,
        "lists": pages.mark_own_game(lists, row.game) if row else lists,
        "board": game and pages.last_board(games, game),
        "place": place_of(row.score, scores) if row and counted else None,
        "field": scores.total(),
        "week": [(each, by_day.get(each)) for each in week],
        "counts": is_known(games.account(account)),
        "streak": streak_of(games, account, today),
        "commitment": commitment,
        "secret": secret,
        "revealed": revelation_of(day).date(),
    }


def _daily_lists(games: GameService, day: str) -> Values:
    """Return the template values for a daily challenge that do not depend on the user."""
    best = games.store.leaderboards.top("daily", str(DAILY_RULES), day)
    is_open = revelation_of(day) <= datetime.now(UTC)
    return {
        "board": "daily",
        "rows": game_rows(best),
        "boards": pages.boards_of(games, best[:3]) if is_open else {},
        "is_open": is_open,
        **_day_results(games, day),
    }


def _day_results(games: GameService, day: str) -> Values:
    """Return how many games were finished on a day, their median score and their largest tiles."""
    found = games.store.online.day_scores(day)
    return {
        "finished": len(found),
        "median": statistics.median_low(score for score, _tile in found) if found else None,
        "tiles": sorted(Counter(tile for _score, tile in found).items()),
    }


def _today(games: GameService, account: str, rules: Rules, day: date) -> Values:
    values = today_panel(games, account, rules, day)
    return {"today": {**values, "day": str(day), "is_known": True}}


def today_panel(games: GameService, account: str, rules: Rules, day: date) -> Values:
    """Return a day's results and puzzle, and an account's statistics for these rules."""
    mine = games.store.online.daily(account, str(day))
    shown: Values = {
        "mine": mine and pages.row_of(games, mine.game_id),
        "streak": streak_of(games, account, day).current,
    }
    puzzle = _puzzle_of(day)
    rating = _book(games, account).strength(puzzle).rating
    shown |= {**_day_results(games, str(day)), "puzzle": puzzle.board.rows, "rating": rating}
    career = games.store.records.career(account, str(rules))
    if not career.recent:
        return {**shown, "played": 0}
    found = games.store.reviews.accuracies([e.id for e in career.recent], reviews.VERSION)
    return {
        **shown,
        "played": career.scores.total(),
        "scores": [end.score for end in career.recent[-_MAX_CURVE_GAMES:]],
        "median_score": quantile(career.scores, 0.5),
        "target": rules.target,
        "reached": sum(n for tile, n in career.tiles.items() if tile >= (rules.target or inf)),
        "best_tile": max(career.tiles),
        "accuracy": round(statistics.fmean(found.values())) if found else 0,
    }


def minutes_left(now: datetime) -> int:
    """Return the minutes until the next UTC day."""
    return 24 * 60 - now.hour * 60 - now.minute


def checked_day(text: str | None, today: date) -> date:
    """Parse the date in a URL. None means today.

    Raises:
        HTTPException: If the date is invalid, or there was no challenge on this day.
    """
    try:
        day = date.fromisoformat(text) if text else today
    except ValueError:
        raise HTTPException(404, _("That is not a date.")) from None
    if not _FIRST_DAY <= day <= today:
        raise HTTPException(404, _("There is no challenge and no puzzle on that day."))
    return day


def days_at(day: date, today: date) -> Values:
    """Return template values for a day and the links to the previous and the next day."""
    return {
        "day": day.isoformat(),
        "previous": (day - _DAY).isoformat() if day > _FIRST_DAY else None,
        "next": (day + _DAY).isoformat() if day < today else None,
    }


# Streaks


@dataclass(frozen=True, slots=True)
class Streak:
    """A player's current and longest streak of consecutive days with a finished daily game.

    Attributes:
        current: Length of the current streak, which is 0 if the last day was missed.
        longest: The longest streak so far.
        is_done: Whether today's game is included.
    """

    current: int = 0
    longest: int = 0
    is_done: bool = False


def streak_of(games: GameService, account: str, today: date) -> Streak:
    """Return a player's streaks as of `today`.

    The streak continues if today's game is missing or yesterday's game is in progress.
    """
    days = [str(today - n * _DAY) for n in range(3)]
    found = {each.day: each for each in games.store.online.daily_results(account, days[-1])}
    now, before, earlier = (found[day].streak or 0 if day in found else 0 for day in days)
    is_open = days[1] in found and found[days[1]].category is None
    current = now or before or (earlier if is_open else 0)
    return Streak(current, games.store.online.longest_streak(account), bool(now))


# Puzzles


def _puzzle_page(games: GameService, owner: str, fields: Mapping[str, str]) -> Values:
    """Return a puzzle's template values, including the solution if it was answered."""
    puzzle, played = _puzzle_and_answer(fields)
    shown = {"puzzle": puzzle, "rules": rules_info(str(puzzle.rules)), "board": puzzle.board.rows}
    book = _book(games, owner)
    if played is None:
        rating = book.strength(puzzle).rating
        return {**shown, "rating": rating, "legal": list(map(str, puzzle.values))}
    return {**shown, "answer": _solution(book, puzzle, played)}


def _save_answer(games: GameService, owner: str, fields: Mapping[str, str]) -> None:
    puzzle, played = _puzzle_and_answer({"answer": "", **fields})
    assert played is not None
    _book(games, owner).answer(puzzle, played)


def _next_puzzle(games: GameService, owner: str) -> int:
    return _book(games, owner).next().id


def _book(games: GameService, owner: str) -> PuzzleBook:
    from py2048.app.session.notebook import PuzzleBook

    return PuzzleBook(games.store, owner)


def _puzzle_and_answer(fields: Mapping[str, str]) -> tuple[Puzzle, Direction | None]:
    """Return the puzzle with the number or day in `fields`, and the answer or None.

    Raises:
        HTTPException: If the puzzle does not exist, or the answer is not a legal move.
    """
    from py2048.review.puzzles import get_puzzle

    number, answer = fields.get("id"), fields.get("answer")
    day = checked_day(fields.get("day"), datetime.now(UTC).date())
    try:
        puzzle = get_puzzle(int(number)) if number else _puzzle_of(day)
    except (ValueError, Py2048Error):
        raise HTTPException(404, _("No puzzle has this number.")) from None
    legal = {str(direction): direction for direction in puzzle.values}
    if answer is not None and answer not in legal:
        raise HTTPException(404, _("That move is not possible in this puzzle."))
    return puzzle, None if answer is None else legal[answer]


def _puzzle_of(day: date) -> Puzzle:
    # Imported here, because loading the puzzles takes longer than rendering most pages.
    from py2048.review.puzzles import daily_puzzle

    return daily_puzzle(day)


def _solution(book: PuzzleBook, puzzle: Puzzle, played: Direction) -> Values:
    """Return the template values of a puzzle's solution.

    After a correct answer, the solution shows how much the second-best move loses.
    """
    from py2048.presentation.words import reason_name

    ranked = list(puzzle.values)
    now, before = book.ratings
    return {
        "played": str(played),
        "is_right": played is puzzle.best,
        "move": puzzle.graded(ranked[1] if played is puzzle.best else played),
        "theme": puzzle.theme and reason_name(puzzle.theme),
        "values": [puzzle.graded(direction) for direction in ranked],
        "rating": now.rating,
        "change": now.rating - before.rating,
    }
