"""Many games at once: the parts of a turn for a block of `LANES` boards, without tables.

A block is laid out by cells: row ``c`` of the uint8 array `board` holds the ranks of cell ``c`` of
all boards in the block, so one vector instruction does the same to 16, 32 or 64 boards. There are
no branches and no tables, whatever the direction of each board; what differs between boards is
chosen by `select`. Ranks are bytes, so every tile fits.

The loops over ``lane`` are the ones that become vector code. They keep to what LLVM vectorises:
constant length, few contiguous rows, mostly one element type, and no branch. Indices are unsigned
throughout, because one that might be negative would need a test for each element.

Besides its board a block has

* `flags`, uint8 `[FLAG_ROWS * LANES]`, with the rows named below;
* `words`, uint64 `[WORD_ROWS * LANES]`, with the rows named below;
* `halves`, uint32 `[HALF_ROWS * LANES]`, with the rows named below;
* `scratch`, uint8 `[LANES]` times 8 or the length of the longest line.

The slide and the legal moves stand in ``_classic_kernels.py`` for 4x4 boards that merge once, and
in ``_lines_kernels.py`` for all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048._jit import IS_PLAIN, kernel, select
from py2048.engine._bits_kernels import GOLDEN, HALF, LOW_HALF, ONE, START, draw, mix64

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Halves = NDArray[np.uint32]
Int = int | np.int64

LANES = 16 if IS_PLAIN else 512
"""How many boards make a block; few where each of them costs time of its own."""

MAX_CELLS = 254
"""A byte counts the empty cells, and 255 marks a board that gets no tile."""

ZERO = np.uint64(0)
WIDTH = np.uint64(LANES)
"""From one row of a block to the next, and the number of lanes to go over."""

# Rows of `flags`.
DIRECTION, LEGAL, DONE, ILLEGAL, MOVED, INDEX, RANK, OVER = (
    np.uint64(row * LANES) for row in range(8)
)
FLAG_ROWS = 8
STORED_FLAGS = 4
"""The first rows outlive a step: the direction taken; the legal ones (bit ``d`` for direction
``d``, 0 when the game is over); whether the game ended in the step; and whether the direction was
not legal in a game that was not over. ``OVER`` is whether a game was over before the step."""

# Rows of `words`.
STATE, SCORE, BANK = (np.uint64(row * LANES) for row in range(3))
WORD_ROWS = 3
"""The generator's state ``key + (ply + 1) * GOLDEN``, the score, and the points that the next
legal move brings besides its own."""

# Rows of `halves`.
POINTS, CHANCE = np.uint64(0), np.uint64(LANES)
HALF_ROWS = 2
"""The points of the merges of this slide, and the high halves of the last draws."""

EMPTY = np.uint8(0)
B1, B2, B3 = np.uint8(1), np.uint8(2), np.uint8(3)
NO_MERGE = np.uint8(31)
POINT_BITS = np.uint32(0x7FFFFFFF)
U0, U1 = np.uint32(0), np.uint32(1)


# --- which way -----------------------------------------------------------------------------------


@kernel
def choose(flags: Bytes, halves: Halves) -> None:
    """Choose a legal direction for each board, each equally likely, by bits 32-47 of the last draw.

    The spawn takes its tile from the highest bits of that half; these are free.
    """
    for lane in range(WIDTH):
        legal = flags[LEGAL + lane]
        ways = (legal & B1) + (legal >> B1 & B1) + (legal >> B2 & B1) + (legal >> B3)
        bits = halves[CHANCE + lane] & np.uint32(0xFFFF)
        flags[INDEX + lane] = np.uint8((bits * np.uint32(ways)) >> np.uint32(16))
    for lane in range(WIDTH):
        legal, index = flags[LEGAL + lane], flags[INDEX + lane]
        one = legal & B1
        two = np.uint8(one + (legal >> B1 & B1))
        three = np.uint8(two + (legal >> B2 & B1))
        below = np.uint8(one <= index) + np.uint8(two <= index) + np.uint8(three <= index)
        flags[DIRECTION + lane] = np.uint8(below)


@kernel
def judge(flags: Bytes) -> None:
    """Set ``MOVED`` where the direction is legal, and ``ILLEGAL`` where it is not."""
    for lane in range(WIDTH):
        direction, legal = flags[DIRECTION + lane], flags[LEGAL + lane]
        bit = select((direction & B1) != EMPTY, B2, B1)
        bit = select(direction >= B2, np.uint8(bit << B2), bit)
        moved = (legal & bit) != EMPTY
        flags[MOVED + lane] = np.uint8(moved)
        flags[ILLEGAL + lane] = np.uint8((legal != EMPTY) & (not moved))


# --- what appears --------------------------------------------------------------------------------


@kernel
def count_empty(board: Bytes, flags: Bytes) -> None:
    """Set ``INDEX`` to the number of empty cells."""
    for lane in range(WIDTH):
        flags[INDEX + lane] = EMPTY
    for cell in range(ZERO, np.uint64(len(board)), WIDTH):
        for lane in range(WIDTH):
            flags[INDEX + lane] += np.uint8(board[cell + lane] == EMPTY)


@kernel
def draw_spawns(
    words: Words, flags: Bytes, halves: Halves, ranks: Bytes, thresholds: Words
) -> None:
    """Draw the tile and the cell of each spawn, and advance the generator of those that moved.

    Takes the number of empty cells from ``INDEX`` and replaces it by the number of the chosen one;
    sets ``RANK`` and ``CHANCE``.
    """
    for lane in range(WIDTH):
        state = words[STATE + lane]
        word = mix64(state)
        moved = flags[MOVED + lane] != EMPTY
        words[STATE + lane] = select(moved, state + GOLDEN, state)
        count = np.uint64(flags[INDEX + lane])
        flags[INDEX + lane] = np.uint8(((word & LOW_HALF) * count) >> HALF)
        halves[CHANCE + lane] = np.uint32(word >> HALF)
    rank = ranks[0]
    for lane in range(WIDTH):
        flags[RANK + lane] = rank
    for index in range(1, len(ranks)):
        rank, least = ranks[index], np.uint32(thresholds[index])
        for lane in range(WIDTH):
            reached = halves[CHANCE + lane] >= least
            flags[RANK + lane] = select(reached, rank, flags[RANK + lane])


@kernel
def place(board: Bytes, flags: Bytes) -> None:
    """Put the tile of ``RANK`` on empty cell number ``INDEX`` of each board that moved."""
    for lane in range(WIDTH):
        moved = flags[MOVED + lane] != EMPTY
        flags[INDEX + lane] = select(moved, flags[INDEX + lane], np.uint8(255))
    for cell in range(ZERO, np.uint64(len(board)), WIDTH):
        for lane in range(WIDTH):
            tile, index = board[cell + lane], flags[INDEX + lane]
            empty = tile == EMPTY
            board[cell + lane] = select(empty & (index == EMPTY), flags[RANK + lane], tile)
            flags[INDEX + lane] = select(empty, np.uint8(index - B1), index)


@kernel
def place_on_edge(board: Bytes, flags: Bytes, edges: NDArray[np.int64]) -> None:
    """Put the tile of ``RANK`` on the first empty cell of the edge that was left behind.

    Args:
        board: the boards.
        flags: the flags.
        edges: int64 `[4, longest side]`: for each direction the cells, best first, then -1.
    """
    for lane in range(WIDTH):
        flags[INDEX + lane] = flags[MOVED + lane]
    for direction in range(4):
        way = np.uint8(direction)
        for number in edges[direction]:
            if number < 0:
                break
            cell = np.uint64(number) * WIDTH
            for lane in range(WIDTH):
                tile, waiting = board[cell + lane], flags[INDEX + lane]
                free = (tile == EMPTY) & (flags[DIRECTION + lane] == way)
                here = free & (waiting != EMPTY)
                board[cell + lane] = select(here, flags[RANK + lane], tile)
                flags[INDEX + lane] = select(here, EMPTY, waiting)


# --- what it is worth ----------------------------------------------------------------------------

MERGES, MOVES, BOARD_SUM = range(3)


@kernel
def reward(
    words: Words,
    flags: Bytes,
    halves: Halves,
    rewards: NDArray[np.int32],
    scoring: Int,
    legal_points: Int,
    illegal_points: Int,
) -> None:
    """Set `rewards`, int32 `[LANES]`, to the points of this turn, and add them to the scores."""
    none = np.int32(0)
    if scoring == MERGES:
        for lane in range(WIDTH):
            points = np.int32(halves[POINTS + lane])
            rewards[lane] = select(flags[MOVED + lane] != EMPTY, points, none)
    elif scoring == MOVES:
        won, lost = np.int32(legal_points), np.int32(illegal_points)
        for lane in range(WIDTH):
            unmoved = select(flags[ILLEGAL + lane] != EMPTY, lost, none)
            rewards[lane] = select(flags[MOVED + lane] != EMPTY, won, unmoved)
    else:
        # A slide keeps the sum and the spawn adds its tile; the first turn brings the start too.
        for lane in range(WIDTH):
            bank, moved = words[BANK + lane], flags[MOVED + lane] != EMPTY
            tile = np.int32(U1 << np.uint32(flags[RANK + lane]))
            rewards[lane] = select(moved, np.int32(np.int32(bank) + tile), none)
            words[BANK + lane] = select(moved, ZERO, bank)
    for lane in range(WIDTH):
        words[SCORE + lane] += np.uint64(np.int64(rewards[lane]))


@kernel
def forbid_won(board: Bytes, flags: Bytes, rank: np.uint8) -> None:
    """Leave no legal direction to boards with a tile of at least `rank`."""
    for cell in range(ZERO, np.uint64(len(board)), WIDTH):
        for lane in range(WIDTH):
            won = board[cell + lane] >= rank
            flags[LEGAL + lane] = select(won, EMPTY, flags[LEGAL + lane])


# --- one board of the block ----------------------------------------------------------------------


@kernel
def start_board(
    board: Bytes,
    lane: np.uint64,
    key: np.uint64,
    low: Int,
    high: Int,
    ranks: Bytes,
    thresholds: Words,
) -> None:
    """Set up the start position of the game with this key, as `py2048.game` draws it."""
    end = np.uint64(len(board))
    for place in range(lane, end, WIDTH):
        board[place] = EMPTY
    count = low
    if high > low:
        spread = np.uint64(high - low + 1)
        count += np.int64(((draw(key, START) >> HALF) * spread) >> HALF)
    free = end // WIDTH
    for number in range(count):
        word = draw(key, START + ONE + np.uint64(number))
        tile = 0
        while tile + 1 < len(ranks) and word >> HALF >= thresholds[tile + 1]:
            tile += 1
        index, cell = ((word & LOW_HALF) * free) >> HALF, np.uint64(lane)
        while board[cell] != EMPTY or index != ZERO:
            index -= np.uint64(board[cell] == EMPTY)
            cell += WIDTH
        board[cell] = ranks[tile]
        free -= ONE


@kernel
def legal_of(board: Bytes, lane: np.uint64, rows: Int, columns: Int) -> np.uint8:
    """Return the legal directions of one board of the block, as in ``LEGAL``."""
    bits, cell, below = EMPTY, lane, np.uint64(columns) * WIDTH
    for row in range(rows):
        for column in range(columns):
            if column + 1 < columns:
                bits |= np.uint8(pair_bits(board[cell], board[cell + WIDTH]) << B2)
            if row + 1 < rows:
                bits |= pair_bits(board[cell], board[cell + below])
            cell += WIDTH
    return bits


@kernel(inline=True)
def pair_bits(a: np.uint8, b: np.uint8) -> np.uint8:
    """Return whether neighbours can move towards the first (1) and towards the second (2)."""
    no_a, no_b = a == EMPTY, b == EMPTY
    merge = (a == b) & (not no_a)
    first, last = merge | (no_a & (not no_b)), merge | (no_b & (not no_a))
    return np.uint8(select(first, B1, EMPTY) | select(last, B2, EMPTY))


@kernel
def sum_of(board: Bytes, lane: np.uint64) -> np.uint64:
    """Return the sum of the tiles of one board of the block."""
    total = ZERO
    for cell in range(lane, np.uint64(len(board)), WIDTH):
        if board[cell] != EMPTY:
            total += ONE << np.uint64(board[cell])
    return total
