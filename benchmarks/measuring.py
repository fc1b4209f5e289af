"""Benchmarks in which contestants take turns, so that noise affects all of them alike.

Other processes and changes of the clock rate can only slow a program down, so the fastest turn
shows what a program can do.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from py2048.core.rules import get_rules
from py2048.engine.batch import BatchGames, rollouts
from py2048.lab.commands.bench import GAMES, WARM_UP_STEPS
from py2048.presentation.options import print_json
from py2048.presentation.streams import StatusLine

Stretch = Callable[[], float]
"""A function that runs a contestant for one turn and returns its speed or duration."""

WIDTH = 46


def report(
    effort: Effort,
    subjects: Mapping[str, Callable[[Effort], list[Measurement]]],
    found: dict[str, str],
    *,
    json: bool,
) -> None:
    """Run the measurements; print the machine's description and the results."""
    found["turns"] = f"{effort.rounds} of {effort.seconds} s each; median and best of them"
    if not json:
        width = max(map(len, found))
        print("\n".join(f"{name:<{width}}  {value}" for name, value in found.items()), flush=True)
    measured: list[Measurement] = []
    for measure in subjects.values():
        with StatusLine(quiet=json):
            more = measure(effort)
        if not json:
            for each in more:
                print(f"\n{text_of(each)}", flush=True)
        measured += more
    if json:
        print_json({"machine": found, "tables": [data_of(each) for each in measured]})


# --- measuring -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """The effort of a measurement.

    Attributes:
        rounds: Turns per contestant.
        seconds: Approximate length of a turn.
        threads: Number of threads for measurements on all cores.
        shows: Whether to show progress on stderr.
    """

    rounds: int
    seconds: float
    threads: int
    shows: bool = False


class Contestant(NamedTuple):
    """The results of a contestant, with one result per turn."""

    name: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the results."""
        return statistics.median(self.values)


@dataclass(frozen=True)
class Measurement:
    """Results of contestants that took turns.

    Attributes:
        title: What was measured.
        unit: Unit of the results, such as ``moves/s``.
        rows: The contestants.
        base: Name of the contestant to compare with.
        is_less_better: Whether the smallest result is the best, as with durations.
    """

    title: str
    unit: str
    rows: tuple[Contestant, ...]
    base: str | None = None
    is_less_better: bool = False

    def best(self, row: Contestant) -> float:
        """Return a contestant's best result."""
        return min(row.values) if self.is_less_better else max(row.values)

    def ratio(self, row: Contestant) -> float | None:
        """Return the factor by which a contestant beats the base, or None without a base."""
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
) -> Measurement:
    """Let contestants take turns. The first turn is a warm-up and is not counted."""
    values: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(effort.rounds + 1):
        for name, play in contestants.items():
            show(f"{title}: round {turn} of {effort.rounds}, {name}", effort)
            value = play()
            if turn:
                values[name].append(value)
    show("", effort)
    rows = tuple(Contestant(name, tuple(found)) for name, found in values.items())
    known = base if base in contestants else None
    return Measurement(title, unit, rows, known, is_less_better)


def show(text: str, effort: Effort) -> None:
    """Replace the progress text on the terminal."""
    if effort.shows:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def stretch(some: Callable[[], int], seconds: float) -> Stretch:
    """Create a contestant that repeats `some` for about `seconds`, and returns its rate."""

    def play() -> float:
        done, start, now = 0, time.perf_counter(), 0.0
        while now < seconds:
            done += some()
            now = time.perf_counter() - start
        return done / now

    return play


# --- random play ---------------------------------------------------------------------------------


def batch_play(threads: int, effort: Effort) -> dict[str, Stretch]:
    """Return the engine's ways of playing many random games on `threads` threads."""
    classic = get_rules("classic")
    batch = BatchGames(classic, GAMES, seed=1, threads=threads)
    batch.play_random(WARM_UP_STEPS)
    starts = BatchGames(classic, 4096, seed=1).observe()
    turn = iter(range(1 << 62))

    def whole_games() -> int:
        return int(rollouts(classic, starts, 1, seed=next(turn), threads=threads).plies.sum())

    cores = f"{threads} core{'s' * (threads > 1)}"
    named: dict[str, Callable[[], int]] = {
        f"batch, {cores}": lambda: batch.play_random(50).steps,
        f"rollouts, {cores}": whole_games,
    }
    return {name: stretch(some, effort.seconds) for name, some in named.items()}


# --- output --------------------------------------------------------------------------------------


def text_of(each: Measurement) -> str:
    """Format a measurement: median, best and ratio of each contestant."""
    ratio = "ratio" if each.base else ""
    lines = [f"{each.title:<{WIDTH}}{each.unit:>14}{'best':>14}{ratio:>9}".rstrip()]
    for row in each.rows:
        line = f"  {row.name:<{WIDTH - 2}}{figure(row.median):>14}{figure(each.best(row)):>14}"
        value = each.ratio(row)
        lines.append(line + (f" {value:>8,.2f}" if value is not None else ""))
    return "\n".join(lines)


def figure(value: float) -> str:
    """Format a number with about four digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def data_of(each: Measurement) -> dict[str, object]:
    """Return a measurement as plain values for JSON."""
    rows = [
        {"name": row.name, "median": row.median, "values": list(row.values)}
        | {"best": each.best(row), "ratio": each.ratio(row)}
        for row in each.rows
    ]
    head = {"title": each.title, "unit": each.unit, "base": each.base}
    return head | {"rows": rows}
