"""What stands in for the rest of a game at the leaves of a search.

A leaf takes an afterstate by its handle and returns the points still to come. There is one for
each kind of board and each evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048._jit import kernel
from py2048.engine._packed_kernels import flip, mirror, symmetries, transpose
from py2048.evaluation._heuristic_kernels import lines_4x4, lines_cells, lines_small, squeezed
from py2048.search._board_kernels import Int, Packed, Word, ranks_on_cells, ranks_on_packed, word_of

Weights = NDArray[np.float32]

ZERO, ONE = np.uint64(0), np.uint64(1)


# --- the heuristic -------------------------------------------------------------------------------


@kernel(inline=True)
def heuristic_4x4(board: Packed, desk: Any, _weights: Weights) -> float:
    """Return the worth of a 4x4 board."""
    lines = np.float64(lines_4x4(word_of(board), desk.worth_across))
    return np.float64(desk.scale * squeezed(desk.base + lines, desk.least))


@kernel(inline=True)
def heuristic_small(board: Packed, desk: Any, _weights: Weights) -> float:
    """Return the worth of a board with sides of up to four."""
    rows, columns = np.uint64(desk.rows), np.uint64(desk.columns)
    lines = lines_small(word_of(board), rows, columns, desk.worth_across, desk.worth_down)
    return np.float64(desk.scale * squeezed(desk.base + np.float64(lines), desk.least))


@kernel
def heuristic_cells(board: Int, desk: Any, _weights: Weights) -> float:
    """Return the worth of a board of any shape."""
    lines = lines_cells(desk.arena[board], desk.rows, desk.columns, desk.terms)
    return np.float64(desk.scale * squeezed(desk.base + lines, desk.least))


# --- networks ------------------------------------------------------------------------------------


@kernel(inline=True)
def first_weight(seen: Word, desk: Any) -> Word:
    """Return where the weights of the stage of a board begin."""
    first = ZERO
    for stage in range(desk.stages):
        if seen >= desk.stage[stage]:
            first += desk.stage_size
    return first


@kernel(inline=True)
def index_of(image: Word, number: Int, first: Word, desk: Any) -> Word:
    """Return the index of the weight that a tuple finds on an image of a packed board."""
    index = first
    for part in range(desk.parts):
        index += (image >> desk.shifts[number, part]) & desk.masks[number, part]
    return index


@kernel(fastmath=True)
def network_4x4(board: Packed, desk: Any, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    begin = first_weight(ranks_on_packed(board, desk), desk) if desk.stages else ZERO
    four = np.uint64(4)
    a = word_of(board)
    b = mirror(a, four, four)
    c, d = flip(a, four, four), flip(b, four, four)
    e, f, g, h = transpose(a), transpose(b), transpose(c), transpose(d)
    one = two = np.float32(0)
    for number in range(desk.tuples):
        first = desk.offsets[number] + begin
        one += weights[index_of(a, number, first, desk)] + weights[index_of(b, number, first, desk)]
        two += weights[index_of(c, number, first, desk)] + weights[index_of(d, number, first, desk)]
        one += weights[index_of(e, number, first, desk)] + weights[index_of(f, number, first, desk)]
        two += weights[index_of(g, number, first, desk)] + weights[index_of(h, number, first, desk)]
    return np.float64(one + two)


@kernel
def network_small(board: Packed, desk: Any, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    begin = first_weight(ranks_on_packed(board, desk), desk) if desk.stages else ZERO
    rows, columns = np.uint64(desk.rows), np.uint64(desk.columns)
    count = symmetries(word_of(board), rows, columns, desk.images)
    value = np.float32(0)
    for number in range(desk.tuples):
        first = desk.offsets[number] + begin
        for image in range(count):
            value += weights[index_of(desk.images[image], number, first, desk)]
    return np.float64(value)


@kernel
def network_cells(board: Int, desk: Any, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    begin = first_weight(ranks_on_cells(board, desk), desk) if desk.stages else ZERO
    value = np.float32(0)
    for number in range(desk.tuples):
        index, scale = desk.offsets[number] + begin, ONE
        for part in range(desk.parts):
            cell = desk.places[number, part]
            if cell < 0:
                break
            rank = np.uint64(desk.arena[board, np.uint64(cell)])
            index += min(rank, desk.known_ranks - ONE) * scale
            scale *= desk.known_ranks
        value += weights[index]
    return np.float64(value)
