"""Expectimax, compiled: searches and whole games, for each kind of board and each kind of leaf.

A search has two kinds of nodes. At a *choice* node a move is made: its value is the best sum of an
afterstate's value and the points of the slide. At a *chance* node, an afterstate, a tile appears:
its value is the mean over all tiles and cells with their exact probabilities. Depth counts moves: a
search of depth 1 rates afterstates by the leaf alone, and depth ``d`` averages ``d - 1`` times.

A path has a *cost*: for each spawn `COSTS_PER_BIT` times its bits of surprise, and for each move a
little, and more the more it loses against the best one as the leaf sees it. Where a spawn exceeds
the limit of the search, the board is rated one move ahead; a move that exceeds it is left out. So
the search is deep where little can happen, and cuts short what is unlikely.

The *transposition table* holds values of chance nodes for one root move of one search, the
*evaluation cache* values of leaves; a new value replaces the old one in its place. Neither changes
a result: a hash identifies the board, the depth and the remaining cost.

*Deepening* searches repeatedly, paths of greater cost each time, up to a number of boards rated. It
knows nothing of time: `allotted` says how many boards a move should take, and how many it may, and
`effort` whether the move is easy or hard.

`mean_value` is the image of `py2048.players.search.expectimax.Expectimax`, the readable reference.
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
    AIM,
    CLEAR_LEAD,
    DEBT_MOVES,
    EASY,
    FIRST_COST,
    FIRST_PART,
    FIRST_SHARE,
    HARD,
    LEAP,
    MAX_TIMES,
    MIN_STEP,
    SHARES,
    UNLIMITED,
)

Points = NDArray[np.int64]
Values = NDArray[np.float64]

ONE = np.uint64(1)
ALL = np.int64(-1)
"""Instead of a direction: every one."""
FIRST = np.int64(0)
"""The level, and the slot, of the root."""
STUCK = 0.0
"""The value of a board without a legal move: nothing is to come."""
NOTHING = -np.inf
"""The best value of no moves."""
AHEAD = 4
"""How many boards ahead of the one that is valued weights are prefetched."""
NO_WAY = float(1 << 20)
"""A cost that no search affords."""


# Places in the state of a game: the points of merges, the number of moves, whether it is over.
SCORE, PLY, OVER = 0, 1, 2
STATE = 3


Board = Any
"""A board as the kernels of a kind handle it."""
Moves = tuple[tuple[Board, np.int64], ...]
"""The afterstate and the points of each slide of a board, the points -1 where nothing moves."""
Ahead = tuple[float, float, float, float]
"""The value of each move as the leaf sees it."""
Kernel = Callable[..., Any]


class Parts(NamedTuple):
    """The operations of a kind of board, and the leaf, as in ``_board_kernels.py``."""

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


class Afterstates(NamedTuple):
    """The kernels of `make_afterstate_kernels`."""

    is_won: Kernel
    choice: Kernel
    one_ahead: Kernel


class Spawns(NamedTuple):
    """The kernels of `make_spawn_kernels`."""

    count: Kernel
    first: Kernel
    following: Kernel


@kernel(inline=True, borrows=True)
def known_or_stuck(best: float) -> float:
    """Return the value of a board, given that of its best move."""
    return best if best > NOTHING else STUCK


def make_rated_kernels(parts: Parts) -> tuple[Kernel, Kernel]:
    """Return the kernels that say what an afterstate is worth as the leaf sees it."""
    ranks_on, leaf = parts.ranks_on, parts.cached_leaf

    @kernel(inline=True, borrows=True)
    def is_won(after: Board, points: Int, context: SearchContext) -> bool:
        """Return whether the slide that gained `points` ended the game."""
        if points < context.ending_points:
            return False
        return bool(ranks_on(after, context) & context.endings)

    @kernel(inline=True, borrows=True)
    def rated(after: Board, points: Int, context: SearchContext, weights: Weights) -> float:
        """Return the points of a slide and those to come, as the leaf sees them."""
        gain = context.per_merged * points + context.per_move
        if is_won(after, points, context):
            return np.float64(gain + context.won)
        return np.float64(gain + leaf(after, context, weights))

    return is_won, rated


def make_afterstate_kernels(parts: Parts) -> Afterstates:
    """Return the kernels that rate the moves of a board without looking further."""
    slides, (is_won, rated) = parts.slides, make_rated_kernels(parts)

    @kernel(borrows=True)
    def choice(board: Board, level: Int, context: SearchContext, weights: Weights) -> float:
        """Return the value of a board one move ahead."""
        best = NOTHING
        for after, points in slides(board, level, context):
            if points >= 0:
                context.nodes += 1
                best = max(best, rated(after, points, context, weights))
        return best

    @kernel(borrows=True)
    def one(move: tuple[Board, np.int64], context: SearchContext, weights: Weights) -> float:
        after, points = move
        if points < 0:
            return NOTHING
        context.nodes += 1
        return np.float64(rated(after, points, context, weights))

    @kernel(borrows=True)
    def one_ahead(moves: Moves, context: SearchContext, weights: Weights) -> Ahead:
        """Return the value of each move as the leaf sees it, if moves that lose cost more."""
        if context.loss_cost == 0.0:
            return 0.0, 0.0, 0.0, 0.0
        return (
            one(moves[0], context, weights),
            one(moves[1], context, weights),
            one(moves[2], context, weights),
            one(moves[3], context, weights),
        )

    return Afterstates(is_won, choice, one_ahead)


def make_spawn_kernels(parts: Parts) -> Spawns:
    """Return the kernels that count and find the cells on which a tile may appear."""
    next_empty, count_empty = parts.next_empty, parts.count_empty

    @kernel(inline=True, borrows=True)
    def count(after: Board, context: SearchContext) -> np.int64:
        """Return the number of cells on which a tile may appear."""
        if context.edge_length > 0:
            return np.int64(1)
        return np.int64(count_empty(after, context))

    @kernel(inline=True, borrows=True)
    def first(after: Board, direction: Int, context: SearchContext) -> np.int64:
        """Return the first of those cells after a move in a direction."""
        for place in range(context.edge_length):
            cell = context.edges[direction, place]
            if cell >= 0 and next_empty(after, cell, context) == cell:
                return np.int64(cell)
        return np.int64(next_empty(after, np.int64(0), context))

    @kernel(inline=True, borrows=True)
    def following(
        after: Board, cell: Int, number: Int, context: SearchContext
    ) -> tuple[np.int64, np.int64]:
        """Return the cell and the number of the tile that follow; the cell is -1 after the last."""
        if number + 1 < context.tiles:
            return np.int64(cell), np.int64(number + 1)
        if context.edge_length > 0:
            return np.int64(-1), np.int64(0)
        return np.int64(next_empty(after, cell + 1, context)), np.int64(0)

    return Spawns(count, first, following)


@kernel(inline=True, borrows=True)
def loss_cost(ahead: Ahead, move: Int, context: SearchContext) -> np.int64:
    """Return the cost of what a move loses against the best, given what all look worth."""
    best = max(ahead[0], ahead[1], ahead[2], ahead[3])
    if ahead[move] == best:
        return np.int64(0)
    return np.int64(min(context.loss_cost * (best - ahead[move]) / max(abs(best), 1.0), NO_WAY))


def make_key_kernel(parts: Parts) -> Kernel:
    """Return the kernel that hashes chance nodes."""
    hash_of = parts.hash_of

    @kernel(inline=True, borrows=True)
    def key_of(
        after: Board, direction: Int, depth: Int, remaining_cost: Int, context: SearchContext
    ) -> Word:
        """Return the hash of a chance node."""
        tag = context.generation << 24 | np.int64(remaining_cost) << 8 | np.int64(depth) << 2
        if context.edge_length > 0:
            tag |= np.int64(direction)
        return mix64(hash_of(after, context) ^ mix64(np.uint64(tag)))

    return key_of


def make_chance_kernel(parts: Parts, known: Afterstates, around: Spawns) -> Any:
    """Return the kernel that computes the value of a chance node."""
    slides, with_tile, key_of = parts.slides, parts.with_tile, make_key_kernel(parts)
    (is_won, choice, one_ahead), (count, first, following) = known, around
    chance: Any = None  # `mean_value` under the name by which it calls itself

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
        """Return the mean value of the boards that a move in a direction leads to.

        It is meaningless once the limit of nodes is exceeded. `after` is the afterstate at `level`
        moves from the root, from where to look `depth` moves ahead, for `remaining_cost` at most.
        """
        if context.nodes > context.node_limit:
            return STUCK
        key = key_of(after, direction, depth, remaining_cost, context)
        entry = context.transposition_table[key & (context.table_size - ONE)]
        if entry["hash"] == key:
            return np.float64(entry["value"])
        total, cells = 0.0, count(after, context)
        cell, number = first(after, direction, context), np.int64(0)
        while cell >= 0 and context.nodes <= context.node_limit:
            board = with_tile(after, cell, np.uint64(context.ranks[number]), level, context)
            best, rest = NOTHING, remaining_cost - context.costs[number, cells]
            if depth <= 1 or rest < 0:
                context.cuts += np.int64(depth > 1)
                best = choice(board, level, context, weights)
            else:
                moves = slides(board, level, context)
                ahead = one_ahead(moves, context, weights)
                for move in range(4):
                    further, points = moves[move]
                    left = rest - loss_cost(ahead, move, context)
                    if points < 0 or left < 0:
                        context.cuts += np.int64(points >= 0)
                        continue
                    future = context.won
                    if not is_won(further, points, context):
                        future = chance(further, move, depth - 1, left, level + 1, context, weights)
                    best = max(best, context.per_merged * points + context.per_move + future)
            total += context.shares[number] * known_or_stuck(best)
            cell, number = following(after, cell, number, context)
        value = total / cells
        if context.nodes <= context.node_limit:  # else the search was stopped below
            entry["hash"], entry["value"] = key, value
        return np.float64(value)

    chance = mean_value
    return chance


def make_choose_kernel(parts: Parts, known: Afterstates, around: Spawns) -> Kernel:
    """Return the kernel that rates the moves of a board."""
    fetch, is_won, leaf = parts.fetch, known.is_won, parts.leaf
    chance = make_chance_kernel(parts, known, around)

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
        """Rate all moves, or only one; return the best direction, or -1."""
        best, most = np.int64(-1), NOTHING
        for direction in range(4):
            after, gained = moves[direction]
            points[direction] = gained
            if depth <= 1 and gained >= 0:  # deeper searches have just read most of the weights
                fetch(after, context, weights)
        for direction in range(4):
            if points[direction] < 0 or only not in (ALL, direction):
                continue
            after, gained = moves[direction]
            future = context.won
            if depth <= 1 and not is_won(after, gained, context):
                context.nodes += 1
                future = leaf(after, context, weights)
            elif not is_won(after, gained, context):
                context.generation += 1
                future = chance(after, direction, depth - 1, max_cost, FIRST + 1, context, weights)
            values[direction] = context.per_merged * points[direction] + context.per_move + future
            if values[direction] > most:
                best, most = np.int64(direction), values[direction]
        return best

    return choose


# --- how far to search ---------------------------------------------------------------------------


class SearchParams(NamedTuple):
    """How far to search."""

    only: Int
    """The only move to consider, or `ALL`."""
    depth: Int
    """How many moves to look ahead, 1 or more."""
    max_cost: Int
    """The greatest cost of a path."""
    node_limit: Int = UNLIMITED
    """The most boards to rate in a single search; after that its values are meaningless."""
    budget: Int = 0
    """The boards to rate in all searches of a deepening; 0 for a single search."""
    is_timed: Int = 0
    """Whether the budget is what moves take on average; else no move takes more."""


@kernel(borrows=True, expand=True)
def allotted(params: SearchParams, legal: Int, context: SearchContext) -> tuple[float, float]:
    """Return how many boards to rate for a move, and how many at most: (optimum, maximum).

    A number of boards is both. A time is kept on average: what the moves before took beyond it is
    paid back in the next `DEBT_MOVES`; a forced move, which takes nothing, leaves its time to them.
    """
    budget = np.float64(params.budget)
    if legal < 2:
        return 0.0, 0.0
    if params.is_timed == 0:
        return budget, budget
    return budget * (1.0 - context.debt / DEBT_MOVES), budget * MAX_TIMES


@kernel(borrows=True, expand=True)
def note_spent(params: SearchParams, spent: float, breadth: float, context: SearchContext) -> None:
    """Note what a move has taken, and how broad its tree is, for the next one of a game."""
    debt = context.debt + spent / max(np.float64(params.budget), 1.0) - 1.0
    context.debt = min(max(debt, DEBT_MOVES * (1.0 - MAX_TIMES)), DEBT_MOVES - 1.0)
    context.breadth = breadth


@kernel(borrows=True, expand=True)
def breadth_of(nodes: float, cost: Int, context: SearchContext) -> float:
    """Return the breadth of a tree, given how many boards a search of this cost rated.

    It is the bits of the number that a search of no cost would rate, if the number grew with the
    cost as `context.growth` says.
    """
    return np.float64(np.log2(max(nodes, 1.0)) - cost * context.growth)


@kernel(borrows=True, expand=True)
def affordable(breadth: float, nodes: float, context: SearchContext) -> np.int64:
    """Return the cost at which a search of a tree is expected to rate `nodes` boards, or -1."""
    bits = np.log2(max(nodes, 1.0)) - breadth
    return np.int64(bits / context.growth) if bits >= 0.0 else np.int64(-1)


@kernel(borrows=True, expand=True)
def first_cost(optimum: float, params: SearchParams, context: SearchContext) -> np.int64:
    """Return the cost of the first search of a tree, or -1 for none.

    In a game it is that of a part of a tree as broad as the last one. If even a search of no cost
    is too long, none is made now; the boards that this saves may do for the next move.
    """
    if params.is_timed == 0 or context.breadth <= 0.0:
        return np.int64(FIRST_COST)
    if affordable(context.breadth, 2.0 * optimum, context) < 0:
        return np.int64(-1)
    return max(affordable(context.breadth, FIRST_PART * optimum, context), np.int64(0))


@kernel(borrows=True, expand=True)
def next_cost(
    breadth: float, nodes: float, cost: Int, remaining: float, context: SearchContext
) -> np.int64:
    """Return the cost of the next search of a tree, or -1 if none is worth it.

    How many boards that will rate is known the better, the nearer a search has come before. So
    none is expected to rate more than `LEAP` times as many.

    Args:
        breadth: the breadth of the tree.
        nodes: how many boards the last search rated.
        cost: its cost.
        remaining: how many boards are still to be rated.
        context: the context.
    """
    further = affordable(breadth, min(AIM * remaining, LEAP * nodes), context)
    return further if further >= cost + MIN_STEP else np.int64(-1)


@kernel(borrows=True, expand=True)
def effort(points: Points, values: Values, fresh: Values) -> float:
    """Return how many times the usual number of boards a move is worth.

    Args:
        points: the points of the slides, -1 for illegal ones.
        values: the values of the search before the last one.
        fresh: those of the last search.
    """
    best, most, second, before = np.int64(-1), NOTHING, NOTHING, NOTHING
    for direction in range(4):
        if points[direction] >= 0:
            before = max(before, values[direction])
            if fresh[direction] > most:
                best, most, second = np.int64(direction), fresh[direction], most
            else:
                second = max(second, fresh[direction])
    if values[best] < before:
        return HARD
    return EASY if most - second > CLEAR_LEAD * abs(most) else 1.0


# --- deepening -----------------------------------------------------------------------------------


@kernel(borrows=True, expand=True)
def share_alike(points: Points, context: SearchContext) -> np.int64:
    """Give each legal move the same share of the next search; return how many there are."""
    legal = np.int64(0)
    for direction in range(4):
        context.share[direction] = np.float64(points[direction] >= 0)
        legal += np.int64(points[direction] >= 0)
    return legal


def make_deepening(search_moves: Kernel) -> Callable[..., None]:
    """Return the function that deepens, for the kernel or for several threads.

    Args:
        search_moves: searches each legal move of a root, as that of `make_decide_kernel` does.
    """

    def deepen(
        root: Any,
        params: SearchParams,
        context: SearchContext,
        weights: Weights,
        points: Points,
        values: Values,
        fresh: Values,
    ) -> None:
        """Search repeatedly; `values` are those of the last complete search.

        `context.share` tells how many boards each move took in the last search. The other arguments
        are those of `decide`.
        """
        legal = share_alike(points, context)
        optimum, maximum = allotted(params, legal, context)
        spent, before, breadth = np.float64(legal), 0.0, context.breadth
        wanted = optimum
        cost = min(first_cost(optimum, params, context), np.int64(params.max_cost))
        if cost < 0 and legal > 1:
            breadth -= 1.0 / DEBT_MOVES  # later trees may be less broad
        while cost >= 0 and spent < maximum:
            limit = maximum - spent if before > 0.0 else FIRST_SHARE * (maximum - spent)
            nodes, cuts, is_complete = search_moves(
                root, params.depth, cost, limit, context, weights, points, fresh
            )
            # One that is given up counts as its limit, whatever threads have rated in the meantime.
            taken = np.float64(nodes) if is_complete else limit
            spent += taken
            found = breadth_of(taken, cost, context)
            if is_complete:
                if params.is_timed != 0:  # an easy move saves boards for a hard one
                    wanted = optimum * effort(points, values, fresh)
                for direction in range(4):
                    values[direction] = fresh[direction]
                breadth = found if before == 0.0 else (found + breadth) / 2.0
                further = next_cost(breadth, taken, cost, wanted - spent, context)
                further = min(further, np.int64(params.max_cost))
                before = taken
                cost = further if cuts > 0 and further > cost else np.int64(-1)
            elif before == 0.0 and cost > 0:  # far more boards than expected: begin with few
                breadth, cost = found, np.int64(0)
                share_alike(points, context)
            else:
                breadth, cost = max(breadth, found), np.int64(-1)
        if params.is_timed != 0:
            note_spent(params, spent, breadth, context)

    return deepen


def make_decide_kernel(choose: Kernel) -> Kernel:
    """Return the kernel that searches as far as `SearchParams` say.

    All is expanded into one kernel, because every kernel that calls `choose` compiles it again.
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
        fresh: Values,
    ) -> tuple[np.int64, np.int64, bool]:
        """Search each legal move; return the boards rated, the cuts, and whether it is complete."""
        shares = context.share[0] + context.share[1] + context.share[2] + context.share[3]
        nodes, cuts, is_complete = np.int64(0), np.int64(0), True
        for direction in range(4):
            if points[direction] >= 0:
                share = min(SHARES * context.share[direction] / shares, 1.0)
                most = np.int64(share * limit)
                context.nodes, context.cuts = 0, 0
                context.node_limit = min(most, np.int64(limit) - nodes)
                choose(moves, np.int64(direction), depth, cost, context, weights, points, fresh)
                nodes, cuts = nodes + context.nodes, cuts + context.cuts
                is_complete = is_complete and bool(context.nodes <= context.node_limit)
                context.share[direction] = np.float64(max(context.nodes, 1))
        context.spent += nodes
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
        fresh: Values,
    ) -> Int:
        """Rate the moves of a board; return the best direction, or -1.

        Args:
            moves: the slides of the board.
            params: how far to search.
            context: the context; its `spent` counts the boards that are rated.
            weights: the weights of a network.
            points: int64 `[4]`, filled with the points of the slides, -1 for illegal ones.
            values: float64 `[4]`, filled with the values of the last complete search.
            fresh: float64 `[4]`, filled with the values of a search in progress.
        """
        depth, cost = params.depth, params.max_cost
        if params.budget > 0:
            depth, cost = 1, 0
        context.nodes, context.cuts, context.node_limit = 0, 0, params.node_limit
        best = choose(moves, params.only, depth, cost, context, weights, points, values)
        context.spent += context.nodes
        if params.budget > 0:
            deepen(moves, params, context, weights, points, values, fresh)
            best, most = np.int64(-1), NOTHING
            for direction in range(4):
                if points[direction] >= 0 and values[direction] > most:
                    best, most = np.int64(direction), values[direction]
        return np.int64(best)

    return decide


