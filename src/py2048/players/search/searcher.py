"""`Searcher`: compiled expectimax for single boards, arrays of boards and whole games.

The search averages over every possible spawn with its exact probability and evaluates leaves with
the heuristic or an n-tuple network. `SearchLimits` define a depth, a node budget or a time per
move. With a depth or a node budget, results are deterministic and do not depend on the thread
count.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError
from py2048.core.rules import Rules
from py2048.engine._board_kernels import Cells, Int, Words
from py2048.engine.boards import checked_boards, keys_of, ranks_of, start_boards, tiles_of
from py2048.engine.jit import plain_form, shares, together
from py2048.engine.rules import CompiledRules
from py2048.players.ntuple._network_kernels import Weights
from py2048.players.ntuple.heuristic import DEFAULT, Heuristic
from py2048.players.ntuple.layout import Code, board_kind
from py2048.players.ntuple.network import MAX_RANK, Bands, Network
from py2048.players.search import _expectimax_kernels as kernels
from py2048.players.search._expectimax_kernels import ALL, Points, SearchParams, Values
from py2048.players.search.context import SearchContext, SearchContexts, new_context
from py2048.players.search.limits import (
    MAX_BRANCH_GROWTH,
    SPEED_WINDOW_NODES,
    UNLIMITED_NODES,
    SearchLimits,
    SearchSpeed,
)

Result = TypeVar("Result")

SPEED_CHECK_MS = 10.0
"""Maximum time in milliseconds for which a kernel plays before its speed is measured again."""
MAX_MOVES_PER_CALL = 1 << 15
"""Maximum number of moves that a kernel plays before it returns."""
MAX_FLOAT_WEIGHTS = 1 << 25
"""Networks with more weights stay int16, because float32 would need twice the memory."""


class SearchThread(NamedTuple):
    """Kernel arguments for one thread."""

    contexts: SearchContexts
    weights: Any
    """The network's weights, or a pair of base weights and band weights if it has bands."""


