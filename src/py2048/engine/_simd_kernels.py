"""Vectorised kernels for one turn on a block of `LANES` boards.

A block is stored by cell: row ``c`` of the uint8 array `board` holds the ranks of cell ``c`` of
every board in the block, so that one vector instruction processes 16, 32 or 64 boards. The inner
loops contain no branches and no table lookups. Boards can move in different directions, so `select`
chooses each board's value without branching. Ranks are stored as bytes, so there is no limit on
tiles in practice.

LLVM can vectorise the loops over ``lane``, because they have a constant length and access only a
few contiguous rows, mostly of the same element type. All indices are unsigned, because Numba adds a
sign check to every access with a signed index.

The other arrays are one-dimensional, and constants such as ``LEGAL`` are the offsets of rows:

* `flags`, uint8 `[FLAG_ROWS * LANES]`;
* `words`, uint64 `[WORD_ROWS * LANES]`;
* `halves`, uint32 `[HALF_ROWS * LANES]`;
* `scratch`, uint8 `[LANES]` times 8 or the number of cells, whichever is larger.

Specialised kernels slide 4x4 boards with the merge rule `Merging.ONCE`, keeping each line in CPU
registers. General kernels slide all other boards, using `scratch` for each line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.core.rules import Rules
from py2048.engine._bits_kernels import (
    GOLDEN,
    HALF,
    LOW_HALF,
    ONE,
    START,
    draw,
    mix64,
    trailing_zeros,
)
from py2048.engine.jit import IS_PLAIN, kernel
from py2048.engine.jit.numba_parts import select
from py2048.engine.rules import (
    CASCADE,
    COLUMNS,
    FIXED,
    ILLEGAL_POINTS,
    LEGAL_POINTS,
    MERGE_POINTS,
    ROWS,
    START_HIGH,
    START_LOW,
    SUM_POINTS,
    TARGET,
    RuleArrays,
)

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Halves = NDArray[np.uint32]
Longs = NDArray[np.int64]
Word = np.uint64
Int = int | np.int64

LANES = 16 if IS_PLAIN else 512
"""Boards per block. Large blocks do not speed up plain Python."""

MAX_CELLS = 254
"""Maximum number of cells. Empty cells are counted in a byte, and 255 means that no tile spawns."""

ZERO = np.uint64(0)
WIDTH = np.uint64(LANES)
"""`LANES` as an unsigned integer, for index arithmetic."""
WIDTH2, WIDTH3, WIDTH4 = np.uint64(2 * LANES), np.uint64(3 * LANES), np.uint64(4 * LANES)

# Rows of `flags`. The first STORED_FLAGS rows persist between steps:
#
# DIRECTION: the direction taken
# LEGAL: bit d is set if direction d is legal; 0 when the game is over
# DONE: whether the game ended in this step
# ILLEGAL: whether the direction was illegal in a game that was not over
# WAS_OVER: whether the game was over before this step
DIRECTION, LEGAL, DONE, ILLEGAL, MOVED, INDEX, RANK, WAS_OVER = (
    np.uint64(row * LANES) for row in range(8)
)
FLAG_ROWS = 8
STORED_FLAGS = 4

# Rows of `words`. STATE is the generator's state, `key + (ply + 1) * GOLDEN`. The next legal move
# also earns the points in BONUS.
STATE, SCORE, BONUS = (np.uint64(row * LANES) for row in range(3))
WORD_ROWS = 3

# Rows of `halves`:
#
# POINTS: the sum of the tiles that this slide merged
# CHANCE: the high 32 bits of the last random number
# LOW: the low 32 bits of the last random number
# FOUND: the lanes whose games are over, as listed by `find_over`
POINTS, CHANCE, LOW, FOUND = (np.uint64(row * LANES) for row in range(4))
HALF_ROWS = 4

TOPS, BELOW_TOPS = np.uint64(0x8080808080808080), np.uint64(0x7F7F7F7F7F7F7F7F)

EMPTY = np.uint8(0)
B1, B2, B3 = np.uint8(1), np.uint8(2), np.uint8(3)
NO_MERGE = np.uint8(31)
POINT_BITS = np.uint32(0x7FFFFFFF)
U1, U16 = np.uint32(1), np.uint32(0xFFFF)


# --- choosing directions --------------------------------------------------------------------------


@kernel(borrows=True)
def choose(flags: Bytes, halves: Halves) -> None:
    """Choose a random legal direction for each board, from bits 32-47 of its last random number.

    Bits 32-47 of a random number have almost no effect on the tile that spawns.
    """
    for lane in range(WIDTH):
        legal = flags[LEGAL + lane]
        count = (legal & B1) + (legal >> B1 & B1) + (legal >> B2 & B1) + (legal >> B3)
        flags[INDEX + lane] = np.uint8(count)
    for lane in range(WIDTH):
        bits, count = halves[CHANCE + lane] & U16, np.uint32(flags[INDEX + lane])
        flags[INDEX + lane] = np.uint8((bits * count) >> np.uint32(16))
    for lane in range(WIDTH):
        legal, index = flags[LEGAL + lane], flags[INDEX + lane]
        one = legal & B1
        two = np.uint8(one + (legal >> B1 & B1))
        three = np.uint8(two + (legal >> B2 & B1))
        below = np.uint8(one <= index) + np.uint8(two <= index) + np.uint8(three <= index)
        flags[DIRECTION + lane] = np.uint8(below)


@kernel(borrows=True)
def check_directions(flags: Bytes) -> None:
    """Set ``MOVED`` where the direction is legal, and ``ILLEGAL`` where it is not."""
    for lane in range(WIDTH):
        direction, legal = flags[DIRECTION + lane], flags[LEGAL + lane]
        bit = select((direction & B1) != EMPTY, B2, B1)
        bit = select(direction >= B2, np.uint8(bit << B2), bit)
        moved = (legal & bit) != EMPTY
        flags[MOVED + lane] = np.uint8(moved)
        flags[ILLEGAL + lane] = np.uint8((legal != EMPTY) & (not moved))


# --- spawns --------------------------------------------------------------------------------------


@kernel(inline=True)
def whole_rows(end: np.uint64) -> np.uint64:
    """Round a number of cells down to a multiple of four."""
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
    """Draw the tile and the cell of each spawn, and advance the generator of each board that moved.

    Replaces the number of empty cells in the row ``INDEX`` with the index of the chosen empty cell.
    Sets ``RANK``, ``CHANCE`` and ``LOW``.
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
        rank, threshold = ranks[index], np.uint32(thresholds[index])
        for lane in range(WIDTH):
            reached = halves[CHANCE + lane] >= threshold
            flags[RANK + lane] = select(reached, rank, flags[RANK + lane])


