"""How games of perfect play end: the exact distribution of largest tiles and of final scores.

The boards that perfect play meets are far fewer than those that exist. Layer by layer each carries
its chance, apart for each score that may have led to it. A score is a sum over the tiles of the
board plus what each tile cost or brought when it appeared, so the boards of one layer carry few
scores, at equal distances.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from py2048.solving import _solver_kernels as kernels
from py2048.solving.goal import Problem
from py2048.solving.layers import Keys, Values, known_of

NEGLIGIBLE = 1e-18
"""A score less likely than this in its layer is taken for the next one to it."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How games end.

    Attributes:
        tiles: the probability of each largest tile, ascending.
        scores: that of each final score, ascending.
    """

    tiles: dict[int, float]
    scores: dict[int, float]


@dataclass
class _Front:
    """The boards of a layer that perfect play meets.

    Attributes:
        keys: their keys, ascending.
        chances: float64 `[boards, scores]`.
        least: what the tiles that appeared brought, in units, in the first column.
    """

    keys: Keys
    chances: NDArray[np.float64]
    least: int
