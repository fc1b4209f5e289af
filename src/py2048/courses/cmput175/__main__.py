"""``python -m py2048.courses.cmput175 [rows [columns [initial]]]`` plays in the terminal."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from py2048.courses import OneLineParser
from py2048.courses.cmput175.game import Game

MAX_SIDE = 50
"""The most rows or columns: more fits no terminal."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Play one game with the size given by `arguments`; return the exit status."""
    row, col, initial = _parse(arguments)
    try:
        Game(row, col, initial)
    except KeyboardInterrupt:
        print()
        return 130
    return 0


def _parse(arguments: Sequence[str] | None) -> tuple[int, int, int]:
    """Return rows, columns and start tiles; exit with status 2 if they make no game."""
    parser = OneLineParser("python -m py2048.courses.cmput175", description=__doc__)
    parser.add_argument("rows", nargs="?", type=_size, default=4, help="rows of the grid (4)")
    parser.add_argument("columns", nargs="?", type=_size, help="columns (as many as rows)")
    parser.add_argument(
        "initial", nargs="?", type=_number, default=2, help="tiles at the start (2)"
    )
    given = parser.parse_args(arguments)
    columns = given.rows if given.columns is None else given.columns
    cells = given.rows * columns
    if cells < 2:
        parser.error(f"a {given.rows}x{columns} grid has no move: give at least two cells")
    if not 1 <= given.initial <= cells:
        parser.error(
            f"initial is {given.initial}, but a {given.rows}x{columns} grid takes 1 to {cells} "
            "tiles"
        )
    return given.rows, columns, given.initial


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _size(text: str) -> int:
    size = _number(text)
    if not 1 <= size <= MAX_SIDE:
        raise argparse.ArgumentTypeError(f"{size} is not from 1 to {MAX_SIDE}")
    return size


if __name__ == "__main__":
    sys.exit(main())
