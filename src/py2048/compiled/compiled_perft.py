"""Perft on the compiled engine: the counts of `perft`, thousands of times faster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled import _perft_kernels as kernels
from py2048.compiled._packed_kernels import canonical
from py2048.compiled.packed import line_table

Table = NDArray[np.uint64]


def compiled_perft(rows: int, columns: int, target: int) -> int:
    """Return the number of reachable boards, one for each symmetry class, as `perft` counts them.

    Args:
        rows: rows of the board, at most 4.
        columns: columns of the board, at most 4.
        target: the tile that ends a game, at most 65536.
    """
    shape = _shape(rows, columns)
    tables = line_table(columns), line_table(rows)
    rank = np.uint64(target.bit_length() - 1)
    layers = _starts(rows, columns, rank)
    total = 0
    while layers:
        boards, _ = layers.pop(least := min(layers))
        following = [layers.pop(least + tile, _empty_layer()) for tile in (2, 4)]
        counts = np.array([0, *(count for _, count in following)], np.int64)
        grown = [table for table, _ in following]
        place = 0
        while place < len(boards):
            given = boards, place, rank, shape, *tables, grown[0], grown[1], counts
            place = int(kernels.expand(*given))
            grown = [_with_room(t, int(n)) for t, n in zip(grown, counts[1:], strict=True)]
        total += int(counts[0])
        for tile, table, count in zip((2, 4), grown, counts[1:], strict=True):
            if count:
                layers[least + tile] = table, int(count)
    return total


def _shape(rows: int, columns: int) -> Table:
    def mask(height: int, width: int) -> int:
        return sum(1 << 4 * (r * columns + c) for r in range(height) for c in range(width))

    masks = mask(rows, columns), mask(rows, columns - 1), mask(rows - 1, columns)
    return np.array([rows, columns, *masks], np.uint64)


def _empty_layer() -> tuple[Table, int]:
    return np.zeros(1 << 10, np.uint64), 0


def _with_room(table: Table, count: int) -> Table:
    """Return the table, or one four times as large with the same boards if it is half full."""
    if 2 * count <= len(table):
        return table
    larger = np.zeros(4 * len(table), np.uint64)
    kernels.insert_all(larger, table)
    return larger


def _starts(rows: int, columns: int, target: np.uint64) -> dict[int, tuple[Table, int]]:
    """Return the boards with two tiles, each 2 or 4, by their sum."""
    cells = range(rows * columns)
    shape = np.uint64(rows), np.uint64(columns)
    layers: dict[int, tuple[Table, int]] = {}
    for first in cells:
        for second in cells:
            for one, two in ((1, 1), (1, 2), (2, 1), (2, 2)):
                if first == second or max(one, two) >= target:
                    continue
                board = np.uint64(one << 4 * first | two << 4 * second)
                table, count = layers.get((1 << one) + (1 << two), _empty_layer())
                new = kernels.insert(table, np.uint64(canonical(board, *shape)))
                layers[(1 << one) + (1 << two)] = table, count + new
    return layers
