"""The solver: all boards forward, layer by layer of their sum, and their values backward.

A slide keeps the sum of a board and a spawn adds its tile, so that the boards of one sum follow
from those of a few smaller sums, and their values from those of a few larger ones. Each step is a
function of layers that are complete, so solving continues wherever it was stopped.

Source: layers by sum are the *ages* of T. Kaneko and S. Yamashita, "Strongly Solving 2048 4x3",
2025, arXiv:2510.04580.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from py2048.board import Board
from py2048.compiled._board_kernels import Int
from py2048.compiled.jit import available_threads, shares, together
from py2048.errors import SolvingError
from py2048.rules import Rules, get_rules
from py2048.solving import _solver_kernels as kernels
from py2048.solving.files import KEPT, Keys, LayerStore, Values, known_of, once
from py2048.solving.goal import Goal, Problem, TileSpawn
from py2048.solving.solution import LayerCount, Progress, Solution

PORTION = 1 << 15
"""How many boards are expanded at once: what they lead to stays in the processor's cache."""

FEW = 1 << 13
"""How many boards are not worth a second thread."""

DEFAULT_MEMORY = 4 << 30


def solve(
    rules: Rules | str,
    goal: Goal | str = "score",
    *,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    save: Path | str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Return the exact value of every position that play can reach.

    Args:
        rules: rules whose tiles appear at random, or their text.
        goal: ``score`` for the expected score, ``tile=N`` for the chance to make a tile.
        memory: how many bytes are used, about, if there is a file to save to; layers that do not
            fit are on disk then.
        threads: by default one for each processor.
        save: a file for the solution. What is done is kept beside it in a folder until it is
            complete: the same call continues what was stopped.
        progress: called after each layer.

    Raises:
        RulesError: if `rules` are none.
        SolvingError: if they cannot be solved, or files cannot be written or are damaged.
    """
    problem = Problem(get_rules(rules), Goal.parse(goal))
    plan = {"rules": str(problem.rules), "goal": str(problem.goal)}
    folder = None if save is None else Path(f"{save}.unfinished")
    store = LayerStore(memory // 2, folder, plan)
    solver = _Solver(problem, store, threads or available_threads(), progress)
    solution = solver.run(memory // 4)
    if save is None:
        return solution
    try:
        solution.save(save)
    except SolvingError as error:
        raise SolvingError(f"{error}{KEPT}") from None
    store.remove()
    return Solution.load(save, memory=memory // 4)


def solve_from(rules: Rules, boards: Sequence[Board], goal: Goal | str = "score") -> Solution:
    """Return the exact value of every position that play can reach from some boards.

    Raises:
        SolvingError: if the rules cannot be solved.
    """
    problem = Problem(rules, Goal.parse(goal), boards=boards)
    store = LayerStore(DEFAULT_MEMORY // 2)
    return _Solver(problem, store, available_threads(), None).run(DEFAULT_MEMORY // 4)


def start_keys(problem: Problem) -> dict[int, Keys]:
    """Return the keys of the starts that are played on, by their sums."""
    found: dict[int, list[np.uint64]] = {}
    for board in problem.starts():
        if problem.stopped_value(board) is None:
            key = kernels.key_of(problem.pack(board), problem.spec)
            found.setdefault(board.sum, []).append(np.uint64(key))
    return {total: np.unique(np.array(keys, np.uint64)) for total, keys in found.items()}


def rounding_error(problem: Problem, layers: int, largest: float) -> float:
    """Return a bound of what rounding does to any value.

    Each layer adds to the error of the larger sums what its own operations on one board round,
    each by half a unit in the last place of what is at most `largest`; expectation and maximum
    make no error larger.
    """
    operations = problem.rules.cells + 4 * len(problem.spawns) + 2
    return layers * operations * largest * 2.0**-53


def grown(
    keys: Keys, expand: Callable[..., Int], room: int, spec: kernels.SolverSpec
) -> list[Keys]:
    """Return what `expand` finds from keys, up to `room` each: each array ascending and once."""
    found = np.empty(room * min(PORTION, len(keys)), np.uint64)
    parts = []
    for first in range(0, len(keys), PORTION):
        count = expand(keys[first : first + PORTION], spec, found)
        parts.append(once(found[:count].copy()))
    return parts


class _Solver:
    def __init__(
        self,
        problem: Problem,
        store: LayerStore,
        threads: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._problem, self._store, self._threads = problem, store, threads
        self._spec = problem.spec
        self._width = 4 * problem.rules.cells
        self._progress = progress
        self._began = time.perf_counter()

    def run(self, memory: int) -> Solution:
        """Return the solution; `memory` bounds the bytes of layers that it holds."""
        totals = self._enumerate(start_keys(self._problem))
        largest = self._evaluate(totals)
        spec, store, images = self._spec, self._store, np.empty(8, np.uint64)
        counts = [
            LayerCount(total, len(keys), int(kernels.count_images(keys, spec, images)))
            for total in totals
            for keys in [store.get(("before", total))]
        ]
        seconds = time.perf_counter() - self._began
        error = rounding_error(self._problem, len(totals), largest)
        return Solution(self._problem, store, counts, error, seconds, memory)

    # --- boards forward --------------------------------------------------------------------------

    def _enumerate(self, starts: dict[int, Keys]) -> list[int]:
        """Find the boards of every sum, and the afterstates; return the sums."""
        began, done = time.perf_counter(), 0
        waiting, totals = sorted(starts), list[int]()
        while waiting:
            total = heapq.heappop(waiting)
            if totals and total == totals[-1]:
                continue
            if ("after", total) not in self._store:
                boards = self._boards(total, starts)
                self._store.put(("before", total), boards)
                self._store.put(("after", total), self._grown(boards, kernels.slide_all, 4))
            totals.append(total)
            if self._store.length(("after", total)):
                for spawn in self._playing:
                    heapq.heappush(waiting, total + spawn.tile)
            done += self._store.length(("before", total))
            self._tell("boards", total, done, 0, began)
        return totals

    @property
    def _playing(self) -> list[TileSpawn]:
        """The tiles after which the game continues."""
        return [spawn for spawn in self._problem.spawns if spawn.ends is None]

    def _boards(self, total: int, starts: dict[int, Keys]) -> Keys:
        parts = [starts.get(total, np.empty(0, np.uint64))]
        for spawn in self._playing:
            afters = self._store.get(("after", total - spawn.tile))
            expand = partial(kernels.spawn_all, spawn.known.rank)
            parts.append(self._grown(afters, expand, self._problem.rules.cells - 1))
        return self._union(parts)

    def _grown(self, keys: Keys, expand: Callable[..., Int], room: int) -> Keys:
        """Return what `expand` finds from keys, up to `room` each, ascending and once."""

        def share(first: int, last: int) -> list[Keys]:
            return grown(keys[first:last], expand, room, self._spec)

        jobs = shares(len(keys), self._workers(len(keys)))
        return self._union([part for parts in together(share, jobs) for part in parts])

    def _union(self, parts: Sequence[Keys]) -> Keys:
        """Return the keys of ascending arrays, ascending and once."""
        parts = [part for part in parts if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else np.empty(0, np.uint64)
        workers = self._workers(sum(map(len, parts)))
        bounds = [(k << self._width) // workers for k in range(1, workers)]
        borders = np.array(bounds, np.uint64)
        cuts = [[0, *np.searchsorted(part, borders), len(part)] for part in parts]

        def merge(worker: int) -> Keys:
            ranges = zip(parts, cuts, strict=True)
            return once(np.concatenate([p[c[worker] : c[worker + 1]] for p, c in ranges]))

        return np.concatenate(together(merge, [(worker,) for worker in range(workers)]))

    def _workers(self, boards: int) -> int:
        return max(1, min(self._threads, boards // FEW))

    # --- values backward -------------------------------------------------------------------------

    def _evaluate(self, totals: list[int]) -> float:
        """Find the value of every board; return the largest."""
        began, done, largest = time.perf_counter(), 0, 0.0
        boards = sum(self._store.length(("before", total)) for total in totals)
        known: dict[int, kernels.Known] = {}
        reach = max(spawn.tile for spawn in self._problem.spawns)
        for total in reversed(totals):
            known = {other: layer for other, layer in known.items() if other <= total + reach}
            keys = self._store.get(("before", total))
            if ("values", total) not in self._store:
                self._store.put(("values", total), self._values(total, keys, known))
            values = self._store.get(("values", total))
            known[total] = known_of(keys, values, self._width)
            largest = max(largest, float(np.abs(values).max(initial=0.0)))
            done += len(keys)
            self._tell("values", total, done, boards, began)
        return largest

    def _values(self, total: int, keys: Keys, known: dict[int, kernels.Known]) -> Values:
        after_keys = self._store.get(("after", total))
        to_come = self._expectations(after_keys, total, known)
        afters = known_of(after_keys, to_come, self._width)
        values = np.empty(len(keys))

        def share(first: int, last: int) -> None:
            kernels.choose(keys[first:last], self._spec, afters, values[first:last])

        together(share, shares(len(keys), self._workers(len(keys))))
        return values

    def _expectations(self, keys: Keys, total: int, known: dict[int, kernels.Known]) -> Values:
        """Return what is to come from afterstates."""
        to_come = np.empty(len(keys))

        def share(first: int, last: int) -> None:
            part = to_come[first:last]
            self._problem.expect(keys[first:last], lambda tile: known[total + tile], part)

        together(share, shares(len(keys), self._workers(len(keys))))
        return to_come

    def _tell(self, stage: str, total: int, done: int, all_: int, began: float) -> None:
        if self._progress is not None:
            self._progress(Progress(stage, total, done, all_, time.perf_counter() - began))
