"""Boards as arrays of exponents, and the validation of arrays of boards, directions and seeds.

An array of exponents is uint8 `[..., rows, columns]`: 0 for an empty cell, 11 for 2048.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from py2048.core import rng
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, DirectionError
from py2048.core.rules import Rules
from py2048.engine import _board_kernels as kernels
from py2048.engine._simd_kernels import write_masks
from py2048.engine.rules import CompiledRules

Exponents = NDArray[np.uint8]

MAX_EXPONENT = 30
"""Largest exponent in arrays."""

MAX_SUM = 1 << 30
"""Maximum tile sum of a board. A turn scores less than twice the tile sum, so its points fit into a
32-bit integer.
"""


def tiles_of(exponents: ArrayLike) -> NDArray[np.int64]:
    """Convert exponents to tile values: 0 stays 0, 11 becomes 2048.

    >>> tiles_of([[0, 1], [2, 11]]).tolist()
    [[0, 2], [4, 2048]]
    """
    ranks = np.asarray(exponents, np.int64)
    return np.where(ranks > 0, np.int64(1) << ranks, 0)


def ranks_of(board: Board, largest: int) -> NDArray[np.uint8]:
    """Return the ranks of a board in row-major order: uint8 `[cells]`.

    Raises:
        BoardError: If a rank exceeds `largest`.
    """
    if board.max_tile > 1 << largest:
        raise BoardError(f"tile {board.max_tile} is too large to search: the limit is 2**{largest}")
    tiles = (tile for row in board.rows for tile in row)
    return np.array([tile.bit_length() - 1 if tile else 0 for tile in tiles], np.uint8)


def exponents_of(tiles: ArrayLike) -> Exponents:
    """Convert tile values to exponents: 0 stays 0, 2048 becomes 11.

    Raises:
        BoardError: If a value is not a tile, or exceeds 2**30.
    """
    values = np.asarray(tiles)
    known = np.array([0, *(1 << rank for rank in range(1, MAX_EXPONENT + 1))])
    places = np.minimum(np.searchsorted(known, values), MAX_EXPONENT)
    wrong = values[known[places] != values]
    if wrong.size:
        raise BoardError(f"{wrong.flat[0]} is not a tile: give 0 or a power of two up to 2**30")
    return places.astype(np.uint8)


def checked_boards(boards: ArrayLike, rules: Rules) -> Exponents:
    """Validate boards and return them as an array of exponents.

    Raises:
        BoardError: If the array has the wrong shape or type, an exponent is not from 0 to 30, or
            the tile sum of a board exceeds `MAX_SUM`.
    """
    array = np.asarray(boards)
    if array.dtype.kind not in "iu" or array.shape[-2:] != rules.shape:
        raise BoardError(
            f"boards must be whole numbers [..., {rules.rows}, {rules.columns}], "
            f"not {array.dtype} {list(array.shape)}"
        )
    largest = array.max(initial=0)
    if array.min(initial=0) < 0 or largest > MAX_EXPONENT:
        raise BoardError(f"boards must hold exponents from 0 (empty) to {MAX_EXPONENT}: 11 is 2048")
    if rules.cells << int(largest) > MAX_SUM:
        sums = tiles_of(array).sum(axis=(-1, -2))
        if (total := sums.max()) > MAX_SUM:
            raise BoardError(f"the tiles of a board sum to {total:,}: the limit is {MAX_SUM:,}")
    return array.astype(np.uint8, copy=False)


def checked_directions(directions: ArrayLike, n: int) -> NDArray[np.integer]:
    """Validate directions and return them as an array of `n` whole numbers from 0 to 3.

    Raises:
        DirectionError: If the array has the wrong shape or type, or a value is out of range.
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
    """Convert legal directions from bits, uint8 `[n]`, to a mask, bool `[n, 4]`."""
    mask = np.empty((len(bits), 4), np.bool_)
    write_masks(bits, mask.view(np.uint32)[:, 0])
    return mask


def start_boards(rules: Rules, seeds: NDArray[np.uint64]) -> Exponents:
    """Return each seed's start position as exponents: uint8 `[n, cells]`.

    Args:
        rules: Rules of the game.
        seeds: uint64 `[n]`.
    """
    boards = np.zeros((len(seeds), rules.cells), np.uint8)
    tiles = CompiledRules.of(rules).start
    bounds = rules.start.low, rules.start.high
    kernels.start_all_cells(boards, keys_of(seeds), *bounds, tiles.ranks, tiles.cumulative)
    return boards


def keys_of(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the generator key of each seed: uint64 `[n]`."""
    return mix64(seeds + np.uint64(rng.GOLDEN))


def derive_seeds(keys: NDArray[np.uint64], indices: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the seed derived from each generator key: uint64 `[n]`."""
    return mix64(keys + (indices + np.uint64(rng.SERIES + 1)) * np.uint64(rng.GOLDEN))


def mix64(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Apply `rng.mix64` to each word; return uint64 `[n]`."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
