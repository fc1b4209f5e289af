"""Compiled expectimax: single searches and whole games, for each kind of board and evaluation.

The search tree alternates between two kinds of nodes. At a *max node*, the player moves. The value
of a move is its points plus the value of its afterstate. The value of a max node is the value of
its best move. A *chance node* is an afterstate, on which a tile spawns. The value of a chance node
is the mean over all spawns, weighted by their exact probabilities. Depth is counted in moves. A
search of depth 1 only evaluates afterstates, and a search of depth `d` averages over `d - 1`
spawns.

Every path has a *cost*. A spawn with probability `p` costs ``COSTS_PER_BIT * -log2(p)``. Every move
has a fixed cost, plus a penalty if the leaf evaluation rates it below the best move. If a spawn
exceeds the cost limit, the resulting board is searched only one more ply. Moves that exceed the
limit are pruned. As a result, the search is deep along likely lines and shallow elsewhere.

The *transposition table* stores the values of chance nodes, and is emptied for each root move of
each iteration. The *evaluation cache* stores leaf values. New entries always replace old ones.
Entries are found by a hash of the board, the depth and the remaining cost, so the tables do not
change any result.

*Iterative deepening* repeats the search with growing cost limits until the node budget is used up.
Kernels do not read a clock. `node_budget` sets a target and a maximum for the number of nodes per
move. `time_factor` gives hard moves more nodes than easy moves.

`py2048.players.search.expectimax.Expectimax` is the reference implementation in plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine._bits_kernels import draw, mix64
from py2048.engine._board_kernels import Cells, Int, Word, Words
from py2048.engine.jit import kernel
from py2048.players.ntuple._network_kernels import Weights
from py2048.players.ntuple.layout import Code
from py2048.players.search import _board_kernels as boards
from py2048.players.search.context import SearchContext, SearchContexts
from py2048.players.search.limits import (
    BALANCE_MOVES,
    EASY_MOVE_FACTOR,
    EASY_MOVE_LEAD,
    FIRST_COST_LIMIT,
    FIRST_ITERATION_MAX_SHARE,
    FIRST_ITERATION_TARGET_SHARE,
    HARD_MOVE_FACTOR,
    MAX_BRANCH_GROWTH,
    MAX_ITERATION_GROWTH,
    MAX_MOVE_FACTOR,
    MIN_COST_STEP,
    TARGET_NODE_SHARE,
    UNLIMITED_NODES,
)

Points = NDArray[np.int64]
Values = NDArray[np.float64]

ONE = np.uint64(1)
ALL = np.int64(-1)
"""Stands for every direction."""
ROOT_LEVEL = np.int64(0)
"""The root's search level, which is also its slot in the arena."""
STUCK_VALUE = 0.0
"""Value of a board without legal moves: no more points can be gained."""
NO_MOVE = -np.inf
"""Placeholder for the value of the best move if there is no legal move."""
PREFETCH_DISTANCE = 4
"""Number of boards whose weights are prefetched before the boards are evaluated."""
MAX_LOSS = float(1 << 20)
"""A cost that exceeds every limit."""


# Indices into the state of a game: merge points, number of moves, and whether the game is over.
SCORE, PLY, OVER = 0, 1, 2
STATE = 3


Board = Any
"""Handle of a board: the packed board itself, or the number of its slot in the arena."""
Moves = tuple[tuple[Board, np.int64], ...]
"""The afterstate and the points of each slide, or -1 points for illegal slides."""
MoveValues = tuple[float, float, float, float]
"""Leaf value of each move."""
Kernel = Callable[..., Any]
Kernels = tuple[Kernel, Kernel, Kernel]


class Parts(NamedTuple):
    """The board operations and the leaf evaluation of a search; see ``_board_kernels.py``."""

    slides: Kernel
    next_empty: Kernel
    count_empty: Kernel
    with_tile: Kernel
    with_spawn: Kernel
    hash_of: Kernel
    ranks_on: Kernel
    load: Kernel
    store: Kernel
    leaf: Kernel
    cached_leaf: Kernel
    fetch: Kernel
    enter: Kernel


@kernel(inline=True, borrows=True)
def value_or_stuck(best: float) -> float:
    """Return the value of the best move, or `STUCK_VALUE` if no move is legal."""
    return best if best > NO_MOVE else STUCK_VALUE


