"""Boards as lists of rows, shared by the checks of several courses."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from py2048.core.board import Board, Cell
from py2048.core.direction import Direction
from py2048.core.rules import Merging

Rows = list[list[int]]
EMPTY: Rows = [[0] * 4 for _ in range(4)]
FULL: Rows = [[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]]


def lists(text: str) -> Rows:
    """Parse lists of numbers that are separated by slashes."""
    return [list(map(int, part.split())) for part in text.split("/")]


LINES = lists(
    "2 0 0 0 / 0 2 0 0 / 0 0 0 2 / 2 0 2 0 / 2 2 0 0 / 2 0 0 2 / 0 2 0 4 / 0 0 0 0 / 2 2 2 0 / "
    "4 2 2 0 / 4 0 2 2 / 2 2 4 0 / 2 0 2 2 / 2 0 2 4 / 2 4 2 4 / 2 2 4 8 / 2 8 4 4 / 2 2 2 2 / "
    "4 4 8 4 / 8 4 4 8 / 2 4 8 16 / 8 8 16 8 / 2048 2048 0 0 / 1024 0 0 1024 / "
    "1024 1024 2048 2048"
)
OTHER_LINES = lists(
    "0 2 / 2 2 / 2 4 / 0 0 0 / 2 0 2 / 2 2 2 / 4 2 2 / 2 2 4 / 2 2 0 2 2 / 2 2 2 2 2 / 0 0 4 0 0 4"
)
"""Lines of other lengths."""


def slid(
    rows: Sequence[Sequence[int]], direction: Direction, merging: Merging = Merging.ONCE
) -> Rows:
    """Return a board's rows after a move."""
    return as_lists(Board.from_rows(rows).slide(direction, merging).board.rows)


def as_lists(rows: Iterable[Iterable[int]]) -> Rows:
    """Convert rows to lists."""
    return [list(row) for row in rows]


def tiles_of(rows: Sequence[Sequence[int]]) -> list[Cell]:
    """Return the positions of all tiles, row by row."""
    return [(r, c) for r, row in enumerate(rows) for c, value in enumerate(row) if value]


def with_tiles(tiles: dict[Cell, int], rows: Sequence[Sequence[int]] = EMPTY) -> Rows:
    """Return a copy of `rows` with some cells replaced."""
    changed = as_lists(rows)
    for (row, column), value in tiles.items():
        changed[row][column] = value
    return changed


def new_tiles(before: Iterable[Iterable[int]], after: Iterable[Iterable[int]]) -> list[int] | None:
    """Return the tiles added to empty cells, or None if any other cell has changed."""
    pairs = zip(chain(*before), chain(*after), strict=True)
    changed = [(old, new) for old, new in pairs if old != new]
    return None if any(old for old, _ in changed) else [new for _, new in changed]


def random_rows(seed: str, values: Sequence[int], rows: int = 4, columns: int = 4) -> Rows:
    """Return a board with values drawn at random from `values`, using the given seed."""
    draw = random.Random(seed)
    return [[draw.choice(values) for _ in range(columns)] for _ in range(rows)]


def checkered(rows: int = 4, columns: int = 4) -> Rows:
    """Return a full board of 2s and 4s on which no move is legal."""
    return [[2 + 2 * ((r + c) % 2) for c in range(columns)] for r in range(rows)]


def with_one_gap(rows: int = 4, columns: int = 4) -> Iterator[Rows]:
    """Yield one board per cell, with only that cell empty and no equal neighbours."""
    stuck = checkered(rows, columns)
    for cell in tiles_of(stuck):
        yield with_tiles({cell: 0}, stuck)


def with_one_pair(rows: int = 4, columns: int = 4) -> Iterator[Rows]:
    """Yield one full board per pair of adjacent cells, with only that pair equal."""
    stuck = checkered(rows, columns)
    cells = tiles_of(stuck)
    for row, column in cells:
        for other in ((row, column + 1), (row + 1, column)):
            if other in cells:
                yield with_tiles({(row, column): 8, other: 8}, stuck)
