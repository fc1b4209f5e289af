"""Expectimax, compiled: built for each kind of board and each kind of leaf.

A search knows two kinds of nodes. At a *choice* a move is made: its value is the best of the
afterstates' values and the points of getting there. At a *chance* node, an afterstate, a tile
appears: its value is the mean over all tiles and cells with their exact probabilities. Depth
counts moves, so a search of depth 1 rates afterstates by the leaf alone, and depth ``d`` averages
``d - 1`` times.

A path has a *cost*: for each move and spawn `COSTS_PER_BIT` times the bits of surprise in the
spawn, and a little for the move. Where it exceeds the limit of the search, the board is rated one
move ahead. So a limit makes the search deep where little can happen, and leaves out what is
unlikely.

The *table* keeps values of chance nodes for one root move of one search, the *cache* values of
leaves for as long as the leaves mean the same; a new value replaces the old one in its place.
Neither changes any result: a name stands for the board, the depth and the cost that is left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import mix64
from py2048.compiled.jit import kernel
from py2048.search._board_kernels import ODD, Int, Word

Weights = NDArray[np.float32]

ZERO, ONE, HALF = np.uint64(0), np.uint64(1), np.uint64(32)
ALL = np.int64(-1)
"""Instead of a direction: every one."""
FIRST = np.int64(0)
"""The level, and the slot, of the board that is searched."""
STUCK = 0.0
"""The worth of a board without a legal move: nothing is to come."""
NOTHING = -np.inf
"""The best of no moves."""


class Parts(NamedTuple):
    """The operations of a kind of board, and the leaf; see ``_board_kernels.py``."""

    slides: Any
    next_empty: Any
    count_empty: Any
    with_tile: Any
    name_of: Any
    ranks_on: Any
    load: Any
    store: Any
    leaf: Any
    fetch: Any


class Afterstates(NamedTuple):
    """The kernels that `afterstates` makes."""

    is_won: Any
    value: Any
    rated: Any


class Spawns(NamedTuple):
    """The kernels that `spawns` makes."""

    count: Any
    first: Any
    following: Any


@kernel(inline=True, borrows=True)
def known_or_stuck(best: float) -> float:
    """Return the value of a board by that of its best move."""
    return best if best > NOTHING else STUCK


def afterstates(parts: Parts) -> Afterstates:
    """Return the kernels that rate an afterstate without looking further."""
    name_of, ranks_on, leaf_of = parts.name_of, parts.ranks_on, parts.leaf

    @kernel(inline=True, borrows=True)
    def is_won(after: Any, points: Int, desk: Any) -> bool:
        """Whether the slide that gained so many points ended the game."""
        if points < desk.target_points:
            return False
        return bool(ranks_on(after, desk) >= desk.target)

    @kernel(inline=True, borrows=True)
    def value(after: Any, desk: Any, weights: Weights) -> float:
        """Return the leaf's value of an afterstate, from the cache if it is there."""
        size = desk.cache_size
        if size == ZERO:
            return np.float64(leaf_of(after, desk, weights))
        name = name_of(after, desk)
        entry = desk.leaves[((name * ODD) >> HALF) & (size - ONE)]
        if entry["name"] == name:
            return np.float64(entry["value"])
        fresh = np.float64(leaf_of(after, desk, weights))
        entry["name"], entry["value"] = name, fresh
        return fresh

    @kernel(inline=True, borrows=True)
    def rated(after: Any, points: Int, desk: Any, weights: Weights) -> float:
        """Return the points of a slide and those to come, as the leaf sees them."""
        gain = desk.per_merged * points + desk.per_move
        if is_won(after, points, desk):
            return np.float64(gain + desk.won)
        return np.float64(gain + value(after, desk, weights))

    return Afterstates(is_won, value, rated)