def make_leaf_kernels(parts: Parts) -> tuple[Kernel, Kernel]:
    """Build the kernels that evaluate a move with the leaf evaluation."""
    ranks_on, leaf = parts.ranks_on, parts.cached_leaf

    @kernel(inline=True, borrows=True)
    def is_won(after: Board, points: Int, context: SearchContext) -> bool:
        """Return whether a slide that gained `points` ended the game."""
        if points < context.min_ending_points:
            return False
        return bool(ranks_on(after, context) & context.ending_mask)

    @kernel(inline=True, borrows=True)
    def move_value(after: Board, points: Int, context: SearchContext, weights: Weights) -> float:
        """Return the points of a slide plus the expected future points."""
        gain = context.per_merged * points + context.per_move
        if is_won(after, points, context):
            return np.float64(gain + context.win_value)
        return np.float64(gain + leaf(after, context, weights))

    return is_won, move_value


def make_afterstate_kernels(parts: Parts) -> Kernels:
    """Build `is_won`, `best_value` and `leaf_values`, which evaluate moves without a search."""
    slides, (is_won, move_value) = parts.slides, make_leaf_kernels(parts)

    @kernel(borrows=True)
    def best_value(board: Board, level: Int, context: SearchContext, weights: Weights) -> float:
        """Return the value of a board's best move in a search of depth 1."""
        best = NO_MOVE
        for after, points in slides(board, level, context):
            if points >= 0:
                context.nodes += 1
                best = max(best, move_value(after, points, context, weights))
        return best

    @kernel(borrows=True)
    def one(move: tuple[Board, np.int64], context: SearchContext, weights: Weights) -> float:
        after, points = move
        if points < 0:
            return NO_MOVE
        context.nodes += 1
        return np.float64(move_value(after, points, context, weights))

    @kernel(borrows=True)
    def leaf_values(moves: Moves, context: SearchContext, weights: Weights) -> MoveValues:
        """Return the leaf value of each move, or zeros if the search prunes no moves."""
        if context.loss_cost == 0.0:
            return 0.0, 0.0, 0.0, 0.0
        return (
            one(moves[0], context, weights),
            one(moves[1], context, weights),
            one(moves[2], context, weights),
            one(moves[3], context, weights),
        )

    return is_won, best_value, leaf_values


def make_spawn_kernels(parts: Parts) -> Kernels:
    """Build the kernels that count and enumerate the possible spawns on an afterstate."""
    next_empty, count_empty = parts.next_empty, parts.count_empty

    @kernel(inline=True, borrows=True)
    def count(after: Board, context: SearchContext) -> np.int64:
        """Return the number of cells on which a tile may spawn."""
        if context.edge_length > 0:
            return np.int64(1)
        return np.int64(count_empty(after, context))

    @kernel(inline=True, borrows=True)
    def first(after: Board, direction: Int, context: SearchContext) -> np.int64:
        """Return the first cell on which a tile may spawn after a move in `direction`."""
        for place in range(context.edge_length):
            cell = context.edge_cells[direction, place]
            if cell >= 0 and next_empty(after, cell, context) == cell:
                return np.int64(cell)
        return np.int64(next_empty(after, np.int64(0), context))

    @kernel(inline=True, borrows=True)
    def following(
        after: Board, cell: Int, number: Int, context: SearchContext
    ) -> tuple[np.int64, np.int64]:
        """Return the next possible spawn as a cell and a tile index, or (-1, 0) at the end."""
        if number + 1 < context.tiles:
            return np.int64(cell), np.int64(number + 1)
        if context.edge_length > 0:
            return np.int64(-1), np.int64(0)
        return np.int64(next_empty(after, cell + 1, context)), np.int64(0)

    return count, first, following


@kernel(inline=True, borrows=True)
def loss_cost(ahead: MoveValues, move: Int, context: SearchContext) -> np.int64:
    """Return the cost penalty of a move that has a lower value than the best move."""
    best = max(ahead[0], ahead[1], ahead[2], ahead[3])
    if ahead[move] == best:
        return np.int64(0)
    return np.int64(min(context.loss_cost * (best - ahead[move]) / max(abs(best), 1.0), MAX_LOSS))


