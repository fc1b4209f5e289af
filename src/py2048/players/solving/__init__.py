"""Exact solutions of small boards, and endgame tables for 4x4.

>>> from py2048.players.solving import solve
>>> solution = solve("classic:size=2x2", "tile=16")
>>> round(solution.value, 6), solution.positions
(0.962511, 41)
"""

from __future__ import annotations

from py2048.players.solving.formations import Formation, get_formation, list_formations
from py2048.players.solving.goal import Goal
from py2048.players.solving.solution import Solution
from py2048.players.solving.solver import solve
from py2048.players.solving.tables import Ending, EndingTable, build_table, find_ending

__all__ = [
    "Ending",
    "EndingTable",
    "Formation",
    "Goal",
    "Solution",
    "build_table",
    "find_ending",
    "get_formation",
    "list_formations",
    "solve",
]
