"""The laws of the coordinate and the board."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.courses.ist import adt

DIRECTIONS = {"N": Direction.UP, "S": Direction.DOWN, "W": Direction.LEFT, "E": Direction.RIGHT}
TILES = st.sampled_from([0, 0, 2, 2, 4, 4, 8, 1024, 65536])
LINES = st.tuples(TILES, TILES, TILES, TILES)
ROWS = st.tuples(LINES, LINES, LINES, LINES)
INTEGERS = st.one_of(st.integers(), st.sampled_from([0, 1, 1, 3, 3, -2, -2, 10**30]))
ANY_ROWS = st.tuples(*[st.tuples(*[INTEGERS] * 4)] * 4)


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
    """Assert that the call raises the document's ValueError."""
    with pytest.raises(ValueError, match=f"^{function}: invalid arguments$"):
        getattr(adt, function)(*arguments)


def test_values_are_stored_as_plain_integers():
    """Instances of a subclass of int are stored as plain integers."""
    b = adt.board_fill_position(adt.create_board(), adt.create_coordinate(1, 1), Colour.RED)
    assert type(adt.board_position(b, adt.create_coordinate(1, 1))) is int


@given(ROWS, st.sampled_from("NSWE"))
def test_reduce_is_the_slide(rows, d):
    """`board_reduce` changes its board by the engine's slide and adds the points."""
    b = build(rows, 12)
    slid = Board.from_rows(rows).slide(DIRECTIONS[d])
    assert adt.board_reduce(b, d) is b
    assert rows_of(b) == slid.board.rows
    assert adt.board_score(b) == 12 + slid.points


@given(ROWS)
def test_finished_is_full_and_stuck(rows):
    """A board is finished if it is full and no direction is legal; asking changes nothing."""
    b = build(rows, 4)
    full = all(tile for row in rows for tile in row)
    stuck = not Board.from_rows(rows).legal_directions()
    assert adt.board_finished(b) is (full and stuck)
    assert rows_of(b) == rows
    assert adt.board_score(b) == 4


STUCK = ((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2))


@given(ANY_ROWS, st.sampled_from("NSWE"))
def test_copies_are_independent(rows, d):
    """A copy equals its original, and changing it leaves the original unchanged."""
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
    """`fill_random_position` puts a 2 or 4 at one empty position and returns its board."""
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
    """`fill_random_position` refuses a full board."""
    refuses("fill_random_position", build(STUCK))
