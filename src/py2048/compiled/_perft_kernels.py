"""The compiled perft: one layer of boards to the next, in hash tables of packed boards.

A table is uint64 `[2**k]` with open addressing; 0, the empty board, marks a free place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import ONE, mix64
from py2048.compiled._packed_kernels import (
    ZERO,
    canonical,
    empty_cells,
    legal_mask,
    max_rank,
    slide_small,
)
from py2048.compiled.jit import kernel

Words = NDArray[np.uint64]
Int = int | np.int64

TILES = np.uint64(1), np.uint64(2)
"""The ranks that spawn."""


@kernel("(uint64[::1], uint64)")
def insert(table: Words, board: np.uint64) -> bool:
    """Put a board into a table that is not full; return whether it is new."""
    mask = np.uint64(len(table) - 1)
    place = mix64(board) & mask
    while table[place] != ZERO:
        if table[place] == board:
            return False
        place = (place + ONE) & mask
    table[place] = board
    return True


@kernel("(uint64[::1], uint64[::1])")
def insert_all(table: Words, boards: Words) -> Int:
    """Put the boards other than 0 into a table; return how many are new."""
    count = 0
    for board in boards:
        if board != ZERO:
            count += insert(table, board)
    return count


@kernel(
    "(uint64[::1], int64, uint64, uint64[::1], uint64[::1], uint64[::1], uint64[::1], uint64[::1],"
    " int64[::1])"
)
def expand(
    boards: Words,
    first: Int,
    target: np.uint64,
    shape: Words,
    across: Words,
    down: Words,
    after2: Words,
    after4: Words,
    counts: NDArray[np.int64],
) -> Int:
    """Put the successors of a layer's playable boards into the tables of the layers they are in.

    Args:
        boards: the layer; 0 is no board.
        first: where to begin.
        target: the rank that ends a game.
        shape: rows, columns, and the masks of all cells, of those with a right neighbour, and
            of those with one below.
        across: the line table of a row.
        down: the line table of a column.
        after2: the table of the boards reached by a 2.
        after4: the table of the boards reached by a 4.
        counts: the number of playable boards, and of the boards in each table: int64 `[3]`.

    Returns:
        Where to go on when a table has to grow first, or the length of `boards`.
    """
    rows, columns, cells = shape[0], shape[1], shape[2]
    room2, room4 = len(after2) // 2, len(after4) // 2
    for index in range(first, len(boards)):
        board = boards[index]
        if board == ZERO:
            continue
        if counts[1] > room2 or counts[2] > room4:
            return index
        legal = legal_mask(board, cells, columns, shape[3], shape[4])
        if legal == ZERO:
            continue
        counts[0] += 1
        for direction in range(4):
            if not legal >> np.uint64(direction) & ONE:
                continue
            after, _ = slide_small(board, direction, rows, columns, across, down)
            if max_rank(after) >= target:
                continue
            free = empty_cells(after, cells)
            while free != ZERO:
                one = free & (ZERO - free)
                free ^= one
                counts[1] += insert(after2, canonical(after | one, rows, columns))
                if target > TILES[1]:
                    two = after | one + one
                    counts[2] += insert(after4, canonical(two, rows, columns))
    return len(boards)
