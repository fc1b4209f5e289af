"""The challenge of the day, streaks of days, and the puzzle of the day.

A daily game belongs to the day that it was dealt for, whenever it ends; one that continued after
the secret of its day was known counts for no streak. Days are those of UTC.

The answer to a puzzle is part of the address and nothing of it is kept, so the page needs no store,
and the address of an answer tells the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from py2048.direction import Direction
from py2048.errors import DirectionError
from py2048.rules import get_rules
from py2048.server.play import messages
from py2048.server.play.fairness import revelation_of
from py2048.server.play.games import GameService, is_known
from py2048.server.play.messages import rules_info
from py2048.server.schema import DAILY
from py2048.server.site.auth import services_of, user_of
from py2048.server.site.games import row_of
from py2048.server.site.pages import page, read_form, render
from py2048.storage import DailyResult

if TYPE_CHECKING:
    from py2048.review.puzzles import Puzzle

_DAY = timedelta(days=1)
_FIRST_DAY = date(2024, 1, 1)


# The challenge


async def challenge(request: Request) -> Response:
    """The challenge of a day."""
    user, today = await user_of(request), datetime.now(UTC).date()
    day = checked_day(request.query_params.get("day"), today)
    values = await services_of(request).do(daily_page, day.isoformat(), user.account, today)
    days = days_at(day, today)
    return render(request, user, "daily.html", today=today.isoformat(), **days, **values)


def daily_page(games: GameService, day: str, account: str, today: date) -> dict[str, Any]:
    """Return what the page of a day's challenge shows, with the account's own game."""
    rules = rules_info(str(get_rules("classic")))
    found = games.store.leaderboards.top("daily", rules.text, day)
    commitment, secret = games.challenge(day)
    results = games.store.online.daily_results(account)
    mine = next((each.game_id for each in results if each.day == day), None)
    revealed = revelation_of(day).date()
    opened = [each for each in results if each.category and revelation_of(each.day).date() <= today]
    return {
        "chosen": rules,
        "rows": messages.game_rows(found),
        "mine": mine and row_of(games, mine),
        "counts": is_known(games.account(account)),
        "streak": streak_of(results, today),
        "opened": opened[-1] if opened else None,
        "commitment": commitment,
        "secret": secret,
        "revealed": revealed,
        "is_revealed": revealed <= today,
    }


def checked_day(text: str | None, today: date, what: str = "challenge") -> date:
    """Return the day that an address names, today if it names none.

    Raises:
        HTTPException: if it is not a day, or one without a challenge or a puzzle.
    """
    try:
        day = date.fromisoformat(text) if text else today
    except ValueError:
        raise HTTPException(404, "That is not a day.") from None
    if not _FIRST_DAY <= day <= today:
        raise HTTPException(404, f"There is no {what} on that day.")
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
    runs = _runs(date.fromisoformat(each.day) for each in results if each.category == DAILY)
    if not runs:
        return Streak()
    last, length = runs[-1]
    yesterday = today - _DAY
    is_open = any(each.category is None and each.day == str(yesterday) for each in results)
    is_alive = last >= yesterday or (last == yesterday - _DAY and is_open)
    return Streak(length if is_alive else 0, max(days for _, days in runs), last == today)


def _runs(days: Iterable[date]) -> list[tuple[date, int]]:
    """Return the last day and the length of each run of consecutive days, in order."""
    runs: list[tuple[date, int]] = []
    for day in sorted(days):
        if runs and day - runs[-1][0] == _DAY:
            runs[-1] = day, runs[-1][1] + 1
        else:
            runs.append((day, 1))
    return runs


# The puzzle


async def puzzle(request: Request) -> Response:
    """The puzzle of a day; with an answer, whether it is right and why."""
    user, today = await user_of(request, wait=False), datetime.now(UTC).date()
    day = checked_day(request.query_params.get("day"), today, "puzzle")
    values = await asyncio.to_thread(_puzzle_page, day, request.query_params.get("answer"))
    return render(request, user, "puzzle.html", **days_at(day, today), **values)


async def answer(request: Request) -> Response:
    """Go to the page of an answer."""
    form = await read_form(request)
    query = {name: form.get(name, "") for name in ("day", "answer")}
    return RedirectResponse(f"/puzzle?{urlencode(query)}", 303)


def _puzzle_page(day: date, answer: str | None) -> dict[str, Any]:
    """Return what the page of a puzzle shows.

    Raises:
        HTTPException: if the answer is not a legal move.
    """
    # Reading the pack takes as long as other pages take altogether.
    from py2048.review.puzzles import daily_puzzle

    puzzle = daily_puzzle(day)
    shown = {
        "puzzle": puzzle,
        "rules": rules_info(str(puzzle.rules)),
        "board": puzzle.board.rows,
        "legal": [str(direction) for direction in puzzle.board.legal_directions()],
    }
    if answer is None:
        return shown
    try:
        played = Direction.parse(answer)
    except DirectionError:
        played = None
    if played is None or played not in puzzle.values:
        raise HTTPException(404, "That is not a move in this puzzle.")
    return {**shown, "answer": _answered(puzzle, played)}


def _answered(puzzle: Puzzle, played: Direction) -> dict[str, Any]:
    """Return what is said of an answer: of a right one, why the next best is worse."""
    from py2048.review.themes import theme_of

    ranked = sorted(puzzle.values, key=puzzle.values.__getitem__, reverse=True)
    is_right = played is puzzle.best
    worse = ranked[1] if is_right else played
    theme = theme_of(puzzle.rules, puzzle.board, worse, puzzle.best)
    return {
        "played": str(played),
        "is_right": is_right,
        "move": puzzle.graded(worse),
        "theme": theme.label,
        "why": theme.why,
        "values": [puzzle.graded(direction) for direction in ranked],
    }


ROUTES = (
    page("/daily", challenge),
    page("/puzzle", puzzle),
    page("/puzzle", answer, "POST"),
)
