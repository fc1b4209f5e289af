"""Kinds of mistakes, recognised from the board alone, and the schedule for practising them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from functools import cache

from py2048.core.board import Board, Slide
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error, unknown
from py2048.core.rules import Rules

MIN_TARGET = 128
"""Making this tile or a larger one counts as an ending; smaller tiles are made in passing."""

SHAPE = 4, 4
"""Only boards of this shape have formations."""


class MistakeKind(StrEnum):
    """Kind of mistake, as named in commands and files.

    The kinds use the vocabulary of 2048 players. If several apply, the first in this order
    is used.
    """

    CORNER = "corner"
    """The largest tile leaves its corner, where the best move would keep it."""
    ROW = "row"
    """A tile leaves the full line along the edge that holds the largest tile."""
    ENDING = "ending"
    """Large tiles are placed in an endgame formation, see `is_ending`."""
    MERGE = "merge"
    """The best move scores more points by merging."""
    SETUP = "setup"
    """The best move allows larger merges on the next move, before any new tile."""
    OTHER = "other"
    """Usually the best move leaves better cells for the next tiles."""

    @classmethod
    def parse(cls, text: str) -> MistakeKind:
        """Return the kind with this name.

        Raises:
            Py2048Error: There is no such kind.
        """
        if text not in set(map(str, cls)):
            raise Py2048Error(f"no theme is called {unknown(text, map(str, cls))}")
        return cls(text)


def mistake_kind(rules: Rules, board: Board, played: Direction, best: Direction) -> MistakeKind:
    """Return the kind of a mistake.

    Args:
        rules: Rules of the game.
        board: Board before the move.
        played: The legal direction that was played.
        best: A better legal direction.
    """
    wrong, right = (board.slide(direction, rules.merging) for direction in (played, best))
    if leaves_corner(board, wrong.board) and not leaves_corner(board, right.board):
        return MistakeKind.CORNER
    if breaks_row(board, wrong.board) and not breaks_row(board, right.board):
        return MistakeKind.ROW
    if is_ending(board):
        return MistakeKind.ENDING
    if right.points > wrong.points:
        return MistakeKind.MERGE
    return MistakeKind.SETUP if merges_of_two(right) > merges_of_two(wrong) else MistakeKind.OTHER


def leaves_corner(board: Board, after: Board) -> bool:
    """Return whether the largest tile leaves its corner.

    Merging it into a larger tile in the corner is fine.
    """
    largest = board.max_tile
    return _corner(board) == largest and _corner(after) < largest


def _corner(board: Board) -> int:
    """Return the largest tile in a corner."""
    return max(board.rows[row][column] for row in (0, -1) for column in (0, -1))


def breaks_row(board: Board, after: Board) -> bool:
    """Return whether a tile leaves the main line.

    The main line is the full row or column along an edge that holds the largest tile. If there are
    two, it is the one with the larger sum. Merges within the line, and tiles that join it, do not
    break it.
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
    """Yield the first and last rows and columns."""
    yield from (board.rows[0], board.rows[-1])
    for column in (0, -1):
        yield tuple(row[column] for row in board.rows)


def merges_of_two(slide: Slide) -> int:
    """Return the maximum points of a slide and the next one, without a new tile between them."""
    return slide.points + max(slide.board.slide(each, slide.merging).points for each in Direction)


def is_ending(board: Board) -> bool:
    """Return whether the board is in an endgame formation, with the next large tile in progress.

    The board's largest tiles must occupy a formation, in any symmetry. They are distinct, larger
    than all other tiles, and at least `MIN_TARGET`. The sum of the other tiles is at most
    the smallest large tile plus the formation's slack.
    """
    if board.shape != SHAPE:
        return False
    tiles = [tile for row in board.rows for tile in row]
    ordered = sorted(tiles, reverse=True)
    return any(
        _is_locked(tiles, ordered[:larges], locks)
        for larges, slack, locks in _formations()
        if (target := ordered[larges - 1]) >= MIN_TARGET
        and len(set(ordered[: larges + 1])) == larges + 1
        and sum(ordered[larges:]) <= target + slack
    )


def _is_locked(tiles: list[int], large: list[int], locks: frozenset[int]) -> bool:
    """Return whether large tiles occupy all cells of a lock."""
    mask = sum(1 << cell for cell, tile in enumerate(tiles) if tile in large)
    return any(mask & lock == lock for lock in locks)


@cache
def _formations() -> tuple[tuple[int, int, frozenset[int]], ...]:
    """Return the number of large tiles, the slack and the locks of each formation."""
    from py2048.players.solving.formations import image, list_formations  # imports NumPy

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
    """Return a mistake's box after an exercise, by the Leitner system.

    A correct answer moves it to the next box, a wrong answer back to the first. Each box is
    practised half as often as the one before. Source: S. Leitner, So lernt man lernen, 1972.
    """
    return min(box + 1, LAST_BOX) if is_success else FIRST_BOX


def interval(box: int) -> timedelta:
    """Return how long a mistake rests in a box: one day in the first, 64 in the last."""
    return timedelta(days=2 ** (box - FIRST_BOX))
