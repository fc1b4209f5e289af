"""Exact solutions of small boards, and endgame tables for 4x4.

>>> from py2048.players.solving import solve
>>> solution = solve("classic:size=2x2", "tile=16")
>>> round(solution.value, 6), solution.positions
(0.962511, 41)
"""

from __future__ import annotations

from py2048.players.solving.formations import Formation as Formation
from py2048.players.solving.formations import get_formation as get_formation
from py2048.players.solving.formations import list_formations as list_formations
from py2048.players.solving.goal import Goal as Goal
from py2048.players.solving.solution import Solution as Solution
from py2048.players.solving.solver import solve as solve
from py2048.players.solving.tables import Ending as Ending
from py2048.players.solving.tables import EndingTable as EndingTable
from py2048.players.solving.tables import build_table as build_table
from py2048.players.solving.tables import find_ending as find_ending
