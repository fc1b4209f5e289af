# loses: 2
# the board reads coordinates by index, past their operations
# Group 11: a dictionary of positions
# coordinate: a tuple (row, column)
# board: a dictionary with a value for each tuple, and the score under "score"
import random

MOVES = ["N", "S", "E", "W"]


def create_coordinate(r, c):
    if type(r) != int or type(c) != int or r not in range(1, 5) or c not in range(1, 5):
        raise ValueError("create_coordinate: invalid arguments")
    return (r, c)


def coordinate_row(c):
    return c[0]


def coordinate_col(c):
    return c[1]


def is_coordinate(x):
    if type(x) != tuple or len(x) != 2:
        return False
    return all(type(n) == int and 1 <= n <= 4 for n in x)


def coordinates_equal(c1, c2):
    return coordinate_row(c1) == coordinate_row(c2) and coordinate_col(c1) == coordinate_col(c2)


def key(c):
    return 10 * c[0] + c[1]


def create_board():
    b = {"score": 0}
    for r in range(1, 5):
        for c in range(1, 5):
            b[key(create_coordinate(r, c))] = 0
    return b


def board_position(b, c):
    if not is_coordinate(c):
        raise ValueError("board_position: invalid arguments")
    return b[key(c)]


def board_score(b):
    return b["score"]


def board_empty_positions(b):
    empty = []
    for r in range(1, 5):
        for c in range(1, 5):
            position = create_coordinate(r, c)
            if board_position(b, position) == 0:
                empty.append(position)
    return empty


def board_fill_position(b, c, v):
    if not is_board(b) or not is_coordinate(c) or type(v) != int:
        raise ValueError("board_fill_position: invalid arguments")
    b[key(c)] = v
    return b


def board_update_score(b, v):
    if not is_board(b) or type(v) != int or v < 0 or v % 4 != 0:
        raise ValueError("board_update_score: invalid arguments")
    b["score"] += v
    return b


def line_of(d, n):
    steps = [1, 2, 3, 4] if d in ["N", "W"] else [4, 3, 2, 1]
    if d in ["N", "S"]:
        return [create_coordinate(s, n) for s in steps]
    return [create_coordinate(n, s) for s in steps]


def board_reduce(b, d):
    if d not in MOVES:
        raise ValueError("board_reduce: invalid arguments")
    for n in range(1, 5):
        line = line_of(d, n)
        before = [board_position(b, c) for c in line]
        after = merged(before, b)
        for c, v in zip(line, after):
            board_fill_position(b, c, v)
    return b


def merged(values, b):
    values = [v for v in values if v != 0]
    result = []
    while values:
        first = values.pop(0)
        if values and values[0] == first:
            first += values.pop(0)
            board_update_score(b, first)
        result.append(first)
    return result + [0] * (4 - len(result))


def is_board(x):
    return type(x) == dict and len(x) == 17 and "score" in x


def board_finished(b):
    if board_empty_positions(b) != []:
        return False
    for d in MOVES:
        if not boards_equal(board_reduce(copy_board(b), d), b):
            return False
    return True


def boards_equal(b1, b2):
    return b1 == b2


def print_board(b):
    if not is_board(b):
        raise ValueError("print_board: invalid arguments")
    for r in range(1, 5):
        line = ""
        for c in range(1, 5):
            line += "[ " + str(board_position(b, create_coordinate(r, c))) + " ] "
        print(line)
    print("Score:", board_score(b))


def request_move():
    move = input("Pick a move (N, S, E, W): ")
    while move not in MOVES:
        print("Invalid move.")
        move = input("Pick a move (N, S, E, W): ")
    return move


def copy_board(b):
    copy = create_board()
    for r in range(1, 5):
        for c in range(1, 5):
            position = create_coordinate(r, c)
            board_fill_position(copy, position, board_position(b, position))
    return board_update_score(copy, board_score(b))


def fill_random_position(b):
    value = 2 if random.random() < 0.8 else 4
    return board_fill_position(b, random.choice(board_empty_positions(b)), value)


def game_2048():
    b = create_board()
    fill_random_position(b)
    fill_random_position(b)
    while not board_finished(b):
        print_board(b)
        before = copy_board(b)
        board_reduce(b, request_move())
        if not boards_equal(b, before):
            fill_random_position(b)
    print_board(b)


if __name__ == "__main__":
    game_2048()
