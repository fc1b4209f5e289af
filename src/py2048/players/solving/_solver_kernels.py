"""What the exact solver does with the boards of one layer, compiled.

A layer holds boards of equal sum. Each board is known by its *key*: of its images under the
symmetries of the shape the least, mixed by a bijection on as many bits as the cells have. Keys are
thus uniform, so that a layer in ascending order is searched through an index of the keys' highest
bits, two places in memory, and that ranges of keys are equal shares of the work.

Where the spawn follows from the move, an afterstate has it already, and a board stands for itself
alone: mirror images are played differently.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine._board_kernels import (
    ZERO,
    Int,
    Word,
    Words,
    canonical,
    empty_cells,
    slide_lines,
    slide_small,
    symmetries,
)
from py2048.engine.jit import kernel

Values = NDArray[np.float64]
Index = NDArray[np.uint32]

MULTIPLIER = 0x9E3779B97F4A7C15
"""Odd; keys are spread by it. Its inverse is taken modulo the keys' bits."""


class SolverSpec(NamedTuple):
    """Rules and a goal, as the kernels take them.

    Attributes:
        rows: the number of rows.
        columns: the number of columns.
        cells: the mask of all cells.
        across: the line table of a row; empty for boards with a side of more than four.
        down: the line table of a column.
        cascade: whether a merged tile can merge again in the same slide.
        fixed: whether the spawn follows from the move.
        landing: if so, where it lands, as in `CompiledRules`.
        tile: its rank.
        half: half of the number of bits of a key.
        bits: the mask of the bits of a key.
        multiplier: spreads a board to its key.
        inverse: takes a key back.
        stop: boards with a tile of this rank are not played on; 0 for none.
        stopped: the value of an afterstate that is not played on.
        merge_points: points of a merge for each point of its tile.
        legal_points: points of a legal move besides.
    """

    rows: np.uint64
    columns: np.uint64
    cells: np.uint64
    across: Words
    down: Words
    cascade: bool
    fixed: bool
    landing: NDArray[np.int64]
    tile: np.uint64
    half: np.uint64
    bits: np.uint64
    multiplier: np.uint64
    inverse: np.uint64
    stop: np.uint64
    stopped: float
    merge_points: float
    legal_points: float


# --- keys ----------------------------------------------------------------------------------------


@kernel(borrows=True)
def key_of(board: Word, spec: SolverSpec) -> Word:
    """Return the key of a board."""
    key = board if spec.fixed else np.uint64(canonical(board, spec.rows, spec.columns))
    return _mixed(key, spec.multiplier, spec)


@kernel(borrows=True)
def board_of(key: Word, spec: SolverSpec) -> Word:
    """Return the board whose key this is."""
    return _mixed(key, spec.inverse, spec)


@kernel(borrows=True)
def _mixed(word: Word, factor: Word, spec: SolverSpec) -> Word:
    for _ in range(2):
        word = ((word ^ (word >> spec.half)) * factor) & spec.bits
    return word ^ (word >> spec.half)


@kernel(borrows=True)
def slide(board: Word, direction: Int, spec: SolverSpec) -> tuple[Word, np.int64]:
    """Return the afterstate, with the spawn if it follows from the move, and the points."""
    if len(spec.across):
        after, few = slide_small(board, direction, spec.rows, spec.columns, spec.across, spec.down)
        points = np.int64(few)
    else:
        shape = np.int64(spec.rows), np.int64(spec.columns)
        after, _, points = slide_lines(board, ZERO, direction, shape[0], shape[1], spec.cascade)
    if spec.fixed and after != board:
        for cell in spec.landing[direction]:
            shift = np.uint64(4 * cell)
            if after >> shift & np.uint64(15) == ZERO:
                return after | spec.tile << shift, np.int64(points)
    return after, np.int64(points)


@kernel(inline=True, borrows=True)
def is_stopped(after: Word, spec: SolverSpec) -> bool:
    """Return whether an afterstate has a tile at which the game stops: it was just made."""
    made = empty_cells(after ^ (spec.cells * spec.stop), spec.cells)
    return bool(spec.stop != ZERO and made != ZERO)


# --- layers --------------------------------------------------------------------------------------


@kernel(borrows=True)
def slide_all(keys: Words, spec: SolverSpec, found: Words) -> Int:
    """Write the keys of the afterstates of boards, up to four each; return how many."""
    count = 0
    for key in keys:
        board = board_of(key, spec)
        for direction in range(4):
            after, _ = slide(board, direction, spec)
            if after != board and not is_stopped(after, spec):
                found[count] = key_of(after, spec)
                count += 1
    return count


