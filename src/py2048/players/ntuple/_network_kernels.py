"""n-tuple networks compiled: the weights that a board uses, and their sum.

Boards come in two representations. A packed board is a row of two words, uint64 `[2]`: the low four
bits of each rank, and the mask of the fifth bits, as in ``engine/_board_kernels.py``. Any other
board is a row of cells, uint8 `[cells]` of ranks. Each representation has the same operations.

A tuple is a set of cells. On packed boards its index gathers their nibbles in ascending order; runs
of neighbouring cells are moved together, so a tuple of six cells takes one to three shifts.

Weights are one array, stage after stage and within it tuple after tuple, `stride` numbers apart: 1
in a network, more while it is trained. They are float32, or int16 in a network that only plays. In
training, a weight 0 of a later stage has not been learnt yet; the same weight of the stage before
stands in for it (*promotion*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine._bits_kernels import ONE, popcount
from py2048.engine._board_kernels import (
    NIBBLE,
    ZERO,
    Moved,
    Table,
    place_cells,
    rank_at,
    ranks_cells,
    ranks_packed,
    slide_cells,
    slide_packed,
    slides_4x4,
    spawn_packed,
    symmetries,
    transpose,
)
from py2048.engine.jit import IS_PLAIN, gather_bits, gathers_bits, kernel, prefetch
from py2048.players.ntuple.layout import Code

Int = int | np.int64
Word = np.uint64
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Weights = NDArray[np.float32] | NDArray[np.int16]

SPARE = 8
"""A row of indices is longer by this many words, for the images of a board."""
PACKED_CELLS = 16
BITS = 8


class PackedBoardSpec(NamedTuple):
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
    """The largest rank that has weights."""


class CellBoardSpec(NamedTuple):
    """A shape of board, and the tuples of a network on it."""

    rows: Int
    columns: Int
    cascade: bool
    ranks: Word
    """How many ranks the weights distinguish, including the empty cell."""
    places: NDArray[np.int64]
    """int64 `[tuples * symmetries, longest]`: the cells of each index, then -1."""
    offsets: Words
    """uint64 `[tuples * symmetries]`: where the weights of each index begin."""


Boards = Words | Bytes
BoardSpec = PackedBoardSpec | CellBoardSpec
Indices = Callable[[Words, Int, PackedBoardSpec, Words, Int], None]
"""Writes the indices of the weights of a packed board to a row."""


class ValueParams(NamedTuple):
    """The points of the rules, and the stages of the network."""

    per_merged: float
    """Points for each point of merges."""
    per_move: float
    """Points for each legal move."""
    target: Word
    """The tile that ends the game, or 0."""
    stages: Words
    """uint64 `[stages - 1]`: the least `presence` of each stage after the first, ascending."""
    unit: np.int64
    """Slides that gain fewer points keep a board in its stage."""
    size: Word
    """The number of weights of a stage."""


# --- tile-downgrading ----------------------------------------------------------------------------

# `layout.downgraded` is its plain reference. All ranks to skip are found at once, a bit for each.

EVEN, TOPS = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x8080808080808080)
BYTES, FULL = np.uint64(0x0101010101010101), np.uint64(0x7F)


@kernel(borrows=True)
def removed_ranks(seen: Word, known: Word) -> Word:
    """Return the missing ranks to skip so that the largest becomes known, a bit for each.

    Args:
        seen: a bit for each rank on the board; that of empty cells is ignored.
        known: the largest known rank.
    """
    if (seen >> known) <= ONE:
        return ZERO
    rank = np.int64(63)
    while rank > 0 and (seen >> np.uint64(rank)) & ONE == ZERO:
        rank -= 1
    removed, excess = ZERO, rank - np.int64(known)
    while excess > 0 and rank > 1:
        rank -= 1
        if (seen >> np.uint64(rank)) & ONE == ZERO:
            removed |= ONE << np.uint64(rank)
            excess -= 1
    return removed


@kernel(inline=True, borrows=True)
def downgraded_rank(rank: Word, removed: Word, known: Word) -> Word:
    """Return a rank less the number of skipped ranks below it."""
    return min(rank - popcount(removed & ((ONE << rank) - ONE)), known)


@kernel(borrows=True)
def downgraded_word(low: Word, high: Word, known: Word) -> Word:
    """Return a packed board downgraded to ranks up to `known`, in one word."""
    seen, word = ZERO, ZERO
    for cell in range(PACKED_CELLS):
        seen |= ONE << np.uint64(rank_at(low, high, cell))
    removed = removed_ranks(seen, known)
    for cell in range(PACKED_CELLS):
        rank = downgraded_rank(np.uint64(rank_at(low, high, cell)), removed, known)
        word |= rank << np.uint64(4 * cell)
    return word


@kernel(inline=True, borrows=True)
def known_word(low: Word, high: Word, known: Word) -> Word:
    """Return `downgraded_word`; without larger tiles it is the first word of the board."""
    # The highest bit of each byte is set where its nibble is above `known`.
    add = (FULL - known) * BYTES
    above = (((low & EVEN) + add) | (((low >> NIBBLE) & EVEN) + add)) & TOPS
    if (above | high) != ZERO:
        return downgraded_word(low, high, known)
    return low


# --- packed boards -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _put(boards: Words, slot: Int, moved: Moved) -> np.int64:
    """Write an afterstate to its place; return its points."""
    boards[slot, 0], boards[slot, 1] = moved[0], moved[1]
    return moved[2]


@kernel(inline=True, borrows=True)
def slides_square(boards: Words, spec: PackedBoardSpec, points: NDArray[np.int64]) -> None:
    """Slide board 0, of 4x4 cells, in every direction, into boards 1 to 4.

    Args:
        boards: uint64 `[5 or more, 2]`.
        spec: the shape.
        points: int64 `[4]`, filled with the points, or -1 where nothing moves.
    """
    up, down, left, right = slides_4x4(boards[0, 0], boards[0, 1], spec.cascade, spec.across)
    points[0], points[1] = _put(boards, 1, up), _put(boards, 2, down)
    points[2], points[3] = _put(boards, 3, left), _put(boards, 4, right)


@kernel(inline=True, borrows=True)
def slides_small(boards: Words, spec: PackedBoardSpec, points: NDArray[np.int64]) -> None:
    """Slide board 0, with sides of up to four, in every direction, into boards 1 to 4."""
    rows, columns = np.int64(spec.rows), np.int64(spec.columns)
    for direction in range(4):
        low, high = boards[0, 0], boards[0, 1]
        moved = slide_packed(
            low, high, direction, rows, columns, spec.cascade, spec.across, spec.down
        )
        points[direction] = _put(boards, direction + 1, moved)


@kernel(inline=True, borrows=True)
def spawn_board(
    boards: Words,
    slot: Int,
    word: Word,
    ranks: NDArray[np.uint8],
    cumulative: Words,
    spec: PackedBoardSpec,
) -> None:
    """Put the tile that the draw `word` makes on an empty cell of a board."""
    low, high = boards[slot, 0], boards[slot, 1]
    boards[slot, 0], boards[slot, 1] = spawn_packed(low, high, spec.cells, word, ranks, cumulative)


@kernel(inline=True, borrows=True)
def copy_board(boards: Words, source: Int, others: Words, target: Int) -> None:
    """Copy a board to another place."""
    others[target, 0], others[target, 1] = boards[source, 0], boards[source, 1]


@kernel(borrows=True)
def distinct_sum(boards: Words, slot: Int, spec: PackedBoardSpec) -> Word:
    """Return the sum of the different tiles on a board."""
    return ranks_packed(boards[slot, 0], boards[slot, 1], np.int64(spec.rows * spec.columns))


# --- boards of cells -----------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def copy_cells(boards: Bytes, source: Int, others: Bytes, target: Int) -> None:
    """Copy a board to another place."""
    for cell in range(boards.shape[1]):
        others[target, cell] = boards[source, cell]


@kernel(inline=True, borrows=True)
def slides_cells(boards: Bytes, spec: CellBoardSpec, points: NDArray[np.int64]) -> None:
    """Slide board 0 in every direction, into boards 1 to 4; fill in the points, or -1."""
    for direction in range(4):
        copy_cells(boards, 0, boards, direction + 1)
        after = boards[direction + 1]
        points[direction] = slide_cells(after, direction, spec.rows, spec.columns, spec.cascade)


@kernel(inline=True, borrows=True)
def spawn_cells(
    boards: Bytes,
    slot: Int,
    word: Word,
    ranks: NDArray[np.uint8],
    cumulative: Words,
    _spec: CellBoardSpec,
) -> None:
    """Put the tile that the draw `word` makes on an empty cell of a board."""
    place_cells(boards[slot], word, ranks, cumulative)


@kernel(inline=True, borrows=True)
def distinct_sum_cells(boards: Bytes, slot: Int, _spec: CellBoardSpec) -> Word:
    """Return the sum of the different tiles on a board."""
    return ranks_cells(boards[slot])


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
def images_4x4(a: Word) -> tuple[Word, Word, Word, Word, Word, Word, Word, Word]:
    """Return the symmetric images of a 4x4 board."""
    b = _mirror_4x4(a)
    c, d = _flip_4x4(a), _flip_4x4(b)
    return a, b, c, d, transpose(a), transpose(b), transpose(c), transpose(d)


IndexOf = Callable[[Word], Word]
"""Finds the weight of a tuple on an image of a board."""

WriteImage = Callable[[Word, Word, Words, Int], None]
"""Writes the indices of an image to a row, the image's number after the first of each tuple."""


