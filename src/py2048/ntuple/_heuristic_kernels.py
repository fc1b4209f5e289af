"""The heuristic of `py2048.ntuple.heuristic`, compiled: by tables where lines are short.

A *line* counts apart by whether it lies at the edge of the board (0) or inside (1). The terms of
a line come from two tables made by the typed face, float64 `[2, RANKS]` each: what a tile of a
rank costs, and how steep a step between two ranks is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._board_kernels import LINE, TWO, transpose, transpose_any
from py2048.compiled.jit import kernel
from py2048.ntuple.heuristic import RANKS, Terms

Int = int | np.int64
Word = np.uint64
Cells = NDArray[np.uint8]
Tables = NDArray[np.float32]

LARGEST = np.int64(RANKS - 1)
ONE = np.uint64(1)


@kernel(inline=True)
def line_worth(cells: Cells, first: Int, step: Int, length: Int, place: Int, terms: Terms) -> float:
    """Return what the line from the cell `first` on is worth."""
    empty, pairs = np.int64(0), np.int64(0)
    falls, rises, cost = 0.0, 0.0, 0.0
    before = waiting = np.int64(0)
    steepness = terms.steepness[place]
    for position in range(length):
        rank = min(np.int64(cells[first + position * step]), LARGEST)
        if rank == 0:
            empty += 1
        else:
            pairs += np.int64(rank == waiting)
            waiting = rank
        cost += terms.costs[place, rank]
        if position > 0:
            change = steepness[rank] - steepness[before]
            rises += max(change, 0.0)
            falls += max(-change, 0.0)
        before = rank
    worth = terms.room[place, empty] + terms.merges[place, pairs]
    return float(worth - cost - min(falls, rises))


@kernel(inline=True)
def squeezed(worth: float, least: float) -> float:
    """Return `worth` if it is more than twice `least`, else a smaller positive number in order."""
    if worth >= 2.0 * least:
        return worth
    return least * least / (3.0 * least - worth) + least


@kernel
def line_tables(length: Int, terms: Terms) -> Tables:
    """Return the worth of all lines of up to four cells: float32 `[2, 16**length]`."""
    tables = np.empty((2, 1 << (4 * length)), np.float32)
    cells = np.empty(length, np.uint8)
    for line in range(tables.shape[1]):
        for cell in range(length):
            cells[cell] = (line >> (4 * cell)) & 15
        for place in range(2):
            tables[place, line] = line_worth(cells, 0, 1, length, place, terms)
    return tables


@kernel(inline=True)
def rows_4x4(word: Word, tables: Tables) -> np.float32:
    """Return what the rows of a 4x4 board are worth."""
    outer = tables[0, word & LINE] + tables[0, word >> np.uint64(48)]
    inner = tables[1, (word >> np.uint64(16)) & LINE] + tables[1, (word >> np.uint64(32)) & LINE]
    return np.float32(outer + inner)


@kernel(inline=True)
def lines_4x4(word: Word, tables: Tables) -> np.float32:
    """Return what the rows and columns of a 4x4 board are worth."""
    return np.float32(rows_4x4(word, tables) + rows_4x4(transpose(word), tables))


@kernel(inline=True)
def rows_small(word: Word, rows: Word, columns: Word, tables: Tables) -> np.float32:
    """Return what the rows of a board with sides of up to four are worth."""
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
    """Return what the rows and columns of a board with sides of up to four are worth."""
    turned = transpose_any(word, rows, columns)
    sideways = rows_small(word, rows, columns, across)
    return np.float32(sideways + rows_small(turned, columns, rows, down))


@kernel(inline=True)
def lines_cells(cells: Cells, rows: Int, columns: Int, terms: Terms) -> float:
    """Return what the rows and columns of a board of any shape are worth."""
    total = 0.0
    for row in range(rows):
        inner = np.int64(0 < row < rows - 1)
        total += line_worth(cells, row * columns, 1, columns, inner, terms)
    for column in range(columns):
        inner = np.int64(0 < column < columns - 1)
        total += line_worth(cells, column, columns, rows, inner, terms)
    return total