# --- the kernels that are called ------------------------------------------------------------------


class Search(NamedTuple):
    """The kernels of a kind of board and an evaluation; each compiles when it is first called."""

    rate: Kernel
    value: Kernel
    play: Kernel


def make_search(parts: Parts) -> Search:
    """Return the kernels that search, and play games, with these parts."""
    load, store, enter, slides = parts.load, parts.store, parts.enter, parts.slides
    known, around = make_afterstate_kernels(parts), make_spawn_kernels(parts)
    decide = make_decide_kernel(make_choose_kernel(parts, known, around))
    made = make_move_kernel(parts, known, around)

    @kernel(borrows=True)
    def rate(
        boards: Cells,
        params: SearchParams,
        contexts: SearchContexts,
        weights: Weights,
        points: Points,
        values: Values,
        fresh: Values,
    ) -> None:
        """Rate the moves of boards, uint8 `[n, cells]` of ranks, into rows of points and values.

        The context of the thread is `[1]`; the other arguments are those of `decide`.
        """
        context = contexts[0]
        for number in range(len(boards)):
            board = load(boards[number], FIRST, context)
            enter(board, context)
            moves = slides(board, FIRST, context)
            decide(moves, params, context, weights, points[number], values[number], fresh)

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
        fresh: Values,
    ) -> np.int64:
        """Continue games by the best moves, one after the other, while `directions` has room.

        Args:
            boards: uint8 `[games, cells]` of ranks; replaced by the last boards.
            states: int64 `[games, STATE]`, updated.
            directions: filled with the moves.
            keys: uint64 `[games]`, the keys of the games' draws.
            params: as in `decide`, like all that follow.
            contexts: the context of this thread, `[1]`.
            weights: the weights.
            points: the points of the last slides.
            values: the values of the moves.
            fresh: those of a search in progress.

        Returns:
            the number of moves made.
        """
        context, count = contexts[0], np.int64(0)
        for game in range(len(boards)):
            state, key = states[game], keys[game]
            board, is_over = load(boards[game], FIRST, context), bool(state[OVER] != 0)
            while not is_over and count < len(directions):
                enter(board, context)
                moves = slides(board, FIRST, context)
                best = decide(moves, params, context, weights, points, values, fresh)
                if best < 0:
                    state[OVER] = 1
                else:
                    directions[count] = best
                    board = made(moves, best, state, key, context)
                    count += 1
                is_over = bool(state[OVER] != 0)
            store(board, boards[game], context)
            if count == len(directions):
                break
        return count

    return Search(rate, make_value_kernel(parts), play)