def make_indices_kernel(code: Code) -> Indices:
    """Return `indices` for one 4x4 network; the shifts and masks of its tuples are constants."""
    write_image: Any = None
    for number, (first, parts) in enumerate(code):
        index_of = make_tuple_index_kernel(first, parts)
        write_image = _make_write_kernel(np.uint64(8 * number), index_of, write_image)

    @kernel(inline=True, borrows=True)
    def indices(boards: Words, slot: Int, spec: PackedBoardSpec, out: Words, row: Int) -> None:
        """Write the indices of the weights of a board to a row of `out`."""
        word = known_word(boards[slot, 0], boards[slot, 1], spec.known)
        a, b, c, d, e, f, g, h = images_4x4(word)
        write_image(a, np.uint64(0), out, row)
        write_image(b, np.uint64(1), out, row)
        write_image(c, np.uint64(2), out, row)
        write_image(d, np.uint64(3), out, row)
        write_image(e, np.uint64(4), out, row)
        write_image(f, np.uint64(5), out, row)
        write_image(g, np.uint64(6), out, row)
        write_image(h, np.uint64(7), out, row)

    return indices


def make_tuple_index_kernel(first: int, parts: tuple[tuple[int, int], ...]) -> IndexOf:
    """Return the kernel that finds the weight of one tuple on an image of a board."""
    begin = np.uint64(first)
    cells = np.uint64(sum(mask << shift for shift, mask in parts))  # in the order of their places
    if not IS_PLAIN and gathers_bits():

        @kernel(inline=True, borrows=True)
        def gathered_index_of(image: Word) -> Word:
            return begin + gather_bits(image, cells)

        return gathered_index_of

    pieces = tuple((np.uint64(shift), np.uint64(mask)) for shift, mask in parts)

    @kernel(inline=True, borrows=True)
    def index_of(image: Word) -> Word:
        index = begin
        for shift, mask in pieces:
            index += (image >> shift) & mask
        return index

    return index_of


