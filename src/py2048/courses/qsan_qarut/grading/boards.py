"""Checks of the model: boards laid out, moves made, numbers counted."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from typing import Any

from py2048.board import Rows, slide
from py2048.courses._kit import Example, OneOf, Satisfies, Session
from py2048.direction import Direction

PRELUDE = "import numpy as np"
"""What every example of the model can use."""

DIRECTIONS = {
    "l": Direction.LEFT,
    "r": Direction.RIGHT,
    "u": Direction.UP,
    "b": Direction.DOWN,
}
ARROWS = {"l": "left", "r": "right", "u": "up", "b": "down"}
NOTHING_ADDED = "game.add_num = lambda: None"

TINY = (
    ((0, 2), (0, 0)),
    ((2, 2), (0, 0)),
    ((2, 2), (2, 2)),
    ((2, 4), (4, 2)),
    ((2, 0, 2), (0, 4, 4), (8, 8, 8)),
    ((4, 4, 8), (2, 2, 4), (16, 8, 8)),
    ((2, 2, 4, 8), (4, 2, 2, 0), (2, 0, 0, 2), (2, 2, 2, 2)),
    ((2, 0, 2, 4), (2, 0, 2, 4), (0, 0, 0, 2), (2, 0, 2, 4)),
    ((65536, 65536, 0, 0), (1024, 1024, 2048, 0), (0, 0, 0, 0), (4, 8, 8, 4)),
    ((2, 2, 2, 2, 2), (0, 2, 0, 2, 2), (4, 0, 4, 8, 8), (0, 0, 0, 0, 2), (8, 4, 2, 2, 4)),
)


def rows_as_code(rows: Rows) -> str:
    """Return the rows as a student writes them."""
    return str([list(row) for row in rows])


def laid(rows: str) -> str:
    """Return the lines that make a `game` with these rows."""
    return f"game = Model({len(ast.literal_eval(rows))}).game\ngame.board = np.array({rows})"


def turned(rows: Rows) -> Rows:
    """Return the rows as columns."""
    return tuple(zip(*rows, strict=True))


def with_one_more_at_most(rows: Rows) -> Satisfies:
    """Expect the numbers of `rows`; one further 2 or 4 on an empty cell does no harm."""
    wanted = [list(row) for row in rows]

    def holds(actual: Any) -> bool:
        pairs = [
            (want, have)
            for ours, theirs in zip(wanted, actual, strict=True)
            for want, have in zip(ours, theirs, strict=True)
        ]
        more = [have for want, have in pairs if want != have]
        fresh = [have for want, have in pairs if want == 0 and have in (2, 4)]
        return more == fresh and len(more) <= 1

    return Satisfies(str(wanted), holds)


def stacked(move: str) -> list[Example]:
    """Boards of all kinds, and what `stack` makes of them."""
    chance = random.Random(move)
    boards = [*TINY, *map(turned, TINY)]
    for size in (2, 3, 4, 4, 4, 5, 6):
        for values in ((0, 0, 2, 4), (0, 2, 2, 4, 8), (2, 4), (0, 2, 512, 131072)):
            line = range(size)
            boards.append(tuple(tuple(chance.choice(values) for _ in line) for _ in line))
    return [
        Example(
            f"game.stack({move!r})",
            given=f"{laid(rows_as_code(rows))}\n{NOTHING_ADDED}",
            then={"game.board.tolist()": with_one_more_at_most(slide(rows, DIRECTIONS[move])[0])},
        )
        for rows in boards
    ]


# --- the start and new numbers ---


def fresh_boards() -> Iterator[Example]:
    """Boards of several sizes just after the start."""
    for size in (2, 3, 4, 7):
        given = f"game = Game({size})"
        yield Example("game.board.shape", (size, size), given=given)
        yield Example("np.issubdtype(game.board.dtype, np.integer)", True, given=given)
        yield Example("int(np.count_nonzero(game.board))", 1, given=given)
        yield Example("int(game.board.sum())", OneOf(2, 4), given=given)


FULL_BOARD_CLEARED = Example(
    "game.set_board()",
    given="game = Game(3)\ngame.board = np.full((3, 3), 8)",
    then={"game.board.shape": (3, 3), "int(np.count_nonzero(game.board))": 1},
)

COUNT = "int(np.count_nonzero(game.board))"
FREE_CELL = "tuple(int(part) for part in game.get_random_position())"


def draws_every_free_cell(session: Session) -> None:
    """`get_random_position` gives each empty cell at some time, and never another."""
    for rows, free in (
        ("[[2, 4], [0, 2]]", {(1, 0)}),
        ("[[2, 0, 4], [0, 4, 2], [2, 8, 0]]", {(0, 1), (1, 0), (2, 2)}),
    ):
        session.begin()
        session.run(laid(rows))
        found = session.value(f"sorted({{{FREE_CELL} for _ in range(200)}})", seed=1)
        if set(map(tuple, found)) != free:
            session.fail(f"each of the empty cells {sorted(free)} at some time", str(found))


def adds_2_or_4(session: Session) -> None:
    """`add_num` puts 2 and 4 about equally often on empty cells, and changes no other."""
    session.begin()
    session.run(laid("[[8, 0], [0, 16]]"))
    session.run("def add():\n    game.board = np.array([[8, 0], [0, 16]])\n    game.add_num()")
    session.run("def added():\n    add()\n    return game.board.tolist()")
    boards = session.value("[added() for _ in range(600)]", seed=2)
    new = []
    for rows in boards:
        values = [rows[0][1], rows[1][0]]
        if [rows[0][0], rows[1][1]] != [8, 16] or min(values) != 0:
            session.fail("one number more, and the others untouched", str(rows))
        new.append(max(values))
    twos = new.count(2)
    if set(new) - {2, 4} or not 230 <= twos <= 370:
        session.fail("2 or 4, half of the time each", f"{twos} twos among 600: {sorted(set(new))}")


# The second, so that a method that does nothing fails.
FULL_STAYS = tuple(
    Example("game.add_num()", given=laid(rows), then={COUNT: 4})
    for rows in ("[[2, 4], [8, 16]]", "[[2, 4], [8, 0]]")
)


def grows(rows: str, move: str) -> str:
    """Return code for how much the sum of the board grows by a move."""
    return f"{laid(rows)}\ngame.stack({move!r})\nint(game.board.sum()) - {_sum(rows)}"


def _sum(rows: str) -> int:
    return sum(map(int, re.findall(r"\d+", rows)))


LONELY = "[[0, 0, 0], [0, 8, 0], [0, 0, 0]]"


def adds_after_each_move(session: Session) -> None:
    """A move that changed the board is followed by one new number, in every direction."""
    moved = 0
    for move in DIRECTIONS:
        session.begin()
        still = f"{laid(LONELY)}\n{NOTHING_ADDED}\ngame.stack({move!r})"
        if session.value(f"{still}\ngame.board.tolist() == {LONELY}"):
            continue  # another task asks whether the number slides
        moved += 1
        for seed in range(8):
            session.begin()
            session.expect(grows(LONELY, move), OneOf(2, 4), seed=seed)
    if not moved:
        session.fail("the number to move in some direction", "it never moves")


STILL = (
    ("[[2, 4], [0, 0]]", "lr"),
    ("[[2, 0], [4, 0]]", "ub"),
    ("[[0, 0, 0], [2, 4, 2], [4, 2, 4]]", "lr"),
    ("[[0, 2, 4], [0, 4, 2], [0, 2, 4]]", "ub"),
    ("[[2, 4], [8, 16]]", "lrub"),
)


def adds_nothing_else(session: Session) -> None:
    """A move that changed nothing is followed by no new number."""
    for rows, moves in STILL:
        for move in moves:
            session.begin()
            session.expect(grows(rows, move), 0)
    if not any(session.value(grows(LONELY, move)) for move in DIRECTIONS):
        session.fail("a new number after some other move", "there never is one")


# --- moves, score, end ---


def scored(move: str) -> list[Example]:
    """Moves, after which the score is the sum of the board, new numbers included."""
    moving = "[[0, 0, 0], [0, 8, 0], [0, 0, 0]]"
    still = {"l": "[[2, 0], [4, 0]]", "r": "[[0, 2], [0, 4]]"}
    still |= {"u": "[[2, 4], [0, 0]]", "b": "[[0, 0], [2, 4]]"}
    code = f"game.make_move({move!r})\nint(game.score) - int(game.board.sum())"
    return [
        Example(code, 0, given=laid(moving), then={"int(game.score) in (10, 12)": True}),
        Example(code, 0, given=laid(still[move]), then={"int(game.score)": 6}),
    ]


def made(move: str) -> Example:
    """`make_move` slides in the direction that its letter says."""
    after = slide(((0, 0, 0), (0, 8, 0), (0, 0, 0)), DIRECTIONS[move])[0]
    return Example(
        f"game.make_move({move!r})",
        given=f"{laid(LONELY)}\n{NOTHING_ADDED}",
        then={"game.board.tolist()": with_one_more_at_most(after)},
    )


def arrow(move: str, *, twice: bool = False) -> Example:
    """An arrow slides in its direction, however often it is pressed."""
    after = slide(((0, 0, 0), (0, 8, 0), (0, 0, 0)), DIRECTIONS[move])[0]
    call = f"game.{ARROWS[move]}_arrow(None)"
    return Example(
        "\n".join([call] * (1 + twice)),
        given=f"{laid(LONELY)}\n{NOTHING_ADDED}",
        then={"game.board.tolist()": with_one_more_at_most(after)},
    )


def writes_score_and_board(session: Session) -> None:
    """Each arrow writes the score and the board as they are after the move."""
    for move, name in ARROWS.items():
        session.begin()
        session.run(laid("[[64, 32, 0], [0, 16, 8], [4, 0, 128]]"))
        output = session.run(f"game.{name}_arrow(None)", seed=3).output
        rows = session.value("game.board.tolist()", show=False)
        score = session.value("int(game.score)", show=False)
        numbers = " ".join(re.findall(r"\d+", output))
        board = " ".join(str(number) for row in rows for number in row)
        if f" {board} " not in f" {numbers} ":
            session.fail(f"the board {rows} on the command line ({move})", repr(output))
        if str(score) not in numbers.split():
            session.fail(f"the score {score} on the command line ({move})", repr(output))


def flag(rows: str, name: str, expected: bool, arrow: str = "left") -> Example:
    """One arrow, and whether the game is won or finished afterwards."""
    then = {f"bool(game.{name})": expected}
    return Example(f"game.{arrow}_arrow(None)", given=laid(rows), then=then)


FINISHED = (
    flag("[[2, 4], [8, 16]]", "is_finished", True),
    flag("[[2, 4, 8], [16, 32, 64], [2, 4, 8]]", "is_finished", True),
    flag("[[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]", "is_finished", True),
)
FILLED_BY_THE_LAST_NUMBER = (
    Example(
        "game.left_arrow(None)",
        given=laid("[[0, 8], [16, 32]]"),
        then={"int(np.count_nonzero(game.board))": 4, "bool(game.is_finished)": True},
    ),
)
GOES_ON = (
    FINISHED[0],  # so that a method that does nothing fails
    flag("[[2, 4], [2, 8]]", "is_finished", False),
    flag("[[2, 4], [8, 4]]", "is_finished", False),
    flag("[[2, 4, 8], [16, 32, 64], [2, 128, 64]]", "is_finished", False),
    flag("[[8, 4, 2], [16, 32, 64], [8, 128, 128]]", "is_finished", False, "up"),
    flag("[[2, 2], [4, 8]]", "is_finished", False, "down"),
    flag("[[2, 0], [0, 0]]", "is_finished", False),
    flag("[[2, 0, 4], [8, 0, 16], [2, 0, 4]]", "is_finished", False),
)
WON = (
    flag("[[1024, 1024], [0, 0]]", "is_won", True),
    flag("[[1024, 0, 0], [0, 2048, 0], [0, 0, 2]]", "is_won", True),
    flag("[[512, 512], [0, 0]]", "is_won", False),
    flag("[[2, 4], [8, 16]]", "is_won", False),
)
PLAYS_ON = (
    Example(
        "game.left_arrow(None)\nbefore = game.board.tolist()\ngame.right_arrow(None)",
        given=f"{laid('[[1024, 1024], [0, 0]]')}\n{NOTHING_ADDED}",
        then={"bool(game.is_won)": True, "game.board.tolist() != before": True},
    ),
)


def _announced(session: Session, rows: str, words: str, what: str) -> None:
    session.begin()
    session.run(laid(rows))
    output = session.run("game.left_arrow(None)").output
    if not re.search(words, output, re.IGNORECASE):
        session.fail(f"the command line to say {what}", repr(output))


WON_WORDS = r"\bw[io]n|congrat|victor"
OVER_WORDS = r"over|lost|lose|finished|no more"


def announces(session: Session) -> None:
    """The end is said, and so is the win, but only once, and neither too early."""
    _keeps_quiet(session)
    _announced(session, "[[2, 4], [8, 16]]", OVER_WORDS, "that the game is over")
    _announced(session, "[[1024, 1024, 0], [0, 0, 0], [0, 0, 0]]", WON_WORDS, "that it is won")
    output = session.run("game.down_arrow(None)").output
    if re.search(WON_WORDS, output, re.IGNORECASE):
        session.fail("the win to be announced once", repr(output))


def _keeps_quiet(session: Session) -> None:
    session.begin()
    session.run(laid("[[2, 0, 0], [0, 4, 0], [0, 0, 0]]"))
    output = session.run("game.left_arrow(None)").output
    for words in (WON_WORDS, OVER_WORDS):
        if re.search(words, output, re.IGNORECASE):
            session.fail("no announcement yet", repr(output))
