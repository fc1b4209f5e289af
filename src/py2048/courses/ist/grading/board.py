"""The board data type: 6 marks."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence

from py2048.board import Board
from py2048.courses.grading import Check, Example, Lines, Raises, SubmissionSession, Task
from py2048.courses.ist.grading.right_types import OTHER_COORDINATE, board_patches, replacing
from py2048.courses.ist.grading.words import ENGLISH, Words
from py2048.direction import Direction

Rows = Sequence[Sequence[int]]

DIRECTIONS = dict(zip("NSWE", Direction, strict=True))
EMPTY = ((0,) * 4,) * 4
STUCK = ((2, 4, 2, 4), (4, 2, 4, 2), (2, 4, 2, 4), (4, 2, 4, 2))
ROWS_OF_B = (
    "[[board_position(b, create_coordinate(r, c)) for c in (1, 2, 3, 4)] for r in (1, 2, 3, 4)]"
)


def build(rows: Rows = EMPTY, score: int = 0) -> str:
    """Return the lines that make a board `b` with these values and this score."""
    fills = [
        f"board_fill_position(b, create_coordinate({r}, {c}), {value})"
        for r, row in enumerate(rows, 1)
        for c, value in enumerate(row, 1)
        if value
    ]
    points = [f"board_update_score(b, {score})"] if score else []
    return "\n".join(["b = create_board()", *points, *fills])


def nested(rows: Rows) -> list[list[int]]:
    """Return `rows` as `ROWS_OF_B` gives them."""
    return [list(row) for row in rows]


def shown(rows: Rows, score: int) -> Lines:
    """Return what `print_board` prints; blanks at the ends of lines make no difference."""
    lines = [" ".join(f"[ {value} ]" for value in row) for row in rows]
    return Lines("\n".join([*lines, f"Score: {score}"]))


def refused(name: str, calls: Iterable[str]) -> list[Example]:
    """Return the examples that each of `calls` on an empty board is refused by `name`."""
    error = Raises("ValueError", f"{name}: invalid arguments")
    return [Example(call, error, given=build()) for call in calls]


def _row(*values: int) -> Rows:
    return (values, *EMPTY[1:])


def _boards() -> Iterator[Rows]:
    """Boards for the reductions: the known traps first, then random ones, sparse to full."""
    for values in (
        *((2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 0, 2), (2, 2, 0, 0), (2, 0, 0, 2), (0, 2, 0, 4)),
        *((2, 2, 2, 0), (2, 2, 2, 2), (2, 2, 4, 0), (4, 2, 2, 0), (4, 0, 2, 2), (2, 4, 2, 4)),
        *((4, 4, 8, 4), (8, 4, 4, 8), (2, 2, 4, 8), (1024, 1024, 2048, 0)),
    ):
        yield _row(*values)
        yield tuple((0, 0, value, 0) for value in values)
    # Equal lines, of which a program that looks a line up by its value moves only the first.
    yield ((0, 2, 2, 0), (0, 2, 2, 0), (4, 0, 0, 4), (0, 2, 2, 0))
    yield ((2, 2, 0, 0), (0, 0, 0, 0), (2, 2, 0, 0), (0, 0, 0, 0))
    yield STUCK
    numbers = random.Random(2014)
    for tiles in (2, 4, 6, 8, 10, 12, 14, 16, 16, 16):
        cells = [numbers.choice((2, 2, 4, 4, 8, 16)) for _ in range(tiles)] + [0] * (16 - tiles)
        numbers.shuffle(cells)
        yield tuple(tuple(cells[n : n + 4]) for n in range(0, 16, 4))


def _reductions() -> Iterator[tuple[Rows, str, Rows, int]]:
    """Boards, directions, and what comes of them: values and points."""
    for rows in _boards():
        for letter, direction in DIRECTIONS.items():
            slide = Board.from_rows(rows).slide(direction)
            yield rows, letter, slide.board.rows, slide.points


def _reduced_values() -> Iterator[Example]:
    for rows, letter, after, _ in _reductions():
        yield Example(
            f"board_reduce(b, '{letter}')", given=build(rows), then={ROWS_OF_B: nested(after)}
        )


def _reduced_results() -> Iterator[Example]:
    for rows, letter, _, points in _reductions():
        then = {"board_score(b)": points + 4}
        yield Example(f"board_reduce(b, '{letter}')", given=build(rows, 4), then=then)
    for letter in DIRECTIONS:
        yield Example(f"board_reduce(b, '{letter}') is b", True, given=build(_row(0, 2, 2, 0)))
    wrong = ("'n'", "''", "'NS'", "'X'", "None", "1", "'North'", "['N']", "('N',)", "'N '")
    yield from refused("board_reduce", [f"board_reduce(b, {thing})" for thing in wrong])


def _finished() -> Iterator[Example]:
    """Boards with what `board_finished` says of them; asking leaves the board as it is."""
    # One merge is left, in a column or in a row; in a corner; one cell is empty.
    column = ((2, 8, 2, 4), (8, 4, 8, 2), (2, 4, 2, 4), (4, 2, 4, 2))
    almost = [[list(row) for row in STUCK] for _ in range(4)]
    almost[0][0][0] = 4
    almost[1][3][3] = 4
    almost[2][1][1] = 0
    almost[3][2][3] = 2
    full = [rows for rows in _boards() if all(map(all, rows))]
    for rows in (
        EMPTY,
        _row(2, 0, 0, 0),
        _row(2, 2, 4, 8),
        STUCK,
        column,
        tuple(zip(*column, strict=True)),
        *almost,
        *full,
    ):
        filled = all(map(all, rows))
        finished = filled and not Board.from_rows(rows).legal_directions()
        unchanged = {ROWS_OF_B: nested(rows), "board_score(b)": 4}
        yield Example("board_finished(b)", finished, given=build(rows, 4), then=unchanged)


def _knows_coordinates_by_their_operations(
    session: SubmissionSession, words: Words = ENGLISH
) -> None:
    """Use the board with coordinates of another kind."""
    rows = ((2, 2, 0, 0), (0, 0, 0, 0), (0, 0, 0, 8), (0, 0, 0, 0))
    steps: tuple[tuple[str, object], ...] = (
        (build(rows), ...),
        ("board_position(b, create_coordinate(3, 4))", 8),
        ("len(board_empty_positions(b))", 13),
        ("coordinate_col(board_empty_positions(b)[0])", 3),
        ("board_score(board_reduce(b, 'E'))", 4),
        ("board_position(b, create_coordinate(1, 4))", 4),
    )
    with replacing(session, words(OTHER_COORDINATE)):
        session.shown.append("# coordinates are now made and read in another way")
        for code, expected in steps:
            session.expect(words(code), expected)
        session.expect(words("print_board(b)"))


_TWO_BOARDS = "b = create_board()\nother = create_board()\n"
_FILL_ONE = "board_fill_position(b, create_coordinate(1, 1), 2)"
_OTHERS = "board_position(other, create_coordinate(1, 1))"
_NO_COORDINATES = ("0", "None", "'x'", "(0, 1)", "(5, 5)", "[1, 1]", "(1.5, 2)")
_NO_VALUES = ("'2'", "2.0", "None", "[2]")
_NO_POINTS = ("2", "3", "-4", "-1", "4.0", "'4'", "None", "[4]")
_NO_BOARDS = ("'a'", "0", "None", "[]", "{}", "()", "(1, 2)", "True", "[[0] * 4] * 4")
_MIXED = ((2, 0, 0, 4), (0, 8, 0, 0), (0, 0, 16, 0), (32, 0, 0, 64))
_EMPTIES = "[(coordinate_row(c), coordinate_col(c)) for c in board_empty_positions(b)]"
_AT_2_3 = "board_position(b, create_coordinate(2, 3))"


def _empty_cells(rows: Rows) -> list[tuple[int, int]]:
    return [(row + 1, column + 1) for row, column in Board.from_rows(rows).empty_cells()]


_CREATE = Check(
    "create_board makes an empty board with score 0, a new one each time",
    [
        Example(ROWS_OF_B, nested(EMPTY), given=build()),
        Example("board_score(create_board())", 0),
        Example(_FILL_ONE, given=_TWO_BOARDS, then={_OTHERS: 0}),
        Example(_FILL_ONE, given=build(), then={ROWS_OF_B: nested(_row(2, 0, 0, 0))}),
    ],
    reference_patches=board_patches("create_board"),
)
_POSITION = Check(
    "board_position reads a value and refuses what is no coordinate",
    [
        Example(ROWS_OF_B, nested(_MIXED), given=build(_MIXED)),
        Example("board_position(create_board(), create_coordinate(2, 4))", 0),
        *refused("board_position", [f"board_position(b, {c})" for c in _NO_COORDINATES]),
    ],
    reference_patches=board_patches("board_position"),
)
_SCORE = Check(
    "board_score and board_update_score: points are a multiple of 4 that is not negative",
    [
        Example("board_score(board_update_score(b, 4))", 4, given=build()),
        Example("board_score(board_update_score(b, 0))", 8, given=build(score=8)),
        Example("board_score(board_update_score(b, 2048))", 2056, given=build(score=8)),
        Example("board_update_score(b, 4)", given=build(), then={"board_score(b)": 4}),
        Example("board_update_score(b, 4) is b", True, given=build()),
        *refused("board_update_score", [f"board_update_score(b, {v})" for v in _NO_POINTS]),
    ],
    reference_patches=board_patches("board_score", "board_update_score"),
)
_EMPTY_POSITIONS = Check(
    "board_empty_positions lists the empty positions row by row",
    [
        *(
            Example(_EMPTIES, _empty_cells(rows), given=build(rows))
            for rows in (EMPTY, _MIXED, _row(2, 4, 8, 16), STUCK)
        ),
        Example("create_coordinate(1, 2) in board_empty_positions(b)", True, given=build()),
    ],
    reference_patches=board_patches(),
)
_FILL = Check(
    "board_fill_position puts any integer at a coordinate and refuses other arguments",
    [
        Example("board_fill_position(b, create_coordinate(2, 3), 2)", given=build()),
        *(
            Example(
                f"board_fill_position(b, create_coordinate(2, 3), {value})",
                given=build(_MIXED),
                then={_AT_2_3: value},
            )
            for value in (2, 0, 3, -2, 131072)
        ),
        Example("board_fill_position(b, create_coordinate(2, 3), 2) is b", True, given=build()),
        *refused(
            "board_fill_position",
            [
                *(f"board_fill_position(b, {c}, 2)" for c in _NO_COORDINATES),
                *(f"board_fill_position(b, create_coordinate(1, 1), {v})" for v in _NO_VALUES),
            ],
        ),
    ],
    reference_patches=board_patches("board_fill_position"),
)
_IS_BOARD = Check(
    "is_board is True for boards and False for anything else",
    [
        Example("is_board(b)", True, given=build()),
        Example("is_board(b)", True, given=build(_MIXED, 8)),
        Example("is_board(b)", True, given=f"{build(_MIXED)}\nboard_reduce(b, 'N')"),
        Example("is_board(create_coordinate(1, 1))", False),
        *(Example(f"is_board({thing})", False) for thing in _NO_BOARDS),
    ],
    reference_patches=board_patches(),
)


def _as_other(lines: str) -> str:
    return lines.replace("b = ", "other = ").replace("(b,", "(other,")


_EQUAL = Check(
    "boards_equal compares the values and the score",
    [
        Example("boards_equal(b, other)", equal, given=f"{build(*one)}\n{_as_other(build(*two))}")
        for one, two, equal in (
            ((EMPTY, 0), (EMPTY, 0), True),
            ((EMPTY, 0), (EMPTY, 4), False),
            ((_row(2, 0, 0, 0), 0), (EMPTY, 0), False),
            ((_row(2, 0, 0, 0), 4), (_row(2, 0, 0, 0), 4), True),
            ((_row(2, 0, 0, 0), 0), (_row(0, 2, 0, 0), 0), False),
            ((_row(2, 0, 0, 0), 0), (_row(4, 0, 0, 0), 0), False),
            ((_MIXED, 4), (_MIXED, 4), True),
            ((_MIXED, 4), (_MIXED[::-1], 4), False),
        )
    ],
    reference_patches=board_patches(),
)
_PRINT = Check(
    "print_board prints the values and the score, and refuses what is no board",
    [
        *(
            Example("print_board(b)", None, given=build(rows, score), prints=shown(rows, score))
            for rows, score in ((EMPTY, 0), (_MIXED, 0), (_MIXED, 2096), (_row(2048, 0, 0, 0), 4))
        ),
        *refused("print_board", [f"print_board({thing})" for thing in ("'a'", "0", "None", "[]")]),
    ],
    reference_patches=board_patches(),
)


TASK = Task(
    id="2",
    title="Board ADT",
    asked=(
        "A board of 4x4 values with a score: create_board, board_position, board_score, "
        "board_empty_positions, board_fill_position, board_update_score, board_reduce, is_board, "
        "board_finished, boards_equal and print_board. The modifiers change their board and "
        "return it; wrong arguments raise a ValueError that names the function."
    ),
    marks=6,
    checks=(
        _CREATE,
        _POSITION,
        _SCORE,
        _EMPTY_POSITIONS,
        _FILL,
        Check(
            "board_reduce moves the tiles and merges each once",
            _reduced_values,
            reference_patches=board_patches("board_reduce"),
        ),
        Check(
            "board_reduce scores, changes and returns its board, and refuses other directions",
            _reduced_results,
            reference_patches=board_patches("board_reduce"),
        ),
        _IS_BOARD,
        Check(
            "board_finished is for full boards without a move, and only looks",
            _finished,
            reference_patches=board_patches(),
        ),
        _EQUAL,
        _PRINT,
        Check(
            "the board uses coordinates through their operations",
            run=_knows_coordinates_by_their_operations,
            reference_patches=board_patches()[1:-1],
        ),
    ),
)
