"""Shanice's module: the window, the board and the number tiles, as eleven functions.

This is Table 1 of the document. Importing the module needs no display and opens nothing;
`setup` opens the window. A board without a window, which is any object with ``numbers`` and
``score``, and a board whose window was closed are played on without drawing.

Students receive this very file, with ``gui_window.py`` and ``pictures.py``: no py2048 needs to be
there. The grader hands it to submissions with a ``gui_window.py`` of its own.

Where the table contradicts itself: a tile is stored in ``board.numbers`` under the key as
given (the table's example gives "1" and finds "Tile number 1"), a fresh board's score is 0
(its example shows 436), and `remove_number` takes the picture away but leaves
``board.numbers`` alone (problem 18 asks the student to do both).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from py2048.courses.comp1127.gui_window import BoardFrame, WindowFrame

__all__ = [
    "find_number",
    "find_position",
    "game_over",
    "move_number",
    "move_tile",
    "put",
    "random_number",
    "remove_number",
    "setup",
    "start",
    "update_score",
]

CELL = 140
"""Distance from one cell to the next, in pixels."""

ROWS = COLUMNS = 4
WON = "Winner!!"
LOST = "Awww Better luck next time!"


class NumberTile:
    """A number that can stand on the board."""

    def __init__(self, value: int) -> None:
        self.value = value

    @cached_property
    def image(self) -> Any:
        """The tile's picture, 126 pixels square with transparent corners."""
        return _screen().draw_tile(self.value)


def _screen() -> Any:
    """Return the module that opens the window and draws the tiles, which needs tkinter."""
    if __package__:
        from py2048.courses.comp1127 import gui_window
    else:  # beside a student's program
        import gui_window  # type: ignore[import-not-found, no-redef]
    return gui_window


_NUMBERS = {2**rank: NumberTile(2**rank) for rank in range(1, 12)}

P = ParamSpec("P")
R = TypeVar("R")


def _also(**ours: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let callers name parameters as the table does, too: ``_also(THEIRS="ours")``."""

    def taking_both(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **named: P.kwargs) -> R:
            given = {ours.get(name, name): value for name, value in named.items()}
            return function(*args, **given)  # type: ignore[arg-type]

        return called

    return taking_both


_with_board = _also(game_board="board")


def setup() -> tuple[WindowFrame, BoardFrame]:
    """Open the window; return the window frame and the empty board.

    Raises MissingExtraError where Python has no tkinter, and CourseError where there is no
    display to open a window on.
    """
    if not __package__:
        return _screen().open_window()  # type: ignore[no-any-return]
    from py2048.courses.windows import opened

    return opened(lambda: _screen().open_window())  # type: ignore[no-any-return]


@_also(game_frame="frame")
def start(frame: WindowFrame) -> None:
    """Show the game until its window is closed."""
    frame.mainloop()


def random_number() -> NumberTile:
    """Return the tile of a 2 or of a 4, in the proportion 96 to 5."""
    return _NUMBERS[random.choices((2, 4), weights=(96, 5))[0]]


@_with_board
def put(board: BoardFrame, key: str, number: NumberTile | None, row: int, column: int) -> bool:
    """Place a tile on a cell and remember its place in ``board.numbers`` under `key`.

    Returns False, and places nothing, for a cell outside the board or no tile at all
    (`find_number` has none above 2048).
    """
    if number is None or not (0 <= row < ROWS and 0 <= column < COLUMNS):
        return False
    board.numbers[key] = (row, column)
    if _has_window(board):
        board.show_tile(key, number, row, column)
    return True


@_with_board
def find_position(board: BoardFrame, key: str) -> tuple[int, int] | None:
    """Return the (row, column) of the tile `key`, or None if there is no such tile."""
    return board.numbers.get(key)


@_with_board
def remove_number(board: BoardFrame, key: str) -> None:
    """Take the picture of the tile `key` off the window; an unknown key changes nothing."""
    if _has_window(board):
        board.erase_tile(key)


@_also(number="value")
def find_number(value: int) -> NumberTile | None:
    """Return the tile of `value`, one of 2, 4, 8 … 2048; None for anything else."""
    try:
        return _NUMBERS.get(value)
    except TypeError:  # of what cannot be a key, such as a list
        return None


@_with_board
def move_number(
    board: BoardFrame,
    key: str,
    direction: int,
    update_grid: Callable[[int, int, int], tuple[int, int]],
    move_by_distance: Callable[[BoardFrame, str, int, int, int], bool],
) -> bool:
    """Move the tile `key` one cell in `direction`, with the program's own two functions.

    ``update_grid(row, column, direction)`` says where the tile comes to stand. If that is
    another cell, ``board.numbers`` follows, and the answer is that of
    ``move_by_distance(board, key, horizontal, vertical, direction)``, whose distances are
    pixels without a sign. False if the tile stays where it is, or does not exist.
    """
    place = find_position(board, key)
    if place is None:
        return False
    row, column = place
    new_row, new_column = update_grid(row, column, direction)
    if (new_row, new_column) == (row, column):
        return False
    board.numbers[key] = (new_row, new_column)
    horizontal, vertical = abs(new_column - column) * CELL, abs(new_row - row) * CELL
    return move_by_distance(board, key, horizontal, vertical, direction)


@_with_board
def update_score(board: BoardFrame) -> None:
    """Show the value of ``board.score`` below the board."""
    if _has_window(board):
        board.show_score()


@_with_board
def move_tile(board: BoardFrame, key: str, horizontal: int, vertical: int) -> None:
    """Move the picture of the tile `key` by pixels: to the right and downwards, or back."""
    if _has_window(board):
        board.shift_tile(key, horizontal, vertical)


@_with_board
def game_over(board: BoardFrame, winner: bool) -> None:
    """Show that the game has ended: won if `winner`, else lost."""
    if _has_window(board):
        board.show_message(WON if winner else LOST)


def _has_window(board: BoardFrame) -> bool:
    return not getattr(board, "closed", True)
