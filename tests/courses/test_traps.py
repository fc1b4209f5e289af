"""Well-known mistakes are recognised from the resulting board."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import ADD, GREET, GROW, grade_source

from py2048.core.board import slide
from py2048.core.direction import Direction
from py2048.core.rules import Merging
from py2048.courses.grading.traps import boards_of, trap_of

AGAIN = "a merged tile merges again in the same move"
TRAPPED = [
    ("2 2 4 0", "4 4 0 0", "8 0 0 0", AGAIN),
    ("2 2 2 2", "4 4 0 0", "8 0 0 0", AGAIN),
    ("2 2 4 0", "8 0 0 0", "4 4 0 0", "a merged tile does not merge again"),
    ("2 2 2 0", "4 2 0 0", "2 4 0 0", "tiles far from the edge merge first"),
    ("2 2 0 4", "4 4 0 0", "4 0 4 0", "a gap is left after a merge"),
    ("2 0 2 8", "4 8 0 0", "2 2 8 0", "equal tiles with a gap between them do not merge"),
    ("2 2 2 2", "4 4 0 0", "4 2 2 0", "only the first pair of a line merges"),
    ("2 4 2 0", "2 4 2 0", "4 4 0 0", "a tile moves through another to an equal one"),
    ("0 2 2 0", "4 0 0 0", "2 2 0 0", "tiles slide but never merge"),
    ("0 2 2 0", "4 0 0 0", "0 4 0 0", "tiles merge but do not slide"),
    ("0 0 2 0", "2 0 0 0", "0 2 0 0", "tiles only move by one cell"),
    ("2 2 0 0", "4 0 0 0", "2 0 0 0", "two tiles merge into one with the same number"),
    ("0 2 0 0", "2 0 0 0", "0 0 0 2", "the tiles move in the wrong direction"),
    ("0 2 0 0", "2 0 0 0", "0 2 0 0", "nothing moves"),
    ("0 2 0 0", "2 0 0 2", "2 0 0 0", "no new tile appears"),
    ("0 2 0 0", "2 0 0 0", "2 0 0 4", "a new tile appears where none should"),
    ("0 2 0 0, 4 8 0 0", "0 2 0 0, 4 8 0 0", "9 9 9 9, 1 1 1 1", ""),
    ("0 2 0 0, 0 4 0 0", "2 0 0 0, 4 0 0 0", "2 0 0 0, 0 4 0 0", "some lines stay as they are"),
    ("0 2, 4 8", "2 0, 4 8", "2 4, 0 8", "rows and columns are swapped"),
]


def _board(text: str) -> list[list[int]]:
    return [list(map(int, row.split())) for row in text.split(",")]


@pytest.mark.parametrize(("before", "wanted", "came", "name"), TRAPPED)
def test_a_mistake_is_named(before, wanted, came, name):
    """The mistake is among the first two that give the same board."""
    boards = boards_of(*(str(_board(text)) for text in (before, wanted, came)))
    assert name in trap_of(boards).split(" or ")


CELLS = st.sampled_from([0, 0, 2, 2, 4, 8])
ROWS = st.integers(1, 5).flatmap(
    lambda size: st.lists(st.lists(CELLS, min_size=size + 1, max_size=size + 1), min_size=2)
)


@given(ROWS, st.sampled_from(Direction), st.sampled_from(Merging))
def test_a_correct_board_is_not_a_mistake(rows, direction, merging):
    """Neither correct boards under any rules nor other values are named."""
    right, _ = slide(tuple(map(tuple, rows)), direction, merging)
    boards = boards_of(f"b = {rows}", str([*map(list, right)]), str([*map(list, right)]))
    assert trap_of(boards) == ""
    for actual in ("None", "ValueError: [1, 2]", "[[2], [2, 2]]", str(rows + rows)):
        assert boards_of(f"b = {rows}", str([*map(list, right)]), actual) == (*boards[:2], None)


def test_swapped_parameters_are_named():
    """A failed check reports parameters in the wrong order as the likely cause."""
    source = ADD.replace("add(a, b)", "add(b, a)").replace("a + b", "a - b") + GREET + GROW
    sums, _refuses = grade_source(source).tasks[0].checks
    assert sums.cause == "add takes (b, a) but is called as add(a, b)"
