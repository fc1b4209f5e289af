"""Boards for the checks of the COMP1127 problems, and what should come of a move on them.

Tiles of examples have the letters a to p as keys, row by row. All that an example does can be
typed with the gui that students have; what a program asks of the window is noted by functions put
in place of gui's and the frame's.
"""

from __future__ import annotations

import random

from py2048.board import Board
from py2048.direction import Direction
from py2048.rules import Merging

Rows = list[list[int]]
Cell = tuple[int, int]

EMPTY: Rows = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
STUCK: Rows = [[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]]
STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "RIGHT": (0, 1), "LEFT": (0, -1)}
KEYS = {"UP": "Up", "DOWN": "Down", "RIGHT": "Right", "LEFT": "Left"}
SEQUENCES = ["<Down>", "<Left>", "<Right>", "<Up>"]
MOST_PUTS = 4  # tiles that are put on a board one by one
PUT_ALL = (
    "tiles = [gui.put(board, 'abcdefghijklmnop'[n], gui.find_number(main.grid[n // 4][n % 4]), "
    "n // 4, n % 4) for n in range(16)]"
)
MOVES = "moves = []\ngui.move_tile = lambda board, key, right, down: moves.append((right, down))"
MOVED = "moved = []\ngui.move_tile = lambda board, key, right, down: moved.append(key)"
ENDED = "ended = []\ngui.game_over = lambda board, winner: ended.append(bool(winner))"
KEYS_BOUND = (
    "keys = {}\n"
    "frame.bind = lambda key, function, *more: keys.update({key: function})\n"
    "frame.unbind = lambda key, *more: keys.pop(key, None)"
)
CELLS = [(row, column) for row in range(4) for column in range(4)]


def copy(rows: Rows) -> Rows:
    """A copy to write on."""
    return [list(row) for row in rows]


def with_tiles(tiles: dict[Cell, int], rows: Rows = EMPTY) -> Rows:
    """`rows` with some cells replaced."""
    rows = copy(rows)
    for (row, column), value in tiles.items():
        rows[row][column] = value
    return rows


def random_rows(seed: int, values: tuple[int, ...]) -> Rows:
    """A grid of these values, the same for the same seed."""
    draw = random.Random(seed)
    return [[draw.choice(values) for _ in range(4)] for _ in range(4)]


def unequal_rows(seed: int) -> Rows:
    """A grid in which no two numbers are equal, so that nothing can merge."""
    draw = random.Random(seed)
    values = [2**rank for rank in range(1, 12)] + [0] * 5
    draw.shuffle(values)
    return [values[at : at + 4] for at in (0, 4, 8, 12)]


def grid(rows: Rows) -> str:
    """Code that sets the student's grid."""
    return f"main.grid = {rows}"


def laid(rows: Rows, *notes: str) -> str:
    """Code that sets the grid, opens a board with its tiles, and takes notes."""
    puts = [
        f"gui.put(board, {letter(cell)!r}, gui.find_number({rows[cell[0]][cell[1]]}), "
        f"{cell[0]}, {cell[1]})"
        for cell in tiles_of(rows)
    ]
    if len(puts) > MOST_PUTS:
        puts = [PUT_ALL]
    return "\n".join([grid(rows), "frame, board = gui.setup()", *puts, *notes])


def event(direction: str) -> str:
    """Code for a key press as Tk reports it."""
    return f"SimpleNamespace(keysym={KEYS[direction]!r})"


def letter(cell: Cell) -> str:
    """The key that the checker's gui gives to the tile of a cell."""
    return "abcdefghijklmnop"[4 * cell[0] + cell[1]]


def slid(rows: Rows, direction: str) -> Rows:
    """The grid after a whole move, from the shared engine."""
    slide = Board.from_rows(rows).slide(Direction[direction], Merging.CASCADE)
    return [list(row) for row in slide.board.rows]


def tiles_of(rows: Rows) -> list[Cell]:
    """The cells that hold a number."""
    return [cell for cell in CELLS if rows[cell[0]][cell[1]]]


def stepped(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Where one value stands after one step, and the grid then (problem 6)."""
    (row, column), (down, right) = cell, STEPS[direction]
    target = (row + down, column + right)
    after = copy(rows)
    if target not in CELLS or rows[target[0]][target[1]] not in (0, rows[row][column]):
        return cell, after
    after[target[0]][target[1]] += rows[row][column]
    after[row][column] = 0
    return target, after


def far(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Where one tile stands when it has moved until it merged or could not go on (problem 8)."""
    while True:
        target, after = stepped(rows, cell, direction)
        merged = len(tiles_of(after)) < len(tiles_of(rows))
        if merged or target == cell:
            return target, after
        cell, rows = target, after