@kernel(borrows=True)
def spawn_all(rank: Word, keys: Words, spec: SolverSpec, found: Words) -> Int:
    """Write the keys of the boards that follow afterstates by a tile; return how many."""
    count = 0
    for key in keys:
        if spec.fixed:
            found[count] = key
            count += 1
            continue
        after = board_of(key, spec)
        free = empty_cells(after, spec.cells)
        while free != ZERO:
            cell = free & (ZERO - free)
            free ^= cell
            found[count] = key_of(after | cell * rank, spec)
            count += 1
    return count


@kernel("(uint64[::1],)", borrows=True)
def drop_repeats(keys: Words) -> Int:
    """Move each key of an ascending array to the front once; return how many there are."""
    count = 0
    for key in keys:
        if count == 0 or keys[count - 1] != key:
            keys[count] = key
            count += 1
    return count


@kernel("(uint64[::1], uint64, uint32[::1])", borrows=True)
def fill_index(keys: Words, shift: Word, index: Index) -> None:
    """Write where the keys begin whose highest bits are 0, 1, 2 ...; the last is their number."""
    place = 0
    for head in range(len(index)):
        while place < len(keys) and np.int64(keys[place] >> shift) < head:
            place += 1
        index[head] = place


# --- values --------------------------------------------------------------------------------------


class Lookup(NamedTuple):
    """Boards of one layer and their values, to be looked up.

    Attributes:
        keys: the keys of the boards, ascending.
        heads: where the keys begin that share their highest bits.
        shift: how far a key is shifted for `heads`.
        values: the values of the boards.
    """

    keys: Words
    heads: Index
    shift: np.uint64
    values: Values


class Tile(NamedTuple):
    """A tile that can appear.

    Attributes:
        rank: its rank.
        chance: its probability.
        gain: the points that its appearing brings.
    """

    rank: np.uint64
    chance: float
    gain: float


@kernel(inline=True, borrows=True)
def place_of(key: Word, known: Lookup) -> Int:
    """Return where a board stands, which must be known."""
    place = np.int64(known.heads[key >> known.shift])
    while known.keys[place] < key:
        place += 1
    return place


@kernel(inline=True, borrows=True)
def value_of(key: Word, known: Lookup) -> float:
    """Return the value of a board, which must be known."""
    return float(known.values[place_of(key, known)])


@kernel(borrows=True)
def expect(
    afters: Words, spec: SolverSpec, tile: Tile, known: Lookup, out: Values, terms: Values
) -> None:
    """Add to the values of afterstates what the spawns of one tile contribute.

    The values of one afterstate are added in ascending order, so that neither the order of the
    cells nor the choice among symmetric images has any part in the result.

    Args:
        afters: the keys of the afterstates.
        spec: the rules.
        tile: the tile.
        known: the boards that follow.
        out: where to add, float64 like `afters`.
        terms: float64 `[16]`, overwritten.
    """
    for at in range(len(afters)):
        if spec.fixed:
            out[at] += tile.chance * (tile.gain + value_of(afters[at], known))
            continue
        after = board_of(afters[at], spec)
        free, count = empty_cells(after, spec.cells), 0
        while free != ZERO:
            cell = free & (ZERO - free)
            free ^= cell
            value = value_of(key_of(after | cell * tile.rank, spec), known)
            place = count
            while place > 0 and terms[place - 1] > value:
                terms[place] = terms[place - 1]
                place -= 1
            terms[place] = value
            count += 1
        total = 0.0
        for place in range(count):
            total += terms[place]
        out[at] += tile.chance * (tile.gain + total / count)


@kernel(borrows=True)
def worth(board: Word, direction: Int, spec: SolverSpec, afters: Lookup) -> float:
    """Return the value of a move: its points and what is to come; -inf if it is illegal."""
    after, points = slide(board, direction, spec)
    if after == board:
        return -np.inf
    to_come = spec.stopped if is_stopped(after, spec) else value_of(key_of(after, spec), afters)
    return points * spec.merge_points + spec.legal_points + to_come


@kernel(borrows=True)
def choose(boards: Words, spec: SolverSpec, afters: Lookup, out: Values) -> None:
    """Write the values of boards: that of their best move, or 0 without one.

    Args:
        boards: the keys of the boards.
        spec: the rules.
        afters: the afterstates.
        out: float64 like `boards`.
    """
    for at in range(len(boards)):
        board = board_of(boards[at], spec)
        best = -np.inf
        for direction in range(4):
            best = max(best, worth(board, direction, spec, afters))
        out[at] = best if best > -np.inf else 0.0


@kernel(borrows=True)
def count_images(keys: Words, spec: SolverSpec, found: Words) -> Int:
    """Return how many boards the keys stand for: each with all its symmetric images.

    Args:
        keys: the keys.
        spec: the rules.
        found: uint64 `[8]`, overwritten.
    """
    if spec.fixed:
        return len(keys)
    count = 0
    for key in keys:
        board = board_of(key, spec)
        size, same = symmetries(board, spec.rows, spec.columns, found), 0
        for at in range(size):
            same += found[at] == board
        count += size // same
    return count
