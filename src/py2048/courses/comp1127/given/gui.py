"""The checker's `gui`: the same eleven functions on a plain canvas, and a memory.

This module replaces the gui.py of a submission that is checked. It imports
nothing but the standard library, because a submission can reach nothing else, and draws in a
real window, on a virtual display. It remembers what a program did:

- ``board.moves``: every ``move_tile`` as (key, horizontal, vertical)
- ``board.bound_while_moving``: the keys that were bound while tiles moved
- ``board.seen()``: the rows of numbers that a player sees
- ``board.score_seen``: the score that a player sees
- ``board.ended``: the `winner` of every ``game_over``
- ``frame.bound``: what is bound, by key

``setup(grid)`` opens a board with a tile for each number of a grid, whose keys are the
letters a to p, row by row.
"""

from __future__ import annotations

import random
import tkinter as tk
from collections.abc import Callable
from typing import Any

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
WON = "Winner!!"
LOST = "Awww Better luck next time!"


class NumberTile:
    """A number that can stand on the board."""

    def __init__(self, value: int) -> None:
        self.value = value
        self.image = f"the picture of {value}"


class GameFrame(tk.Tk):
    """The window frame; `bound` maps what is bound to its function."""

    def __init__(self) -> None:
        super().__init__()
        self.title("2048")
        self.bound: dict[str, Callable[[Any], object]] = {}

    def bind(self, sequence: Any = None, func: Any = None, add: Any = None) -> Any:
        """Bind a key and remember it."""
        if func is not None:
            self.bound[sequence] = func
        return super().bind(sequence, func, add)

    def unbind(self, sequence: str, funcid: str | None = None) -> None:
        """Unbind a key and forget it."""
        self.bound.pop(sequence, None)
        super().unbind(sequence, funcid)


class GameBoard(tk.Frame):
    """The board, drawn as plain squares."""

    def __init__(self, frame: GameFrame) -> None:
        super().__init__(frame)
        self.frame = frame
        self.numbers: dict[str, tuple[int, int]] = {}
        self.score = 0
        self.score_seen = 0
        self.moves: list[tuple[str, int, int]] = []
        self.bound_while_moving: set[str] = set()
        self.ended: list[bool] = []
        self._shown: dict[str, list[int]] = {}  # key: value, x, y
        self._items: dict[str, tuple[int, int]] = {}
        self.canvas = tk.Canvas(self, width=4 * CELL, height=4 * CELL + 80, bg="#bbada0")
        self.canvas.pack()
        self._text = self.canvas.create_text(2 * CELL, 4 * CELL + 40, text="Score: 0")

    def show(self, key: str, value: int, row: int, column: int) -> None:
        """Draw a tile, in place of an older one of the same key."""
        self.erase(key)
        x, y = column * CELL, row * CELL
        self._shown[key] = [value, x, y]
        self._items[key] = (
            self.canvas.create_rectangle(x + 5, y + 5, x + CELL - 5, y + CELL - 5, fill="#eee4da"),
            self.canvas.create_text(x + CELL // 2, y + CELL // 2, text=str(value)),
        )

    def erase(self, key: str) -> None:
        """Take a tile off the canvas."""
        if key in self._shown:
            del self._shown[key]
            for item in self._items.pop(key):
                self.canvas.delete(item)

    def shift(self, key: str, horizontal: int, vertical: int) -> None:
        """Move a tile on the canvas and note it."""
        self.moves.append((key, horizontal, vertical))
        self.bound_while_moving |= self.frame.bound.keys()
        if key in self._shown:
            self._shown[key][1] += horizontal
            self._shown[key][2] += vertical
            for item in self._items[key]:
                self.canvas.move(item, horizontal, vertical)
        self.canvas.update()

    def write(self, text: str) -> None:
        """Write below the cells."""
        self.canvas.itemconfigure(self._text, text=text)

    def seen(self) -> list[list[Any]]:
        """Return what stands on each cell: 0, a number, or a list of several numbers."""
        cells: list[list[list[int]]] = [[[] for _ in range(4)] for _ in range(4)]
        for value, x, y in self._shown.values():
            row, column = round(y / CELL), round(x / CELL)
            if 0 <= row < 4 and 0 <= column < 4:
                cells[row][column].append(value)
        return [
            [numbers[0] if len(numbers) == 1 else numbers or 0 for numbers in row] for row in cells
        ]


_frames: list[GameFrame] = []
_boards: list[GameBoard] = []


def setup(grid: list[list[int]] | None = None) -> tuple[GameFrame, GameBoard]:
    """Return the window, its keys unbound, with a new board."""
    if not _frames:
        _frames.append(GameFrame())
    frame = _frames[0]
    for key in list(frame.bound):
        frame.unbind(key)
    while _boards:
        _boards.pop().destroy()
    board = GameBoard(frame)
    board.pack()
    _boards.append(board)
    for cell, key in enumerate("abcdefghijklmnop" if grid else ""):
        put(board, key, find_number(grid[cell // 4][cell % 4]), cell // 4, cell % 4)  # type: ignore[index]
    return frame, board


def opened() -> tuple[GameFrame, GameBoard] | None:
    """Return what the last `setup` returned."""
    return (_frames[0], _boards[0]) if _boards else None


def start(frame: GameFrame) -> None:
    """Show the game until its window is closed."""
    frame.mainloop()


_numbers = {2**rank: NumberTile(2**rank) for rank in range(1, 12)}


def random_number() -> NumberTile:
    """Return a 2 or a 4, in the proportion 96 to 5."""
    return _numbers[random.choices((2, 4), weights=(96, 5))[0]]


def find_number(value: int) -> NumberTile | None:
    """Return the tile of 2, 4, 8 … 2048; None for any other number."""
    return _numbers.get(value)


def put(board: GameBoard, key: str, number: NumberTile | None, row: int, column: int) -> bool:
    """Place a tile; False for a cell outside the board or no tile at all."""
    if number is None or not (0 <= row < 4 and 0 <= column < 4):
        return False
    board.numbers[key] = (row, column)
    board.show(key, number.value, row, column)
    return True


def find_position(board: GameBoard, key: str) -> tuple[int, int] | None:
    """Return the (row, column) of a tile, or None."""
    return board.numbers.get(key)


def remove_number(board: GameBoard, key: str) -> None:
    """Take a tile off the window; ``board.numbers`` stays as it is."""
    board.erase(key)


def move_number(
    board: GameBoard,
    key: str,
    direction: int,
    update_grid: Callable[[int, int, int], tuple[int, int]],
    move_by_distance: Callable[[GameBoard, str, int, int, int], bool],
) -> bool:
    """Move a tile one cell with the program's own two functions."""
    if key not in board.numbers:
        return False
    row, column = board.numbers[key]
    new_row, new_column = update_grid(row, column, direction)
    if (new_row, new_column) == (row, column):
        return False
    board.numbers[key] = (new_row, new_column)
    horizontal, vertical = abs(new_column - column) * CELL, abs(new_row - row) * CELL
    return move_by_distance(board, key, horizontal, vertical, direction)


def update_score(board: GameBoard) -> None:
    """Show the value of ``board.score``."""
    board.score_seen = board.score
    board.write(f"Score: {board.score}")


def move_tile(board: GameBoard, key: str, horizontal: int, vertical: int) -> None:
    """Move the picture of a tile by pixels."""
    board.shift(key, horizontal, vertical)


def game_over(board: GameBoard, winner: bool) -> None:
    """Show that the game has ended."""
    board.ended.append(bool(winner))
    board.write(WON if winner else LOST)
