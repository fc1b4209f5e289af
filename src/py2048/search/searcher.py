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
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board
from py2048.compiled.threads import together
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.ntuple.heuristic import DEFAULT, Heuristic
from py2048.ntuple.network import Network, code_of
from py2048.rules import Rules
from py2048.search import _play_kernels as kernels
from py2048.search._deepening_kernels import further
from py2048.search._play_kernels import ALL, Order
from py2048.search.desk import CACHE, Desk, kind_of_rules, new_desk
from py2048.search.limits import (
    FIRST_LIMIT,
    STEP,
    UNLIMITED,
    Limits,
    Nodes,
    Purse,
    Speed,
    Time,
)

Cells = NDArray[np.uint8]
Points = NDArray[np.int64]
Values = NDArray[np.float64]

MAX_RANK = 31
"""The largest rank on a board that is searched."""
SHORT = 2.0
"""Milliseconds up to which a limit is kept in the kernel: Python would take too much of them."""
TURN = 10.0
"""Milliseconds for which the kernel plays before it is looked how fast it is."""


class Worker(NamedTuple):
    """What one thread searches with."""

    desks: Desk
    weights: NDArray[np.float32]


class Found(NamedTuple):
    """What the kernel did.

    Attributes:
        moves: the moves that it made.
        points: of each slide of the last board that it searched, -1 for an illegal one.
        values: what those moves are worth.
        seconds: how long it took.
    """

    moves: NDArray[np.uint8]
    points: Points
    values: Values
    seconds: float


class Rated(NamedTuple):
    """What came of a search.

    Attributes:
        values: the points of each legal direction and those to come; 0 for others.
        nodes: how many boards were rated for each.
        is_whole: whether it was finished.
        is_final: whether a further search would find the same.
    """

    values: Values
    nodes: NDArray[np.float64]
    is_whole: bool
    is_final: bool

    @property
    def total(self) -> int:
        """How many boards were rated in all."""
        return int(self.nodes.sum())


