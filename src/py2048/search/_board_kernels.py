"""Boards of a search: the same operations for each kind of board.

A search handles boards by a *handle*. A packed board is its own handle, two words as in
``compiled/_board_kernels.py``. A board of any other shape is in the arena of the context
(``context.py``), and its handle is the slot there; `level` moves ahead of the root, a search uses
the slots from ``SLOTS * level`` on: the board, and its four afterstates.

The operations are:

- ``slides(board, level, context)``: the afterstate and the points for each direction, the points -1
  where nothing moves;
- ``next_empty(board, cell, context)``: the first empty cell from `cell` on, or -1;
- ``count_empty(board, context)``: the number of empty cells;
- ``with_tile(board, cell, rank, level, context)``: the board of `level` that the tile makes;
- ``with_spawn(board, word, context)``: the root that the draw `word` makes, where a tile may appear
  on every empty cell;
- ``hash_of(board, context)``: 64 bits that identify the board, almost certainly;
- ``ranks_on(board, context)``: a word with a bit for each rank on the board;
- ``load(cells, slot, context)``, ``store(board, cells, context)``: ranks, uint8 `[cells]`.
"""

from __future__ import annotations

import numpy as np

from py2048.compiled._bits_kernels import popcount, trailing_zeros
from py2048.compiled._board_kernels import (
    DOWN,
    LEFT,
    NIBBLE,
    RANKS,
    RIGHT,
    TWO,
    UP,
    ZERO,
    Cells,
    Int,
    Word,
    empty_cells,
    hash_cells,
    hash_packed,
    place_cells,
    rank_at,
    ranks_cells,
    ranks_packed,
    slide_cells,
    slide_packed,
    slides_4x4,
    spawn_packed,
    word_of,
)
from py2048.compiled.jit import kernel
from py2048.search.context import SLOTS, SearchContext

Packed = tuple[Word, Word]
PackedMoves = tuple[tuple[Packed, np.int64], ...]
CellMoves = tuple[tuple[np.int64, np.int64], ...]


# --- packed boards -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def slides_square(board: Packed, _level: Int, context: SearchContext) -> PackedMoves:
    """Slide a 4x4 board in every direction."""
    up, down, left, right = slides_4x4(board[0], board[1], context.cascade != 0, context.across)
    return (
        ((up[0], up[1]), up[2]),
        ((down[0], down[1]), down[2]),
        ((left[0], left[1]), left[2]),
        ((right[0], right[1]), right[2]),
    )


@kernel(borrows=True)
def _slide_small(board: Packed, direction: Int, context: SearchContext) -> tuple[Packed, np.int64]:
    low, high, points = slide_packed(
        board[0],
        board[1],
        direction,
        context.rows,
        context.columns,
        context.cascade != 0,
        context.across,
        context.down,
    )
    return (low, high), points


@kernel(borrows=True)
def slides_small(board: Packed, _level: Int, context: SearchContext) -> PackedMoves:
    """Slide a board with sides of up to four in every direction."""
    return (
        _slide_small(board, UP, context),
        _slide_small(board, DOWN, context),
        _slide_small(board, LEFT, context),
        _slide_small(board, RIGHT, context),
    )


@kernel(inline=True, borrows=True)
def next_empty_packed(board: Packed, cell: Int, context: SearchContext) -> np.int64:
    """Return the first empty cell from `cell` on, or -1."""
    if cell > 15:
        return np.int64(-1)
    empty = empty_cells(word_of(board[0], board[1]), context.mask) >> np.uint64(4 * cell)
    return np.int64(-1) if empty == ZERO else cell + np.int64(trailing_zeros(empty) >> TWO)


@kernel(inline=True, borrows=True)
def count_empty_packed(board: Packed, context: SearchContext) -> np.int64:
    """Return the number of empty cells."""
    return np.int64(popcount(empty_cells(word_of(board[0], board[1]), context.mask)))


@kernel(inline=True, borrows=True)
def with_tile_packed(
    board: Packed, cell: Int, rank: Word, _level: Int, _context: SearchContext
) -> Packed:
    """Return the board with one more tile."""
    shift = np.uint64(4 * cell)
    return board[0] | (rank & RANKS) << shift, board[1] | (rank >> NIBBLE) << shift


@kernel(inline=True, borrows=True)
def with_spawn_packed(board: Packed, word: Word, context: SearchContext) -> Packed:
    """Return the board with a tile as the draw says."""
    tiles = context.tiles
    return spawn_packed(
        board[0], board[1], context.mask, word, context.ranks[:tiles], context.cumulative[:tiles]
    )


