"""The laws of the coordinate and the board."""

from __future__ import annotations

import contextlib
import enum
import io
from typing import Any
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.board import Board, slide
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


@given(INDICES, INDICES)
def test_coordinate_holds_row_and_column(row: int, column: int) -> None:
    """A coordinate gives back what it was made of and is recognised."""
    c = adt.create_coordinate(row, column)
    assert (adt.coordinate_row(c), adt.coordinate_col(c)) == (row, column)
    assert adt.is_coordinate(c) is True
    assert str(c) == f"({row}, {column})"


@given(ANYTHING.filter(lambda x: not (type(x) is int and 1 <= x <= 4)), INDICES)
def test_coordinate_refuses_everything_else(wrong: Any, right: int) -> None:
    """Whatever is no integer from 1 to 4 is refused with a ValueError, never a TypeError."""
    refuses("create_coordinate", wrong, right)
    refuses("create_coordinate", right, wrong)
    refuses("create_coordinate", wrong, wrong)


@given(ANYTHING)
def test_recognisers_take_anything(thing: Any) -> None:
    """The recognisers answer with a bool for every argument."""
    assert adt.is_coordinate(thing) is False
    assert adt.is_board(thing) is False


@pytest.mark.parametrize("pair", [(1, True), (True, 2), (1.0, 2), (0, 4), (1, 2, 3), (), ([1], 1)])
def test_near_misses_are_no_coordinates(pair: Any) -> None:
    """Tuples of the wrong length, range or kind are no coordinates."""
    assert adt.is_coordinate(pair) is False


@given(INDICES, INDICES, INDICES, INDICES)
def test_coordinates_equal(r1: int, c1: int, r2: int, c2: int) -> None:
    """Coordinates are equal exactly if row and column are."""
    first, second = adt.create_coordinate(r1, c1), adt.create_coordinate(r2, c2)
    assert adt.coordinates_equal(first, second) is ((r1, c1) == (r2, c2))


@given(ANYTHING)
def test_operations_refuse_what_is_no_coordinate(thing: Any) -> None:
    """Every operation on coordinates refuses other things by its own name."""
    c, b = adt.create_coordinate(1, 1), adt.create_board()
    refuses("coordinate_row", thing)
    refuses("coordinate_col", thing)
    refuses("coordinates_equal", thing, c)
    refuses("coordinates_equal", c, thing)
    refuses("board_position", b, thing)
    refuses("board_fill_position", b, thing, 2)


@given(ANYTHING)
def test_operations_refuse_what_is_no_board(thing: Any) -> None:
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


@pytest.mark.parametrize(
    "value", [True, False, 2.0, "2", None, [2], (2,), 2j, float("nan"), b"2", object(), ANY]
)
def test_values_are_integers(value: Any) -> None:
    """A value on the board and a number of points must be an integer; a bool is none."""
    b, c = adt.create_board(), adt.create_coordinate(1, 1)
    refuses("board_fill_position", b, c, value)
    refuses("board_update_score", b, value)
    assert adt.boards_equal(b, adt.create_board())


@given(INTEGERS, INDICES, INDICES)
def test_fill_takes_any_integer(value: int, row: int, column: int) -> None:
    """Any integer can be put anywhere, replaces what was there, and changes nothing else."""
    b, c = build([[2] * 4] * 4, 8), adt.create_coordinate(row, column)
    assert adt.board_fill_position(b, c, value) is b
    expected = [[2] * 4 for _ in range(4)]
    expected[row - 1][column - 1] = value
    assert rows_of(b) == tuple(map(tuple, expected))
    assert adt.board_score(b) == 8


def test_values_are_stored_as_plain_integers() -> None:
    """A subclass of int is accepted and printed as its number."""
    b = adt.board_fill_position(adt.create_board(), adt.create_coordinate(1, 1), Colour.RED)
    assert type(adt.board_position(b, adt.create_coordinate(1, 1))) is int


@given(st.integers())
def test_update_score_takes_multiples_of_four(points: int) -> None:
    """Points must be a multiple of 4 that is not negative."""
    b = adt.board_update_score(adt.create_board(), 8)
    if points >= 0 and points % 4 == 0:
        assert adt.board_update_score(b, points) is b
        assert adt.board_score(b) == 8 + points
    else:
        refuses("board_update_score", b, points)
        assert adt.board_score(b) == 8


@given(ROWS, st.sampled_from("NSWE"))
def test_reduce_is_the_slide(rows: Any, d: str) -> None:
    """`board_reduce` is the engine's slide with its points, done to the board itself."""
    b = build(rows, 12)
    slid = Board.from_rows(rows).slide(DIRECTIONS[d])
    assert adt.board_reduce(b, d) is b
    assert rows_of(b) == slid.board.rows
    assert adt.board_score(b) == 12 + slid.points