def _make_write_kernel(at: Word, index_of: IndexOf, others: WriteImage | None) -> WriteImage:
    """Return the kernel that writes the indices of one image, those of `others` first."""
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
def write_indices(
    word: Word,
    rows: Word,
    columns: Word,
    shifts: Words,
    masks: Words,
    offsets: Words,
    out: Words,
) -> None:
    """Write the indices of the weights of a packed board of any shape.

    Args:
        word: the board, with known ranks only.
        rows: the number of rows.
        columns: the number of columns.
        shifts: as in `PackedBoardSpec`.
        masks: as in `PackedBoardSpec`.
        offsets: as in `PackedBoardSpec`.
        out: uint64 `[tuples * symmetries + SPARE]`; the end is used for the images.
    """
    images = out[len(out) - SPARE :]
    count = symmetries(word, rows, columns, images)
    at = 0
    for number in range(len(offsets)):
        for image in range(count):
            index = offsets[number]
            for part in range(shifts.shape[1]):
                index += (images[image] >> shifts[number, part]) & masks[number, part]
            out[at] = index
            at += 1


@kernel(inline=True, borrows=True)
def write_indices_cells(
    cells: Bytes, seen: Word, ranks: Word, places: NDArray[np.int64], offsets: Words, out: Words
) -> None:
    """Write the indices of the weights of a board of cells.

    Args:
        cells: the board, uint8 `[cells]` of ranks.
        seen: a bit for each rank on it.
        ranks: as in `CellBoardSpec`.
        places: as in `CellBoardSpec`.
        offsets: as in `CellBoardSpec`.
        out: uint64 `[tuples * symmetries or more]`.
    """
    known = ranks - ONE
    removed = removed_ranks(seen, known)
    for number in range(len(offsets)):
        index, scale = offsets[number], ONE
        for cell in places[number]:
            if cell < 0:
                break
            index += downgraded_rank(np.uint64(cells[np.uint64(cell)]), removed, known) * scale
            scale *= ranks
        out[number] = index


