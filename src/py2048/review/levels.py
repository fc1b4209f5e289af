"""Levels of players."""

from __future__ import annotations

from typing import NamedTuple


class Level(NamedTuple):
    """How well a player plays: the best move of a small network, except for slips.

    Attributes:
        name: Display name; empty for a level that is only a number.
        slip: Probability of playing a random legal move instead.
    """

    name: str
    slip: float
