"""n-tuple networks: the points still to come as a sum of weights, found by what cells hold.

A network [1] looks at a few groups of cells, its *tuples*. Each has a table with a weight for
every combination of tiles on its cells, and the value of an afterstate is the sum of the weights
that its tuples, applied to all symmetric images of the board, find there. That is linear in the
weights and takes some dozens of memory accesses, so it learns well and plays fast.

[1] Szubert & Jaśkowski, "Temporal difference learning of n-tuple networks for the game 2048", 2014.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board
from py2048.compiled.jit import IS_PLAIN
from py2048.compiled.rules import line_table
from py2048.direction import Direction
from py2048.errors import BoardError, WeightsError
from py2048.ntuple import _value_kernels as kernels
from py2048.ntuple._cell_ntuple_kernels import CellSpace
from py2048.ntuple._ntuple_kernels import Code, PackedSpace
from py2048.ntuple._steps_kernels import write_points
from py2048.ntuple.layout import Layout, Tuple
from py2048.rules import BoardSum, MergePoints, Merging, Rules

Weights = NDArray[np.float32]
Steps = NDArray[np.int16]
Space = PackedSpace | CellSpace

NEVER = np.int64(2**62)
"""More points than any slide gains."""


@dataclass(frozen=True)
class Network:
    """An n-tuple network, trained for some rules.

    Attributes:
        layout: its tuples and stages.
        rules: the rules whose points it estimates.
        table: the weights, `[layout.weights]`, float32 or int16 in units of `step`: stage by stage,
            tuple by tuple, and within a tuple the first cell's rank counting fastest.
        history: how it came to be, one mapping for each training, in plain JSON values.
        step: how many points one unit of the table is worth.

    Raises:
        WeightsError: if layout, rules and weights do not fit together.
    """

    layout: Layout
    rules: Rules
    table: Weights | Steps
    history: tuple[Mapping[str, Any], ...] = field(default=())
    step: float = 1.0

    def __post_init__(self) -> None:
        check_rules(self.layout, self.rules)
        table = self.table
        if table.shape != (self.layout.weights,) or table.dtype not in (np.float32, np.int16):
            raise WeightsError(
                f"the layout has {self.layout.weights} weights, float32 or int16, "
                f"not {table.dtype} {table.shape}"
            )

    @classmethod
    def zeros(cls, layout: Layout, rules: Rules) -> Network:
        """Return a network that has learnt nothing."""
        return cls(layout, rules, np.zeros(layout.weights, np.float32))

    @property
    def weights(self) -> Weights:
        """The weights in points, float32 `[layout.weights]`; made when asked for if in steps."""
        return in_points(self.table, self.step)

    @cached_property
    def space(self) -> Space:
        """The shape and tuples as kernels take them."""
        return space_of(self.layout, self.rules)

    @cached_property
    def worth(self) -> kernels.Worth:
        """What the weights mean, as kernels take it."""
        return worth_of(self.layout, self.rules, self.step)

    def suits(self, rules: Rules) -> bool:
        """Whether the network estimates the points of these rules."""
        return essence(rules) == essence(self.rules)

    def value(self, afterstate: Board) -> float:
        """Return the points still to come after a slide, before its spawn.

        Raises:
            BoardError: if the board has another shape.
        """
        value = self._kernel("value")
        boards = board_rows(self.layout, 1)
        put_board(self.layout, boards, 0, afterstate)
        indices = np.zeros((1, self.layout.active + kernels.SPARE), np.uint64)
        size = np.uint64(self.layout.size)
        stage = self._stage(afterstate)
        return float(value(boards, stage, self.space, self.table, size, indices)) * self.step

    def rate(self, board: Board) -> dict[Direction, float]:
        """Return the worth of each legal move in points: its own, and those still to come.

        Raises:
            BoardError: if the board has another shape.
        """
        boards = board_rows(self.layout, 5)
        put_board(self.layout, boards, 0, board)
        points, stages, values = np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(4)
        indices = np.zeros((4, self.layout.active + kernels.SPARE), np.uint64)
        stage = self._stage(board)
        fixed = (self.space, self.table, self.worth, indices)
        self._kernel("rate")(boards, stage, *fixed, points, stages, values)
        return {d: float(values[d.value]) for d in Direction if points[d.value] >= 0}

    def _stage(self, board: Board) -> np.int64:
        return np.int64(self.layout.stage_of(tile for row in board.rows for tile in row))

    def _kernel(self, name: str) -> Any:
        return getattr(kernels, f"{name}_{kind_of(self.layout)}")


def essence(rules: Rules) -> tuple[object, ...]:
    """Return what decides the points still to come on a board: not names, starts or mere goals."""
    end = rules.target if rules.ends_at_target else None
    return rules.shape, rules.spawn, rules.merging, rules.scoring, end


def check_rules(layout: Layout, rules: Rules) -> None:
    """Refuse rules that a network of this layout cannot play.

    Raises:
        WeightsError: if the board has another shape, or spawns are not random or too large.
    """
    if rules.shape != (layout.rows, layout.columns):
        raise WeightsError(
            f"a {layout.rows}x{layout.columns} network does not fit the {rules.rows}x"
            f"{rules.columns} board of the rules {rules.name}"
        )
    if rules.is_deterministic:
        raise WeightsError(f"the spawns of {rules.name} are not random: plan, do not learn")
    largest = max(rules.spawn_weights.tiles)
    unit = _lowest_tile(layout.stages)
    if unit is not None and largest >= unit:
        raise WeightsError(f"the spawn of a {largest} could begin the stage {unit} by itself")


def kind_of(layout: Layout) -> str:
    """Return which kernels work on boards of this layout."""
    if not layout.is_packed:
        return "cells"
    return "4x4" if (layout.rows, layout.columns) == (4, 4) else "small"


def in_points(table: NDArray[Any], step: float) -> Weights:
    """Return weights in units of `step` points as points, float32 of the same shape."""
    points: Weights = table
    if table.dtype == np.float32 and step == 1.0:
        return points
    points = np.empty(table.shape, np.float32)
    if IS_PLAIN or table.dtype != np.int16:
        np.multiply(table, np.float32(step), out=points)
        return points
    write_points(table.reshape(-1), np.float32(step), points.reshape(-1))
    return points


def worth_of(layout: Layout, rules: Rules, step: float = 1.0) -> kernels.Worth:
    """Return what values mean under the rules, as kernels take it."""
    merged, moved = _prices(rules)
    target = rules.target if rules.ends_at_target and rules.target else 0
    units = [tile for tile in (_lowest_tile(layout.stages), target) if tile]
    return kernels.Worth(
        merged,
        moved,
        np.uint64(target),
        np.array(layout.stages, np.uint64),
        np.int64(min(units)) if units else NEVER,
        np.uint64(layout.size),
        np.float32(step),
    )


def _prices(rules: Rules) -> tuple[float, float]:
    """Return the points for each point of merges, and for each legal move."""
    if isinstance(rules.scoring, MergePoints):
        return 1.0, 0.0
    if isinstance(rules.scoring, BoardSum):
        # A slide keeps the sum; what a turn adds is its spawn.
        return 0.0, float(sum(tile * share for tile, share in rules.spawn_weights.pairs))
    return 0.0, float(rules.scoring.legal)


def _lowest_tile(stages: Sequence[int]) -> int | None:
    """Return the smallest tile that decides between stages."""
    return min(stage & -stage for stage in stages) if stages else None


# --- what kernels need ---------------------------------------------------------------------------


def space_of(layout: Layout, rules: Rules) -> Space:
    """Return a layout and the slides of the rules as kernels take them."""
    cascade = rules.merging is Merging.CASCADE
    if not layout.is_packed:
        places, offsets = _places(layout)
        rows, columns = np.int64(layout.rows), np.int64(layout.columns)
        return CellSpace(rows, columns, cascade, np.uint64(layout.ranks), places, offsets)
    shifts, masks = _parts(layout.tuples)
    return PackedSpace(
        np.uint64(layout.rows),
        np.uint64(layout.columns),
        np.uint64(sum(1 << 4 * cell for cell in range(layout.rows * layout.columns))),
        cascade,
        line_table(layout.columns, rules.merging),
        line_table(layout.rows, rules.merging),
        shifts,
        masks,
        np.array(layout.offsets[:-1], np.uint64),
        np.uint64(layout.known),
    )


def _parts(tuples: Sequence[Tuple]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return how each run of neighbouring cells moves to its place in an index."""
    parts = [parts_of(cells) for cells in tuples]
    shape = len(tuples), max(map(len, parts))
    shifts, masks = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
    for number, pairs in enumerate(parts):
        for part, (shift, mask) in enumerate(pairs):
            shifts[number, part], masks[number, part] = shift, mask
    return shifts, masks


