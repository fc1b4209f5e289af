"""How a contest looks while it goes on: a bar for each player, or lines in a pipe; on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from py2048.cli.compiling import telling

if TYPE_CHECKING:
    from py2048.arena import Played, Pool, Results

SILENCE = 60.0
"""A pipe hears at least so often how far the contest is, in seconds."""

Show = Callable[["Played"], None]


@contextmanager
def watching(results: Results, pool: Pool, *, quiet: bool) -> Iterator[Show]:
    """Return what is to be called with each game that ends."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bars(results, pool) as show:
            yield show
    else:
        with telling(lambda: pool.compiling):
            yield _lines(results, pool)


class _Means:
    """The number of games and the mean score of each player so far."""

    def __init__(self, results: Results) -> None:
        self.counts = dict.fromkeys(results.contest.players, 0)
        self._totals = dict.fromkeys(results.contest.players, 0)
        for spec in results.contest.players:
            for played in results.of(spec).values():
                self.add(played)

    def add(self, played: Played) -> None:
        """Take in a game."""
        self.counts[played.player] += 1
        self._totals[played.player] += played.score

    def text(self, player: str) -> str:
        """Return the mean score of a player."""
        count = self.counts[player]
        return f"mean {self._totals[player] / count:,.0f}" if count else ""


@contextmanager
def _bars(results: Results, pool: Pool) -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )

    class CompilingColumn(ProgressColumn):
        def render(self, task: Task) -> str:
            return "" if task.completed else str(pool.compiling or "")

    means = _Means(results)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[mean]}"),
        CompilingColumn(),
        TimeRemainingColumn(compact=True),
    )
    console = Console(stderr=True)
    console.print(f"playing {pool.place}; Ctrl-C stops and reports", highlight=False)
    with Progress(*columns, console=console) as progress:
        tasks = {
            spec: progress.add_task(
                spec, total=results.contest.games, completed=count, mean=means.text(spec)
            )
            for spec, count in means.counts.items()
        }

        def show(played: Played) -> None:
            means.add(played)
            spec = played.player
            progress.update(tasks[spec], completed=means.counts[spec], mean=means.text(spec))

        yield show


def _lines(results: Results, pool: Pool) -> Show:
    """Return what prints a line for each tenth of the games, and one a minute."""
    means = _Means(results)
    tenth, last = 10 * results.count // results.total, time.monotonic()
    print(f"{results.total - results.count:,} games {pool.place}", file=sys.stderr, flush=True)

    def show(played: Played) -> None:
        nonlocal tenth, last
        means.add(played)
        now = 10 * results.count // results.total
        if now == tenth and time.monotonic() < last + SILENCE:
            return
        tenth, last = now, time.monotonic()
        texts = (f"{spec} {means.text(spec)}".rstrip() for spec in means.counts)
        print(
            f"{results.count:,} of {results.total:,}: {'; '.join(texts)}",
            file=sys.stderr,
            flush=True,
        )

    return show
