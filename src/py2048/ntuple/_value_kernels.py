"""What the boards of an n-tuple network are worth, and which move is best.

Weights are one array, stage after stage and in each tuple after tuple, `stride` numbers apart: 1 in
a network, more while it is trained. They are float32, or int16 in a network that is only played. In
training a weight of a later stage that is 0 has not been learnt yet; in its place stands the same
weight of the stage before (*promotion*).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.jit import kernel, prefetch
from py2048.ntuple._cell_ntuple_kernels import indices_cells, presence_cells, slides_cells
from py2048.ntuple._ntuple_kernels import (
    indices_4x4,
    indices_small,
    presence,
    slides_4x4,
    slides_small,
)

Int = int | np.int64
Word = np.uint64
Words = NDArray[np.uint64]
Weights = NDArray[np.float32] | NDArray[np.int16]

ZERO, ONE = np.uint64(0), np.uint64(1)
SPARE = 8
"""A row of indices is longer by so many words, for the images of a board."""
TERMINAL = np.int64(-1)
"""The stage of an afterstate at which the game has ended: nothing is to come."""


class Worth(NamedTuple):
    """What a network estimates: the points of which rules, in which stages."""

    per_merged: float
    """Points for each point of merges."""
    per_move: float
    """Points for each legal move."""
    target: Word
    """The tile that ends the game, or 0."""
    stages: Words
    """uint64 `[stages - 1]`: the least `presence` of each stage after the first, ascending."""
    unit: np.int64
    """Slides that gain fewer points leave a board in its stage."""
    size: Word
    """How many weights a stage has."""
    step: np.float32
    """How many points one unit of a weight is worth."""


@kernel(inline=True, borrows=True)
def stage_of(seen: Word, worth: Worth) -> Int:
    """Return the stage of a board whose different tiles sum to `seen`."""
    stage = np.int64(0)
    for least in worth.stages:
        stage += np.int64(seen >= least)
    return stage


@kernel(inline=True, borrows=True, fastmath=True)
def total(
    weights: Weights, indices: Words, row: Int, count: Int, first: Word, stride: Word
) -> np.float32:
    """Return the sum of the weights at `indices` of the stage whose first weight is `first`."""
    value = np.float32(0)
    for number in range(count):
        value += weights[(indices[row, number] + first) * stride]
    return value


@kernel(inline=True, borrows=True)
def fetch(
    weights: Weights, indices: Words, row: Int, count: Int, first: Word, stride: Word
) -> None:
    """Ask for the weights that `total` reads, so that their memory is there by then."""
    for number in range(count):
        prefetch(weights, (indices[row, number] + first) * stride)


@kernel(inline=True, borrows=True)
def weight_at(weights: Weights, index: Word, stage: Int, size: Word, stride: Word) -> np.float32:
    """Return one weight of a stage, promoted from a stage before if it is not known."""
    at = (index + np.uint64(stage) * size) * stride
    value: np.float32 = weights[at]
    while value == np.float32(0) and stage > 0:
        stage -= 1
        at -= size * stride
        value = weights[at]
    return value


@kernel(borrows=True)
def total_promoted(
    weights: Weights, indices: Words, row: Int, count: Int, stage: Int, size: Word, stride: Word
) -> np.float32:
    """Return the sum of the weights at `indices` of a later stage."""
    value = np.float32(0)
    for number in range(count):
        value += weight_at(weights, indices[row, number], stage, size, stride)
    return value


@kernel(inline=True, borrows=True)
def value_at(
    weights: Weights, indices: Words, row: Int, count: Int, stage: Int, size: Word, stride: Word
) -> np.float32:
    """Return the value of an afterstate, the points still to come, with promotion."""
    if stage > 0:
        return total_promoted(weights, indices, row, count, stage, size, stride)
    return total(weights, indices, row, count, ZERO, stride)


@kernel(inline=True, borrows=True)
def value_of_network(
    weights: Weights, indices: Words, row: Int, count: Int, stage: Int, size: Word, _stride: Word
) -> np.float32:
    """Return the value of an afterstate in a network, whose weights are all known."""
    return total(weights, indices, row, count, np.uint64(stage) * size, ONE)


def rater(slide_all: Any, seen_on: Any, indices_of: Any, value_of: Any, stride: Any) -> Any:
    """Return the kernel that rates the moves of one kind of board."""

    @kernel(inline=True, borrows=True)
    def rate(
        boards: Any,
        stage: Int,
        space: Any,
        weights: Weights,
        worth: Worth,
        indices: Words,
        points: NDArray[np.int64],
        stages: NDArray[np.int64],
        values: NDArray[np.float64],
    ) -> Int:
        """Rate the moves of board 0; its afterstates become boards 1 to 4.

        Args:
            boards: `[5 or more, …]`.
            stage: the stage of board 0.
            space: its shape and tuples.
            weights: the weights.
            worth: what they mean.
            indices: uint64 `[4 or more, weights met + 8]`, where afterstates' indices go.
            points: int64 `[4]`, filled with the points of each slide, -1 for an illegal one.
            stages: int64 `[4]`, filled with the stage of each afterstate, or ``TERMINAL``.
            values: float64 `[4]`, filled with the worth of each legal move, in points.

        Returns:
            the best direction, or -1 if none is legal.
        """
        best, most = np.int64(-1), -np.inf
        count = indices.shape[1] - SPARE
        slide_all(boards, space, points)
        first = np.uint64(stage) * worth.size
        for direction in range(4):
            # The weights of all legal moves are on their way before the first is needed.
            if points[direction] < 0:
                continue
            indices_of(boards, direction + 1, space, indices, direction)
            fetch(weights, indices, direction, count, first, stride)
        for direction in range(4):
            gained = points[direction]
            if gained < 0:
                continue
            after = stage
            if gained >= worth.unit:
                seen = seen_on(boards, direction + 1, space)
                after = stage_of(seen, worth)
                if worth.target != ZERO and seen >= worth.target:
                    after = TERMINAL
            value = worth.per_merged * gained + worth.per_move
            if after != TERMINAL:
                units = value_of(weights, indices, direction, count, after, worth.size, stride)
                value += units * worth.step
            stages[direction], values[direction] = after, value
            if value > most:
                best, most = np.int64(direction), value
        return best

    return rate


rate_4x4 = rater(slides_4x4, presence, indices_4x4, value_of_network, ONE)
rate_small = rater(slides_small, presence, indices_small, value_of_network, ONE)
rate_cells = rater(slides_cells, presence_cells, indices_cells, value_of_network, ONE)


def valuer(indices_of: Any) -> Any:
    """Return the kernel that evaluates afterstates of one kind of board."""

    @kernel(borrows=True)
    def value(
        boards: Any, stage: Int, space: Any, weights: Weights, size: Word, indices: Words
    ) -> np.float32:
        """Return the value of board 0, an afterstate in `stage`, in units of the weights."""
        indices_of(boards, 0, space, indices, 0)
        return value_of_network(weights, indices, 0, indices.shape[1] - SPARE, stage, size, ONE)

    return value


value_4x4, value_small, value_cells = map(valuer, (indices_4x4, indices_small, indices_cells))
