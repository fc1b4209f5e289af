"""A heuristic for every rule set and size: what a line is worth, summed over rows and columns.

It likes empty cells and equal neighbours, and dislikes large tiles that stand alone and lines that
go up and down. Lines at the edge of the board count apart from those inside, so that large tiles
belong to the edge. The form of the features is that of nneonneo's 2048-ai
(github.com/nneonneo/2048-ai); the numbers were found by playing (``benchmarks/tune_heuristic.py``).

`line_value` and `board_value` say it in plain Python; `terms_of` gives the compiled form its
tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board

Line = tuple[int, ...]

RANKS = 32
"""How many ranks are told apart; larger tiles count as the largest of them."""


class Terms(NamedTuple):
    """What the lines of a board are worth, in points."""

    room: NDArray[np.float64]
    """float64 `[2, cells + 1]`: the worth of so many empty cells in a line."""
    merges: NDArray[np.float64]
    """float64 `[2, cells + 1]`: the worth of so many pairs that can merge in a line."""
    costs: NDArray[np.float64]
    """float64 `[2, RANKS]`: the cost of a tile."""
    steepness: NDArray[np.float64]
    """float64 `[2, RANKS]`: a step between two ranks costs the difference of theirs."""
    base: float
    """The worth of a board of which all lines are worth nothing."""
    least: float
    """Half the worth below which the rest is squeezed together, so that none is negative."""


@dataclass(frozen=True, slots=True)
class Heuristic:
    """What counts, in points. Two numbers stand for lines at the edge and inside.

    Attributes:
        room: the worth of an empty cell.
        merges: the worth of two equal tiles in a line with nothing between them; the first such
            pair of a line counts double.
        disorder: the cost of a line that goes up and down, for each unit of ``rank**steepness``.
        steepness: how much more large tiles count in that.
        weight: the cost of a tile, for each unit of ``rank**growth``.
        growth: how much more large tiles cost.
        base: what a line is worth before all that. A stuck board is worth nothing, so this is also
            what it costs to lose.
    """

    room: tuple[float, float] = (17.0, 18.3)
    merges: tuple[float, float] = (20.5, 27.6)
    disorder: tuple[float, float] = (1.60, 1.75)
    steepness: float = 2.96
    weight: tuple[float, float] = (0.359, 0.536)
    growth: float = 2.10
    base: float = 5_860.0


DEFAULT = Heuristic()


@lru_cache(maxsize=1 << 17)
def line_value(line: Line, inner: bool = False, heuristic: Heuristic = DEFAULT) -> float:
    """Return the worth of one row or column beyond its base, in points."""
    place = int(inner)
    ranks = [min(tile.bit_length() - 1, RANKS - 1) if tile else 0 for tile in line]
    tiles = [rank for rank in ranks if rank]
    merges = sum(1 for one, two in pairwise(tiles) if one == two)
    steps = [b**heuristic.steepness - a**heuristic.steepness for a, b in pairwise(ranks)]
    rises: float = sum(step for step in steps if step > 0)
    falls: float = -sum(step for step in steps if step < 0)
    cost: float = sum(rank**heuristic.growth for rank in tiles)
    return (
        heuristic.room[place] * ranks.count(0)
        + heuristic.merges[place] * (merges + (merges > 0))
        - heuristic.disorder[place] * min(falls, rises)
        - heuristic.weight[place] * cost
    )


def board_value(board: Board, heuristic: Heuristic = DEFAULT) -> float:
    """Return the worth of a board in points: the sum over its rows and columns.

    It stands for the points still to come, roughly: it is positive, and larger is better.
    """
    lines = (*_inner_lines(board.rows), *_inner_lines(tuple(zip(*board.rows, strict=True))))
    worth = sum(line_value(line, inner, heuristic) for line, inner in lines)
    base = heuristic.base * len(lines)
    return squeezed(base + worth, least_of(base))


def _inner_lines(lines: tuple[Line, ...]) -> list[tuple[Line, bool]]:
    return [(line, 0 < number < len(lines) - 1) for number, line in enumerate(lines)]


def least_of(base: float) -> float:
    """Return the worth that every board exceeds."""
    return base / 16


def squeezed(worth: float, least: float) -> float:
    """Return `worth` if it is more than twice `least`, else a smaller positive number in order."""
    return worth if worth >= 2 * least else least * least / (3 * least - worth) + least


def terms_of(heuristic: Heuristic, rows: int, columns: int) -> Terms:
    """Return a heuristic as its kernels take it, for boards of a shape."""
    counts = np.arange(max(rows, columns) + 1.0)
    ranks = np.arange(float(RANKS))
    base = heuristic.base * (rows + columns)
    return Terms(
        np.outer(heuristic.room, counts),
        np.outer(heuristic.merges, counts + (counts > 0)),
        np.outer(heuristic.weight, ranks**heuristic.growth),
        np.outer(heuristic.disorder, ranks**heuristic.steepness),
        base,
        least_of(base),
    )
