"""The finished program: a grid of numbers, and the tiles that follow it on the window.

The order of the functions is that of the document's problems, whose numbers stand beside
them. Every function reads `grid` and calls the others through the module when it runs, so
that both may be replaced at any time.
"""

from __future__ import annotations

import random
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING

from py2048.courses.comp1127 import gui

if TYPE_CHECKING:
    import tkinter
    from typing import Any

    from py2048.courses.comp1127.gui_window import BoardFrame, WindowFrame

    Cell = tuple[int, int]
    Event = tkinter.Event[Any]

# Problem 1: 0 is an empty slot
grid = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

# The directions in which tiles move
UP = 1
DOWN = 2
RIGHT = 3
LEFT = 4

# How many tiles were made so far, and the direction of each arrow key
helper = {"count": 0, "Right": RIGHT, "Up": UP, "Left": LEFT, "Down": DOWN}

# The arrow keys, as a window binds them
controls = ["<Right>", "<Left>", "<Up>", "<Down>"]

# Pixels by which an animation moves a tile at a time
transition_value = 20

# Rows and columns that one step in each direction adds
steps = {UP: (-1, 0), DOWN: (1, 0), RIGHT: (0, 1), LEFT: (0, -1)}


def empty_slots() -> list[Cell]:
    """Return the (row, column) of every empty slot, row by row (problem 2)."""
    return [(row, column) for row in range(4) for column in range(4) if grid[row][column] == 0]


def random_position() -> Cell:
    """Return one of the empty slots, each as likely as the others (problem 3)."""
    return random.choice(empty_slots())


random_slot = random_position  # the document's example calls it so


def add_random_number(board: BoardFrame) -> Cell:
    """Put a random number on a random empty slot and return the slot (problem 4)."""
    helper["count"] += 1
    row, column = random_position()
    number = gui.random_number()
    grid[row][column] = number.value
    gui.put(board, f"Tile number {helper['count']}", number, row, column)
    return row, column


def find_identifier(board: BoardFrame, row: int, column: int) -> str | None:
    """Return the key of the tile on a slot, or None where there is none (problem 5)."""
    for key, place in board.numbers.items():
        if place == (row, column):
            return key
    return None


find_key = find_identifier  # the document's main section calls it so


def update_grid(row: int, column: int, direction: int) -> Cell:
    """Move the value of one slot a single step in the grid (problem 6).

    It moves into an empty slot and adds to an equal number. Returns the slot where it is
    afterwards: the new one, or the same one if it could not move.
    """
    down, right = steps.get(direction, (0, 0))
    new_row, new_column = row + down, column + right
    if (new_row, new_column) == (row, column) or not (0 <= new_row < 4 and 0 <= new_column < 4):
        return row, column
    if grid[new_row][new_column] not in (0, grid[row][column]):
        return row, column
    grid[new_row][new_column] += grid[row][column]
    grid[row][column] = 0
    return new_row, new_column


def animate_movement(
    board: BoardFrame, key: str, horizontal: int, vertical: int, direction: int
) -> bool:
    """Move a tile on the window in small steps, then merge it (problems 7 and 19).

    The distances are pixels without a sign. Returns whether the tile may move on: False if
    it merged, or if it could not be moved because the key or the direction is unknown.
    """
    if key not in board.numbers or direction not in steps:
        return False
    down, right = steps[direction]
    distance = horizontal if right else vertical
    if distance < transition_value:
        gui.move_tile(board, key, right * distance, down * distance)
        return not merge(board, key)
    gui.move_tile(board, key, right * transition_value, down * transition_value)
    left_over = distance - transition_value
    if right:
        return animate_movement(board, key, left_over, vertical, direction)
    return animate_movement(board, key, horizontal, left_over, direction)


def move(board: BoardFrame, key: str, direction: int) -> None:
    """Move a tile slot by slot until it can go no further or has merged (problem 8)."""
    if gui.move_number(board, key, direction, update_grid, animate_movement):
        move(board, key, direction)


