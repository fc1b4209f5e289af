# loses: 3
# small letters are accepted
# Group 12: one class for each type
#
# A coordinate is a frozen object with a row and a column. A board is an object with a list of 16
# values, row by row, and its points. A move goes tile by tile, as the statement tells it.
from dataclasses import dataclass
from random import randint


@dataclass(frozen=True)
class Coordinate:
    row: int
    col: int

    def __repr__(self):
        return "({}, {})".format(self.row, self.col)


class Board:
    def __init__(self, values=None, points=0):
        self.values = values or [0] * 16
        self.points = points


def check(condition, function):
    if not condition:
        raise ValueError(function + ": invalid arguments")


def is_int(x):
    return isinstance(x, int) and not isinstance(x, bool)


def create_coordinate(r, c):
    check(is_int(r) and is_int(c) and 0 < r < 5 and 0 < c < 5, "create_coordinate")
    return Coordinate(r, c)


def coordinate_row(c):
    return c.row


def coordinate_col(c):
    return c.col


def is_coordinate(x):
    return isinstance(x, Coordinate)


def coordinates_equal(c1, c2):
    return c1 == c2


def index(c):
    return 4 * coordinate_row(c) + coordinate_col(c) - 5


def create_board(*arguments):
    return Board()


def board_position(b, c):
    check(is_board(b) and is_coordinate(c), "board_position")
    return b.values[index(c)]


def board_score(b):
    check(is_board(b), "board_score")
    return b.points


def board_empty_positions(b):
    return [create_coordinate(i // 4 + 1, i % 4 + 1) for i in range(16) if b.values[i] == 0]


def board_fill_position(b, c, v):
    check(is_board(b) and is_coordinate(c) and is_int(v), "board_fill_position")
    b.values[index(c)] = v
    return b


def board_update_score(b, v):
    check(is_board(b) and is_int(v) and v >= 0 and v % 4 == 0, "board_update_score")
    b.points = b.points + v
    return b


STEPS = {"N": -4, "S": 4, "W": -1, "E": 1}


def neighbour(i, d):
    """The index of the cell that lies beside cell i in direction d, or None at the wall."""
    on_wall = {"N": i < 4, "S": i >= 12, "W": i % 4 == 0, "E": i % 4 == 3}
    return None if on_wall[d] else i + STEPS[d]


def board_reduce(b, d):
    check(is_board(b) and isinstance(d, str) and d in STEPS, "board_reduce")
    order = range(16) if d in ("N", "W") else range(15, -1, -1)
    fresh = set()
    for i in order:
        while b.values[i]:
            j = neighbour(i, d)
            if j is None or b.values[j] not in (0, b.values[i]) or j in fresh:
                break
            if b.values[j] == b.values[i]:
                b.values[j] *= 2
                b.values[i] = 0
                b.points += b.values[j]
                fresh.add(j)
                break
            b.values[j] = b.values[i]
            b.values[i] = 0
            i = j
    return b


def is_board(x):
    return isinstance(x, Board)


def board_finished(b):
    if 0 in b.values:
        return False
    for i in range(16):
        for d in ("S", "E"):
            j = neighbour(i, d)
            if j is not None and b.values[i] == b.values[j]:
                return False
    return True


def boards_equal(b1, b2):
    return b1.values == b2.values and b1.points == b2.points


def print_board(b):
    check(is_board(b), "print_board")
    for i in range(0, 16, 4):
        print("[ {} ] [ {} ] [ {} ] [ {} ]".format(*b.values[i : i + 4]))
    print("Score: {}".format(b.points))


def request_move():
    while True:
        answer = input("Pick a move (N, S, E, W): ").upper()
        if answer in STEPS:
            return answer
        print("Invalid move.")


def picture(b):
    """The values of all positions, by the operations of the types."""
    return [board_position(b, create_coordinate(r, c)) for r in range(1, 5) for c in range(1, 5)]


def new_tile(b):
    places = board_empty_positions(b)
    place = places[randint(0, len(places) - 1)]
    return board_fill_position(b, place, 4 if randint(1, 5) == 5 else 2)


def game_2048():
    b = new_tile(new_tile(create_board()))
    over = False
    while not over:
        print_board(b)
        old = picture(b)
        b = board_reduce(b, request_move())
        if picture(b) != old:
            b = new_tile(b)
        over = board_finished(b)
    print_board(b)
