# loses: 2
# a list as direction ends in a TypeError
# Group 13: boards that are functions
#
# coordinate: a string of two digits, the row and the column
# board: a function that understands messages; all boards are remembered in BOARDS
# A move that changes nothing is answered with "Invalid move.", as one may read the statement.
import random

BOARDS = []


def refuse(name):
    raise ValueError(f"{name}: invalid arguments")


def create_coordinate(r, c):
    for n in (r, c):
        if type(n) is not int or not 1 <= n <= 4:
            refuse("create_coordinate")
    return f"{r}{c}"


def coordinate_row(c):
    return int(c[0])


def coordinate_col(c):
    return int(c[1])


def is_coordinate(x):
    return isinstance(x, str) and len(x) == 2 and set(x) <= set("1234")


def coordinates_equal(c1, c2):
    return (coordinate_row(c1), coordinate_col(c1)) == (coordinate_row(c2), coordinate_col(c2))


def create_board(unused=0):
    rows = [[0 for _ in range(4)] for _ in range(4)]
    score = 0

    def board(message, *details):
        nonlocal rows, score
        if message == "rows":
            return [row[:] for row in rows]
        if message == "score":
            return score
        if message == "put":
            r, c, v = details
            rows[r - 1][c - 1] = v
        elif message == "become":
            rows = [list(row) for row in details[0]]
        elif message == "add":
            score += details[0]

    BOARDS.append(board)
    return board


def board_position(b, c):
    if not is_coordinate(c):
        refuse("board_position")
    return b("rows")[coordinate_row(c) - 1][coordinate_col(c) - 1]


def board_score(b):
    return b("score")


def board_empty_positions(b):
    return [c for c in positions() if board_position(b, c) == 0]


def positions():
    return [create_coordinate(r, c) for r in (1, 2, 3, 4) for c in (1, 2, 3, 4)]


def board_fill_position(b, c, v):
    if not (is_board(b) and is_coordinate(c) and type(v) is int):
        refuse("board_fill_position")
    b("put", coordinate_row(c), coordinate_col(c), v)
    return b


def board_update_score(b, v):
    if not (is_board(b) and type(v) is int and v in range(0, v + 1, 4)):
        refuse("board_update_score")
    b("add", v)
    return b


def transposed(rows):
    return list(zip(*rows))


def mirrored(rows):
    return [row[::-1] for row in rows]


def to_the_west(rows):
    """The rows after a move to the west, and its points."""
    result, points = [], 0
    for row in rows:
        row = [v for v in row if v]
        for i in range(len(row) - 1):
            if i < len(row) - 1 and row[i] == row[i + 1]:
                row[i] += row.pop(i + 1)
                points += row[i]
        result.append(row + [0] * (4 - len(row)))
    return result, points


TURNS = {
    "W": ([], []),
    "E": ([mirrored], [mirrored]),
    "N": ([transposed], [transposed]),
    "S": ([transposed, mirrored], [mirrored, transposed]),
}


def board_reduce(b, d):
    if not is_board(b) or d not in TURNS:
        refuse("board_reduce")
    rows = b("rows")
    there, back = TURNS[d]
    for turn in there:
        rows = turn(rows)
    rows, points = to_the_west(rows)
    for turn in back:
        rows = turn(rows)
    b("become", rows)
    return board_update_score(b, points)


def is_board(x):
    return any(x is board for board in BOARDS)


def board_finished(b):
    rows = b("rows")
    stuck = all(v != w for r in rows + transposed(rows) for v, w in zip(r, r[1:]))
    return stuck and not board_empty_positions(b)


def boards_equal(b1, b2):
    return b1("rows") == b2("rows") and b1("score") == b2("score")


def print_board(b):
    if not is_board(b):
        refuse("print_board")
    text = ""
    for row in b("rows"):
        text += " ".join("[ " + str(v) + " ]" for v in row) + "\n"
    print(text + "Score: " + str(b("score")))


def request_move():
    move = ""
    while move not in ("N", "S", "E", "W"):
        if move != "":
            print("Invalid move.")
        move = input("Pick a move (N, S, E, W): ") or " "
    return move


def fill_random_position(b):
    while True:
        c = create_coordinate(random.randint(1, 4), random.randint(1, 4))
        if board_position(b, c) == 0:
            return board_fill_position(b, c, random.choices([2, 4], [0.8, 0.2])[0])


def values(b):
    return [board_position(b, c) for c in positions()]


def game_2048():
    b = create_board()
    for _ in range(2):
        fill_random_position(b)
    while not board_finished(b):
        print_board(b)
        old = values(b)
        while True:
            board_reduce(b, request_move())
            if values(b) != old:
                break
            print("Invalid move.")
        fill_random_position(b)
    print_board(b)