class Searcher:
    """Searches boards of one rule set. One call at a time works; others wait.

    Args:
        rules: the rules.
        evaluation: what leaves are worth: a heuristic, or a network for these rules.
        limits: how far to look.
        threads: how many threads work on a move.
        table: how many chance nodes are remembered for a move; 0 for none.
        cache: how many leaves are remembered; 0 for none.

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
        weights: NDArray[Any] = np.zeros(1, np.float32)
        if isinstance(evaluation, Network):
            if kind != "4x4":  # small ones gain nothing by whole steps, and would compile twice
                evaluation = replace(evaluation, table=evaluation.weights, step=1.0)
            weights = evaluation.table
        self.workers = [
            Worker(
                new_desk(
                    rules,
                    evaluation,
                    follows_all=self.limits.follows_all,
                    table=table,
                    cache=cache,
                ),
                weights,
            )
            for _ in range(min(threads, len(Direction)))
        ]
        self._speed = Speed()
        self._lock = threading.Lock()

    @property
    def nodes(self) -> int:
        """How many boards the last search or game of this searcher's first thread rated."""
        return int(self.workers[0].desks[0].nodes)

    def prepare(self) -> None:
        """Compile the search, or load it, so that the first move takes no longer than others."""
        self._call(self.workers[0], np.zeros(self.rules.cells, np.uint8), Order(ALL, 1, 0))

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
        limits = self.limits
        with self._lock:
            if self._in_kernel:
                found = self._call(self.workers[0], cells, self._order())
                self._learn(found)
                return found.points, found.values
            _, points, values, _ = self._call(self.workers[0], cells, Order(ALL, 1, 0))
            if limits.is_fixed:
                free = np.full(4, UNLIMITED)
                rated = self._search(cells, points, limits.moves, limits.last_cost, free)
                return points, rated.values
            return points, self._deepened(cells, points, values)

    @property
    def _in_kernel(self) -> bool:
        """Whether the kernel keeps all limits itself."""
        return len(self.workers) == 1 and (self.limits.ms or 0) <= SHORT

    def play_on(
        self, cells: Cells, state: NDArray[np.int64], key: int, room: int
    ) -> NDArray[np.uint8]:
        """Play a game on, in the kernel; return the moves made, at most `room` of them.

        Args:
            cells: the board as ranks; the last board is written to it.
            state: as in ``_play_kernels.py``.
            key: the key of the game's draws.
            room: how many moves to make; with a limit in time fewer are made.
        """
        if self._in_kernel:
            if self.limits.ms:
                room = min(room, int(TURN / self.limits.ms) + 1)
            with self._lock:
                found = self._call(self.workers[0], cells, self._order(), state, key, room)
                self._learn(found)
            return found.moves
        points, values = self.rate_cells(cells)
        if points.max() < 0:
            state[kernels.OVER] = 1
            return np.empty(0, np.uint8)
        best = int(np.argmax(np.where(points >= 0, values, -np.inf)))
        with self._lock:
            return self._call(self.workers[0], cells, Order(best, 1, 0), state, key, 1).moves

    def _order(self) -> Order:
        """Return the order for the kernel to search within all limits."""
        limits, purse = self.limits, self.limits.nodes or 0
        if limits.ms:
            purse = max(int(limits.ms / 1000 * self._speed.boards), 1)
        return Order(ALL, limits.moves, limits.last_cost, UNLIMITED, purse)

    def _learn(self, found: Found) -> None:
        if self.limits.ms:
            self._speed.learn(int(self.workers[0].desks[0].spent), found.seconds)

    def _call(
        self,
        worker: Worker,
        cells: Cells,
        order: Order,
        state: NDArray[np.int64] | None = None,
        key: int = 0,
        room: int = 0,
    ) -> Found:
        """Let the kernel do as it is told, on this thread."""
        moves, points = np.empty(room, np.uint8), np.zeros(4, np.int64)
        values, fresh = np.zeros((2, 4))
        if state is None:
            state = np.zeros(kernels.STATE, np.int64)
        before = time.perf_counter()
        made = self._kernel(
            *(cells, state, moves, np.uint64(key), order, *worker, points, values, fresh)
        )
        return Found(moves[:made], points, values, time.perf_counter() - before)

    def _deepened(self, cells: Cells, points: Points, values: Values) -> Values:
        """Return the values of the last of several searches that could be finished.

        It does what ``_deepening_kernels.py`` does on one thread.
        """
        limits = self.limits
        purse: Purse = Time(limits.ms, self._speed) if limits.ms else Nodes(limits.nodes or 0)
        shares, last = (points >= 0).astype(float), limits.last_cost
        step, left, before = STEP, min(FIRST_LIMIT, last), 0
        is_over = shares.sum() < 2 or purse.left() < shares.sum()
        while not is_over:
            if before:
                allowances = (purse.left() * (shares / shares.sum())).astype(np.int64)
                rated = self._search(cells, points, limits.moves, left, allowances)
            else:
                rated = self._search_first(cells, points, limits.moves, left, purse.left())
            purse.spend(rated.total)
            if not rated.is_whole:
                break
            values, shares = rated.values, np.maximum(rated.nodes, points >= 0)
            step = min(int(further(rated.total, before, step, purse.left())), last - left)
            before, left = rated.total, left + step
            is_over = rated.is_final or step == 0
        return values

    def _search_first(
        self, cells: Cells, points: Points, depth: int, left: int, purse: int
    ) -> Rated:
        """Search every legal move, one after another, each with what is left of the purse."""
        values, nodes, cuts, allowances = np.zeros(4), np.zeros(4), 0, np.zeros(4, np.int64)
        for direction in np.flatnonzero(points >= 0).tolist():
            allowances[direction] = purse - int(nodes.sum())
            job = self.workers[0], iter([direction]), cells, depth, left, allowances
            ((_, values[direction], nodes[direction], cut),) = self._work(*job)
            cuts += cut
        return Rated(values, nodes, bool((nodes <= allowances).all()), cuts == 0)

    def _search(
        self, cells: Cells, points: Points, depth: int, left: int, allowances: NDArray[np.int64]
    ) -> Rated:
        """Search every legal move, each with its own allowance of nodes."""
        directions = iter([number for number in range(4) if points[number] >= 0])
        jobs = [(worker, directions, cells, depth, left, allowances) for worker in self.workers]
        values, nodes, cuts = np.zeros(4), np.zeros(4), 0
        for found in together(self._work, jobs):
            for direction, value, rated, cut in found:
                values[direction], nodes[direction] = value, rated
                cuts += cut
        return Rated(values, nodes, bool((nodes <= allowances).all()), cuts == 0)

    def _work(
        self,
        worker: Worker,
        directions: Iterator[int],
        cells: Cells,
        depth: int,
        left: int,
        allowances: NDArray[np.int64],
    ) -> list[tuple[int, float, int, int]]:
        """Search directions until none is left; return each with its value, nodes and cuts."""
        found = []
        for direction in directions:
            order = Order(direction, depth, left, int(allowances[direction]))
            values = self._call(worker, cells, order).values
            desk = worker.desks[0]
            found.append((direction, float(values[direction]), int(desk.nodes), int(desk.cuts)))
        return found
