"""Solve games exactly: enumerate boards layer by layer, then evaluate them backward.

A layer holds all boards with the same tile sum. Slides preserve the
sum and spawns increase it, so boards are enumerated in ascending order of their sums and evaluated
in descending order.
Each step depends only on complete layers, so an interrupted run can be resumed.

The layers are called *ages* in Kaneko & Yamashita, "Strongly Solving 2048 4x3", 2025,
arXiv:2510.04580.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from py2048.core.board import Board
from py2048.core.rules import Rules, get_rules
from py2048.engine._board_kernels import Int
from py2048.engine.jit import available_threads, shares, together
from py2048.players.solving import _solver_kernels as kernels
from py2048.players.solving.files import Keys, LayerStore, Values, lookup_of, sorted_unique
from py2048.players.solving.goal import Goal, Problem
from py2048.players.solving.solution import Arrays, LayerCount, Solution, SolvingProgress

BATCH_BOARDS = 1 << 15
"""Number of boards expanded at once; their successors fit into the CPU cache."""

MIN_BOARDS_PER_THREAD = 1 << 13
"""Minimum number of boards per thread; with fewer, a thread costs more time than it saves."""

DEFAULT_MEMORY = 4 << 30


def solve(
    rules: Rules | str,
    goal: Goal | str = "score",
    *,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    save: Path | str | None = None,
    progress: Callable[[SolvingProgress], None] | None = None,
) -> Solution:
    """Compute the exact value of every reachable position.

    Args:
        rules: Rules, or a string such as ``classic:size=2x3``.
        goal: ``score`` for the expected score, or ``tile=N`` for the probability of reaching a
            tile.
        memory: Approximate memory limit in bytes. Layers beyond this limit are moved to disk, but
            only if `save` is given.
        threads: Number of threads, by default one per processor.
        save: File for the solution. Finished layers are kept in a folder next to this file until
            the file is complete. Repeating the call resumes an interrupted run.
        progress: Called after each layer.

    Raises:
        RulesError: If `rules` are invalid.
        SolvingError: If the problem cannot be solved, or files cannot be written or are damaged.
    """
    problem = Problem(get_rules(rules), Goal.parse(goal))
    plan = {"rules": str(problem.rules), "goal": str(problem.goal)}
    folder = None if save is None else Path(f"{save}.unfinished")
    store = LayerStore(memory // 2, folder, plan)
    solution = _Solver(problem, store, threads or available_threads(), LayerLoops(progress)).run()
    return solution if save is None else save_and_reload(solution, save, memory, store.remove)


def solve_from(rules: Rules, boards: Sequence[Board], goal: Goal | str = "score") -> Solution:
    """Compute the exact value of every position reachable from the given boards.

    Raises:
        SolvingError: If the problem cannot be solved.
    """
    problem, store = Problem(rules, Goal.parse(goal), boards=boards), LayerStore(0)
    return _Solver(problem, store, available_threads(), LayerLoops(None)).run()


def save_and_reload(
    solution: Solution, save: Path | str, memory: int, remove: Callable[[], None]
) -> Solution:
    """Save a solution, delete unfinished layers, and load the solution from the file."""
    solution.save(save)
    remove()
    return Solution.load(save, memory=memory // 4)


class LayerLoops:
    """Runs a solver layer by layer, measures the time and reports progress.

    Args:
        progress: Called after each layer, or None.
    """

    def __init__(self, progress: Callable[[SolvingProgress], None] | None) -> None:
        self._progress = progress
        self._began = time.perf_counter()

    def forward(
        self, problem: Problem, starts: Iterable[int], find: Callable[[int], tuple[int, int]]
    ) -> list[int]:
        """Build a layer for each reachable tile sum, in ascending order; return the sums.

        Args:
            problem: Rules and goal.
            starts: Sums of the starting boards.
            find: Builds the layer for a tile sum; returns the numbers of boards and of afterstates.
        """
        since, done = time.perf_counter(), 0
        waiting, totals = set(starts), list[int]()
        while waiting:
            waiting.remove(total := min(waiting))
            boards, afters = find(total)
            totals.append(total)
            if afters:
                waiting |= {total + tile for tile in problem.tiles}
            done += boards
            self._report("boards", total, done, 0, since)
        return totals

    def backward(self, totals: Sequence[int], size_of: Callable[[int], int]) -> Iterator[int]:
        """Yield the tile sum of each layer to evaluate; report progress after each layer.

        Args:
            totals: Tile sums, in the order in which to evaluate their layers.
            size_of: Function that returns the number of boards with a given tile sum.
        """
        since, done, all_ = time.perf_counter(), 0, sum(map(size_of, totals))
        for total in totals:
            yield total
            done += size_of(total)
            self._report("values", total, done, all_, since)

    def _report(self, stage: str, total: int, done: int, all_: int, since: float) -> None:
        if self._progress is not None:
            seconds = time.perf_counter() - since
            self._progress(SolvingProgress(stage, total, done, all_, seconds))

    def solution(
        self, problem: Problem, arrays: Arrays, counts: list[LayerCount], largest: float
    ) -> Solution:
        """Build the solution and bound its rounding error. `largest` is the maximum absolute value.

        Each operation rounds by at most half an ulp of `largest`. Expectations and maxima do not
        amplify the errors of their inputs, so the errors of the layers add up.
        """
        operations = problem.rules.cells + 4 * len(problem.spawns) + 2
        error = len(counts) * operations * largest * 2.0**-53
        return Solution(problem, arrays, counts, error, time.perf_counter() - self._began)


def start_keys(problem: Problem) -> dict[int, Keys]:
    """Return the keys of the playable starting boards, grouped by tile sum."""
    found: dict[int, list[np.uint64]] = {}
    for board in problem.starts():
        if problem.stopped_value(board) is None:
            key = kernels.key_of(problem.pack(board), problem.spec)
            found.setdefault(board.sum, []).append(np.uint64(key))
    return {total: np.unique(np.array(keys, np.uint64)) for total, keys in found.items()}


def expanded(
    keys: Keys, expand: Callable[..., Int], room: int, spec: kernels.SolverSpec
) -> list[Keys]:
    """Expand boards in batches; return a sorted array of distinct successors per batch.

    Args:
        keys: Keys of the boards to expand.
        expand: Kernel that finds the successors of boards.
        room: Maximum number of successors per board.
        spec: The rules and the goal, encoded for the kernels.
    """
    found = np.empty(room * min(BATCH_BOARDS, len(keys)), np.uint64)
    parts = []
    for first in range(0, len(keys), BATCH_BOARDS):
        count = expand(keys[first : first + BATCH_BOARDS], spec, found)
        parts.append(sorted_unique(found[:count].copy()))
    return parts


class _Solver:
    def __init__(
        self, problem: Problem, store: LayerStore, threads: int, loops: LayerLoops
    ) -> None:
        self._problem, self._store, self._threads = problem, store, threads
        self._spec, self._width = problem.spec, 4 * problem.rules.cells
        self._loops = loops

    def run(self) -> Solution:
        starts = start_keys(self._problem)
        totals = self._loops.forward(self._problem, starts, partial(self._find, starts))
        largest, images = self._evaluate(totals), np.empty(8, np.uint64)
        counts = [
            LayerCount(total, len(keys), int(kernels.count_images(keys, self._spec, images)))
            for total in totals
            for keys in [self._store.get(("before", total))]
        ]
        return self._loops.solution(self._problem, self._store, counts, largest)

    # --- boards forward --------------------------------------------------------------------------

    def _find(self, starts: dict[int, Keys], total: int) -> tuple[int, int]:
        """Find all boards and afterstates with a tile sum; return how many of each exist."""
        if ("after", total) not in self._store:
            boards = self._boards(total, starts)
            self._store.put(("before", total), boards)
            self._store.put(("after", total), self._expanded(boards, kernels.slide_all, 4))
        return self._store.length(("before", total)), self._store.length(("after", total))

    def _boards(self, total: int, starts: dict[int, Keys]) -> Keys:
        parts = [starts.get(total, np.empty(0, np.uint64))]
        for tile in self._problem.tiles:
            afters = self._store.get(("after", total - tile))
            expand = partial(kernels.spawn_all, np.uint64(tile.bit_length() - 1))
            parts.append(self._expanded(afters, expand, self._problem.rules.cells - 1))
        return self._union(parts)

    def _expanded(self, keys: Keys, expand: Callable[..., Int], room: int) -> Keys:
        """Expand boards on all threads; return a sorted array of distinct successors."""

        def share(first: int, last: int) -> list[Keys]:
            return expanded(keys[first:last], expand, room, self._spec)

        jobs = shares(len(keys), self._workers(len(keys)))
        return self._union([part for parts in together(share, jobs) for part in parts])

    def _union(self, parts: Sequence[Keys]) -> Keys:
        """Merge sorted arrays and drop duplicates."""
        parts = [part for part in parts if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else np.empty(0, np.uint64)
        workers = self._workers(sum(map(len, parts)))
        bounds = [(k << self._width) // workers for k in range(1, workers)]
        borders = np.array(bounds, np.uint64)
        cuts = [[0, *np.searchsorted(part, borders), len(part)] for part in parts]

        def merge(worker: int) -> Keys:
            ranges = zip(parts, cuts, strict=True)
            return sorted_unique(np.concatenate([p[c[worker] : c[worker + 1]] for p, c in ranges]))

        return np.concatenate(together(merge, [(worker,) for worker in range(workers)]))

    def _workers(self, boards: int) -> int:
        return max(1, min(self._threads, boards // MIN_BOARDS_PER_THREAD))

    # --- values backward -------------------------------------------------------------------------

    def _evaluate(self, totals: list[int]) -> float:
        """Compute the value of every board; return the largest absolute value."""
        store, known, largest = self._store, dict[int, kernels.Lookup](), 0.0
        reach = max(spawn.tile for spawn in self._problem.spawns)
        for total in self._loops.backward(
            totals[::-1], lambda each: store.length(("before", each))
        ):
            known = {other: layer for other, layer in known.items() if other <= total + reach}
            keys = store.get(("before", total))
            if ("values", total) not in store:
                store.put(("values", total), self._values(total, keys, known))
            values = store.get(("values", total))
            known[total] = lookup_of(keys, values, self._width)
            largest = max(largest, float(np.abs(values).max(initial=0.0)))
        return largest

    def _values(self, total: int, keys: Keys, known: dict[int, kernels.Lookup]) -> Values:
        after_keys = self._store.get(("after", total))
        to_come, values = np.empty(len(after_keys)), np.empty(len(keys))

        def expect(first: int, last: int) -> None:
            part = slice(first, last)
            self._problem.expect(after_keys[part], lambda tile: known[total + tile], to_come[part])

        def choose(first: int, last: int) -> None:
            kernels.choose(keys[first:last], self._spec, afters, values[first:last])

        together(expect, shares(len(after_keys), self._workers(len(after_keys))))
        afters = lookup_of(after_keys, to_come, self._width)
        together(choose, shares(len(keys), self._workers(len(keys))))
        return values
