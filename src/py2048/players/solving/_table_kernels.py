"""What tables of endings do with the positions of one layer, compiled.

A position is an *arrangement* of the large tiles, which are all alike, and a *filling* of the other
cells. A layer holds every filling of one sum for every arrangement, so that no position is stored:
its place follows from the number of its arrangement and the number of its filling.

The *code* of a filling is the ranks of its cells, four bits each, the first cell lowest. Its *tail*
is the lower half of the cells, its *head* the others. Fillings of one sum stand in the order of
their heads, then of their tails, so that two look-ups number a filling: where its head begins, and
which of the tails of its sum its tail is.

Chances are whole numbers, `CHANCE_ONE` for 1, so that sums of them are exact in any order.
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
"""The number of an arrangement that breaks the formation."""

LEFT = np.uint64(0x0111011101110111)
"""The mask of the cells that have one to their right."""

UPPER = np.uint64(0x0000111111111111)
"""The mask of the cells that have one below."""


class TableSpec(NamedTuple):
    """A formation and a target, as the kernels take them.

    Attributes:
        lines: the line table, in which large tiles do not merge.
        goal: the mask of the cells where the target counts.
        target: the goal with the target on each cell.
        larges: the large tiles of each arrangement, as a board.
        runs: uint64 `[arrangements, runs, 2]`: which bits of a code lie together on the board, and
            how far above.
        numbers: the number of an arrangement, or `NOT_IN_FORMATION`, by the mask of its cells, a
            bit each. turns: how to turn a board to that arrangement: 1 transposed, 2 mirrored, 4
            flipped. inside: the mask of the cells of a code. head: how far a code is shifted for
            its head. tail: the mask of the bits of a tail. ranks: which of the tails of its sum a
            tail is. tails: the tails, by their sums. firsts: where the tails of each half sum
            begin.
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
    """The positions of one sum.

    Attributes:
        fillings: how many fillings there are.
        heads: the heads, ascending.
        rests: half the sum of the tails that go with each.
        starts: where the fillings of a head begin, by the head.
    """

    fillings: np.int64
    heads: Words
    rests: Longs
    starts: Numbers


class Successors(NamedTuple):
    """The positions that follow when a tile appears.

    Attributes:
        rank: the rank of the tile.
        chance: its probability.
        fillings: how many fillings their layer has.
        starts: where the fillings of a head begin there.
        chances: the chance of each position.
    """

    rank: np.uint64
    chance: float
    fillings: np.int64
    starts: Numbers
    chances: Chances


# --- places --------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def scattered(code: Word, arrangement: Int, spec: TableSpec) -> Word:
    """Return the filling with this code as a board, without the large tiles."""
    board = ZERO
    for run in range(spec.runs.shape[1]):
        board |= (code & spec.runs[arrangement, run, 0]) << spec.runs[arrangement, run, 1]
    return board


@kernel(inline=True, borrows=True)
def gathered(board: Word, arrangement: Int, spec: TableSpec) -> Word:
    """Return the code of the filling of a board."""
    code = ZERO
    for run in range(spec.runs.shape[1]):
        code |= (board >> spec.runs[arrangement, run, 1]) & spec.runs[arrangement, run, 0]
    return code


@kernel(inline=True)
def large_cells(board: Word) -> Word:
    """Return the mask of the cells with a large tile, whose rank is 15."""
    pairs = board & (board >> TWO)
    return pairs & (pairs >> ONE) & ALL_CELLS


@kernel(inline=True)
def packed_mask(mask: Word) -> Word:
    """Return a mask of cells with its bits side by side."""
    mask = (mask | mask >> np.uint64(3)) & np.uint64(0x0303030303030303)
    mask = (mask | mask >> np.uint64(6)) & np.uint64(0x000F000F000F000F)
    mask = (mask | mask >> np.uint64(12)) & np.uint64(0x000000FF000000FF)
    return (mask | mask >> np.uint64(24)) & np.uint64(0xFFFF)


@kernel("(uint64, int64)")
def turned(board: Word, turn: Int) -> Word:
    """Return an image of a board: 1 in `turn` transposed, then 2 mirrored, then 4 flipped."""
    if turn & 1:
        board = transpose(board)
    if turn & 2:
        board = mirror(board, NIBBLE, NIBBLE)
    return flip(board, NIBBLE, NIBBLE) if turn & 4 else board


@kernel(inline=True, borrows=True)
def place_of(code: Word, arrangement: Int, fillings: Int, starts: Numbers, spec: TableSpec) -> Int:
    """Return where a position stands in its layer."""
    within = np.int64(starts[code >> spec.head]) + np.int64(spec.ranks[code & spec.tail])
    return np.int64(arrangement) * np.int64(fillings) + within


@kernel(inline=True, borrows=True)
def is_made(board: Word, spec: TableSpec) -> bool:
    """Return whether the target is where it counts."""
    return bool(empty_cells(board ^ spec.target, spec.goal) != ZERO)


# --- chances -------------------------------------------------------------------------------------


@kernel("(uint64,)", inline=True)
def is_settled(board: Word) -> bool:
    """Return whether some slide can have made this board: its tiles lie close on one side."""
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

    Boards that no slide makes, and those with the target, get 0.

    Args:
        first: where to begin: the number of an arrangement times the number of heads, and a head.
        last: where to end.
        layer: the layer.
        spec: the formation.
        successors: the positions that follow, for each tile that can appear.
        out: uint32 `[positions]`, overwritten.
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
    """Return the chance of a move to an afterstate, 0 if it is illegal or breaks the formation."""
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
    """Write the chances of positions: that of their best move, or 0 without one.

    Args:
        first: where to begin, as for `expect`.
        last: where to end.
        layer: the layer.
        spec: the formation.
        afters: the chances of the afterstates of this layer.
        out: uint32 `[positions]`, overwritten.
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
    """Return where a board stands in the layer of its sum, -1 if it breaks the formation."""
    mask = packed_mask(large_cells(board))
    if spec.numbers[mask] == NOT_IN_FORMATION:
        return -1
    arrangement = np.int64(spec.numbers[mask])
    code = gathered(turned(board, np.int64(spec.turns[mask])), arrangement, spec)
    return place_of(code, arrangement, layer.fillings, layer.starts, spec)


@kernel(borrows=True)
def afterstates(board: Word, lines: Words, out: Words) -> None:
    """Write the board after a slide up, down, left and right; an illegal one changes nothing."""
    up, down, left, right = slides_4x4(board, ZERO, False, lines)
    out[0], out[1], out[2], out[3] = up[0], down[0], left[0], right[0]
