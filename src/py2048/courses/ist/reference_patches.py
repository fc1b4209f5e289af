"""Right versions of the two data types, as code that is run beside a submission.

They stand in for a submission's own types where another task builds on them, and where a check
asks whether a program keeps to the operations. The code knows nothing of py2048: it runs where
py2048 cannot be imported. Functions find one another through the submission's module, so that
either type can be replaced alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py2048.courses.grading import SubmissionSession

_COORDINATE = """
def _replace_coordinates(module):
    def refuse(name):
        raise ValueError(name + ": invalid arguments")

    def is_index(value):
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 4

    def create_coordinate(row, column):
        if not (is_index(row) and is_index(column)):
            refuse("create_coordinate")
        return {make}

    def coordinate_row(c):
        return int(c[{row}])

    def coordinate_col(c):
        return int(c[{column}])

    def is_coordinate(thing):
        return {recognise}

    def coordinates_equal(c1, c2):
        return c1 == c2

    for function in (
        create_coordinate, coordinate_row, coordinate_col, is_coordinate, coordinates_equal
    ):
        setattr(module, function.__name__, function)

_replace_coordinates(project)
"""

COORDINATE = _COORDINATE.format(
    make="(row, column)",
    row=0,
    column=1,
    recognise="isinstance(thing, tuple) and len(thing) == 2 and all(map(is_index, thing))",
)
"""Coordinates as pairs, which is what most programs choose."""

OTHER_COORDINATE = _COORDINATE.format(
    make='"r%dc%d" % (row, column)',
    row=1,
    column=3,
    recognise='isinstance(thing, str) and len(thing) == 4 and thing[0::2] == "rc"',
)
"""Coordinates as texts, which a program that keeps to the operations does not notice."""

BOARD = """
def _replace_boards(module):
    class Board:
        def __init__(self):
            self.values = [0] * 16
            self.points = 0

    def refuse(name):
        raise ValueError(name + ": invalid arguments")

    def is_integer(value):
        return isinstance(value, int) and not isinstance(value, bool)

    def place(c):
        return (module.coordinate_row(c) - 1) * 4 + module.coordinate_col(c) - 1

    def create_board(*ignored):
        return Board()

    def board_position(b, c):
        if not (is_board(b) and module.is_coordinate(c)):
            refuse("board_position")
        return b.values[place(c)]

    def board_score(b):
        return b.points

    def board_empty_positions(b):
        return [
            module.create_coordinate(n // 4 + 1, n % 4 + 1)
            for n, value in enumerate(b.values)
            if value == 0
        ]

    def board_fill_position(b, c, v):
        if not (is_board(b) and module.is_coordinate(c) and is_integer(v)):
            refuse("board_fill_position")
        b.values[place(c)] = v
        return b

    def board_update_score(b, v):
        if not (is_board(b) and is_integer(v) and v >= 0 and v % 4 == 0):
            refuse("board_update_score")
        b.points += v
        return b

    def lines(d):
        along = [[4 * i + j if d in "WE" else 4 * j + i for j in range(4)] for i in range(4)]
        return along if d in "WN" else [line[::-1] for line in along]

    def board_reduce(b, d):
        if not (is_board(b) and isinstance(d, str) and d in ("N", "S", "W", "E")):
            refuse("board_reduce")
        for line in lines(d):
            new, last = [], None
            for value in [b.values[n] for n in line if b.values[n]]:
                if value == last:
                    new[-1] += value
                    b.points += new[-1]
                    last = None
                else:
                    new.append(value)
                    last = value
            for n, value in zip(line, new + [0] * 4):
                b.values[n] = value
        return b

    def is_board(thing):
        return isinstance(thing, Board)

    def board_finished(b):
        pairs = [pair for d in "WN" for line in lines(d) for pair in zip(line, line[1:])]
        return all(b.values) and all(b.values[m] != b.values[n] for m, n in pairs)

    def boards_equal(b1, b2):
        return (b1.values, b1.points) == (b2.values, b2.points)

    def print_board(b):
        if not is_board(b):
            refuse("print_board")
        for n in range(0, 16, 4):
            print(" ".join("[ %d ]" % value for value in b.values[n : n + 4]))
        print("Score:", b.points)

    def copy_board(b):
        copy = Board()
        copy.values, copy.points = list(b.values), b.points
        return copy

    for function in (
        create_board, board_position, board_score, board_empty_positions, board_fill_position,
        board_update_score, board_reduce, is_board, board_finished, boards_equal, print_board,
        copy_board,
    ):
        setattr(module, function.__name__, function)

_replace_boards(project)
"""

_STEADY = """
def _steady(module, names):
    def become(b, new):
        if isinstance(b, list):
            b[:] = new
        elif isinstance(b, dict):
            b.update(new)
        else:
            vars(b).update(vars(new))

    def steady(theirs):
        def modifier(b, *rest):
            new = theirs(b, *rest)
            if new is not None and new is not b:
                become(b, new)
            return b
        return modifier

    for name in names:
        if hasattr(module, name):
            setattr(module, name, steady(getattr(module, name)))

_steady(project, {names!r})
"""
"""The submission's own modifiers, which then change their board and return it."""

_SCORED = """
def _scored(module):
    def board_update_score(b, v):
        first, second = module.create_coordinate(1, 1), module.create_coordinate(1, 2)
        if v:
            module.board_fill_position(b, first, v // 2)
            module.board_fill_position(b, second, v // 2)
            module.board_reduce(b, 'W')
            module.board_fill_position(b, first, 0)
        return b

    module.board_update_score = board_update_score

_scored(project)
"""
"""Points for an empty board, earned as in a game: by a merge of the submission's own."""

_READ = """
def _read(module):
    import contextlib, io, re

    def seen(b):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            module.print_board(b)
        return [int(number) for number in re.findall("-?[0-9]+", text.getvalue())]

    def board_position(b, c):
        return seen(b)[(module.coordinate_row(c) - 1) * 4 + module.coordinate_col(c) - 1]

    def board_score(b):
        return seen(b)[16]

    replaced = {{"board_position": board_position, "board_score": board_score}}
    for name in {names!r}:
        setattr(module, name, replaced[name])

_read(project)
"""
"""Accessors that read what the submission prints."""

_CREATED = """
def _created(module):
    def apart(b):
        if type(b) is list:
            return [apart(part) for part in b]
        if hasattr(b, "__dict__"):
            vars(b).update(apart(vars(b)))
        return {key: apart(part) for key, part in b.items()} if type(b) is dict else b

    def create_board(*ignored):
        try:
            return apart(theirs())
        except TypeError:
            return apart(theirs(0))

    theirs = module.create_board
    module.create_board = create_board

_created(project)
"""
"""The submission's own constructor, without an argument, and with rows that are not shared."""


def board_patches(*about: str) -> tuple[str, ...]:
    """Patches of single operations of a board, but never of those that a check is `about`.

    The submission chooses how a board is represented, so its operations are patched by means of its
    other operations.
    """
    modifiers = {"board_fill_position", "board_update_score", "board_reduce"} - {*about}
    accessors = {"board_position", "board_score"} - {*about}
    steady = _STEADY.format(names=sorted(modifiers))
    if "create_board" not in about:
        steady = _CREATED + steady
    scored = "" if "board_update_score" in about else _SCORED
    read = _READ.format(names=sorted(accessors))
    return (COORDINATE, steady, steady + scored, read, COORDINATE + steady + scored + read)


REQUEST_MOVE = """
def _replace_request_move(module):
    def request_move():
        while True:
            move = input("Pick a move (N, S, E, W): ")
            if move in ("N", "S", "E", "W"):
                return move
            print("Invalid move.")

    module.request_move = request_move

_replace_request_move(project)
"""


@contextmanager
def replacing(session: SubmissionSession, code: str) -> Iterator[None]:
    """Run `code`, which rebinds names of the submission's module, for the time of the block."""
    session.run(code)
    session.begin()
    try:
        yield
    finally:
        session.close()
