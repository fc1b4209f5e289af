"""`SearchLimits`: how far a search looks, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from py2048.players.search.context import COSTS_PER_BIT, MAX_LEVELS

MAX_DEPTH = MAX_LEVELS
UNLIMITED = 1 << 60
"""More boards than any search rates."""
FIRST_COST = 3 * COSTS_PER_BIT
"""The greatest cost of a path in the first of several searches: three bits, so
that it looks two moves ahead where four cells or more are empty."""
MIN_STEP = 3 * COSTS_PER_BIT // 2
"""The least increase of the cost for which it pays to search again: one and a half bits."""
AIM, LEAP = 0.6, 8.0
"""A search is expected to rate this share of the boards that are left, and at most this many times
those of the last search: it may rate about twice as many as expected."""
SHARES = 2.0
"""How many times its share of the last search's boards a move may take of the next one's: trees do
not grow alike, but one must not take what the others need."""
FIRST_SHARE = 2 / 3
"""The share of the boards of a move that its first search may rate: if that is given up, a shorter
one follows."""
FIRST_PART = 0.25
"""The share of the usual number of boards that the first search of a move in a game aims at:
so far only the last tree tells how broad this one is."""
CLEAR_LEAD, EASY, HARD = 0.005, 0.3, 2.5
"""A move is easy if the best leads by more than this share of its value, and hard if a search has
changed which is the best; it is then worth this many times the usual number of boards."""
DEBT_MOVES = 8.0
"""The number of moves in which a game pays back what earlier ones took beyond their time, or takes
what they left of it."""
MAX_TIMES = 3.0
"""How many times the time of a move one move may take."""
FIRST_SPEED = 1e6
"""Boards rated in a second, before anything has been measured."""
SPEED_BOARDS = 20_000
"""How many boards the speed that was measured so far counts for, at most: it follows a machine that
changes."""


@dataclass(frozen=True)
class SearchLimits:
    """How far a search looks.

    With `nodes` or `ms` the search deepens: it searches repeatedly, less likely paths each time,
    until these are used up; `depth` then is only an upper bound.

    Attributes:
        depth: how many moves it looks ahead, 1 or more; with `nodes` or `ms` by default as many
            as it can, else 2.
        nodes: the most boards that it rates for a move; on several threads, a last search that is
            given up may rate as many again.
        ms: the processor time for a move in milliseconds, on average; one may take three times as
            much. One move ahead is searched in any case.
        cutoff: paths less probable than this are cut short; 0 follows all paths.

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
            raise ValueError(f"nodes must be 1 to {UNLIMITED - 1}, not {self.nodes}")
        if self.ms is not None and not 0 < self.ms < 1e9:
            raise ValueError(f"ms must be more than 0 and less than 1e9, not {self.ms:g}")
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
        """How many moves it looks ahead at most."""
        return self.depth or (2 if self.is_fixed else MAX_DEPTH)

    @property
    def follows_all(self) -> bool:
        """Whether every path is followed to the end."""
        return self.is_fixed and not self.cutoff

    @property
    def max_cost(self) -> int:
        """The greatest cost of a path that is followed."""
        if not self.cutoff:
            return 1 << 14
        return int(-COSTS_PER_BIT * np.log2(self.cutoff))


class SearchSpeed:
    """How many boards a searcher has recently rated in a second."""

    def __init__(self) -> None:
        self.boards = FIRST_SPEED
        self._seen = self._seconds = 0.0

    def learn(self, nodes: int, seconds: float) -> None:
        """Note the time for a number of boards, and forget the earliest."""
        kept = min(1.0, SPEED_BOARDS / max(self._seen, 1.0))
        self._seen, self._seconds = kept * self._seen + nodes, kept * self._seconds + seconds
        self.boards = max(self._seen, 1.0) / max(self._seconds, 1e-7)