@kernel(borrows=True)
def place(board: Bytes, flags: Bytes) -> None:
    """Place the tile ``RANK`` on empty cell number ``INDEX`` of each board that moved."""
    for lane in range(WIDTH):
        moved = flags[MOVED + lane] != EMPTY
        flags[INDEX + lane] = select(moved, flags[INDEX + lane], np.uint8(255))
    end = np.uint64(len(board))
    for cell in range(ZERO, whole_rows(end), WIDTH4):
        for lane in range(WIDTH):
            rank, index = flags[RANK + lane], flags[INDEX + lane]
            a, index = place_on_cell(board[cell + lane], rank, index)
            b, index = place_on_cell(board[cell + WIDTH + lane], rank, index)
            c, index = place_on_cell(board[cell + WIDTH2 + lane], rank, index)
            d, index = place_on_cell(board[cell + WIDTH3 + lane], rank, index)
            board[cell + lane], board[cell + WIDTH + lane] = a, b
            board[cell + WIDTH2 + lane], board[cell + WIDTH3 + lane] = c, d
            flags[INDEX + lane] = index
    for cell in range(whole_rows(end), end, WIDTH):
        for lane in range(WIDTH):
            tile, index = place_on_cell(board[cell + lane], flags[RANK + lane], flags[INDEX + lane])
            board[cell + lane], flags[INDEX + lane] = tile, index


@kernel(inline=True)
def place_on_cell(tile: np.uint8, rank: np.uint8, index: np.uint8) -> tuple[np.uint8, np.uint8]:
    """Place a tile of rank `rank` on the cell if it is empty and `index` is 0.

    Returns: The new value of the cell, and `index` decremented if the cell was empty.
    """
    empty = tile == EMPTY
    here = empty & (index == EMPTY)
    return select(here, rank, tile), select(empty, np.uint8(index - B1), index)


