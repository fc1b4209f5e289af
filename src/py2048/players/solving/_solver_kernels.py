"""Compiled operations on a layer of boards, for the exact solver.

A layer holds all boards with the same tile sum. A board is identified by its *key*: its smallest
symmetric image, scrambled by a bijection on the bits of the packed board. Scrambled keys
are distributed uniformly, so a lookup by a key's highest bits takes about two memory accesses, and
equal ranges of keys give all threads the same amount of work.

If spawns are deterministic, afterstates already include the spawn. With deterministic spawns,
symmetric boards have separate keys, because they lead to different games.
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
"""Multiplier that scrambles keys; odd numbers have an inverse modulo any power of two."""


class SolverSpec(NamedTuple):
    """The rules and the goal, encoded for the kernels.

    Attributes:
        rows: Number of rows.
        columns: Number of columns.
        cells: Mask of all cells.
        across: Lookup table for row slides, or an empty array if a side is longer than four.
        down: Lookup table for column slides, or an empty array if a side is longer than four.
        cascade: Whether a merged tile can merge again in the same slide.
        fixed: Whether the spawn is deterministic.
        landing: Candidate cells for a deterministic spawn, in the order of `CompiledRules.landing`.
        tile: Rank of the deterministic spawn.
        half: Half the number of bits in a key.
        bits: Mask that truncates a word to the width of a key.
        multiplier: Multiplier that scrambles a board into its key.
        inverse: Inverse of `multiplier`, for unscrambling a key.
        stop: Rank of the tile at which play stops, or 0.
        stopped: Value of afterstates at which play stops.
        merge_points: Points per merge point.
        legal_points: Points per legal move.
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
    """Return the board with this key."""
    return _mixed(key, spec.inverse, spec)


@kernel(borrows=True)
def _mixed(word: Word, factor: Word, spec: SolverSpec) -> Word:
    for _ in range(2):
        word = ((word ^ (word >> spec.half)) * factor) & spec.bits
    return word ^ (word >> spec.half)


@kernel(borrows=True)
def slide(board: Word, direction: Int, spec: SolverSpec) -> tuple[Word, np.int64]:
    """Return the afterstate (with its spawn, if spawns are deterministic) and the points."""
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
    """Return whether the last move created the tile at which play stops."""
    made = empty_cells(after ^ (spec.cells * spec.stop), spec.cells)
    return bool(spec.stop != ZERO and made != ZERO)


# --- layers --------------------------------------------------------------------------------------


@kernel(borrows=True)
def slide_all(keys: Words, spec: SolverSpec, found: Words) -> Int:
    """Write the keys of all afterstates that the boards can reach; return their number."""
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
    """Write the keys of all boards that spawning a tile can produce; return their number."""
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
    """Move the distinct keys of a sorted array to the front; return their number."""
    count = 0
    for key in keys:
        if count == 0 or keys[count - 1] != key:
            keys[count] = key
            count += 1
    return count


@kernel("(uint64[::1], uint64, uint32[::1])", borrows=True)
def fill_index(keys: Words, shift: Word, index: Index) -> None:
    """Fill the index of a lookup.

    Entry `i` counts the keys whose highest bits are less than `i`.
    """
    place = 0
    for head in range(len(index)):
        while place < len(keys) and np.int64(keys[place] >> shift) < head:
            place += 1
        index[head] = place


# --- values --------------------------------------------------------------------------------------


class Lookup(NamedTuple):
    """A lookup table for the boards of a layer and their values.

    Attributes:
        keys: Keys of the boards, ascending.
        heads: Index of the first key for each prefix, which consists of a key's highest bits.
        shift: Right shift that extracts a key's prefix.
        values: Values of the boards.
    """

    keys: Words
    heads: Index
    shift: np.uint64
    values: Values


class Tile(NamedTuple):
    """A tile that can spawn.

    Attributes:
        rank: Rank of the tile.
        chance: Probability that a spawn is this tile.
        gain: Points earned by the spawn.
    """

    rank: np.uint64
    chance: float
    gain: float


@kernel(inline=True, borrows=True)
def place_of(key: Word, known: Lookup) -> Int:
    """Return the position of a board in the lookup. The lookup must contain the board."""
    place = np.int64(known.heads[key >> known.shift])
    while known.keys[place] < key:
        place += 1
    return place


@kernel(inline=True, borrows=True)
def value_of(key: Word, known: Lookup) -> float:
    """Return the value of a board from the lookup. The lookup must contain the board."""
    return float(known.values[place_of(key, known)])


@kernel(borrows=True)
def expect(
    afters: Words, spec: SolverSpec, tile: Tile, known: Lookup, out: Values, terms: Values
) -> None:
    """Add the contribution of one spawned tile to the values of afterstates.

    The successors' values are added in ascending order, so that the rounded sum is the same for all
    symmetric images.

    Args:
        afters: Keys of the afterstates.
        spec: Rules and goal.
        tile: The spawned tile.
        known: Lookup table with the values of the boards after the spawn.
        out: Values to update, float64 with the shape of `afters`.
        terms: Scratch space, float64 `[16]`.
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
    """Return the value of a move, or -inf if the move is illegal."""
    after, points = slide(board, direction, spec)
    if after == board:
        return -np.inf
    to_come = spec.stopped if is_stopped(after, spec) else value_of(key_of(after, spec), afters)
    return points * spec.merge_points + spec.legal_points + to_come


@kernel(borrows=True)
def choose(boards: Words, spec: SolverSpec, afters: Lookup, out: Values) -> None:
    """Write the value of the best move on each board, or 0 if no move is legal.

    Args:
        boards: Keys of the boards.
        spec: Rules and goal.
        afters: Lookup of the afterstates.
        out: Receives the values, float64 with the shape of `boards`.
    """
    for at in range(len(boards)):
        board = board_of(boards[at], spec)
        best = -np.inf
        for direction in range(4):
            best = max(best, worth(board, direction, spec, afters))
        out[at] = best if best > -np.inf else 0.0


@kernel(borrows=True)
def count_images(keys: Words, spec: SolverSpec, found: Words) -> Int:
    """Return the number of boards that the keys represent, counting all symmetric images.

    Args:
        keys: The keys.
        spec: Rules and goal.
        found: Scratch space, uint64 `[8]`.
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
