"""The laws of `Grid`, on grids of many sizes."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.core.board import Board, Rows, slide_line
from py2048.core.direction import Direction
from py2048.core.rules import get_rules
from py2048.courses.cmput175.game import Grid

COLLAPSES = {
    "collapseUp": Direction.UP,
    "collapseDown": Direction.DOWN,
    "collapseLeft": Direction.LEFT,
    "collapseRight": Direction.RIGHT,
}
TILES = st.sampled_from([0, 0, 2, 2, 4, 4, 8, 2048, 131072])
INTEGERS = st.one_of(TILES, st.integers(-3, 3), st.integers())


def grids(values: st.SearchStrategy[int]) -> st.SearchStrategy[Rows]:
    """Generate grids of 1 to 6 rows and columns."""
    shapes = st.tuples(st.integers(1, 6), st.integers(1, 6))
    return shapes.flatmap(lambda shape: st.tuples(*[st.tuples(*[values] * shape[1])] * shape[0]))


BOARDS = grids(TILES).filter(lambda rows: len(rows) * len(rows[0]) > 1)


def build(rows: Rows) -> Grid:
    grid = Grid(len(rows), len(rows[0]), 0)
    for cell, value in enumerate(chain(*rows)):
        grid.setCell(cell, value)
    grid.updateEmptiesSet()
    return grid


def cells_of(grid: Grid) -> list[int]:
    return [grid.getCell(cell) for cell in range(grid.row * grid.col)]


@given(st.lists(INTEGERS, max_size=9))
def test_collapse_row_is_the_slide(row):
    """`collapseRow` is the engine's line slide for any length and any integers."""
    grid, before = Grid(), list(row)
    result = grid.collapseRow(row)
    slid = slide_line(tuple(row))
    assert type(result) is tuple
    assert result == (list(slid.line), list(slid.line) != before)
    assert type(result[0]) is list
    assert type(result[1]) is bool
    assert grid.score == slid.points
    assert row == before
    assert result[0] is not row


@given(BOARDS, st.sampled_from(sorted(COLLAPSES)))
def test_collapses_are_the_slides(rows, name):
    """Collapses are the engine's slides, and update the score and the empty cells."""
    grid = build(rows)
    slid = Board.from_rows(rows).slide(COLLAPSES[name])
    assert getattr(grid, name)() is slid.changed
    assert cells_of(grid) == list(chain(*slid.board.rows))
    empties = [n for n, value in enumerate(cells_of(grid)) if not value]
    assert grid.emptiesSet == empties
    grid.updateEmptiesSet()
    assert grid.emptiesSet == empties
    assert grid.score == slid.points


@given(BOARDS)
def test_collapsible_is_a_legal_direction(rows):
    """A grid with a tile is collapsible if a direction is legal, and asking changes nothing."""
    grid = build(rows)
    grid.score, grid.emptiesSet = 12, [0]
    legal = bool(Board.from_rows(rows).legal_directions())
    assert grid.collapsible() is (legal or not any(map(any, rows)))
    assert (cells_of(grid), grid.score, grid.emptiesSet) == (list(chain(*rows)), 12, [0])


@given(grids(TILES), st.booleans())
def test_a_spawn_fills_one_empty_cell(rows, init):
    """A new tile fills one empty cell, with a 2 at the start, else 2 or 4; a full grid stays."""
    grid = build(rows)
    empties = list(grid.emptiesSet)
    assert grid.assignRandCell(init) is None
    old, new = list(chain(*rows)), cells_of(grid)
    filled = [n for n in range(len(old)) if old[n] != new[n]]
    assert len(filled) == min(1, len(empties))
    for cell in filled:
        assert cell in empties
        assert new[cell] in ((2,) if init else (2, 4))
    assert grid.emptiesSet == [n for n in empties if n not in filled]


def test_a_spawn_never_overwrites_a_tile():
    """A new tile never overwrites another, even if `emptiesSet` is out of date."""
    grid = build(((8, 8), (8, 0)))
    grid.emptiesSet = [0, 1, 2, 3]
    grid.assignRandCell()
    assert cells_of(grid)[:3] == [8, 8, 8]
    assert grid.getCell(3) in (2, 4)


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
    build(((0, 2, 16), (128, 2048, 131072))).drawGrid()
    expected = "\t|     |  2  |  16 |\n\t| 128 | 2048|131072|\n\n"
    assert capsys.readouterr().out == expected
