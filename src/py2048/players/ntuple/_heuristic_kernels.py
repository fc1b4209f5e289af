"""Compiled version of `py2048.players.ntuple.heuristic`, with lookup tables for short lines.

A line's *place* is 0 if the line is at the edge of the board, and 1 otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine._board_kernels import LINE, TWO, transpose, transpose_any
from py2048.engine.jit import kernel
from py2048.players.ntuple.heuristic import RANKS, Heuristic, least_of

Int = int | np.int64
Word = np.uint64
Cells = NDArray[np.uint8]
Tables = NDArray[np.float32]

LARGEST = np.int64(RANKS - 1)
ONE = np.uint64(1)


class Terms(NamedTuple):
    """Lookup tables of a heuristic for one board shape, in points.

    In tables with two rows, the first row is for edge lines and the second for inner lines.
    """

    empty: NDArray[np.float64]
    """Reward by number of empty cells in a line, float64 `[2, cells + 1]`."""
    merge: NDArray[np.float64]
    """Reward by number of mergeable pairs in a line, float64 `[2, cells + 1]`."""
    costs: NDArray[np.float64]
    """Penalty for a tile of each rank, float64 `[2, RANKS]`."""
    monotonicity: NDArray[np.float64]
    """Table, float64 `[2, RANKS]`. The penalty for two neighbouring tiles is the difference between
    their table entries.
    """
    base: float
    """Constant part of every board's value."""
    least: float
    """Lower bound of a board's value; values below ``2 * least`` are compressed."""


def terms_of(heuristic: Heuristic, rows: int, columns: int) -> Terms:
    """Build the lookup tables that the kernels use for a heuristic and a board shape."""
    counts = np.arange(max(rows, columns) + 1.0)
    ranks = np.arange(float(RANKS))
    base = heuristic.base * (rows + columns)
    return Terms(
        np.outer(heuristic.empty, counts),
        np.outer(heuristic.merge, counts + (counts > 0)),
        np.outer(heuristic.sum_weight, ranks**heuristic.sum_power),
        np.outer(heuristic.monotonicity_weight, ranks**heuristic.monotonicity_power),
        base,
        least_of(base),
    )


@kernel(inline=True)
def line_value(cells: Cells, first: Int, step: Int, length: Int, place: Int, terms: Terms) -> float:
    """Return the value of the line that starts at cell `first`."""
    empty, pairs = np.int64(0), np.int64(0)
    falls, rises, cost = 0.0, 0.0, 0.0
    before = waiting = np.int64(0)
    monotonicity = terms.monotonicity[place]
    for position in range(length):
        rank = min(np.int64(cells[first + position * step]), LARGEST)
        if rank == 0:
            empty += 1
        else:
            pairs += np.int64(rank == waiting)
            waiting = rank
        cost += terms.costs[place, rank]
        if position > 0:
            change = monotonicity[rank] - monotonicity[before]
            rises += max(change, 0.0)
            falls += max(-change, 0.0)
        before = rank
    value = terms.empty[place, empty] + terms.merge[place, pairs]
    return float(value - cost - min(falls, rises))


@kernel(inline=True)
def squeezed(value: float, least: float) -> float:
    """Compress values below ``2 * least`` smoothly, so that all values exceed `least`."""
    if value >= 2.0 * least:
        return value
    return least * least / (3.0 * least - value) + least


@kernel
def line_tables(length: Int, terms: Terms) -> Tables:
    """Return the values of all lines of `length` (at most 4) cells: float32 `[2, 16**length]`."""
    tables = np.empty((2, 1 << (4 * length)), np.float32)
    cells = np.empty(length, np.uint8)
    for line in range(tables.shape[1]):
        for cell in range(length):
            cells[cell] = (line >> (4 * cell)) & 15
        for place in range(2):
            tables[place, line] = line_value(cells, 0, 1, length, place, terms)
    return tables


@kernel(inline=True)
def rows_4x4(word: Word, tables: Tables) -> np.float32:
    """Return the heuristic value of the rows of a 4x4 board."""
    outer = tables[0, word & LINE] + tables[0, word >> np.uint64(48)]
    inner = tables[1, (word >> np.uint64(16)) & LINE] + tables[1, (word >> np.uint64(32)) & LINE]
    return np.float32(outer + inner)


@kernel(inline=True)
def lines_4x4(word: Word, tables: Tables) -> np.float32:
    """Return the heuristic value of the rows and columns of a 4x4 board."""
    return np.float32(rows_4x4(word, tables) + rows_4x4(transpose(word), tables))


@kernel(inline=True)
def rows_small(word: Word, rows: Word, columns: Word, tables: Tables) -> np.float32:
    """Return the heuristic value of the rows of a board of up to 4x4 cells."""
    width = columns << TWO
    mask = (ONE << width) - ONE
    total = np.float32(0)
    for row in range(np.int64(rows)):
        inner = np.int64(row > 0 and row < np.int64(rows) - 1)
        total += tables[inner, word & mask]
        word = word >> width
    return total


@kernel(inline=True)
def lines_small(word: Word, rows: Word, columns: Word, across: Tables, down: Tables) -> np.float32:
    """Return the heuristic value of the rows and columns of a board of up to 4x4 cells."""
    turned = transpose_any(word, rows, columns)
    sideways = rows_small(word, rows, columns, across)
    return np.float32(sideways + rows_small(turned, columns, rows, down))


@kernel(inline=True)
def lines_cells(cells: Cells, rows: Int, columns: Int, terms: Terms) -> float:
    """Return the heuristic value of the rows and columns of a board of any shape."""
    total = 0.0
    for row in range(rows):
        inner = np.int64(0 < row < rows - 1)
        total += line_value(cells, row * columns, 1, columns, inner, terms)
    for column in range(columns):
        inner = np.int64(0 < column < columns - 1)
        total += line_value(cells, column, columns, rows, inner, terms)
    return total
