# COMP1127 Project 2048
# loops and branches, the names of the document's examples, from gui import *
from gui import *
from random import randint

grid = [[0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 0, 0, 0]]

UP = 1
DOWN = 2
RIGHT = 3
LEFT = 4

helper = {"count": 0, "Right": 3, "Up": 1, "Left": 4, "Down": 2}

controls = ["<Right>", "<Left>", "<Up>", "<Down>"]

transition_value = 20

steps = {UP: (-1, 0), DOWN: (1, 0), RIGHT: (0, 1), LEFT: (0, -1)}


#Problem 2
def empty_slots():
    slots = []
    row = 0
    while row < 4:
        column = 0
        while column < 4:
            if grid[row][column] == 0:
                slots = slots + [(row, column)]
            column = column + 1
        row = row + 1
    return slots

#Problem 3
def random_slot():
    x = randint(0, 3)
    y = randint(0, 3)
    if (x, y) in empty_slots():
        return (x, y)
    else:
        return random_slot()

#Problem 4
def add_random_number(board):
    global grid
    slot = random_slot()
    number = random_number()
    helper["count"] = helper["count"] + 1
    key = "Tile number " + str(helper["count"])
    if put(board, key, number, slot[0], slot[1]) == True:
        grid[slot[0]][slot[1]] = number.value
    return slot

#Problem 5
def find_key(board, row, column):
    for key in board.numbers:
        if find_position(board, key) == (row, column):
            return key
    return None

#Problem 6
def update_grid(row, column, direction):
    next_row = row + steps[direction][0]
    next_column = column + steps[direction][1]
    if next_row < 0 or next_row > 3 or next_column < 0 or next_column > 3:
        return (row, column)
    if grid[next_row][next_column] == 0:
        grid[next_row][next_column] = grid[row][column]
    elif grid[next_row][next_column] == grid[row][column]:
        grid[next_row][next_column] = grid[next_row][next_column] * 2
    else:
        return (row, column)
    grid[row][column] = 0
    return (next_row, next_column)

#Problem 7 and 19
def animate_movement(board, key, horizontal, vertical, direction):
    down, right = steps[direction]
    distance = abs(right) * horizontal + abs(down) * vertical
    if distance < transition_value:
        move_tile(board, key, right * distance, down * distance)
        if merge(board, key):
            return False
        return True
    move_tile(board, key, right * transition_value, down * transition_value)
    return animate_movement(board, key, horizontal - abs(right) * transition_value, vertical - abs(down) * transition_value, direction)

#Problem 8
def move(board, key, direction):
    if move_number(board, key, direction, update_grid, animate_movement) == True:
        return move(board, key, direction)

#Problem 9
def move_all_down(board):
    for column in range(0, 4):
        for row in range(3, -1, -1):
            if grid[row][column] != 0:
                move(board, find_key(board, row, column), DOWN)

#Problem 10
def move_all_up(board):
    for column in range(0, 4):
        for row in range(0, 4):
            if grid[row][column] != 0:
                move(board, find_key(board, row, column), UP)

#Problem 11
def move_all_right(board):
    for row in range(0, 4):
        for column in range(3, -1, -1):
            if grid[row][column] != 0:
                move(board, find_key(board, row, column), RIGHT)

#Problem 12
def move_all_left(board):
    for row in range(0, 4):
        for column in range(0, 4):
            if grid[row][column] != 0:
                move(board, find_key(board, row, column), LEFT)

#Problem 13
def move_all(board, event):
    if event.keysym == "Right":
        move_all_right(board)
    if event.keysym == "Left":
        move_all_left(board)
    if event.keysym == "Up":
        move_all_up(board)
    if event.keysym == "Down":
        move_all_down(board)

#Problem 14 and 21
def keyboard_callback(event, frame, board):
    unbind(frame)
    old = []
    for row in grid:
        old.append(row[:])
    move_all(board, event)
    if old != grid:
        add_random_number(board)
    over = is_game_over(board)
    if over == False:
        bind(frame, board)

#Problem 15
def bind(frame, board):
    return list(map(lambda key: frame.bind(key, lambda event: keyboard_callback(event, frame, board)), controls))

#Problem 16
def unbind(frame):
    return list(map(lambda key: frame.unbind(key), controls))

#Problem 18
def merge(board, key):
    row, column = find_position(board, key)
    for k, v in board.numbers.items():
        if v == (row, column) and k != key:
            board.numbers.pop(k)
            remove_number(board, k)
            remove_number(board, key)
            number = find_number(grid[row][column])
            board.score = board.score + number.value
            update_score(board)
            put(board, key, number, row, column)
            return True
    return False

#Problem 20
def is_game_over(board):
    for row in grid:
        for number in row:
            if number == 2048:
                game_over(board, True)
                return True
    if len(empty_slots()) > 0:
        return False
    for row in range(0, 4):
        for column in range(0, 3):
            if grid[row][column] == grid[row][column+1]:
                return False
    for row in range(0, 3):
        for column in range(0, 4):
            if grid[row][column] == grid[row+1][column]:
                return False
    game_over(board, False)
    return True


def main():
    frame, board = setup()
    add_random_number(board)
    add_random_number(board)
    bind(frame, board)
    start(frame)

if __name__ == '__main__':
    main()
