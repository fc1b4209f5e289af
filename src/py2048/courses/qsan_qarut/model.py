"""The model: one game on an N by N board, without anything that can be seen in a window.

The names are the document's. It draws its random numbers from NumPy's global generator, as the
document's own lines do, so ``numpy.random.seed`` makes a game repeatable.

Each arrow also writes the game to the command line: the score and the board after the move,
and the two announcements, that the game is won and that it is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from py2048.core.board import Rows, has_equal_neighbours, slide
from py2048.core.direction import Direction
from py2048.core.errors import CourseError

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIRECTIONS = {
    "l": Direction.LEFT,
    "r": Direction.RIGHT,
    "u": Direction.UP,
    "b": Direction.DOWN,
}
"""The document's letters for the moves ("b" is the bottom)."""

WINNING_NUMBER = 2048


Arrow = Callable[[object], None]
"""What answers an arrow key: it is given the event."""


class Game:
    """One game.

    Args:
        N: the number of rows, and of columns.

    Attributes:
        grid: the same N.
        score: the sum of all numbers on the board after the last move, 0 before the first.
        is_finished: whether the game is over: the board is full and nothing can merge.
        is_won: whether 2048 has been reached; play continues.
        board: the numbers, an int array of shape ``[grid, grid]``; 0 is an empty cell.

    Raises:
        CourseError: if `N` is not a whole number from 2.
    """

    board: NDArray[np.int_]

    def __init__(self, N: int) -> None:
        self.grid = _checked_size(N)
        self.restart()

    def restart(self) -> None:
        """Begin anew: no points, and one number on the board."""
        self.score = 0
        self.is_finished = False
        self.is_won = False
        self.set_board()

    def set_board(self) -> None:
        """Clear the board and put a number on a random cell."""
        self.board = np.zeros((self.grid, self.grid), dtype=int)
        self.add_num()

    def add_num(self) -> None:
        """Put 2 or 4, equally likely, on a random empty cell; do nothing if there is none."""
        if 0 in self.board:
            i, j = self.get_random_position()
            self.board[i][j] = np.random.choice([2, 4])

    def get_random_position(self) -> tuple[int, int]:
        """Return the row and column of an empty cell, all equally likely."""
        cells = np.argwhere(self.board == 0)
        row, column = cells[np.random.randint(len(cells))]
        return int(row), int(column)

    def make_move(self, move: str) -> None:
        """Move in the direction 'l', 'r', 'u' or 'b'; note the score, a win and the end.

        Raises:
            CourseError: if `move` is not one of the four letters.
        """
        self.stack(move)
        self.update_score()
        if WINNING_NUMBER in self.board:
            self.is_won = True
        self.is_finished = 0 not in self.board and not has_equal_neighbours(_rows(self.board))

    def stack(self, move: str) -> None:
        """Shift and merge all lines; if anything moved, add a number.

        Raises:
            CourseError: if `move` is not one of the four letters.
        """
        if move not in [*DIRECTIONS]:  # a list cannot be a key
            raise CourseError(f"move {move!r} is none of 'l', 'r', 'u' and 'b'")
        before = _rows(self.board)
        after, _ = slide(before, DIRECTIONS[move])
        if after != before:
            self.board[:] = after
            self.add_num()

    def update_score(self) -> None:
        """Make the score the sum of all numbers on the board."""
        self.score = int(self.board.sum())

    def show_model(self) -> None:
        """Write the score and the board to the command line."""
        _show(self)

    def left_arrow(self, event: object) -> None:
        """Answer the key ``<Left>``."""
        _answer(self, "l")

    def right_arrow(self, event: object) -> None:
        """Answer the key ``<Right>``."""
        _answer(self, "r")

    def up_arrow(self, event: object) -> None:
        """Answer the key ``<Up>``."""
        _answer(self, "u")

    def down_arrow(self, event: object) -> None:
        """Answer the key ``<Down>``."""
        _answer(self, "b")


def _answer(game: Game, move: str) -> None:
    """Move, and say on the command line what it did."""
    won_before, finished_before = game.is_won, game.is_finished
    game.make_move(move)
    _show(game)
    if game.is_won and not won_before:
        print(f"You won: {WINNING_NUMBER} is on the board! The game continues.\n")
    if game.is_finished and not finished_before:
        print(f"Game over. Your score is {game.score}.\n")


def _show(game: Game) -> None:
    print(f"Score: {game.score}\n{game.board}\n")


def _rows(board: NDArray[np.int_]) -> Rows:
    return tuple(map(tuple, board.tolist()))


def _checked_size(size: object) -> int:
    if not isinstance(size, int | np.integer) or size < 2:
        raise CourseError(
            f"N = {size!r} does not make a game: give a whole number from 2, such as 4"
        )
    return int(size)


class Model:
    """All data of the application: one `game` on an N by N board."""

    def __init__(self, N: int) -> None:
        self.game = Game(N)