def parts_of(cells: Tuple) -> tuple[tuple[int, int], ...]:
    """Return the shift and mask with which each run of a tuple's cells enters its index."""
    parts, done = [], 0
    for first, length in _runs(cells):
        parts.append((4 * (first - done), ((1 << 4 * length) - 1) << 4 * done))
        done += length
    return tuple(parts)


def code_of(layout: Layout) -> Code:
    """Return the tuples of a 4x4 layout as `indexer_4x4` takes them; of others nothing."""
    if kind_of(layout) != "4x4":
        return ()
    return tuple(zip(layout.offsets, map(parts_of, layout.tuples), strict=False))


def _runs(cells: Tuple) -> list[tuple[int, int]]:
    """Return the first cell and the length of each run of neighbouring numbers."""
    breaks = [at + 1 for at, (a, b) in enumerate(pairwise(cells)) if b != a + 1]
    bounds = [0, *breaks, len(cells)]
    return [(cells[start], end - start) for start, end in pairwise(bounds)]


def _places(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the cells of each tuple in each image, and where its weights begin."""
    longest = max(map(len, layout.tuples))
    rows, offsets = [], []
    for cells, offset in zip(layout.tuples, layout.offsets[:-1], strict=True):
        for image in layout.images:
            places = [image[cell] for cell in cells]
            rows.append(places + [-1] * (longest - len(cells)))
            offsets.append(offset)
    return np.array(rows, np.int64), np.array(offsets, np.uint64)


def board_rows(layout: Layout, count: int) -> NDArray[Any]:
    """Return room for `count` boards as kernels hold them, all empty."""
    if layout.is_packed:
        return np.zeros((count, 2), np.uint64)
    return np.zeros((count, layout.rows * layout.columns), np.uint8)


def rows_of(layout: Layout, ranks: NDArray[np.uint8]) -> NDArray[Any]:
    """Return boards as kernels hold them, of ranks uint8 `[count, cells]` up to 31."""
    boards = board_rows(layout, len(ranks))
    if not layout.is_packed:
        boards[:] = ranks
        return boards
    shifts = np.arange(ranks.shape[1], dtype=np.uint64) * np.uint64(4)
    for half, nibbles in enumerate((ranks & 15, ranks >> 4)):
        boards[:, half] = (nibbles.astype(np.uint64) << shifts).sum(axis=1)
    return boards


def put_board(layout: Layout, boards: NDArray[Any], slot: int, board: Board) -> None:
    """Write a board to its place among `boards`.

    Raises:
        BoardError: if it has another shape, or a tile above 2**31.
    """
    if board.shape != (layout.rows, layout.columns):
        raise BoardError(
            f"the network plays on {layout.rows}x{layout.columns}, not on "
            f"{board.shape[0]}x{board.shape[1]}"
        )
    ranks = [max(tile.bit_length() - 1, 0) for row in board.rows for tile in row]
    if max(ranks) > 31:
        raise BoardError(f"tile {board.max_tile} is too big for a network: at most {2**31}")
    boards[slot] = rows_of(layout, np.array([ranks], np.uint8))[0]