def move_all_down(board: BoardFrame) -> None:
    """Move every tile down: column by column, the lowermost first (problem 9)."""
    for column in range(4):
        for row in (3, 2, 1, 0):
            move_slot(board, row, column, DOWN)


def move_all_up(board: BoardFrame) -> None:
    """Move every tile up: column by column, the uppermost first (problem 10)."""
    for column in range(4):
        for row in (0, 1, 2, 3):
            move_slot(board, row, column, UP)


def move_all_right(board: BoardFrame) -> None:
    """Move every tile to the right: row by row, the rightmost first (problem 11)."""
    for row in range(4):
        for column in (3, 2, 1, 0):
            move_slot(board, row, column, RIGHT)


def move_all_left(board: BoardFrame) -> None:
    """Move every tile to the left: row by row, the leftmost first (problem 12)."""
    for row in range(4):
        for column in (0, 1, 2, 3):
            move_slot(board, row, column, LEFT)


def move_slot(board: BoardFrame, row: int, column: int, direction: int) -> None:
    """Move the tile that stands on a slot, if there is one."""
    key = find_identifier(board, row, column)
    if key is not None:
        move(board, key, direction)


def move_all(board: BoardFrame, event: Event) -> None:
    """Move every tile in the direction of the arrow key that was pressed (problem 13)."""
    direction = helper.get(event.keysym)
    if direction == UP:
        move_all_up(board)
    elif direction == DOWN:
        move_all_down(board)
    elif direction == RIGHT:
        move_all_right(board)
    elif direction == LEFT:
        move_all_left(board)


def keyboard_callback(event: Event, frame: WindowFrame, board: BoardFrame) -> None:
    """Play one turn; keys pressed while tiles move are ignored (problems 14 and 21)."""
    unbind(frame)
    before = deepcopy(grid)
    move_all(board, event)
    if grid != before:
        add_random_number(board)
    if not is_game_over(board):
        bind(frame, board)


def bind(frame: WindowFrame, board: BoardFrame) -> None:
    """Let every arrow key play a turn (problem 15)."""
    callback = lambda event: keyboard_callback(event, frame, board)  # noqa: E731
    # map is what the problem asks for; by itself it only promises the work, list has it done.
    list(map(lambda control: frame.bind(control, callback), controls))  # noqa: C417


def unbind(frame: WindowFrame) -> None:
    """Let no arrow key do anything (problem 16)."""
    list(map(lambda control: frame.unbind(control), controls))  # noqa: C417, PLW0108


def merge(board: BoardFrame, key: str) -> bool:
    """Make one tile of two that stand on the same slot; False if there is one only (18).

    The grid already holds the sum, which is also added to the score.
    """
    place = gui.find_position(board, key)
    others = [other for other, slot in board.numbers.items() if slot == place and other != key]
    if place is None or not others:
        return False
    row, column = place
    value = grid[row][column]
    del board.numbers[others[0]]
    gui.remove_number(board, others[0])
    gui.remove_number(board, key)
    board.score += value
    gui.update_score(board)
    gui.put(board, key, gui.find_number(value), row, column)
    return True


def is_game_over(board: BoardFrame) -> bool:
    """Tell the player whether the game is won or lost; False if it continues (problem 20)."""
    winner = any(2048 in row for row in grid)
    if not winner and can_move():
        return False
    gui.game_over(board, winner)
    return True


def can_move() -> bool:
    """Return whether a slot is empty or two neighbours are equal."""
    columns = [list(column) for column in zip(*grid, strict=True)]
    return any(0 in line or any(a == b for a, b in pairwise(line)) for line in grid + columns)


if __name__ == "__main__":  # Problem 17
    frame, board = gui.setup()
    add_random_number(board)
    add_random_number(board)
    bind(frame, board)
    gui.start(frame)