def make_key_kernel(parts: Parts) -> Kernel:
    """Build the kernel that hashes chance nodes."""
    hash_of = parts.hash_of

    @kernel(inline=True, borrows=True)
    def key_of(
        after: Board, direction: Int, depth: Int, remaining_cost: Int, context: SearchContext
    ) -> Word:
        """Return the hash of a chance node for the transposition table."""
        tag = context.generation << 24 | np.int64(remaining_cost) << 8 | np.int64(depth) << 2
        if context.edge_length > 0:
            tag |= np.int64(direction)
        return mix64(hash_of(after, context) ^ mix64(np.uint64(tag)))

    return key_of


def make_chance_kernel(parts: Parts, known: Kernels, spawns: Kernels) -> Any:
    """Build the kernel that evaluates chance nodes."""
    slides, with_tile, key_of = parts.slides, parts.with_tile, make_key_kernel(parts)
    (is_won, best_value, leaf_values), (count, first, following) = known, spawns
    chance: Any = None  # lets `mean_value` call itself

    @kernel(borrows=True)
    def mean_value(
        after: Board,
        direction: Int,
        depth: Int,
        remaining_cost: Int,
        level: Int,
        context: SearchContext,
        weights: Weights,
    ) -> float:
        """Return the mean value of the boards that can follow an afterstate.

        If the search exceeds its node limit, the result is invalid.

        Args:
            after: The afterstate.
            direction: Direction of the move that led to the afterstate.
            depth: Number of moves still to search.
            remaining_cost: Cost limit for the rest of the path.
            level: Number of moves from the root.
            context: Context of this thread.
            weights: Network weights.
        """
        if context.nodes > context.node_limit:
            return STUCK_VALUE
        key = key_of(after, direction, depth, remaining_cost, context)
        entry = context.transposition_table[key & (context.table_size - ONE)]
        if entry["hash"] == key:
            return np.float64(entry["value"])
        total, cells = 0.0, count(after, context)
        cell, number = first(after, direction, context), np.int64(0)
        while cell >= 0 and context.nodes <= context.node_limit:
            board = with_tile(after, cell, np.uint64(context.ranks[number]), level, context)
            best, rest = NO_MOVE, remaining_cost - context.costs[number, cells]
            if depth <= 1 or rest < 0:
                context.cuts += np.int64(depth > 1)
                best = best_value(board, level, context, weights)
            else:
                moves = slides(board, level, context)
                ahead = leaf_values(moves, context, weights)
                for move in range(4):
                    further, points = moves[move]
                    left = rest - loss_cost(ahead, move, context)
                    if points < 0 or left < 0:
                        context.cuts += np.int64(points >= 0)
                        continue
                    future = context.win_value
                    if not is_won(further, points, context):
                        future = chance(further, move, depth - 1, left, level + 1, context, weights)
                    best = max(best, context.per_merged * points + context.per_move + future)
            total += context.probabilities[number] * value_or_stuck(best)
            cell, number = following(after, cell, number, context)
        value = total / cells
        if context.nodes <= context.node_limit:  # otherwise the subtree was aborted
            entry["hash"], entry["value"] = key, value
        return np.float64(value)

    chance = mean_value
    return chance


def make_choose_kernel(parts: Parts, known: Kernels, spawns: Kernels) -> Kernel:
    """Build the kernel that rates the moves of a board."""
    (is_won, _, _), fetch, leaf = known, parts.fetch, parts.leaf
    chance = make_chance_kernel(parts, known, spawns)

    @kernel(borrows=True, expand=True)
    def choose(
        moves: Moves,
        only: Int,
        depth: Int,
        max_cost: Int,
        context: SearchContext,
        weights: Weights,
        points: Points,
        values: Values,
    ) -> Int:
        """Rate all moves or a single move; return the best direction, or -1 if none is legal."""
        best, most = np.int64(-1), NO_MOVE
        for direction in range(4):
            after, gained = moves[direction]
            points[direction] = gained
            if depth <= 1 and gained >= 0:  # at depth 1, the afterstates are leaves
                fetch(after, context, weights)
        for direction in range(4):
            if points[direction] < 0 or only not in (ALL, direction):
                continue
            after, gained = moves[direction]
            future = context.win_value
            if depth <= 1 and not is_won(after, gained, context):
                context.nodes += 1
                future = leaf(after, context, weights)
            elif not is_won(after, gained, context):
                context.generation += 1
                future = chance(
                    after, direction, depth - 1, max_cost, ROOT_LEVEL + 1, context, weights
                )
            values[direction] = context.per_merged * points[direction] + context.per_move + future
            if values[direction] > most:
                best, most = np.int64(direction), values[direction]
        return best

    return choose


