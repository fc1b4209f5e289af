"""One board of any shape, uint8 `[cells]` of ranks: its legal moves, and tiles that appear."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import pick_low, pick_rank
from py2048.compiled.jit import kernel

Cells = NDArray[np.uint8]
Words = NDArray[np.uint64]
Longs = NDArray[np.int64]
Int = int | np.int64

WHOLE = np.int64(1)


@kernel
def legal_of(cells: Cells, rows: Int, columns: Int, target: Int) -> int:
    """Return the legal directions, bit ``d`` for direction ``d``; none once `target` is there.

    A `target` of 0 is never there.
    """
    if target:
        for cell in range(len(cells)):
            if cells[cell] >= target:
                return 0
    up, down = axis(cells, columns, cells.size - columns, 1, 1)
    left, right = axis(cells, 1, rows * (columns - 1), columns - 1, columns)
    return up | down << 1 | left << 2 | right << 3


@kernel
def axis(cells: Cells, step: Int, pairs: Int, in_line: Int, stride: Int) -> tuple[int, int]:
    """Return whether a tile can move towards lower cells, and whether towards higher ones."""
    lower, higher = 0, 0
    for pair in range(pairs):
        cell = pair // in_line * stride + pair % in_line
        here, there = cells[cell], cells[cell + step]
        if here != 0:
            higher |= there == 0 or there == here
        if there != 0:
            lower |= here == 0 or there == here
    return lower, higher


@kernel
def place(cells: Cells, word: np.uint64, ranks: Words, sums: Words) -> None:
    """Put the tile of a draw on one of the empty cells."""
    empty = 0
    for cell in range(len(cells)):
        empty += cells[cell] == 0
    index = np.int64(pick_low(word, np.uint64(empty)))
    for cell in range(len(cells)):
        if cells[cell] == 0:
            if index == 0:
                cells[cell] = pick_rank(word, ranks, sums)
                break
            index -= 1


@kernel
def place_on_edge(cells: Cells, edge: Longs, rank: np.uint64) -> None:
    """Put a tile on the first empty cell of an edge; shorter edges end with -1."""
    for cell in edge:
        if cell >= 0 and cells[cell] == 0:
            cells[cell] = rank
            break


@kernel
def sum_of(cells: Cells) -> Int:
    total = np.int64(0)
    for cell in range(len(cells)):
        if cells[cell]:
            total += WHOLE << cells[cell]
    return total
