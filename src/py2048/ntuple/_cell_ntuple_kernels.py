"""n-tuple networks on boards of any size, held as their cells: uint8 `[boards, cells]` of ranks.

The kernels have the names and meanings of those in ``_ntuple_kernels.py``, so that whatever is
built on one is built on the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import ONE, pick_low, pick_rank
from py2048.compiled._board_kernels import slide_cells
from py2048.compiled.jit import kernel
from py2048.ntuple._lowering_kernels import lowered_rank, taken_out

Int = int | np.int64
Word = np.uint64
Words = NDArray[np.uint64]
Boards = NDArray[np.uint8]

ZERO = np.uint64(0)


class CellSpace(NamedTuple):
    """A shape of board, and the tuples of a network on it."""

    rows: Int
    columns: Int
    cascade: bool
    ranks: Word
    """How many ranks a weight tells apart, the empty cell included."""
    places: NDArray[np.int64]
    """int64 `[tuples * symmetries, longest]`: the cells that make up each index, then -1."""
    offsets: Words
    """uint64 `[tuples * symmetries]`: where the weights of each index begin."""


@kernel(inline=True, borrows=True)
def copy_cells(boards: Boards, source: Int, others: Boards, target: Int) -> None:
    """Copy a board to another place."""
    for cell in range(boards.shape[1]):
        others[target, cell] = boards[source, cell]


@kernel(inline=True, borrows=True)
def slides_cells(boards: Boards, space: CellSpace, points: NDArray[np.int64]) -> None:
    """Slide board 0 in every direction, into boards 1 to 4; fill in the points, or -1."""
    for direction in range(4):
        copy_cells(boards, 0, boards, direction + 1)
        after = boards[direction + 1]
        points[direction] = slide_cells(after, direction, space.rows, space.columns, space.cascade)


@kernel(inline=True, borrows=True)
def spawn_cells(
    boards: Boards,
    slot: Int,
    word: Word,
    ranks: NDArray[np.uint8],
    cumulative: Words,
    _space: CellSpace,
) -> None:
    """Put the tile that the draw `word` makes on an empty cell of a board."""
    board, empty = boards[slot], ZERO
    for cell in range(len(board)):
        empty += np.uint64(board[cell] == 0)
    index = np.int64(pick_low(word, empty))
    for cell in range(len(board)):
        if board[cell] == 0:
            if index == 0:
                board[cell] = np.uint8(pick_rank(word, ranks, cumulative))
                return
            index -= 1


@kernel(inline=True, borrows=True)
def presence_cells(boards: Boards, slot: Int, _space: CellSpace) -> Word:
    """Return the sum of the different tiles on a board, which orders boards by largest tiles."""
    seen = ZERO
    for rank in boards[slot]:
        seen |= ONE << np.uint64(rank)
    return seen & ~ONE


@kernel(inline=True, borrows=True)
def indices_cells(boards: Boards, slot: Int, space: CellSpace, out: Words, row: Int) -> None:
    """Write the indices of the weights that a board meets to a row of `out`."""
    board, known = boards[slot], space.ranks - ONE
    taken = taken_out(presence_cells(boards, slot, space), known)
    for number in range(len(space.offsets)):
        index, scale = space.offsets[number], ONE
        for cell in space.places[number]:
            if cell < 0:
                break
            index += lowered_rank(np.uint64(board[cell]), taken, known) * scale
            scale *= space.ranks
        out[row, number] = index
