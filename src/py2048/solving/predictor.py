"""`Predictor`: guesses the best move by a small n-tuple network, the same on every machine.

The score of a move is the sum of the weights that its afterstate selects, as in
`py2048.ntuple.network`. The weights are whole numbers, so that no rounding depends on the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]

GAINS = 512
"""How many gains have a weight: a quarter of the points of a move, and larger ones together."""


@cache
def images(rows: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """Return which cell of a board comes to each cell, for all symmetries of its shape."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    turned = (cells, cells.T) if rows == columns else (cells,)
    found = [b for t in turned for a in (t, t[:, ::-1]) for b in (a, a[::-1])]
    return tuple(tuple(image.reshape(-1).tolist()) for image in found)


@cache
def lines(rows: int, columns: int, direction: int) -> tuple[tuple[int, ...], ...]:
    """Return the cells of each line along a direction, first the one that it points to."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    found = cells.T if direction < 2 else cells
    return tuple(map(tuple, (found[:, ::-1] if direction % 2 else found).tolist()))


def slide(ranks: Ranks, rows: int, columns: int, direction: int) -> tuple[Ranks, Ranks]:
    """Return afterstates, each tile merging once at most, and the points.

    Returns:
        int64 `[cells, boards]` as `ranks`, and int64 `[boards]`.
    """
    after, points = ranks.copy(), np.zeros(ranks.shape[1], np.int64)
    for cells in lines(rows, columns, direction):
        _close_up(after, cells)
        for near, far in pairwise(cells):
            merges = (after[near] == after[far]) & (after[near] != 0)
            after[near] += merges
            after[far] *= ~merges
            points += merges << after[near]
        _close_up(after, cells)
    return after, points


def _close_up(ranks: Ranks, cells: tuple[int, ...]) -> None:
    """Move the tiles of a line over the empty cells."""
    for _ in cells[1:]:
        for near, far in pairwise(cells):
            is_free = ranks[near] == 0
            ranks[near] += is_free * ranks[far]
            ranks[far] *= ~is_free


@dataclass(frozen=True, eq=False)
class Predictor:
    """Guesses the best move.

    Attributes:
        tuples: the cells of each tuple, int64 `[tuples, cells]`.
        radix: the number of ranks.
        weights: those of each pattern of a tuple, int8 `[tuples, radix ** cells]`.
        gains: those of the points of a move, by their quarter: int8 `[GAINS]`.
    """

    tuples: NDArray[np.int64]
    radix: int
    weights: NDArray[np.int8]
    gains: NDArray[np.int8]

    @classmethod
    def blind(cls) -> Predictor:
        """Return a predictor that prefers no direction."""
        nothing = np.zeros((0, 1), np.int8)
        return cls(nothing.astype(np.int64), 1, nothing, np.zeros(GAINS, np.int8))

    @cached_property
    def _weights(self) -> NDArray[np.int32]:
        return self.weights.astype(np.int32)

    def scores(self, ranks: Ranks, rows: int, columns: int) -> NDArray[np.int32]:
        """Return the scores of the directions: int32 `[boards, 4]`.

        Args:
            ranks: the ranks on the cells, int64 `[cells, boards]`.
            rows: the number of rows.
            columns: the number of columns.
        """
        scores = np.zeros((ranks.shape[1], 4), np.int32)
        for direction in range(4) if len(self.tuples) else ():
            after, points = slide(ranks, rows, columns, direction)
            scores[:, direction] = self.gains[np.minimum(points >> 2, GAINS - 1)]
            for cells, weights in zip(self.tuples, self._weights, strict=True):
                for image in images(rows, columns):
                    pattern = np.zeros(ranks.shape[1], np.int64)
                    for cell in cells:
                        pattern = pattern * self.radix + after[image[cell]]
                    scores[:, direction] += weights[pattern]
        return scores
