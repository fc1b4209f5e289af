"""`CompiledRules`: the one encoding of rules as numbers and arrays.

Batches, rollouts, environments, searches and networks take their rules from here, and each kind of
rule is told apart here alone. So a new kind of scoring or spawn that the encoding can say needs no
kernel to change: scoring is a sum of four terms, and a spawn is a table of tiles with the cells
where they land.
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
"""Places in `RuleArrays.numbers`: the shape; whether merges cascade; the four terms of the score as
in `CompiledRules`; the rank that ends the game, or 0; whether the cell of the spawn
follows from the move; the bounds of the number of start tiles."""

GROWTH = 24
"""A tile that is larger by this many ranks than all that appear takes 16 million moves."""

SHORT_RANK, LONG_RANK = 29, 56
"""The largest ranks for points in 32 bits, those of a turn, and for scores in 64 bits.

A turn brings less than 4 times the largest tile, in a cascade and for the sum of the board, too;
all turns together bring less than 128 times.
"""


class TileTable(NamedTuple):
    """A distribution over tiles, for every way to draw from it.

    Attributes:
        ranks: the ranks that can appear, ascending, uint8 `[tiles]`.
        cumulative: the running sums of their integer weights, uint64 `[tiles]`.
        thresholds: for each the least high half of a draw that chooses it or a larger one, uint64
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

        A draw's high half ``h`` chooses by ``h * total >> 32``, which reaches a running sum ``s``
        exactly where ``h >= ceil(s * 2**32 / total)``.
        """
        sums = [0, *accumulate(weights.integers)]
        return cls(
            np.array([tile.bit_length() - 1 for tile in weights.tiles], np.uint8),
            np.array(sums[1:], np.uint64),
            np.array([-(-s * 2**32 // sums[-1]) for s in sums[:-1]], np.uint64),
            np.array([float(share) for _, share in weights.pairs]),
        )


class RuleArrays(NamedTuple):
    """Rules as the kernels of the batch take them.

    Attributes:
        numbers: int64 `[11]`, as named above.
        ranks: those of the spawn's `TileTable`.
        thresholds: the same.
        start_ranks: those of the start's.
        start_thresholds: the same.
        landing: `CompiledRules.landing`.
        neighbours: the next cell in each direction, int64 `[cells, 4]`, -1 outside the board.
    """

    numbers: NDArray[np.int64]
    ranks: NDArray[np.uint8]
    thresholds: NDArray[np.uint64]
    start_ranks: NDArray[np.uint8]
    start_thresholds: NDArray[np.uint64]
    landing: NDArray[np.int64]
    neighbours: NDArray[np.int64]


class CompiledRules:
    """Rules as compiled code takes them; `CompiledRules.of` makes them once for each rule set.

    A legal turn brings ``merge_points`` for each point of its merges, ``legal_points``, and, if
    ``sum_points`` is 1, what the score lacks of the board's sum; an illegal attempt brings
    ``illegal_points``.

    Attributes:
        rules: the rules themselves.
        rows: the number of rows.
        columns: the number of columns.
        cells: the number of cells.
        cascade: whether a merged tile can merge again in the same slide.
        merge_points: 0 or 1.
        sum_points: 0 or 1.
        legal_points: points of a legal move besides.
        illegal_points: points of an illegal one.
        ending_tile: the tile that ends the game, or 0.
        ending_rank: its rank, or 0.
        spawn: the tiles that appear after a move.
        start: the tiles of the start.
        is_fixed: whether the cell of the spawn follows from the move.
        landing: if so, the cells where it may land after a move in each direction, the first empty
            one counts: int64 `[4, k]`, padded with -1.

    Raises:
        RulesError: if tiles could grow beyond `LONG_RANK`.
    """

    @staticmethod
    @lru_cache(maxsize=256)
    def of(rules: Rules) -> CompiledRules:
        """Return the encoding of `rules`.

        Raises:
            RulesError: if tiles could grow beyond `LONG_RANK`.
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
        self.check_growth(LONG_RANK)

    def check_growth(self, largest: int) -> None:
        """Refuse rules under which tiles could grow beyond the rank `largest`.

        With each cell the largest tile can be one rank larger, while the game lasts.

        Raises:
            RulesError: if they could.
        """
        most = largest - min(self.cells - 1, GROWTH)
        rank = int(max(self.spawn.ranks[-1], self.start.ranks[-1]))
        if rank > most:
            raise RulesError(
                f"tile {1 << rank}, which appears under the rules {self.rules.name}, is too large "
                f"to compute with on {self.rows}x{self.columns}: at most {1 << most}"
            )

    def check_end(self, *appearing: TileTable) -> None:
        """Refuse rules under which one of the tiles that appear would end the game.

        Raises:
            RulesError: if one would.
        """
        rank = int(max(tiles.ranks[-1] for tiles in appearing))
        if 0 < self.ending_rank <= rank:
            raise RulesError(
                f"tile {1 << rank}, which appears under the rules {self.rules.name}, would end the "
                f"game: only a merge may make target={self.ending_tile} here"
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
        """The points that a legal move is expected to bring besides those of its merges."""
        mean = sum(tile * share for tile, share in self.rules.spawn_weights.pairs)
        return float(self.legal_points + self.sum_points * mean)

    @cached_property
    def arrays(self) -> RuleArrays:
        """The rules as the kernels of the batch take them."""
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
        """Whether rows and columns slide by table."""
        return max(self.rows, self.columns) <= kernels.TABLE_CELLS

    @cached_property
    def mask(self) -> np.uint64:
        """The mask of all cells of a packed board."""
        return np.uint64(sum(1 << 4 * cell for cell in range(self.cells)))

    @cached_property
    def across(self) -> NDArray[np.uint64]:
        """The line table of a row of a small board."""
        return line_table(self.columns, self.rules.merging)

    @cached_property
    def down(self) -> NDArray[np.uint64]:
        """The line table of a column of a small board."""
        return line_table(self.rows, self.rules.merging)


@cache
def line_table(length: int, merging: Merging = Merging.ONCE) -> NDArray[np.uint64]:
    """Return the line table for lines of `length` cells, at most four (read-only).

    `py2048.engine._board_kernels` describes its entries.
    """
    table = kernels.line_table(length, merging is Merging.CASCADE)
    table.setflags(write=False)
    return table


def edge_table(rows: int, columns: int) -> NDArray[np.int64]:
    """Return the cells where an `EdgeSpawn` may land after each direction, best first.

    They are the edge left behind: after Up the bottom row from its right end, after Down the top
    row from its left end, after Left the right column from its top, after Right the left column
    from its bottom.

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
    """Return the next cell of each cell in each direction: int64 `[cells, 4]`, -1 for none."""
    padded = np.full((rows + 2, columns + 2), -1, np.int64)
    padded[1:-1, 1:-1] = np.arange(rows * columns).reshape(rows, columns)
    up, down = padded[:-2, 1:-1], padded[2:, 1:-1]
    left, right = padded[1:-1, :-2], padded[1:-1, 2:]
    return np.stack([up, down, left, right], axis=-1).reshape(-1, 4)
