"""The typed face of boards in memory: packed into whole numbers, and as arrays of exponents.

A packed board is an ``int``. Its low 64 bits hold the ranks of the cells, four bits each in
row-major order with cell (0, 0) lowest; where a tile above 32768 needs a fifth bit, that stands in
the same place of the next 64 bits. So equal boards are equal numbers, an ordinary board is below
``2**64``, and no tile that can occur on 16 cells is ever lost: two 32768s merge to 65536.

An array of exponents is uint8 `[..., rows, columns]`, 0 for an empty cell, 11 for 2048.

Loops that need the last nanosecond call `py2048.compiled._board_kernels` from kernels of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048 import rng
from py2048.board import Board, Cell
from py2048.compiled import _board_kernels as kernels
from py2048.compiled._simd_kernels import write_masks
from py2048.compiled.rules import MAX_PACKED_CELLS, CompiledRules
from py2048.direction import Direction
from py2048.errors import BoardError, DirectionError, IllegalMoveError
from py2048.rules import Rules

Packed = int
"""A packed board."""

_WORD = 2**64 - 1


class PackedBoards:
    """What can be done with the packed boards of one rule set.

    Args:
        rules: the rules; their board has at most 16 cells.

    Raises:
        BoardError: if the board has more cells.
    """

    def __init__(self, rules: Rules) -> None:
        if rules.cells > MAX_PACKED_CELLS:
            raise BoardError(
                f"a packed board has at most 16 cells, not {rules.rows}x{rules.columns}: "
                "use BatchGames"
            )
        self.rules = rules
        self._compiled = CompiledRules.of(rules)
        self._shape = np.uint64(rules.rows), np.uint64(rules.columns)

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
        given, columns = self._compiled, self._shape[1]
        masks = given.mask, columns, given.left_mask, given.upper_mask
        return int(kernels.legal_mask(np.uint64(packed), *masks))

    def legal_directions(self, packed: Packed) -> tuple[Direction, ...]:
        """Return the directions whose slide changes the board."""
        mask = self.legal_mask(packed)
        return tuple(direction for direction in Direction if mask >> direction.value & 1)

    # --- moving ----------------------------------------------------------------------------------

    def slide(self, packed: Packed, direction: Direction) -> tuple[Packed, int]:
        """Return the afterstate and the points of a slide; an illegal one changes nothing."""
        given = self._compiled
        move = np.uint64(packed & _WORD), np.uint64(packed >> 64), direction.value
        shape = *self.rules.shape, given.cascade
        if given.is_small:
            found = kernels.slide_packed(*move, *shape, given.across, given.down)
        else:
            found = kernels.slide_lines(*move, *shape)
        low, high, points = map(int, found)
        return low | high << 64, max(points, 0)

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
        given, spawn = self._compiled, self._compiled.spawn
        if given.is_fixed:
            (cell,) = self._landing_cells(afterstate, direction)
            return self.with_tile(afterstate, cell, self.rules.spawn_weights.tiles[0])
        words = np.uint64(afterstate & _WORD), np.uint64(afterstate >> 64)
        if not kernels.empty_cells(np.uint64(kernels.word_of(*words)), given.mask):
            raise IllegalMoveError("the board is full: no tile can appear")
        found = kernels.spawn_packed(
            *words, given.mask, np.uint64(word), spawn.ranks, spawn.cumulative
        )
        low, high = map(int, found)
        return low | high << 64

    def _landing_cells(self, afterstate: Packed, direction: Direction) -> list[Cell]:
        columns = self.rules.columns
        free = [row * columns + column for row, column in self.empty_cells(afterstate)]
        cells = self._compiled.landing_cells(free, direction)
        if not cells:
            raise IllegalMoveError("the board is full: no tile can appear")
        return [divmod(cell, columns) for cell in cells]

    def chance_outcomes(
        self, afterstate: Packed, direction: Direction
    ) -> Iterator[tuple[Packed, Fraction]]:
        """Yield every board that can follow `afterstate`, with its probability.

        The cells come in row-major order, and for each the tiles in ascending order.
        """
        cells = self._landing_cells(afterstate, direction)
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


# --- arrays of exponents --------------------------------------------------------------------------

Exponents = NDArray[np.uint8]

MAX_EXPONENT = 30
"""The largest exponent in arrays."""

MAX_SUM = 1 << 30
"""What the tiles of a board in an array may sum to: the points of a turn, which are less than twice
that, are 32-bit numbers in a batch."""


def tiles_of(exponents: ArrayLike) -> NDArray[np.int64]:
    """Return the tiles of exponents: 0 stays 0, 11 becomes 2048.

    >>> tiles_of([[0, 1], [2, 11]]).tolist()
    [[0, 2], [4, 2048]]
    """
    ranks = np.asarray(exponents, np.int64)
    return np.where(ranks > 0, np.int64(1) << ranks, 0)


def exponents_of(tiles: ArrayLike) -> Exponents:
    """Return the exponents of tiles: 0 stays 0, 2048 becomes 11.

    Raises:
        BoardError: if a value is not a tile, or one above 2**30.
    """
    values = np.asarray(tiles)
    known = np.array([0, *(1 << rank for rank in range(1, MAX_EXPONENT + 1))])
    places = np.minimum(np.searchsorted(known, values), MAX_EXPONENT)
    wrong = values[known[places] != values]
    if wrong.size:
        raise BoardError(f"{wrong.flat[0]} is not a tile: give 0 or a power of two up to 2**30")
    return places.astype(np.uint8)


def checked_boards(boards: ArrayLike, rules: Rules) -> Exponents:
    """Return boards as an array of exponents.

    Raises:
        BoardError: if they are not whole numbers from 0 to 30, or not of the shape of `rules`, or
            the tiles of one of them sum to more than `MAX_SUM`.
    """
    array = np.asarray(boards)
    if array.dtype.kind not in "iu" or array.shape[-2:] != rules.shape:
        raise BoardError(
            f"boards must be whole numbers [..., {rules.rows}, {rules.columns}], "
            f"not {array.dtype} {list(array.shape)}"
        )
    largest = array.max(initial=0)
    if array.min(initial=0) < 0 or largest > MAX_EXPONENT:
        raise BoardError(f"boards hold exponents from 0 (empty) to {MAX_EXPONENT}, as 11 for 2048")
    if rules.cells << int(largest) > MAX_SUM:
        sums = tiles_of(array).sum(axis=(-1, -2))
        if (total := sums.max()) > MAX_SUM:
            raise BoardError(f"the tiles of a board sum to {total:,}: at most {MAX_SUM:,} fit")
    return array.astype(np.uint8, copy=False)


def checked_directions(directions: ArrayLike, n: int) -> NDArray[np.integer]:
    """Return directions as an array of `n` whole numbers from 0 to 3.

    Raises:
        DirectionError: if there is anything else.
    """
    numbers = np.asarray(directions)
    if numbers.dtype.kind not in "iu" or numbers.shape != (n,):
        raise DirectionError(
            f"give {n} whole numbers from 0 to 3, one for each game, "
            f"not {numbers.dtype} {list(numbers.shape)}"
        )
    if numbers.min() < 0 or numbers.max() > 3:
        wrong = numbers[(numbers < 0) | (numbers > 3)][0]
        names = ", ".join(f"{way.value} {way}" for way in Direction)
        raise DirectionError(f"{wrong} is not a direction: {names}")
    return numbers


def bits_to_mask(bits: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return legal directions given as bits, uint8 `[n]`, as a mask, bool `[n, 4]`."""
    mask = np.empty((len(bits), 4), np.bool_)
    write_masks(bits, mask.view(np.uint32)[:, 0])
    return mask


def start_boards(rules: Rules, seeds: NDArray[np.uint64]) -> Exponents:
    """Return the start of the game of each seed as exponents, row by row: uint8 `[n, cells]`.

    Args:
        rules: the rules.
        seeds: uint64 `[n]`.
    """
    boards = np.zeros((len(seeds), rules.cells), np.uint8)
    tiles = CompiledRules.of(rules).start
    bounds = rules.start.low, rules.start.high
    kernels.start_all_cells(boards, keys_of(seeds), *bounds, tiles.ranks, tiles.cumulative)
    return boards


def keys_of(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return `rng.key_of` of each seed: uint64 `[n]`."""
    return mix64(seeds + np.uint64(rng.GOLDEN))


def derive_seeds(keys: NDArray[np.uint64], indices: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return `rng.derive_seed` of seeds given by their keys: uint64 `[n]`."""
    return mix64(keys + (indices + np.uint64(rng.SERIES + 1)) * np.uint64(rng.GOLDEN))


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return `rng.mix64` of each word: uint64 `[n]`."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