def make_value_kernel(parts: Parts) -> Kernel:
    """Return the kernel that values afterstates."""
    load, enter, fetch, leaf = parts.load, parts.enter, parts.fetch, parts.leaf

    @kernel(borrows=True)
    def value(boards: Cells, contexts: SearchContexts, weights: Weights, values: Values) -> None:
        """Write the value of each afterstate, uint8 `[n, cells]` of ranks, as the leaf sees it."""
        context, count = contexts[0], len(boards)
        for number in range(count):
            if number + AHEAD < count:
                fetch(load(boards[number + AHEAD], FIRST, context), context, weights)
            board = load(boards[number], FIRST, context)
            enter(board, context)
            values[number] = leaf(board, context, weights)
        context.spent += count

    return value


def make_move_kernel(parts: Parts, known: Afterstates, around: Spawns) -> Kernel:
    """Return the kernel that makes a move."""
    with_tile, with_spawn = parts.with_tile, parts.with_spawn
    is_won, first = known.is_won, around.first

    @kernel(borrows=True, expand=True)
    def made(moves: Moves, best: Int, state: Points, key: Word, context: SearchContext) -> Board:
        """Make a legal move; return the board after the spawn."""
        after, gained = moves[best]
        state[OVER] = np.int64(context.is_endless == 0 and is_won(after, gained, context))
        word = draw(key, np.uint64(state[PLY]))
        state[SCORE] += gained
        state[PLY] += 1
        if context.edge_length > 0:
            cell = first(after, best, context)
            return with_tile(after, cell, np.uint64(context.ranks[0]), FIRST, context)
        return with_spawn(after, word, context)

    return made


def parts_of(kind: str, leaf: Any, fetch: Any, enter: Any = boards.enter_nothing) -> Parts:
    """Return the operations of a kind of board, with a leaf for such boards."""
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

    A 4x4 network has kernels of its own, made from its `code` and that of its bands.
    """
    if band_code:
        banded = boards.make_banded_kernels(code, band_code, has_stages=has_stages)
        parts = parts_of(kind, *banded, boards.enter_band)
    elif code:
        parts = parts_of(kind, *boards.make_network_kernels(code, has_stages=has_stages))
    else:
        parts = parts_of(kind, getattr(boards, f"{evaluation}_{kind}"), boards.fetch_nothing)
    if evaluation == "network":
        parts = parts._replace(cached_leaf=boards.make_cached_leaf(parts.leaf, parts.hash_of))
    return make_search(parts)
