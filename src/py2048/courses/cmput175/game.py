"""2048 in the terminal, the reference solution of the CMPUT 175 assignment.

All names, prompts and printed lines are those of the assignment. Tiles are moved by py2048's
engine. The module also works when copied to another folder (``import game``).
"""

from __future__ import annotations

import os
import random as rnd
import sys
from itertools import chain

from py2048.core.board import Rows, from_lines, has_equal_neighbours, lines, slide_line
from py2048.core.direction import Direction

_KEYS = {"w": "Up", "a": "Left", "s": "Down", "d": "Right"}
_QUIT = "p"


class Grid:
    """The grid of a game, with its score.

    Attributes:
        row: Number of rows.
        col: Number of columns.
        initial: Number of initial tiles.
        score: Sum of all tiles created by merges.
        emptiesSet: Numbers of the empty cells, in ascending order. Cell (r, c) has the number r *
            col + c.
    """

    def __init__(self, row: int = 4, col: int = 4, initial: int = 2) -> None:
        self.row = row
        self.col = col
        self.initial = initial
        self.score = 0
        self._grid = self.createGrid(row, col)
        self.emptiesSet = list(range(row * col))
        for _ in range(self.initial):
            self.assignRandCell(init=True)

    def createGrid(self, row: int, col: int) -> list[list[int]]:
        """Return `row` independent lists of `col` zeros."""
        return [[0] * col for _ in range(row)]

    def setCell(self, cell: int, val: int) -> None:
        """Set the value of the cell with number `cell`."""
        row, column = divmod(cell, self.col)
        self._grid[row][column] = val

    def getCell(self, cell: int) -> int:
        """Return the value of the cell with number `cell`."""
        row, column = divmod(cell, self.col)
        return self._grid[row][column]

    def assignRandCell(self, init: bool = False) -> None:
        """Put a tile on a random empty cell, if the grid has one.

        If `init` is true, the tile is always a 2; if not, it is a 4 with probability 1/4.
        Random numbers are drawn in the same order as in the assignment's code, so that seeded games
        are repeatable.
        """
        # `emptiesSet` may be out of date and contain occupied cells.
        empties = [cell for cell in self.emptiesSet if not self.getCell(cell)]
        if not empties:
            return
        cell = rnd.sample(empties, 1)[0]
        self.setCell(cell, 4 if not init and rnd.random() > 0.75 else 2)
        self.emptiesSet.remove(cell)

    def drawGrid(self) -> None:
        """Print the grid, then an empty line.

        Values are centred in 5 columns, and zeros are left blank.
        """
        for row in _rows(self):
            print("\t|" + "".join(str(value or " ").center(5) + "|" for value in row))
        print()

    def updateEmptiesSet(self) -> None:
        """Update `emptiesSet` from the grid."""
        self.emptiesSet = [cell for cell in range(self.row * self.col) if not self.getCell(cell)]

    def collapsible(self) -> bool:
        """Return whether a cell is empty or two adjacent tiles are equal.

        Ignores `emptiesSet` and changes nothing.
        """
        rows = _rows(self)
        return not all(chain(*rows)) or has_equal_neighbours(rows)

    def collapseRow(self, lst: list[int]) -> tuple[list[int], bool]:
        """Return `lst` collapsed to the left, and whether the list changed.

        Merges add to `score`. `lst` is not modified.
        """
        slid = slide_line(tuple(lst))
        self.score += slid.points
        return list(slid.line), slid.line != tuple(lst)

    def collapseLeft(self) -> bool:
        """Collapse every row to the left, and return whether any row changed."""
        return _collapse(self, Direction.LEFT)

    def collapseRight(self) -> bool:
        """Collapse every row to the right, and return whether any row changed."""
        return _collapse(self, Direction.RIGHT)

    def collapseUp(self) -> bool:
        """Collapse every column upward, and return whether any column changed."""
        return _collapse(self, Direction.UP)

    def collapseDown(self) -> bool:
        """Collapse every column downward, and return whether any column changed."""
        return _collapse(self, Direction.DOWN)


def _collapse(grid: Grid, direction: Direction) -> bool:
    """Collapse every line in `direction`, and return whether any line changed."""
    collapsed = [grid.collapseRow(list(line)) for line in lines(_rows(grid), direction)]
    rows = from_lines(tuple(tuple(line) for line, _ in collapsed), direction)
    for cell, value in enumerate(chain(*rows)):
        grid.setCell(cell, value)
    # The assignment's `Game` adds a tile right after a collapse, without updating `emptiesSet`.
    grid.updateEmptiesSet()
    return any(changed for _, changed in collapsed)


def _rows(grid: Grid) -> Rows:
    """Return the values, row by row."""
    cells = [grid.getCell(cell) for cell in range(grid.row * grid.col)]
    return tuple(tuple(cells[r * grid.col : (r + 1) * grid.col]) for r in range(grid.row))


class Game:
    """A game in the terminal. Creating the object plays the whole game.

    Attributes:
        game: The `Grid`.
    """

    def __init__(self, row: int = 4, col: int = 4, initial: int = 2) -> None:
        self.game = Grid(row, col, initial)
        self.play()

    def printPrompt(self) -> None:
        """Clear the screen and print the instructions, the grid and the score."""
        _clear_screen()
        print('Press "w", "a", "s", or "d" to move Up, Left, Down or Right respectively.')
        print('Enter "p" to quit. ')
        self._print_grid()

    def play(self) -> None:
        """Ask for moves and play them until no move is possible or the player quits."""
        while self.game.collapsible():
            key = self._ask()
            if key == _QUIT:
                return
            move = getattr(self.game, "collapse" + _KEYS[key])
            if move():
                self.game.assignRandCell()
        _clear_screen()
        print()
        self._print_grid()
        print("No more legal moves.")

    def _ask(self) -> str:
        """Show the grid, and ask for a key until a valid key is typed. The end of input quits."""
        key = ""
        while key not in (*_KEYS, _QUIT):
            self.printPrompt()
            try:
                key = input(" Enter a move: ")
            except EOFError:
                print()
                return _QUIT
        return key

    def _print_grid(self) -> None:
        self.game.drawGrid()
        print(" Score: " + str(self.game.score))


def _clear_screen() -> None:
    """Clear the screen if the output goes to a terminal that supports it."""
    windows = sys.platform == "win32"
    if sys.stdout.isatty() and (windows or os.environ.get("TERM", "dumb") != "dumb"):
        sys.stdout.flush()
        os.system("cls" if windows else "clear")


def main() -> None:
    """Play a game on a 4x4 grid."""
    Game()
