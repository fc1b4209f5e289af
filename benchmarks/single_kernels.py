"""Random games one after another on the packed boards, as a player's search goes over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from py2048.compiled._bits_kernels import HALF, ONE, draw, key_of, popcount
from py2048.compiled._board_kernels import (
    ALL_CELLS,
    ZERO,
    Table,
    legal_4x4,
    slide_4x4,
    spawn_packed,
)
from py2048.compiled.jit import kernel


@kernel
def play_random(
    seed: np.uint64,
    moves: int,
    table: Table,
    ranks: NDArray[np.uint8],
    cumulative: NDArray[np.uint64],
) -> tuple[np.int64, np.int64]:
    """Play random 4x4 games until `moves` are made; return the points and the games that ended.

    Args:
        seed: where the draws come from.
        moves: how many legal moves to make.
        table: the slides of all rows.
        ranks: the ranks that can appear, ascending.
        cumulative: the running sums of their integer weights.
    """
    key, counter, board = key_of(seed), ZERO, ZERO
    points, games = np.int64(0), np.int64(-1)
    for _ in range(moves):
        ways = legal_4x4(board)
        if ways == ZERO:
            games += 1
            board = ZERO
            for _tile in range(2):
                word = draw(key, counter)
                board, _high = spawn_packed(board, ZERO, ALL_CELLS, word, ranks, cumulative)
                counter += ONE
            ways = legal_4x4(board)
        word = draw(key, counter)
        counter += ONE
        index = ((word >> HALF) & np.uint64(0xFFFF)) * popcount(ways) >> np.uint64(16)
        board, gained = slide_4x4(board, nth_way(ways, index), table)
        points += gained
        board, _high = spawn_packed(board, ZERO, ALL_CELLS, word, ranks, cumulative)
    return points, games


@kernel(inline=True)
def nth_way(ways: np.uint64, index: np.uint64) -> np.int64:
    """Return the direction number `index` among the bits of `ways`."""
    while index != ZERO:
        ways &= ways - ONE
        index -= ONE
    return np.int64(popcount(~ways & (ways - ONE)))
