# 2048, reference solution, group 0: the py2048 authors (one file, ASCII only)
"""2048 with two abstract data types, the reference solution of the IST project.

Internal representation
    coordinate: the tuple ``(row, column)`` of two integers from 1 to 4.
    board: an instance of the private class `_Board` with two attributes: `rows`, a tuple of four
        tuples of four integers from top to bottom, 0 for an empty position, and `score`, an
        integer. Modifiers assign new tuples to `rows`, so a board and its copy can share tuples.

Only the functions under "Coordinate" and "Board" access the representation of their type. All other
code, including `game_2048`, uses both types only through these functions. Every invalid argument
raises ``ValueError`` with the message ``"<function>: invalid arguments"``.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import choice

from py2048.core.board import Rows, has_equal_neighbours, slide
from py2048.core.direction import Direction

Coordinate = tuple[int, int]

_SIZE = 4
_MOVES = {"N": Direction.UP, "S": Direction.DOWN, "E": Direction.RIGHT, "W": Direction.LEFT}
_SPAWN = (2, 2, 2, 2, 4)


def _require(valid: bool, function: str) -> None:
    """Raise the error for invalid arguments of `function` unless `valid` is true."""
    if not valid:
        raise ValueError(f"{function}: invalid arguments")


def _is_integer(value: object) -> bool:
    """Return whether `value` is an integer but not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


# Coordinate


def create_coordinate(row: int, column: int) -> Coordinate:
    """Return the coordinate (`row`, `column`), where both are integers from 1 to 4."""
    _require(_is_index(row) and _is_index(column), "create_coordinate")
    return int(row), int(column)


def coordinate_row(c: Coordinate) -> int:
    """Return the row of `c`."""
    _require(is_coordinate(c), "coordinate_row")
    return c[0]


def coordinate_col(c: Coordinate) -> int:
    """Return the column of `c`."""
    _require(is_coordinate(c), "coordinate_col")
    return c[1]


def is_coordinate(universal: object) -> bool:
    """Return whether `universal` is a coordinate. Accepts any value."""
    return isinstance(universal, tuple) and len(universal) == 2 and all(map(_is_index, universal))


def coordinates_equal(c1: Coordinate, c2: Coordinate) -> bool:
    """Return whether `c1` and `c2` are the same position."""
    _require(is_coordinate(c1) and is_coordinate(c2), "coordinates_equal")
    return c1 == c2


def _is_index(value: object) -> bool:
    """Return whether `value` is a valid row or column."""
    return _is_integer(value) and value in range(1, _SIZE + 1)


# Board


class _Board:
    """A board's internal representation, as described at the top of this file."""

    __slots__ = ("rows", "score")

    def __init__(self, rows: Rows, score: int) -> None:
        self.rows = rows
        self.score = score


def create_board(_ignored: object = None) -> _Board:
    """Return an empty board with score 0.

    The parameter is ignored. The assignment defines no parameter, but passes an argument in an
    example.
    """
    return _Board(((0,) * _SIZE,) * _SIZE, 0)


def copy_board(b: _Board) -> _Board:
    """Return an independent copy of `b`."""
    _require(is_board(b), "copy_board")
    return _Board(b.rows, b.score)


def board_position(b: _Board, c: Coordinate) -> int:
    """Return the value at coordinate `c`, or 0 if it is empty."""
    _require(is_board(b) and is_coordinate(c), "board_position")
    return b.rows[coordinate_row(c) - 1][coordinate_col(c) - 1]


def board_score(b: _Board) -> int:
    """Return the score."""
    _require(is_board(b), "board_score")
    return b.score


def board_empty_positions(b: _Board) -> list[Coordinate]:
    """Return the coordinates of the empty positions, row by row from the top left."""
    _require(is_board(b), "board_empty_positions")
    return [c for c in _coordinates() if board_position(b, c) == 0]


def board_fill_position(b: _Board, c: Coordinate, v: int) -> _Board:
    """Write the integer `v` to position `c`, and return the board `b`."""
    _require(is_board(b) and is_coordinate(c) and _is_integer(v), "board_fill_position")
    rows = [list(row) for row in b.rows]
    rows[coordinate_row(c) - 1][coordinate_col(c) - 1] = int(v)
    b.rows = tuple(map(tuple, rows))
    return b


def board_update_score(b: _Board, v: int) -> _Board:
    """Add `v`, a non-negative multiple of 4, to the score, and return `b`."""
    _require(is_board(b) and _is_integer(v) and v >= 0 and v % 4 == 0, "board_update_score")
    b.score += int(v)
    return b


def board_reduce(b: _Board, d: str) -> _Board:
    """Move all tiles in direction `d`, add the merged values to the score, and return `b`."""
    _require(is_board(b) and _is_move(d), "board_reduce")
    b.rows, points = slide(b.rows, _MOVES[d])
    # board_update_score would reject 3 + 3, which is not a multiple of 4, but boards may contain
    # any integers.
    b.score += points
    return b


def is_board(universal: object) -> bool:
    """Return whether `universal` is a board. Accepts any value."""
    return isinstance(universal, _Board)


def board_finished(b: _Board) -> bool:
    """Return whether `b` is full and no move is possible."""
    _require(is_board(b), "board_finished")
    return not board_empty_positions(b) and not has_equal_neighbours(b.rows)


def boards_equal(b1: _Board, b2: _Board) -> bool:
    """Return whether `b1` and `b2` have the same values and the same score."""
    _require(is_board(b1) and is_board(b2), "boards_equal")
    return b1.rows == b2.rows and b1.score == b2.score


def _is_move(value: object) -> bool:
    """Return whether `value` is one of the four moves."""
    return isinstance(value, str) and value in _MOVES


# The game. The code below uses boards and coordinates only through their operations.


def _coordinates() -> Iterator[Coordinate]:
    """Yield all coordinates, row by row from the top left."""
    for row in range(1, _SIZE + 1):
        for column in range(1, _SIZE + 1):
            yield create_coordinate(row, column)


def _values(b: _Board) -> list[int]:
    """Return the values of all positions, row by row from the top left."""
    return [board_position(b, c) for c in _coordinates()]


def print_board(b: _Board) -> None:
    """Print the four rows and the score."""
    _require(is_board(b), "print_board")
    values = _values(b)
    for start in range(0, len(values), _SIZE):
        print(" ".join(f"[ {value} ]" for value in values[start : start + _SIZE]))
    print("Score:", board_score(b))


def request_move() -> str:
    """Ask until the player enters one of the moves N, S, E and W, and return the move."""
    while (move := input("Pick a move (N, S, E, W): ")) not in _MOVES:
        print("Invalid move.")
    return move


def fill_random_position(b: _Board) -> _Board:
    """Put a 2 (with probability 0.8) or a 4 at a random empty position, and return `b`."""
    positions = board_empty_positions(b) if is_board(b) else []
    _require(positions != [], "fill_random_position")
    return board_fill_position(b, choice(positions), choice(_SPAWN))


def game_2048() -> None:
    """Play a game: print the board and ask for a move until no move is possible.

    A move without effect adds no tile, and the board is printed again.
    """
    b = fill_random_position(fill_random_position(create_board()))
    while not board_finished(b):
        print_board(b)
        before = _values(b)
        b = board_reduce(b, request_move())
        if _values(b) != before:
            b = fill_random_position(b)
    print_board(b)
