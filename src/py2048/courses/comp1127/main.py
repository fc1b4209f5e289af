"""The reference solution: a grid of numbers, and a window with tiles that mirror the grid.

The functions are in the order of the assignment's problems, whose numbers are in the docstrings.
`grid` and all functions are looked up in the module at run time, so a grader can replace any of
them at any time.
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

# Problem 1. An empty slot contains 0.
grid = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

# The four directions
UP = 1
DOWN = 2
RIGHT = 3
LEFT = 4

# counts the tiles created so far, and maps each arrow key to its direction
helper = {"count": 0, "Right": RIGHT, "Up": UP, "Left": LEFT, "Down": DOWN}

# The arrow keys, as Tk names them
controls = ["<Right>", "<Left>", "<Up>", "<Down>"]

# Animation step, in pixels
transition_value = 20

# how one step in each direction changes the row and the column
steps = {UP: (-1, 0), DOWN: (1, 0), RIGHT: (0, 1), LEFT: (0, -1)}


def empty_slots() -> list[Cell]:
    """Return the (row, column) of every empty slot, row by row (problem 2)."""
    return [(row, column) for row in range(4) for column in range(4) if grid[row][column] == 0]


def random_position() -> Cell:
    """Return a randomly chosen empty slot (problem 3)."""
    return random.choice(empty_slots())


random_slot = random_position  # the name in the document's example


def add_random_number(board: BoardFrame) -> Cell:
    """Put a random number on a random empty slot, and return the slot (problem 4)."""
    helper["count"] += 1
    row, column = random_position()
    number = gui.random_number()
    grid[row][column] = number.value
    gui.put(board, f"Tile number {helper['count']}", number, row, column)
    return row, column


def find_identifier(board: BoardFrame, row: int, column: int) -> str | None:
    """Return the key of the tile on a slot, or None if the slot is empty (problem 5)."""
    for key, place in board.numbers.items():
        if place == (row, column):
            return key
    return None


find_key = find_identifier  # The assignment's main section uses this name.


def update_grid(row: int, column: int, direction: int) -> Cell:
    """Move the number in a slot one step in a direction (problem 6).

    The number moves to an empty slot, or merges with an equal number.

    Returns:
        The number's new slot, or its old slot if the number cannot move.
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
    """Move a tile in small steps, then merge the tile if possible (problems 7 and 19).

    The distances are in pixels and never negative.

    Returns:
        True if the tile may move further. False if the tile has merged, or if the key or the
        direction is unknown.
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
    """Move a tile slot by slot until the tile is blocked or has merged (problem 8)."""
    if gui.move_number(board, key, direction, update_grid, animate_movement):
        move(board, key, direction)


def move_all_down(board: BoardFrame) -> None:
    """Move all tiles down, column by column, starting with the lowest tile (problem 9)."""
    slots = [(row, column) for column in range(4) for row in (3, 2, 1, 0)]
    move_slots(board, slots, DOWN)


def move_all_up(board: BoardFrame) -> None:
    """Move all tiles up, column by column, starting with the highest tile (problem 10)."""
    slots = [(row, column) for column in range(4) for row in (0, 1, 2, 3)]
    move_slots(board, slots, UP)


def move_all_right(board: BoardFrame) -> None:
    """Move all tiles right, row by row, starting with the rightmost tile (problem 11)."""
    slots = [(row, column) for row in range(4) for column in (3, 2, 1, 0)]
    move_slots(board, slots, RIGHT)


def move_all_left(board: BoardFrame) -> None:
    """Move all tiles left, row by row and from left to right (problem 12)."""
    slots = [(row, column) for row in range(4) for column in (0, 1, 2, 3)]
    move_slots(board, slots, LEFT)


def move_slots(board: BoardFrame, slots: list[Cell], direction: int) -> None:
    """Move the tiles on the given slots in order. Empty slots are skipped."""
    for row, column in slots:
        key = find_identifier(board, row, column)
        if key is not None:
            move(board, key, direction)


def move_all(board: BoardFrame, event: Event) -> None:
    """Move all tiles in the direction of the pressed arrow key (problem 13)."""
    direction = helper.get(event.keysym)
    moves = {UP: move_all_up, DOWN: move_all_down, RIGHT: move_all_right, LEFT: move_all_left}
    if direction in moves:
        moves[direction](board)


def keyboard_callback(event: Event, frame: WindowFrame, board: BoardFrame) -> None:
    """Play a turn, and ignore keys pressed during the animation (problems 14 and 21)."""
    unbind(frame)
    before = deepcopy(grid)
    move_all(board, event)
    if grid != before:
        add_random_number(board)
    if not is_game_over(board):
        bind(frame, board)


def bind(frame: WindowFrame, board: BoardFrame) -> None:
    """Bind the arrow keys, so that each key plays a turn (problem 15)."""
    callback = lambda event: keyboard_callback(event, frame, board)  # noqa: E731
    # The problem requires `map`, which is lazy, so `list` makes it run.
    list(map(lambda control: frame.bind(control, callback), controls))  # noqa: C417


def unbind(frame: WindowFrame) -> None:
    """Disable the arrow keys (problem 16)."""
    list(map(lambda control: frame.unbind(control), controls))  # noqa: C417, PLW0108


def merge(board: BoardFrame, key: str) -> bool:
    """Merge the tile `key` with the other tile on its slot (problem 18).

    Returns False if there is no other tile on the slot.

    The grid already contains the merged number, which this function adds to the score.
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
    """Show a message if the game is won or lost, and return whether it is over (problem 20)."""
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
