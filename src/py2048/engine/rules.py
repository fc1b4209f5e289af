"""`CompiledRules`: rules encoded as numbers and arrays for compiled code.

All compiled code uses `CompiledRules`, and only this module distinguishes the kinds of rules.
Scoring is encoded as a sum of four terms, and spawns as a table of tiles and a table of cells. New
kinds of scoring or spawns need no kernel changes if they fit this encoding.
"""

from __future__ import annotations

from functools import cache, cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from py2048.core.direction import Direction
from py2048.core.errors import RulesError
from py2048.core.rules import (
    BoardSum,
    EdgeSpawn,
    MergePoints,
    Merging,
    MovePoints,
    RandomSpawn,
    Rules,
    Weights,
)
from py2048.engine import _board_kernels as kernels

(
    ROWS,
    COLUMNS,
    CASCADE,
    MERGE_POINTS,
    SUM_POINTS,
    LEGAL_POINTS,
    ILLEGAL_POINTS,
    TARGET,
    FIXED,
    START_LOW,
    START_HIGH,
) = range(11)
"""Indices into `RuleArrays.numbers`. They are the numbers of rows and columns; whether merges
cascade; the four scoring terms of `CompiledRules`; the rank that ends the game, or 0; whether the
move determines the spawn's cell; and the minimum and maximum number of start tiles.
"""

MAX_RANK_GROWTH = 24
"""Maximum number of ranks by which tiles can outgrow the largest spawned tile.

Larger tiles would take more than 16 million moves.
"""

MAX_INT32_RANK, MAX_INT64_RANK = 29, 56
"""Largest tile ranks for which the points of a turn fit in 32 bits, and scores in 64 bits.

A turn scores less than 4 times the largest tile, including cascades and board sums. All turns of a
game together score less than 128 times the largest tile.
"""


