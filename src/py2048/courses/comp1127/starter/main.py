"""2048. Group members: (write your ID numbers here)."""

import gui

# The board's numbers; 0 is an empty slot (task 1)
grid = None

# The directions in which tiles move
UP = 1
DOWN = 2
RIGHT = 3
LEFT = 4

# "count" helps to number the tiles, the other entries give the direction of each arrow key
helper = {"count": 0, "Right": RIGHT, "Up": UP, "Left": LEFT, "Down": DOWN}

# The arrow keys, as the window binds them
controls = ["<Right>", "<Left>", "<Up>", "<Down>"]

# Pixels by which a tile moves at a time; a larger value makes the game faster
transition_value = 20


def empty_slots():
    """Task 2."""


def random_position():
    """Task 3."""


def add_random_number(board):
    """Task 4."""


def find_identifier(board, row, column):
    """Task 5."""


def update_grid(row, column, direction):
    """Task 6."""


def animate_movement(board, key, horizontal, vertical, direction):
    """Tasks 7 and 19."""


def move(board, key, direction):
    """Task 8."""


def move_all_down(board):
    """Task 9."""


def move_all_up(board):
    """Task 10."""


def move_all_right(board):
    """Task 11."""


def move_all_left(board):
    """Task 12."""


def move_all(board, event):
    """Task 13."""


def keyboard_callback(event, frame, board):
    """Tasks 14 and 21."""


def bind(frame, board):
    """Task 15."""


def unbind(frame):
    """Task 16."""


def merge(board, key):
    """Task 18."""


def is_game_over(board):
    """Task 20."""


if __name__ == "__main__":
    frame, board = gui.setup()

    # Task 17

    gui.start(frame)
