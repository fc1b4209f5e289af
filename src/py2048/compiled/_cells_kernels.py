"""One board of any shape as its cells: uint8 `[cells]` of ranks, row-major; every tile fits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.jit import kernel

Cells = NDArray[np.uint8]
Int = int | np.int64

_ONE = np.int64(1)


@kernel("(uint8[::1], int64, int64, int64, boolean)")
def slide(cells: Cells, direction: Int, rows: Int, columns: Int, cascade: bool) -> Int:
    """Slide the board in place; return the points, or -1 if nothing moved."""
    vertical, backward = direction < 2, (direction & 1) == 1
    lines, length = (columns, rows) if vertical else (rows, columns)
    step, stride = (columns, 1) if vertical else (1, columns)
    points, moved = np.int64(0), False
    for line in range(lines):
        first = line * stride
        if backward:
            first += step * (length - 1)
        gained, changed = _slide_line(cells, first, -step if backward else step, length, cascade)
        points += gained
        moved |= changed
    return points if moved else np.int64(-1)


@kernel(inline=True)
def _slide_line(
    cells: Cells, first: Int, step: Int, length: Int, cascade: bool
) -> tuple[Int, bool]:
    """Slide one line towards its cell `first`; return the points and whether it changed."""
    points, target, waiting, changed = np.int64(0), first, np.int64(0), False
    for position in range(length):
        cell = first + position * step
        rank = np.int64(cells[cell])
        if rank == 0:
            continue
        if rank == waiting:
            rank += 1
            points += _ONE << rank
            cells[cell], cells[target - step] = 0, rank
            waiting, changed = rank if cascade else np.int64(0), True
            continue
        if cell != target:
            cells[cell], cells[target] = 0, rank
            changed = True
        waiting = rank
        target += step
    return points, changed
