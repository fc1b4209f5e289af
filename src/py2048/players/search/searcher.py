"""`Searcher`: compiled expectimax for any rules, evaluation and limits; whole games with it.

It looks ahead over every tile that may appear, with its exact probability, and evaluates the
afterstates that it reaches by the heuristic or an n-tuple network. `SearchLimits` set how far it
looks: by a depth, a number of boards, or a time; the first two always give the same result, with
any number of threads.
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
from py2048.engine._board_kernels import Cells, Int
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
    SHARES,
    SPEED_BOARDS,
    UNLIMITED,
    SearchLimits,
    SearchSpeed,
)

Result = TypeVar("Result")

SPEED_CHECK_MS = 10.0
"""Milliseconds of play in the kernel between two measurements of its speed."""
ROOM = 1 << 15
"""How many moves of a game are played in one call."""
MAX_IN_POINTS = 1 << 25
"""Networks of more weights are searched as they are held: in points they take twice the memory."""


class Worker(NamedTuple):
    """The data of one thread."""

    contexts: SearchContexts
    weights: Any
    """The table of a network; with bands, that and theirs."""


class Searcher:
    """Searches boards of one rule set. One call at a time works; others wait.

    Args:
        rules: the rules.
        evaluation: the evaluation of leaves: a heuristic, or a network for these rules.
        limits: how far to look.
        threads: how many threads search a move.

    Attributes:
        nodes: how many boards the last call rated, in all searches of all its moves.
        speed: how many boards are rated in a second, if there is a time for a move.

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
    ) -> None:
        self.rules, self.evaluation = rules, evaluation
        self.limits = limits or SearchLimits()
        network = evaluation if isinstance(evaluation, Network) else None
        kind, name = board_kind(*rules.shape), "network" if network else "heuristic"
        code: Code = ()
        band_code: Code = ()
        weights: Any = np.zeros(1, np.float32)
        if network:
            # Others gain no speed from int16, and would compile twice.
            if kind != "4x4" and network.layout.weights <= MAX_IN_POINTS:
                evaluation = network = replace(network, table=network.weights, step=1.0)
            code, weights = network.layout.code, network.table
            if network.bands:
                band_code, weights = network.bands.layout.code, (weights, network.bands.table)
        has_stages = bool(network and network.layout.stages)
        self._kernels = kernels.search_kernels(kind, name, code, band_code, has_stages=has_stages)
        depth, follows_all = self.limits.moves, self.limits.follows_all
        self.workers = [
            Worker(new_context(rules, evaluation, depth=depth, follows_all=follows_all), weights)
            for _ in range(min(threads, len(Direction)))
        ]
        self._spent = [cast("Any", worker.contexts).spent for worker in self.workers]
        self.speed, self.nodes = SearchSpeed(), 0
        self._can_rate = self._can_play = False
        self._lock = threading.RLock()

    def prepare(self, *, plays: bool = False) -> None:
        """Compile the search, or load it from the cache, and measure its speed.

        A first search does so itself, before its time begins.

        Args:
            plays: prepare to play games, not to rate boards.
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
                budget = min(params.budget, SPEED_BOARDS)
                self._counted(self._rate, worker, cells, params._replace(budget=budget))
                worker.contexts[0].breadth = worker.contexts[0].debt = 0.0
            self._can_rate = True

    @overload
    def rate(self, board: Board) -> dict[Direction, float]: ...
    @overload
    def rate(self, board: NDArray[np.integer]) -> Values: ...
    def rate(self, board: Board | NDArray[np.integer]) -> dict[Direction, float] | Values:
        """Return the value of each legal move: its points and those to come, in points.

        Many boards are rated in one call: exponents `[..., rows, columns]`, as environments show
        them, give float64 `[..., 4]`, with -inf for an illegal move. Threads share the boards.

        Raises:
            BoardError: if the board has another shape, or a tile above 2**31 (in arrays 2**30).
        """
        if isinstance(board, Board):
            return self._call(self._rate_board, board)
        cells = self._cells_of_all(board)
        return self._call(self._rate_all, cells).reshape(*np.shape(board)[:-2], 4)

    def values(self, boards: NDArray[np.integer]) -> Values:
        """Return what the evaluation expects after each afterstate, before its spawn, in points.

        `py2048.envs.functional.afterstates` gives those of boards. It looks no further, whatever
        the limits. The band of a network is that of the board itself.

        Args:
            boards: exponents `[..., rows, columns]`, as environments show them.

        Returns:
            float64 `[...]`.

        Raises:
            BoardError: if boards have another shape, or a tile above 2**30.
        """
        cells = self._cells_of_all(boards)
        return self._call(self._value_all, cells).reshape(np.shape(boards)[:-2])

    def cells_of(self, board: Board) -> Cells:
        """Return a board as ranks, uint8 `[cells]`.

        Raises:
            BoardError: if the board has another shape, or a tile above 2**31.
        """
        if board.shape != self.rules.shape:
            rows, columns = board.shape
            raise BoardError(f"a {rows}x{columns} board does not fit the rules {self.rules.name}")
        return ranks_of(board, MAX_RANK)

    def rate_cells(self, cells: Cells) -> tuple[Points, Values]:
        """Return the points of each slide, -1 for an illegal one, and the value of each move."""
        return self._call(self._rate_limited, cells)

    def search_once(self, cells: Cells, params: SearchParams) -> tuple[Points, Values]:
        """Return the points and values of a single search with other limits, for measurements."""
        with self._lock:
            return self._counted(self._rate, self.workers[0], cells, params)

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
        if self.limits.ms:
            room = min(room, int(SPEED_CHECK_MS / self.limits.ms) + 1)
        return self._call(self._play_limited, cells, state, key, room, plays=True)

    def play_out(
        self, boards: NDArray[np.uint8], states: NDArray[np.int64], keys: NDArray[np.uint64]
    ) -> NDArray[np.uint8]:
        """Play games to their end, one after the other; return all their moves.

        Args:
            boards: the boards as ranks, uint8 `[games, cells]`; replaced by the last boards.
            states: int64 `[games, STATE]`, as in ``_expectimax_kernels.py``.
            keys: the keys of the games' draws, uint64 `[games]`.
        """
        pieces, game, nodes = [np.empty(0, np.uint8)], 0, 0
        # One call plays many games without a time, and if all bands are in memory.
        is_plain = len(self.workers) == 1 and not self.limits.ms and self._lazy_bands is None
        while game < len(boards):
            if states[game, kernels.OVER]:
                game += 1
            elif is_plain:
                rest = boards[game:], states[game:], keys[game:]
                pieces.append(self._call(self._play_limited, *rest, ROOM, plays=True))
                nodes += self.nodes
            else:
                pieces.append(self.play_on(boards[game], states[game], int(keys[game]), ROOM))
                nodes += self.nodes
        self.nodes = nodes
        return np.concatenate(pieces)

    @property
    def _lazy_bands(self) -> Bands | None:
        """Bands that are unpacked when a game comes to them."""
        bands = self.evaluation.bands if isinstance(self.evaluation, Network) else None
        return bands if bands and bands.lazy else None

    def _params(self) -> SearchParams:
        """Return how far the search of a move goes."""
        limits, budget = self.limits, self.limits.nodes or 0
        if limits.ms:
            budget = max(int(limits.ms / 1000 * self.speed.boards), 1)
        return SearchParams(
            ALL, limits.moves, limits.max_cost, UNLIMITED, budget, int(bool(limits.ms))
        )

    def _call(self, work: Callable[..., Result], *arguments: object, plays: bool = False) -> Result:
        """Do the work of a call, when the search is ready."""
        with self._lock:
            self.prepare(plays=plays)
            return self._counted(work, *arguments)

    def _counted(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Do some work, count the boards that it rates, and learn how fast it does."""
        # On one thread a busy machine takes nothing from a move.
        clock = time.thread_time if len(self.workers) == 1 else time.perf_counter
        start, before = clock(), self._rated()
        result = work(*arguments)
        self.nodes = self._rated() - before
        if self.limits.ms:
            self.speed.learn(self.nodes, clock() - start)
        return result

    def _rated(self) -> int:
        """Return how many boards the searcher has rated so far."""
        return sum(int(spent[0]) for spent in self._spent)

    # --- calls of the kernels --------------------------------------------------------------------

    @contextmanager
    def _bands_of(self, cells: Cells, room: int = 0) -> Iterator[int]:
        """Have the bands that value a board in memory; yield how many moves they do for."""
        bands = self._lazy_bands
        if bands is None:
            yield room
            return
        ranks = cells.tolist()
        bands.expect(ranks)
        reach = bands.next_least(ranks) - sum(1 << rank for rank in ranks if rank)
        with bands.holding(bands.of_ranks(ranks)):
            yield min(room, -(-reach // max(self.rules.spawn_weights.tiles)))

    def _rate(self, worker: Worker, cells: Cells, params: SearchParams) -> tuple[Points, Values]:
        """Rate the moves of a board on this thread."""
        points, (values, fresh) = np.zeros(4, np.int64), np.zeros((2, 4))
        with self._bands_of(cells):
            one = cells.reshape(1, -1)
            self._kernels.rate(one, params, *worker, points[None], values[None], fresh)
        return points, values

    def _cells_of_all(self, boards: NDArray[np.integer]) -> Cells:
        """Return boards as ranks, uint8 `[n, cells]`, in memory as kernels take it."""
        cells = checked_boards(boards, self.rules).reshape(-1, self.rules.cells)
        return np.require(cells, requirements=["C", "W"])

    def _rate_all(self, cells: Cells) -> Values:
        """Rate the moves of many boards within the limits, on all threads."""
        points, values = np.zeros((len(cells), 4), np.int64), np.zeros((len(cells), 4))
        params = self._params()

        def work(worker: Worker, first: int, end: int) -> None:
            rows = points[first:end], values[first:end]
            self._kernels.rate(cells[first:end], params, *worker, *rows, np.zeros(4))

        self._share(work, cells)
        values[points < 0] = -np.inf
        return values

    def _value_all(self, cells: Cells) -> Values:
        """Value many afterstates, on all threads."""
        values = np.zeros(len(cells))

        def work(worker: Worker, first: int, end: int) -> None:
            self._kernels.value(cells[first:end], *worker, values[first:end])

        self._share(work, cells)
        return values

    def _share(self, work: Callable[[Worker, int, int], None], cells: Cells) -> None:
        """Do some work on many boards, each thread its share, with their bands in memory."""
        parts = zip(self.workers, shares(len(cells), len(self.workers)), strict=True)
        bands = self._lazy_bands
        with bands.holding(bands.of_roots(cells)) if bands else nullcontext():
            together(work, [(worker, *part) for worker, part in parts])

    def _play(
        self,
        boards: NDArray[np.uint8],
        states: NDArray[np.int64],
        keys: int | NDArray[np.uint64],
        room: int,
        params: SearchParams,
    ) -> NDArray[np.uint8]:
        """Play one game or several on this thread; return the moves."""
        worker, points, (values, fresh) = self.workers[0], np.zeros(4, np.int64), np.zeros((2, 4))
        games = np.atleast_2d(boards), np.atleast_2d(states)
        with self._bands_of(boards, room) as room:
            moves = np.empty(room, np.uint8)
            draws = np.atleast_1d(np.asarray(keys, np.uint64))
            made = self._kernels.play(*games, moves, draws, params, *worker, points, values, fresh)
        return moves[:made]

    def _rate_board(self, board: Board) -> dict[Direction, float]:
        """Rate the moves of a board within the limits."""
        points, values = self._rate_limited(self.cells_of(board))
        return {d: float(values[d.value]) for d in Direction if points[d.value] >= 0}

    def _rate_limited(self, cells: Cells) -> tuple[Points, Values]:
        """Rate the moves of a board of ranks within the limits."""
        if len(self.workers) == 1:
            return self._rate(self.workers[0], cells, self._params())
        return self._rate_together(cells)

    def _play_limited(
        self, boards: NDArray[np.uint8], states: NDArray[np.int64], keys: Any, room: int
    ) -> NDArray[np.uint8]:
        """Continue games within the limits; several threads make a single move."""
        if len(self.workers) == 1:
            return self._play(boards, states, keys, room, self._params())
        points, values = self._rate_together(boards)
        if points.max() < 0:
            states[kernels.OVER] = 1
            return np.empty(0, np.uint8)
        best = int(np.argmax(np.where(points >= 0, values, -np.inf)))
        return self._play(boards, states, keys, 1, SearchParams(best, 1, 0))

    # --- several threads -------------------------------------------------------------------------

    def _rate_together(self, cells: Cells) -> tuple[Points, Values]:
        """Rate the moves of a board, divided among the threads."""
        worker, params, fresh = self.workers[0], self._params(), np.zeros(4)
        points, values = self._rate(worker, cells, SearchParams(ALL, 1, 0))
        if self.limits.is_fixed:
            free = np.full(4, UNLIMITED)
            self.search_each(cells, params.depth, params.max_cost, free, points, values)
        else:
            root, context = (self, cells), worker.contexts[0]
            _deepening()(root, params, context, worker.weights, points, values, fresh)
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
        """Search every legal move; return the boards rated for each, and all cuts."""
        directions = iter(np.flatnonzero(points >= 0).tolist())
        nodes, cuts = np.zeros(4, np.int64), np.zeros(4, np.int64)

        def work(worker: Worker) -> None:
            context = worker.contexts[0]
            for direction in directions:
                params = SearchParams(direction, int(depth), int(cost), int(limits[direction]))
                values[direction] = self._rate(worker, cells, params)[1][direction]
                nodes[direction], cuts[direction] = context.nodes, context.cuts

        together(work, [(worker,) for worker in self.workers])
        return nodes, int(cuts.sum())


@cache
def _deepening() -> Callable[..., None]:
    """Return the deepening of the kernels in plain Python, for searches on several threads."""
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
    """Do the same as `search_moves` of the kernels, on several threads."""
    searcher, cells = root
    share = np.minimum(SHARES * context.share / context.share.sum(), 1.0)
    limits = (limit * share).astype(np.int64)
    nodes, cuts = searcher.search_each(cells, depth, cost, limits, points, values)
    context.share[:] = np.maximum(nodes, points >= 0)
    is_complete = bool((nodes <= limits).all() and nodes.sum() <= limit)
    return int(nodes.sum()), cuts, is_complete


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

    The games equal those of `py2048.core.game.Game` with these rules and seeds in which the
    best direction of `Searcher.rate` is always played.

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
