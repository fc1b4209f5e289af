"""Rules as the compiled engine takes them: numbers, tables and lists of cells."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.board import Cell
from py2048.direction import Direction
from py2048.rules import BoardSum, MergePoints, Merging, MovePoints, Rules, Weights

ROWS, COLUMNS, CASCADE, SCORING, LEGAL_POINTS, ILLEGAL_POINTS, TARGET, EDGE, LOW, HIGH = range(10)
"""Places in `RuleArrays.numbers`: the shape; whether merges cascade; the scoring (0 for merges, 1
for moves, 2 for the sum of the board) with the points of a legal and of an illegal move; the rank
that ends the game, or 0; whether the spawn is deterministic; the bounds of the number of start
tiles."""


class RuleArrays(NamedTuple):
    """Rules as the kernels of blocks take them.

    Attributes:
        numbers: int64 `[10]`, as named above.
        ranks: the ranks that can appear, ascending, uint8 `[tiles]`.
        thresholds: for each the least high half of a draw that chooses it or a larger one.
        start_ranks: the ranks of start tiles.
        start_thresholds: their thresholds.
        edges: the cells of a deterministic spawn, int64 `[4, longest side]`, padded with -1.
        neighbours: the next cell in each direction, int64 `[cells, 4]`, -1 outside the board.
    """

    numbers: NDArray[np.int64]
    ranks: NDArray[np.uint8]
    thresholds: NDArray[np.uint64]
    start_ranks: NDArray[np.uint8]
    start_thresholds: NDArray[np.uint64]
    edges: NDArray[np.int64]
    neighbours: NDArray[np.int64]

    @classmethod
    def of(cls, rules: Rules) -> RuleArrays:
        """Return the arrays of `rules`."""
        scoring, target = rules.scoring, rules.target if rules.ends_at_target else None
        moves = (scoring.legal, scoring.illegal) if isinstance(scoring, MovePoints) else (0, 0)
        numbers = [
            *(rules.rows, rules.columns, rules.merging is Merging.CASCADE),
            *([MergePoints, MovePoints, BoardSum].index(type(scoring)), *moves),
            *(target.bit_length() - 1 if target else 0, rules.is_deterministic),
            *(rules.start.low, rules.start.high),
        ]
        return cls(
            np.array(numbers, np.int64),
            *(tile_ranks(rules.spawn_weights), thresholds(rules.spawn_weights)),
            *(tile_ranks(rules.start_weights), thresholds(rules.start_weights)),
            edge_table(rules.rows, rules.columns),
            neighbour_table(rules.rows, rules.columns),
        )


def ranks_of(rules: Rules) -> NDArray[np.uint8]:
    """Return the ranks that can appear after a move, ascending: uint8 `[tiles]`."""
    return tile_ranks(rules.spawn_weights)


def tile_ranks(weights: Weights) -> NDArray[np.uint8]:
    """Return the ranks of the tiles, ascending: uint8 `[tiles]`."""
    return np.array([tile.bit_length() - 1 for tile in weights.tiles], np.uint8)


def cumulative_weights(rules: Rules) -> NDArray[np.uint64]:
    """Return the running sums of the spawn's integer weights: uint64 `[tiles]`."""
    return np.array(list(accumulate(rules.spawn_weights.integers)), np.uint64)


def thresholds(weights: Weights) -> NDArray[np.uint64]:
    """Return for each tile the least high half of a draw that chooses it or a larger one.

    A draw's high half ``h`` chooses by ``h * total >> 32``, which reaches a running sum ``s``
    exactly where ``h >= ceil(s * 2**32 / total)``. uint64 `[tiles]`, the first is 0.
    """
    sums = [0, *accumulate(weights.integers)]
    return np.array([-(-s * 2**32 // sums[-1]) for s in sums[:-1]], np.uint64)


@cache
def edge_cells(rows: int, columns: int, direction: Direction) -> tuple[Cell, ...]:
    """Return the cells where an `EdgeSpawn` may land after a move in `direction`, best first.

    They are the edge left behind: after Up the bottom row from its right end, after Down the top
    row from its left end, after Left the right column from its top, after Right the left column
    from its bottom.
    """
    return {
        Direction.UP: tuple((rows - 1, column) for column in reversed(range(columns))),
        Direction.DOWN: tuple((0, column) for column in range(columns)),
        Direction.LEFT: tuple((row, columns - 1) for row in range(rows)),
        Direction.RIGHT: tuple((row, 0) for row in reversed(range(rows))),
    }[direction]


def edge_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return `edge_cells` as cell numbers: int64 `[4, longest side]`, padded with -1."""
    table = np.full((4, max(rows, columns)), -1, np.int64)
    for direction in Direction:
        cells = edge_cells(rows, columns, direction)
        table[direction.value, : len(cells)] = [row * columns + column for row, column in cells]
    return table


def neighbour_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the next cell of each cell in each direction: int64 `[cells, 4]`, -1 for none."""
    padded = np.full((rows + 2, columns + 2), -1, np.int64)
    padded[1:-1, 1:-1] = np.arange(rows * columns).reshape(rows, columns)
    up, down = padded[:-2, 1:-1], padded[2:, 1:-1]
    left, right = padded[1:-1, :-2], padded[1:-1, 2:]
    return np.stack([up, down, left, right], axis=-1).reshape(-1, 4)
