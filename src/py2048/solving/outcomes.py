"""How games of perfect play end: the exact distribution of largest tiles and of final scores.

The boards that perfect play meets are far fewer than those that exist. Layer by layer each carries
its chance, apart for each score that may have led to it: a score is a sum over the tiles of the
board and what each tile brought when it appeared, so the boards of one layer have few scores.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from py2048.solving import _solver_kernels as kernels
from py2048.solving.goal import LARGEST_RANK, Problem, TileSpawn
from py2048.solving.layers import Keys, known_of, once

NEGLIGIBLE = 1e-16
"""Scores that the boards of a layer have with a smaller chance are counted as the next score."""

MOST_SCORED = 200_000_000
"""Positions up to which final scores are found: beyond it takes longer than solving."""

Chances = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How games end.

    Attributes:
        tiles: the probability of each largest tile, ascending.
        sums: that of each final sum of the board, ascending.
        scores: that of each final score, ascending. Empty beyond `MOST_SCORED` positions, and where
            the goal is a tile, since perfect play is over when it is made and the game is not.
    """

    tiles: dict[int, float]
    sums: dict[int, float]
    scores: dict[int, float]


@dataclass(frozen=True)
class _Front:
    """Boards of one sum that perfect play meets.

    Attributes:
        keys: their keys, ascending.
        chances: float64 `[boards, scores]`.
        brought: what the tiles brought that appeared, for the first of the scores, in units.
    """

    keys: Keys
    chances: Chances
    brought: int

    def trimmed(self) -> _Front:
        """Return this without the scores at both ends that are next to impossible."""
        likely = np.flatnonzero(self.chances.sum(axis=0) > NEGLIGIBLE)
        if not len(likely):
            return self
        first, last = int(likely[0]), int(likely[-1])
        kept = self.chances[:, first : last + 1].copy()
        kept[:, 0] += self.chances[:, :first].sum(axis=1)
        kept[:, -1] += self.chances[:, last + 1 :].sum(axis=1)
        return _Front(self.keys, kept, self.brought + first)


def _joined(parts: list[_Front]) -> _Front:
    if len(parts) == 1:
        return parts[0]
    keys = once(np.concatenate([part.keys for part in parts]))
    least = min(part.brought for part in parts)
    width = max(part.brought + part.chances.shape[1] for part in parts) - least
    chances = np.zeros((len(keys), width))
    for part in parts:
        first = part.brought - least
        rows = np.searchsorted(keys, part.keys)
        chances[rows, first : first + part.chances.shape[1]] += part.chances
    return _Front(keys, chances, least)


