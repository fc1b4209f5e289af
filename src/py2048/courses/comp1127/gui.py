"""The window, the board and the tiles: the module by Shanice, a character in the assignment.

The module contains the eleven functions listed in Table 1 of the assignment. The module can be
imported without a display, and `setup` opens the window. The drawing functions do nothing on a
board without an open window, so any object with ``numbers`` and ``score`` works as a board.

Students receive this file together with ``gui_window.py`` and ``pictures.py``, so it must not
import py2048. The grader replaces ``gui_window.py`` with a version that draws nothing.

Table 1 contradicts itself in three places, which the module resolves as follows:

- `put` stores a tile in ``board.numbers`` under the given key. (The table's example passes "1" and
  finds "Tile number 1".)
- The score of a new board is 0. (The table's example shows 436.)
- `remove_number` erases the picture but does not change ``board.numbers``, because in problem 18
  the student removes the key.
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
"""Distance between neighbouring cells, in pixels."""

ROWS = COLUMNS = 4
WON = "Winner!!"
LOST = "Awww Better luck next time!"


class NumberTile:
    """A number tile."""

    def __init__(self, value: int) -> None:
        self.value = value

    @cached_property
    def image(self) -> Any:
        """The tile's picture: 126 by 126 pixels, with transparent corners."""
        return _window_module().draw_tile(self.value)


def _window_module() -> Any:
    """Import the module that draws the window, which requires tkinter."""
    if __package__:
        from py2048.courses.comp1127 import gui_window
    else:  # if copied to a student's folder
        import gui_window  # type: ignore[import-not-found, no-redef]
    return gui_window


_TILES = {2**rank: NumberTile(2**rank) for rank in range(1, 12)}

P = ParamSpec("P")
R = TypeVar("R")


def _with_aliases(**aliases: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function accept alternative parameter names, because the assignment varies them.

    With ``_with_aliases(game_board="board")``, the keyword ``game_board`` sets ``board``.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **named: P.kwargs) -> R:
            given = {aliases.get(name, name): value for name, value in named.items()}
            return function(*args, **given)  # type: ignore[arg-type]

        return wrapper

    return decorate


_with_board = _with_aliases(game_board="board")


def setup() -> tuple[WindowFrame, BoardFrame]:
    """Open the window, and return the window frame and an empty board.

    Raises:
        MissingExtraError: If Python has no tkinter.
        CourseError: If there is no display.
    """
    if not __package__:
        return _window_module().open_window()  # type: ignore[no-any-return]
    from py2048.courses.windows import opened

    return opened(lambda: _window_module().open_window())  # type: ignore[no-any-return]


@_with_aliases(game_frame="frame")
def start(frame: WindowFrame) -> None:
    """Show the game until the player closes the window."""
    frame.mainloop()


def random_number() -> NumberTile:
    """Return a random tile: a 2 or a 4, in the ratio 96 to 5."""
    return _TILES[random.choices((2, 4), weights=(96, 5))[0]]


@_with_board
def put(board: BoardFrame, key: str, number: NumberTile | None, row: int, column: int) -> bool:
    """Place a tile on a cell and store its position in ``board.numbers`` under `key`.

    Returns:
        False if the cell is outside the board or `number` is None, otherwise True.
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
    """Erase the picture of the tile `key`. Unknown keys are ignored."""
    if _has_window(board):
        board.erase_tile(key)


@_with_aliases(number="value")
def find_number(value: int) -> NumberTile | None:
    """Return the tile with a value (2, 4, 8 … 2048), or None for other values."""
    try:
        return _TILES.get(value)
    except TypeError:  # unhashable, such as a list
        return None


@_with_board
def move_number(
    board: BoardFrame,
    key: str,
    direction: int,
    update_grid: Callable[[int, int, int], tuple[int, int]],
    move_by_distance: Callable[[BoardFrame, str, int, int, int], bool],
) -> bool:
    """Move the tile `key` by one cell in `direction`, using two functions of the student's program.

    ``update_grid(row, column, direction)`` returns the tile's new cell. If the tile has moved,
    ``board.numbers`` is updated, and ``move_by_distance(board, key, horizontal, vertical,
    direction)`` animates the tile. The horizontal and vertical distances are in pixels and never
    negative.

    Returns:
        The result of `move_by_distance`, or False if no tile has moved.
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
    """Shift the picture of the tile `key` by a number of pixels.

    Positive distances go right and down, negative distances left and up.
    """
    if _has_window(board):
        board.shift_tile(key, horizontal, vertical)


@_with_board
def game_over(board: BoardFrame, winner: bool) -> None:
    """Tell the player that the game is won or, if `winner` is false, that it is lost."""
    if _has_window(board):
        board.show_message(WON if winner else LOST)


def _has_window(board: BoardFrame) -> bool:
    return not getattr(board, "closed", True)