@kernel(borrows=True)
def place_fixed(board: Bytes, flags: Bytes, landing: Longs) -> None:
    """Place each board's new tile on the first empty cell listed for its direction.

    Args:
        board: The boards.
        flags: The flags.
        landing: int64 `[4, k]`: for each direction, the cells to try in order, padded with -1.
    """
    for lane in range(WIDTH):
        flags[INDEX + lane] = flags[MOVED + lane]
    for direction in range(4):
        way = np.uint8(direction)
        for number in landing[direction]:
            if number < 0:
                break
            cell = np.uint64(number) * WIDTH
            for lane in range(WIDTH):
                tile, is_waiting = board[cell + lane], flags[INDEX + lane]
                free = (tile == EMPTY) & (flags[DIRECTION + lane] == way)
                here = free & (is_waiting != EMPTY)
                board[cell + lane] = select(here, flags[RANK + lane], tile)
                flags[INDEX + lane] = select(here, EMPTY, is_waiting)


# --- scores and game ends ------------------------------------------------------------------------


@kernel(borrows=True)
def score_turns(
    words: Words,
    flags: Bytes,
    halves: Halves,
    rewards: NDArray[np.int32],
    numbers: Longs,
) -> None:
    """Write this turn's points to `rewards` (int32 `[LANES]`), and add them to the scores."""
    merged, legal = np.int32(numbers[MERGE_POINTS]), np.int32(numbers[LEGAL_POINTS])
    illegal = np.int32(numbers[ILLEGAL_POINTS])
    for lane in range(WIDTH):
        points = np.int32(np.int32(halves[POINTS + lane]) * merged + legal)
        unmoved = np.int32(illegal * np.int32(flags[ILLEGAL + lane]))
        rewards[lane] = select(flags[MOVED + lane] != EMPTY, points, unmoved)
    if numbers[SUM_POINTS]:
        # A slide preserves the tile sum, so a turn scores only its spawned tile. The first turn
        # also scores the start tiles.
        for lane in range(WIDTH):
            bonus, moved = words[BONUS + lane], flags[MOVED + lane] != EMPTY
            tile = np.int32(U1 << np.uint32(flags[RANK + lane]))
            rewards[lane] += select(moved, np.int32(np.int32(bonus) + tile), np.int32(0))
            words[BONUS + lane] = select(moved, ZERO, bonus)
    for lane in range(WIDTH):
        words[SCORE + lane] += np.uint64(np.int64(rewards[lane]))


