"""The coordinate data type: 4 marks."""

from __future__ import annotations

from py2048.courses.grading import Check, Example, Raises, Task

_REFUSED = Raises("ValueError", "create_coordinate: invalid arguments")
_CELLS = [(row, column) for row in range(1, 5) for column in range(1, 5)]
_OUTSIDE = ("-1, 1", "1, 5", "0, 0", "5, 1", "1, 0", "4, 5", "100, 1")
_NO_INTEGERS = ("1.0, 1", "1, 2.5", "'1', 1", "1, None", "[1], 1", "(1, 2), 1", "1, '4'")
_NO_COORDINATES = (
    *("0", "None", "'a'", "''", "{}", "[]", "()", "1.5", "[1, 2]", "(1,)", "(0, 1)", "(1, 5)"),
    *("(1, 2, 3)", "('a', 'b')", "(1.0, 2.0)", "(None, 1)", "create_coordinate"),
)


def _made(row: int, column: int) -> str:
    return f"create_coordinate({row}, {column})"


def _accessor(name: str, index: int) -> Check:
    """Check that `name` gives back one of the two numbers."""
    return Check(
        f"{name} gives back what the coordinate was made of",
        [Example(f"{name}({_made(*cell)})", cell[index]) for cell in _CELLS],
    )


TASK = Task(
    id="1",
    title="Coordinate ADT",
    asked=(
        "An immutable coordinate of a row and a column from 1 to 4: create_coordinate, "
        "coordinate_row, coordinate_col, is_coordinate and coordinates_equal."
    ),
    marks=4,
    checks=(
        Check(
            "create_coordinate refuses rows and columns outside 1 to 4",
            [
                Example(_made(2, 3)),
                *(Example(f"create_coordinate({numbers})", _REFUSED) for numbers in _OUTSIDE),
            ],
        ),
        Check(
            "create_coordinate refuses what is no integer, with a ValueError",
            [
                Example(_made(2, 3)),
                *(Example(f"create_coordinate({things})", _REFUSED) for things in _NO_INTEGERS),
            ],
        ),
        _accessor("coordinate_row", 0),
        _accessor("coordinate_col", 1),
        Check(
            "is_coordinate is True for coordinates and False for anything else",
            [
                *(Example(f"is_coordinate({_made(*cell)})", True) for cell in _CELLS),
                *(Example(f"is_coordinate({thing})", False) for thing in _NO_COORDINATES),
            ],
            weight=2,
        ),
        Check(
            "coordinates_equal compares row and column",
            [
                Example(f"coordinates_equal({_made(*first)}, {_made(*second)})", first == second)
                for first in _CELLS
                for second in _CELLS
                if first[0] in (1, 3) or first == second[::-1]
            ],
            weight=2,
        ),
    ),
)