@kernel(inline=True, borrows=True)
def indices_small(boards: Words, slot: Int, spec: PackedBoardSpec, out: Words, row: Int) -> None:
    """Write the indices of the weights of a board of any shape to a row of `out`."""
    word = known_word(boards[slot, 0], boards[slot, 1], spec.known)
    write_indices(word, spec.rows, spec.columns, spec.shifts, spec.masks, spec.offsets, out[row])


@kernel(inline=True, borrows=True)
def indices_cells(boards: Bytes, slot: Int, spec: CellBoardSpec, out: Words, row: Int) -> None:
    """Write the indices of the weights of a board of cells to a row of `out`."""
    seen = distinct_sum_cells(boards, slot, spec)
    write_indices_cells(boards[slot], seen, spec.ranks, spec.places, spec.offsets, out[row])


# --- values --------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def stage_of(seen: Word, stages: Words) -> np.int64:
    """Return the stage of a board whose different tiles sum to `seen`."""
    stage = np.int64(0)
    for least in stages:
        stage += np.int64(seen >= least)
    return stage


@kernel(inline=True, borrows=True, fastmath=True)
def total(
    weights: Weights, indices: Words, row: Int, count: Int, first: Word, stride: Word
) -> np.float32:
    """Return the sum of the weights at `indices` of the stage whose first weight is `first`."""
    value = np.float32(0)
    for number in range(count):
        value += weights[(indices[row, number] + first) * stride]
    return value


@kernel(inline=True, borrows=True)
def fetch(
    weights: Weights, indices: Words, row: Int, count: Int, first: Word, stride: Word
) -> None:
    """Prefetch the weights that `total` reads."""
    for number in range(count):
        prefetch(weights, (indices[row, number] + first) * stride)


@kernel(inline=True, borrows=True)
def weight_at(weights: Weights, index: Word, stage: Int, size: Word, stride: Word) -> np.float32:
    """Return a weight of a stage; one not learnt yet is promoted from the stage before."""
    at = (index + np.uint64(stage) * size) * stride
    value: np.float32 = weights[at]
    while value == np.float32(0) and stage > 0:
        stage -= 1
        at -= size * stride
        value = weights[at]
    return value


@kernel(borrows=True)
def total_promoted(
    weights: Weights, indices: Words, row: Int, count: Int, stage: Int, size: Word, stride: Word
) -> np.float32:
    """Return the sum of the weights at `indices` of a later stage."""
    value = np.float32(0)
    for number in range(count):
        value += weight_at(weights, indices[row, number], stage, size, stride)
    return value


@kernel(inline=True, borrows=True)
def value_at(
    weights: Weights, indices: Words, row: Int, count: Int, stage: Int, size: Word, stride: Word
) -> np.float32:
    """Return the value of an afterstate, the points still to come, with promotion."""
    if stage > 0:
        return total_promoted(weights, indices, row, count, stage, size, stride)
    return total(weights, indices, row, count, ZERO, stride)


# --- quantized weights ---------------------------------------------------------------------------


@kernel("(uint8[::1], uint8[::1], uint8[::1], int16[::1])", borrows=True)
def add_changes(used: Bytes, low: Bytes, high: Bytes, steps: NDArray[np.int16]) -> None:
    """Add changes to 16-bit numbers, which wrap around; see ``weights.py``.

    Args:
        used: a bit for each number, the first one highest: whether it changes.
        low: the low bytes of the changes, as zigzag numbers.
        high: their high bytes.
        steps: the numbers.
    """
    size, place = len(steps), np.uint64(0)
    for byte in range(len(used)):
        bits = used[byte]
        if bits == 0:
            continue
        for bit in range(BITS):
            index = BITS * byte + bit
            if index < size and bits & (128 >> bit):
                zigzag = np.int32(low[place]) | np.int32(high[place]) << 8
                change = (zigzag >> 1) ^ -(zigzag & 1)
                steps[np.uint64(index)] = np.int16((np.int32(steps[index]) + change) & 0xFFFF)
                place += np.uint64(1)


@kernel("(int16[::1], float32, float32[::1])", borrows=True)
def write_points(steps: NDArray[np.int16], step: np.float32, weights: NDArray[np.float32]) -> None:
    """Convert quantized weights to points."""
    for index in range(len(steps)):
        weights[index] = np.float32(steps[index]) * step
