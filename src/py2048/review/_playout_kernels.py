"""Compiled playouts, with a specialised kernel for each board layout and evaluation.

The reference implementation in `py2048.review.playouts` also documents the simulated player, the
random numbers and the statistics.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.engine._board_kernels import Cells, Int, Word
from py2048.engine.jit import kernel
from py2048.players.ntuple._network_kernels import Weights
from py2048.players.ntuple.layout import Code
from py2048.players.search import _board_kernels as boards
from py2048.players.search._expectimax_kernels import (
    NO_MOVE,
    ROOT_LEVEL,
    Board,
    Kernel,
    Moves,
    Parts,
    make_leaf_kernels,
    make_spawn_kernels,
    parts_of,
)
from py2048.players.search.context import ARENA_SLOTS, SearchContext, SearchContexts

PLY, FIRST, COUNT, DIRECTIONS, GOAL, NEXT, CORNER, SMALL, LARGE, PAIR = range(10)
"""Indices into a job, which is an array that describes a batch of playouts from one position.

`PLY` is the number of the move. `FIRST` is the number of the first playout, and `COUNT` the number
of playouts. `DIRECTIONS` is a bit set of the directions to try. `GOAL` and `NEXT` are the next two
goals as tiles. `CORNER` to `PAIR` are the ranks of the tiles to watch, or 0 for none.
"""
JOB = 10

(GAMES, MOVES, MERGED, LARGEST, MADE, NEXT_MADE, SURVIVED, OUT, TRAPPED, MEETING, ROOM) = range(11)
"""Columns of the totals over all playouts of a job. Three more columns contain the sums of the
squares of `TRAPPED`, `MEETING` and `ROOM`.