def spawns(parts: Parts) -> Spawns:
    """Return the kernels that tell on how many cells a tile may appear, and on which."""
    next_empty, count_empty = parts.next_empty, parts.count_empty

    @kernel(inline=True, borrows=True)
    def count(after: Any, desk: Any) -> np.int64:
        """Return the number of cells on which a tile may appear."""
        if desk.edge_length > 0:
            return np.int64(1)
        return np.int64(count_empty(after, desk))

    @kernel(inline=True, borrows=True)
    def first(after: Any, direction: Int, desk: Any) -> np.int64:
        """Return the first of those cells after a move in a direction."""
        for place in range(desk.edge_length):
            cell = desk.edges[direction, place]
            if cell >= 0 and next_empty(after, cell, desk) == cell:
                return np.int64(cell)
        return np.int64(next_empty(after, np.int64(0), desk))

    @kernel(inline=True, borrows=True)
    def following(after: Any, cell: Int, desk: Any) -> np.int64:
        """Return the next of those cells, or -1."""
        if desk.edge_length > 0:
            return np.int64(-1)
        return np.int64(next_empty(after, cell + 1, desk))

    return Spawns(count, first, following)


def last_nodes(parts: Parts, around: Spawns, rated: Any) -> tuple[Any, Any]:
    """Return the kernels of the last choice, and of the last chance, before the leaves."""
    slides, with_tile = parts.slides, parts.with_tile
    count, first, following = around

    @kernel(borrows=True)
    def choice(board: Any, level: Int, desk: Any, weights: Weights) -> float:
        """Return the value of a board one move ahead."""
        best = NOTHING
        for after, points in slides(board, level, desk):
            if points >= 0:
                desk.nodes += 1
                best = max(best, rated(after, points, desk, weights))
        return known_or_stuck(best)

    @kernel(borrows=True, expand=True)
    def last_chance(after: Any, direction: Int, level: Int, desk: Any, weights: Weights) -> float:
        """Return the mean value, one move ahead, of the boards that an afterstate becomes."""
        total = 0.0
        cell = first(after, direction, desk)
        while cell >= 0:
            for number in range(desk.tiles):
                board = with_tile(after, cell, np.uint64(desk.ranks[number]), level, desk)
                total += desk.shares[number] * choice(board, level, desk, weights)
            cell = following(after, cell, desk)
        return np.float64(total / count(after, desk))

    return choice, last_chance


def spawn_steps(around: Spawns) -> tuple[Any, Any]:
    """Return the kernels that go through all pairs of a cell and a tile that may appear there."""
    _, first, following = around

    @kernel(inline=True, borrows=True)
    def first_spawn(after: Any, direction: Int, desk: Any) -> tuple[np.int64, np.int64]:
        """Return the first cell and the number of the first tile."""
        return first(after, direction, desk), np.int64(0)

    @kernel(inline=True, borrows=True)
    def next_spawn(after: Any, cell: Int, number: Int, desk: Any) -> tuple[np.int64, np.int64]:
        """Return the cell and the tile's number that follow; the cell is -1 after the last."""
        if number + 1 < desk.tiles:
            return np.int64(cell), np.int64(number + 1)
        return following(after, cell, desk), np.int64(0)

    return first_spawn, next_spawn


def memory(parts: Parts) -> tuple[Any, Any]:
    """Return the kernels that name and keep the values of chance nodes."""
    name_of = parts.name_of

    @kernel(inline=True, borrows=True)
    def key_of(after: Any, direction: Int, depth: Int, left: Int, desk: Any) -> Word:
        """Return the name under which the value of a chance node is kept."""
        tag = desk.generation << 24 | np.int64(left) << 8 | np.int64(depth) << 2
        if desk.edge_length > 0:
            tag |= np.int64(direction)
        return mix64(name_of(after, desk) ^ mix64(np.uint64(tag)))

    @kernel(inline=True, borrows=True)
    def keep(entry: Any, key: Word, value: float, desk: Any) -> None:
        """Keep a value, if the search has not been given up below it."""
        if desk.nodes <= desk.budget:
            entry["name"], entry["value"] = key, value

    return key_of, keep


