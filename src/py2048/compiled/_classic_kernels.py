"""The slide and the legal moves of a block of 4x4 boards that merge once.

See ``_lane_kernels.py`` for the layout. Each row of four cells is slid in registers: close the
gaps, then merge. Boards that move up or down are turned before and after.
"""

from __future__ import annotations

import numpy as np

from py2048.compiled._lane_kernels import (
    B1,
    B2,
    DIRECTION,
    EMPTY,
    LANES,
    LEGAL,
    NO_MERGE,
    POINT_BITS,
    POINTS,
    U1,
    WIDTH,
    WIDTH2,
    WIDTH3,
    WIDTH4,
    ZERO,
    Bytes,
    Halves,
    Int,
)
from py2048.compiled.jit import kernel, select

COLUMN3, COLUMN4, BOARD = np.uint64(8 * LANES), np.uint64(12 * LANES), np.uint64(16 * LANES)


@kernel(borrows=True)
def slide_classic(
    board: Bytes,
    flags: Bytes,
    halves: Halves,
    scratch: Bytes,
    _rows: Int,
    _columns: Int,
    _cascade: bool,
) -> None:
    """Slide every board in its direction; a direction that is not legal changes nothing."""
    turn(board, flags)
    slide_rows(board, flags, scratch)
    add_points(halves, scratch)
    turn(board, flags)


@kernel(borrows=True)
def turn(board: Bytes, flags: Bytes) -> None:
    """Exchange rows and columns of the boards that move up or down."""
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
    """Slide the four rows left or right; write up to two merged ranks of each to `merged`."""
    slot = ZERO
    for row in range(ZERO, BOARD, WIDTH4):
        for lane in range(WIDTH):
            backward = (flags[DIRECTION + lane] & B1) != EMPTY
            w, x = board[row + lane], board[row + WIDTH + lane]
            y, z = board[row + WIDTH2 + lane], board[row + WIDTH3 + lane]
            a, b = select(backward, z, w), select(backward, y, x)
            c, d = select(backward, x, y), select(backward, w, z)
            # Close the gaps, the last one first.
            gap = c == EMPTY
            c, d = select(gap, d, c), select(gap, EMPTY, d)
            gap = b == EMPTY
            b, c, d = select(gap, c, b), select(gap, d, c), select(gap, EMPTY, d)
            gap = a == EMPTY
            a, b, c = select(gap, b, a), select(gap, c, b), select(gap, d, c)
            d = select(gap, EMPTY, d)
            # The three pairs that can merge; the first and the last can do so together.
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
    """Set ``POINTS`` to the sum of the merged tiles; `NO_MERGE` falls out at bit 31."""
    for lane in range(WIDTH):
        total = U1 << np.uint32(merged[lane])
        for slot in range(WIDTH, COLUMN3, WIDTH):
            total += U1 << np.uint32(merged[slot + lane])
        halves[POINTS + lane] = np.uint32(total & POINT_BITS)


@kernel(borrows=True)
def legal_classic(board: Bytes, flags: Bytes, _rows: Int, _columns: Int) -> None:
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
    """Return whether tiles of a line can move towards its first cell (1) and its last (2)."""
    no_a, no_b, no_c, no_d = a == EMPTY, b == EMPTY, c == EMPTY, d == EMPTY
    merge = ((a == b) & (not no_a)) | ((b == c) & (not no_b)) | ((c == d) & (not no_c))
    first = (no_a & (not no_b)) | (no_b & (not no_c)) | (no_c & (not no_d)) | merge
    last = (no_b & (not no_a)) | (no_c & (not no_b)) | (no_d & (not no_c)) | merge
    return np.uint8(select(first, B1, EMPTY) | select(last, B2, EMPTY))
