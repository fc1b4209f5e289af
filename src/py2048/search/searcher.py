"""`Searcher`: compiled expectimax for any rules, evaluation and limits; whole games with it.

It looks ahead over every tile that may appear, with its exact probability, and evaluates the
afterstates that it reaches by the heuristic or an n-tuple network. `SearchLimits` set how far it
looks: by a depth, a number of boards, or a time; the first two always give the same result, with
any number of threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048 import rng
from py2048.board import Board
from py2048.compiled._board_kernels import Cells, Int
from py2048.compiled.boards import keys_of, start_boards, tiles_of
from py2048.compiled.rules import CompiledRules
from py2048.compiled.threads import together
from py2048.direction import Direction
from py2048.errors import BoardError
from py2048.ntuple._network_kernels import Weights
from py2048.ntuple.heuristic import DEFAULT, Heuristic
from py2048.ntuple.layout import Code, board_kind
from py2048.ntuple.network import MAX_RANK, Bands, Network
from py2048.rules import Rules
from py2048.search import _expectimax_kernels as kernels
from py2048.search._expectimax_kernels import ALL, Points, SearchParams, Values
from py2048.search.context import CACHE_SIZE, SearchContext, SearchContexts, new_context
from py2048.search.limits import SHARES, UNLIMITED, SearchLimits, SearchSpeed

LONGEST = 1.5
"""Times the time for a move no search may take, because it aims at less."""
PACED = 20.0
"""Times of up to so many milliseconds are kept by the kernel on one thread, as processor time and
in the mean of the moves of a game: one search for a move, without Python's overhead."""
SPEED_CHECK = 10.0
"""Milliseconds of play in the kernel between two measurements of its speed."""
ROOM = 1 << 15
"""How many moves of a game are played in one call."""
MOST_IN_POINTS = 1 << 25
"""Networks of more weights are searched as they are held: in points they take twice the memory."""


class Worker(NamedTuple):
    """The data of one thread."""

    contexts: SearchContexts
    weights: Any
    """The table of a network; with bands, that and theirs."""


class KernelResult(NamedTuple):
    """The result of a call of the kernel.

    Attributes:
        moves: the moves made.
        points: the points of each slide of the last board searched, -1 for an illegal one.
        values: the values of those moves.
        seconds: the processor time taken.
    """

    moves: NDArray[np.uint8]
    points: Points
    values: Values
    seconds: float


