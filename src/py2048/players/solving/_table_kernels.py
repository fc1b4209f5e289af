"""Compiled operations on the positions in a layer of an endgame table.

A position has two parts: the *arrangement* is the set of cells with large tiles, and the *filling*
is the tiles on the other cells. A layer contains every position whose filling has a given tile sum.
Tables store no boards, because the index of a position follows from the numbers of its arrangement
and its filling.

The *code* of a filling consists of the ranks on its cells, four bits each, with the first cell in
the lowest bits. The lower half of a code is called its *tail*, and the upper half its *head*.
Fillings with the same tile sum and the same head have consecutive numbers. The number of a
filling is therefore the first number with its head, plus an offset that depends on its tail.

Chances are integers in units of 1 / `CHANCE_ONE`, so their sums do not depend on the order of
addition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine._bits_kernels import ONE, popcount
from py2048.engine._board_kernels import (
    ALL_CELLS,
    LINE_BITS,
    NIBBLE,
    TWO,
    ZERO,
    Int,
    Longs,
    Word,
    Words,
    empty_cells,
    flip,
    mirror,
    slides_4x4,
    transpose,
)
from py2048.engine.jit import kernel

Numbers = NDArray[np.uint32]
Chances = NDArray[np.uint32]

CHANCE_ONE = 1 << 31
NOT_IN_FORMATION = np.uint32(0xFFFFFFFF)
"""Marks arrangements outside the formation in `TableSpec.numbers`."""

LEFT = np.uint64(0x0111011101110111)
"""Mask of all cells except those in the rightmost column."""

UPPER = np.uint64(0x0000111111111111)
"""Mask of all cells except those in the bottom row."""


class TableSpec(NamedTuple):
    """A formation and a target, encoded for the kernels.

    Attributes:
        lines: Lookup table with the slide of every possible line. Large tiles do not merge.
        goal: Mask of the cells on which the target tile may be built.
        target: A packed board with the target tile on every cell of `goal`.
        larges: For each arrangement, a packed board with only its large tiles.
        runs: Bit masks and left shifts that unpack a code onto the board, uint64 `[arrangements,
            runs, 2]`.
        numbers: Maps a 16-bit mask of the large tiles' cells to the number of the arrangement, or
            to `NOT_IN_FORMATION`.
        turns: Maps a mask of the large tiles' cells to the symmetry that produces the canonical
            arrangement. Symmetries are encoded as in `turned`.
        inside: Mask of the cells that a code describes, with one bit per nibble.
        head: Right shift that extracts the head of a code.
        tail: Mask that extracts the tail of a code.
        ranks: Position of each tail among all tails with the same tile sum.
        tails: Tails, sorted by sum.
        firsts: Where the tails with each tile sum begin in `tails`, indexed by half the sum.
    """

    lines: Words
    goal: np.uint64
    target: np.uint64
    larges: Words
    runs: NDArray[np.uint64]
    numbers: Numbers
    turns: NDArray[np.uint8]
    inside: np.uint64
    head: np.uint64
    tail: np.uint64
    ranks: Numbers
    tails: Words
    firsts: Longs


class TableLayer(NamedTuple):
    """The positions with the same sum.

    Attributes:
        fillings: Number of positions with the same arrangement.
        heads: Heads, ascending.
        rests: For each head, half of the tile sum that is left for the tail.
        starts: Number of the first filling with each head, indexed by head.
    """

    fillings: np.int64
    heads: Words
    rests: Longs
    starts: Numbers


class Successors(NamedTuple):
    """The layer that a game enters when a certain tile spawns, with its chances of success.

    Attributes:
        rank: Rank of the tile.
        chance: Probability of the tile.
        fillings: Number of positions with the same arrangement in this layer.
        starts: Number of the first filling with each head, indexed by head.
        chances: Chance of success from each position in this layer.
    """

    rank: np.uint64
    chance: float
    fillings: np.int64
    starts: Numbers
    chances: Chances


# --- places --------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def scattered(code: Word, arrangement: Int, spec: TableSpec) -> Word:
    """Return a board with only the small tiles that a code describes."""
    board = ZERO
    for run in range(spec.runs.shape[1]):
        board |= (code & spec.runs[arrangement, run, 0]) << spec.runs[arrangement, run, 1]
    return board


@kernel(inline=True, borrows=True)
def gathered(board: Word, arrangement: Int, spec: TableSpec) -> Word:
    """Pack a board's small tiles into a code."""
    code = ZERO
    for run in range(spec.runs.shape[1]):
        code |= (board >> spec.runs[arrangement, run, 1]) & spec.runs[arrangement, run, 0]
    return code