class Searcher:
    """Compiled search for one set of rules. A lock serialises concurrent calls.

    Args:
        rules: Rules to search under.
        evaluation: Leaf evaluation, either a heuristic or a network trained for these rules.
        limits: How far to search.
        threads: Number of threads that share the search of a move.

    Attributes:
        nodes: Number of leaves that the last call evaluated, in all iterations and moves.
        speed: Measured nodes per second, updated by searches with a time limit.

    Raises:
        RulesError: If the search does not support the rules.
        WeightsError: If the network has a different board shape.
    """

    def __init__(
        self,
        rules: Rules,
        evaluation: Network | Heuristic = DEFAULT,
        limits: SearchLimits | None = None,
        *,
        threads: int = 1,
    ) -> None:
        self.rules, self.evaluation = rules, evaluation
        self.limits = limits or SearchLimits()
        network = evaluation if isinstance(evaluation, Network) else None
        kind, name = board_kind(*rules.shape), "network" if network else "heuristic"
        code: Code = ()
        band_code: Code = ()
        weights: Any = np.zeros(1, np.float32)
        if network:
            # On 4x4 boards, int16 weights are faster. Weights for other boards are converted to
            # float32, so that kernels are compiled for only one type.
            if kind != "4x4" and network.layout.weights <= MAX_FLOAT_WEIGHTS:
                evaluation = network = replace(network, table=network.weights, step=1.0)
            code, weights = network.layout.code, network.table
            if network.bands:
                band_code, weights = network.bands.layout.code, (weights, network.bands.table)
        has_stages = bool(network and network.layout.stages)
        self._kernels = kernels.search_kernels(kind, name, code, band_code, has_stages=has_stages)
        depth, is_exhaustive = self.limits.max_depth, self.limits.is_exhaustive
        self.workers = [
            SearchThread(
                new_context(rules, evaluation, depth=depth, is_exhaustive=is_exhaustive), weights
            )
            for _ in range(min(threads, len(Direction)))
        ]
        self._node_counters = [cast("Any", worker.contexts).total_nodes for worker in self.workers]
        self.speed, self.nodes = SearchSpeed(), 0
        self._can_rate = self._can_play = False
        self._lock = threading.RLock()

    def prepare(self, *, plays: bool = False) -> None:
        """Compile the kernels, or load them from the cache, and measure their speed.

        Searches call this method if necessary, so that compiling does not count towards a time
        limit.

        Args:
            plays: Whether to compile the kernels for playing games rather than for rating boards.
        """
        worker, cells = self.workers[0], np.zeros(self.rules.cells, np.uint8)
        with self._lock:
            if plays and not self._can_play:
                self._play(cells, np.zeros(kernels.STATE, np.int64), 0, 0, self._params())
                self._can_play = True
            if self._can_rate or (plays and not self.limits.ms):
                return
            self._rate(worker, cells, SearchParams(ALL, 1, 0))
            if self.limits.ms:
                cells[0] = cells[-1] = 1
                params = self._params()
                budget = min(params.budget, SPEED_WINDOW_NODES)
                self._measured(self._rate, worker, cells, params._replace(budget=budget))
                worker.contexts[0].breadth = worker.contexts[0].overrun = 0.0
            self._can_rate = True

    @overload
    def rate(self, board: Board) -> dict[Direction, float]: ...
    @overload
    def rate(self, board: NDArray[np.integer]) -> Values: ...
    def rate(self, board: Board | NDArray[np.integer]) -> dict[Direction, float] | Values:
        """Return the value of each legal move: its points plus the expected future points.

        An array of boards is split among the threads. The array `[..., rows, columns]` contains
        exponents, like the observations of environments. The result is float64 `[..., 4]`, with
        -inf for illegal moves.

        Raises:
            BoardError: If a board has the wrong shape or a tile above 2**31 (2**30 in arrays).
        """
        if isinstance(board, Board):
            points, found = self.rate_cells(self.cells_of(board))
            return {d: float(found[d.value]) for d in Direction if points[d.value] >= 0}
        cells = self._cells_of_all(board)
        return self._locked(self._rate_all, cells).reshape(*np.shape(board)[:-2], 4)

    def values(self, boards: NDArray[np.integer]) -> Values:
        """Evaluate afterstates without a search.

        `py2048.envs.functional.afterstates` computes the afterstates of boards. If the network has
        late-game bands, it evaluates each afterstate with the band for that afterstate.

        Args:
            boards: Exponents, as returned by environments, in the shape `[..., rows, columns]`.

        Returns:
            Expected points, float64 `[...]`.

        Raises:
            BoardError: If the boards have the wrong shape or a tile above 2**30.
        """
        cells = self._cells_of_all(boards)
        return self._locked(self._value_all, cells).reshape(np.shape(boards)[:-2])

    def cells_of(self, board: Board) -> Cells:
        """Convert a board to ranks, uint8 `[cells]`.

        Raises:
            BoardError: If the board has the wrong shape or a tile above 2**31.
        """
        if board.shape != self.rules.shape:
            rows, columns = board.shape
            raise BoardError(f"a {rows}x{columns} board does not fit the rules {self.rules.name}")
        return ranks_of(board, MAX_RANK)

    def rate_cells(self, cells: Cells) -> tuple[Points, Values]:
        """Return the points of each slide, -1 if illegal, and the value of each move."""
        return self._locked(self._rate_limited, cells)

    def play_on(
        self, cells: Cells, state: NDArray[np.int64], key: int | np.uint64 | Words, max_moves: int
    ) -> NDArray[np.uint8]:
        """Continue a game by playing the best moves; return these moves.

        Single-threaded searches without a time limit can continue several games in sequence, if
        they are given the arrays of `play_out`.

        Args:
            cells: Board as ranks, which is overwritten with the final board.
            state: Game state, in the format of ``_expectimax_kernels.py``.
            key: Random generator key for the spawns.
            max_moves: Maximum number of moves. With a time limit, a call may play fewer moves.
        """
        if self.limits.ms:
            max_moves = min(max_moves, int(SPEED_CHECK_MS / self.limits.ms) + 1)
        return self._locked(self._play_limited, cells, state, key, max_moves, plays=True)

    def play_out(
        self, boards: NDArray[np.uint8], states: NDArray[np.int64], keys: NDArray[np.uint64]
    ) -> NDArray[np.uint8]:
        """Play games to the end, one after another; return the moves of all games in one array.

        Args:
            boards: Start boards as ranks, uint8 `[games, cells]`. Overwritten with the final
                boards.
            states: Game states, int64 `[games, STATE]`, in the format of
                ``_expectimax_kernels.py``.
            keys: Random generator key for each game's spawns, uint64 `[games]`.
        """
        pieces, game, nodes = [np.empty(0, np.uint8)], 0, 0
        # A kernel call can play many games, unless it must stop to check the time or to unpack
        # bands.
        is_plain = len(self.workers) == 1 and not self.limits.ms and self._lazy_bands is None
        while game < len(boards):
            if states[game, kernels.OVER]:
                game += 1
                continue
            at = slice(game, None) if is_plain else game
            pieces.append(self.play_on(boards[at], states[at], keys[at], MAX_MOVES_PER_CALL))
            nodes += self.nodes
        self.nodes = nodes
        return np.concatenate(pieces)

    @property
    def _lazy_bands(self) -> Bands | None:
        """The network's bands if they are unpacked on demand, otherwise None."""
        bands = self.evaluation.bands if isinstance(self.evaluation, Network) else None
        return bands if bands and bands.lazy else None

    def _params(self) -> SearchParams:
        """Convert the search limits to kernel parameters; a time limit becomes a node budget."""
        limits, budget = self.limits, self.limits.nodes or 0
        if limits.ms:
            budget = max(int(limits.ms / 1000 * self.speed.nodes_per_second), 1)
        return SearchParams(
            ALL, limits.max_depth, limits.max_cost, UNLIMITED_NODES, budget, int(bool(limits.ms))
        )

    def _locked(
        self, work: Callable[..., Result], *arguments: object, plays: bool = False
    ) -> Result:
        """Compile the kernels if necessary, and call `work` while holding the lock."""
        with self._lock:
            self.prepare(plays=plays)
            return self._measured(work, *arguments)

    def _measured(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Call `work`, count the nodes that it evaluates, and update the measured speed."""
        # Single-threaded searches are limited in CPU time, so that a busy machine does not shorten
        # them.
        clock = time.thread_time if len(self.workers) == 1 else time.perf_counter
        start, before = clock(), self._total_nodes()
        result = work(*arguments)
        self.nodes = self._total_nodes() - before
        if self.limits.ms:
            self.speed.record(self.nodes, clock() - start)
        return result

    def _total_nodes(self) -> int:
        """Return the number of nodes evaluated since the searcher was created."""
        return sum(int(spent[0]) for spent in self._node_counters)

    # --- calls of the kernels --------------------------------------------------------------------

    @contextmanager
    def _loaded_bands(self, cells: Cells, max_moves: int = 0) -> Iterator[int]:
        """Unpack the bands that a board needs. Yield for how many moves they suffice."""
        bands = self._lazy_bands
        if bands is None:
            yield max_moves
            return
        ranks = cells.tolist()
        bands.expect(ranks)
        reach = bands.next_min_sum(ranks) - sum(1 << rank for rank in ranks if rank)
        with bands.holding(bands.reachable_bands(ranks)):
            yield min(max_moves, -(-reach // max(self.rules.spawn_weights.tiles)))

    def _rate(
        self, worker: SearchThread, cells: Cells, params: SearchParams
    ) -> tuple[Points, Values]:
        """Rate the moves of one board on a single thread."""
        points, (values, current) = np.zeros(4, np.int64), np.zeros((2, 4))
        with self._loaded_bands(cells):
            one = cells.reshape(1, -1)
            self._kernels.rate(one, params, *worker, points[None], values[None], current)
        return points, values

    def _cells_of_all(self, boards: NDArray[np.integer]) -> Cells:
        """Convert boards to C-contiguous ranks, uint8 `[n, cells]`."""
        cells = checked_boards(boards, self.rules).reshape(-1, self.rules.cells)
        return np.require(cells, requirements=["C", "W"])

    def _rate_all(self, cells: Cells) -> Values:
        """Rate the moves of many boards, split among the threads."""
        points, values = np.zeros((len(cells), 4), np.int64), np.zeros((len(cells), 4))
        params = self._params()

        def work(worker: SearchThread, first: int, end: int) -> None:
            rows = points[first:end], values[first:end]
            self._kernels.rate(cells[first:end], params, *worker, *rows, np.zeros(4))

        self._run_shared(work, cells)
        values[points < 0] = -np.inf
        return values

    def _value_all(self, cells: Cells) -> Values:
        """Evaluate many afterstates, split among the threads."""
        values = np.zeros(len(cells))

        def work(worker: SearchThread, first: int, end: int) -> None:
            self._kernels.value(cells[first:end], *worker, values[first:end])

        self._run_shared(work, cells)
        return values

    def _run_shared(self, work: Callable[[SearchThread, int, int], None], cells: Cells) -> None:
        """Split boards among the threads; keep the bands that the boards need in memory."""
        parts = zip(self.workers, shares(len(cells), len(self.workers)), strict=True)
        bands = self._lazy_bands
        with bands.holding(bands.bands_of_boards(cells)) if bands else nullcontext():
            together(work, [(worker, *part) for worker, part in parts])

    def _play(
        self,
        boards: NDArray[np.uint8],
        states: NDArray[np.int64],
        keys: int | NDArray[np.uint64],
        max_moves: int,
        params: SearchParams,
    ) -> NDArray[np.uint8]:
        """Play one or more games on a single thread; return the moves."""
        worker, points, (values, current) = self.workers[0], np.zeros(4, np.int64), np.zeros((2, 4))
        games = np.atleast_2d(boards), np.atleast_2d(states)
        with self._loaded_bands(boards, max_moves) as max_moves:
            moves = np.empty(max_moves, np.uint8)
            draws = np.atleast_1d(np.asarray(keys, np.uint64))
            made = self._kernels.play(
                *games, moves, draws, params, *worker, points, values, current
            )
        return moves[:made]

    def _rate_limited(self, cells: Cells) -> tuple[Points, Values]:
        """Rate the moves of a board within the search limits."""
        if len(self.workers) == 1:
            return self._rate(self.workers[0], cells, self._params())
        return self._rate_in_parallel(cells)

    def _play_limited(
        self, boards: NDArray[np.uint8], states: NDArray[np.int64], keys: Any, max_moves: int
    ) -> NDArray[np.uint8]:
        """Continue games within the search limits. With several threads, play only one move."""
        if len(self.workers) == 1:
            return self._play(boards, states, keys, max_moves, self._params())
        points, values = self._rate_in_parallel(boards)
        if points.max() < 0:
            states[kernels.OVER] = 1
            return np.empty(0, np.uint8)
        best = int(np.argmax(np.where(points >= 0, values, -np.inf)))
        return self._play(boards, states, keys, 1, SearchParams(best, 1, 0))

    # --- several threads -------------------------------------------------------------------------

    def _rate_in_parallel(self, cells: Cells) -> tuple[Points, Values]:
        """Rate the moves of one board on all threads."""
        worker, params, current = self.workers[0], self._params(), np.zeros(4)
        points, values = self._rate(worker, cells, SearchParams(ALL, 1, 0))
        if self.limits.has_fixed_depth:
            free = np.full(4, UNLIMITED_NODES)
            self.search_each(cells, params.depth, params.max_cost, free, points, values)
        else:
            root, context = (self, cells), worker.contexts[0]
            _deepening()(root, params, context, worker.weights, points, values, current)
        return points, values

    def search_each(
        self,
        cells: Cells,
        depth: Int,
        cost: Int,
        limits: NDArray[np.int64],
        points: Points,
        values: Values,
    ) -> tuple[NDArray[np.int64], int]:
        """Search each legal move to the given depth and cost limit, on all threads.

        Args:
            cells: Board as ranks.
            depth: Depth in plies.
            cost: Maximum path cost.
            limits: Maximum number of nodes for each root move.
            points: Points of each slide, -1 if illegal.
            values: Receives the value of each legal move.

        Returns: The number of nodes of each root move, and the number of pruned paths.
        """
        directions = iter(np.flatnonzero(points >= 0).tolist())
        nodes, cuts = np.zeros(4, np.int64), np.zeros(4, np.int64)

        def work(worker: SearchThread) -> None:
            context = worker.contexts[0]
            for direction in directions:
                params = SearchParams(direction, int(depth), int(cost), int(limits[direction]))
                values[direction] = self._rate(worker, cells, params)[1][direction]
                nodes[direction], cuts[direction] = context.nodes, context.cuts

        together(work, [(worker,) for worker in self.workers])
        return nodes, int(cuts.sum())


@cache
def _deepening() -> Callable[..., None]:
    """Return the iterative deepening loop in plain Python, for multi-threaded searches."""
    return plain_form(kernels.make_deepening(_search_moves))


def _search_moves(
    root: tuple[Searcher, Cells],
    depth: Int,
    cost: Int,
    limit: float,
    context: SearchContext,
    _weights: Weights,
    points: Points,
    values: Values,
) -> tuple[int, int, bool]:
    """Search each legal move on several threads, like the kernel `search_moves`."""
    searcher, cells = root
    share = np.minimum(MAX_BRANCH_GROWTH * context.node_shares / context.node_shares.sum(), 1.0)
    limits = (limit * share).astype(np.int64)
    nodes, cuts = searcher.search_each(cells, depth, cost, limits, points, values)
    context.node_shares[:] = np.maximum(nodes, points >= 0)
    is_complete = bool((nodes <= limits).all() and nodes.sum() <= limit)
    return int(nodes.sum()), cuts, is_complete


# --- whole games ---------------------------------------------------------------------------------


class SearchedGames(NamedTuple):
    """Results of finished games.

    Attributes:
        scores: Scores under the rules, int64 `[games]`.
        plies: Number of moves, int64 `[games]`.
        tiles: Largest tile of each final board, int64 `[games]`.
        directions: Moves of each game, uint8 `[plies]`, numbered as in `Direction`.
    """

    scores: NDArray[np.int64]
    plies: NDArray[np.int64]
    tiles: NDArray[np.int64]
    directions: list[NDArray[np.uint8]]


def play_games(searcher: Searcher, seeds: Sequence[int]) -> SearchedGames:
    """Play one complete game per seed on the calling thread, mostly without the GIL.

    The games are the same as if `Searcher.rate` had chosen every move of a `py2048.Game` with these
    rules and seeds.

    Args:
        searcher: Search that chooses the moves.
        seeds: Integers from 0 to 2**64 - 1.
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
        np.split(moves, np.cumsum(plies)[:-1]) if len(seeds) else [],
    )


def score_of(
    rules: Rules, points: NDArray[np.int64], plies: NDArray[np.int64], boards: Cells
) -> NDArray[np.int64]:
    """Compute the scores of games under the rules, int64 `[games]`.

    Args:
        rules: Rules of the games.
        points: Merge points.
        plies: Number of moves.
        boards: Final boards as ranks, uint8 `[games, cells]`.
    """
    given, sums = CompiledRules.of(rules), tiles_of(boards).sum(axis=-1)
    scores = given.merge_points * points + given.legal_points * plies
    scores += given.sum_points * sums * (plies > 0)
    return scores
