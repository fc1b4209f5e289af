"""`Games`: a batch of games as a vector environment needs it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.engine import rng
from py2048.engine._lane_kernels import LANES
from py2048.engine.arrays import keys_of
from py2048.engine.batch import BatchGames
from py2048.engine.batch_state import EPISODE, SLOT_KEY
from py2048.engine.workers import shares, together
from py2048.envs import _vector_kernels as kernels

Flags = NDArray[np.bool_]


class Shown(NamedTuple):
    """What agents are given after a step: new arrays, which no later step writes to.

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
    """A batch that shows itself to agents, and whose slots can be given seeds of their own."""

    def seed_slots(self, slots: NDArray[np.int64], seeds: NDArray[np.uint64]) -> None:
        """Begin game number 0 of each seed: number ``e`` is that of ``derive_seed(seed, e)``."""
        self._state.words[SLOT_KEY, slots] = keys_of(seeds)
        self._state.words[EPISODE, slots] = rng.MASK
        self._begin(slots)

    def show(self, *, penalty: float, is_log: bool, is_terminal: bool) -> Shown:
        """Return what agents are given of the last step.

        Args:
            penalty: what is added to the reward of an illegal action.
            is_log: whether the reward is the logarithm of the points.
            is_terminal: whether an illegal action ends the episode.
        """
        padded, cells = self._blocks * LANES, self.rules.cells
        boards = np.empty((padded, cells), np.uint8)
        masks, rewards = np.empty(padded, np.uint32), np.empty(padded)
        ended, scores = np.empty(padded, np.uint8), np.empty(padded, np.int64)
        quads = boards.view(np.uint32) if cells % 4 == 0 else np.empty((0, 0), np.uint32)
        source = self._state[:4]
        options = (penalty, is_log, is_terminal)
        target = (boards, quads, masks, rewards, ended, scores)
        together(
            kernels.show,
            [
                (*part, *source, *options, *target, np.empty(4 * LANES, np.uint32))
                for part in shares(self._blocks, self._workers(1))
            ],
        )
        return Shown(
            boards[: self.n].reshape(self.n, *self.rules.shape),
            masks[: self.n].view(np.int8).reshape(self.n, 4),
            rewards[: self.n],
            ended[: self.n].view(np.bool_),
            scores[: self.n],
        )
