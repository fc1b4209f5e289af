"""Leaves of a search: the value of an afterstate, for each kind of board and each evaluation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from py2048.compiled._board_kernels import Int, Word
from py2048.compiled.jit import kernel, prefetch
from py2048.ntuple._heuristic_kernels import lines_4x4, lines_cells, lines_small, squeezed
from py2048.ntuple._network_kernels import (
    Weights,
    images_4x4,
    known_word,
    make_tuple_index_kernel,
    stage_of,
    total,
    write_indices,
    write_indices_cells,
)
from py2048.ntuple.layout import Code
from py2048.search._board_kernels import Packed, ranks_on_cells, ranks_on_packed
from py2048.search.context import Context

ZERO, ONE = np.uint64(0), np.uint64(1)

IndexOf = Callable[[Word], Word]
Leaf = Callable[[Packed, Context, Weights], float]
Fetch = Callable[[Packed, Context, Weights], None]
AddImage = Callable[[Word, Word, Weights], Any]
FetchImage = Callable[[Word, Word, Weights], None]


# --- the heuristic -------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def heuristic_4x4(board: Packed, context: Context, _weights: Weights) -> float:
    """Return the value of a 4x4 board."""
    lines = np.float64(
        lines_4x4(known_word(board[0], board[1], context.known), context.values_across)
    )
    return np.float64(context.scale * squeezed(context.base_value + lines, context.least))


@kernel(inline=True, borrows=True)
def heuristic_small(board: Packed, context: Context, _weights: Weights) -> float:
    """Return the value of a board with sides of up to four."""
    rows, columns = np.uint64(context.rows), np.uint64(context.columns)
    word = known_word(board[0], board[1], context.known)
    lines = lines_small(word, rows, columns, context.values_across, context.values_down)
    return np.float64(
        context.scale * squeezed(context.base_value + np.float64(lines), context.least)
    )


@kernel(borrows=True)
def heuristic_cells(board: Int, context: Context, _weights: Weights) -> float:
    """Return the value of a board of any shape."""
    lines = lines_cells(context.arena[board], context.rows, context.columns, context.terms)
    return np.float64(context.scale * squeezed(context.base_value + lines, context.least))


# --- networks ------------------------------------------------------------------------------------


@kernel(inline=True, borrows=True)
def first_weight(seen: Word, context: Context) -> Word:
    """Return where the weights of the stage of a board begin."""
    stage = stage_of(seen, context.thresholds[: context.stages])
    return np.uint64(np.uint64(stage) * context.stage_size)


def make_network_kernels(code: Code) -> tuple[Leaf, Fetch]:
    """Return the leaf of one 4x4 network, and the kernel that prefetches its weights.

    The shifts and masks of the tuples are constants, so finding the weights of a board twice costs
    little; and the weights of several boards can be fetched at the same time.
    """
    tuples = [make_tuple_index_kernel(first, parts) for first, parts in code]
    add_image = _make_first_add_kernel(tuples[0])
    fetch_image: FetchImage = fetch_nothing
    for index_of in tuples[1:]:
        add_image = _make_add_kernel(index_of, add_image)
    for index_of in tuples:
        fetch_image = _make_fetch_kernel(index_of, fetch_image)

    @kernel(fastmath=True, borrows=True)
    def network(board: Packed, context: Context, weights: Weights) -> float:
        """Return the points that a network expects after an afterstate."""
        begin = first_weight(ranks_on_packed(board, context), context) if context.stages else ZERO
        a, b, c, d, e, f, g, h = images_4x4(known_word(board[0], board[1], context.known))
        one = add_image(a, begin, weights) + add_image(b, begin, weights)
        two = add_image(c, begin, weights) + add_image(d, begin, weights)
        three = add_image(e, begin, weights) + add_image(f, begin, weights)
        four = add_image(g, begin, weights) + add_image(h, begin, weights)
        return np.float64(((one + two) + (three + four)) * context.step)

    @kernel(borrows=True)
    def fetch(board: Packed, context: Context, weights: Weights) -> None:
        """Prefetch the weights that `network` reads."""
        begin = first_weight(ranks_on_packed(board, context), context) if context.stages else ZERO
        for image in images_4x4(known_word(board[0], board[1], context.known)):
            fetch_image(image, begin, weights)

    return network, fetch


def _make_first_add_kernel(index_of: IndexOf) -> AddImage:
    """Return the kernel that reads the weight of one tuple."""

    @kernel(inline=True, borrows=True)
    def add(image: Word, begin: Word, weights: Weights) -> Any:
        return weights[index_of(image) + begin]

    return add


def _make_add_kernel(index_of: IndexOf, others: AddImage) -> AddImage:
    """Return the kernel that adds the weight of one tuple to those of `others`."""

    @kernel(inline=True, borrows=True)
    def add(image: Word, begin: Word, weights: Weights) -> Any:
        return others(image, begin, weights) + weights[index_of(image) + begin]

    return add


def _make_fetch_kernel(index_of: IndexOf, others: FetchImage) -> FetchImage:
    """Return the kernel that prefetches the weight of one tuple, after those of `others`."""

    @kernel(inline=True, borrows=True)
    def fetch(image: Word, begin: Word, weights: Weights) -> None:
        others(image, begin, weights)
        prefetch(weights, index_of(image) + begin)

    return fetch


@kernel(inline=True, borrows=True)
def fetch_nothing(_board: object, _place: object, _weights: Weights) -> None:
    """Prefetch nothing: the data of the leaf are near enough."""


@kernel(borrows=True)
def network_small(board: Packed, context: Context, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    begin = first_weight(ranks_on_packed(board, context), context) if context.stages else ZERO
    tuples, parts = context.tuples, context.parts
    write_indices(
        known_word(board[0], board[1], context.known),
        np.uint64(context.rows),
        np.uint64(context.columns),
        context.shifts[:tuples, :parts],
        context.masks[:tuples, :parts],
        context.offsets[:tuples],
        context.indices[0],
    )
    return np.float64(total(weights, context.indices, 0, context.active, begin, ONE) * context.step)


@kernel(borrows=True)
def network_cells(board: Int, context: Context, weights: Weights) -> float:
    """Return the points that a network expects after an afterstate."""
    seen = ranks_on_cells(board, context)
    begin = first_weight(seen, context) if context.stages else ZERO
    tuples, parts = context.tuples, context.parts
    write_indices_cells(
        context.arena[board],
        seen,
        context.known + ONE,
        context.places[:tuples, :parts],
        context.offsets[:tuples],
        context.indices[0],
    )
    return np.float64(total(weights, context.indices, 0, context.active, begin, ONE) * context.step)
