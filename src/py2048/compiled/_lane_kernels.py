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

from py2048.compiled._bits_kernels import (
    GOLDEN,
    HALF,
    LOW_HALF,
    ONE,
    START,
    draw,
    mix64,
    trailing_zeros,
)
from py2048.compiled.jit import IS_PLAIN, kernel, select

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
WIDTH2, WIDTH3, WIDTH4 = np.uint64(2 * LANES), np.uint64(3 * LANES), np.uint64(4 * LANES)

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
POINTS, CHANCE, LOW, FOUND = (np.uint64(row * LANES) for row in range(4))
HALF_ROWS = 4
"""The points of the merges of this slide, the high halves of the last draws and the low ones, and
the lanes of the games that are over."""

TOPS, BELOW_TOPS = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)

EMPTY = np.uint8(0)
B1, B2, B3 = np.uint8(1), np.uint8(2), np.uint8(3)
NO_MERGE = np.uint8(31)
POINT_BITS = np.uint32(0x7FFFFFFF)
U1, U16 = np.uint32(1), np.uint32(0xFFFF)


# --- which way -----------------------------------------------------------------------------------


@kernel(borrows=True)
def choose(flags: Bytes, halves: Halves) -> None:
    """Choose a legal direction for each board, each equally likely, by bits 32-47 of the last draw.

    The spawn takes its tile from the highest bits of that half; these are free.
    """
    for lane in range(WIDTH):
        legal = flags[LEGAL + lane]
        ways = (legal & B1) + (legal >> B1 & B1) + (legal >> B2 & B1) + (legal >> B3)
        flags[INDEX + lane] = np.uint8(ways)
    for lane in range(WIDTH):
        bits, ways = halves[CHANCE + lane] & U16, np.uint32(flags[INDEX + lane])
        flags[INDEX + lane] = np.uint8((bits * ways) >> np.uint32(16))
    for lane in range(WIDTH):
        legal, index = flags[LEGAL + lane], flags[INDEX + lane]
        one = legal & B1
        two = np.uint8(one + (legal >> B1 & B1))
        three = np.uint8(two + (legal >> B2 & B1))
        below = np.uint8(one <= index) + np.uint8(two <= index) + np.uint8(three <= index)
        flags[DIRECTION + lane] = np.uint8(below)


@kernel(borrows=True)
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


