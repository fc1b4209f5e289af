"""Measuring on a machine that does other things too: contestants take turns, and the best counts.

A machine that is shared, or that changes its clock, makes everything slower at times and nothing
faster. So all contestants of a table play a short stretch each, round after round: a disturbance
hits all alike, the fastest stretch tells what the program can do, and ratios are formed within the
same table.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

Stretch = Callable[[], float]
"""Plays a while and returns what it measured: a speed, or the seconds that it took."""


@dataclass(frozen=True)
class Effort:
    """How much is spent on measuring.

    Attributes:
        rounds: how many turns each contestant gets.
        seconds: about how long a turn is.
        threads: how many threads "all cores" are.
        tells: whether to say on stderr what is being measured.
    """

    rounds: int
    seconds: float
    threads: int
    tells: bool = False


class Row(NamedTuple):
    """What was measured of one contestant, a number for each turn."""

    name: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle of the numbers."""
        return statistics.median(self.values)


@dataclass(frozen=True)
class Table:
    """Contestants that took turns.

    Attributes:
        title: what they did.
        unit: what the numbers count, such as ``moves/s``.
        rows: the contestants.
        base: the name of the one that the others are compared with.
        is_less_better: whether the smallest number is the best, as with seconds.
        note: a remark.
    """

    title: str
    unit: str
    rows: tuple[Row, ...]
    base: str | None = None
    is_less_better: bool = False
    note: str = ""

    def best(self, row: Row) -> float:
        """Return the best number of a contestant."""
        return min(row.values) if self.is_less_better else max(row.values)

    def ratio(self, row: Row) -> float | None:
        """Return how many times better a contestant is than the base; None without a base."""
        based = next((each for each in self.rows if each.name == self.base), None)
        if based is None:
            return None
        own, other = self.best(row), self.best(based)
        return other / own if self.is_less_better else own / other


def race(
    title: str,
    contestants: dict[str, Stretch],
    effort: Effort,
    *,
    unit: str,
    base: str | None = None,
    is_less_better: bool = False,
    note: str = "",
) -> Table:
    """Let the contestants take turns; the first turn of each is a warm-up and does not count."""
    values: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(effort.rounds + 1):
        for name, play in contestants.items():
            tell(f"{title}: round {turn} of {effort.rounds}, {name}", effort)
            value = play()
            if turn:
                values[name].append(value)
    tell("", effort)
    rows = tuple(Row(name, tuple(found)) for name, found in values.items())
    known = base if base in contestants else None
    return Table(title, unit, rows, known, is_less_better, note)


def tell(text: str, effort: Effort) -> None:
    """Say on a terminal what is going on, in place of what was said before."""
    if effort.tells:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def stretch(some: Callable[[], int], seconds: float) -> Stretch:
    """Return the speed of `some`, which returns how much it did, called for about so long."""

    def play() -> float:
        done, start, now = 0, time.perf_counter(), 0.0
        while now < seconds:
            done += some()
            now = time.perf_counter() - start
        return done / now

    return play
