"""Exact values: what perfect play is worth on boards that are small enough.

>>> from py2048.solving import solve
>>> solution = solve("classic:size=2x2", "tile=16")
>>> round(solution.value, 6), solution.positions
(0.962511, 41)
"""

from __future__ import annotations

from py2048.solving.goal import Goal
from py2048.solving.solution import Solution
from py2048.solving.solver import solve

__all__ = ["Goal", "Solution", "solve"]
