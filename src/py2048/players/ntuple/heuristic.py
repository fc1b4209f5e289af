"""The heuristic evaluation, which supports any rules and any board size.

The heuristic rewards empty cells and equal neighbours, and penalises crowded lines and lines that
are not monotonic. Edge lines and inner lines have different weights, so large tiles are worth more
at the edge. The features follow nneonneo's 2048-ai (github.com/nneonneo/2048-ai). The weights were
tuned by playing many games.

This module is plain Python; ``_heuristic_kernels.py`` is its compiled version.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from py2048.core.board import Board
from py2048.core.rules import MergePoints, Rules

Line = tuple[int, ...]

RANKS = 32
"""Number of distinct ranks; larger ranks are treated like ``RANKS - 1``."""


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Weights of the heuristic, in points.

    Each pair contains a weight for edge lines and a weight for inner lines.

    Attributes:
        empty: Reward per empty cell.
        merge: Reward per pair of equal tiles that can merge in a line. A line's first pair counts
            double.
        monotonicity_weight: Penalty for lines that are not monotonic, per unit of
            ``rank**monotonicity_power``.
        monotonicity_power: Exponent of the monotonicity penalty.
        sum_weight: Weight of the penalty for each tile, ``sum_weight * rank**sum_power``.
        sum_power: Exponent of the tile penalty.
        base: Constant value of each line. A larger base makes losing more costly, because a board
            without legal moves has the value 0.
    """

    empty: tuple[float, float] = (17.0, 18.3)
    merge: tuple[float, float] = (20.5, 27.6)
    monotonicity_weight: tuple[float, float] = (1.60, 1.75)
    monotonicity_power: float = 2.96
    sum_weight: tuple[float, float] = (0.359, 0.536)
    sum_power: float = 2.10
    base: float = 5_860.0


DEFAULT = Heuristic()
STEEP = Heuristic(
    empty=(8.0, 9.0),
    monotonicity_weight=(1.2, 1.4),
    monotonicity_power=4.0,
    sum_weight=(0.25, 0.35),
    sum_power=3.5,
)
"""Weights for deep searches on 4x4, with a stronger preference for well-ordered large tiles.

The exponents come from ziap/2048-ai (2026).
"""
LASTING = Heuristic(
    empty=(17.3, 22.5),
    merge=(13.6, 25.4),
    monotonicity_weight=(1.02, 1.89),
    monotonicity_power=2.50,
    sum_weight=(0.480, 0.462),
    sum_power=2.03,
    base=3_880.0,
)
"""Weights for rules that give no points for merges."""


def heuristic_for(rules: Rules, *, is_deep: bool = False) -> Heuristic:
    """Return the best weights for the rules; deep searches on 4x4 have their own weights."""
    if is_deep and rules.shape == (4, 4):
        return STEEP
    return DEFAULT if isinstance(rules.scoring, MergePoints) else LASTING


@lru_cache(maxsize=1 << 17)
def line_value(line: Line, inner: bool = False, heuristic: Heuristic = DEFAULT) -> float:
    """Return the value of a row or column in points, without the constant `base`."""
    place = int(inner)
    ranks = [min(tile.bit_length() - 1, RANKS - 1) if tile else 0 for tile in line]
    tiles = [rank for rank in ranks if rank]
    merges = sum(1 for one, two in pairwise(tiles) if one == two)
    power = heuristic.monotonicity_power
    steps = [b**power - a**power for a, b in pairwise(ranks)]
    rises: float = sum(step for step in steps if step > 0)
    falls: float = -sum(step for step in steps if step < 0)
    cost: float = sum(rank**heuristic.sum_power for rank in tiles)
    return (
        heuristic.empty[place] * ranks.count(0)
        + heuristic.merge[place] * (merges + (merges > 0))
        - heuristic.monotonicity_weight[place] * min(falls, rises)
        - heuristic.sum_weight[place] * cost
    )


def board_value(board: Board, heuristic: Heuristic = DEFAULT) -> float:
    """Return the value of a board in points, summed over its rows and columns.

    The value is positive and roughly proportional to the future points.
    """
    lines = (*_inner_lines(board.rows), *_inner_lines(tuple(zip(*board.rows, strict=True))))
    value = sum(line_value(line, inner, heuristic) for line, inner in lines)
    base = heuristic.base * len(lines)
    return squeezed(base + value, least_of(base))


def _inner_lines(lines: tuple[Line, ...]) -> list[tuple[Line, bool]]:
    return [(line, 0 < number < len(lines) - 1) for number, line in enumerate(lines)]


def least_of(base: float) -> float:
    """Return the lower bound of all board values."""
    return base / 16


def squeezed(value: float, least: float) -> float:
    """Compress values below ``2 * least`` smoothly so that they stay above `least`."""
    return value if value >= 2 * least else least * least / (3 * least - value) + least
