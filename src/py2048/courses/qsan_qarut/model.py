"""The model: a game on an N by N board, without a window.

All names are taken from the assignment. Random numbers come from NumPy's global generator, as in
the assignment's code, so ``numpy.random.seed`` makes a game repeatable.

Each arrow method also prints the score and the board after the move, and announces a win and the
end of the game.
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

DIRECTIONS = {"l": Direction.LEFT, "r": Direction.RIGHT, "u": Direction.UP, "b": Direction.DOWN}
"""Letters that the assignment uses for the moves, such as "b" for bottom."""

WINNING_NUMBER = 2048


Arrow = Callable[[object], None]
"""Callback for an arrow key, called with the key event."""


class Game:
    """A game.

    Args:
        N: Number of rows and columns.

    Attributes:
        grid: Number of rows and columns, which is `N`.
        score: Sum of all numbers on the board after the last move, and 0 before the first move.
        is_finished: Whether the game is over because the board is full and nothing can merge.
        is_won: Whether 2048 has been reached, after which play continues.
        board: The numbers, as an int array of shape ``[grid, grid]`` with 0 for empty cells.

    Raises:
        CourseError: If `N` is not a whole number of at least 2.
    """

    board: NDArray[np.int_]

    def __init__(self, N: int) -> None:
        self.grid = _checked_size(N)
        self.restart()

    def restart(self) -> None:
        """Start a new game."""
        self.score = 0
        self.is_finished = False
        self.is_won = False
        self.set_board()

    def set_board(self) -> None:
        """Clear the board, and put a number on a random cell."""
        self.board = np.zeros((self.grid, self.grid), dtype=int)
        self.add_num()

    def add_num(self) -> None:
        """Put a 2 or a 4, equally likely, on a random empty cell. Leave a full board unchanged."""
        if 0 in self.board:
            i, j = self.get_random_position()
            self.board[i][j] = np.random.choice([2, 4])

    def get_random_position(self) -> tuple[int, int]:
        """Return the row and column of a random empty cell."""
        cells = np.argwhere(self.board == 0)
        row, column = cells[np.random.randint(len(cells))]
        return int(row), int(column)

    def make_move(self, move: str) -> None:
        """Move, then update the score and check for a win and the end of the game.

        Args:
            move: 'l', 'r', 'u' or 'b'.

        Raises:
            CourseError: If `move` is not one of the four letters.
        """
        self.stack(move)
        self.update_score()
        if WINNING_NUMBER in self.board:
            self.is_won = True
        self.is_finished = 0 not in self.board and not has_equal_neighbours(_rows(self.board))

    def stack(self, move: str) -> None:
        """Slide and merge all lines, and add a number if the board has changed.

        Raises:
            CourseError: If `move` is not one of the four letters.
        """
        if move not in [*DIRECTIONS]:  # A dictionary lookup fails if `move` is unhashable.
            raise CourseError(f"move {move!r} is not valid: give 'l', 'r', 'u' or 'b'")
        before = _rows(self.board)
        after, _ = slide(before, DIRECTIONS[move])
        if after != before:
            self.board[:] = after
            self.add_num()

    def update_score(self) -> None:
        """Set the score to the sum of all numbers on the board."""
        self.score = int(self.board.sum())

    def show_model(self) -> None:
        """Print the score and the board."""
        _show(self)

    def left_arrow(self, event: object) -> None:
        """Handle the key ``<Left>``."""
        _handle_arrow(self, "l")

    def right_arrow(self, event: object) -> None:
        """Handle the key ``<Right>``."""
        _handle_arrow(self, "r")

    def up_arrow(self, event: object) -> None:
        """Handle the key ``<Up>``."""
        _handle_arrow(self, "u")

    def down_arrow(self, event: object) -> None:
        """Handle the key ``<Down>``."""
        _handle_arrow(self, "b")


def _handle_arrow(game: Game, move: str) -> None:
    """Move and print the result."""
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
        raise CourseError(f"N = {size!r} is not valid: give a whole number from 2, such as 4")
    return int(size)


class Model:
    """The application's data, which consists of a `game` on an N by N board."""

    def __init__(self, N: int) -> None:
        self.game = Game(N)