@kernel(inline=True)
def large_cells(board: Word) -> Word:
    """Return the mask of the cells with a large tile. Large tiles have rank 15."""
    pairs = board & (board >> TWO)
    return pairs & (pairs >> ONE) & ALL_CELLS


@kernel(inline=True)
def packed_mask(mask: Word) -> Word:
    """Convert a mask from one bit per nibble to adjacent bits."""
    mask = (mask | mask >> np.uint64(3)) & np.uint64(0x0303030303030303)
    mask = (mask | mask >> np.uint64(6)) & np.uint64(0x000F000F000F000F)
    mask = (mask | mask >> np.uint64(12)) & np.uint64(0x000000FF000000FF)
    return (mask | mask >> np.uint64(24)) & np.uint64(0xFFFF)


@kernel("(uint64, int64)")
def turned(board: Word, turn: Int) -> Word:
    """Apply a symmetry to a board.

    Bit 0 of `turn` transposes the board. Then bit 1 mirrors it, and finally bit 2 flips it.
    """
    if turn & 1:
        board = transpose(board)
    if turn & 2:
        board = mirror(board, NIBBLE, NIBBLE)
    return flip(board, NIBBLE, NIBBLE) if turn & 4 else board


@kernel(inline=True, borrows=True)
def place_of(code: Word, arrangement: Int, fillings: Int, starts: Numbers, spec: TableSpec) -> Int:
    """Return the index of a position in its layer."""
    within = np.int64(starts[code >> spec.head]) + np.int64(spec.ranks[code & spec.tail])
    return np.int64(arrangement) * np.int64(fillings) + within


@kernel(inline=True, borrows=True)
def is_made(board: Word, spec: TableSpec) -> bool:
    """Return whether the target tile is on one of the cells of `goal`."""
    return bool(empty_cells(board ^ spec.target, spec.goal) != ZERO)


# --- chances -------------------------------------------------------------------------------------


@kernel("(uint64,)", inline=True)
def is_settled(board: Word) -> bool:
    """Return whether all tiles are pushed to one side, so that a slide could produce the board."""
    free = empty_cells(board, ALL_CELLS)
    tiles = ALL_CELLS ^ free
    return bool(
        (free & (tiles >> NIBBLE) & LEFT) == ZERO
        or (tiles & (free >> NIBBLE) & LEFT) == ZERO
        or (free & (tiles >> LINE_BITS) & UPPER) == ZERO
        or (tiles & (free >> LINE_BITS) & UPPER) == ZERO
    )


@kernel(inline=True, borrows=True)
def expected(
    code: Word, arrangement: Int, spec: TableSpec, successors: tuple[Successors, ...]
) -> Int:
    """Return the chance of an afterstate."""
    free = empty_cells(code, spec.inside)
    mean = 0.0
    for at in range(len(successors)):
        known, cells, total = successors[at], free, np.int64(0)
        while cells != ZERO:
            cell = cells & (ZERO - cells)
            cells ^= cell
            filled = code | cell * known.rank
            place = place_of(filled, arrangement, known.fillings, known.starts, spec)
            total += np.int64(known.chances[place])
        mean += known.chance * total
    return np.int64(mean / np.int64(popcount(free)) + 0.5)


