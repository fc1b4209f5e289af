"""The state of a batch as arrays, the workspace of a thread, and the kernel for given rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine import _batch_kernels as kernels
from py2048.engine import _lane_kernels as lanes
from py2048.errors import BoardError
from py2048.rules import Merging, Rules


class Tally(NamedTuple):
    """What happened in a number of steps.

    Attributes:
        steps: steps played, all games together.
        games: games that ended.
        score: the sum of their scores.
    """

    steps: int
    games: int
    score: int


class BatchState(NamedTuple):
    """Everything that decides how a batch goes on; ``_batch_kernels.py`` describes the arrays."""

    cells: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    rewards: NDArray[np.int32]
    last_cells: NDArray[np.uint8]
    last_scores: NDArray[np.int64]

    def copy(self) -> BatchState:
        """Return a state of its own."""
        arrays: list[NDArray[Any]] = [array.copy() for array in self]
        return BatchState(*arrays)

    def assign(self, other: BatchState) -> None:
        """Take over the content of another state.

        Raises:
            BoardError: if it belongs to another number of games or other boards.
        """
        pairs: list[tuple[NDArray[Any], NDArray[Any]]] = list(zip(self, other, strict=True))
        for own, saved in pairs:
            if own.shape != saved.shape:
                raise BoardError(f"a state of {saved.shape} does not fit a batch of {own.shape}")
        for own, saved in pairs:
            own[...] = saved


class Workspace(NamedTuple):
    """The memory in which one thread steps a block; ``_lane_kernels.py`` describes the rows."""

    board: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    halves: NDArray[np.uint32]
    scratch: NDArray[np.uint8]


def advance_kernel(rules: Rules) -> Any:
    """Return the kernel that advances blocks of games under `rules`."""
    is_classic = rules.shape == (4, 4) and rules.merging is Merging.ONCE
    return kernels.advance_classic if is_classic else kernels.advance_any


def workspace(rules: Rules) -> Workspace:
    """Return a workspace for boards of `rules`; it fits the first-level cache up to 8x8."""
    width, longest = lanes.LANES, max(8, *rules.shape)
    return Workspace(
        np.zeros(rules.cells * width, np.uint8),
        np.zeros(lanes.FLAG_ROWS * width, np.uint8),
        np.zeros(lanes.WORD_ROWS * width, np.uint64),
        np.zeros(lanes.HALF_ROWS * width, np.uint32),
        np.zeros(longest * width, np.uint8),
    )