# --- how far to search ---------------------------------------------------------------------------


class SearchParams(NamedTuple):
    """How far to search."""

    only: Int
    """The only direction to search, or `ALL`."""
    depth: Int
    """Plies to search, at least 1."""
    max_cost: Int
    """Maximum path cost."""
    node_limit: Int = UNLIMITED_NODES
    """A search that exceeds this number of nodes is aborted."""
    budget: Int = 0
    """Node budget for iterative deepening, or 0 to search only once."""
    is_timed: Int = 0
    """Whether the budget is an average over several moves rather than a maximum for each move."""


@kernel(borrows=True, expand=True)
def node_budget(
    params: SearchParams, legal: Int, factor: float, context: SearchContext
) -> tuple[float, float]:
    """Return the target and the maximum for a move's node count.

    A fixed node budget is both the target and the maximum. A time limit is an average over several
    moves. After an overrun, or after time is saved on forced moves, the difference is spread over
    the next `BALANCE_MOVES` moves.

    Args:
        params: Search parameters.
        legal: Number of legal moves.
        factor: The result of `time_factor` for this move, or 1 before the first iteration.
        context: Context of this thread.
    """
    budget = np.float64(params.budget)
    if legal < 2:
        return 0.0, 0.0
    if params.is_timed == 0:
        return budget, budget
    return budget * (1.0 - context.overrun / BALANCE_MOVES) * factor, budget * MAX_MOVE_FACTOR


@kernel(borrows=True, expand=True)
def record_move(params: SearchParams, spent: float, breadth: float, context: SearchContext) -> None:
    """Store a move's node count and the breadth of its search tree, for planning the next move."""
    debt = context.overrun + spent / max(np.float64(params.budget), 1.0) - 1.0
    context.overrun = min(max(debt, BALANCE_MOVES * (1.0 - MAX_MOVE_FACTOR)), BALANCE_MOVES - 1.0)
    context.breadth = breadth


@kernel(borrows=True, expand=True)
def tree_breadth(nodes: float, cost: Int, context: SearchContext) -> float:
    """Estimate the breadth of a search tree: log2 of its node count at cost limit 0.

    The estimate assumes that log2 of the node count grows by `context.growth` per cost unit.

    Args:
        nodes: Number of nodes at the cost limit `cost`.
        cost: Cost limit of the measured search.
        context: Context of this thread.
    """
    return np.float64(np.log2(max(nodes, 1.0)) - cost * context.growth)


@kernel(borrows=True, expand=True)
def affordable_cost(breadth: float, nodes: float, context: SearchContext) -> np.int64:
    """Return the cost limit for a search of about `nodes` nodes, or -1 if there is none."""
    bits = np.log2(max(nodes, 1.0)) - breadth
    return np.int64(bits / context.growth) if bits >= 0.0 else np.int64(-1)


@kernel(borrows=True, expand=True)
def first_cost_limit(optimum: float, params: SearchParams, context: SearchContext) -> np.int64:
    """Return the cost limit of the first iteration, or -1 to skip iterative deepening.

    With a time limit, the cost limit depends on the size of the previous move's search tree. If
    even the smallest search is expected to take more than twice the budget, deepening is skipped to
    save time for later moves.
    """
    if params.is_timed == 0 or context.breadth <= 0.0:
        return np.int64(FIRST_COST_LIMIT)
    if affordable_cost(context.breadth, 2.0 * optimum, context) < 0:
        return np.int64(-1)
    return max(
        affordable_cost(context.breadth, FIRST_ITERATION_TARGET_SHARE * optimum, context),
        np.int64(0),
    )


@kernel(borrows=True, expand=True)
def next_cost_limit(
    breadth: float, nodes: float, cost: Int, remaining: float, context: SearchContext
) -> np.int64:
    """Return the cost limit of the next iteration, or -1 if no deeper search fits the budget.

    An iteration may use at most `MAX_ITERATION_GROWTH` times the nodes of the previous one, because
    estimates for larger searches are unreliable.

    Args:
        breadth: Breadth of the tree.
        nodes: Nodes used by the previous iteration.
        cost: Cost limit of the previous iteration.
        remaining: Nodes left in the budget.
        context: Context of this thread.
    """
    further = affordable_cost(
        breadth, min(TARGET_NODE_SHARE * remaining, MAX_ITERATION_GROWTH * nodes), context
    )
    return further if further >= cost + MIN_COST_STEP else np.int64(-1)