`MERGED` is the sum of the points of all merges. `LARGEST` is the largest rank on the final board.
"""
SQUARES, SUMS = 3, 14

SURVIVAL_MOVES, CORNER_MOVES, ROOM_MOVES = 20, 10, 5
"""Number of moves after which playouts record survival, corner tiles and empty cells."""
WATCHED_BOARDS = 20
"""Playouts look for trapped tiles and merged pairs on this many boards."""
WARM_UP_WORDS = 12

SCRATCH = np.int64(ARENA_SLOTS - 1)
LOW, HALF_RANGE = np.uint64(0xFFFFFFFF), float(1 << 31)
ONE, HALF = np.uint64(1), np.uint64(32)
THREE, NINE, TURN, REST = (np.uint64(bits) for bits in (3, 9, 21, 11))

State = tuple[Word, Word, Word, Word]
Longs = NDArray[np.int64]


@kernel(inline=True, borrows=True)
def next_word(state: State) -> tuple[Word, State]:
    """Return the next 32-bit word of the sfc32 generator, and its new state."""
    a, b, c, counter = state
    word = (a + b + counter) & LOW
    turned = ((c << TURN) | (c >> REST)) & LOW
    return word, (b ^ (b >> NINE), (c + (c << THREE)) & LOW, (turned + word) & LOW, counter + ONE)


@kernel(borrows=True)
def seeded(seed: Word, ply: Int, game: Int) -> State:
    """Return the generator state at the start of a game."""
    state = (seed & LOW, np.uint64(ply) & LOW, np.uint64(game) & LOW, ONE)
    for _ in range(WARM_UP_WORDS):
        _word, state = next_word(state)
    return state


@kernel(borrows=True)
def is_out(cells: Cells, rows: Int, columns: Int, rank: Int) -> bool:
    """Return whether all corner tiles have ranks below `rank`."""
    end = rows * columns
    best = max(cells[0], cells[columns - 1], cells[end - columns], cells[end - 1])
    return bool(best < rank)


@kernel(borrows=True)
def is_trapped(cells: Cells, rows: Int, columns: Int, small: Int, large: Int) -> bool:
    """Return whether a large tile traps a small tile at the edge of the board."""
    last, under = (rows - 1) * columns, max(rows - 2, 0) * columns
    for column in range(columns):
        if rows > 1 and (
            (0 < cells[column] <= small and cells[columns + column] >= large)
            or (0 < cells[last + column] <= small and cells[under + column] >= large)
        ):
            return True
    for row in range(rows):
        first, end = row * columns, (row + 1) * columns - 1
        if columns > 1 and (
            (0 < cells[first] <= small and cells[first + 1] >= large)
            or (0 < cells[end] <= small and cells[end - 1] >= large)
        ):
            return True
    return False


@kernel(borrows=True)
def sum_above(cells: Cells, rank: Int) -> np.int64:
    """Return the sum of all tiles whose rank is above `rank`."""
    total = np.int64(0)
    for cell in range(len(cells)):
        if cells[cell] > rank:
            total += np.int64(1) << np.int64(cells[cell])
    return total


@kernel(borrows=True)
def observe(
    cells: Cells, rows: Int, columns: Int, count: Int, above: Int, job: Longs, game: Longs
) -> None:
    """Update a playout's statistics with the board after `count` moves.

    Args:
        cells: The board as ranks.
        rows: Number of rows.
        columns: Number of columns.
        count: Number of moves since the judged move.
        above: Sum of all tiles larger than the watched pair, before the judged move. The pair has
            merged when the sum of these tiles is larger.
        job: The job, int64 `[JOB]`.
        game: Statistics of the playout, int64 `[SUMS]`.
    """
    if count <= CORNER_MOVES:
        game[OUT] = np.int64(is_out(cells, rows, columns, job[CORNER]))
    if count <= ROOM_MOVES:
        game[ROOM] = np.int64(0)
        for cell in range(len(cells)):
            game[ROOM] += np.int64(cells[cell] == 0)
    if game[TRAPPED] == count:
        game[TRAPPED] += np.int64(is_trapped(cells, rows, columns, job[SMALL], job[LARGE]))
    if game[MEETING] == WATCHED_BOARDS and sum_above(cells, job[PAIR]) > above:
        game[MEETING] = np.int64(count + 1)


def make_choose_kernel(parts: Parts) -> Kernel:
    """Build the kernel that returns the simulated player's move, or -1 if none is legal."""
    fetch, (_, move_value) = parts.fetch, make_leaf_kernels(parts)

    @kernel(borrows=True)
    def choose(
        moves: Moves, state: State, misjudgement: float, context: SearchContext, weights: Weights
    ) -> tuple[np.int64, State]:
        for direction in range(4):
            if moves[direction][1] >= 0:
                fetch(moves[direction][0], context, weights)
        best, most = np.int64(-1), NO_MOVE
        for direction in range(4):
            after, points = moves[direction]
            if points >= 0:
                word, state = next_word(state)
                factor = 1.0 + misjudgement * (np.float64(word) / HALF_RANGE - 1.0)
                value = factor * move_value(after, points, context, weights)
                if value > most:
                    best, most = np.int64(direction), value
        return best, state

    return choose


def make_spawn_kernel(parts: Parts) -> Kernel:
    """Build the kernel that spawns the tile determined by two random words."""
    with_tile, with_spawn = parts.with_tile, parts.with_spawn
    _, first, _ = make_spawn_kernels(parts)

    @kernel(borrows=True)
    def spawn(after: Board, move: Int, cell: Word, tile: Word, context: SearchContext) -> Board:
        if context.edge_length > 0:
            landing, rank = first(after, move, context), np.uint64(context.ranks[0])
            return with_tile(after, landing, rank, ROOT_LEVEL, context)
        return with_spawn(after, tile << HALF | cell, context)

    return spawn


