"""n-tuple networks on packed boards: which weights a board meets, and what they sum to.

A board is a row of two words, uint64 `[2]`: the ranks' four low bits and the mask of the fifth
bits, as in ``engine/_packed_kernels.py``. `indices` looks at it through a single *word* in which
ranks above 15 count as 15, so weights know tiles up to 32768 and boards know all.

A tuple is a set of cells. Its index gathers their nibbles in ascending order; runs of
neighbouring cells are moved together, so a tuple of six cells takes one to three shifts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048._jit import kernel
from py2048.engine._bits_kernels import ONE, pick_low, pick_rank, popcount
from py2048.engine._packed_kernels import (
    NIBBLE,
    RANKS,
    TOO_BIG,
    ZERO,
    Int,
    Table,
    Word,
    empty_cells,
    nth_cell,
    rank_at,
    slide,
    slide_lines,
    slide_small,
    symmetries,
    transpose,
)

Words = NDArray[np.uint64]
Boards = NDArray[np.uint64]


class PackedSpace(NamedTuple):
    """A shape of board, its slides, and the tuples of a network on it."""

    rows: Word
    columns: Word
    cells: Word
    """The mask of all cells."""
    cascade: bool
    across: Table
    """The line table of a row."""
    down: Table
    """The line table of a column."""
    shifts: NDArray[np.uint64]
    """uint64 `[tuples, parts]`: how far each part of an index is shifted down."""
    masks: NDArray[np.uint64]
    """uint64 `[tuples, parts]`: the bits that it has then."""
    offsets: NDArray[np.uint64]
    """uint64 `[tuples]`: where the weights of each tuple begin."""


# --- boards --------------------------------------------------------------------------------------


@kernel(inline=True)
def word_of(low: Word, high: Word) -> Word:
    """Return the board as weights see it: ranks above 15 count as 15."""
    return low | ((high << NIBBLE) - high)


@kernel
def slide_exactly(
    low: Word, high: Word, direction: Int, space: PackedSpace
) -> tuple[Word, Word, Int]:
    """Slide a board that has, or is about to get, a tile above 32768."""
    rows, columns = np.int64(space.rows), np.int64(space.columns)
    return slide_lines(low, high, np.int64(direction), rows, columns, space.cascade)


def _slider(slide_fast: Any) -> Any:
    """Return the slide of a board in two words, by a fast one of its low word."""

    @kernel(inline=True)
    def slide_board(
        boards: Boards, source: Int, target: Int, direction: Int, space: PackedSpace
    ) -> np.int64:
        """Slide board `source` into `target`; return the points, or -1 if nothing moves."""
        low, high = boards[source, 0], boards[source, 1]
        after, points = slide_fast(low, direction, space)
        after_high = high
        if high != ZERO or points >= TOO_BIG:
            after, after_high, points = slide_exactly(low, high, direction, space)
        if after == low and after_high == high:
            return np.int64(-1)
        boards[target, 0], boards[target, 1] = after, after_high
        return np.int64(points)

    return slide_board


@kernel(inline=True)
def _slide_4x4(low: Word, direction: Int, space: PackedSpace) -> tuple[Word, np.int64]:
    return slide(low, direction, space.across)


@kernel(inline=True)
def _slide_small(low: Word, direction: Int, space: PackedSpace) -> tuple[Word, np.int64]:
    return slide_small(low, direction, space.rows, space.columns, space.across, space.down)


slide_board_4x4 = _slider(_slide_4x4)
slide_board_small = _slider(_slide_small)


@kernel(inline=True)
def spawn_board(
    boards: Boards,
    slot: Int,
    word: Word,
    ranks: NDArray[np.uint8],
    cumulative: Words,
    space: PackedSpace,
) -> None:
    """Put the tile that the draw `word` makes on an empty cell of a board."""
    free = empty_cells(word_of(boards[slot, 0], boards[slot, 1]), space.cells)
    cell = nth_cell(free, pick_low(word, popcount(free)))
    rank = pick_rank(word, ranks, cumulative)
    boards[slot, 0] |= (rank & RANKS) << cell
    boards[slot, 1] |= (rank >> NIBBLE) << cell


@kernel(inline=True)
def copy_board(boards: Boards, source: Int, others: Boards, target: Int) -> None:
    """Copy a board to another place."""
    others[target, 0], others[target, 1] = boards[source, 0], boards[source, 1]


@kernel
def presence(boards: Boards, slot: Int, space: PackedSpace) -> Word:
    """Return the sum of the different tiles on a board, which orders boards by largest tiles."""
    seen = ZERO
    for cell in range(np.int64(space.rows * space.columns)):
        seen |= ONE << np.uint64(rank_at(boards[slot, 0], boards[slot, 1], cell))
    return seen & ~ONE


# --- indices -------------------------------------------------------------------------------------


@kernel(inline=True)
def _mirror_4x4(word: Word) -> Word:
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)) | (
        (word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    )
    return ((word & np.uint64(0x0F0F0F0F0F0F0F0F)) << NIBBLE) | (
        (word >> NIBBLE) & np.uint64(0x0F0F0F0F0F0F0F0F)
    )


@kernel(inline=True)
def _flip_4x4(word: Word) -> Word:
    word = (word << np.uint64(32)) | (word >> np.uint64(32))
    return ((word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)) | (
        (word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    )


@kernel(inline=True)
def indices_4x4(boards: Boards, slot: Int, space: PackedSpace, out: Words) -> None:
    """Write the indices of the weights that a board meets to `out`, uint64 `[tuples * 8]`."""
    a = word_of(boards[slot, 0], boards[slot, 1])
    b = _mirror_4x4(a)
    c, d = _flip_4x4(a), _flip_4x4(b)
    e, f, g, h = transpose(a), transpose(b), transpose(c), transpose(d)
    parts = space.shifts.shape[1]
    for number in range(len(space.offsets)):
        first = space.offsets[number]
        i0 = i1 = i2 = i3 = i4 = i5 = i6 = i7 = first
        for part in range(parts):
            shift, mask = space.shifts[number, part], space.masks[number, part]
            i0 += (a >> shift) & mask
            i1 += (b >> shift) & mask
            i2 += (c >> shift) & mask
            i3 += (d >> shift) & mask
            i4 += (e >> shift) & mask
            i5 += (f >> shift) & mask
            i6 += (g >> shift) & mask
            i7 += (h >> shift) & mask
        at = np.uint64(8 * number)
        out[at], out[at + np.uint64(1)] = i0, i1
        out[at + np.uint64(2)], out[at + np.uint64(3)] = i2, i3
        out[at + np.uint64(4)], out[at + np.uint64(5)] = i4, i5
        out[at + np.uint64(6)], out[at + np.uint64(7)] = i6, i7


@kernel(inline=True)
def indices_small(boards: Boards, slot: Int, space: PackedSpace, out: Words) -> None:
    """Write the indices of the weights that a board of any shape meets to `out`.

    Args:
        boards: the boards.
        slot: which of them.
        space: the shape and its tuples.
        out: uint64, at least `[tuples * symmetries + 8]`; the end is used for the images.
    """
    word = word_of(boards[slot, 0], boards[slot, 1])
    images = out[len(out) - 8 :]
    count = symmetries(word, space.rows, space.columns, images)
    at = 0
    for number in range(len(space.offsets)):
        for image in range(count):
            index = space.offsets[number]
            for part in range(space.shifts.shape[1]):
                shift, mask = space.shifts[number, part], space.masks[number, part]
                index += (images[image] >> shift) & mask
            out[at] = index
            at += 1
