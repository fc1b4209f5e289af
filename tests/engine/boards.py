"""Hypothesis strategies for boards in tests of the compiled engine."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from py2048.core.board import Board
from py2048.engine.boards import exponents_of, tiles_of

SMALL_SHAPES = [(rows, columns) for rows in range(1, 5) for columns in range(1, 5)][1:]
LONG_SHAPES = [(1, 16), (16, 1), (2, 8), (8, 2), (3, 5), (5, 3), (1, 5), (7, 2)]
BIG_SHAPES = [(5, 5), (6, 6), (7, 7), (8, 8), (3, 7), (8, 4)]

ODD_RULES = [
    "odd:size=3x2,start=1..2x2:3+8:1,spawn=2:5+8:3,scoring=moves:3:-2,target=64,end=target",
    "odd:size=2x4,start=1,spawn=4:1+16:2,merging=cascade,scoring=sum,target=none",
    "odd:size=3x4,start=3x4:1,spawn=edge:4,scoring=merges,target=64,end=target",
    "odd:size=4x4,merging=cascade,scoring=moves:2:-5,spawn=2:1+4:1+32:1",
    "odd:size=3x6,start=2..5x2:1,spawn=edge:2,merging=cascade,scoring=sum,target=none",
]
"""Rules that differ from the presets in every part."""


def ranks(top: int) -> st.SearchStrategy[int]:
    """Ranks up to `top`; empty cells, equal tiles and the largest tiles are common."""
    return st.one_of(
        st.just(0), st.integers(0, min(top, 2)), st.integers(top - 1, top), st.integers(0, top)
    )


@st.composite
def boards(draw: st.DrawFn, shapes: list[tuple[int, int]] = SMALL_SHAPES, top: int = 17) -> Board:
    """Boards of one of the shapes, with tiles up to ``2**top``."""
    rows, columns = draw(st.sampled_from(shapes))
    cells = draw(st.lists(ranks(top), min_size=rows * columns, max_size=rows * columns))
    return Board.from_rows(tiles_of(np.reshape(cells, (rows, columns))))


def pack(board: Board) -> tuple[np.uint64, np.uint64]:
    """Pack a board of up to 16 cells into two words."""
    ranks = exponents_of(board.rows).ravel().tolist()
    low = sum((rank & 15) << 4 * cell for cell, rank in enumerate(ranks))
    high = sum(rank >> 4 << 4 * cell for cell, rank in enumerate(ranks))
    return np.uint64(low), np.uint64(high)


def unpack(low: np.uint64, high: np.uint64, shape: tuple[int, int]) -> Board:
    """Unpack a board from two words."""
    cells = range(shape[0] * shape[1])
    ranks = [(int(low) >> 4 * cell & 15) + (int(high) >> 4 * cell & 1) * 16 for cell in cells]
    return Board.from_rows(tiles_of(np.reshape(ranks, shape)))
