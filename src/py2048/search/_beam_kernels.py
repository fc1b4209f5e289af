"""Kernels of the beam search: boards as arrays of ranks, moves with a spawn on a known cell.

A board is uint8 ``[cells]``, row-major. Its value is a sum of table entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._board_kernels import Cells, Int, Word, Words, place_fixed_cells, slide_cells
from py2048.compiled.jit import kernel

Indices = NDArray[np.uint16]
Counts = NDArray[np.int64]
Values = NDArray[np.float64]

ONE = np.uint64(1)
ZERO = np.uint64(0)
NONE = np.int64(-1)
"""The points of a slide that moves nothing; where tiles are huge, those of others wrap around."""


class BeamSpec(NamedTuple):
    """Rules and the evaluation of boards, made by `py2048.search.beam`."""

    rows: Int
    columns: Int
    landing: Counts
    """`[4, longest]`: where a tile may appear after a move, as in `CompiledRules`."""
    spawn: Word
    """The rank of the tile that appears."""
    cascade: bool
    """Whether a merged tile can merge again."""
    stop: Int
    """The rank that ends the game, one that no tile has if none does."""
    places: Values
    """`[cells, ranks]`: the value of each rank on each cell; of those that end the game, -inf."""
    links: Values
    """`[ranks, ranks]`: the value of two ranks beside each other."""
    neighbours: Indices
    """`[pairs, 2]`: the cells beside each other."""
    words: Words
    """`[cells, ranks]`: the random words that hashes are made of."""


@kernel(inline=True, borrows=True)
def slide_and_spawn(cells: Cells, child: Cells, direction: Int, spec: BeamSpec) -> bool:
    """Write to `child` the board after a move; return whether the move is legal.

    `child` is of no use if the move is illegal.
    """
    for cell in range(cells.size):
        child[cell] = cells[cell]
    if slide_cells(child, direction, spec.rows, spec.columns, spec.cascade) == NONE:
        return False
    place_fixed_cells(child, spec.landing[direction], spec.spawn)
    return True


@kernel(inline=True, borrows=True)
def hash_of(cells: Cells, words: Words) -> np.uint64:
    """Return 64 bits that identify the board, almost certainly."""
    found = ZERO
    for cell in range(cells.size):
        found ^= words[cell, cells[cell]]
    return found


@kernel(inline=True, borrows=True)
def value_of(cells: Cells, spec: BeamSpec) -> float:
    """Return the value of a board; larger is better."""
    value, neighbours = 0.0, spec.neighbours
    for cell in range(cells.size):
        value += spec.places[cell, cells[cell]]
    for pair in range(neighbours.shape[0]):
        value += spec.links[cells[neighbours[pair, 0]], cells[neighbours[pair, 1]]]
    return value


@kernel(inline=True, borrows=True)
def is_ended(cells: Cells, spec: BeamSpec) -> bool:
    """Return whether a tile has ended the game."""
    largest = 0
    for cell in range(cells.size):
        largest = max(largest, cells[cell])
    return bool(largest >= spec.stop)


@kernel(inline=True, borrows=True)
def is_new(key: np.uint64, seen: Words, marks: Counts, mark: int) -> bool:
    """Enter `key` into the set of those seen under this `mark`; return whether it was absent.

    The set is a hash table with open addressing, ``seen`` and ``marks`` of a length that is a
    power of two and larger than the number of keys; a new mark empties it.
    """
    mask = np.uint64(seen.size) - ONE
    slot = key & mask
    while marks[slot] == mark:
        if seen[slot] == key:
            return False
        slot = (slot + ONE) & mask
    marks[slot] = mark
    seen[slot] = key
    return True


@kernel(borrows=True)
def keep_best(values: Values, chosen: Counts, count: int, wanted: int) -> None:
    """Reorder ``chosen[:count]`` so that the `wanted` ones of largest value come first."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[chosen[(low + high) // 2]]
        left, right = low, high
        while left <= right:
            while values[chosen[left]] > pivot:
                left += 1
            while values[chosen[right]] < pivot:
                right -= 1
            if left <= right:
                chosen[left], chosen[right] = chosen[right], chosen[left]
                left += 1
                right -= 1
        if wanted - 1 <= right:
            high = right
        elif wanted - 1 >= left:
            low = left
        else:
            break


