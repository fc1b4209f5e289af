"""n-tuple networks on packed boards: which weights a board meets, and what they sum to.

A board is a row of two words, uint64 `[2]`: the ranks' four low bits and the mask of the fifth
bits, as in ``compiled/_board_kernels.py``. `indices` looks at it through a single *word* in which
all ranks are known to the network (``_lowering_kernels.py``), so boards may have any tile.

A tuple is a set of cells. Its index gathers their nibbles in ascending order; runs of
neighbouring cells are moved together, so a tuple of six cells takes one to three shifts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import HALF, ONE, pick_low, pick_rank, popcount
from py2048.compiled._board_kernels import (
    LINE,
    LINE_BITS,
    NIBBLE,
    RANKS,
    TOO_BIG,
    TWO,
    ZERO,
    Int,
    Table,
    Word,
    empty_cells,
    nth_cell,
    rank_at,
    slide_lines,
    slide_small,
    symmetries,
    transpose,
)
from py2048.compiled.jit import kernel
from py2048.ntuple._lowering_kernels import known_word

Code = tuple[tuple[int, tuple[tuple[int, int], ...]], ...]
"""For each tuple where its weights begin, and the shift and mask of each part of its index."""
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
    known: Word
    """The largest rank that weights know."""


# --- boards --------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def word_of(low: Word, high: Word) -> Word:
    """Return the board in one word, in which ranks above 15 count as 15."""
    return low | ((high << NIBBLE) - high)


@kernel(borrows=True)
def slide_exactly(
    low: Word, high: Word, direction: Int, space: PackedSpace
) -> tuple[Word, Word, Int]:
    """Slide a board that has, or is about to get, a tile above 32768."""
    rows, columns = np.int64(space.rows), np.int64(space.columns)
    return slide_lines(low, high, np.int64(direction), rows, columns, space.cascade)


@kernel(inline=True, borrows=True)
def _put_slide(
    boards: Boards, direction: Int, after: Word, gained: Word, space: PackedSpace
) -> np.int64:
    """Write one afterstate of board 0 to its place; return the points, or -1 if nothing moved."""
    low, high = boards[0, 0], boards[0, 1]
    after_high, points = high, np.int64(gained)
    if high != ZERO or points >= TOO_BIG:
        after, after_high, exact = slide_exactly(low, high, direction, space)
        points = np.int64(exact)
    boards[direction + 1, 0], boards[direction + 1, 1] = after, after_high
    return np.int64(-1) if after == low and after_high == high else np.int64(points)


@kernel(inline=True, borrows=True)
def _slide_both(word: Word, table: Table) -> tuple[Word, Word, Word, Word]:
    """Slide the rows of a 4x4 board both ways; return both afterstates, then both points.

    An entry of the table has both, so this takes the four look-ups of one slide.
    """
    row0, row1 = table[word & LINE], table[(word >> LINE_BITS) & LINE]
    row2, row3 = table[(word >> HALF) & LINE], table[word >> np.uint64(48)]
    upper = LINE << LINE_BITS
    left = (row0 & LINE) | (row1 & LINE) << LINE_BITS | (row2 & LINE) << HALF
    left |= row3 << np.uint64(48)
    right = (row0 & upper) >> LINE_BITS | (row1 & upper) | (row2 & upper) << LINE_BITS
    right |= (row3 & upper) << HALF
    row0, row1, row2, row3 = row0 >> HALF, row1 >> HALF, row2 >> HALF, row3 >> HALF
    lefts = (row0 & LINE) + (row1 & LINE) + (row2 & LINE) + (row3 & LINE)
    rights = (row0 >> LINE_BITS) + (row1 >> LINE_BITS) + (row2 >> LINE_BITS) + (row3 >> LINE_BITS)
    return left, right, lefts << TWO, rights << TWO


@kernel(inline=True, borrows=True)
def slides_4x4(boards: Boards, space: PackedSpace, points: NDArray[np.int64]) -> None:
    """Slide board 0 in every direction, into boards 1 to 4.

    Args:
        boards: uint64 `[5 or more, 2]`.
        space: the shape.
        points: int64 `[4]`, filled with the points, or -1 where nothing moves.
    """
    word = boards[0, 0]
    up, down, ups, downs = _slide_both(transpose(word), space.across)
    left, right, lefts, rights = _slide_both(word, space.across)
    points[0] = _put_slide(boards, 0, transpose(up), ups, space)
    points[1] = _put_slide(boards, 1, transpose(down), downs, space)
    points[2] = _put_slide(boards, 2, left, lefts, space)
    points[3] = _put_slide(boards, 3, right, rights, space)


@kernel(inline=True, borrows=True)
def slides_small(boards: Boards, space: PackedSpace, points: NDArray[np.int64]) -> None:
    """Slide board 0, with sides of up to four, in every direction, into boards 1 to 4."""
    for direction in range(4):
        after, gained = slide_small(
            boards[0, 0], direction, space.rows, space.columns, space.across, space.down
        )
        points[direction] = _put_slide(boards, direction, after, np.uint64(gained), space)


@kernel(inline=True, borrows=True)
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


@kernel(inline=True, borrows=True)
def copy_board(boards: Boards, source: Int, others: Boards, target: Int) -> None:
    """Copy a board to another place."""
    others[target, 0], others[target, 1] = boards[source, 0], boards[source, 1]


@kernel(borrows=True)
def presence(boards: Boards, slot: Int, space: PackedSpace) -> Word:
    """Return the sum of the different tiles on a board, which orders boards by largest tiles."""
    seen = ZERO
    for cell in range(np.int64(space.rows * space.columns)):
        seen |= ONE << np.uint64(rank_at(boards[slot, 0], boards[slot, 1], cell))
    return seen & ~ONE


# --- indices -------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _mirror_4x4(word: Word) -> Word:
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)) | (
        (word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    )
    return ((word & np.uint64(0x0F0F0F0F0F0F0F0F)) << NIBBLE) | (
        (word >> NIBBLE) & np.uint64(0x0F0F0F0F0F0F0F0F)
    )


@kernel(inline=True, borrows=True)
def _flip_4x4(word: Word) -> Word:
    word = (word << np.uint64(32)) | (word >> np.uint64(32))
    return ((word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)) | (
        (word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    )


@kernel(inline=True, borrows=True)
def indices_4x4(boards: Boards, slot: Int, space: PackedSpace, out: Words, row: Int) -> None:
    """Write the indices of the weights that a board meets to a row of `out`."""
    a = known_word(boards[slot, 0], boards[slot, 1], space.known)
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
        out[row, at], out[row, at + np.uint64(1)] = i0, i1
        out[row, at + np.uint64(2)], out[row, at + np.uint64(3)] = i2, i3
        out[row, at + np.uint64(4)], out[row, at + np.uint64(5)] = i4, i5
        out[row, at + np.uint64(6)], out[row, at + np.uint64(7)] = i6, i7


def indexer_4x4(tuples: Code) -> Any:
    """Return `indices_4x4` for one network, whose shifts and masks become part of its code."""
    write_image: Any = None
    for number, (first, parts) in enumerate(tuples):
        write_image = _image_writer(np.uint64(number), tuple_indexer(first, parts), write_image)

    @kernel(inline=True, borrows=True)
    def indices(boards: Boards, slot: Int, space: PackedSpace, out: Words, row: Int) -> None:
        """Write the indices of the weights that a board meets to a row of `out`."""
        a = known_word(boards[slot, 0], boards[slot, 1], space.known)
        b = _mirror_4x4(a)
        c, d = _flip_4x4(a), _flip_4x4(b)
        write_image(a, np.uint64(0), out, row)
        write_image(b, np.uint64(1), out, row)
        write_image(c, np.uint64(2), out, row)
        write_image(d, np.uint64(3), out, row)
        write_image(transpose(a), np.uint64(4), out, row)
        write_image(transpose(b), np.uint64(5), out, row)
        write_image(transpose(c), np.uint64(6), out, row)
        write_image(transpose(d), np.uint64(7), out, row)

    return indices


def tuple_indexer(first: int, parts: tuple[tuple[int, int], ...]) -> Any:
    """Return the kernel that finds the weight of one tuple on an image of a board."""
    index_of: Any = None
    for shift, mask in parts:
        index_of = _part_indexer(np.uint64(shift), np.uint64(mask), np.uint64(first), index_of)
    return index_of


def _part_indexer(shift: Word, mask: Word, first: Word, others: Any) -> Any:
    if others is None:

        @kernel(inline=True, borrows=True)
        def index_of(image: Word) -> Word:
            return first + ((image >> shift) & mask)

    else:

        @kernel(inline=True, borrows=True)
        def index_of(image: Word) -> Any:
            return others(image) + ((image >> shift) & mask)

    return index_of


def _image_writer(number: Word, index_of: Any, others: Any) -> Any:
    """Return the kernel that writes the indices of one image, those of `others` first."""
    at = number * np.uint64(8)
    if others is None:

        @kernel(inline=True, borrows=True)
        def write(image: Word, place: Word, out: Words, row: Int) -> None:
            out[row, at + place] = index_of(image)

    else:

        @kernel(inline=True, borrows=True)
        def write(image: Word, place: Word, out: Words, row: Int) -> None:
            others(image, place, out, row)
            out[row, at + place] = index_of(image)

    return write


@kernel(inline=True, borrows=True)
def indices_small(boards: Boards, slot: Int, space: PackedSpace, out: Words, row: Int) -> None:
    """Write the indices of the weights that a board of any shape meets to a row of `out`.

    Args:
        boards: the boards.
        slot: which of them.
        space: the shape and its tuples.
        out: uint64 `[rows, tuples * symmetries + 8]`; the end is used for the images.
        row: which of its rows.
    """
    word = known_word(boards[slot, 0], boards[slot, 1], space.known)
    images = out[row, out.shape[1] - 8 :]
    count = symmetries(word, space.rows, space.columns, images)
    at = 0
    for number in range(len(space.offsets)):
        for image in range(count):
            index = space.offsets[number]
            for part in range(space.shifts.shape[1]):
                shift, mask = space.shifts[number, part], space.masks[number, part]
                index += (images[image] >> shift) & mask
            out[row, at] = index
            at += 1
