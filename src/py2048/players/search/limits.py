"""Search limits and time management.

The caller sets `SearchLimits`: a depth, a node budget or a time per move. `SearchSpeed` converts
time to nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from py2048.players.search.context import COSTS_PER_BIT, MAX_LEVELS

MAX_DEPTH = MAX_LEVELS
UNLIMITED_NODES = 1 << 60
UNLIMITED_COST = 1 << 14
"""Cost limit for searches without a cutoff, higher than the cost of any path."""

# Iterative deepening. Costs are whole numbers, with COSTS_PER_BIT units per bit of improbability.
FIRST_COST_LIMIT = 3 * COSTS_PER_BIT  # Searches two plies if four or more cells are empty.
MIN_COST_STEP = 3 * COSTS_PER_BIT // 2  # A smaller increase of the cost limit adds no depth.
TARGET_NODE_SHARE = 0.6  # Share of the remaining nodes that the next iteration may use.
MAX_ITERATION_GROWTH = 8.0  # Maximum ratio between the node counts of successive iterations.
MAX_BRANCH_GROWTH = 2.0  # Maximum growth, per iteration, of a root move's share of the nodes.
FIRST_ITERATION_MAX_SHARE = 2 / 3  # Reserves nodes for a retry if the iteration is aborted.
FIRST_ITERATION_TARGET_SHARE = 0.25  # The first iteration's size is hard to predict, so aim low.

# Time per move, relative to the average.
EASY_MOVE_FACTOR, HARD_MOVE_FACTOR, MAX_MOVE_FACTOR = 0.3, 2.5, 3.0
EASY_MOVE_LEAD = 0.005  # A move is easy if the best direction leads by this fraction.
BALANCE_MOVES = 8.0  # Number of moves over which a time overrun is made up.

INITIAL_NODES_PER_SECOND = 1e6
SPEED_WINDOW_NODES = 20_000  # older measurements count less, because the machine's load changes


@dataclass(frozen=True)
class SearchLimits:
    """How far a search looks ahead.

    With `nodes` or `ms`, the search deepens iteratively until the budget is used up, and `depth` is
    only an upper bound.

    Attributes:
        depth: Plies to search. Defaults to `MAX_DEPTH` if `nodes` or `ms` is given, otherwise to 2.
        nodes: Node budget per move. Multi-threaded searches may use up to twice this budget if the
            last iteration is aborted.
        ms: Average time per move in milliseconds; single-threaded searches measure CPU time. A
            single move may take up to three times this average. At least one ply is always
            searched.
        cutoff: Paths with a smaller probability are pruned. With 0, all paths are searched.

    Raises:
        ValueError: If a limit is out of range, or both `nodes` and `ms` are given.
    """

    depth: int | None = None
    nodes: int | None = None
    ms: float | None = None
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        if self.depth is not None and not 1 <= self.depth <= MAX_DEPTH:
            raise ValueError(f"depth must be 1 to {MAX_DEPTH}, not {self.depth}")
        if self.nodes is not None and not 1 <= self.nodes < UNLIMITED_NODES:
            raise ValueError(f"nodes must be 1 to {UNLIMITED_NODES - 1}, not {self.nodes}")
        if self.ms is not None and not 0 < self.ms < 1e9:
            raise ValueError(f"ms must be more than 0 and less than 1e9, not {self.ms:g}")
        if self.nodes is not None and self.ms is not None:
            raise ValueError("give nodes or ms, not both")
        if not 0 <= self.cutoff < 1:
            raise ValueError(f"cutoff must be at least 0 and less than 1, not {self.cutoff}")

    @property
    def has_fixed_depth(self) -> bool:
        """Whether the search runs once to a fixed depth, without iterative deepening."""
        return self.nodes is None and self.ms is None

    @property
    def max_depth(self) -> int:
        """Maximum number of plies."""
        return self.depth or (2 if self.has_fixed_depth else MAX_DEPTH)

    @property
    def is_exhaustive(self) -> bool:
        """Whether every path is searched to the full depth."""
        return self.has_fixed_depth and not self.cutoff

    @property
    def max_cost(self) -> int:
        """Maximum cost of a path; costlier paths are pruned."""
        if not self.cutoff:
            return UNLIMITED_COST
        return int(-COSTS_PER_BIT * np.log2(self.cutoff))


class SearchSpeed:
    """Moving average of a search's nodes per second."""

    def __init__(self) -> None:
        self.nodes_per_second = INITIAL_NODES_PER_SECOND
        self._seen = self._seconds = 0.0

    def record(self, nodes: int, seconds: float) -> None:
        """Add a measurement; older measurements count less."""
        kept = SPEED_WINDOW_NODES / max(self._seen, SPEED_WINDOW_NODES)
        self._seen, self._seconds = kept * self._seen + nodes, kept * self._seconds + seconds
        self.nodes_per_second = max(self._seen, 1.0) / max(self._seconds, 1e-7)
