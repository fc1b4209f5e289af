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

from py2048.engine._bits_kernels import popcount
from py2048.engine._board_kernels import (
    NIBBLE,
    RANKS,
    ZERO,
    Longs,
    Word,
    Words,
    empty_cells,
)
from py2048.engine.jit import kernel
from py2048.players.solving import Solution
from py2048.players.solving._solver_kernels import (
    Lookup,
    SolverSpec,
    board_of,
    is_stopped,
    key_of,
    place_of,
    slide,
    spawn_all,
    worth,
)
from py2048.players.solving.files import Keys, sorted_unique
from py2048.players.solving.goal import MAX_RANK, TileSpawn

NEGLIGIBLE = 1e-16
"""Scores that the boards of a layer have with a smaller chance are counted as the next score."""

MAX_SCORED = 200_000_000
"""Positions up to which final scores are found: beyond it takes longer than solving."""

Chances = NDArray[np.float64]
Rows = NDArray[np.float64]
Grid = NDArray[np.uint8]
"""Rows and grids have two dimensions."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How games end.

    Attributes:
        tiles: the probability of each largest tile, ascending.
        sums: that of each final sum of the board, ascending.
        scores: that of each final score, ascending. Empty beyond `MAX_SCORED` positions, and where
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
    keys = sorted_unique(np.concatenate([part.keys for part in parts]))
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
        solution: the values.
        max_scored: up to how many positions scores are told apart.
    """

    def __init__(self, solution: Solution, max_scored: int = MAX_SCORED) -> None:
        problem = solution.problem
        scored = solution.goal.tile is None and solution.positions <= max_scored
        self._solution, self._problem, self._spec = solution, problem, problem.spec
        self._scored = scored
        given = problem.compiled
        ranks = np.arange(MAX_RANK + 1)
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
        found: dict[int, list[_Front]] = {}
        for board, chance in self._problem.starts().items():
            is_stopped = self._problem.stopped_value(board) is not None
            if is_stopped or not board.can_move():
                self._tiles[board.max_tile] += float(chance)
                self._sums[board.sum] += float(chance)
                if self._scored:
                    self._scores[0] += float(chance)
                continue
            key = np.array([key_of(self._problem.pack(board), self._spec)], np.uint64)
            tiles = [tile for row in board.rows for tile in row if tile]
            brought = sum(self._started[tile] for tile in tiles) // self._unit
            part = _Front(key, np.array([[float(chance)]]), brought)
            found.setdefault(board.sum, []).append(part)
        return found

    def _played(self, front: _Front, total: int) -> list[tuple[int, _Front]]:
        """Make the best move on each board; return what follows, by the tile that appears."""
        known = self._solution.afterstates(front.keys, total)
        afters = known.keys
        places, made = np.empty(len(front.keys), np.int64), np.empty(len(front.keys), np.uint64)
        pick(front.keys, self._spec, known, places, made)
        is_over, is_stopped = places == OVER, places == STOPPED
        over = _Front(front.keys[is_over], front.chances[is_over], front.brought)
        self._end(over, total)
        for spawn in self._problem.spawns:
            brought = front.brought + self._spawned[spawn.tile] // self._unit
            chances = spawn.known.chance * front.chances[is_stopped]
            self._end(_Front(made[is_stopped], chances, brought), total, spawn)
        is_used = np.zeros(len(afters), np.bool_)
        is_used[places[places >= 0]] = True
        chances = np.zeros((np.count_nonzero(is_used), front.chances.shape[1]))
        gather(places, np.cumsum(is_used) - 1, front.chances, chances)
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
                count = spawn_all(rank, afters.keys, self._spec, found)
                boards = sorted_unique(found[:count]).copy()
                out = np.zeros((len(boards), chances.shape[1]))
                spread(rank, afters.keys, self._spec, chances, boards, out)
                parts.append((spawn.tile, _Front(boards, out, brought)))
        return parts

    def _end(self, front: _Front, total: int, spawn: TileSpawn | None = None) -> None:
        """Count games that end on boards of a sum, or with one more tile."""
        rank = 0 if spawn is None else int(spawn.known.rank)
        ranks = np.empty((len(front.keys), self._problem.rules.cells), np.uint8)
        ranks_of(front.keys, self._spec, ranks)
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


# --- perfect play --------------------------------------------------------------------------------


OVER, STOPPED = -1, -2
"""What `pick` says of a board without a move, and of one whose best move ends the game."""


@kernel(borrows=True)
def pick(boards: Words, spec: SolverSpec, afters: Lookup, places: Longs, made: Words) -> None:
    """Find the afterstate of each board's best move.

    Args:
        boards: the keys of the boards.
        spec: the rules.
        afters: the afterstates.
        places: where it stands there, or `OVER` or `STOPPED`: int64 like `boards`, overwritten.
        made: its key: uint64 like `boards`, overwritten.
    """
    for at in range(len(boards)):
        board = board_of(boards[at], spec)
        best, chosen = -np.inf, 0
        for direction in range(4):
            value = worth(board, direction, spec, afters)
            if value > best:
                best, chosen = value, direction
        after, _ = slide(board, chosen, spec)
        made[at] = key_of(after, spec)
        if best == -np.inf:
            places[at] = OVER
        elif is_stopped(after, spec):
            places[at] = STOPPED
        else:
            places[at] = place_of(made[at], afters)


@kernel(borrows=True)
def ranks_of(keys: Words, spec: SolverSpec, out: Grid) -> None:
    """Write the ranks on boards: uint8 `[boards, cells]`."""
    for at in range(len(keys)):
        board = board_of(keys[at], spec)
        for cell in range(out.shape[1]):
            out[at, cell] = board & RANKS
            board >>= NIBBLE


@kernel(borrows=True)
def gather(places: Longs, rows: Longs, chances: Rows, out: Rows) -> None:
    """Add the chances of boards to those of their afterstates.

    Args:
        places: where the afterstate of each board stands; negative for none.
        rows: the row in `out` of each afterstate.
        chances: float64 `[boards, n]`.
        out: where to add, float64 `[rows, n]`.
    """
    for at in range(len(places)):
        if places[at] >= 0:
            row = rows[places[at]]
            for column in range(chances.shape[1]):
                out[row, column] += chances[at, column]


@kernel(borrows=True)
def spread(
    rank: Word, afters: Words, spec: SolverSpec, chances: Rows, boards: Words, out: Rows
) -> None:
    """Add the chances of afterstates to those of the boards that follow by a tile.

    Args:
        rank: that of the tile.
        afters: the keys of the afterstates.
        spec: the rules.
        chances: float64 `[afters, n]`.
        boards: the keys of the boards, ascending.
        out: where to add, float64 `[boards, n]`.
    """
    for at in range(len(afters)):
        after = board_of(afters[at], spec)
        free = empty_cells(after, spec.cells)
        share = 1.0 / np.int64(popcount(free))
        while free != ZERO:
            cell = free & (ZERO - free)
            free ^= cell
            place = np.searchsorted(boards, key_of(after | cell * rank, spec))
            for column in range(chances.shape[1]):
                out[place, column] += share * chances[at, column]
