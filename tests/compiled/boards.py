"""Strategies for boards, shared by the tests of the compiled engine."""

from __future__ import annotations

from hypothesis import strategies as st

from py2048.board import Board

SMALL_SHAPES = [(rows, columns) for rows in range(1, 5) for columns in range(1, 5)][1:]
LONG_SHAPES = [(1, 16), (16, 1), (2, 8), (8, 2), (3, 5), (5, 3), (1, 5), (7, 2)]
BIG_SHAPES = [(5, 5), (6, 6), (7, 7), (8, 8), (3, 7), (8, 4)]


def ranks(top: int) -> st.SearchStrategy[int]:
    """Ranks up to `top`, with many empty cells, many equal tiles and many of the largest."""
    return st.one_of(
        st.just(0), st.integers(0, min(top, 2)), st.integers(top - 1, top), st.integers(0, top)
    )


@st.composite
def boards(draw: st.DrawFn, shapes: list[tuple[int, int]] = SMALL_SHAPES, top: int = 17) -> Board:
    """Boards of one of the shapes, with tiles up to ``2**top``."""
    rows, columns = draw(st.sampled_from(shapes))
    cells = draw(st.lists(ranks(top), min_size=rows * columns, max_size=rows * columns))
    tiles = [1 << rank if rank else 0 for rank in cells]
    return Board([tiles[r * columns : (r + 1) * columns] for r in range(rows)])
