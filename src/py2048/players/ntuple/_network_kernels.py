"""Compiled n-tuple networks: kernels that compute a board's weight indices and sum the weights.

Boards have two representations, with the same operations. Packed boards are uint64 arrays `[2]`:
the first word holds the low four bits of each rank, and the second word holds the fifth bits (see
``engine/_board_kernels.py``). All other boards are uint8 arrays `[cells]` with the rank of each
cell.

A tuple is a set of cells. On packed boards, a tuple's weight index consists of the nibbles of its
cells, in ascending order. One shift extracts a run of adjacent cells, so a tuple of six cells takes
one to three shifts.

All weights are in one array, ordered by stage and then by tuple. The `stride` between consecutive
weights is 1 in finished networks and larger during training. Weights are float32, or int16 in
quantised networks. During training, a weight of 0 in a later stage has not been learned yet.
Kernels replace a weight that has not been learned with the corresponding weight from an earlier
stage, which is called *promotion*.
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
from py2048.engine.jit import IS_PLAIN, kernel
from py2048.engine.jit.numba_parts import gather_bits, gathers_bits, prefetch
from py2048.players.ntuple.layout import Code

Int = int | np.int64
Word = np.uint64
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Weights = NDArray[np.float32] | NDArray[np.int16]

SPARE = 8
"""Extra words at the end of each row of indices, in which kernels store a board's images."""
PACKED_CELLS = 16
BITS = 8


class PackedBoardSpec(NamedTuple):
    """Board shape, slide tables and network tuples, for packed boards."""

    rows: Word
    columns: Word
    cells: Word
    """Mask of all cells."""
    cascade: bool
    across: Table
    """Lookup table with the slides of all possible rows."""
    down: Table
    """Lookup table with the slides of all possible columns."""
    shifts: NDArray[np.uint64]
    """Right shift for each run of adjacent cells in a tuple, uint64 `[tuples, parts]`."""
    masks: NDArray[np.uint64]
    """Mask applied after the shift of each run of adjacent cells, uint64 `[tuples, parts]`."""
    offsets: NDArray[np.uint64]
    """Index of each tuple's first weight, uint64 `[tuples]`."""
    known: Word
    """Largest rank that has weights."""


class CellBoardSpec(NamedTuple):
    """Board shape and network tuples, for boards with one array entry per cell."""

    rows: Int
    columns: Int
    cascade: bool
    ranks: Word
    """Number of ranks that have their own weights, including the empty cell."""
    places: NDArray[np.int64]
    """Cells of each tuple's images, int64 `[tuples * symmetries, longest]`, padded with -1."""
    offsets: Words
    """Index of each tuple's first weight, uint64 `[tuples * symmetries]`."""


Boards = Words | Bytes
BoardSpec = PackedBoardSpec | CellBoardSpec
Indices = Callable[[Words, Int, PackedBoardSpec, Words, Int], None]
"""A kernel that writes the weight indices of a packed board to a row of an array."""


class ValueParams(NamedTuple):
    """The scoring rules and the stages that determine a board's value."""

    per_merged: float
    """Points per merge point."""
    per_move: float
    """Points per legal move."""
    target: Word
    """Tile that ends the game, or 0."""
    stages: Words
    """Thresholds of the later stages, ascending, uint64 `[stages - 1]`."""
    unit: np.int64
    """A slide that gains fewer points than this number cannot change the stage."""
    size: Word
    """Number of weights per stage."""


# --- tile-downgrading ----------------------------------------------------------------------------

# `layout.downgraded` is the reference implementation and removes one rank at a time. The kernels
# find all removed ranks in a single pass.

EVEN, TOPS = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x8080808080808080)
BYTES, FULL = np.uint64(0x0101010101010101), np.uint64(0x7F)