@kernel(inline=True)
def whole_rows(end: np.uint64) -> np.uint64:
    """Return how much of a board can be gone through four cells at a time."""
    return np.uint64(end // WIDTH4 * WIDTH4)


@kernel(borrows=True)
def count_empty(board: Bytes, flags: Bytes) -> None:
    """Set ``INDEX`` to the number of empty cells."""
    end = np.uint64(len(board))
    for lane in range(WIDTH):
        flags[INDEX + lane] = EMPTY
    for cell in range(ZERO, whole_rows(end), WIDTH4):
        for lane in range(WIDTH):
            a, b = board[cell + lane] == EMPTY, board[cell + WIDTH + lane] == EMPTY
            c, d = board[cell + WIDTH2 + lane] == EMPTY, board[cell + WIDTH3 + lane] == EMPTY
            flags[INDEX + lane] += np.uint8(np.uint8(a) + np.uint8(b) + np.uint8(c) + np.uint8(d))
    for cell in range(whole_rows(end), end, WIDTH):
        for lane in range(WIDTH):
            flags[INDEX + lane] += np.uint8(board[cell + lane] == EMPTY)


@kernel(borrows=True)
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
        words[STATE + lane] = state + (GOLDEN & (ZERO - np.uint64(flags[MOVED + lane])))
        halves[CHANCE + lane] = np.uint32(word >> HALF)
        halves[LOW + lane] = np.uint32(word & LOW_HALF)
    for lane in range(WIDTH):
        count = np.uint64(flags[INDEX + lane])
        flags[INDEX + lane] = np.uint8((np.uint64(halves[LOW + lane]) * count) >> HALF)
    rank = ranks[0]
    for lane in range(WIDTH):
        flags[RANK + lane] = rank
    for index in range(1, len(ranks)):
        rank, least = ranks[index], np.uint32(thresholds[index])
        for lane in range(WIDTH):
            reached = halves[CHANCE + lane] >= least
            flags[RANK + lane] = select(reached, rank, flags[RANK + lane])


@kernel(borrows=True)
def place(board: Bytes, flags: Bytes) -> None:
    """Put the tile of ``RANK`` on empty cell number ``INDEX`` of each board that moved."""
    for lane in range(WIDTH):
        moved = flags[MOVED + lane] != EMPTY
        flags[INDEX + lane] = select(moved, flags[INDEX + lane], np.uint8(255))
    end = np.uint64(len(board))
    for cell in range(ZERO, whole_rows(end), WIDTH4):
        for lane in range(WIDTH):
            rank, index = flags[RANK + lane], flags[INDEX + lane]
            a, index = put(board[cell + lane], rank, index)
            b, index = put(board[cell + WIDTH + lane], rank, index)
            c, index = put(board[cell + WIDTH2 + lane], rank, index)
            d, index = put(board[cell + WIDTH3 + lane], rank, index)
            board[cell + lane], board[cell + WIDTH + lane] = a, b
            board[cell + WIDTH2 + lane], board[cell + WIDTH3 + lane] = c, d
            flags[INDEX + lane] = index
    for cell in range(whole_rows(end), end, WIDTH):
        for lane in range(WIDTH):
            tile, index = put(board[cell + lane], flags[RANK + lane], flags[INDEX + lane])
            board[cell + lane], flags[INDEX + lane] = tile, index


@kernel(inline=True)
def put(tile: np.uint8, rank: np.uint8, index: np.uint8) -> tuple[np.uint8, np.uint8]:
    """Return what stands on a cell after its turn, and which empty cell is still to come."""
    empty = tile == EMPTY
    here = empty & (index == EMPTY)
    return select(here, rank, tile), select(empty, np.uint8(index - B1), index)


@kernel(borrows=True)
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


@kernel(borrows=True)
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


@kernel(borrows=True)
def find_over(legal: Words, halves: Halves) -> Int:
    """Write the lanes of the games that are over to ``FOUND``; return their number.

    Args:
        legal: the row ``LEGAL`` as words of eight lanes.
        halves: the rows of halves.
    """
    count = ZERO
    for index in range(np.uint64(LANES // 8)):
        # A byte below 128 plus 127 reaches the top bit unless it is 0, and carries nowhere.
        over = ~(legal[index] + BELOW_TOPS) & TOPS
        while over != ZERO:
            lane = np.uint64(8 * index) + (trailing_zeros(over) >> np.uint64(3))
            halves[FOUND + count] = np.uint32(lane)
            count += ONE
            over &= over - ONE
    return np.int64(count)


@kernel(borrows=True)
def forbid_won(board: Bytes, flags: Bytes, rank: np.uint8) -> None:
    """Leave no legal direction to boards with a tile of at least `rank`."""
    for cell in range(ZERO, np.uint64(len(board)), WIDTH):
        for lane in range(WIDTH):
            won = board[cell + lane] >= rank
            flags[LEGAL + lane] = select(won, EMPTY, flags[LEGAL + lane])


# --- one board of the block ----------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def start_board(
    board: Bytes,
    lane: np.uint64,
    key: np.uint64,
    low: Int,
    high: Int,
    ranks: Bytes,
    thresholds: Words,
    placed: Bytes,
) -> Int:
    """Set up the start position of the game with this key, as `py2048.game` draws it.

    Returns the number of tiles; their cells are in `placed`, ascending.
    """
    end = np.uint64(len(board))
    for place in range(lane, end, WIDTH):
        board[place] = EMPTY
    count, free = low, end // WIDTH
    if high > low:
        spread = np.uint64(high - low + 1)
        count += np.int64(((draw(key, START) >> HALF) * spread) >> HALF)
    for number in range(count):
        word = draw(key, START + ONE + np.uint64(number))
        tile = 0
        while tile + 1 < len(ranks) and word >> HALF >= thresholds[tile + 1]:
            tile += 1
        # The number of the chosen cell among the free ones; then pass over those before it.
        cell, before = ((word & LOW_HALF) * (free - np.uint64(number))) >> HALF, 0
        while before < number and placed[before] <= cell:
            cell += ONE
            before += 1
        for later in range(number, before, -1):
            placed[later] = placed[later - 1]
        placed[before] = np.uint8(cell)
        board[cell * WIDTH + lane] = ranks[tile]
    return count


@kernel(inline=True, borrows=True)
def legal_from(board: Bytes, lane: np.uint64, cell: Int, neighbours: NDArray[np.int64]) -> np.uint8:
    """Return the directions in which the tile on a cell of one board can move, as in ``LEGAL``."""
    bits, tile = EMPTY, board[np.uint64(cell) * WIDTH + lane]
    for direction in range(4):
        neighbour = neighbours[cell, direction]
        if neighbour >= 0:
            other = board[np.uint64(neighbour) * WIDTH + lane]
            if (other == EMPTY) | (other == tile):
                bits |= np.uint8(1 << direction)
    return bits if tile != EMPTY else EMPTY


@kernel(inline=True)
def pair_bits(a: np.uint8, b: np.uint8) -> np.uint8:
    """Return whether neighbours can move towards the first (1) and towards the second (2)."""
    no_a, no_b = a == EMPTY, b == EMPTY
    merge = (a == b) & (not no_a)
    first, last = merge | (no_a & (not no_b)), merge | (no_b & (not no_a))
    return np.uint8(select(first, B1, EMPTY) | select(last, B2, EMPTY))


@kernel(inline=True, borrows=True)
def sum_of(board: Bytes, lane: np.uint64) -> np.uint64:
    """Return the sum of the tiles of one board of the block."""
    total = ZERO
    for cell in range(lane, np.uint64(len(board)), WIDTH):
        if board[cell] != EMPTY:
            total += ONE << np.uint64(board[cell])
    return total