@given(ANY_ROWS, st.sampled_from("NSWE"))
def test_reduce_takes_any_integers(rows: Any, d: str) -> None:
    """Values that are no tiles move and merge all the same, and are scored in full."""
    b = adt.board_reduce(build(rows), d)
    assert (rows_of(b), adt.board_score(b)) == slide(rows, DIRECTIONS[d])


@given(ANYTHING.filter(lambda x: x not in ("N", "S", "W", "E") or x is ANY))
def test_reduce_refuses_other_directions(d: Any) -> None:
    """Only the four letters are directions; a refused call leaves the board alone."""
    b = build([[2, 2, 0, 0]] * 4)
    refuses("board_reduce", b, d)
    assert adt.boards_equal(b, build([[2, 2, 0, 0]] * 4))


@pytest.mark.parametrize("d", ["", "NS", "NSWE", "SW", "n", "N ", " N", "up", 1, None, ["N"]])
def test_near_misses_are_no_directions(d: Any) -> None:
    """Parts and joins of the letters are no directions."""
    refuses("board_reduce", adt.create_board(), d)


@given(ROWS)
def test_finished_is_full_and_stuck(rows: Any) -> None:
    """A board is finished exactly if it is full and no direction is legal; asking is harmless."""
    b = build(rows, 4)
    full = all(tile for row in rows for tile in row)
    stuck = not Board.from_rows(rows).legal_directions()
    assert adt.board_finished(b) is (full and stuck)
    assert rows_of(b) == rows
    assert adt.board_score(b) == 4


STUCK = ((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2))


def test_finished_boards() -> None:
    """An empty board is not finished, a stuck one is, a full one with one merge is not."""
    assert adt.board_finished(adt.create_board()) is False
    assert adt.board_finished(build(STUCK)) is True
    for row, column in ((3, 3), (0, 0)):
        almost = [list(line) for line in STUCK]
        almost[row][column] = 4
        assert adt.board_finished(build(almost)) is False


@given(ROWS)
def test_empty_positions_are_row_major(rows: Any) -> None:
    """The empty positions come row by row, as a list of coordinates."""
    expected = [(r + 1, c + 1) for r, c in Board.from_rows(rows).empty_cells()]
    found = adt.board_empty_positions(build(rows))
    assert isinstance(found, list)
    assert [(adt.coordinate_row(c), adt.coordinate_col(c)) for c in found] == expected


@given(ROWS, ROWS, st.sampled_from([0, 4]), st.sampled_from([0, 4]))
def test_boards_equal(first: Any, second: Any, points1: int, points2: int) -> None:
    """Boards are equal exactly if values and scores are."""
    equal = adt.boards_equal(build(first, points1), build(second, points2))
    assert equal is ((first, points1) == (second, points2))
    assert adt.boards_equal(build(first, points1), build(first, points1)) is True


@given(ANY_ROWS, st.sampled_from("NSWE"))
def test_copies_are_independent(rows: Any, d: str) -> None:
    """A copy equals its original, whatever its score, and neither follows the other."""
    b = adt.board_reduce(build(rows), d)
    score, before = adt.board_score(b), rows_of(b)
    copy = adt.copy_board(b)
    assert copy is not b
    assert adt.boards_equal(copy, b)
    adt.board_fill_position(copy, adt.create_coordinate(1, 1), before[0][0] + 1)
    adt.board_update_score(copy, 4)
    assert (rows_of(b), adt.board_score(b)) == (before, score)


def test_new_boards_are_independent() -> None:
    """Two new boards share nothing."""
    first, second = adt.create_board(), adt.create_board()
    adt.board_fill_position(first, adt.create_coordinate(1, 1), 2)
    assert rows_of(first) == ((2, 0, 0, 0), *[(0,) * 4] * 3)
    assert rows_of(second) == ((0,) * 4,) * 4


@given(ANY_ROWS)
def test_print_board(rows: Any) -> None:
    """Four lines of values in brackets and the score."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert adt.print_board(build(rows, 48)) is None
    lines = ["[ {} ] [ {} ] [ {} ] [ {} ]".format(*row) for row in rows]
    assert out.getvalue() == "\n".join([*lines, "Score: 48", ""])


@given(ROWS.filter(lambda rows: any(0 in row for row in rows)))
def test_random_fill_takes_an_empty_position(rows: Any) -> None:
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


def test_random_fill_needs_room() -> None:
    """A full board has no position to fill."""
    refuses("fill_random_position", build(STUCK))
