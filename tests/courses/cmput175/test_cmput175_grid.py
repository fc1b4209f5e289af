"""`Grid` beyond the course's checks, which `test_mutants.py` runs on this solution."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from py2048.core.rules import get_rules
from py2048.courses.cmput175.game import Grid


def test_spawn_odds():
    """A 4 has the probability of the preset's rules, and all cells are equally likely."""
    random.seed(175)
    spawn = get_rules("cmput175").spawn
    tiles: Counter[int] = Counter()
    cells: Counter[int] = Counter()
    draws = 8000
    for _ in range(draws):
        grid = Grid(3, 4, 0)
        grid.assignRandCell()
        cell = next(n for n in range(12) if grid.getCell(n))
        tiles[grid.getCell(cell)] += 1
        cells[cell] += 1
    assert set(tiles) == {2, 4}
    assert tiles[4] / draws == pytest.approx(float(spawn.weights.probability(4)), abs=0.02)
    assert len(cells) == 12
    assert max(cells.values()) < 2 * min(cells.values())


def test_draw_grid(capsys):
    """`drawGrid` centres values in five columns, leaves zeros blank and ends with an empty line."""
    grid = Grid(2, 3, 0)
    for cell, value in enumerate((0, 2, 16, 128, 2048, 131072)):
        grid.setCell(cell, value)
    grid.drawGrid()
    expected = "\t|     |  2  |  16 |\n\t| 128 | 2048|131072|\n\n"
    assert capsys.readouterr().out == expected
