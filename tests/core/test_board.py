"""Boards are values, and slides are exact for every size, tile and merging."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import boards, cells, directions, mergings

from py2048 import Board, Direction, Merging
from py2048.core import board as reference
from py2048.core.errors import BoardError, DirectionError

lines = st.lists(cells, min_size=1, max_size=8).map(tuple)


@pytest.mark.parametrize(
    ("before", "once", "cascade"),
    [
        ((2, 2, 2, 2, 2), ((4, 4, 2, 0, 0), 8), ((4, 4, 2, 0, 0), 8)),
        ((4, 4, 8, 4), ((8, 8, 4, 0), 8), ((16, 4, 0, 0), 24)),
        ((2, 0, 2, 4), ((4, 4, 0, 0), 4), ((8, 0, 0, 0), 12)),
        ((2, 8, 4, 4), ((2, 8, 8, 0), 8), ((2, 8, 8, 0), 8)),
        ((0, 0, 0, 2), ((2, 0, 0, 0), 0), ((2, 0, 0, 0), 0)),
        ((2, 4, 8, 16), ((2, 4, 8, 16), 0), ((2, 4, 8, 16), 0)),
        ((2, 2, 4, 8), ((4, 4, 8, 0), 4), ((16, 0, 0, 0), 28)),
        ((65536, 65536, 0, 0), ((131072, 0, 0, 0), 131072), ((131072, 0, 0, 0), 131072)),
    ],
)
def test_tiles_merge_once_a_slide_or_on_and_on(before, once, cascade):
    """Equal neighbours merge from the leading edge; a merged tile may accept the next equal one."""
    assert reference.slide_line(before)[:2] == once
    assert reference.slide_line(before, Merging.CASCADE)[:2] == cascade


@given(lines, mergings)
def test_a_slide_conserves_the_sum_and_packs_the_line(line, merging):
    """A slide leaves no gaps, keeps the sum, and scores the sum of the new tiles."""
    slid, points, steps = reference.slide_line(line, merging)
    assert sum(slid) == sum(line)
    count = len(slid) - slid.count(0)
    assert all(slid[:count])
    assert not any(slid[count:])
    assert len(steps) == len(line) - line.count(0)
    assert points >= sum(1 for *_, merged in steps if merged) * 4
    assert [source for source, *_ in steps] == [i for i, tile in enumerate(line) if tile]


@given(boards(), directions, mergings)
def test_board_slides_as_the_reference(board, direction, merging):
    """The cached slide of `Board` equals the reference."""
    slide = board.slide(str(direction), merging)
    assert (slide.board.rows, slide.points) == reference.slide(board.rows, direction, merging)
    assert slide.changed == (slide.board != board)
    assert slide.board.sum == board.sum


@given(boards(), directions, mergings)
def test_motions_explain_the_slide(board, direction, merging):
    """Moving each tile along its motion and adding up gives the afterstate."""
    slide = board.slide(direction, merging)
    rows, columns = board.shape
    carried = [[0] * columns for _ in range(rows)]
    for source, target, _ in slide.motions:
        carried[target[0]][target[1]] += board[source]
        along = 1 if direction.is_vertical else 0
        assert source[along] == target[along]
    assert Board.from_rows(carried) == slide.board
    merges = sum(motion.merged for motion in slide.motions)
    assert merges == len(slide.motions) - (rows * columns - len(slide.board.empty_cells()))


def _turned(board: Board) -> Board:
    """Rotate clockwise."""
    return Board.from_rows([row[::-1] for row in zip(*board.rows, strict=True)])


@given(boards(), directions, mergings)
def test_sliding_commutes_with_turning(board, direction, merging):
    """Rotating both the board and the direction rotates the result."""
    clockwise = ["up", "right", "down", "left", "up"]
    slide = board.slide(direction, merging)
    turned = _turned(board).slide(clockwise[clockwise.index(str(direction)) + 1], merging)
    assert (turned.board, turned.points) == (_turned(slide.board), slide.points)


@given(boards())
def test_a_board_has_four_or_eight_symmetries(board):
    """All symmetric images of a board have the same canonical form, which is one of them."""
    images = list(reference.symmetries(board.rows))
    assert len(images) == (8 if board.shape[0] == board.shape[1] else 4)
    same_shape = [image for image in images if len(image) == board.shape[0]]
    names = {reference.canonical(image) for image in same_shape}
    assert names == {reference.canonical(board.rows)} <= set(images)


@given(boards())
def test_legal_directions_are_those_that_change_the_board(board):
    """Legality does not depend on the merging."""
    legal = board.legal_directions()
    for merging in Merging:
        assert legal == tuple(d for d in Direction if board.slide(d, merging).changed)
    assert board.can_move() == bool(legal)


@given(boards())
def test_a_full_board_moves_where_neighbours_are_equal(board):
    """`can_move` agrees with sliding in all directions."""
    full = Board.from_rows([[tile or 2 for tile in row] for row in board.rows])
    assert reference.has_equal_neighbours(full.rows) == full.can_move()


@given(boards())
def test_boards_survive_text_and_pickling(board):
    """`parse` inverts `str`, `eval` inverts `repr`, and copies are equal."""
    assert Board.parse(str(board)) == board
    assert eval(repr(board), {"Board": Board}) == board
    assert pickle.loads(pickle.dumps(board)) == board == copy.deepcopy(board)
    assert hash(Board.from_rows(board.rows)) == hash(board)


@given(boards())
def test_a_notebook_shows_every_cell(board):
    """Every cell of the HTML table shows its tile or nothing."""
    rows = board._repr_html_().split("<tr>")[1:]
    shown = [[int(cell or 0) for cell in re.findall(r"<td[^>]*>(\d*)</td>", row)] for row in rows]
    assert shown == [list(row) for row in board.rows]


def test_larger_tiles_are_darker_in_a_notebook():
    """Light text begins at 2048, and no tile is darker than 131072."""
    html = Board.from_rows([[0, 2, 1024], [2048, 2**17, 2**18]])._repr_html_()
    assert re.findall(r'background:([^;]*);color:([^"]*)"', html) == [
        *(("#8883", "#222"), ("hsl(44,75%,87.0%)", "#222"), ("hsl(17,75%,64.5%)", "#222")),
        *(("hsl(14,75%,45.0%)", "#fff"), *[("hsl(-4,75%,30.0%)", "#fff")] * 2),
    ]


def test_parse_reads_what_people_write():
    """Slashes, commas, bars and several symbols for empty cells are accepted."""
    expected = Board.from_rows([[2, 0, 4], [0, 8, 0]])
    for text in ("2 . 4 / . 8 .", "2,0,4;0,8,0", "|2|_|4|\n|-|8|_|\n", "\n2 0 4\n\n0 8 0\n"):
        assert Board.parse(text) == expected


def test_empty_cells_are_in_row_major_order():
    """Empty cells are (row, column) pairs from the top left."""
    board = Board.parse("2 . 4 / . 8 .")
    assert board.empty_cells() == [(0, 1), (1, 0), (1, 2)]
    assert (board.max_tile, board.sum, board[1, 1]) == (8, 14, 8)


def test_a_board_never_changes():
    """Every change creates a new board."""
    board = Board.parse("2 . / . .")
    other = board.with_tile((1, 1), 4)
    assert (board.rows, other.rows) == (((2, 0), (0, 0)), ((2, 0), (0, 4)))
    with pytest.raises(AttributeError):
        board.rows = ()  # type: ignore[misc]


def test_numpy_integers_are_welcome():
    """Boards created from NumPy arrays contain plain ints."""
    numpy = pytest.importorskip("numpy")
    board = Board.from_rows(numpy.array([[2, 0], [0, 131072]]))
    assert board == Board.parse("2 0 / 0 131072")
    assert all(type(tile) is int for row in board.rows for tile in row)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[2, 3]], "3"),
        ([[1, 2]], "1"),
        ([[-2, 2]], "-2"),
        ([[2.0, 2]], "2.0"),
        ([["2", 2]], "'2'"),
        ([[True, 2]], "True"),
        ([[2]], "1x1"),
        ([], "at least one row"),
        ([[], []], "at least one row"),
        ([[2, 4], [2]], "equally long"),
        (5, "5"),
        ([2, 4], "rows of values"),
    ],
)
def test_impossible_boards_are_refused(rows, reason):
    """Invalid boards are rejected with the value."""
    with pytest.raises(BoardError, match=reason.replace("[", r"\[")):
        Board.from_rows(rows)  # type: ignore[arg-type]


def test_impossible_changes_are_refused():
    """A tile must be valid and on the board."""
    board = Board.parse("2 . / . .")
    with pytest.raises(BoardError, match="6"):
        board.with_tile((0, 1), 6)
    for cell in ((2, 0), (-1, 0), (0, 2), (0, -1)):
        with pytest.raises(BoardError, match=re.escape(f"{cell} is outside a 2x2 board")):
            board.with_tile(cell, 2)
    for cell in (0, (0, 1, 2), ("a", "b")):
        for change in (board.__getitem__, lambda cell: board.with_tile(cell, 2)):
            with pytest.raises(BoardError, match=re.escape(f"{cell} is not a cell: give (row")):
                change(cell)
    with pytest.raises(BoardError, match="'x'"):
        Board.parse("x 2")
    with pytest.raises(BoardError, match=r"2 x 2\.5 is not a size"):
        Board.empty(2, 2.5)
    assert Board.empty(2, 3).rows == ((0, 0, 0), (0, 0, 0))


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        (Direction.LEFT, ["left", "L", "W", "←"]),
        (Direction.UP, ["Up ", "n"]),
        (Direction.DOWN, ["D", "S"]),
        (Direction.RIGHT, ["right", "E"]),
    ],
)
def test_directions_have_several_names(direction, words):
    """Names, first letters, compass points and arrows are accepted."""
    assert set(map(Direction.parse, words)) == {direction}


def test_an_unknown_direction_suggests_one():
    """Unknown directions are rejected with the word and a suggestion."""
    with pytest.raises(DirectionError, match="'lft' is not a direction; did you mean 'left'"):
        Direction.parse("lft")


def test_action_numbers_are_fixed():
    """Action numbers are up, down, left, right from 0."""
    assert [direction.name for direction in Direction] == ["UP", "DOWN", "LEFT", "RIGHT"]
    assert [direction.value for direction in Direction] == [0, 1, 2, 3]
