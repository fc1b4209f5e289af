"""Searching again and again, further each time, until a number of boards is rated; compiled.

`Searcher` does the same in Python, with the root moves shared out among threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.jit import kernel
from py2048.search._board_kernels import Int
from py2048.search._expectimax_kernels import NOTHING, Weights
from py2048.search.limits import (
    FIRST_LIMIT,
    LIKELY_GROWTH,
    LONGEST_STEP,
    MARGIN,
    STEP,
    UNLIMITED,
)

NO_COST = np.int64(0)


class Order(NamedTuple):
    """How far to search."""

    only: Int
    """The only move to consider, or `ALL`."""
    depth: int
    """How many moves to look ahead, 1 or more."""
    left: int
    """How much a path may cost."""
    budget: int = UNLIMITED
    """How many boards may be rated; then the values mean nothing."""
    purse: int = 0
    """How many boards several searches may rate, each further than the one before; 0 for one."""


@kernel(borrows=True, expand=True)
def count_legal(points: NDArray[np.int64]) -> Int:
    """Return the number of legal moves."""
    legal = np.int64(0)
    for direction in range(4):
        legal += np.int64(points[direction] >= 0)
    return legal


@kernel(borrows=True, expand=True)
def further(nodes: float, before: float, step: Int, purse: Int) -> np.int64:
    """Return how much more paths may cost in the next search, or 0 if none is likely to fit.

    Args:
        nodes: how many boards the last search rated.
        before: how many the one before it did, 0 if there was none.
        step: how much more paths cost in the last one than in the one before.
        purse: how many boards may still be rated.
    """
    growth, fit = LIKELY_GROWTH, MARGIN * purse / max(nodes, 1.0)
    if before > 0.0:
        growth = max((nodes / before) ** (STEP / step), growth)
    if fit <= 1.0:
        return np.int64(0)
    return np.int64(min(STEP * np.log(fit) / np.log(growth), LONGEST_STEP))


@kernel(borrows=True, expand=True)
def settle(
    points: NDArray[np.int64], fresh: NDArray[np.float64], values: NDArray[np.float64]
) -> Int:
    """Take over the values of a search that was finished; return the best legal direction."""
    best, most = np.int64(-1), NOTHING
    for direction in range(4):
        values[direction] = fresh[direction]
        if points[direction] >= 0 and fresh[direction] > most:
            best, most = np.int64(direction), fresh[direction]
    return best


def decider(choose: Any) -> Any:
    """Return the kernel that searches as far as it is ordered.

    All is in one kernel, because each that calls `choose` takes as long to compile again.
    """

    @kernel(borrows=True, expand=True)
    def decide(
        board: Any,
        order: Order,
        desk: Any,
        weights: Weights,
        points: NDArray[np.int64],
        values: NDArray[np.float64],
        fresh: NDArray[np.float64],
    ) -> Int:
        """Rate the moves of a board; return the best direction, or -1.

        With a purse, each search but the first divides it among the root moves as the one before
        took it.

        Args:
            board: the board.
            order: how far to search.
            desk: what this thread searches with; `spent` counts the boards that a purse paid.
            weights: the weights of a network.
            points: int64 `[4]`, filled with the points of the slides, -1 for illegal ones.
            values: float64 `[4]`, filled with the values of the last search that was finished.
            fresh: float64 `[4]`, room for a search under way.
        """
        only, depth, last, budget, whole = order
        purse = np.int64(whole)
        moves, left, is_deepening = (np.int64(1), NO_COST, True) if purse else (depth, last, False)
        desk.nodes, desk.cuts, desk.budget = 0, 0, budget
        best = choose(board, only, moves, left, desk, weights, points, values)
        desk.spent += desk.nodes
        legal = count_legal(points)
        for direction in range(4):
            desk.share[direction] = np.float64(points[direction] >= 0)
        step, left, before = np.int64(STEP), np.int64(min(FIRST_LIMIT, last)), 0.0
        is_over = bool(not is_deepening or legal < 2 or purse < legal)
        while not is_over:
            shares = desk.share[0] + desk.share[1] + desk.share[2] + desk.share[3]
            nodes, cuts, is_whole = np.int64(0), np.int64(0), True
            for direction in range(4):
                if points[direction] >= 0:
                    allowance = purse - nodes  # the first search takes what it needs
                    if before > 0.0:
                        allowance = np.int64(purse * (desk.share[direction] / shares))
                    desk.nodes, desk.cuts, desk.budget = 0, 0, allowance
                    choose(board, np.int64(direction), depth, left, desk, weights, points, fresh)
                    nodes, cuts = nodes + desk.nodes, cuts + desk.cuts
                    is_whole = is_whole and desk.nodes <= allowance
                    desk.share[direction] = np.float64(max(desk.nodes, 1))
            desk.spent += nodes
            if not is_whole:
                break
            best, purse = settle(points, fresh, values), purse - nodes
            step = min(further(np.float64(nodes), before, step, purse), np.int64(last) - left)
            before, left = np.float64(nodes), left + step
            is_over = bool(cuts == 0 or step == 0)
        return np.int64(best)

    return decide