def make_game_kernel(parts: Parts) -> Kernel:
    """Build the kernel that plays a game to its end."""
    load, store, slides, ranks_on = parts.load, parts.store, parts.slides, parts.ranks_on
    choose, spawn = make_choose_kernel(parts), make_spawn_kernel(parts)
    is_won, _ = make_leaf_kernels(parts)

    @kernel(inline=True, borrows=True)
    def makes(after: Board, points: Int, tile: Int, context: SearchContext) -> bool:
        """Return whether a slide that gained `points` created this tile or a larger one."""
        if points < tile:
            return False
        return bool(ranks_on(after, context) >= np.uint64(tile))

    @kernel(borrows=True)
    def play_game(
        cells: Cells,
        job: Longs,
        move: Int,
        state: State,
        misjudgement: float,
        context: SearchContext,
        weights: Weights,
        game: Longs,
    ) -> None:
        """Play a game to its end, starting with `move`, and store its statistics in `game`."""
        scratch, above = context.arena[SCRATCH, : context.cells], sum_above(cells, job[PAIR])
        moves = slides(load(cells, ROOT_LEVEL, context), ROOT_LEVEL, context)
        count, is_stopped = np.int64(0), False
        while move >= 0:
            after, points = moves[move]
            game[MERGED] += points
            game[MADE] |= np.int64(makes(after, points, job[GOAL], context))
            game[NEXT_MADE] = np.int64(makes(after, points, job[NEXT], context))
            is_stopped = bool(game[NEXT_MADE]) or (
                context.is_endless == 0 and is_won(after, points, context)
            )
            board = after
            if not is_stopped:
                cell, state = next_word(state)
                tile, state = next_word(state)
                board = spawn(after, move, cell, tile, context)
            if count < WATCHED_BOARDS:
                store(board, scratch, context)
                observe(scratch, context.rows, context.columns, count, above, job, game)
            if is_stopped:
                break
            moves = slides(board, ROOT_LEVEL, context)
            move, state = choose(moves, state, misjudgement, context, weights)
            count += np.int64(move >= 0)
        store(board, scratch, context)
        for rank in scratch:
            game[LARGEST] = max(game[LARGEST], np.int64(rank))
        game[MOVES] = count
        game[SURVIVED] = np.int64(is_stopped or count >= SURVIVAL_MOVES)

    return play_game


def make_playouts(parts: Parts) -> Kernel:
    """Build the kernel that runs a batch of playouts."""
    play_game = make_game_kernel(parts)

    @kernel(borrows=True)
    def play(
        cells: Cells,
        job: Longs,
        seed: Word,
        misjudgement: float,
        contexts: SearchContexts,
        weights: Weights,
        game: Longs,
        sums: Longs,
    ) -> None:
        """Run a batch of playouts.

        Args:
            cells: Board before the moves as ranks, uint8 `[cells]`.
            job: The batch to play, int64 `[JOB]`. All of its directions must be legal.
            seed: Seed of the games.
            misjudgement: Maximum relative error of the player's move values.
            contexts: Search context of the calling thread, in an array of length 1.
            weights: Network weights.
            game: Scratch space, int64 `[SUMS]`.
            sums: Totals to update, int64 `[4, 2, SUMS]`. The first axis is the direction. The
                second axis is 0 for playouts with even numbers and 1 for those with odd numbers.
        """
        for direction in range(4):
            if job[DIRECTIONS] >> direction & 1:
                for number in range(job[FIRST], job[FIRST] + job[COUNT]):
                    game[:] = 0
                    game[GAMES], game[MEETING] = 1, WATCHED_BOARDS
                    state, move = seeded(seed, job[PLY], number), np.int64(direction)
                    play_game(cells, job, move, state, misjudgement, contexts[0], weights, game)
                    for square in range(TRAPPED, ROOM + 1):
                        game[square + SQUARES] = game[square] * game[square]
                    for column in range(SUMS):
                        sums[direction, number & 1, column] += game[column]

    return play


@cache
def playout_kernel(kind: str, evaluation: str, code: Code = (), *, has_stages: bool = False) -> Any:
    """Return the kernel for a kind of board and an evaluation, ``heuristic`` or ``network``."""
    if code:
        leaf, fetch = boards.make_network_kernels(code, has_stages=has_stages)
    else:
        leaf, fetch = getattr(boards, f"{evaluation}_{kind}"), boards.prefetch_nothing
    return make_playouts(parts_of(kind, leaf, fetch))
