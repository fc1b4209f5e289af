"""The general kernels, for boards of any shape, agree with the reference."""

from __future__ import annotations

import numpy as np
import pytest
from boards import BIG_SHAPES, LONG_SHAPES, SMALL_SHAPES, boards
from hypothesis import given
from hypothesis import strategies as st

from py2048.core import board as reference
from py2048.core import rng
from py2048.core.direction import Direction
from py2048.core.errors import BoardError
from py2048.core.game.turn import edge_cell
from py2048.core.rules import Merging, Weights
from py2048.engine._board_kernels import slide_cells
from py2048.engine.boards import bits_to_mask, derive_seeds, exponents_of, keys_of, mix64, tiles_of
from py2048.engine.rules import TileTable, edge_table

ALL_SHAPES = SMALL_SHAPES + LONG_SHAPES + BIG_SHAPES
directions = st.sampled_from(list(Direction))
mergings = st.sampled_from(list(Merging))
words = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5)


@given(board=boards(ALL_SHAPES, top=20), direction=directions, merging=mergings)
def test_sliding_cells_agrees_with_the_reference(board, direction, merging):
    """Sliding an array of ranks gives the reference's board and points, or -1 if nothing moves."""
    cells = exponents_of(board.rows).ravel()
    points = slide_cells(cells, direction.value, *board.shape, merging is Merging.CASCADE)
    after, expected = reference.slide(board.rows, direction, merging)
    assert tiles_of(cells.reshape(board.shape)).tolist() == [list(row) for row in after]
    assert points == (expected if after != board.rows else -1)


@given(words, words)
def test_array_functions_agree_with_the_generator(seeds, indices):
    """The array functions of the generator agree with `py2048.core.rng`."""
    array = np.array(seeds, np.uint64)
    assert mix64(array).tolist() == [rng.mix64(seed) for seed in seeds]
    assert keys_of(array).tolist() == [rng.key_of(seed) for seed in seeds]
    for index in indices:
        derived = derive_seeds(keys_of(array), np.full(len(array), index, np.uint64))
        assert derived.tolist() == [rng.derive_seed(seed, index) for seed in seeds]


@given(boards(ALL_SHAPES, top=30))
def test_exponents_and_tiles_are_inverse(board):
    """`exponents_of` and `tiles_of` are inverse."""
    tiles = np.array(board.rows)
    assert np.array_equal(tiles_of(exponents_of(tiles)), tiles)


@pytest.mark.parametrize("value", [1, 3, -2, 2**31, 6])
def test_values_that_are_not_tiles_are_refused(value):
    """Values that are not tiles are rejected with the value."""
    with pytest.raises(BoardError, match=str(value)):
        exponents_of([[0, value]])


@given(st.lists(st.integers(0, 15), min_size=1, max_size=70))
def test_bits_spread_to_a_mask(bits):
    """Bit ``d`` of a game becomes column ``d`` of the mask."""
    mask = bits_to_mask(np.array(bits, np.uint8))
    assert mask.tolist() == [[bool(b >> d & 1) for d in range(4)] for b in bits]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=5), words)
def test_thresholds_choose_as_the_weights_do(weights, draws):
    """Thresholds select the same tile as `rng.pick_tile`, including at the boundaries."""
    chosen = Weights({2 << k: weight for k, weight in enumerate(weights)})
    ranks, _, edges, _ = TileTable.of(chosen)
    near = [int(edge) + delta for edge in edges for delta in (-1, 0) if int(edge) + delta >= 0]
    for high in (*(word >> 32 for word in draws), *near, 2**32 - 1):
        rank = ranks[np.searchsorted(edges, high, side="right") - 1]
        assert 1 << int(rank) == rng.pick_tile(chosen, high << 32)


@given(boards(ALL_SHAPES, top=3), directions)
def test_edge_spawns_agree_with_game(board, direction):
    """The first empty cell of the edge table is where `Game` places the tile."""
    columns = board.shape[1]
    numbers = edge_table(*board.shape)[direction.value].tolist()
    cells = [divmod(number, columns) for number in numbers if number >= 0]
    free = [cell for cell in cells if not board[cell]]
    assert (free[0] if free else None) == edge_cell(board, direction)
