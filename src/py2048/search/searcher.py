"""`Searcher`: expectimax with the rules, the evaluation and the limits of its choice, compiled.

It looks ahead over every tile that may appear, with its exact probability, and lets an evaluation
stand in for the rest of the game: the heuristic, or an n-tuple network. How far it looks is given
by a depth, by a number of boards, or by a time (`Limits`); the first two always give the same
result, with any number of threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine import Board, Direction
from py2048.engine.workers import together
from py2048.errors import BoardError
from py2048.evaluation.heuristic import DEFAULT, Heuristic
from py2048.evaluation.ntuple import Network, code_of
from py2048.rules import Rules
from py2048.search import _play_kernels as kernels
from py2048.search._expectimax_kernels import ALL
from py2048.search.desk import CACHE, COSTS_PER_BIT, MAX_LEVELS, Desk, kind_of_rules, new_desk

Cells = NDArray[np.uint8]
Points = NDArray[np.int64]
Values = NDArray[np.float64]

MAX_DEPTH = MAX_LEVELS
UNLIMITED = 1 << 60
"""More boards than any search rates."""
MAX_RANK = 31
"""The largest rank on a board that is searched."""
FIRST_LIMIT = 3 * COSTS_PER_BIT
"""How unlikely a path the first of several searches follows: three bits."""
STEP = COSTS_PER_BIT
"""How much further each next one goes: half as likely."""
LIKELY_GROWTH = 2.0
"""How many times the boards of a search the next one is expected to rate at least."""
FIRST_SPEED = 1e6
"""Boards rated in a second, before anything has been measured."""


@dataclass(frozen=True)
class Limits:
    """How far a search looks.

    With `nodes` or `ms` it searches again and again, less and less likely paths each time, until
    these are used up; `depth` then is only an upper bound.

    Attributes:
        depth: how many moves it looks ahead, 1 or more; with `nodes` or `ms` by default as many
            as it can, else 2.
        nodes: how many boards it rates for a move at most.
        ms: how many milliseconds it takes for a move at most, about.
        cutoff: the probability from which on a path is not followed to the end; 0 follows all.

    Raises:
        ValueError: naming the limit that cannot be used.
    """

    depth: int | None = None
    nodes: int | None = None
    ms: float | None = None
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"depth must be 1 to {MAX_DEPTH}, not {self.depth}")
        if self.nodes is not None and not 1 <= self.nodes < UNLIMITED:
            raise ValueError(f"nodes must be 1 or more, not {self.nodes}")
        if self.ms is not None and not 0 < self.ms < 1e9:
            raise ValueError(f"ms must be more than 0, not {self.ms}")
        if self.nodes is not None and self.ms is not None:
            raise ValueError("give nodes or ms, not both")
        if not 0 <= self.cutoff < 1:
            raise ValueError(f"cutoff must be at least 0 and less than 1, not {self.cutoff}")

    @property
    def is_fixed(self) -> bool:
        """Whether each move takes a single search."""
        return self.nodes is None and self.ms is None

    @property
    def moves(self) -> int:
        """How many moves are looked ahead at most."""
        return self.depth or (2 if self.is_fixed else MAX_DEPTH)

    @property
    def follows_all(self) -> bool:
        """Whether every path is followed to the end."""
        return self.is_fixed and not self.cutoff

    @property
    def last_cost(self) -> int:
        """The cost from which on a path is not followed."""
        if not self.cutoff:
            return 1 << 14
        return int(-COSTS_PER_BIT * np.log2(self.cutoff))


class Worker(NamedTuple):
    """What one thread searches with."""

    desks: Desk
    weights: NDArray[np.float32]


class Rated(NamedTuple):
    """What came of a search.

    Attributes:
        values: the points of each legal direction and those to come; 0 for others.
        nodes: how many boards were rated.
        is_whole: whether it was finished.
        is_final: whether a further search would find the same.
    """

    values: Values
    nodes: int
    is_whole: bool
    is_final: bool


class Searcher:
    """Searches boards of one rule set. One call at a time works; others wait.

    Args:
        rules: the rules.
        evaluation: what leaves are worth: a heuristic, or a network for these rules.
        limits: how far to look.
        threads: how many threads work on a move.
        table: how many chance nodes are remembered for a move; 0 for none.
        cache: how many leaves are remembered; 0 for none.
        known: the largest rank that the evaluation knows; on boards with a larger one, tiles
            are renamed so that it need not be known.

    Raises:
        WeightsError: if the network is for boards of another shape.
    """

    def __init__(
        self,
        rules: Rules,
        evaluation: Network | Heuristic = DEFAULT,
        limits: Limits | None = None,
        *,
        threads: int = 1,
        table: int | None = None,
        cache: int | None = None,
        known: int | None = None,
    ) -> None:
        self.rules, self.evaluation = rules, evaluation
        self.limits = limits or Limits()
        is_network = isinstance(evaluation, Network)
        if table is None:
            table = 0 if self.limits.moves <= 2 else 1 << (16 if self.limits.moves <= 3 else 18)
        if cache is None:
            cache = CACHE if is_network and self.limits.moves > 1 else 0
        kind, name = kind_of_rules(rules), "network" if is_network else "heuristic"
        code = code_of(evaluation.layout) if isinstance(evaluation, Network) else ()
        self._kernel = kernels.kernel_for(kind, name, code)
        weights = np.zeros(1, np.float32)
        if isinstance(evaluation, Network):
            weights = evaluation.weights
        self.workers = [
            Worker(
                new_desk(
                    rules,
                    evaluation,
                    follows_all=self.limits.follows_all,
                    table=table,
                    cache=cache,
                    known=known,
                ),
                weights,
            )
            for _ in range(min(threads, len(Direction)))
        ]
        self._speed = FIRST_SPEED
        self._lock = threading.Lock()

    @property
    def nodes(self) -> int:
        """How many boards the last search or game of this searcher's first thread rated."""
        return int(self.workers[0].desks[0].nodes)

    def prepare(self) -> None:
        """Compile the search, or load it, so that the first move takes no longer than others."""
        self._rate(self.workers[0], np.zeros(self.rules.cells, np.uint8), 1, 0)

    def rate(self, board: Board) -> dict[Direction, float]:
        """Return the worth of each legal move: its points and those to come.

        Raises:
            BoardError: if the board has another shape, or a tile above 2**31.
        """
        points, values = self.rate_cells(self.cells_of(board))
        return {d: float(values[d.value]) for d in Direction if points[d.value] >= 0}

    def cells_of(self, board: Board) -> Cells:
        """Return a board as ranks, uint8 `[cells]`.

        Raises:
            BoardError: if the board has another shape, or a tile above 2**31.
        """
        if board.shape != self.rules.shape:
            rows, columns = board.shape
            raise BoardError(f"a {rows}x{columns} board does not fit the rules {self.rules.name}")
        if board.max_tile > 1 << MAX_RANK:
            raise BoardError(f"tile {board.max_tile} is too big to search: at most {2**MAX_RANK}")
        ranks = [max(tile.bit_length() - 1, 0) for row in board.rows for tile in row]
        return np.array(ranks, np.uint8)

    def rate_cells(self, cells: Cells) -> tuple[Points, Values]:
        """Return the points of each slide, -1 for an illegal one, and what each move is worth."""
        with self._lock:
            limits = self.limits
            if limits.is_fixed and len(self.workers) == 1:
                return self._rate(self.workers[0], cells, limits.moves, limits.last_cost)
            points, values = self._rate(self.workers[0], cells, 1, 0)
            if limits.is_fixed:
                found = self._search(cells, points, limits.moves, limits.last_cost, UNLIMITED)
                return points, found.values
            return points, self._deepened(cells, points, values)

    def play_on(
        self, cells: Cells, state: NDArray[np.int64], key: int, room: int
    ) -> NDArray[np.uint8]:
        """Play a game on, in the kernel; return the moves made, at most `room` of them.

        Args:
            cells: the board as ranks; the last board is written to it.
            state: as in ``_play_kernels.py``.
            key: the key of the game's draws.
            room: how many moves to make; 1 if searches are limited by nodes or by time.
        """
        limits = self.limits
        if limits.is_fixed:
            return self._play(cells, state, key, ALL, limits.moves, room)
        points, values = self.rate_cells(cells)
        if points.max() < 0:
            state[kernels.OVER] = 1
            return np.empty(0, np.uint8)
        best = np.argmax(np.where(points >= 0, values, -np.inf))
        return self._play(cells, state, key, best, 1, 1)

    def _play(
        self, cells: Cells, state: NDArray[np.int64], key: int, only: Any, depth: int, room: int
    ) -> NDArray[np.uint8]:
        moves = np.empty(room, np.uint8)
        limits = np.int64(depth), np.int64(self.limits.last_cost), np.int64(UNLIMITED)
        results = np.zeros(4, np.int64), np.zeros(4)
        with self._lock:
            made = self._kernel(
                *(cells, state, moves, np.uint64(key), np.int64(only)),
                *(*limits, *self.workers[0], *results),
            )
        return moves[:made]

    def _rate(
        self,
        worker: Worker,
        cells: Cells,
        depth: int,
        left: int,
        only: Any = ALL,
        budget: int = UNLIMITED,
    ) -> tuple[Points, Values]:
        """Rate one move or all of them, on this thread."""
        points, values = np.zeros(4, np.int64), np.zeros(4)
        nothing = np.zeros(kernels.STATE, np.int64), np.zeros(0, np.uint8), np.uint64(0)
        limits = np.int64(only), np.int64(depth), np.int64(left), np.int64(budget)
        self._kernel(cells, *nothing, *limits, *worker, points, values)
        return points, values

    def _deepened(self, cells: Cells, points: Points, values: Values) -> Values:
        """Return the values of the last of several searches that could be finished."""
        purse = _Time(self.limits.ms, self) if self.limits.ms else _Nodes(self.limits.nodes or 0)
        before, expected = 0.0, 0.0
        legal = int((points >= 0).sum())
        for left in self._costs() if legal > 1 else ():
            allowance = purse.left()
            if allowance < expected or allowance < legal:
                break
            rated = self._search(cells, points, self.limits.moves, left, allowance // legal)
            purse.spend(rated.nodes)
            if not rated.is_whole:
                break
            values = rated.values
            if rated.is_final:
                break
            growth = max(rated.nodes / before if before else 0.0, LIKELY_GROWTH)
            before, expected = rated.nodes, rated.nodes * growth
        return values

    def _costs(self) -> Iterator[int]:
        last = self.limits.last_cost
        yield from range(min(FIRST_LIMIT, last), last, STEP)
        yield last

    def _search(self, cells: Cells, points: Points, depth: int, left: int, allowance: int) -> Rated:
        """Search every legal move, each with its own allowance of nodes."""
        directions = iter([number for number in range(4) if points[number] >= 0])
        jobs = [(worker, directions, cells, depth, left, allowance) for worker in self.workers]
        values, nodes, cuts, is_whole = np.zeros(4), 0, 0, True
        for found in together(self._work, jobs):
            for direction, value, rated, cut in found:
                values[direction] = value
                nodes += rated
                cuts += cut
                is_whole &= rated <= allowance
        return Rated(values, nodes, is_whole, cuts == 0)

    def _work(
        self,
        worker: Worker,
        directions: Iterator[int],
        cells: Cells,
        depth: int,
        left: int,
        allowance: int,
    ) -> list[tuple[int, float, int, int]]:
        """Search directions until none is left; return each with its value, nodes and cuts."""
        found = []
        for direction in directions:
            _, values = self._rate(worker, cells, depth, left, direction, allowance)
            desk = worker.desks[0]
            found.append((direction, float(values[direction]), int(desk.nodes), int(desk.cuts)))
        return found


class _Nodes:
    """A number of nodes to be spent."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def left(self) -> int:
        """Return how many nodes may still be rated."""
        return self._nodes

    def spend(self, nodes: int) -> None:
        """Note that nodes were rated."""
        self._nodes -= nodes


class _Time:
    """A time to be spent, counted in nodes at the speed that the searcher had last."""

    def __init__(self, ms: float, searcher: Searcher) -> None:
        self._searcher = searcher
        self._before = time.perf_counter()
        self._end = self._before + ms / 1000

    def left(self) -> int:
        """Return how many nodes can still be rated."""
        return int((self._end - time.perf_counter()) * self._searcher._speed)

    def spend(self, nodes: int) -> None:
        """Note that nodes were rated, and how long it took."""
        now = time.perf_counter()
        speed, weight = nodes / max(now - self._before, 1e-7), min(1.0, nodes / 1e4)
        self._searcher._speed += weight * 0.3 * (speed - self._searcher._speed)
        self._before = now