@kernel(borrows=True)
def find_over(legal: Words, halves: Halves) -> Int:
    """Write the lane numbers of finished games to the row ``FOUND``; return their count.

    Args:
        legal: `Workspace.legal`, which packs eight lanes into each word.
        halves: `Workspace.halves`.
    """
    count = ZERO
    for index in range(np.uint64(LANES // 8)):
        # Adding 127 to a byte below 128 sets the top bit unless the byte is 0, and never overflows.
        over = ~(legal[index] + BELOW_TOPS) & TOPS
        while over != ZERO:
            lane = np.uint64(8 * index) + (trailing_zeros(over) >> np.uint64(3))
            halves[FOUND + count] = np.uint32(lane)
            count += ONE
            over &= over - ONE
    return np.int64(count)


@kernel(borrows=True)
def clear_won(board: Bytes, flags: Bytes, rank: np.uint8) -> None:
    """Clear the legal directions of boards with a tile of this rank or higher."""
    for cell in range(ZERO, np.uint64(len(board)), WIDTH):
        for lane in range(WIDTH):
            won = board[cell + lane] >= rank
            flags[LEGAL + lane] = select(won, EMPTY, flags[LEGAL + lane])


# --- single boards -------------------------------------------------------------------------------


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
    """Set up the start position for a generator key, exactly as `py2048.core.game` does.

    Writes the cell numbers of the tiles to `placed` in ascending order.

    Returns: The number of tiles.
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
        # Convert an index among the empty cells to a cell number by skipping occupied cells.
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
def legal_from(board: Bytes, lane: np.uint64, cell: Int, neighbours: Longs) -> np.uint8:
    """Return the directions in which the tile on one cell can move, as bits."""
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
    """Return as bits whether a tile can move from `b` to `a` (0) and from `a` to `b` (1)."""
    no_a, no_b = a == EMPTY, b == EMPTY
    merge = (a == b) & (not no_a)
    first, last = merge | (no_a & (not no_b)), merge | (no_b & (not no_a))
    return np.uint8(select(first, B1, EMPTY) | select(last, B2, EMPTY))


@kernel(inline=True, borrows=True)
def sum_of(board: Bytes, lane: np.uint64) -> np.uint64:
    """Return the tile sum of one board in a block of boards."""
    total = ZERO
    for cell in range(lane, np.uint64(len(board)), WIDTH):
        if board[cell] != EMPTY:
            total += ONE << np.uint64(board[cell])
    return total


class Workspace(NamedTuple):
    """The arrays in which a thread steps a block of boards (see the module docstring).

    `legal` is a view of the row ``LEGAL`` of `flags`, with eight lanes per word. Copying a
    workspace would give `legal` its own memory, so copied batches create new workspaces.
    """

    board: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    halves: NDArray[np.uint32]
    scratch: NDArray[np.uint8]
    legal: NDArray[np.uint64]

    @classmethod
    def of(cls, rules: Rules) -> Workspace:
        """Return a workspace for boards of `rules`.

        A workspace takes 40 KiB for 4x4 boards and 88 KiB for 8x8 boards.
        """
        width, rows = LANES, max(8, rules.cells)
        flags = np.zeros(FLAG_ROWS * width, np.uint8)
        return cls(
            np.zeros(rules.cells * width, np.uint8),
            flags,
            np.zeros(WORD_ROWS * width, np.uint64),
            np.zeros(HALF_ROWS * width, np.uint32),
            np.zeros(rows * width, np.uint8),
            flags[LEGAL : LEGAL + WIDTH].view(np.uint64),
        )


# --- 4x4 boards that merge once -------------------------------------------------------------------

COLUMN3, COLUMN4, BOARD = np.uint64(8 * LANES), np.uint64(12 * LANES), np.uint64(16 * LANES)


@kernel(borrows=True)
def slide_classic(space: Workspace, _numbers: Longs) -> None:
    """Slide every board in its direction; illegal directions change nothing."""
    transpose_vertical(space.board, space.flags)
    slide_rows(space.board, space.flags, space.scratch)
    add_points(space.halves, space.scratch)
    transpose_vertical(space.board, space.flags)


@kernel(borrows=True)
def transpose_vertical(board: Bytes, flags: Bytes) -> None:
    """Transpose the boards that move up or down."""
    diagonal = ZERO
    for row in range(4):
        right, below = diagonal, diagonal
        for _ in range(row + 1, 4):
            right += WIDTH
            below += WIDTH4
            for lane in range(WIDTH):
                vertical = flags[DIRECTION + lane] < B2
                x, y = board[right + lane], board[below + lane]
                board[right + lane] = select(vertical, y, x)
                board[below + lane] = select(vertical, x, y)
        diagonal += WIDTH4 + WIDTH


@kernel(borrows=True)
def slide_rows(board: Bytes, flags: Bytes, merged: Bytes) -> None:
    """Slide four rows left or right; write the ranks of up to two merges per row to `merged`."""
    slot = ZERO
    for row in range(ZERO, BOARD, WIDTH4):
        for lane in range(WIDTH):
            backward = (flags[DIRECTION + lane] & B1) != EMPTY
            w, x = board[row + lane], board[row + WIDTH + lane]
            y, z = board[row + WIDTH2 + lane], board[row + WIDTH3 + lane]
            a, b = select(backward, z, w), select(backward, y, x)
            c, d = select(backward, x, y), select(backward, w, z)
            # Close the gaps between tiles, starting with the last gap.
            gap = c == EMPTY
            c, d = select(gap, d, c), select(gap, EMPTY, d)
            gap = b == EMPTY
            b, c, d = select(gap, c, b), select(gap, d, c), select(gap, EMPTY, d)
            gap = a == EMPTY
            a, b, c = select(gap, b, a), select(gap, c, b), select(gap, d, c)
            d = select(gap, EMPTY, d)
            # Merge equal neighbours. The first two and the last two tiles can merge in the same
            # slide.
            first = (a == b) & (b != EMPTY)
            middle = (b == c) & (c != EMPTY) & (not first)
            last = (c == d) & (d != EMPTY) & (not middle)
            a1, b1, c1 = np.uint8(a + B1), np.uint8(b + B1), np.uint8(c + B1)
            merged[slot + lane] = select(first, a1, select(middle, b1, NO_MERGE))
            merged[slot + WIDTH + lane] = select(last, c1, NO_MERGE)
            third, rest = select(last, c1, c), select(last, EMPTY, d)
            a = select(first, a1, a)
            b = select(first, third, select(middle, b1, b))
            c = select(first | middle, rest, third)
            d = select(first | middle, EMPTY, rest)
            board[row + lane] = select(backward, d, a)
            board[row + WIDTH + lane] = select(backward, c, b)
            board[row + WIDTH2 + lane] = select(backward, b, c)
            board[row + WIDTH3 + lane] = select(backward, a, d)
        slot += WIDTH2


@kernel(borrows=True)
def add_points(halves: Halves, merged: Bytes) -> None:
    """Set ``POINTS`` to the sum of merged tiles. The mask removes `NO_MERGE` (bit 31)."""
    for lane in range(WIDTH):
        total = U1 << np.uint32(merged[lane])
        for slot in range(WIDTH, COLUMN3, WIDTH):
            total += U1 << np.uint32(merged[slot + lane])
        halves[POINTS + lane] = np.uint32(total & POINT_BITS)


@kernel(borrows=True)
def legal_classic(board: Bytes, flags: Bytes, _numbers: Longs) -> None:
    """Set ``LEGAL`` of every board."""
    for lane in range(WIDTH):
        flags[LEGAL + lane] = EMPTY
    for row in range(ZERO, BOARD, WIDTH4):
        for lane in range(WIDTH):
            a, b = board[row + lane], board[row + WIDTH + lane]
            c, d = board[row + WIDTH2 + lane], board[row + WIDTH3 + lane]
            flags[LEGAL + lane] |= np.uint8(line_bits(a, b, c, d) << B2)
    for column in range(ZERO, WIDTH4, WIDTH):
        for lane in range(WIDTH):
            a, b = board[column + lane], board[column + WIDTH4 + lane]
            c, d = board[column + COLUMN3 + lane], board[column + COLUMN4 + lane]
            flags[LEGAL + lane] |= line_bits(a, b, c, d)


@kernel(inline=True)
def line_bits(a: np.uint8, b: np.uint8, c: np.uint8, d: np.uint8) -> np.uint8:
    """Return a line's possible slides: bit 0 towards the first cell, bit 1 towards the last."""
    no_a, no_b, no_c, no_d = a == EMPTY, b == EMPTY, c == EMPTY, d == EMPTY
    merge = ((a == b) & (not no_a)) | ((b == c) & (not no_b)) | ((c == d) & (not no_c))
    first = (no_a & (not no_b)) | (no_b & (not no_c)) | (no_c & (not no_d)) | merge
    last = (no_b & (not no_a)) | (no_c & (not no_b)) | (no_d & (not no_c)) | merge
    return np.uint8(select(first, B1, EMPTY) | select(last, B2, EMPTY))


# --- boards of any shape and merging --------------------------------------------------------------

VERTICAL, HORIZONTAL = np.uint8(0), np.uint8(1)
"""The high bit of a direction number: 0 for vertical moves, 1 for horizontal moves."""


@kernel(inline=True)
def row(number: Int) -> slice:
    """Return the slice that selects one row.

    Returning a slice of the array instead would require reference counting.
    """
    return slice(number * LANES, (number + 1) * LANES)


@kernel(borrows=True)
def slide_any(space: Workspace, numbers: Longs) -> None:
    """Slide every board in its direction; illegal directions change nothing."""
    rows, columns, cascade = numbers[ROWS], numbers[COLUMNS], numbers[CASCADE] != 0
    for lane in range(WIDTH):
        space.halves[POINTS + lane] = np.uint32(0)
    for column in range(columns):
        slide_line(space, column, columns, rows, VERTICAL, cascade)
    for number in range(rows):
        slide_line(space, number * columns, 1, columns, HORIZONTAL, cascade)


@kernel(borrows=True)
def slide_line(
    space: Workspace, first: Int, step: Int, length: Int, axis: np.uint8, cascade: bool
) -> None:
    """Slide one row or column of every board that moves along `axis`.

    Args:
        space: The workspace. The line's points are added to ``POINTS``; ``INDEX``, ``RANK`` and
            `scratch` are overwritten.
        first: First cell of the line.
        step: Distance between neighbouring cells of the line.
        length: Number of cells.
        axis: `VERTICAL` for a column, `HORIZONTAL` for a row.
        cascade: Whether a merged tile can merge again.
    """
    board, flags, halves, scratch = space.board, space.flags, space.halves, space.scratch
    directions = flags[DIRECTION : DIRECTION + WIDTH]
    gaps, merged = flags[INDEX : INDEX + WIDTH], flags[RANK : RANK + WIDTH]
    for cell in range(length):
        ahead, behind = first + cell * step, first + (length - 1 - cell) * step
        take_row(scratch[row(cell)], board[row(ahead)], board[row(behind)], directions, axis)
    for cell in range(length - 2, -1, -1):
        mark_empty(gaps, scratch[row(cell)])
        close_gap(scratch, gaps, cell, length)
    for cell in range(length - 1):
        for _ in range(length - 1 - cell if cascade else 1):
            merge_row(scratch[row(cell)], scratch[row(cell + 1)], gaps, merged)
            close_gap(scratch, gaps, cell + 1, length)
            add_merged(halves[POINTS : POINTS + WIDTH], merged)
    for cell in range(length):
        target = board[row(first + cell * step)]
        forward, backward = scratch[row(cell)], scratch[row(length - 1 - cell)]
        put_row(target, forward, backward, directions, axis)


@kernel(borrows=True)
def take_row(target: Bytes, ahead: Bytes, behind: Bytes, directions: Bytes, axis: np.uint8) -> None:
    """Load one cell of the current line of each board into `target`.

    Boards that move up or left load the cell from `ahead`, and boards that move down or right load
    it from `behind`. If a board does not move along `axis`, its cell in `target` is empty.
    """
    for lane in range(WIDTH):
        direction = directions[lane]
        tile = select((direction & B1) != EMPTY, behind[lane], ahead[lane])
        target[lane] = select(direction >> B1 == axis, tile, EMPTY)


@kernel(borrows=True)
def put_row(target: Bytes, ahead: Bytes, behind: Bytes, directions: Bytes, axis: np.uint8) -> None:
    """Write one cell of the slid line to each board that moves along `axis`."""
    for lane in range(WIDTH):
        direction = directions[lane]
        tile = select((direction & B1) != EMPTY, behind[lane], ahead[lane])
        target[lane] = select(direction >> B1 == axis, tile, target[lane])


@kernel(borrows=True)
def mark_empty(gaps: Bytes, tiles: Bytes) -> None:
    """Set `gaps` to 1 where `tiles` is empty, and to 0 elsewhere."""
    for lane in range(WIDTH):
        gaps[lane] = np.uint8(tiles[lane] == EMPTY)


@kernel(borrows=True)
def close_gap(scratch: Bytes, gaps: Bytes, first: Int, length: Int) -> None:
    """Close the gap at cell `first` on each board that has a gap there."""
    for cell in range(first, length - 1):
        pull_row(scratch[row(cell)], scratch[row(cell + 1)], gaps)
    last = scratch[row(length - 1)]
    for lane in range(WIDTH):
        last[lane] = select(gaps[lane] != EMPTY, EMPTY, last[lane])


@kernel(borrows=True)
def pull_row(tiles: Bytes, behind: Bytes, gaps: Bytes) -> None:
    """Copy tiles from `behind` to `tiles` on the boards that `gaps` marks."""
    for lane in range(WIDTH):
        tiles[lane] = select(gaps[lane] != EMPTY, behind[lane], tiles[lane])


@kernel(borrows=True)
def merge_row(tiles: Bytes, behind: Bytes, gaps: Bytes, merged: Bytes) -> None:
    """Merge equal neighbours; mark the resulting gaps and write the ranks of the merged tiles."""
    for lane in range(WIDTH):
        tile = tiles[lane]
        equal = (tile == behind[lane]) & (tile != EMPTY)
        bigger = np.uint8(tile + B1)
        tiles[lane] = select(equal, bigger, tile)
        merged[lane] = select(equal, bigger, NO_MERGE)
        gaps[lane] = np.uint8(equal)


@kernel(borrows=True)
def add_merged(points: Halves, merged: Bytes) -> None:
    """Add the merged tiles to `points`. The mask removes `NO_MERGE` (bit 31)."""
    for lane in range(WIDTH):
        points[lane] += U1 << np.uint32(merged[lane]) & POINT_BITS


@kernel(borrows=True)
def legal_any(board: Bytes, flags: Bytes, numbers: Longs) -> None:
    """Set ``LEGAL`` of every board."""
    rows, columns = numbers[ROWS], numbers[COLUMNS]
    legal = flags[LEGAL : LEGAL + WIDTH]
    for lane in range(WIDTH):
        legal[lane] = EMPTY
    for number in range(rows):
        for column in range(columns):
            cell = number * columns + column
            if column + 1 < columns:
                add_pair_directions(legal, board[row(cell)], board[row(cell + 1)], B2)
            if number + 1 < rows:
                add_pair_directions(legal, board[row(cell)], board[row(cell + columns)], EMPTY)


@kernel(borrows=True)
def add_pair_directions(legal: Bytes, tiles: Bytes, neighbours: Bytes, shift: np.uint8) -> None:
    """Add to `legal` the directions in which a tile can move between two neighbouring cells."""
    for lane in range(WIDTH):
        legal[lane] |= np.uint8(pair_bits(tiles[lane], neighbours[lane]) << shift)


# --- turns ---------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def start_game(space: Workspace, lane: np.uint64, key: np.uint64, rules: RuleArrays) -> None:
    """Start a game in one lane, with start tiles drawn from the generator key."""
    low, high, placed = rules.numbers[START_LOW], rules.numbers[START_HIGH], space.scratch
    count = start_board(
        space.board, lane, key, low, high, rules.start_ranks, rules.start_thresholds, placed
    )
    legal = EMPTY
    for number in range(count):
        legal |= legal_from(space.board, lane, np.int64(placed[number]), rules.neighbours)
    init_game(space, lane, key, legal, rules)


@kernel(inline=True, borrows=True)
def start_from_position(
    space: Workspace, lane: np.uint64, key: np.uint64, rules: RuleArrays
) -> None:
    """Start a game in a lane that already contains the start position."""
    legal = EMPTY
    for cell in range(len(rules.neighbours)):
        legal |= legal_from(space.board, lane, cell, rules.neighbours)
    init_game(space, lane, key, legal, rules)


@kernel(inline=True, borrows=True)
def init_game(
    space: Workspace, lane: np.uint64, key: np.uint64, legal: np.uint8, rules: RuleArrays
) -> None:
    """Initialise the score, generator state and legal moves of a game, given its board."""
    board, words, numbers = space.board, space.words, rules.numbers
    words[STATE + lane] = key + GOLDEN
    words[SCORE + lane] = ZERO
    words[BONUS + lane] = sum_of(board, lane) if numbers[SUM_POINTS] else ZERO
    space.halves[CHANCE + lane] = np.uint32(mix64(key) >> HALF)
    if numbers[TARGET]:
        for cell in range(lane, np.uint64(len(board)), WIDTH):
            if board[cell] >= numbers[TARGET]:
                legal = EMPTY
    space.flags[LEGAL + lane] = legal


@kernel(borrows=True)
def spawn(space: Workspace, rules: RuleArrays) -> None:
    """Spawn a tile on each board that moved."""
    count_empty(space.board, space.flags)
    draw_spawns(space.words, space.flags, space.halves, rules.ranks, rules.thresholds)
    if rules.numbers[FIXED]:
        place_fixed(space.board, space.flags, rules.landing)
    else:
        place(space.board, space.flags)


Turn = Callable[[Workspace, NDArray[np.int32], RuleArrays], None]


Legal = Callable[[Bytes, Bytes, Longs], None]


def make_turn(slide: Callable[[Workspace, Longs], None], legal: Legal) -> Turn:
    """Build the turn kernel from a slide kernel and a legal-move kernel."""

    @kernel(borrows=True)
    def turn(space: Workspace, rewards: NDArray[np.int32], rules: RuleArrays) -> None:
        """Slide every board, spawn tiles, score the turn and find the next legal directions."""
        board, flags, numbers = space.board, space.flags, rules.numbers
        check_directions(flags)
        slide(space, numbers)
        spawn(space, rules)
        score_turns(space.words, flags, space.halves, rewards, numbers)
        legal(board, flags, numbers)

    return turn


def make_legal(legal: Legal) -> Legal:
    """Build a legal-move kernel for rules that end the game at the target tile."""

    @kernel(inline=True, borrows=True)
    def legal_until_won(board: Bytes, flags: Bytes, numbers: Longs) -> None:
        """Find the legal directions of every board. Won games have no legal directions."""
        legal(board, flags, numbers)
        if numbers[TARGET]:
            clear_won(board, flags, np.uint8(numbers[TARGET]))

    return legal_until_won


find_legal_classic, find_legal_any = make_legal(legal_classic), make_legal(legal_any)
turn_classic, turn_any = (
    make_turn(slide_classic, find_legal_classic),
    make_turn(slide_any, find_legal_any),
)


# --- from cell order to board order ---------------------------------------------------------------

BYTES, PAIRS, QUADS = np.uint64(8), np.uint64(16), np.uint64(32)
LOW_BYTES = np.uint64(0x00FF00FF00FF00FF)
LOW_PAIRS = np.uint64(0x0000FFFF0000FFFF)
LOW_QUADS = np.uint64(0x00000000FFFFFFFF)


@kernel("(int64, int64, uint8[:,::1], uint8[:,::1])", borrows=True)
def write_boards(first: Int, end: Int, cells: Bytes, out: Bytes) -> None:
    """Copy the boards of games `first` to `end` (exclusive) to `out` (uint8 `[n, cells]`)."""
    for game in range(np.uint64(first), np.uint64(end)):
        for cell in range(np.uint64(out.shape[1])):
            out[game, cell] = cells[cell, game]


@kernel("(int64, int64, uint64[:,::1], uint64[:,::1])", borrows=True)
def write_classic(first: Int, end: Int, cells: Words, out: Words) -> None:
    """Copy 16-cell boards in groups of eight games.

    Args:
        first: First group.
        end: Group after the last group.
        cells: Boards in cell order, uint64 `[16, padded / 8]`. Each word packs one cell of eight
            games.
        out: Two words of eight cells for each board, uint64 `[n, 2]`.
    """
    for group in range(np.uint64(first), np.uint64(end)):
        game = group * BYTES
        for half in range(np.uint64(2)):
            cell = half * BYTES
            a, b = cells[cell, group], cells[cell + np.uint64(1), group]
            c, d = cells[cell + np.uint64(2), group], cells[cell + np.uint64(3), group]
            e, f = cells[cell + np.uint64(4), group], cells[cell + np.uint64(5), group]
            g, h = cells[cell + np.uint64(6), group], cells[cell + np.uint64(7), group]
            a, b = exchange(a, b, BYTES, LOW_BYTES)
            c, d = exchange(c, d, BYTES, LOW_BYTES)
            e, f = exchange(e, f, BYTES, LOW_BYTES)
            g, h = exchange(g, h, BYTES, LOW_BYTES)
            a, c = exchange(a, c, PAIRS, LOW_PAIRS)
            b, d = exchange(b, d, PAIRS, LOW_PAIRS)
            e, g = exchange(e, g, PAIRS, LOW_PAIRS)
            f, h = exchange(f, h, PAIRS, LOW_PAIRS)
            a, e = exchange(a, e, QUADS, LOW_QUADS)
            b, f = exchange(b, f, QUADS, LOW_QUADS)
            c, g = exchange(c, g, QUADS, LOW_QUADS)
            d, h = exchange(d, h, QUADS, LOW_QUADS)
            out[game, half], out[game + np.uint64(1), half] = a, b
            out[game + np.uint64(2), half], out[game + np.uint64(3), half] = c, d
            out[game + np.uint64(4), half], out[game + np.uint64(5), half] = e, f
            out[game + np.uint64(6), half], out[game + np.uint64(7), half] = g, h


@kernel(inline=True)
def exchange(x: Word, y: Word, shift: Word, low: Word) -> tuple[Word, Word]:
    """Swap the high half of each field in `x` with the low half of the same field in `y`.

    Each field has two halves of `shift` bits, and `low` masks the low halves.
    """
    return (x & low) | ((y & low) << shift), ((x >> shift) & low) | (y & ~low)


@kernel("(uint8[::1], uint32[::1])", borrows=True)
def write_masks(bits: Bytes, out: NDArray[np.uint32]) -> None:
    """Expand each game's legal directions from four bits to four bytes."""
    for game in range(np.uint64(len(out))):
        spread = np.uint32(bits[game]) * np.uint32(0x00204081)
        out[game] = np.uint32(spread & np.uint32(0x01010101))
