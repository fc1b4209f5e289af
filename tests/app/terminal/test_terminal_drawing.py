"""Layout and drawing of the board in a terminal."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment

from py2048.app.terminal.board import (
    Arrangement,
    Canvas,
    arrange,
    digit_dots,
    draw_board,
    fit,
    label,
)
from py2048.core import language
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.presentation.motion import still
from py2048.presentation.themes import DARK, LIGHT

sizes = st.tuples(st.integers(1, 220), st.integers(1, 70))
shapes = st.tuples(st.integers(1, 10), st.integers(2, 10))


@given(st.integers(1, 200), st.integers(1, 12))
def test_a_label_fits_its_tile(rank, width):
    """Labels of all tiles fit into any width."""
    assert 1 <= len(label(2**rank, width)) <= width


@pytest.mark.parametrize("width", range(1, 8))
def test_labels_are_different_up_to_131072(width):
    """At any width, all tiles up to 131072 have different labels."""
    labels = [label(2**rank, width) for rank in range(1, 18)]
    assert len(set(labels)) == len(labels)


def test_labels_are_digits_where_they_fit():
    """Six columns show all digits up to 131072; larger tiles and narrower labels abbreviate."""
    assert [label(2**rank, 6) for rank in range(1, 18)] == [str(2**rank) for rank in range(1, 18)]
    assert label(2**20, 6) == "1048k"
    assert label(16384, 4) == "16k"
    assert label(2048, 2) == "11"


@given(sizes, shapes)
def test_a_grid_fits_its_size(size, shape):
    """A grid never exceeds the given size, and its cells do not overlap."""
    grid = fit(*size, *shape)
    if grid is None:
        assert size[0] < shape[1] or size[1] < shape[0]
        return
    assert grid.width_columns <= size[0]
    assert grid.height_rows <= size[1]
    assert grid.label_columns >= 1
    corners = [grid.corner(0, column)[0] for column in range(shape[1])]
    assert all(b - a == grid.pitch_x >= grid.tile_width for a, b in pairwise(corners))
    assert corners[-1] + grid.tile_width <= 2 * grid.width_columns


@given(sizes, shapes)
def test_larger_terminals_never_have_smaller_tiles(size, shape):
    """Enlarging the terminal never shortens the labels."""
    _, small = arrange(*size, *shape)
    _, large = arrange(size[0] + 1, size[1] + 1, *shape)
    if small is not None:
        assert min(large.label_columns, 6) >= min(small.label_columns, 6)


@pytest.mark.parametrize(
    ("size", "shape", "arrangement", "label_columns"),
    [
        ((80, 24), (4, 4), Arrangement.WIDE, 11),
        ((200, 60), (4, 4), Arrangement.WIDE, 29),
        ((40, 20), (4, 4), Arrangement.TALL, 8),
        ((80, 24), (3, 4), Arrangement.WIDE, 11),
        ((20, 10), (4, 4), Arrangement.COMPACT, 4),
        ((20, 10), (8, 8), Arrangement.COMPACT, 2),
        ((80, 24), (8, 8), Arrangement.TALL, 6),
        ((5, 3), (4, 4), Arrangement.NONE, None),
    ],
)
def test_arrangements(size, shape, arrangement, label_columns):
    """Common terminal sizes have the expected arrangement and label width."""
    found, grid = arrange(*size, *shape)
    assert found is arrangement
    assert (grid and grid.label_columns) == label_columns


def colours(segment: Segment) -> tuple[str, str]:
    return segment.style.color.name, segment.style.bgcolor.name


def test_a_canvas_draws_quarters():
    """Rectangles that end within a character are drawn with block characters."""
    canvas = Canvas(4, 2, "#000000")
    canvas.rectangle(1, 1, 4, 2, "#ffffff")
    first, second = canvas.segments(0), canvas.segments(1)
    assert "".join(each.text for each in first) == "▗▀▖ "
    assert "".join(each.text for each in second) == "▝▀▘ "
    light, dark = ("#ffffff", "#000000"), ("#000000", "#ffffff")
    assert [*map(colours, (*first[:2], second[0]))] == [light, dark, light]


def test_a_canvas_clips_its_content():
    """Rectangles and text beyond the edge are clipped."""
    canvas = Canvas(3, 1, "#000000")
    canvas.rectangle(-5, -5, 100, 100, "#ffffff")
    canvas.write(1, 0, "abcdef", "#ff0000")
    canvas.write(0, 7, "z", "#ff0000")
    found = [(each.text, colours(each)[1]) for each in canvas.segments(0)]
    assert found == [(" ", "#ffffff"), ("ab", "#ffffff")]


def drawn(board: Board, columns: int, rows: int, **options: object) -> list[str]:
    grid = fit(columns, rows, *board.shape)
    canvas = Canvas(grid.width_columns, grid.height_rows, DARK.page)
    draw_board(canvas, grid, DARK, still(board), **options)  # type: ignore[arg-type]
    return ["".join(each.text for each in canvas.segments(row)) for row in range(canvas.rows)]


def test_a_board_shows_its_numbers_in_place():
    """All numbers are in the rows of their tiles, in the order of the columns."""
    picture = drawn(
        Board.parse("2 4 8 16\n32 64 128 256\n512 1024 2048 4096\n. 131072 . 2"), 30, 13
    )
    numbers = [row.replace("▀", " ").replace("▄", " ").split() for row in picture]
    assert [row for row in numbers if row] == [
        ["2", "4", "8", "16"],
        ["32", "64", "128", "256"],
        ["512", "1024", "2048", "4096"],
        ["131072", "2"],
    ]


def test_large_tiles_have_large_digits():
    """On large tiles, numbers are drawn with dots instead of text."""
    board = Board.parse("2048 . . .\n. . . .\n. . . .\n. . . 2")
    grid = fit(80, 40, 4, 4)
    canvas = Canvas(grid.width_columns, grid.height_rows, LIGHT.page)
    draw_board(canvas, grid, LIGHT, still(board))
    ink = LIGHT.tile(2048).text
    drawn_cells = sum(
        len(each.text)
        for row in range(canvas.rows)
        for each in canvas.segments(row)
        if ink in colours(each)
    )
    assert drawn_cells >= len(list(digit_dots("2048"))) // 2
    assert not any(character.isdigit() for row in drawn(board, 80, 40) for character in row)


@pytest.mark.parametrize("code", language.LANGUAGES)
def test_a_score_is_drawn_with_its_thousands_separator(code):
    """The separator of every language consists of dots on the last two rows."""
    with language.use_language(code):
        dots = set(digit_dots(language.number(1111)))
    separator = {(x, y) for x, y in dots if x in (4, 5)}
    assert separator
    assert all(y >= 3 for _, y in separator)


@pytest.mark.parametrize(("mark", "colour"), [("best", DARK.good), ("played", DARK.danger)])
def test_two_directions_are_marked(mark, colour):
    """A direction has a mark in the middle of its side of the frame, in its colour."""
    grid = fit(42, 21, 4, 4)
    for side in Direction:
        canvas = Canvas(grid.width_columns, grid.height_rows, DARK.page)
        draw_board(canvas, grid, DARK, [], **{mark: side})
        lit = {
            row
            for row in range(canvas.rows)
            for each in canvas.segments(row)
            if colour in colours(each)
        }
        ends = {Direction.UP: {0}, Direction.DOWN: {canvas.rows - 1}}
        assert lit == ends.get(side, lit)
        assert side.is_vertical or 0 < min(lit) < max(lit) < canvas.rows - 1