@kernel(borrows=True, expand=True)
def time_factor(points: Points, values: Values, current: Values) -> float:
    """Return the factor by which to scale the time budget of an easy or hard move.

    A move is easy if the best direction is clearly ahead of the second best (`EASY_MOVE_LEAD`). A
    move is hard if the best direction changed in the latest iteration.

    Args:
        points: Points of each slide, -1 if illegal.
        values: Values of the previous iteration.
        current: Values of the latest iteration.
    """
    best, most, second, before = np.int64(-1), NO_MOVE, NO_MOVE, NO_MOVE
    for direction in range(4):
        if points[direction] >= 0:
            before = max(before, values[direction])
            if current[direction] > most:
                best, most, second = np.int64(direction), current[direction], most
            else:
                second = max(second, current[direction])
    if values[best] < before:
        return HARD_MOVE_FACTOR
    return EASY_MOVE_FACTOR if most - second > EASY_MOVE_LEAD * abs(most) else 1.0


# --- deepening -----------------------------------------------------------------------------------


@kernel(borrows=True, expand=True)
def reset_shares(points: Points, context: SearchContext) -> np.int64:
    """Share the nodes equally among the legal root moves; return the number of moves."""
    legal = np.int64(0)
    for direction in range(4):
        context.node_shares[direction] = np.float64(points[direction] >= 0)
        legal += np.int64(points[direction] >= 0)
    return legal


def make_deepening(search_moves: Kernel) -> Callable[..., None]:
    """Build the iterative deepening loop, for use in a kernel or with several threads.

    Args:
        search_moves: Function that searches each legal move of a root; see `make_decide_kernel`.
    """

    def deepen(
        root: Any,
        params: SearchParams,
        context: SearchContext,
        weights: Weights,
        points: Points,
        values: Values,
        current: Values,
    ) -> None:
        """Search with growing cost limits; write the values of the last completed iteration.

        `context.node_shares` contains the nodes that each root move used in the previous iteration.
        See `decide` for the other arguments.
        """
        legal = reset_shares(points, context)
        optimum, maximum = node_budget(params, legal, 1.0, context)
        used, previous, breadth = np.float64(legal), 0.0, context.breadth
        cost_limit = min(first_cost_limit(optimum, params, context), np.int64(params.max_cost))
        if cost_limit < 0 and legal > 1:
            breadth -= 1.0 / BALANCE_MOVES  # otherwise, all later moves might skip deepening
        while cost_limit >= 0 and used < maximum:
            node_limit = (
                maximum - used if previous > 0.0 else FIRST_ITERATION_MAX_SHARE * (maximum - used)
            )
            nodes, pruned, is_complete = search_moves(
                root, params.depth, cost_limit, node_limit, context, weights, points, current
            )
            # An aborted iteration is charged its whole node limit, because the nodes it has really
            # used depend on the number of threads.
            nodes_used = np.float64(nodes) if is_complete else node_limit
            used += nodes_used
            measured = tree_breadth(nodes_used, cost_limit, context)
            if is_complete:
                factor = time_factor(points, values, current)
                optimum, maximum = node_budget(params, legal, factor, context)
                for direction in range(4):
                    values[direction] = current[direction]
                breadth = measured if previous == 0.0 else (measured + breadth) / 2.0
                next_limit = next_cost_limit(
                    breadth, nodes_used, cost_limit, optimum - used, context
                )
                next_limit = min(next_limit, np.int64(params.max_cost))
                previous = nodes_used
                cost_limit = next_limit if pruned > 0 and next_limit > cost_limit else np.int64(-1)
            elif previous == 0.0 and cost_limit > 0:  # even the first iteration was aborted
                breadth, cost_limit = measured, np.int64(0)
                reset_shares(points, context)
            else:
                breadth, cost_limit = max(breadth, measured), np.int64(-1)
        if params.is_timed != 0:
            record_move(params, used, breadth, context)

    return deepen


