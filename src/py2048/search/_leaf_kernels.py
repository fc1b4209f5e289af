"""What stands in for the rest of a game at the leaves of a search.

A leaf takes an afterstate by its handle and returns the points still to come. There is one for
each kind of board and each evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._board_kernels import flip, mirror, symmetries, transpose
from py2048.compiled.jit import kernel, prefetch
from py2048.ntuple._heuristic_kernels import lines_4x4, lines_cells, lines_small, squeezed
from py2048.ntuple._lowering_kernels import known_word, lowered_rank, taken_out
from py2048.ntuple._ntuple_kernels import Code, tuple_indexer
from py2048.search._board_kernels import Int, Packed, Word, ranks_on_cells, ranks_on_packed

Weights = NDArray[np.float32] | NDArray[np.int16]

ZERO, ONE = np.uint64(0), np.uint64(1)


# --- the heuristic -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def heuristic_4x4(board: Packed, desk: Any, _weights: Weights) -> float:
    """Return the worth of a 4x4 board."""
    lines = np.float64(lines_4x4(known_word(board[0], board[1], desk.known), desk.worth_across))
    return np.float64(desk.scale * squeezed(desk.ground + lines, desk.least))


@kernel(inline=True, borrows=True)
def heuristic_small(board: Packed, desk: Any, _weights: Weights) -> float:
    """Return the worth of a board with sides of up to four."""
    rows, columns = np.uint64(desk.rows), np.uint64(desk.columns)
    word = known_word(board[0], board[1], desk.known)
    lines = lines_small(word, rows, columns, desk.worth_across, desk.worth_down)
    return np.float64(desk.scale * squeezed(desk.ground + np.float64(lines), desk.least))


@kernel(borrows=True)
def heuristic_cells(board: Int, desk: Any, _weights: Weights) -> float:
    """Return the worth of a board of any shape."""
    lines = lines_cells(desk.arena[board], desk.rows, desk.columns, desk.terms)
    return np.float64(desk.scale * squeezed(desk.ground + lines, desk.least))


# --- networks ------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def first_weight(seen: Word, desk: Any) -> Word:
    """Return where the weights of the stage of a board begin."""
    first = ZERO
    for stage in range(desk.stages):
        if seen >= desk.stage[stage]:
            first += desk.stage_size
    return first


@kernel(inline=True, borrows=True)
def index_of(image: Word, number: Int, first: Word, desk: Any) -> Word:
    """Return the index of the weight that a tuple finds on an image of a packed board."""
    index = first
    for part in range(desk.parts):
        index += (image >> desk.shifts[number, part]) & desk.masks[number, part]
    return index


def network_on_4x4(code: Code) -> tuple[Any, Any]:
    """Return the kernel of one 4x4 network, and the one that asks for its weights beforehand.

    The shifts and masks of the tuples become part of the code, so to go through a board twice costs
    little; and several boards' weights can be on their way at once.
    """
    add_image: Any = None
    ask_image: Any = None
    for first, parts in code:
        index_of = tuple_indexer(first, parts)
        add_image, ask_image = _adder(index_of, add_image), _asker(index_of, ask_image)

    @kernel(fastmath=True, borrows=True)
    def network(board: Packed, desk: Any, weights: Weights) -> float:
        """Return the points that a network expects after an afterstate."""
        begin = first_weight(ranks_on_packed(board, desk), desk) if desk.stages else ZERO
        a, b, c, d, e, f, g, h = images_4x4(known_word(board[0], board[1], desk.known))
        one = add_image(a, begin, weights) + add_image(b, begin, weights)
        two = add_image(c, begin, weights) + add_image(d, begin, weights)
        three = add_image(e, begin, weights) + add_image(f, begin, weights)
        four = add_image(g, begin, weights) + add_image(h, begin, weights)
        return np.float64(((one + two) + (three + four)) * desk.step)

    @kernel(borrows=True)
    def fetch(board: Packed, desk: Any, weights: Weights) -> None:
        """Ask for the weights that `network` reads."""
        begin = first_weight(ranks_on_packed(board, desk), desk) if desk.stages else ZERO
        for image in images_4x4(known_word(board[0], board[1], desk.known)):
            ask_image(image, begin, weights)

    return network, fetch


@kernel(inline=True, borrows=True)
def images_4x4(a: Word) -> tuple[Word, Word, Word, Word, Word, Word, Word, Word]:
    """Return the symmetric images of a 4x4 board."""
    side = np.uint64(4)
    b = mirror(a, side, side)
    c, d = flip(a, side, side), flip(b, side, side)
    return a, b, c, d, transpose(a), transpose(b), transpose(c), transpose(d)


def _adder(index_of: Any, others: Any) -> Any:
    """Return the kernel that adds the weight of one tuple to those of `others`."""
    if others is None:

        @kernel(inline=True, borrows=True)
        def add(image: Word, begin: Word, weights: Weights) -> Any:
            return weights[index_of(image) + begin]

    else:

        @kernel(inline=True, borrows=True)
        def add(image: Word, begin: Word, weights: Weights) -> Any:
            return others(image, begin, weights) + weights[index_of(image) + begin]

    return add


def _asker(index_of: Any, others: Any) -> Any:
    """Return the kernel that asks for the weight of one tuple, after those of `others`."""
    if others is None:

        @kernel(inline=True, borrows=True)
        def ask(image: Word, begin: Word, weights: Weights) -> None:
            prefetch(weights, index_of(image) + begin)

    else:

        @kernel(inline=True, borrows=True)
        def ask(image: Word, begin: Word, weights: Weights) -> None:
            others(image, begin, weights)
            prefetch(weights, index_of(image) + begin)

    return ask


@kernel(inline=True, borrows=True)
def fetch_nothing(_board: Any, _desk: Any, _weights: Weights) -> None:
    """Ask for nothing: what a leaf reads is near enough."""


@kernel(borrows=True)
def network_small(board: Packed, desk: Any, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    begin = first_weight(ranks_on_packed(board, desk), desk) if desk.stages else ZERO
    rows, columns = np.uint64(desk.rows), np.uint64(desk.columns)
    word = known_word(board[0], board[1], desk.known)
    count = symmetries(word, rows, columns, desk.images)
    value = np.float32(0)
    for number in range(desk.tuples):
        first = desk.offsets[number] + begin
        for image in range(count):
            value += weights[index_of(desk.images[image], number, first, desk)]
    return np.float64(value * desk.step)


@kernel(borrows=True)
def network_cells(board: Int, desk: Any, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    begin = first_weight(ranks_on_cells(board, desk), desk) if desk.stages else ZERO
    known, value = desk.known, np.float32(0)
    taken = taken_out(ranks_on_cells(board, desk), known)
    for number in range(desk.tuples):
        index, scale = desk.offsets[number] + begin, ONE
        for part in range(desk.parts):
            cell = desk.places[number, part]
            if cell < 0:
                break
            rank = np.uint64(desk.arena[board, np.uint64(cell)])
            index += lowered_rank(rank, taken, known) * scale
            scale *= known + ONE
        value += weights[index]
    return np.float64(value * desk.step)
