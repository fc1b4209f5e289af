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


# Task 2
def empty_slots():
    pass


# Task 3
def random_position():
    pass


# Task 4
def add_random_number(board):
    pass


# Task 5
def find_identifier(board, row, column):
    pass


# Task 6
def update_grid(row, column, direction):
    pass


# Tasks 7 and 19
def animate_movement(board, key, horizontal, vertical, direction):
    pass


# Task 8
def move(board, key, direction):
    pass


# Task 9
def move_all_down(board):
    pass


# Task 10
def move_all_up(board):
    pass


# Task 11
def move_all_right(board):
    pass


# Task 12
def move_all_left(board):
    pass


# Task 13
def move_all(board, event):
    pass


# Tasks 14 and 21
def keyboard_callback(event, frame, board):
    pass


# Task 15
def bind(frame, board):
    pass


# Task 16
def unbind(frame):
    pass


# Task 18
def merge(board, key):
    pass


# Task 20
def is_game_over(board):
    pass


if __name__ == "__main__":
    frame, board = gui.setup()

    # Task 17

    gui.start(frame)