def make_decide_kernel(choose: Kernel) -> Kernel:
    """Build the kernel that searches within the limits of a `SearchParams`.

    All kernels that call `choose` are inlined, because Numba would otherwise compile `choose` for
    each of them.
    """

    @kernel(borrows=True, expand=True)
    def search_moves(
        moves: Moves,
        depth: Int,
        cost: Int,
        limit: float,
        context: SearchContext,
        weights: Weights,
        points: Points,
        current: Values,
    ) -> tuple[np.int64, np.int64, bool]:
        """Search each legal move within the node limit.

        Returns:
            The number of nodes, the number of pruned paths, and whether every search was completed.
        """
        shares = (
            context.node_shares[0]
            + context.node_shares[1]
            + context.node_shares[2]
            + context.node_shares[3]
        )
        nodes, cuts, is_complete = np.int64(0), np.int64(0), True
        for direction in range(4):
            if points[direction] >= 0:
                share = min(MAX_BRANCH_GROWTH * context.node_shares[direction] / shares, 1.0)
                most = np.int64(share * limit)
                context.nodes, context.cuts = 0, 0
                context.node_limit = min(most, np.int64(limit) - nodes)
                choose(moves, np.int64(direction), depth, cost, context, weights, points, current)
                nodes, cuts = nodes + context.nodes, cuts + context.cuts
                is_complete = is_complete and bool(context.nodes <= context.node_limit)
                context.node_shares[direction] = np.float64(max(context.nodes, 1))
        context.total_nodes += nodes
        return nodes, cuts, is_complete

    deepen = kernel(borrows=True, expand=True)(make_deepening(search_moves))

    @kernel(borrows=True, expand=True)
    def decide(
        moves: Moves,
        params: SearchParams,
        context: SearchContext,
        weights: Weights,
        points: Points,
        values: Values,
        current: Values,
    ) -> Int:
        """Rate the moves of a board; return the best direction, or -1 if none is legal.

        Args:
            moves: Slides of the board.
            params: Search parameters.
            context: Context of this thread. The search adds its node count to `total_nodes`.
            weights: Network weights.
            points: Receives the points of each slide, -1 if illegal; int64 `[4]`.
            values: Receives the values of the last completed iteration; float64 `[4]`.
            current: Scratch space for the values of the current iteration, float64 `[4]`.
        """
        depth, cost = params.depth, params.max_cost
        if params.budget > 0:
            depth, cost = 1, 0
        context.nodes, context.cuts, context.node_limit = 0, 0, params.node_limit
        best = choose(moves, params.only, depth, cost, context, weights, points, values)
        context.total_nodes += context.nodes
        if params.budget > 0:
            deepen(moves, params, context, weights, points, values, current)
            best, most = np.int64(-1), NO_MOVE
            for direction in range(4):
                if points[direction] >= 0 and values[direction] > most:
                    best, most = np.int64(direction), values[direction]
        return np.int64(best)

    return decide


# --- entry points --------------------------------------------------------------------------------


class Search(NamedTuple):
    """The search kernels for one kind of board and one evaluation.

    Each kernel compiles on its first call.
    """

    rate: Kernel
    value: Kernel
    play: Kernel


def make_search(parts: Parts) -> Search:
    """Build the search and game kernels from board operations and a leaf evaluation."""
    load, store, enter, slides = parts.load, parts.store, parts.enter, parts.slides
    known, spawns = make_afterstate_kernels(parts), make_spawn_kernels(parts)
    decide = make_decide_kernel(make_choose_kernel(parts, known, spawns))
    make_move = make_move_kernel(parts, known, spawns)

    @kernel(borrows=True)
    def rate(
        boards: Cells,
        params: SearchParams,
        contexts: SearchContexts,
        weights: Weights,
        points: Points,
        values: Values,
        current: Values,
    ) -> None:
        """Rate the moves of several boards, uint8 ranks `[n, cells]`.

        Each board's results are written to its row in `points` and `values`. `contexts` contains
        only the context of this thread. See `decide` for the other arguments.
        """
        context = contexts[0]
        for number in range(len(boards)):
            board = load(boards[number], ROOT_LEVEL, context)
            enter(board, context)
            moves = slides(board, ROOT_LEVEL, context)
            decide(moves, params, context, weights, points[number], values[number], current)

    @kernel(borrows=True)
    def play(
        boards: Cells,
        states: Points,
        directions: Cells,
        keys: Words,
        params: SearchParams,
        contexts: SearchContexts,
        weights: Weights,
        points: Points,
        values: Values,
        current: Values,
    ) -> np.int64:
        """Play several games in sequence, until all are over or `directions` is full.

        Args:
            boards: Boards as ranks, uint8 `[games, cells]`, which are overwritten with the final
                boards.
            states: Game states, int64 `[games, STATE]`, updated in place.
            directions: Overwritten with the moves.
            keys: Random generator key for each game's spawns, uint64 `[games]`.
            params: Search parameters; see `decide` for this and the remaining arguments.
            contexts: One-element array with the context of this thread.
            weights: Network weights.
            points: Points of the last slides.
            values: Values of the last moves.
            current: Scratch space.

        Returns:
            The number of moves played.
        """
        context, count = contexts[0], np.int64(0)
        for game in range(len(boards)):
            state, key = states[game], keys[game]
            board, is_over = load(boards[game], ROOT_LEVEL, context), bool(state[OVER] != 0)
            while not is_over and count < len(directions):
                enter(board, context)
                moves = slides(board, ROOT_LEVEL, context)
                best = decide(moves, params, context, weights, points, values, current)
                if best < 0:
                    state[OVER] = 1
                else:
                    directions[count] = best
                    board = make_move(moves, best, state, key, context)
                    count += 1
                is_over = bool(state[OVER] != 0)
            store(board, boards[game], context)
            if count == len(directions):
                break
        return count

    return Search(rate, make_value_kernel(parts), play)