class Searcher:
    """Searches boards of one rule set. One call at a time works; others wait.

    Args:
        rules: the rules.
        evaluation: the evaluation of leaves: a heuristic, or a network for these rules.
        limits: how far to look.
        threads: how many threads search a move.
        table: the size of the transposition table; 0 for none.
        cache: the size of the cache of evaluations of a network; 0 for none.

    Raises:
        WeightsError: if the network is for boards of another shape.
    """

    def __init__(
        self,
        rules: Rules,
        evaluation: Network | Heuristic = DEFAULT,
        limits: SearchLimits | None = None,
        *,
        threads: int = 1,
        table: int | None = None,
        cache: int | None = None,
    ) -> None:
        self.rules, self.evaluation = rules, evaluation
        self.limits = limits or SearchLimits()
        network = evaluation if isinstance(evaluation, Network) else None
        if table is None:
            table = 0 if self.limits.moves <= 2 else 1 << (16 if self.limits.moves <= 3 else 18)
        if cache is None:
            cache = CACHE_SIZE if network and self.limits.moves > 1 else 0
        kind, name = board_kind(*rules.shape), "network" if network else "heuristic"
        code: Code = ()
        band_code: Code = ()
        weights: Any = np.zeros(1, np.float32)
        if network:
            # Others gain no speed from int16, and would compile twice.
            if kind != "4x4" and network.layout.weights <= MOST_IN_POINTS:
                evaluation = network = replace(network, table=network.weights, step=1.0)
            code, weights = network.layout.code, network.table
            if network.bands:
                band_code, weights = network.bands.layout.code, (weights, network.bands.table)
        has_stages = bool(network and network.layout.stages)
        self._kernel = kernels.play_kernel(kind, name, code, band_code, has_stages=has_stages)
        self.workers = [
            Worker(
                new_context(
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
        self._speed = SearchSpeed()
        self._is_prepared = False
        self._end = 0.0  # when the search of a move must be over, if it has a time
        self._lock = threading.Lock()

    @property
    def nodes(self) -> int:
        """How many boards the first thread rated in its last search."""
        return int(self.workers[0].contexts[0].nodes)

    def prepare(self) -> None:
        """Compile the search, or load it from the cache, and measure its speed.

        A first search does so itself, before its time begins.
        """
        with self._lock:
            self._prepare_once()

    def _prepare_once(self) -> None:
        if self._is_prepared:
            return
        worker, cells = self.workers[0], np.zeros(self.rules.cells, np.uint8)
        self._call(worker, cells, SearchParams(ALL, 1, 0))
        if not self._in_kernel and not self.limits.is_fixed:
            self._rehearse()
        elif self.limits.ms:
            cells[0] = cells[-1] = 1
            self._learn(self._call(worker, cells, self._params()))
        worker.contexts[0].breadth = worker.contexts[0].debt = 0.0
        self._is_prepared = True

    def _rehearse(self) -> None:
        """Deepen twice without a search, as functions that are called first take milliseconds."""
        cells, points, (values, fresh) = np.zeros(0), np.zeros(4, np.int64), np.zeros((2, 4))
        worker, context = self.workers[0], self.workers[0].contexts[0]
        deepen = kernels.make_deepening(lambda *_: (1, 1, True), lambda *_: 1000)
        params = SearchParams(ALL, 1, 2, UNLIMITED, 1000, 1)
        for _ in range(2):
            deepen(cells, params, context, worker.weights, points, values, fresh)

    def rate(self, board: Board) -> dict[Direction, float]:
        """Return the value of each legal move: its points and those to come.

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
        """Return the points of each slide, -1 for an illegal one, and the value of each move."""
        limits = self.limits
        with self._lock:
            self._prepare_once()
            if self._in_kernel:
                found = self._call(self.workers[0], cells, self._params())
                self._learn(found)
                return found.points, found.values
            _, points, values, _ = self._call(self.workers[0], cells, SearchParams(ALL, 1, 0))
            if limits.is_fixed:
                depth, free = limits.moves, np.full(4, UNLIMITED)
                self._search_parallel(cells, depth, limits.max_cost, free, points, values)
            else:
                self._deepen(cells, points, values)
            return points, values

    @property
    def _in_kernel(self) -> bool:
        """Whether the kernel applies all limits itself."""
        return len(self.workers) == 1 and (self.limits.ms or 0) <= PACED

    def play_on(
        self, cells: Cells, state: NDArray[np.int64], key: int, room: int
    ) -> NDArray[np.uint8]:
        """Continue a game; return the moves made, at most `room`.

        Args:
            cells: the board as ranks; replaced by the last board.
            state: as in ``_expectimax_kernels.py``.
            key: the key of the game's draws.
            room: the most moves to make; with a limit in time fewer are made.
        """
        if self._in_kernel:
            if self.limits.ms:
                room = min(room, int(SPEED_CHECK / self.limits.ms) + 1)
            with self._lock:
                self._prepare_once()
                found = self._call(self.workers[0], cells, self._params(), state, key, room)
                self._learn(found)
            return found.moves
        points, values = self.rate_cells(cells)
        if points.max() < 0:
            state[kernels.OVER] = 1
            return np.empty(0, np.uint8)
        params = SearchParams(int(np.argmax(np.where(points >= 0, values, -np.inf))), 1, 0)
        with self._lock:
            return self._call(self.workers[0], cells, params, state, key, 1).moves

    def play_out(
        self, boards: NDArray[np.uint8], states: NDArray[np.int64], keys: NDArray[np.uint64]
    ) -> NDArray[np.uint8]:
        """Play games to their end, one after the other; return all their moves.

        Args:
            boards: the boards as ranks, uint8 `[games, cells]`; replaced by the last boards.
            states: int64 `[games, STATE]`, as in ``_expectimax_kernels.py``.
            keys: the keys of the games' draws, uint64 `[games]`.
        """
        pieces, game, count = [np.empty(0, np.uint8)], 0, len(boards)
        while game < count:
            if states[game, kernels.OVER]:
                game += 1
            elif self.plays_out:
                params, rest = self._params(), slice(game, count)
                call = self.workers[0], boards[rest], params, states[rest], keys[rest], ROOM
                with self._lock:
                    pieces.append(self._call(*call).moves)
            else:
                pieces.append(self.play_on(boards[game], states[game], int(keys[game]), ROOM))
        return np.concatenate(pieces)

    @property
    def plays_out(self) -> bool:
        """Whether the kernel plays whole games itself, many in a call."""
        return self._in_kernel and not self.limits.ms and self._lazy_bands is None

    @property
    def _lazy_bands(self) -> Bands | None:
        """Bands that are unpacked when a game comes to them."""
        bands = self.evaluation.bands if isinstance(self.evaluation, Network) else None
        return bands if bands and bands.lazy else None

    def _params(self) -> SearchParams:
        """Return the parameters with which the kernel applies all limits."""
        limits, budget = self.limits, self.limits.nodes or 0
        if limits.ms:
            budget = max(int(LONGEST * limits.ms / 1000 * self._speed.boards), 1)
        keeps_pace = int(bool(limits.ms) and self._in_kernel)
        return SearchParams(ALL, limits.moves, limits.max_cost, UNLIMITED, budget, keeps_pace)

    def _learn(self, found: KernelResult) -> None:
        if self.limits.ms:
            self._speed.learn(int(self.workers[0].contexts[0].spent), found.seconds)

    def _call(
        self,
        worker: Worker,
        cells: Cells,
        params: SearchParams,
        state: NDArray[np.int64] | None = None,
        key: int | NDArray[np.uint64] = 0,
        room: int = 0,
    ) -> KernelResult:
        """Call the kernel on this thread, for one game or several."""
        needed: list[int] = []
        bands = self._lazy_bands
        if bands is not None:
            ranks = cells.tolist()
            needed, total = bands.of_ranks(ranks), sum(1 << rank for rank in ranks if rank)
            reach = bands.next_least(ranks) - total
            room = min(room, -(-reach // max(self.rules.spawn_weights.tiles)))
            bands.expect(ranks)
        moves, points = np.empty(room, np.uint8), np.zeros(4, np.int64)
        values, fresh = np.zeros((2, 4))
        if state is None:
            state = np.zeros(kernels.STATE, np.int64)
        games = np.atleast_2d(cells), np.atleast_2d(state)
        keys = np.atleast_1d(np.asarray(key, np.uint64))
        arguments = *games, moves, keys, params, *worker, points, values, fresh
        with bands.holding(needed) if bands else nullcontext():
            before = time.thread_time()  # on a busy machine, too, a move gets the time it may take
            made = self._kernel(*arguments)
            return KernelResult(moves[:made], points, values, time.thread_time() - before)

    def _deepen(self, cells: Cells, points: Points, values: Values) -> None:
        """Search until a budget is used, the moves divided among the threads."""
        worker, params = self.workers[0], self._params()
        if self.limits.ms:
            self._end = time.perf_counter() + LONGEST * self.limits.ms / 1000
            deepen = kernels.make_deepening(self._search_moves, lambda *_: self._left())
        else:
            deepen = kernels.make_deepening(self._search_moves, kernels.remaining_nodes)
        deepen(cells, params, worker.contexts[0], worker.weights, points, values, np.zeros(4))

    def _left(self) -> int:
        """Return how many boards may be rated in the time that a move has left."""
        return int((self._end - time.perf_counter()) * self._speed.boards)

    def _search_moves(
        self,
        cells: Cells,
        depth: Int,
        cost: Int,
        remaining: Int,
        before: float,
        context: SearchContext,
        _weights: Weights,
        points: Points,
        values: Values,
    ) -> tuple[int, int, bool]:
        """Do the same as `search_moves` of the kernels, on several threads, and learn the speed.

        The first search is that of one thread, because each move takes what the others leave.
        """
        start = time.perf_counter()
        share = np.minimum(SHARES * context.share / context.share.sum(), 1.0)
        limits = (remaining * share).astype(np.int64)
        if before > 0.0:
            nodes, cuts = self._search_parallel(cells, depth, cost, limits, points, values)
        else:
            nodes, cuts = np.zeros(4, np.int64), 0
            for direction in np.flatnonzero(points >= 0).tolist():
                limits[direction] = remaining - int(nodes.sum())
                job = self.workers[0], iter([direction]), cells, depth, cost, limits
                ((_, values[direction], nodes[direction], cut),) = self._work(*job)
                cuts += cut
        context.share[:] = np.maximum(nodes, points >= 0)
        if self.limits.ms:
            self._speed.learn(int(nodes.sum()), time.perf_counter() - start)
        return int(nodes.sum()), cuts, bool((nodes <= limits).all() and nodes.sum() <= remaining)

    def _search_parallel(
        self,
        cells: Cells,
        depth: Int,
        cost: Int,
        limits: NDArray[np.int64],
        points: Points,
        values: Values,
    ) -> tuple[NDArray[np.int64], int]:
        """Search every legal move; return the boards rated for each, and all cuts."""
        directions = iter([number for number in range(4) if points[number] >= 0])
        jobs = [(worker, directions, cells, depth, cost, limits) for worker in self.workers]
        nodes, cuts = np.zeros(4, np.int64), 0
        for found in together(self._work, jobs):
            for direction, value, rated, cut in found:
                values[direction], nodes[direction] = value, rated
                cuts += cut
        return nodes, cuts

    def _work(
        self,
        worker: Worker,
        directions: Iterator[int],
        cells: Cells,
        depth: Int,
        cost: Int,
        limits: NDArray[np.int64],
    ) -> list[tuple[int, float, int, int]]:
        """Search directions until none is left; return each with its value, nodes and cuts."""
        found = []
        for direction in directions:
            if self.limits.ms:
                limits[direction] = min(limits[direction], self._left() // len(self.workers))
            params = SearchParams(direction, depth, cost, int(limits[direction]))
            values = self._call(worker, cells, params).values
            context = worker.contexts[0]
            found.append(
                (direction, float(values[direction]), int(context.nodes), int(context.cuts))
            )
        return found


# --- whole games ---------------------------------------------------------------------------------


class SearchedGames(NamedTuple):
    """The results of games.

    Attributes:
        scores: int64 `[games]`, by the rules' scoring.
        plies: int64 `[games]`, the number of moves.
        tiles: int64 `[games]`, the largest tile of each last board.
        boards: uint8 `[games, rows, columns]`, the last boards as exponents.
        directions: the moves of each game, uint8 `[plies]`, 0 to 3 as in `Direction`.
    """

    scores: NDArray[np.int64]
    plies: NDArray[np.int64]
    tiles: NDArray[np.int64]
    boards: NDArray[np.uint8]
    directions: list[NDArray[np.uint8]]


def play_games(searcher: Searcher, seeds: Sequence[int]) -> SearchedGames:
    """Play one game with each seed to its end, on this thread, mostly without the GIL.

    The games are those of `py2048.game.Game` with these rules and seeds, when the best direction of
    `Searcher.rate` is played.

    Args:
        searcher: the player.
        seeds: whole numbers from 0 to 2**64 - 1.
    """
    rules = searcher.rules
    numbers = np.array([rng.checked_seed(seed) for seed in seeds], np.uint64)
    boards = start_boards(rules, numbers)
    states = np.zeros((len(seeds), kernels.STATE), np.int64)
    moves = searcher.play_out(boards, states, keys_of(numbers))
    points, plies = states[:, kernels.SCORE], states[:, kernels.PLY]
    return SearchedGames(
        score_of(rules, points, plies, boards),
        plies,
        tiles_of(boards).max(axis=1, initial=0),
        boards.reshape(-1, *rules.shape),
        np.split(moves, np.cumsum(plies)[:-1]) if len(seeds) else [],
    )


def score_of(
    rules: Rules, points: NDArray[np.int64], plies: NDArray[np.int64], boards: Cells
) -> NDArray[np.int64]:
    """Return the scores of games by the rules, int64 `[games]`.

    Args:
        rules: the rules.
        points: the points of merges.
        plies: the numbers of moves.
        boards: the last boards, uint8 `[games, cells]` of ranks.
    """
    given, sums = CompiledRules.of(rules), tiles_of(boards).sum(axis=-1)
    scores = given.merge_points * points + given.legal_points * plies
    scores += given.sum_points * sums * (plies > 0)
    return scores