@kernel(borrows=True)
def expand(
    beam: NDArray[np.uint8],
    children: NDArray[np.uint8],
    values: Values,
    origins: NDArray[np.int32],
    seen: Words,
    marks: Counts,
    mark: int,
    spec: BeamSpec,
) -> int:
    """Write the different children of all boards of `beam`; return how many there are.

    A board on which the game has ended has none.

    Child ``i`` has the value ``values[i]``; it comes from board ``origins[i] // 4`` by the
    direction ``origins[i] % 4``. `seen`, `marks` and `mark` are those of `is_new`.
    """
    count = 0
    for parent in range(beam.shape[0]):
        if is_ended(beam[parent], spec):
            continue
        for direction in range(4):
            child = children[count]
            is_legal = slide_and_spawn(beam[parent], child, direction, spec)
            if is_legal and is_new(hash_of(child, spec.words), seen, marks, mark):
                values[count] = value_of(child, spec)
                origins[count] = 4 * parent + direction
                count += 1
    return count


@kernel(borrows=True)
def trace(history: NDArray[np.int32], last: int, moves: Cells) -> None:
    """Write the moves that lead to board `last` of the deepest beam."""
    for step in range(moves.size - 1, -1, -1):
        moves[step] = history[step, last] % 4
        last = history[step, last] // 4


def search_arguments() -> tuple[Cells, int, Cells, BeamSpec]:
    """Return arguments of `search`, to compile it for."""
    indices, values, cells = np.zeros((1, 1), np.uint16), np.zeros((1, 1)), np.zeros(1, np.uint8)
    landing, words = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.uint64)
    spec = BeamSpec(1, 1, landing, ONE, False, 1, values, values, indices, words)
    return cells, 1, cells, spec


@kernel(example=search_arguments)
def search(start: Cells, width: int, moves: Cells, spec: BeamSpec) -> int:
    """Search up to ``moves.size`` moves ahead with `width` boards a move; return how many it got.

    The moves to the best board of the greatest depth are written to `moves`.
    """
    size = 4 * width
    beam = np.empty((width, start.size), np.uint8)
    children = np.empty((size, start.size), np.uint8)
    values = np.empty(size)
    origins = np.empty(size, np.int32)
    chosen = np.empty(size, np.int64)
    history = np.empty((moves.size, width), np.int32)
    slots = 1
    while slots < 2 * size:
        slots *= 2
    seen = np.empty(slots, np.uint64)
    marks = np.full(slots, -1)
    beam[0] = start
    held = 1
    best = 0
    for depth in range(moves.size):
        count = expand(beam[:held], children, values, origins, seen, marks, depth, spec)
        if count == 0:
            trace(history, best, moves[:depth])
            return depth
        for child in range(count):
            chosen[child] = child
        held = min(count, width)
        keep_best(values, chosen, count, held)
        best = 0
        for rank in range(held):
            beam[rank] = children[chosen[rank]]
            history[depth, rank] = origins[chosen[rank]]
            if values[chosen[rank]] > values[chosen[best]]:
                best = rank
    trace(history, best, moves)
    return moves.size


def follow_arguments() -> tuple[Cells, Cells, BeamSpec]:
    """Return arguments of `follow`, to compile it for."""
    cells, _, moves, spec = search_arguments()
    return cells, moves, spec


@kernel(example=follow_arguments)
def follow(cells: Cells, moves: Cells, spec: BeamSpec) -> int:
    """Play `moves` on `cells` itself; return how many were legal before the first that is not."""
    child = np.empty_like(cells)
    for step in range(moves.size):
        if not slide_and_spawn(cells, child, moves[step], spec):
            return step
        cells[:] = child
    return moves.size
