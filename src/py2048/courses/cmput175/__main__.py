"""Play in the terminal: ``python -m py2048.courses.cmput175 [rows [columns [initial]]]``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from py2048.courses import OneLineParser
from py2048.courses.cmput175.game import Game
from py2048.courses.windows import run

MAX_SIDE = 50
"""Maximum number of rows and columns, chosen to fit a terminal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a game with a given grid size, and return the exit status."""
    row, col, initial = _parse(arguments)
    return run(lambda: Game(row, col, initial))


def _parse(arguments: Sequence[str] | None) -> tuple[int, int, int]:
    """Return the rows, columns and number of initial tiles; exit with status 2 if invalid."""
    parser = OneLineParser("python -m py2048.courses.cmput175", description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=4, help="rows (default: 4)")
    parser.add_argument("columns", nargs="?", type=int, help="columns (default: same as rows)")
    parser.add_argument("initial", nargs="?", type=int, default=2, help="start tiles (default: 2)")
    given = parser.parse_args(arguments)
    rows, initial = given.rows, given.initial
    columns = rows if given.columns is None else given.columns
    if not (1 <= rows <= MAX_SIDE and 1 <= columns <= MAX_SIDE):
        parser.error(f"a {rows}x{columns} grid: give from 1 to {MAX_SIDE} rows and columns")
    if rows * columns < 2:
        parser.error(f"a {rows}x{columns} grid has no move: give at least two cells")
    if not 1 <= initial <= rows * columns:
        most = rows * columns
        parser.error(f"initial is {initial}, but a {rows}x{columns} grid takes 1 to {most} tiles")
    return rows, columns, initial


if __name__ == "__main__":
    sys.exit(main())
