"""`Positions`: an index for every position of a formation with a target.

``_table_kernels.py`` describes how positions are numbered. A table contains all positions of the
formation, even if no game can reach them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from py2048.core.errors import SolvingError, shown
from py2048.core.rules import Merging, Rules, is_tile
from py2048.engine.rules import line_table
from py2048.players.solving import _table_kernels as kernels
from py2048.players.solving._table_kernels import TableLayer, TableSpec
from py2048.players.solving.formations import CELLS, SIDE, Formation

Words = NDArray[np.uint64]
Longs = NDArray[np.int64]

ALL_CELLS = 0x1111111111111111

LARGE = 15
"""Rank that represents all large tiles."""

TARGETS = 16, 4096
"""Smallest and largest target."""


@dataclass(frozen=True)
class _Part:
    """All combinations of tiles on the cells that one half of a code describes.

    `_table_kernels` defines codes. For each combination, `codes` holds four bits per cell, and
    `halves` holds half of the tile sum.
    """

    codes: Words
    halves: Longs

    @classmethod
    def of(cls, cells: int, ranks: int, most: int) -> _Part:
        """Enumerate the combinations of tiles on a given number of cells.

        Args:
            cells: Number of cells.
            ranks: Number of ranks, including the empty cell.
            most: Half of the maximum tile sum.
        """
        codes, halves = np.zeros(1, np.uint64), np.zeros(1, np.int64)
        for cell in range(cells):
            tiles = [np.uint64(rank << 4 * cell) for rank in range(ranks)]
            codes = np.concatenate([codes | tile for tile in tiles])
            halves = np.concatenate([halves + (1 << rank >> 1) for rank in range(ranks)])
            codes, halves = codes[halves <= most], halves[halves <= most]
        return cls(codes, halves)

    def ordered(self, *, by_sum: bool) -> _Part:
        """Return a copy sorted by code, or first by tile sum and then by code."""
        order = np.lexsort((self.codes, self.halves)) if by_sum else np.argsort(self.codes)
        return _Part(self.codes[order], self.halves[order])


class Positions:
    """All positions of a formation that can occur while the player builds a target tile.

    Attributes:
        formation: The formation.
        target: Tile to reach.
        rules: Rules of the game.
        limit: Maximum sum of the small tiles after a slide. Positions with larger sums are lost.
        reach: Maximum sum of the small tiles after a spawn.
        spec: The formation and the target, encoded for the kernels.

    Raises:
        SolvingError: If the rules or the target are not supported; the message gives the reason.
    """

    def __init__(self, formation: Formation, target: int, rules: Rules) -> None:
        self.formation, self.target, self.rules = formation, target, rules
        self._check()
        self.limit, self.reach = self._sums()
        most, rank = self.reach // 2, target.bit_length() - 1
        # If the target may be built on any cell, play stops at the target, so no board contains the
        # target.
        ranks = rank if formation.is_goal_everywhere else rank + 1
        self._low = formation.free // 2
        self._tails = _Part.of(self._low, ranks, most).ordered(by_sum=True)
        self._heads = _Part.of(formation.free - self._low, ranks, most).ordered(by_sum=False)
        self._firsts = np.searchsorted(self._tails.halves, np.arange(most + 2))
        self.spec = self._spec(rank)
        self.layer = lru_cache(maxsize=6)(self._layer)

    def _check(self) -> None:
        rules, low, high = self.rules, *TARGETS
        if not (is_tile(self.target) and low <= self.target <= high):
            text = f"{shown(self.target)} is not a target: give a tile from {low} to {high}"
            raise SolvingError(text)
        if rules.shape != (SIDE, SIDE) or rules.is_deterministic or rules.ends_at_target:
            raise SolvingError(
                f"there are no tables for {rules.name}: use rules with a 4x4 board, random spawns "
                "and games that continue after the target, such as classic"
            )
        if max(rules.spawn_weights.tiles) >= self.target:
            raise SolvingError(f"target {self.target} spawns under {rules.name}: use a larger one")

    def _sums(self) -> tuple[int, int]:
        """Return `limit` and `reach`.

        If the target must be built on certain cells, the other cells may contain at most one target
        tile.
        """
        limit = self.target + self.formation.slack
        largest = max(self.rules.spawn_weights.tiles)
        if not self.formation.is_goal_everywhere:
            limit = min(limit, 2 * self.target - 2 - largest)
        return limit, limit + largest

    def _spec(self, rank: int) -> TableSpec:
        goal = sum(1 << 4 * cell for cell in range(CELLS) if self.formation.goal >> cell & 1)
        numbers = np.full(1 << CELLS, kernels.NOT_IN_FORMATION, np.uint32)
        turns = np.zeros(1 << CELLS, np.uint8)
        for mask, (kept, turn) in self.formation.arrangements.items():
            numbers[mask], turns[mask] = self._number_of[kept], turn
        ranks = np.zeros(16**self._low, np.uint32)
        within = np.arange(len(self._tails.codes)) - self._firsts[self._tails.halves]
        ranks[self._tails.codes.astype(np.int64)] = within
        return TableSpec(
            lines=masked_lines(self.rules.merging),
            goal=np.uint64(goal),
            target=np.uint64(goal * rank),
            larges=np.array([_larges(mask) for mask in self._number_of], np.uint64),
            runs=self._runs(),
            numbers=numbers,
            turns=turns,
            inside=np.uint64(sum(1 << 4 * cell for cell in range(self.formation.free))),
            head=np.uint64(4 * self._low),
            tail=np.uint64((1 << 4 * self._low) - 1),
            ranks=ranks,
            tails=self._tails.codes,
            firsts=self._firsts,
        )

    @cached_property
    def _number_of(self) -> dict[int, int]:
        """Number of each canonical arrangement."""
        kept = sorted({mask for mask, _ in self.formation.arrangements.values()})
        return {mask: number for number, mask in enumerate(kept)}

    def _runs(self) -> NDArray[np.uint64]:
        """Return the masks and shifts that unpack a code onto the board.

        Each run of adjacent cells has a mask and a left shift: uint64 `[arrangements, runs, 2]`.
        """
        found = []
        for mask in self._number_of:
            free = [cell for cell in range(CELLS) if not mask >> cell & 1]
            runs: dict[int, int] = {}
            for place, cell in enumerate(free):
                runs[4 * (cell - place)] = runs.get(4 * (cell - place), 0) | 15 << 4 * place
            found.append([(bits, shift) for shift, bits in runs.items()])
        most = max(map(len, found))
        return np.array([runs + [(0, 0)] * (most - len(runs)) for runs in found], np.uint64)

    @property
    def name(self) -> str:
        """The formation's name and the target tile, joined by a hyphen."""
        return f"{self.formation.name}-{self.target}"

    # --- layers ----------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> list[int]:
        """Number of positions for each of the sums 0, 2, 4 and so on, up to `reach`."""
        tails, heads = (np.bincount(part.halves) for part in (self._tails, self._heads))
        fillings = np.zeros(len(tails) + len(heads) + self.reach, np.int64)
        fillings[: len(tails) + len(heads) - 1] = np.convolve(tails, heads)
        return [int(count) * len(self._number_of) for count in fillings[: self.reach // 2 + 1]]

    @property
    def count(self) -> int:
        """Number of positions in which the small tiles sum to at most `limit`."""
        return sum(self.sizes[: self.limit // 2 + 1])

    def _layer(self, total: int) -> TableLayer:
        """Return the positions with this sum."""
        rests = total // 2 - self._heads.halves
        counts = np.append(np.diff(self._firsts), 0)[np.maximum(rests, -1)]
        kept = counts > 0
        heads, rests, counts = self._heads.codes[kept], rests[kept], counts[kept]
        starts = np.zeros(16 ** (self.formation.free - self._low), np.uint32)
        starts[heads.astype(np.int64)] = np.cumsum(counts) - counts
        return TableLayer(np.int64(counts.sum()), heads, rests, starts)

    def parts(self, total: int, workers: int) -> list[tuple[int, int]]:
        """Split a layer into ranges that need nearly the same amount of work."""
        layer, size = self.layer(total), self.sizes[total // 2]
        firsts = layer.starts[layer.heads.astype(np.int64)]
        bounds = [0]
        for worker in range(1, workers):
            arrangement, place = divmod(size * worker // workers, max(int(layer.fillings), 1))
            bounds.append(arrangement * len(firsts) + int(np.searchsorted(firsts, place)))
        bounds.append(len(self._number_of) * len(firsts))
        return list(pairwise(bounds))

    # --- single positions ------------------------------------------------------------------------

    def holds(self, board: int) -> bool:
        """Return whether the tiles of rank `LARGE` on a packed board match the formation."""
        return large_cells(board) in self._large_cells

    @cached_property
    def _large_cells(self) -> frozenset[int]:
        """For each arrangement in the formation, the mask of the cells with large tiles."""
        return frozenset(_larges(mask) // LARGE for mask in self.formation.arrangements)

    def place_of(self, board: int) -> int:
        """Return the index of a packed board within the layer of its sum."""
        return int(kernels.find(np.uint64(board), self.layer(self.sum_of(board)), self.spec))

    def is_made(self, board: int) -> bool:
        """Return whether the target tile is on one of the cells where it may be built."""
        apart = board ^ int(self.spec.target)
        apart |= apart >> 1
        apart |= apart >> 2
        return bool(~apart & int(self.spec.goal))

    @staticmethod
    def sum_of(board: int) -> int:
        """Return the sum of the tiles that are not large."""
        ranks = [board >> 4 * cell & 15 for cell in range(CELLS)]
        return sum(1 << rank for rank in ranks if 0 < rank < LARGE)


def large_cells(board: int) -> int:
    """Return the mask of the cells with a large tile, with one bit per nibble."""
    return board & board >> 1 & board >> 2 & board >> 3 & ALL_CELLS


def _larges(mask: int) -> int:
    return sum(LARGE << 4 * cell for cell in range(CELLS) if mask >> cell & 1)


@lru_cache
def masked_lines(merging: Merging) -> Words:
    """Return a read-only line table in which tiles of rank 15 never merge."""
    usual, lines = line_table(SIDE, merging), np.arange(1 << 16, dtype=np.uint64)
    # Replace every second large tile in a line with the unused rank 14, so that adjacent large
    # tiles never merge.
    disguised, odd = lines.copy(), np.zeros(len(lines), bool)
    for cell in range(SIDE):
        is_large = lines >> np.uint64(4 * cell) & np.uint64(15) == LARGE
        disguised[is_large & odd] ^= np.uint64(1 << 4 * cell)
        odd ^= is_large
    slid = usual[disguised]
    nibbles = slid >> np.uint64(1) & slid >> np.uint64(2) & slid >> np.uint64(3)
    slid |= np.where(disguised != lines, nibbles & np.uint64(0x11111111), np.uint64(0))
    slid.setflags(write=False)
    return slid