@kernel(borrows=True)
def removed_ranks(seen: Word, known: Word) -> Word:
    """Return the unused ranks that tile-downgrading removes, as a bit set.

    Args:
        seen: Bit set of the ranks on the board; bit 0 is ignored.
        known: Largest rank that has weights.
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
    """Lower a rank by the number of removed ranks below it, and to at most `known`."""
    return min(rank - popcount(removed & ((ONE << rank) - ONE)), known)


@kernel(borrows=True)
def downgraded_word(low: Word, high: Word, known: Word) -> Word:
    """Downgrade the ranks of a packed board to at most `known`; return a single word."""
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
    """Downgrade a packed board, with a fast path for boards without large tiles."""
    # Set the highest bit of each byte that contains a rank above `known`.
    add = (FULL - known) * BYTES
    above = (((low & EVEN) + add) | (((low >> NIBBLE) & EVEN) + add)) & TOPS
    if (above | high) != ZERO:
        return downgraded_word(low, high, known)
    return low


# --- packed boards -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _put(boards: Words, slot: Int, moved: Moved) -> np.int64:
    """Write an afterstate to a slot; return the points of the slide."""
    boards[slot, 0], boards[slot, 1] = moved[0], moved[1]
    return moved[2]


@kernel(inline=True, borrows=True)
def slides_square(boards: Words, spec: PackedBoardSpec, points: NDArray[np.int64]) -> None:
    """Slide the 4x4 board in slot 0 in all directions; write the afterstates to slots 1 to 4.

    Args:
        boards: Slots for at least five packed boards, uint64 `[slots, 2]`.
        spec: Board shape.
        points: Receives the points of each slide, -1 if illegal; int64 `[4]`.
    """
    up, down, left, right = slides_4x4(boards[0, 0], boards[0, 1], spec.cascade, spec.across)
    points[0], points[1] = _put(boards, 1, up), _put(boards, 2, down)
    points[2], points[3] = _put(boards, 3, left), _put(boards, 4, right)


@kernel(inline=True, borrows=True)
def slides_small(boards: Words, spec: PackedBoardSpec, points: NDArray[np.int64]) -> None:
    """Slide the small board in slot 0 in all directions; write the afterstates to slots 1 to 4."""
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
    """Put a random tile on a board; the random number `word` selects the tile and the cell."""
    low, high = boards[slot, 0], boards[slot, 1]
    boards[slot, 0], boards[slot, 1] = spawn_packed(low, high, spec.cells, word, ranks, cumulative)


@kernel(inline=True, borrows=True)
def copy_board(boards: Words, source: Int, others: Words, target: Int) -> None:
    """Copy a board to another slot."""
    others[target, 0], others[target, 1] = boards[source, 0], boards[source, 1]


@kernel(borrows=True)
def distinct_sum(boards: Words, slot: Int, spec: PackedBoardSpec) -> Word:
    """Return the sum of the distinct tiles on a board."""
    return ranks_packed(boards[slot, 0], boards[slot, 1], np.int64(spec.rows * spec.columns))


# --- boards of cells -----------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def copy_cells(boards: Bytes, source: Int, others: Bytes, target: Int) -> None:
    """Copy a board to another slot."""
    for cell in range(boards.shape[1]):
        others[target, cell] = boards[source, cell]


@kernel(inline=True, borrows=True)
def slides_cells(boards: Bytes, spec: CellBoardSpec, points: NDArray[np.int64]) -> None:
    """Slide the board in slot 0 in all directions; write the afterstates to slots 1 to 4."""
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
    """Put a random tile on a board; the random number `word` selects the tile and the cell."""
    place_cells(boards[slot], word, ranks, cumulative)


@kernel(inline=True, borrows=True)
def distinct_sum_cells(boards: Bytes, slot: Int, _spec: CellBoardSpec) -> Word:
    """Return the sum of the distinct tiles on a board."""
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
    """Return the eight rotations and reflections of a 4x4 board."""
    b = _mirror_4x4(a)
    c, d = _flip_4x4(a), _flip_4x4(b)
    return a, b, c, d, transpose(a), transpose(b), transpose(c), transpose(d)


IndexOf = Callable[[Word], Word]
"""A kernel that computes a tuple's weight index for one image of the board."""

WriteImage = Callable[[Word, Word, Words, Int], None]
"""A kernel that writes the weight indices of all tuples for one image of a board.

A board's images are its eight rotations and reflections. An output row contains an index for each
tuple and image.
"""