@kernel(inline=True, borrows=True)
def hash_of_packed(board: Packed, _context: SearchContext) -> Word:
    """Return 64 bits that identify the board; up to 32768 they are the board itself."""
    return hash_packed(board[0], board[1])


@kernel(borrows=True)
def ranks_on_packed(board: Packed, context: SearchContext) -> Word:
    """Return a word with a bit for each rank on the board."""
    return ranks_packed(board[0], board[1], context.cells)


@kernel(borrows=True)
def load_packed(cells: Cells, _slot: Int, context: SearchContext) -> Packed:
    """Return a board of ranks, uint8 `[cells]`."""
    low, high = ZERO, ZERO
    for cell in range(context.cells):
        rank = np.uint64(cells[cell])
        low |= (rank & RANKS) << np.uint64(4 * cell)
        high |= (rank >> NIBBLE) << np.uint64(4 * cell)
    return low, high


@kernel(borrows=True)
def store_packed(board: Packed, cells: Cells, context: SearchContext) -> None:
    """Write the ranks of a board."""
    for cell in range(context.cells):
        cells[cell] = rank_at(board[0], board[1], cell)


# --- boards of any shape -------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def _copy(source: Int, target: Int, context: SearchContext) -> None:
    for cell in range(context.cells):
        context.arena[target, cell] = context.arena[source, cell]


@kernel(borrows=True)
def _slide_cells(
    board: Int, direction: Int, level: Int, context: SearchContext
) -> tuple[np.int64, np.int64]:
    slot = np.int64(SLOTS * level + 1 + direction)
    _copy(board, slot, context)
    points = slide_cells(
        context.arena[slot],
        np.int64(direction),
        context.rows,
        context.columns,
        context.cascade != 0,
    )
    return slot, np.int64(points)


@kernel(borrows=True)
def slides_cells(board: Int, level: Int, context: SearchContext) -> CellMoves:
    """Slide a board in every direction, into the slots of its level."""
    return (
        _slide_cells(board, UP, level, context),
        _slide_cells(board, DOWN, level, context),
        _slide_cells(board, LEFT, level, context),
        _slide_cells(board, RIGHT, level, context),
    )


@kernel(inline=True, borrows=True)
def next_empty_cells(board: Int, cell: Int, context: SearchContext) -> np.int64:
    """Return the first empty cell from `cell` on, or -1."""
    for number in range(cell, context.cells):
        if context.arena[board, number] == 0:
            return np.int64(number)
    return np.int64(-1)


@kernel(inline=True, borrows=True)
def count_empty_cells(board: Int, context: SearchContext) -> np.int64:
    """Return the number of empty cells."""
    count = np.int64(0)
    for cell in range(context.cells):
        count += np.int64(context.arena[board, cell] == 0)
    return count


@kernel(inline=True, borrows=True)
def with_tile_cells(
    board: Int, cell: Int, rank: Word, level: Int, context: SearchContext
) -> np.int64:
    """Return the board of `level` that has one more tile."""
    slot = np.int64(SLOTS * level)
    _copy(board, slot, context)
    context.arena[slot, cell] = np.uint8(rank)
    return slot


@kernel(borrows=True)
def with_spawn_cells(board: Int, word: Word, context: SearchContext) -> np.int64:
    """Return the root with a tile as the draw says."""
    root, tiles = np.int64(0), context.tiles
    _copy(board, root, context)
    cells = context.arena[root, : context.cells]
    place_cells(cells, word, context.ranks[:tiles], context.cumulative[:tiles])
    return root


@kernel(borrows=True)
def hash_of_cells(board: Int, context: SearchContext) -> Word:
    """Return 64 bits that identify the board, almost certainly."""
    return hash_cells(context.arena[board, : context.cells])


@kernel(borrows=True)
def ranks_on_cells(board: Int, context: SearchContext) -> Word:
    """Return a word with a bit for each rank on the board."""
    return ranks_cells(context.arena[board, : context.cells])


@kernel(borrows=True)
def load_cells(cells: Cells, slot: Int, context: SearchContext) -> np.int64:
    """Return a board of ranks, put into a slot."""
    for cell in range(context.cells):
        context.arena[slot, cell] = cells[cell]
    return np.int64(slot)


@kernel(borrows=True)
def store_cells(board: Int, cells: Cells, context: SearchContext) -> None:
    """Write the ranks of a board."""
    for cell in range(context.cells):
        cells[cell] = context.arena[board, cell]
