"""`Games`: a batch of games as a vector environment needs it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048.compiled._lane_kernels import DONE, LANES, WIDTH
from py2048.compiled.batch import BatchGames
from py2048.compiled.workers import together
from py2048.envs import _vector_kernels as kernels
from py2048.envs.recycling import Recycler
from py2048.rules import Rules

Flags = NDArray[np.bool_]


class Shown(NamedTuple):
    """What agents are given after a step: new arrays, which no later step writes to while in use.

    Attributes:
        boards: exponents, uint8 `[n, rows, columns]`.
        masks: legal actions, int8 `[n, 4]`.
        rewards: float64 `[n]`.
        ended: whether the episode is over, bool `[n]`.
        scores: int64 `[n]`.
    """

    boards: NDArray[np.uint8]
    masks: NDArray[np.int8]
    rewards: NDArray[np.float64]
    ended: Flags
    scores: NDArray[np.int64]

    def replace(self, slots: Flags, batch: BatchGames) -> None:
        """Show in the `slots` how their games stand in the batch now."""
        self.boards[slots] = batch.boards[slots]
        self.masks[slots] = batch.legal_mask[slots]
        self.scores[slots] = batch.scores[slots]


class Games(BatchGames):
    """A batch that shows itself to agents; the arguments are those of `BatchGames`."""

    def __init__(self, rules: Rules, n: int, **options: Any) -> None:
        super().__init__(rules, n, **options)
        padded = len(self.memory.rewards)
        self._boards = Recycler((padded, rules.cells), np.uint8)
        self._masks, self._rewards = Recycler(padded, np.uint32), Recycler(padded, np.float64)
        self._ended, self._scores = Recycler(padded, np.uint8), Recycler(padded, np.int64)

    def seed_slots(self, slots: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Begin game number 0 of each seed, as `BatchGames.seed_slots` does."""
        super().seed_slots(slots, seeds)
        self._play_on(slots)

    def reset(self, mask: ArrayLike | None = None) -> None:
        """Begin the next game in the slots of `mask`, as `BatchGames.reset` does."""
        super().reset(mask)
        self._play_on(slice(None) if mask is None else np.flatnonzero(mask))

    def _play_on(self, slots: slice | NDArray[np.int64]) -> None:
        """Let games that are over from their start end at their first step, which says so."""
        self.memory.flags[DONE // WIDTH, slots] = 0

    def show(self, *, penalty: float, is_log: bool, is_terminal: bool) -> Shown:
        """Return what agents are given of the last step.

        Args:
            penalty: what is added to the reward of an illegal action.
            is_log: whether the reward is the logarithm of the points.
            is_terminal: whether an illegal action ends the episode.
        """
        boards, masks, rewards = self._boards.take(), self._masks.take(), self._rewards.take()
        ended, scores = self._ended.take(), self._scores.take()
        in_fours = self.rules.cells % 4 == 0
        quads = boards.view(np.uint32) if in_fours else np.empty((0, 0), np.uint32)
        source = self.memory[:4]
        options = (penalty, is_log, is_terminal)
        target = (boards, quads, masks, rewards, ended, scores)
        together(
            kernels.show,
            [
                (*part, *source, *options, *target, np.empty(4 * LANES, np.uint32))
                for part in self.block_shares()
            ],
        )
        return Shown(
            boards[: self.n].reshape(self.n, *self.rules.shape),
            masks[: self.n].view(np.int8).reshape(self.n, 4),
            rewards[: self.n],
            ended[: self.n].view(np.bool_),
            scores[: self.n],
        )
