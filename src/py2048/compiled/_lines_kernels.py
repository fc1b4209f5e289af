"""The slide and the legal moves of a block of boards of any shape and merging.

See ``_lane_kernels.py`` for the layout. A line is copied to `scratch`, its first cell at the wall
that each board moves to, worked on row by row of lanes, and copied back. Here rows are taken as
slices: their distances are not known to the compiler, and this way it has to compare few of them
before it trusts that none overlap.
"""

from __future__ import annotations

import numpy as np

from py2048.compiled._lane_kernels import (
    B1,
    B2,
    DIRECTION,
    EMPTY,
    INDEX,
    LANES,
    LEGAL,
    NO_MERGE,
    POINT_BITS,
    POINTS,
    RANK,
    U1,
    WIDTH,
    Bytes,
    Halves,
    Int,
    pair_bits,
)
from py2048.compiled.jit import kernel, select

VERTICAL, HORIZONTAL = np.uint8(0), np.uint8(1)
"""The higher bit of the directions along an axis."""


@kernel(inline=True)
def row(number: Int) -> slice:
    """Return where the lanes of one row stand; a row itself would be a reference to count."""
    return slice(number * LANES, (number + 1) * LANES)


@kernel(borrows=True)
def slide_any(
    board: Bytes,
    flags: Bytes,
    halves: Halves,
    scratch: Bytes,
    rows: Int,
    columns: Int,
    cascade: bool,
) -> None:
    """Slide every board in its direction; a direction that is not legal changes nothing."""
    for lane in range(WIDTH):
        halves[POINTS + lane] = np.uint32(0)
    for column in range(columns):
        slide_line(board, flags, halves, scratch, column, columns, rows, VERTICAL, cascade)
    for number in range(rows):
        first = number * columns
        slide_line(board, flags, halves, scratch, first, 1, columns, HORIZONTAL, cascade)


@kernel(borrows=True)
def slide_line(
    board: Bytes,
    flags: Bytes,
    halves: Halves,
    scratch: Bytes,
    first: Int,
    step: Int,
    length: Int,
    axis: np.uint8,
    cascade: bool,
) -> None:
    """Slide one line of the boards that move along it.

    Args:
        board: the boards.
        flags: the flags; ``INDEX`` and ``RANK`` are used up.
        halves: gets the points added.
        scratch: room for the line.
        first: the first cell of the line.
        step: from one cell to the next.
        length: the number of cells.
        axis: `VERTICAL` for a column, `HORIZONTAL` for a row.
        cascade: whether a merged tile can merge again.
    """
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
    """Copy a cell of the boards that move along the axis: `behind` where they move backward."""
    for lane in range(WIDTH):
        direction = directions[lane]
        tile = select((direction & B1) != EMPTY, behind[lane], ahead[lane])
        target[lane] = select(direction >> B1 == axis, tile, EMPTY)


@kernel(borrows=True)
def put_row(target: Bytes, ahead: Bytes, behind: Bytes, directions: Bytes, axis: np.uint8) -> None:
    """Copy a cell back to the boards that move along the axis."""
    for lane in range(WIDTH):
        direction = directions[lane]
        tile = select((direction & B1) != EMPTY, behind[lane], ahead[lane])
        target[lane] = select(direction >> B1 == axis, tile, target[lane])


@kernel(borrows=True)
def mark_empty(gaps: Bytes, tiles: Bytes) -> None:
    """Set `gaps` where a cell is empty."""
    for lane in range(WIDTH):
        gaps[lane] = np.uint8(tiles[lane] == EMPTY)


@kernel(borrows=True)
def close_gap(scratch: Bytes, gaps: Bytes, first: Int, length: Int) -> None:
    """Where `gaps` is set, move the cells of the line behind `first` up by one."""
    for cell in range(first, length - 1):
        pull_row(scratch[row(cell)], scratch[row(cell + 1)], gaps)
    last = scratch[row(length - 1)]
    for lane in range(WIDTH):
        last[lane] = select(gaps[lane] != EMPTY, EMPTY, last[lane])


@kernel(borrows=True)
def pull_row(tiles: Bytes, behind: Bytes, gaps: Bytes) -> None:
    """Where `gaps` is set, move the tiles from `behind`."""
    for lane in range(WIDTH):
        tiles[lane] = select(gaps[lane] != EMPTY, behind[lane], tiles[lane])


@kernel(borrows=True)
def merge_row(tiles: Bytes, behind: Bytes, gaps: Bytes, merged: Bytes) -> None:
    """Merge where the tile behind is equal; set `gaps` there, and `merged` to the new rank."""
    for lane in range(WIDTH):
        tile = tiles[lane]
        equal = (tile == behind[lane]) & (tile != EMPTY)
        bigger = np.uint8(tile + B1)
        tiles[lane] = select(equal, bigger, tile)
        merged[lane] = select(equal, bigger, NO_MERGE)
        gaps[lane] = np.uint8(equal)


@kernel(borrows=True)
def add_merged(points: Halves, merged: Bytes) -> None:
    """Add the merged tiles to `points`; `NO_MERGE` falls out at bit 31."""
    for lane in range(WIDTH):
        points[lane] += U1 << np.uint32(merged[lane]) & POINT_BITS


@kernel(borrows=True)
def legal_any(board: Bytes, flags: Bytes, rows: Int, columns: Int) -> None:
    """Set ``LEGAL`` of every board."""
    legal = flags[LEGAL : LEGAL + WIDTH]
    for lane in range(WIDTH):
        legal[lane] = EMPTY
    for number in range(rows):
        for column in range(columns):
            cell = number * columns + column
            if column + 1 < columns:
                join_rows(legal, board[row(cell)], board[row(cell + 1)], B2)
            if number + 1 < rows:
                join_rows(legal, board[row(cell)], board[row(cell + columns)], EMPTY)


@kernel(borrows=True)
def join_rows(legal: Bytes, tiles: Bytes, neighbours: Bytes, shift: np.uint8) -> None:
    """Add the directions that two neighbouring cells allow."""
    for lane in range(WIDTH):
        legal[lane] |= np.uint8(pair_bits(tiles[lane], neighbours[lane]) << shift)
