# COMP1127 Project 2048
# the moves as loops over rows and columns
from copy import deepcopy
from random import choice

import gui

grid = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
UP = 1
DOWN = 2
RIGHT = 3
LEFT = 4
helper = {"count": 0, "Right": RIGHT, "Up": UP, "Left": LEFT, "Down": DOWN}
controls = ["<Right>", "<Left>", "<Up>", "<Down>"]
transition_value = 20


def empty_slots():
    return [(i, j) for i in range(4) for j in range(4) if grid[i][j] == 0]


def random_position():
    return choice(empty_slots())


def add_random_number(board):
    helper["count"] += 1
    row, column = random_position()
    number = gui.random_number()
    grid[row][column] = number.value
    gui.put(board, "Tile number " + str(helper["count"]), number, row, column)
    return row, column


def find_identifier(board, row, column):
    for key, place in board.numbers.items():
        if place == (row, column):
            return key
    return None


def update_grid(row, column, direction):
    new_row, new_column = row, column
    if direction == UP:
        new_row = row - 1
    elif direction == DOWN:
        new_row = row + 1
    elif direction == RIGHT:
        new_column = column + 1
    elif direction == LEFT:
        new_column = column - 1
    if new_row < 0 or new_row > 3 or new_column < 0 or new_column > 3:
        return row, column
    if grid[new_row][new_column] == 0:
        grid[new_row][new_column] = grid[row][column]
    elif grid[new_row][new_column] == grid[row][column]:
        grid[new_row][new_column] *= 2
    else:
        return row, column
    grid[row][column] = 0
    return new_row, new_column


def animate_movement(board, key, horizontal, vertical, direction):
    distance = horizontal if direction in (LEFT, RIGHT) else vertical
    sign = 1 if direction in (RIGHT, DOWN) else -1
    last = distance < transition_value
    step = sign * (distance if last else transition_value)
    if direction in (LEFT, RIGHT):
        gui.move_tile(board, key, step, 0)
    else:
        gui.move_tile(board, key, 0, step)
    if last:
        if merge(board, key):
            return False
        return True
    rest = distance - transition_value
    return animate_movement(board, key, rest, rest, direction)


def move(board, key, direction):
    if gui.move_number(board, key, direction, update_grid, animate_movement):
        move(board, key, direction)


def move_all_down(board):
    for column in range(4):
        for row in [3, 2, 1, 0]:
            key = find_identifier(board, row, column)
            if key is not None:
                move(board, key, DOWN)


def move_all_up(board):
    for column in range(4):
        for row in [0, 1, 2, 3]:
            key = find_identifier(board, row, column)
            if key is not None:
                move(board, key, UP)


def move_all_right(board):
    for row in range(4):
        for column in [3, 2, 1, 0]:
            key = find_identifier(board, row, column)
            if key is not None:
                move(board, key, RIGHT)


def move_all_left(board):
    for row in range(4):
        for column in [0, 1, 2, 3]:
            key = find_identifier(board, row, column)
            if key is not None:
                move(board, key, LEFT)


def move_all(board, event):
    direction = helper[event.keysym]
    if direction == UP:
        move_all_up(board)
    elif direction == DOWN:
        move_all_down(board)
    elif direction == RIGHT:
        move_all_right(board)
    elif direction == LEFT:
        move_all_left(board)


def keyboard_callback(event, frame, board):
    unbind(frame)
    old = deepcopy(grid)
    move_all(board, event)
    if old != grid:
        add_random_number(board)
    if not is_game_over(board):
        bind(frame, board)


def bind(frame, board):
    list(map(lambda key: frame.bind(key, lambda event: keyboard_callback(event, frame, board)), controls))


def unbind(frame):
    list(map(lambda key: frame.unbind(key), controls))


def merge(board, key):
    row, column = gui.find_position(board, key)
    for other, place in board.numbers.items():
        if other != key and place == (row, column):
            board.numbers.pop(other)
            number = gui.find_number(grid[row][column])
            gui.remove_number(board, other)
            gui.remove_number(board, key)
            board.score += number.value
            gui.update_score(board)
            gui.put(board, key, number, row, column)
            return True
    return False


def is_game_over(board):
    if any(2048 in row for row in grid):
        gui.game_over(board, True)
        return True
    if empty_slots():
        return False
    for i in range(4):
        for j in range(4):
            if i < 3 and grid[i][j] == grid[i + 1][j]:
                return False
            if j < 3 and grid[i][j] == grid[i][j + 1]:
                return False
    gui.game_over(board, False)
    return True


if __name__ == "__main__":
    frame, board = gui.setup()
    add_random_number(board)
    add_random_number(board)
    bind(frame, board)
    gui.start(frame)
