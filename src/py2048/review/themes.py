"""Mistakes: of what kind a move is, seen on the board alone, and when it is practised again.

The themes are those that players of 2048 speak of. A mistake has one: the first in the order of
`Theme` whose definition it meets.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from functools import cache
from typing import Self

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error, unknown
from py2048.core.language import N_
from py2048.core.rules import Rules

MIN_TARGET = 128
"""The least tile whose making is called an ending: smaller ones are made in passing."""

SHAPE = 4, 4
"""The boards that have formations."""


class Theme(StrEnum):
    """What kind of mistake a move is; each value is what commands and files call it.

    Attributes:
        label: what people call it, to be translated.
        why: what makes the best move better, as half a sentence, to be translated.
    """

    label: str
    why: str

    def __new__(cls, value: str, label: str = "", why: str = "") -> Self:
        """Return a theme with its words."""
        theme = str.__new__(cls, value)
        theme._value_, theme.label, theme.why = value, label, why
        return theme

    CORNER = (
        *("corner", N_("corner left")),
        N_("the largest tile leaves its corner, and the best move keeps it there"),
    )
    ROW = (
        *("row", N_("row broken")),
        N_("the full line at the edge breaks up, and the best move keeps it together"),
    )
    """A tile leaves the full line at the edge that holds the largest tile."""
    ENDING = (
        *("ending", N_("ending")),
        N_("the large tiles are in place, and the best move gives the others the room they need"),
    )
    """Different large tiles stand in a formation of `py2048 tables`, and the rest of the board is
    played on to make the next one."""
    MERGE = "merge", N_("merge missed"), N_("the best move merges more")
    """Counted in points of merges."""
    SETUP = (
        *("setup", N_("merge not prepared")),
        N_("after the best move the next one can merge more"),
    )
    """Than after the move played, before any new tile."""
    OTHER = "other", N_("other"), N_("the best move leaves the next tiles a better place")
    """Mostly where the next tiles find room."""

    @classmethod
    def parse(cls, text: str) -> Theme:
        """Return the theme that `text` names.

        Raises:
            Py2048Error: if it names none.
        """
        if text not in set(map(str, cls)):
            raise Py2048Error(f"no theme is called {unknown(text, map(str, cls))}")
        return cls(text)


def theme_of(rules: Rules, board: Board, played: Direction, best: Direction) -> Theme:
    """Return the theme of a mistake.

    Args:
        rules: the rules of the game.
        board: the board before the move.
        played: the legal direction that was played.
        best: the legal direction that was better.
    """
    wrong, right = (board.slide(direction, rules.merging) for direction in (played, best))
    if leaves_corner(board, wrong.board) and not leaves_corner(board, right.board):
        return Theme.CORNER
    if breaks_row(board, wrong.board) and not breaks_row(board, right.board):
        return Theme.ROW
    if is_ending(board):
        return Theme.ENDING
    if right.points > wrong.points:
        return Theme.MERGE
    return Theme.SETUP if merges_of_two(right) > merges_of_two(wrong) else Theme.OTHER


def leaves_corner(board: Board, after: Board) -> bool:
    """Return whether the largest tile stands in a corner of `board`, and in none of `after`.

    A larger tile there, made of the largest one, is not a loss.
    """
    largest = board.max_tile
    return _corner(board) == largest and _corner(after) < largest


def _corner(board: Board) -> int:
    """Return the largest tile in a corner."""
    return max(board.rows[row][column] for row in (0, -1) for column in (0, -1))


def breaks_row(board: Board, after: Board) -> bool:
    """Return whether a tile of the main line of `board` is elsewhere in `after`.

    The main line is the full row or column at the edge that holds the largest tile; of two, the
    one with the larger sum. Merges within it and tiles that come to it do not break it.
    """
    full = [
        (sum(line), sum(line_after))
        for line, line_after in zip(_edges(board), _edges(after), strict=True)
        if all(line) and board.max_tile in line
    ]
    if not full:
        return False
    before, now = max(full)
    return now < before


def _edges(board: Board) -> Iterator[tuple[int, ...]]:
    """Yield the first and the last row and column."""
    yield from (board.rows[0], board.rows[-1])
    for column in (0, -1):
        yield tuple(row[column] for row in board.rows)


def merges_of_two(slide: Slide) -> int:
    """Return the most points of merges that a slide and one more make, without a new tile."""
    return slide.points + max(slide.board.slide(each, slide.merging).points for each in Direction)


def is_ending(board: Board) -> bool:
    """Return whether large tiles stand in a formation while the next one is made.

    There is a formation, in some symmetric image, of whose number of large tiles the board's
    largest ones are: all different, larger than every other tile, and none below `MIN_TARGET`.
    The other tiles sum to no more than the smallest large one and the formation's slack.
    """
    if board.shape != SHAPE:
        return False
    tiles = [tile for row in board.rows for tile in row]
    ordered = sorted(tiles, reverse=True)
    return any(
        _stand(tiles, ordered[:larges], locks)
        for larges, slack, locks in _formations()
        if (target := ordered[larges - 1]) >= MIN_TARGET
        and len(set(ordered[: larges + 1])) == larges + 1
        and sum(ordered[larges:]) <= target + slack
    )


def _stand(tiles: list[int], large: list[int], locks: frozenset[int]) -> bool:
    """Return whether large tiles stand on all cells that are locked together."""
    mask = sum(1 << cell for cell, tile in enumerate(tiles) if tile in large)
    return any(mask & lock == lock for lock in locks)


@cache
def _formations() -> tuple[tuple[int, int, frozenset[int]], ...]:
    """Return the number of large tiles, the slack and the locked cells of each formation."""
    from py2048.players.solving.formations import image, list_formations  # NumPy comes with it

    return tuple(
        (
            formation.larges,
            formation.slack,
            frozenset(image(lock, turn) for lock in formation.locks for turn in range(8)),
        )
        for formation in list_formations()
    )


# --- practice ------------------------------------------------------------------------------------

FIRST_BOX, LAST_BOX = 1, 7


def next_box(box: int, *, is_success: bool) -> int:
    """Return the box of a mistake after it was practised.

    It moves to the next box each time the answer is right and back to the first when it is wrong;
    each box is practised half as often as the one before it. Source: S. Leitner, So lernt man
    lernen, 1972.
    """
    return min(box + 1, LAST_BOX) if is_success else FIRST_BOX


def interval(box: int) -> timedelta:
    """Return how long a mistake stays in a box: a day in the first, 64 in the last."""
    return timedelta(days=2 ** (box - FIRST_BOX))
