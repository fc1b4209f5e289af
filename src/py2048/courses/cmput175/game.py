"""2048 in the terminal, with the names of the CMPUT 175 assignment.

The document fixes every name, prompt and printed line here. The slide itself is the shared
engine's. The module also works copied into a folder of its own (``import game``).
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
    """The grid of a game and its score.

    Attributes:
        row: number of rows.
        col: number of columns.
        initial: number of tiles of 2 that the grid starts with.
        score: the sum of all merged tiles so far.
        emptiesSet: the numbers of the empty cells, ascending; cell (r, c) has number r * col + c.
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
        """Put `val` into the cell numbered `cell`."""
        row, column = divmod(cell, self.col)
        self._grid[row][column] = val

    def getCell(self, cell: int) -> int:
        """Return the value in the cell numbered `cell`."""
        row, column = divmod(cell, self.col)
        return self._grid[row][column]

    def assignRandCell(self, init: bool = False) -> None:
        """Put a tile into a random empty cell; do nothing if there is none.

        The tile is a 2 if `init`; otherwise it is a 4 once in four times. The draws are those of
        the document's code, in its order, so that a seeded game repeats.
        """
        # A cell that was filled behind the list's back is not empty: never overwrite a tile.
        empties = [cell for cell in self.emptiesSet if not self.getCell(cell)]
        if not empties:
            return
        cell = rnd.sample(empties, 1)[0]
        self.setCell(cell, 4 if not init and rnd.random() > 0.75 else 2)
        self.emptiesSet.remove(cell)

    def drawGrid(self) -> None:
        """Print the grid, each value centred in 5 columns and zeros blank, and an empty line."""
        for row in _rows(self):
            print("\t|" + "".join(str(value or " ").center(5) + "|" for value in row))
        print()

    def updateEmptiesSet(self) -> None:
        """Bring `emptiesSet` up to date with the grid."""
        self.emptiesSet = [cell for cell in range(self.row * self.col) if not self.getCell(cell)]

    def collapsible(self) -> bool:
        """Return whether the game can continue: a cell is empty or two equal tiles are adjacent.

        Only the grid counts, not `emptiesSet`, and nothing changes.
        """
        rows = _rows(self)
        return not all(chain(*rows)) or has_equal_neighbours(rows)

    def collapseRow(self, lst: list[int]) -> tuple[list[int], bool]:
        """Return `lst` collapsed to the left, and whether that changed it.

        The points of the merges are added to `score`; `lst` stays as it is.
        """
        slid = slide_line(tuple(lst))
        self.score += slid.points
        return list(slid.line), slid.line != tuple(lst)

    def collapseLeft(self) -> bool:
        """Collapse every row to the left; return whether any row changed."""
        return _collapse(self, Direction.LEFT)

    def collapseRight(self) -> bool:
        """Collapse every row to the right; return whether any row changed."""
        return _collapse(self, Direction.RIGHT)

    def collapseUp(self) -> bool:
        """Collapse every column upward; return whether any column changed."""
        return _collapse(self, Direction.UP)

    def collapseDown(self) -> bool:
        """Collapse every column downward; return whether any column changed."""
        return _collapse(self, Direction.DOWN)


def _collapse(grid: Grid, direction: Direction) -> bool:
    """Collapse every line in `direction`; return whether any changed."""
    collapsed = [grid.collapseRow(list(line)) for line in lines(_rows(grid), direction)]
    rows = from_lines(tuple(tuple(line) for line, _ in collapsed), direction)
    for cell, value in enumerate(chain(*rows)):
        grid.setCell(cell, value)
    # Refreshed here, because the document's own `Game` spawns directly after a collapse.
    grid.updateEmptiesSet()
    return any(changed for _, changed in collapsed)


def _rows(grid: Grid) -> Rows:
    """Return the values, row by row."""
    cells = [grid.getCell(cell) for cell in range(grid.row * grid.col)]
    return tuple(tuple(cells[r * grid.col : (r + 1) * grid.col]) for r in range(grid.row))


class Game:
    """A game in the terminal. It begins at once and returns when it is over or quit.

    Attributes:
        game: the `Grid` that is played on.
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
        """Ask for moves and make them until no move is left or the player quits."""
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
        """Show the grid and ask for a key until it is one of the five; end of input quits."""
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
    """Clear the terminal; do nothing where the output goes elsewhere or has no such command."""
    windows = sys.platform == "win32"
    if sys.stdout.isatty() and (windows or os.environ.get("TERM", "dumb") != "dumb"):
        sys.stdout.flush()
        os.system("cls" if windows else "clear")


def main() -> None:
    """Play a game on a 4x4 grid."""
    Game()
