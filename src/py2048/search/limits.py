"""`Limits`: how far a search looks, and purses of boards and of time that it spends."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from py2048.search.desk import COSTS_PER_BIT, MAX_LEVELS

MAX_DEPTH = MAX_LEVELS
UNLIMITED = 1 << 60
"""More boards than any search rates."""
FIRST_LIMIT = 3 * COSTS_PER_BIT
"""How unlikely a path the first of several searches follows: three bits."""
STEP = COSTS_PER_BIT
"""How much further the second one goes: half as likely."""
LONGEST_STEP = 2 * STEP
"""How much further any goes at most."""
LIKELY_GROWTH = 2.0
"""How many times the boards of a search one that goes a `STEP` further rates, at least."""
MARGIN = 0.9
"""The share of what is left that a further search is expected to take at most."""
FIRST_SPEED = 1e6
"""Boards rated in a second, before anything has been measured."""


@dataclass(frozen=True)
class Limits:
    """How far a search looks.

    With `nodes` or `ms` it searches again and again, less and less likely paths each time, until
    these are used up; `depth` then is only an upper bound.

    Attributes:
        depth: how many moves it looks ahead, 1 or more; with `nodes` or `ms` by default as many
            as it can, else 2.
        nodes: how many boards it rates for a move at most.
        ms: how many milliseconds it takes for a move at most, about.
        cutoff: the probability from which on a path is not followed to the end; 0 follows all.

    Raises:
        ValueError: naming the limit that cannot be used.
    """

    depth: int | None = None
    nodes: int | None = None
    ms: float | None = None
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"depth must be 1 to {MAX_DEPTH}, not {self.depth}")
        if self.nodes is not None and not 1 <= self.nodes < UNLIMITED:
            raise ValueError(f"nodes must be 1 or more, not {self.nodes}")
        if self.ms is not None and not 0 < self.ms < 1e9:
            raise ValueError(f"ms must be more than 0, not {self.ms}")
        if self.nodes is not None and self.ms is not None:
            raise ValueError("give nodes or ms, not both")
        if not 0 <= self.cutoff < 1:
            raise ValueError(f"cutoff must be at least 0 and less than 1, not {self.cutoff}")

    @property
    def is_fixed(self) -> bool:
        """Whether each move takes a single search."""
        return self.nodes is None and self.ms is None

    @property
    def moves(self) -> int:
        """How many moves are looked ahead at most."""
        return self.depth or (2 if self.is_fixed else MAX_DEPTH)

    @property
    def follows_all(self) -> bool:
        """Whether every path is followed to the end."""
        return self.is_fixed and not self.cutoff

    @property
    def last_cost(self) -> int:
        """The cost from which on a path is not followed."""
        if not self.cutoff:
            return 1 << 14
        return int(-COSTS_PER_BIT * np.log2(self.cutoff))


class Speed:
    """How many boards a searcher rates in a second, as it was lately."""

    def __init__(self) -> None:
        self.boards = FIRST_SPEED

    def learn(self, nodes: int, seconds: float) -> None:
        """Note how long it took to rate so many boards; a few say less than many."""
        weight = 0.3 * min(1.0, nodes / 1e4)
        self.boards += weight * (nodes / max(seconds, 1e-7) - self.boards)


class Purse(Protocol):
    """What several searches of a move may cost together."""

    def left(self) -> int:
        """Return how many boards may still be rated."""
        ...

    def spend(self, nodes: int) -> None:
        """Note that boards were rated."""
        ...


class Nodes:
    """A number of boards to be rated."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def left(self) -> int:
        """Return how many boards may still be rated."""
        return self._nodes

    def spend(self, nodes: int) -> None:
        """Note that boards were rated."""
        self._nodes -= nodes


class Time:
    """A time to be spent, counted in boards at the speed of late."""

    def __init__(self, ms: float, speed: Speed) -> None:
        self._speed = speed
        self._before = time.perf_counter()
        self._end = self._before + ms / 1000

    def left(self) -> int:
        """Return how many boards can still be rated."""
        return int((self._end - time.perf_counter()) * self._speed.boards)

    def spend(self, nodes: int) -> None:
        """Note that boards were rated, and how long it took."""
        now = time.perf_counter()
        self._speed.learn(nodes, now - self._before)
        self._before = now
