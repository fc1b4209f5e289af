"""Boards as searches handle them: one set of operations for each kind of board.

A search passes boards around by a *handle*, and never looks into it. A packed board is its own
handle, two words as in ``compiled/_board_kernels.py``. A board of any other shape is kept in the
arena of the desk (``desk.py``), and its handle is the slot there; a search that stands `level`
moves ahead uses the slots from ``SLOTS * level`` on: the board, and its four afterstates.

Every kind has the same operations:

- ``slides(board, level, desk)``: the afterstate and the points for each direction, the points -1
  where nothing moves;
- ``next_empty(board, cell, desk)``: the first empty cell from `cell` on, or -1;
- ``count_empty(board, desk)``: the number of empty cells;
- ``with_tile(board, cell, rank, level, desk)``: the board of `level` that the tile makes;
- ``name_of(board, desk)``: a word that differs between boards, with all but certainty;
- ``ranks_on(board, desk)``: a word with a bit for each rank on the board;
- ``load(cells, slot, desk)`` and ``store(board, cells, desk)``: from and to ranks, uint8 `[cells]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import HALF, ONE, mix64, popcount, trailing_zeros
from py2048.compiled._board_kernels import (
    LINE,
    LINE_BITS,
    NIBBLE,
    RANKS,
    TOO_BIG,
    TWO,
    ZERO,
    empty_cells,
    rank_at,
    slide_cells,
    slide_lines,
    slide_small,
    transpose,
)
from py2048.compiled.jit import kernel
from py2048.search.desk import SLOTS

Int = int | np.int64
Word = np.uint64
Packed = tuple[Word, Word]
Cells = NDArray[np.uint8]

ODD = np.uint64(0x9E3779B97F4A7C15)
_UPPER = LINE << LINE_BITS


# --- packed boards -------------------------------------------------------------------------------


@kernel(borrows=True)
def slide_exactly(board: Packed, direction: Int, desk: Any) -> tuple[Packed, np.int64]:
    """Slide a board that has, or is about to get, a tile above 32768."""
    low, high, points = slide_lines(
        board[0], board[1], np.int64(direction), desk.rows, desk.columns, desk.cascade != 0
    )
    moved = low != board[0] or high != board[1]
    return (low, high), np.int64(points) if moved else np.int64(-1)


@kernel(inline=True, borrows=True)
def _checked(
    board: Packed, after: Word, points: Word, direction: Int, desk: Any
) -> tuple[Packed, np.int64]:
    """Return an afterstate with its points, slid again if a tile is too large for the tables."""
    gained = np.int64(points)
    if board[1] != ZERO or gained >= TOO_BIG:
        return slide_exactly(board, direction, desk)
    return (after, ZERO), np.int64(-1) if after == board[0] else gained


@kernel(inline=True, borrows=True)
def _slide_both(word: Word, table: NDArray[np.uint64]) -> tuple[Word, Word, Word, Word]:
    """Slide the rows of a 4x4 board both ways; return both afterstates, then both points."""
    row0, row1 = table[word & LINE], table[(word >> LINE_BITS) & LINE]
    row2, row3 = table[(word >> HALF) & LINE], table[word >> np.uint64(48)]
    left = (row0 & LINE) | (row1 & LINE) << LINE_BITS | (row2 & LINE) << HALF
    left |= row3 << np.uint64(48)
    right = (row0 & _UPPER) >> LINE_BITS | (row1 & _UPPER) | (row2 & _UPPER) << LINE_BITS
    right |= (row3 & _UPPER) << HALF
    lefts = ((row0 >> HALF) & LINE) + ((row1 >> HALF) & LINE)
    lefts += ((row2 >> HALF) & LINE) + ((row3 >> HALF) & LINE)
    rights = (row0 >> np.uint64(48)) + (row1 >> np.uint64(48))
    rights += (row2 >> np.uint64(48)) + (row3 >> np.uint64(48))
    return left, right, lefts << TWO, rights << TWO


@kernel(inline=True, borrows=True)
def slides_4x4(board: Packed, _level: Int, desk: Any) -> Any:
    """Slide a 4x4 board in every direction."""
    word = board[0]
    up, down, ups, downs = _slide_both(transpose(word), desk.across)
    left, right, lefts, rights = _slide_both(word, desk.across)
    return (
        _checked(board, transpose(up), ups, 0, desk),
        _checked(board, transpose(down), downs, 1, desk),
        _checked(board, left, lefts, 2, desk),
        _checked(board, right, rights, 3, desk),
    )


@kernel(borrows=True)
def _slide_small(board: Packed, direction: Int, desk: Any) -> tuple[Packed, np.int64]:
    after, points = slide_small(
        board[0],
        np.int64(direction),
        np.uint64(desk.rows),
        np.uint64(desk.columns),
        desk.across,
        desk.down,
    )
    return _checked(board, after, np.uint64(points), direction, desk)


@kernel(borrows=True)
def slides_small(board: Packed, _level: Int, desk: Any) -> Any:
    """Slide a board with sides of up to four in every direction."""
    return (
        _slide_small(board, 0, desk),
        _slide_small(board, 1, desk),
        _slide_small(board, 2, desk),
        _slide_small(board, 3, desk),
    )


@kernel(inline=True, borrows=True)
def word_of(board: Packed) -> Word:
    """Return the board in one word, in which ranks above 15 count as 15."""
    return board[0] | ((board[1] << NIBBLE) - board[1])


@kernel(inline=True, borrows=True)
def next_empty_packed(board: Packed, cell: Int, desk: Any) -> np.int64:
    """Return the first empty cell from `cell` on, or -1."""
    if cell > 15:
        return np.int64(-1)
    empty = empty_cells(word_of(board), desk.mask) >> np.uint64(4 * cell)
    return np.int64(-1) if empty == ZERO else cell + np.int64(trailing_zeros(empty) >> TWO)


@kernel(inline=True, borrows=True)
def count_empty_packed(board: Packed, desk: Any) -> np.int64:
    """Return the number of empty cells."""
    return np.int64(popcount(empty_cells(word_of(board), desk.mask)))


@kernel(inline=True, borrows=True)
def with_tile_packed(board: Packed, cell: Int, rank: Word, _level: Int, _desk: Any) -> Packed:
    """Return the board with one more tile."""
    shift = np.uint64(4 * cell)
    return board[0] | (rank & RANKS) << shift, board[1] | (rank >> NIBBLE) << shift


@kernel(inline=True, borrows=True)
def name_of_packed(board: Packed, _desk: Any) -> Word:
    """Return a word that differs between boards; it is the board itself up to 32768."""
    return board[0] if board[1] == ZERO else board[0] ^ mix64(board[1])


@kernel(borrows=True)
def ranks_on_packed(board: Packed, desk: Any) -> Word:
    """Return a word with a bit for each rank on the board."""
    seen = ZERO
    for cell in range(desk.cells):
        seen |= ONE << np.uint64(rank_at(board[0], board[1], cell))
    return seen & ~ONE


@kernel(borrows=True)
def load_packed(cells: Cells, _slot: Int, desk: Any) -> Packed:
    """Return a board of ranks, uint8 `[cells]`."""
    low, high = ZERO, ZERO
    for cell in range(desk.cells):
        rank = np.uint64(cells[cell])
        low |= (rank & RANKS) << np.uint64(4 * cell)
        high |= (rank >> NIBBLE) << np.uint64(4 * cell)
    return low, high


@kernel(borrows=True)
def store_packed(board: Packed, cells: Cells, desk: Any) -> None:
    """Write the ranks of a board."""
    for cell in range(desk.cells):
        cells[cell] = rank_at(board[0], board[1], cell)


# --- boards of any shape -------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _copy(source: Int, target: Int, desk: Any) -> None:
    for cell in range(desk.cells):
        desk.arena[target, cell] = desk.arena[source, cell]


@kernel(borrows=True)
def _slide_cells(board: Int, direction: Int, level: Int, desk: Any) -> tuple[np.int64, np.int64]:
    slot = np.int64(SLOTS * level + 1 + direction)
    _copy(board, slot, desk)
    points = slide_cells(
        desk.arena[slot], np.int64(direction), desk.rows, desk.columns, desk.cascade != 0
    )
    return slot, np.int64(points)


@kernel(borrows=True)
def slides_cells(board: Int, level: Int, desk: Any) -> Any:
    """Slide a board in every direction, into the slots of its level."""
    return (
        _slide_cells(board, 0, level, desk),
        _slide_cells(board, 1, level, desk),
        _slide_cells(board, 2, level, desk),
        _slide_cells(board, 3, level, desk),
    )


@kernel(inline=True, borrows=True)
def next_empty_cells(board: Int, cell: Int, desk: Any) -> np.int64:
    """Return the first empty cell from `cell` on, or -1."""
    for number in range(cell, desk.cells):
        if desk.arena[board, number] == 0:
            return np.int64(number)
    return np.int64(-1)


@kernel(inline=True, borrows=True)
def count_empty_cells(board: Int, desk: Any) -> np.int64:
    """Return the number of empty cells."""
    count = np.int64(0)
    for cell in range(desk.cells):
        count += np.int64(desk.arena[board, cell] == 0)
    return count


@kernel(inline=True, borrows=True)
def with_tile_cells(board: Int, cell: Int, rank: Word, level: Int, desk: Any) -> np.int64:
    """Return the board of `level` that has one more tile."""
    slot = np.int64(SLOTS * level)
    _copy(board, slot, desk)
    desk.arena[slot, cell] = np.uint8(rank)
    return slot


@kernel(borrows=True)
def name_of_cells(board: Int, desk: Any) -> Word:
    """Return a word that differs between boards, with all but certainty."""
    name = ODD
    for cell in range(desk.cells):
        name = (name ^ np.uint64(desk.arena[board, cell])) * ODD
        name ^= name >> np.uint64(29)
    return name


@kernel(borrows=True)
def ranks_on_cells(board: Int, desk: Any) -> Word:
    """Return a word with a bit for each rank on the board."""
    seen = ZERO
    for cell in range(desk.cells):
        seen |= ONE << np.uint64(desk.arena[board, cell])
    return seen & ~ONE


@kernel(borrows=True)
def load_cells(cells: Cells, slot: Int, desk: Any) -> np.int64:
    """Return a board of ranks, put into a slot."""
    for cell in range(desk.cells):
        desk.arena[slot, cell] = cells[cell]
    return np.int64(slot)


@kernel(borrows=True)
def store_cells(board: Int, cells: Cells, desk: Any) -> None:
    """Write the ranks of a board."""
    for cell in range(desk.cells):
        cells[cell] = desk.arena[board, cell]
