"""Packed boards agree with the reference for every shape of up to 16 cells and every tile."""

from __future__ import annotations

import numpy as np
from boards import LONG_SHAPES, SMALL_SHAPES, boards, pack, unpack
from hypothesis import assume, given
from hypothesis import strategies as st

from py2048.core import board as reference
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game.turn import draw_spawn
from py2048.core.rules import Merging, get_rules
from py2048.engine import _board_kernels as kernels
from py2048.engine.boards import exponents_of
from py2048.engine.rules import CompiledRules, line_table

ALL_SHAPES = SMALL_SHAPES + LONG_SHAPES
directions = st.sampled_from(list(Direction))
mergings = st.sampled_from(list(Merging))


@given(boards(ALL_SHAPES), directions, mergings)
def test_slides_agree_with_the_reference(board, direction, merging):
    """Packed slides give the reference's afterstate and points, even for 131072."""
    after, points = reference.slide(board.rows, direction, merging)
    expected = (*pack(Board(after)), points if after != board.rows else -1)
    (rows, columns), words, cascade = board.shape, pack(board), merging is Merging.CASCADE
    given = *words, np.int64(direction.value), rows, columns, cascade
    assert kernels.slide_lines(*given) == expected
    if max(board.shape) <= kernels.TABLE_CELLS:
        tables = line_table(columns, merging), line_table(rows, merging)
        assert kernels.slide_packed(*given, *tables) == expected
    if board.shape == (4, 4):
        assert kernels.slides_4x4(*words, cascade, tables[0])[direction.value] == expected


@given(boards(ALL_SHAPES))
def test_queries_agree_with_the_board(board):
    """Packing keeps every tile; sum and ranks agree with the board."""
    low, high = pack(board)
    assert unpack(low, high, board.shape) == board
    assert kernels.sum_packed(low, high) == board.sum
    tiles = {tile for row in board.rows for tile in row}
    assert kernels.ranks_packed(low, high, board.shape[0] * board.shape[1]) == sum(tiles)


@given(boards(ALL_SHAPES, top=15))
def test_symmetries_agree_with_the_reference(board):
    """Images agree with the reference, and the canonical form is the smallest one."""
    word, images = pack(board)[0], np.zeros(8, np.uint64)
    shape = np.uint64(board.shape[0]), np.uint64(board.shape[1])
    found = images[: kernels.symmetries(word, *shape, images)]
    expected = reference.symmetries(board.rows)
    assert set(found.tolist()) == {int(pack(Board(rows))[0]) for rows in expected}
    assert kernels.canonical(word, *shape) == min(found)


@given(boards(ALL_SHAPES), st.integers(0, 2**64 - 1), st.sampled_from(["2:9+4:1", "2:5+8:3+64:2"]))
def test_spawns_agree_with_game(board, word, weights):
    """The same draw spawns the same tile on the same cell as in `Game`."""
    assume(board.empty_cells())
    rules = get_rules(f"classic:spawn={weights}")
    given = CompiledRules.of(rules)
    spawn = draw_spawn(rules, board, Direction.UP, word)
    cells = np.uint64(sum(1 << 4 * cell for cell in range(exponents_of(board.rows).size)))
    found = kernels.spawn_packed(
        *pack(board), cells, np.uint64(word), given.spawn.ranks, given.spawn.cumulative
    )
    assert unpack(*found, board.shape) == board.with_tile(spawn.cell, spawn.tile)
