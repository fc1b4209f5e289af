"""2048 with a table of directions; group members 620012345 and 620054321."""

import random

import gui

grid = [[0 for column in range(4)] for row in range(4)]

UP = 1
DOWN = 2
RIGHT = 3
LEFT = 4
helper = {"count": 0, "Right": RIGHT, "Up": UP, "Left": LEFT, "Down": DOWN}
controls = ["<Right>", "<Left>", "<Up>", "<Down>"]
transition_value = 20

delta = {UP: (-1, 0), DOWN: (1, 0), RIGHT: (0, 1), LEFT: (0, -1)}


def empty_slots():
    return [(r, c) for r, line in enumerate(grid) for c, value in enumerate(line) if not value]


def random_position():
    return random.choice(empty_slots())


def add_random_number(board):
    helper["count"] += 1
    number = gui.random_number()
    row, column = random_position()
    gui.put(board, "Tile number %d" % helper["count"], number, row, column)
    grid[row][column] = number.value
    return row, column


def find_identifier(board, row, column):
    return {place: key for key, place in board.numbers.items()}.get((row, column))


def update_grid(row, column, direction):
    dr, dc = delta[direction]
    r, c = row + dr, column + dc
    if r in range(4) and c in range(4) and grid[r][c] in (0, grid[row][column]):
        grid[r][c], grid[row][column] = grid[r][c] + grid[row][column], 0
        return r, c
    return row, column


def animate_movement(board, key, horizontal, vertical, direction):
    def glide(left_over):
        part = min(left_over, transition_value)
        gui.move_tile(board, key, dc * part, dr * part)
        if left_over > transition_value:
            glide(left_over - part)

    dr, dc = delta[direction]
    glide(max(horizontal, vertical))
    return not merge(board, key)


def move(board, key, direction):
    while gui.move_number(board, key, direction, update_grid, animate_movement):
        pass


def sweep(board, direction, slots):
    for row, column in slots:
        key = find_identifier(board, row, column)
        if key:
            move(board, key, direction)


def move_all_down(board):
    sweep(board, DOWN, [(row, column) for column in range(4) for row in range(3, -1, -1)])


def move_all_up(board):
    sweep(board, UP, [(row, column) for column in range(4) for row in range(4)])


def move_all_right(board):
    sweep(board, RIGHT, [(row, column) for row in range(4) for column in range(3, -1, -1)])


def move_all_left(board):
    sweep(board, LEFT, [(row, column) for row in range(4) for column in range(4)])


mover = {"Up": move_all_up, "Down": move_all_down, "Right": move_all_right, "Left": move_all_left}


def move_all(board, event):
    mover[event.keysym](board)


def keyboard_callback(event, frame, board):
    unbind(frame)
    before = [tuple(line) for line in grid]
    move_all(board, event)
    if [tuple(line) for line in grid] != before:
        add_random_number(board)
    if not is_game_over(board):
        bind(frame, board)


def bind(frame, board):
    for control in controls:
        frame.bind(control, lambda event: keyboard_callback(event, frame, board))


def unbind(frame):
    for control in controls:
        frame.unbind(control)


def merge(board, key):
    place = board.numbers[key]
    for other in list(board.numbers):
        if other != key and board.numbers[other] == place:
            gui.remove_number(board, key)
            gui.remove_number(board, other)
            del board.numbers[key], board.numbers[other]
            number = gui.find_number(grid[place[0]][place[1]])
            board.score += number.value
            gui.update_score(board)
            return gui.put(board, other, number, *place)
    return False


def is_game_over(board):
    numbers = sum(grid, [])
    if 2048 in numbers:
        gui.game_over(board, True)
        return True
    for r in range(4):
        for c in range(4):
            right = grid[r][c + 1] if c < 3 else None
            below = grid[r + 1][c] if r < 3 else None
            if grid[r][c] in (0, right, below):
                return False
    gui.game_over(board, False)
    return True


if __name__ == "__main__":
    frame, board = gui.setup()
    add_random_number(board)
    add_random_number(board)
    bind(frame, board)
    gui.start(frame)
