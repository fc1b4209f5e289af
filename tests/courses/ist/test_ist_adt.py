"""The laws of the coordinate and the board."""

from __future__ import annotations

import enum
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.board import Board
from py2048.courses.ist import adt
from py2048.direction import Direction

DIRECTIONS = {
    "N": Direction.UP,
    "S": Direction.DOWN,
    "W": Direction.LEFT,
    "E": Direction.RIGHT,
}
INDICES = st.integers(1, 4)
TILES = st.sampled_from([0, 0, 2, 2, 4, 4, 8, 1024, 65536])
LINES = st.tuples(TILES, TILES, TILES, TILES)
ROWS = st.tuples(LINES, LINES, LINES, LINES)
INTEGERS = st.one_of(st.integers(), st.sampled_from([0, 1, 1, 3, 3, -2, -2, 10**30]))
ANY_ROWS = st.tuples(*[st.tuples(*[INTEGERS] * 4)] * 4)
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.lists(st.integers(0, 5), max_size=3),
    st.dictionaries(st.integers(0, 5), st.integers(0, 5), max_size=2),
    st.builds(object),
    st.just(ANY),
    st.just(int),
)


class Colour(enum.IntEnum):
    RED = 2


def build(rows: Any, score: int = 0) -> Any:
    board = adt.create_board()
    for row in range(4):
        for column in range(4):
            cell = adt.create_coordinate(row + 1, column + 1)
            adt.board_fill_position(board, cell, rows[row][column])
    return adt.board_update_score(board, score)


def rows_of(board: Any) -> tuple[tuple[int, ...], ...]:
    cell = adt.create_coordinate
    return tuple(
        tuple(adt.board_position(board, cell(row, column)) for column in range(1, 5))
        for row in range(1, 5)
    )


def refuses(function: str, *arguments: Any) -> None:
    """Assert that the call raises the document's ValueError and nothing else."""
    with pytest.raises(ValueError, match=f"^{function}: invalid arguments$"):
        getattr(adt, function)(*arguments)


@given(ANYTHING.filter(lambda x: not (type(x) is int and 1 <= x <= 4)), INDICES)
def test_coordinate_refuses_everything_else(wrong, right):
    """What is not an integer from 1 to 4 is refused with a ValueError, never a TypeError."""
    refuses("create_coordinate", wrong, right)
    refuses("create_coordinate", right, wrong)
    refuses("create_coordinate", wrong, wrong)


@given(ANYTHING)
def test_recognisers_take_anything(thing):
    """The recognisers answer with a bool for every argument."""
    assert adt.is_coordinate(thing) is False
    assert adt.is_board(thing) is False


@given(ANYTHING)
def test_operations_refuse_what_is_no_coordinate(thing):
    """Every operation on coordinates refuses other things by its own name."""
    c, b = adt.create_coordinate(1, 1), adt.create_board()
    refuses("coordinate_row", thing)
    refuses("coordinate_col", thing)
    refuses("coordinates_equal", thing, c)
    refuses("coordinates_equal", c, thing)
    refuses("board_position", b, thing)
    refuses("board_fill_position", b, thing, 2)


@given(ANYTHING)
def test_operations_refuse_what_is_no_board(thing):
    """Every operation on boards refuses other things by its own name."""
    c, b = adt.create_coordinate(1, 1), adt.create_board()
    refuses("board_position", thing, c)
    refuses("board_fill_position", thing, c, 2)
    refuses("board_update_score", thing, 4)
    refuses("board_reduce", thing, "N")
    refuses("boards_equal", thing, b)
    refuses("boards_equal", b, thing)
    for name in ("board_score", "board_empty_positions", "board_finished"):
        refuses(name, thing)
    for name in ("print_board", "copy_board", "fill_random_position"):
        refuses(name, thing)


def test_values_are_stored_as_plain_integers():
    """A subclass of int is accepted and printed as its number."""
    b = adt.board_fill_position(adt.create_board(), adt.create_coordinate(1, 1), Colour.RED)
    assert type(adt.board_position(b, adt.create_coordinate(1, 1))) is int


@given(ROWS, st.sampled_from("NSWE"))
def test_reduce_is_the_slide(rows, d):
    """`board_reduce` is the engine's slide with its points, done to the board itself."""
    b = build(rows, 12)
    slid = Board.from_rows(rows).slide(DIRECTIONS[d])
    assert adt.board_reduce(b, d) is b
    assert rows_of(b) == slid.board.rows
    assert adt.board_score(b) == 12 + slid.points


@given(ROWS)
def test_finished_is_full_and_stuck(rows):
    """A board is finished exactly if it is full and no direction is legal; asking is harmless."""
    b = build(rows, 4)
    full = all(tile for row in rows for tile in row)
    stuck = not Board.from_rows(rows).legal_directions()
    assert adt.board_finished(b) is (full and stuck)
    assert rows_of(b) == rows
    assert adt.board_score(b) == 4


STUCK = ((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2))


@given(ANY_ROWS, st.sampled_from("NSWE"))
def test_copies_are_independent(rows, d):
    """A copy equals its original, whatever its score, and neither follows the other."""
    b = adt.board_reduce(build(rows), d)
    score, before = adt.board_score(b), rows_of(b)
    copy = adt.copy_board(b)
    assert copy is not b
    assert adt.boards_equal(copy, b)
    adt.board_fill_position(copy, adt.create_coordinate(1, 1), before[0][0] + 1)
    adt.board_update_score(copy, 4)
    assert (rows_of(b), adt.board_score(b)) == (before, score)


@given(ROWS.filter(lambda rows: any(0 in row for row in rows)))
def test_random_fill_takes_an_empty_position(rows):
    """`fill_random_position` changes one empty position to 2 or 4 and returns its board."""
    b = build(rows, 4)
    assert adt.fill_random_position(b) is b
    changed = [
        (old, new)
        for before, after in zip(rows, rows_of(b), strict=True)
        for old, new in zip(before, after, strict=True)
        if old != new
    ]
    assert changed in ([(0, 2)], [(0, 4)])
    assert adt.board_score(b) == 4


def test_random_fill_needs_room():
    """A full board has no position to fill."""
    refuses("fill_random_position", build(STUCK))
