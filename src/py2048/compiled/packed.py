"""Boards of up to 16 cells as whole numbers, slid by compiled kernels.

A packed board is an ``int``. Its low 64 bits hold the ranks of the cells, four bits each in
row-major order with cell (0, 0) lowest; where a tile above 32768 needs a fifth bit, that stands in
the same place of the next 64 bits. So equal boards are equal numbers, an ordinary board is below
``2**64``, and no tile that can occur on 16 cells is ever lost: two 32768s merge to 65536.

`PackedBoards` is the typed face, for one shape and merging. Loops that need the last nanosecond
call `py2048.compiled._packed_kernels` from kernels of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from py2048.board import Board, Cell
from py2048.compiled import _packed_kernels as kernels
from py2048.compiled.rule_arrays import cumulative_weights, edge_cells, ranks_of
from py2048.direction import Direction
from py2048.errors import BoardError, IllegalMoveError
from py2048.rules import EdgeSpawn, Merging, Rules

Packed = int
"""A packed board."""

MAX_CELLS = 16
_WORD = 2**64 - 1


@cache
def line_table(length: int, merging: Merging = Merging.ONCE) -> NDArray[np.uint64]:
    """Return the line table for lines of `length` cells, at most four (read-only).

    `py2048.compiled._packed_kernels` describes its entries.
    """
    table = kernels.line_table(length, merging is Merging.CASCADE)
    table.setflags(write=False)
    return table


class PackedBoards:
    """What can be done with the packed boards of one rule set.

    Args:
        rules: the rules; their board has at most 16 cells.

    Raises:
        BoardError: if the board has more cells.
    """

    def __init__(self, rules: Rules) -> None:
        if rules.cells > MAX_CELLS:
            raise BoardError(
                f"a packed board has at most 16 cells, not {rules.rows}x{rules.columns}: "
                "use py2048.compiled.arrays"
            )
        self.rules = rules
        self._shape = np.uint64(rules.rows), np.uint64(rules.columns)
        self._cascade = rules.merging is Merging.CASCADE
        self._is_small = max(rules.shape) <= 4
        if self._is_small:
            self._across = line_table(rules.columns, rules.merging)
            self._down = line_table(rules.rows, rules.merging)
        rows, columns = rules.shape
        self._cells = self._mask(rows, columns)
        self._left, self._upper = self._mask(rows, columns - 1), self._mask(rows - 1, columns)
        self._ranks, self._cumulative = ranks_of(rules), cumulative_weights(rules)

    def _mask(self, rows: int, columns: int) -> np.uint64:
        cells = (r * self.rules.columns + c for r in range(rows) for c in range(columns))
        return np.uint64(sum(1 << 4 * cell for cell in cells))

    # --- to and from boards ----------------------------------------------------------------------

    def pack(self, board: Board) -> Packed:
        """Return `board` as a number.

        Raises:
            BoardError: if it has another shape than the rules, or a tile above 2**31.
        """
        if board.shape != self.rules.shape:
            raise BoardError(f"the board is {board.shape}, the rules are {self.rules.shape}")
        packed = 0
        for cell, tile in enumerate(tile for row in board.rows for tile in row):
            rank = tile.bit_length() - 1 if tile else 0
            if rank > 31:
                raise BoardError(f"tile {tile} is too big to be packed: at most {2**31}")
            packed |= (rank & 15 | rank >> 4 << 64) << 4 * cell
        return packed

    def unpack(self, packed: Packed) -> Board:
        """Return the board that the number stands for."""
        rows, columns = self.rules.shape
        tiles = [1 << rank if rank else 0 for rank in self.ranks(packed)]
        return Board([tiles[columns * r : columns * (r + 1)] for r in range(rows)])

    def ranks(self, packed: Packed) -> list[int]:
        """Return the ranks of the cells in row-major order."""
        cells = range(self.rules.cells)
        return [packed >> 4 * c & 15 | (packed >> 64 + 4 * c & 1) << 4 for c in cells]

    # --- what can be seen ------------------------------------------------------------------------

    def max_tile(self, packed: Packed) -> int:
        """Return the largest tile, 0 on an empty board."""
        rank = max(self.ranks(packed))
        return 1 << rank if rank else 0

    def empty_cells(self, packed: Packed) -> list[Cell]:
        """Return the empty cells in row-major order."""
        columns = self.rules.columns
        return [divmod(cell, columns) for cell, rank in enumerate(self.ranks(packed)) if not rank]

    def legal_mask(self, packed: Packed) -> int:
        """Return the legal directions as a sum of ``1 << direction.value``."""
        if packed > _WORD:
            return sum(1 << d.value for d in Direction if self.slide(packed, d)[0] != packed)
        row = self._shape[1]
        return int(kernels.legal_mask(np.uint64(packed), self._cells, row, self._left, self._upper))

    def legal_directions(self, packed: Packed) -> tuple[Direction, ...]:
        """Return the directions whose slide changes the board."""
        mask = self.legal_mask(packed)
        return tuple(direction for direction in Direction if mask >> direction.value & 1)

    # --- moving ----------------------------------------------------------------------------------

    def slide(self, packed: Packed, direction: Direction) -> tuple[Packed, int]:
        """Return the afterstate and the points of a slide; an illegal one changes nothing."""
        if self._is_small and packed <= _WORD:
            after, points = kernels.slide_small(
                np.uint64(packed), direction.value, *self._shape, self._across, self._down
            )
            if points < kernels.TOO_BIG:
                return int(after), int(points)
        words = np.uint64(packed & _WORD), np.uint64(packed >> 64)
        low, high, exact = kernels.slide_lines(
            *words, direction.value, *self.rules.shape, self._cascade
        )
        return int(low) | int(high) << 64, int(exact)

    def with_tile(self, packed: Packed, cell: Cell, tile: int) -> Packed:
        """Return the board with `tile` on an empty cell."""
        rank = tile.bit_length() - 1
        return packed | (rank & 15 | rank >> 4 << 64) << 4 * (
            cell[0] * self.rules.columns + cell[1]
        )

    def spawn(self, afterstate: Packed, direction: Direction, word: int) -> Packed:
        """Return the board after the spawn that the draw `word` makes.

        Args:
            afterstate: the board after a legal slide.
            direction: its direction, which decides a deterministic spawn.
            word: a 64-bit draw, as `py2048.rng.draw` returns.

        Raises:
            IllegalMoveError: if there is no room for a tile.
        """
        if isinstance(self.rules.spawn, EdgeSpawn) or afterstate > _WORD:
            return self._spawn_wide(afterstate, direction, word)
        if not kernels.empty_cells(np.uint64(afterstate), self._cells):
            raise IllegalMoveError("the board is full: no tile can appear")
        low = np.uint64(afterstate)
        return int(kernels.spawn(low, self._cells, np.uint64(word), self._ranks, self._cumulative))

    def _spawn_wide(self, afterstate: Packed, direction: Direction, word: int) -> Packed:
        cells = self._spawn_cells(afterstate, direction)
        tile = self._ranks[int(np.searchsorted(self._cumulative, self._pick(word), "right"))]
        cell = cells[0] if isinstance(self.rules.spawn, EdgeSpawn) else None
        if cell is None:
            cell = cells[(word & 0xFFFFFFFF) * len(cells) >> 32]
        return self.with_tile(afterstate, cell, 1 << int(tile))

    def _pick(self, word: int) -> int:
        return (word >> 32) * int(self._cumulative[-1]) >> 32

    def _spawn_cells(self, afterstate: Packed, direction: Direction) -> list[Cell]:
        """Return where a tile can appear."""
        free = self.empty_cells(afterstate)
        if isinstance(self.rules.spawn, EdgeSpawn):
            edge = edge_cells(*self.rules.shape, direction)
            free = [cell for cell in edge if cell in free][:1]
        if not free:
            raise IllegalMoveError("no cell is free: no tile can appear")
        return free

    def chance_outcomes(
        self, afterstate: Packed, direction: Direction
    ) -> Iterator[tuple[Packed, Fraction]]:
        """Yield every board that can follow `afterstate`, with its probability.

        The cells come in row-major order, and for each the tiles in ascending order.
        """
        cells = self._spawn_cells(afterstate, direction)
        for cell in cells:
            for tile, probability in self.rules.spawn_weights.pairs:
                yield self.with_tile(afterstate, cell, tile), probability / len(cells)

    # --- symmetries ------------------------------------------------------------------------------

    def symmetries(self, packed: Packed) -> tuple[Packed, ...]:
        """Return the images under the symmetries of the shape: 8 if it is square, otherwise 4."""
        low, high = self._images(packed & _WORD), self._images(packed >> 64)
        return tuple(a | b << 64 for a, b in zip(low, high, strict=True))

    def _images(self, word: int) -> list[int]:
        images = np.zeros(8, np.uint64)
        count = kernels.symmetries(np.uint64(word), *self._shape, images)
        return [int(image) for image in images[:count]]

    def canonical(self, packed: Packed) -> Packed:
        """Return the least of the symmetric images: one name for all of them."""
        if packed <= _WORD:
            return int(kernels.canonical(np.uint64(packed), *self._shape))
        return min(self.symmetries(packed))
