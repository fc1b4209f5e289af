"""An example of each kind of mistake."""

from __future__ import annotations

import pytest

from py2048 import Board, Direction, get_rules
from py2048.core.errors import Py2048Error
from py2048.review.mistakes import (
    FIRST_BOX,
    LAST_BOX,
    MistakeKind,
    breaks_row,
    interval,
    is_ending,
    mistake_kind,
    next_box,
)

UP, DOWN, LEFT, RIGHT = Direction

EXAMPLES = {
    MistakeKind.CORNER: ("2 . . . / . . . . / 4 . . . / 64 16 8 .", RIGHT, DOWN),
    MistakeKind.ROW: ("2 . 4 . / 4 . . . / 8 . . . / 64 32 16 8", UP, LEFT),
    MistakeKind.ENDING: ("2 4 8 2 / 4 16 64 . / 32 256 512 1024 / 128 8192 4096 2048", RIGHT, UP),
    MistakeKind.MERGE: ("2 . 4 . / 4 . . . / 8 . . 8 / 64 32 16 2", DOWN, LEFT),
    MistakeKind.SETUP: ("2 . . 4 / 8 . . . / 4 . . . / 64 32 16 2", LEFT, DOWN),
    MistakeKind.OTHER: ("2 . . . / 4 . . 16 / 8 . . . / 64 32 16 2", LEFT, DOWN),
}


@pytest.mark.parametrize("kind", MistakeKind)
def test_each_kind_is_found(kind):
    """Each kind is recognised in its example and in every rotation."""
    text, played, best = EXAMPLES[kind]
    board = Board.parse(text)
    rules = get_rules("classic")
    for _ in range(4):
        assert mistake_kind(rules, board, played, best) is kind
        # a quarter turn to the right
        board = Board.from_rows(zip(*reversed(board.rows), strict=True))
        turned = {UP: RIGHT, RIGHT: DOWN, DOWN: LEFT, LEFT: UP}
        played, best = turned[played], turned[best]


def test_a_merge_in_the_corner_does_not_leave_it():
    """Merging the largest tile keeps the corner, and merging within the main line keeps the row."""
    rules = get_rules("classic")
    board = Board.parse(". . . . / . . . . / 64 . . . / 64 16 8 4")
    assert mistake_kind(rules, board, UP, RIGHT) is not MistakeKind.CORNER
    board = Board.parse("2 . 4 . / 4 . . . / 2 . . . / 64 16 16 4")
    assert mistake_kind(rules, board, LEFT, UP) is not MistakeKind.ROW


@pytest.mark.parametrize(
    "text",
    [
        "2 4 8 2 / . 16 64 8 / 32 256 512 1024 / 128 8192 4096 4096",  # two alike
        "2 128 8 2 / . 16 1024 8 / 256 32 4 64 / 2 512 2 4",  # in no formation
        "128 4 64 2 / . 16 64 64 / 32 256 512 1024 / 128 8192 4096 2048",  # too much beside them
        "2 4 2 4 / . 2 4 2 / 2 8 16 32 / 2 256 128 64",  # small ones
        "2 . . / . 512 1024 / . 128 256",  # on another board
    ],
)
def test_endings_are_told_from_other_positions(text):
    """An ending needs distinct large tiles in a formation on 4x4, and few other tiles."""
    assert not is_ending(Board.parse(text))


@pytest.mark.parametrize(("tile", "found"), [(64, True), (128, False)])
def test_an_ending_has_few_other_tiles(tile, found):
    """The small tiles may sum to the smallest large one plus the formation's slack."""
    text = f"64 32 8 {tile} / 64 16 64 . / . 256 512 1024 / 16384 8192 4096 2048"
    assert is_ending(Board.parse(text)) == found


def test_the_larger_of_two_full_lines_counts():
    """Where two full lines hold the largest tile, only the one with the larger sum can break."""
    board = Board.parse("64 8 4 2 / 16 . . . / 32 . . . / 8 4 . .")
    assert not breaks_row(board, board.with_tile((0, 3), 0))
    assert breaks_row(board, board.with_tile((2, 0), 0))
    sparse = Board.parse("64 8 4 . / 16 . . . / . . . . / . . . .")  # no line is full
    assert not breaks_row(sparse, sparse.with_tile((0, 0), 0))


def test_an_unknown_kind_is_named():
    """The error suggests the closest kind."""
    with pytest.raises(Py2048Error, match="'cornr'; did you mean 'corner'"):
        MistakeKind.parse("cornr")


def test_boxes_end():
    """A right answer doubles the interval, up to the last box; a wrong one resets it to a day."""
    box = FIRST_BOX
    for _ in range(20):
        box = next_box(box, is_success=True)
    assert (box, interval(box).days) == (LAST_BOX, 64)
    assert [next_box(4, is_success=True), next_box(4, is_success=False)] == [5, FIRST_BOX]
    assert interval(FIRST_BOX).days == 1