class TileTable(NamedTuple):
    """A distribution of tiles, encoded for drawing random tiles.

    Attributes:
        ranks: The possible ranks, ascending, uint8 `[tiles]`.
        cumulative: Running sums of the tiles' integer weights, uint64 `[tiles]`.
        thresholds: For each tile, the smallest 32-bit random number that selects the tile, uint64
            `[tiles]`.
        probabilities: float64 `[tiles]`.
    """

    ranks: NDArray[np.uint8]
    cumulative: NDArray[np.uint64]
    thresholds: NDArray[np.uint64]
    probabilities: NDArray[np.float64]

    @classmethod
    def of(cls, weights: Weights) -> TileTable:
        """Return the table of `weights`.

        The high half ``h`` of a draw selects the tile by ``h * total >> 32``, which reaches a
        running sum ``s`` exactly when ``h >= ceil(s * 2**32 / total)``.
        """
        sums = [0, *accumulate(weights.integers)]
        return cls(
            np.array([tile.bit_length() - 1 for tile in weights.tiles], np.uint8),
            np.array(sums[1:], np.uint64),
            np.array([-(-s * 2**32 // sums[-1]) for s in sums[:-1]], np.uint64),
            np.array([float(share) for _, share in weights.pairs]),
        )


class RuleArrays(NamedTuple):
    """The arrays that describe the rules to the batch kernels.

    Attributes:
        numbers: Integer settings, int64 `[11]`, indexed by constants such as `ROWS`.
        ranks: Ranks of the spawn's `TileTable`.
        thresholds: Thresholds of the spawn's `TileTable`.
        start_ranks: Ranks of the start's `TileTable`.
        start_thresholds: Thresholds of the start's `TileTable`.
        landing: `CompiledRules.landing`.
        neighbours: Each cell's neighbour in each direction, or -1 at the edge of the board, int64
            `[cells, 4]`.
    """

    numbers: NDArray[np.int64]
    ranks: NDArray[np.uint8]
    thresholds: NDArray[np.uint64]
    start_ranks: NDArray[np.uint8]
    start_thresholds: NDArray[np.uint64]
    landing: NDArray[np.int64]
    neighbours: NDArray[np.int64]


class CompiledRules:
    """The encoding of a rule set. `CompiledRules.of` caches encodings.

    A legal turn scores ``merge_points`` times the points of its merges, plus ``legal_points``,
    plus, if ``sum_points`` is 1, the difference between the board's sum and the score. An illegal
    attempt scores ``illegal_points``.

    Attributes:
        rules: Rules of the game.
        rows: Number of rows.
        columns: Number of columns.
        cells: Number of cells.
        cascade: Whether a merged tile can merge again in the same slide.
        merge_points: 0 or 1.
        sum_points: 0 or 1.
        legal_points: Points for each legal move, in addition to merges.
        illegal_points: Points of an illegal attempt.
        ending_tile: The tile that ends the game, or 0.
        ending_rank: Rank of the tile that ends the game, or 0.
        spawn: The distribution of the tiles that spawn after a move.
        start: The distribution of the start tiles.
        is_fixed: Whether the move determines the spawn's cell.
        landing: For each direction, the cells where a fixed spawn can appear, in order of
            preference, int64 `[4, k]`, padded with -1.

    Raises:
        RulesError: If tiles could grow beyond `MAX_INT64_RANK`.
    """

    @staticmethod
    @lru_cache(maxsize=256)
    def of(rules: Rules) -> CompiledRules:
        """Return the cached encoding of `rules`.

        Raises:
            RulesError: If tiles could grow beyond `MAX_INT64_RANK`.
        """
        return CompiledRules(rules)

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.rows, self.columns = rules.shape
        self.cells = rules.cells
        self.cascade = rules.merging is Merging.CASCADE
        self._set_scoring()
        self.ending_tile = rules.target or 0 if rules.ends_at_target else 0
        self.ending_rank = max(self.ending_tile.bit_length() - 1, 0)
        self.spawn, self.start = (
            TileTable.of(rules.spawn_weights),
            TileTable.of(rules.start_weights),
        )
        self.is_fixed = rules.is_deterministic
        self._set_spawn()
        self.check_growth(MAX_INT64_RANK)

    def check_growth(self, largest: int) -> None:
        """Reject rules under which tiles could grow beyond the rank `largest`.

        Each additional cell allows the largest tile to grow by one rank.

        Raises:
            RulesError: If tiles could grow beyond `largest`.
        """
        limit = largest - min(self.cells - 1, MAX_RANK_GROWTH)
        rank = int(max(self.spawn.ranks[-1], self.start.ranks[-1]))
        if rank > limit:
            raise RulesError(
                f"tile {1 << rank}, which can appear under the rules {self.rules.name}, is too "
                f"large for compiled games on {self.rows}x{self.columns}: at most {1 << limit}"
            )

    def check_end(self, *appearing: TileTable) -> None:
        """Reject rules under which a spawned tile could end the game.

        Raises:
            RulesError: If a spawned tile could end the game.
        """
        rank = int(max(tiles.ranks[-1] for tiles in appearing))
        if 0 < self.ending_rank <= rank:
            raise RulesError(
                f"tile {1 << rank}, which can appear under the rules {self.rules.name}, would end "
                f"the game: target={self.ending_tile} must be larger"
            )

    def _set_scoring(self) -> None:
        self.merge_points = self.sum_points = self.legal_points = self.illegal_points = 0
        match self.rules.scoring:
            case MergePoints():
                self.merge_points = 1
            case MovePoints(legal, illegal):
                self.legal_points, self.illegal_points = legal, illegal
            case BoardSum():
                self.sum_points = 1
            case other:
                assert_never(other)

    def _set_spawn(self) -> None:
        match self.rules.spawn:
            case RandomSpawn():
                self.landing = np.full((4, 1), -1, np.int64)
            case EdgeSpawn():
                self.landing = edge_table(self.rows, self.columns)
            case other:
                assert_never(other)

    @property
    def points_per_move(self) -> float:
        """Expected points per legal move, not counting merges."""
        mean = sum(tile * share for tile, share in self.rules.spawn_weights.pairs)
        return float(self.legal_points + self.sum_points * mean)

    @cached_property
    def arrays(self) -> RuleArrays:
        """The rules in the form that the batch kernels take as arguments."""
        numbers = [
            *(self.rows, self.columns, self.cascade),
            *(self.merge_points, self.sum_points, self.legal_points, self.illegal_points),
            *(self.ending_rank, self.is_fixed, self.rules.start.low, self.rules.start.high),
        ]
        return RuleArrays(
            np.array(numbers, np.int64),
            *(self.spawn.ranks, self.spawn.thresholds),
            *(self.start.ranks, self.start.thresholds),
            *(self.landing, neighbour_table(self.rows, self.columns)),
        )

    # --- packed boards ---------------------------------------------------------------------------

    @property
    def is_small(self) -> bool:
        """Whether the lines are short enough for lookup tables."""
        return max(self.rows, self.columns) <= kernels.TABLE_CELLS

    @cached_property
    def mask(self) -> np.uint64:
        """The mask of all cells of a packed board."""
        return np.uint64(sum(1 << 4 * cell for cell in range(self.cells)))

    @cached_property
    def across(self) -> NDArray[np.uint64]:
        """Line table for the rows of a small board."""
        return line_table(self.columns, self.rules.merging)

    @cached_property
    def down(self) -> NDArray[np.uint64]:
        """Line table for the columns of a small board."""
        return line_table(self.rows, self.rules.merging)


@cache
def line_table(length: int, merging: Merging = Merging.ONCE) -> NDArray[np.uint64]:
    """Return a read-only table with the slides of all lines of `length` cells (at most 4).

    `py2048.engine._board_kernels` describes its entries.
    """
    table = kernels.line_table(length, merging is Merging.CASCADE)
    table.setflags(write=False)
    return table


def edge_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the cells that an `EdgeSpawn` tries in order, for each move direction.

    The docstring of `EdgeSpawn` explains the order.

    Returns:
        Cell numbers, int64 `[4, longest side]`, padded with -1.
    """
    grid = np.arange(rows * columns).reshape(rows, columns)
    table = np.full((4, max(rows, columns)), -1, np.int64)
    edges = {
        Direction.UP: grid[-1, ::-1],
        Direction.DOWN: grid[0],
        Direction.LEFT: grid[:, -1],
        Direction.RIGHT: grid[::-1, 0],
    }
    for direction, edge in edges.items():
        table[direction.value, : len(edge)] = edge
    return table


def neighbour_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return each cell's neighbour in each direction, or -1 at the edge, int64 `[cells, 4]`."""
    padded = np.full((rows + 2, columns + 2), -1, np.int64)
    padded[1:-1, 1:-1] = np.arange(rows * columns).reshape(rows, columns)
    up, down = padded[:-2, 1:-1], padded[2:, 1:-1]
    left, right = padded[1:-1, :-2], padded[1:-1, 2:]
    return np.stack([up, down, left, right], axis=-1).reshape(-1, 4)
