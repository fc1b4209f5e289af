"""Streaks: how many days in a row a player has finished the daily challenge.

A game belongs to the day that it was dealt for, whenever it ends; one that continued after the
secret of its day was known counts for none. Days are those of UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from py2048.server.schema import DAILY
from py2048.storage import DailyResult

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Streak:
    """Days in a row.

    Attributes:
        current: those up to today, or to the last day that can still be followed; 0 if a day was
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
