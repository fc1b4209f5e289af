"""Grids for examples: as code to type in, and at random."""

from __future__ import annotations

import random

Rows = list[list[int]]

TILES = (0, 0, 2, 2, 4, 8)


def grid_of(rows: Rows) -> str:
    """Code that makes a `grid` with these rows, the list of empty cells in order."""
    cells = [tile for row in rows for tile in row]
    empties = [cell for cell, tile in enumerate(cells) if not tile]
    return (
        f"grid = Grid({len(rows)}, {len(rows[0])}, 0)\n"
        f"grid._grid = {rows}\ngrid.emptiesSet = {empties}"
    )


def tiles_of(rows: Rows) -> int:
    """How many tiles a grid has: a student understands what happens to few of them first."""
    return sum(tile > 0 for row in rows for tile in row)


def random_rows(seed: int, rows: int, columns: int) -> Rows:
    """A grid of small tiles, the same for the same seed."""
    draw = random.Random(seed)
    return [[draw.choice(TILES) for _ in range(columns)] for _ in range(rows)]