class PerfectPlay:
    """The games of perfect play.

    Args:
        problem: the rules and the goal.
        known: gives the boards of a sum and their values.
        scored: whether to tell scores apart.
    """

    def __init__(
        self, problem: Problem, known: Callable[[int], kernels.Known], *, scored: bool
    ) -> None:
        self._problem, self._spec, self._known = problem, problem.spec, known
        self._scored = scored
        given = problem.compiled
        ranks = np.arange(LARGEST_RANK + 1)
        merged = given.merge_points * np.maximum(ranks - 1, 0) << ranks
        self._worth = merged + (given.sum_points << ranks) * (ranks > 0)
        """What a tile on the board is worth, by its rank."""
        legal = given.legal_points
        if not scored:  # as if no tile brought anything, which makes one column of all
            merged, legal = np.zeros_like(merged), 0
        self._started = {tile: -int(merged[tile.bit_length() - 1]) for tile in self._start_tiles}
        self._spawned = {
            spawn.tile: legal - int(merged[int(spawn.known.rank)]) for spawn in problem.spawns
        }
        self._unit = math.gcd(*self._started.values(), *self._spawned.values()) or 1
        self._tiles: dict[int, float] = defaultdict(float)
        self._sums: dict[int, float] = defaultdict(float)
        self._scores: dict[int, float] = defaultdict(float)

    @property
    def _start_tiles(self) -> tuple[int, ...]:
        return self._problem.rules.start_weights.tiles

    def outcomes(self, followed: Callable[[int], object] = lambda _: None) -> Outcomes:
        """Return how the games end; `followed` is told each sum whose boards are done."""
        waiting = self._starts()
        order = list(waiting)
        heapq.heapify(order)
        while order:
            total = heapq.heappop(order)
            if total not in waiting:
                continue
            front = _joined(waiting.pop(total)).trimmed()
            for tile, part in self._played(front, total):
                waiting.setdefault(total + tile, []).append(part)
                heapq.heappush(order, total + tile)
            followed(total)
        found = self._tiles, self._sums, self._scores
        return Outcomes(*(dict(sorted(each.items())) for each in found))

    def _starts(self) -> dict[int, list[_Front]]:
        packed, spec = self._problem.packed, self._spec
        found: dict[int, list[_Front]] = {}
        for board, chance in self._problem.starts().items():
            ranks = [rank for rank in packed.ranks(board) if rank]
            share = np.array([[float(chance)]])
            is_stopped = self._problem.stopped_value(board) is not None
            if is_stopped or not packed.legal_mask(board):
                self._tiles[1 << max(ranks)] += float(chance)
                self._sums[sum(1 << rank for rank in ranks)] += float(chance)
                if self._scored:
                    self._scores[0] += float(chance)
                continue
            images = [board] if spec.folded else sorted(set(packed.symmetries(board)))
            keys = sorted(np.uint64(kernels.key_of(np.uint64(image), spec)) for image in images)
            brought = sum(self._started[1 << rank] for rank in ranks) // self._unit
            part = _Front(np.array(keys), np.repeat(share / len(keys), len(keys), axis=0), brought)
            found.setdefault(sum(1 << rank for rank in ranks), []).append(part)
        return found

    def _played(self, front: _Front, total: int) -> list[tuple[int, _Front]]:
        """Make the best move on each board; return what follows, by the tile that appears."""
        spec, cells = self._spec, self._problem.rules.cells
        found = np.empty(4 * len(front.keys), np.uint64)
        afters = once(found[: kernels.slide_all(front.keys, spec, found)])
        to_come = np.empty(len(afters))
        self._problem.expect(afters, lambda tile: self._known(total + tile), to_come)
        places, made = np.empty(len(front.keys), np.int64), np.empty(len(front.keys), np.uint64)
        kernels.pick(front.keys, spec, known_of(afters, to_come, 4 * cells), places, made)
        is_over, is_stopped = places == kernels.OVER, places == kernels.STOPPED
        over = _Front(front.keys[is_over], front.chances[is_over], front.brought)
        self._end(over, total)
        for spawn in self._problem.spawns:
            brought = front.brought + self._spawned[spawn.tile] // self._unit
            chances = spawn.known.chance * front.chances[is_stopped]
            self._end(_Front(made[is_stopped], chances, brought), total, spawn)
        is_used = np.zeros(len(afters), np.bool_)
        is_used[places[places >= 0]] = True
        chances = np.zeros((np.count_nonzero(is_used), front.chances.shape[1]))
        kernels.gather(places, np.cumsum(is_used) - 1, front.chances, chances)
        return self._spread(_Front(afters[is_used], chances, front.brought), total)

    def _spread(self, afters: _Front, total: int) -> list[tuple[int, _Front]]:
        parts = []
        for spawn in self._problem.spawns:
            rank, chances = spawn.known.rank, spawn.known.chance * afters.chances
            brought = afters.brought + self._spawned[spawn.tile] // self._unit
            if spawn.ends is not None:
                self._end(_Front(afters.keys, chances, brought), total, spawn)
            elif len(afters.keys):
                found = np.empty(self._problem.rules.cells * len(afters.keys), np.uint64)
                count = kernels.spawn_all(rank, afters.keys, self._spec, found)
                boards = once(found[:count]).copy()
                out = np.zeros((len(boards), chances.shape[1]))
                kernels.spread(rank, afters.keys, self._spec, chances, boards, out)
                parts.append((spawn.tile, _Front(boards, out, brought)))
        return parts

    def _end(self, front: _Front, total: int, spawn: TileSpawn | None = None) -> None:
        """Count games that end on boards of a sum, or with one more tile."""
        rank = 0 if spawn is None else int(spawn.known.rank)
        ranks = np.empty((len(front.keys), self._problem.rules.cells), np.uint8)
        kernels.ranks_of(front.keys, self._spec, ranks)
        largest = np.maximum(ranks.max(axis=1, initial=0), rank)
        for each in np.unique(largest):
            self._tiles[1 << int(each)] += float(front.chances[largest == each].sum())
        if len(front.keys):
            self._sums[total + (spawn.tile if spawn else 0)] += float(front.chances.sum())
        if not self._scored:
            return
        worth = self._worth[ranks].sum(axis=1) + (self._worth[rank] if rank else 0)
        for each in np.unique(worth):
            first = int(each) + front.brought * self._unit
            for column, chance in enumerate(front.chances[worth == each].sum(axis=0)):
                if chance:
                    self._scores[first + column * self._unit] += float(chance)