@kernel(borrows=True)
def expect(
    first: Int,
    last: Int,
    layer: TableLayer,
    spec: TableSpec,
    successors: tuple[Successors, ...],
    out: Chances,
) -> None:
    """Write the chances of afterstates.

    Boards that no slide can produce, and boards that contain the target, get a chance of 0.

    Args:
        first: Start of the range to process, counted in pairs of an arrangement and a head.
        last: End of the range, exclusive.
        layer: The layer.
        spec: The formation.
        successors: One layer of successors for each tile that can spawn.
        out: Receives the chances, uint32 `[positions]`.
    """
    for item in range(first, last):
        arrangement, at = item // len(layer.heads), item % len(layer.heads)
        head, large = layer.heads[at] << spec.head, spec.larges[arrangement]
        place = np.int64(arrangement) * layer.fillings + np.int64(layer.starts[layer.heads[at]])
        rest = layer.rests[at]
        upper = scattered(head, arrangement, spec) | large
        for tail in range(spec.firsts[rest], spec.firsts[rest + 1]):
            code = head | spec.tails[tail]
            board = upper | scattered(spec.tails[tail], arrangement, spec)
            chance: Int = 0
            has_room = empty_cells(code, spec.inside) != ZERO
            if has_room and is_settled(board) and not is_made(board, spec):
                chance = expected(code, arrangement, spec, successors)
            out[place] = chance
            place += 1


@kernel(inline=True, borrows=True)
def moved(
    board: Word, after: Word, arrangement: Int, layer: TableLayer, spec: TableSpec, afters: Chances
) -> Int:
    """Return the chance of success after a move, or 0 if it is illegal or breaks the formation."""
    if after == board:
        return 0
    large = large_cells(after)
    if large * np.uint64(15) != spec.larges[arrangement]:
        mask = packed_mask(large)
        if spec.numbers[mask] == NOT_IN_FORMATION:
            return 0
        arrangement, after = np.int64(spec.numbers[mask]), turned(after, np.int64(spec.turns[mask]))
    if is_made(after, spec):
        return CHANCE_ONE
    code = gathered(after, arrangement, spec)
    return np.int64(afters[place_of(code, arrangement, layer.fillings, layer.starts, spec)])


@kernel(borrows=True)
def choose(
    first: Int, last: Int, layer: TableLayer, spec: TableSpec, afters: Chances, out: Chances
) -> None:
    """Write each position's chance under its best move, or 0 if no move is legal.

    Args:
        first: Start of the range to process, as in `expect`.
        last: End of the range, exclusive.
        layer: The layer.
        spec: The formation.
        afters: Chances of all afterstates in the layer, as computed by `expect`.
        out: Receives the chances, uint32 `[positions]`.
    """
    for item in range(first, last):
        arrangement, at = item // len(layer.heads), item % len(layer.heads)
        head, large = layer.heads[at] << spec.head, spec.larges[arrangement]
        place = np.int64(arrangement) * layer.fillings + np.int64(layer.starts[layer.heads[at]])
        rest = layer.rests[at]
        upper = scattered(head, arrangement, spec) | large
        for tail in range(spec.firsts[rest], spec.firsts[rest + 1]):
            board = upper | scattered(spec.tails[tail], arrangement, spec)
            best: Int = 0
            if is_made(board, spec):
                best = CHANCE_ONE
            else:
                up, down, left, right = slides_4x4(board, ZERO, False, spec.lines)
                best = max(best, moved(board, up[0], arrangement, layer, spec, afters))
                best = max(best, moved(board, down[0], arrangement, layer, spec, afters))
                best = max(best, moved(board, left[0], arrangement, layer, spec, afters))
                best = max(best, moved(board, right[0], arrangement, layer, spec, afters))
            out[place] = best
            place += 1


# --- single positions ----------------------------------------------------------------------------


@kernel(borrows=True)
def find(board: Word, layer: TableLayer, spec: TableSpec) -> Int:
    """Return the index of a board in its layer, or -1 if it is not in the formation."""
    mask = packed_mask(large_cells(board))
    if spec.numbers[mask] == NOT_IN_FORMATION:
        return -1
    arrangement = np.int64(spec.numbers[mask])
    code = gathered(turned(board, np.int64(spec.turns[mask])), arrangement, spec)
    return place_of(code, arrangement, layer.fillings, layer.starts, spec)


@kernel(borrows=True)
def afterstates(board: Word, lines: Words, out: Words) -> None:
    """Write the boards after a slide in each direction. Illegal slides change nothing."""
    up, down, left, right = slides_4x4(board, ZERO, False, lines)
    out[0], out[1], out[2], out[3] = up[0], down[0], left[0], right[0]
