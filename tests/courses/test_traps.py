"""Well-known mistakes are recognised from the resulting board."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import ADD, GREET, GROW, grade_source

from py2048.core.board import slide
from py2048.core.direction import Direction
from py2048.core.rules import Merging
from py2048.courses.grading.traps import boards_of, trap_of

TRAPPED = tomllib.loads(Path(__file__).with_name("traps.toml").read_text())["trapped"]


def _board(text: str) -> list[list[int]]:
    return [list(map(int, row.split())) for row in text.split(",")]


@pytest.mark.parametrize(("before", "wanted", "came", "name"), TRAPPED)
def test_a_mistake_is_named(before, wanted, came, name):
    """At most two mistakes that give the same board are named."""
    boards = boards_of(*(str(_board(text)) for text in (before, wanted, came)))
    assert trap_of(boards) == name


def test_boards_are_read_from_texts():
    """A board is preferred to a line; rows have one length, and tiles are powers of two."""
    lines = ((2, 2, 2),), ((4, 2, 0),)
    assert boards_of("[[2, 0], [2, 0, 4]], [2, 2, 2]", "[4, 2, 0]", "[2]") == (*lines, None)
    several = "[2, 2], [[2, 0, 4]], [[2, 0], [0, 2]], [[0, 4], [8, 0]]"
    board = ((2, 0), (0, 2))
    assert boards_of(several, "[[2, 4], [4, 0]]", "[8, 4]") == (board, ((2, 4), (4, 0)), None)
    calls = "x(b, c(1, 4), 2)\nx(b, c(4, 1), 16)"
    before = (0, 0, 0, 2), (0,) * 4, (0,) * 4, (16, 0, 0, 0)
    assert boards_of(calls, str([[2] * 4] * 4), "") == (before, ((2,) * 4,) * 4, None)
    for expected in ("[1, 2, 4]", "[6, 0, 0]", "[2, 4]", "[[2, 4, 0], [2, 4, 0]]", "2"):
        assert boards_of("[0, 2, 4]", expected, "[0, 2, 4]") is None
    assert boards_of("[2]", "[4, 2]", "[4, 2]") is None


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