def make_value_kernel(parts: Parts) -> Kernel:
    """Build the kernel that evaluates afterstates."""
    load, enter, fetch, leaf = parts.load, parts.enter, parts.fetch, parts.leaf

    @kernel(borrows=True)
    def value(boards: Cells, contexts: SearchContexts, weights: Weights, values: Values) -> None:
        """Write the leaf values of several afterstates, uint8 ranks `[n, cells]`."""
        context, count = contexts[0], len(boards)
        for number in range(count):
            if number + PREFETCH_DISTANCE < count:
                fetch(
                    load(boards[number + PREFETCH_DISTANCE], ROOT_LEVEL, context), context, weights
                )
            board = load(boards[number], ROOT_LEVEL, context)
            enter(board, context)
            values[number] = leaf(board, context, weights)
        context.total_nodes += count

    return value


def make_move_kernel(parts: Parts, known: Kernels, spawns: Kernels) -> Kernel:
    """Build the kernel that plays a move of a game."""
    with_tile, with_spawn = parts.with_tile, parts.with_spawn
    (is_won, _, _), (_, first, _) = known, spawns

    @kernel(borrows=True, expand=True)
    def make_move(
        moves: Moves, best: Int, state: Points, key: Word, context: SearchContext
    ) -> Board:
        """Play a legal move; return the board after the spawn."""
        after, gained = moves[best]
        state[OVER] = np.int64(context.is_endless == 0 and is_won(after, gained, context))
        word = draw(key, np.uint64(state[PLY]))
        state[SCORE] += gained
        state[PLY] += 1
        if context.edge_length > 0:
            cell = first(after, best, context)
            return with_tile(after, cell, np.uint64(context.ranks[0]), ROOT_LEVEL, context)
        return with_spawn(after, word, context)

    return make_move


def parts_of(kind: str, leaf: Any, fetch: Any, enter: Any = boards.enter_no_band) -> Parts:
    """Combine the board operations for a kind of board with a leaf evaluation."""
    slides = {"4x4": boards.slides_square, "small": boards.slides_small}
    suffix = "packed" if kind in slides else "cells"
    names = Parts._fields[1 : Parts._fields.index("leaf")]
    operations = [getattr(boards, f"{name}_{suffix}") for name in names]
    return Parts._make(
        [slides.get(kind, boards.slides_cells), *operations, leaf, leaf, fetch, enter]
    )


@cache
def search_kernels(
    kind: str, evaluation: str, code: Code = (), band_code: Code = (), *, has_stages: bool = False
) -> Search:
    """Return the kernels for a kind of board and an evaluation, ``heuristic`` or ``network``.

    For 4x4 networks, the kernels are specialised for the network's tuples (`code`) and its bands'
    tuples (`band_code`).
    """
    if band_code:
        banded = boards.make_banded_kernels(code, band_code, has_stages=has_stages)
        parts = parts_of(kind, *banded, boards.enter_band)
    elif code:
        parts = parts_of(kind, *boards.make_network_kernels(code, has_stages=has_stages))
    else:
        parts = parts_of(kind, getattr(boards, f"{evaluation}_{kind}"), boards.prefetch_nothing)
    if evaluation == "network":
        parts = parts._replace(cached_leaf=boards.make_cached_leaf(parts.leaf, parts.hash_of))
    return make_search(parts)
