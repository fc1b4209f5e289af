"""A heuristic for every rule set and size: what a line is worth, summed over rows and columns.

It likes empty cells and equal neighbours, and dislikes large tiles and lines that go up and down.
The four features and their weights are those of nneonneo's 2048-ai, which found them with CMA-ES
(github.com/nneonneo/2048-ai); they hold for lines of any length and tiles of any rank.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from py2048.engine import Board

EMPTY = 270.0
MERGES = 700.0
MONOTONICITY = 47.0
MONOTONICITY_POWER = 4.0
SUM = 11.0
SUM_POWER = 3.5

POINTS = 0.05
"""Points per unit of the heuristic: what makes it comparable with the points of merges."""


@lru_cache(maxsize=1 << 17)
def line_value(line: tuple[int, ...]) -> float:
    """Return the worth of one row or column, in points."""
    ranks = [tile.bit_length() - 1 if tile else 0 for tile in line]
    pairs = list(pairwise(ranks))
    tiles = [rank for rank in ranks if rank]
    merges = sum(1 for one, two in pairwise(tiles) if one == two)
    falls: float = sum(max(0.0, a**MONOTONICITY_POWER - b**MONOTONICITY_POWER) for a, b in pairs)
    rises: float = sum(max(0.0, b**MONOTONICITY_POWER - a**MONOTONICITY_POWER) for a, b in pairs)
    worth = EMPTY * ranks.count(0) + MERGES * (merges + (merges > 0))
    weight: float = sum(rank**SUM_POWER for rank in ranks)
    return POINTS * (worth - MONOTONICITY * min(falls, rises) - SUM * weight)


def board_value(board: Board) -> float:
    """Return the worth of a board: the sum over its rows and columns, in points.

    It is a relative measure: larger is better, and zero means nothing in particular.
    """
    rows = board.rows
    return sum(map(line_value, rows)) + sum(map(line_value, zip(*rows, strict=True)))
