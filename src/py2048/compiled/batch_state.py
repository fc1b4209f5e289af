"""The memory of compiled games: the state of a batch, and the workspace of a thread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled import _lane_kernels as lanes
from py2048.errors import BoardError
from py2048.rules import Rules

EPISODE, SLOT_KEY = lanes.WORD_ROWS, lanes.WORD_ROWS + 1
"""Rows of `BatchState.words` after those of a block: the number of the game in each slot, and the
key of the seed that the slot's games take theirs from."""


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
    """Everything that decides how a batch of `n` games goes on.

    Attributes:
        cells: the ranks, uint8 `[cells, padded]`, with `n` padded to whole blocks.
        flags: uint8 `[STORED_FLAGS, padded]`, the rows named in ``_lane_kernels.py``.
        words: uint64 `[WORD_ROWS + 2, padded]`, the rows named there and above.
        rewards: the points of the last step, int32 `[padded]`.
        last_cells: the final boards of the games that ended last, uint8 `[padded, cells]`.
        last_scores: their scores, int64 `[padded]`.
    """

    cells: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    rewards: NDArray[np.int32]
    last_cells: NDArray[np.uint8]
    last_scores: NDArray[np.int64]

    @classmethod
    def empty(cls, blocks: int, cells: int) -> BatchState:
        """Return the state of so many blocks of boards of so many cells, all zero."""
        padded = blocks * lanes.LANES
        return cls(
            np.zeros((cells, padded), np.uint8),
            np.zeros((lanes.STORED_FLAGS, padded), np.uint8),
            np.zeros((lanes.WORD_ROWS + 2, padded), np.uint64),
            np.zeros(padded, np.int32),
            np.zeros((padded, cells), np.uint8),
            np.zeros(padded, np.int64),
        )

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
    """The memory in which one thread steps a block; ``_lane_kernels.py`` describes the rows.

    `legal` is the row ``LEGAL`` of `flags` as words of eight lanes.
    """

    board: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint64]
    halves: NDArray[np.uint32]
    scratch: NDArray[np.uint8]
    legal: NDArray[np.uint64]

    @classmethod
    def of(cls, rules: Rules) -> Workspace:
        """Return a workspace for boards of `rules`; up to 8x8 it fits the first-level cache."""
        width, longest = lanes.LANES, max(8, *rules.shape)
        flags = np.zeros(lanes.FLAG_ROWS * width, np.uint8)
        return cls(
            np.zeros(rules.cells * width, np.uint8),
            flags,
            np.zeros(lanes.WORD_ROWS * width, np.uint64),
            np.zeros(lanes.HALF_ROWS * width, np.uint32),
            np.zeros(longest * width, np.uint8),
            flags[lanes.LEGAL : lanes.LEGAL + lanes.WIDTH].view(np.uint64),
        )
