"""Games grouped by the day, week or month in which they ended, for plots."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from py2048.app.storage.values import RecordSummary

_MAX_DAYS, _MAX_WEEKS = 31, 105  # longer histories are plotted by week, and the longest by month


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