def chance_node(parts: Parts, known: Afterstates, around: Spawns) -> Any:
    """Return the kernel that gives a chance node its value."""
    slides, with_tile, is_won, count = parts.slides, parts.with_tile, known.is_won, around.count
    choice, last_chance = last_nodes(parts, around, known.rated)
    first_spawn, next_spawn = spawn_steps(around)
    key_of, keep = memory(parts)
    chance: Any = None  # `mean_value` under the name by which it calls itself

    @kernel(borrows=True)
    def mean_value(
        after: Any, direction: Int, depth: Int, left: Int, level: Int, desk: Any, weights: Weights
    ) -> float:
        """Return the mean value of the boards that an afterstate becomes.

        Args:
            after: the afterstate.
            direction: the move that led to it.
            depth: how many moves to look ahead from there.
            left: how much the rest of a path may cost.
            level: how many moves have been made from the root on.
            desk: what this thread searches with.
            weights: the weights of a network.

        Returns:
            the value; of no meaning once the budget of nodes is exceeded.
        """
        if desk.nodes > desk.budget:
            return STUCK
        key = key_of(after, direction, depth, left, desk)
        entry = desk.chances[key & (desk.table_size - ONE)]
        if entry["name"] == key:
            return np.float64(entry["value"])
        if depth <= 1:
            value = last_chance(after, direction, level, desk, weights)
            keep(entry, key, value, desk)
            return np.float64(value)
        total, cells = 0.0, count(after, desk)
        cell, number = first_spawn(after, direction, desk)
        while cell >= 0:
            board = with_tile(after, cell, np.uint64(desk.ranks[number]), level, desk)
            best, rest = NOTHING, left - desk.costs[number, cells]
            if rest < 0:
                desk.cuts += 1
                best = choice(board, level, desk, weights)
            else:
                moves = slides(board, level, desk)
                for move in range(4):
                    further, points = moves[move]
                    if points >= 0:
                        worth = desk.won
                        if not is_won(further, points, desk):
                            worth = chance(further, move, depth - 1, rest, level + 1, desk, weights)
                        gain = desk.per_merged * points + desk.per_move
                        best = max(best, gain + worth)
            total += desk.shares[number] * known_or_stuck(best)
            cell, number = next_spawn(after, cell, number, desk)
        value = total / cells
        keep(entry, key, value, desk)
        return np.float64(value)

    chance = mean_value
    return chance


def chooser(parts: Parts, known: Afterstates, around: Spawns) -> Any:
    """Return the kernel that rates the moves of a board."""
    slides, fetch, is_won, value = parts.slides, parts.fetch, known.is_won, known.value
    chance = chance_node(parts, known, around)

    @kernel(borrows=True, expand=True)
    def choose(
        board: Any,
        only: Int,
        depth: Int,
        left: Int,
        desk: Any,
        weights: Weights,
        points: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Int:
        """Rate all moves, or only one; return the best direction, or -1."""
        best, most = np.int64(-1), NOTHING
        moves = slides(board, FIRST, desk)
        for direction in range(4):
            points[direction] = moves[direction][1]
        if depth <= 1:  # further ahead, most weights have just been read for a board before
            for after, _ in moves:
                fetch(after, desk, weights)
        for direction in range(4):
            if points[direction] < 0 or only not in (ALL, direction):
                continue
            after, gained = moves[direction]
            worth = desk.won
            if depth <= 1 and not is_won(after, gained, desk):
                desk.nodes += 1
                worth = value(after, desk, weights)
            elif not is_won(after, gained, desk):
                desk.generation += 1
                worth = chance(after, direction, depth - 1, left, FIRST + 1, desk, weights)
            values[direction] = desk.per_merged * points[direction] + desk.per_move + worth
            if values[direction] > most:
                best, most = np.int64(direction), values[direction]
        return best

    return choose