def make_indices_kernel(code: Code) -> Indices:
    """Build the index kernel of a 4x4 network, with its shifts and masks as constants."""
    write_image: Any = None
    for number, (first, parts) in enumerate(code):
        index_of = make_tuple_index_kernel(first, parts)
        write_image = _make_write_kernel(np.uint64(8 * number), index_of, write_image)

    @kernel(inline=True, borrows=True)
    def indices(boards: Words, slot: Int, spec: PackedBoardSpec, out: Words, row: Int) -> None:
        """Write a board's weight indices to a row of `out`."""
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
    """Build the kernel that computes a tuple's weight index for an image of the board."""
    begin = np.uint64(first)
    cells = np.uint64(sum(mask << shift for shift, mask in parts))  # union of the index parts
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
    """Build a kernel that calls `others`, if given, and then writes a tuple's weight index."""
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
    """Write the weight indices of a packed board of any shape.

    Args:
        word: The board. Its ranks must not exceed `known`.
        rows: Number of rows.
        columns: Number of columns.
        shifts: As in `PackedBoardSpec`.
        masks: As in `PackedBoardSpec`.
        offsets: As in `PackedBoardSpec`.
        out: uint64 `[tuples * symmetries + SPARE]`; the last `SPARE` words are scratch space.
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
    """Write the weight indices of a board given as ranks.

    Args:
        cells: The board as ranks, uint8 `[cells]`.
        seen: Bit set of the ranks on the board.
        ranks: As in `CellBoardSpec`.
        places: As in `CellBoardSpec`.
        offsets: As in `CellBoardSpec`.
        out: Receives the weight indices, uint64 `[tuples * symmetries]` or longer.
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
    """Write the weight indices of a packed board of any shape to a row of `out`."""
    word = known_word(boards[slot, 0], boards[slot, 1], spec.known)
    write_indices(word, spec.rows, spec.columns, spec.shifts, spec.masks, spec.offsets, out[row])


@kernel(inline=True, borrows=True)
def indices_cells(boards: Bytes, slot: Int, spec: CellBoardSpec, out: Words, row: Int) -> None:
    """Write the weight indices of a board given as ranks to a row of `out`."""
    seen = distinct_sum_cells(boards, slot, spec)
    write_indices_cells(boards[slot], seen, spec.ranks, spec.places, spec.offsets, out[row])


# --- values --------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def stage_of(seen: Word, stages: Words) -> np.int64:
    """Return the stage of a board, given the sum of its distinct tiles."""
    stage = np.int64(0)
    for least in stages:
        stage += np.int64(seen >= least)
    return stage


@kernel(inline=True, borrows=True, fastmath=True)
def total(
    weights: Weights, indices: Words, row: Int, count: Int, first: Word, stride: Word
) -> np.float32:
    """Return the sum of the weights at `indices` in the stage that starts at the index `first`."""
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
    """Return a weight; use an earlier stage if the stage has not learned this weight."""
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
    """Sum the weights of a later stage, with promotion from earlier stages."""
    value = np.float32(0)
    for number in range(count):
        value += weight_at(weights, indices[row, number], stage, size, stride)
    return value


@kernel(inline=True, borrows=True)
def value_at(
    weights: Weights, indices: Words, row: Int, count: Int, stage: Int, size: Word, stride: Word
) -> np.float32:
    """Return an afterstate's expected points, with promotion from earlier stages."""
    if stage > 0:
        return total_promoted(weights, indices, row, count, stage, size, stride)
    return total(weights, indices, row, count, ZERO, stride)


# --- quantized weights ---------------------------------------------------------------------------


@kernel("(uint8[::1], uint8[::1], uint8[::1], int16[::1])", borrows=True)
def add_changes(used: Bytes, low: Bytes, high: Bytes, steps: NDArray[np.int16]) -> None:
    """Add encoded differences to 16-bit numbers, with wraparound; see ``weights.py``.

    Args:
        used: Bitmap with one bit per number, set if the number changes; most significant bit first.
        low: Low bytes of the zigzag-encoded differences.
        high: High bytes of the differences.
        steps: Numbers to update.
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
    """Convert quantised weights to points."""
    for index in range(len(steps)):
        weights[index] = np.float32(steps[index]) * step
