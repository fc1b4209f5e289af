"""The checks for each task; the task texts and marks are in starter/TASKS.md."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from py2048.courses.grading import (
    Check,
    Example,
    Grading,
    SubmissionSession,
    read_sheet,
    right_versions,
)
from py2048.courses.grading.boards import checkered, with_one_gap, with_one_pair
from py2048.courses.grading.chance import Odds

from .right import piece_by_piece

SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")
Board = list[list[str]]
PIECES = ("*", "*", "2", "2", "4", "8")


def as_pieces(rows: list[list[int]]) -> Board:
    """Convert a board of numbers to the strings that students use."""
    return [[str(tile or "*") for tile in row] for row in rows]


def boards(seed: str) -> Iterator[Board]:
    """Yield boards of several sizes."""
    draw = random.Random(seed)
    for size in (2, 3, 4, 4, 5):
        yield [draw.choices(PIECES, k=size) for _ in range(size)]


def on(board: Board, code: str, expected: object, after: Board | None = None) -> Example:
    """Return an example that turns `board` into `after`, or by default leaves it unchanged."""
    then = {"board": board if after is None else after}
    return Example(code, expected, given=f"board = {board}", then=then)


MADE = (
    *(Example(f"make_board({n})", [["*"] * n for _ in range(n)]) for n in (4, 1, 2, 7)),
    Example(
        "board",
        [["2", "*"], ["*", "*"]],
        given="board = make_board(2)\nboard[0][0] = '2'",
    ),
)


def on_and_off(size: int) -> Iterator[tuple[int, int, bool]]:
    """Yield positions on and around a board, and whether each is on the board."""
    for x in range(-1, size + 1):
        for y in range(-1, size + 1):
            yield x, y, 0 <= x < size and 0 <= y < size


def got(seed: str) -> Iterator[Example]:
    """Get the piece at every position on and around a board."""
    for board in boards(seed):
        for x, y, is_on in on_and_off(len(board)):
            yield on(board, f"get_piece({x}, {y}, board)", board[y][x] if is_on else None)


def placed(seed: str) -> Iterator[Example]:
    """Place a piece at every position on and around a board."""
    for board in boards(seed):
        for x, y, is_on in on_and_off(len(board)):
            after = [list(row) for row in board]
            if is_on:
                after[y][x] = "64"
            yield on(board, f"place_piece('64', {x}, {y}, board)", is_on, after)


FULL = (on([["2", "4"], ["4", "2"]], "place_random(board)", False),)
ODDS = {"2": 0.6, "4": 0.37, "8": 0.03}


def places_at_random(session: SubmissionSession) -> None:
    """Check how often each piece appears, and that all empty squares are equally likely."""
    tests = {piece: Odds(0.5 if piece == "8" else 0.2, of=7) for piece in ODDS}
    squares = {place: Odds(0.5, of=7) for place in ((0, 0), (1, 0), (1, 1), (2, 2))}
    board = [["*" if (x, y) in squares else "16" for x in range(3)] for y in range(3)]
    for seed in range(12):
        session.begin()
        session.expect(f"import copy\nseen, board = [], {board}")
        session.expect(
            "for _ in range(500):\n    seen.append(copy.deepcopy(board))\n"
            "    assert place_random(seen[-1]) is True",
            seed=seed,
        )
        for after in session.value("seen"):
            new = {
                (x, y): after[y][x]
                for x in range(3)
                for y in range(3)
                if after[y][x] != board[y][x]
            }
            if len(new) != 1 or not new.keys() <= squares.keys() or not {*new.values()} <= {*ODDS}:
                session.fail(f"one piece more on {board}", str(after))
            for piece, test in tests.items():
                test.note(ODDS[piece], came=piece in new.values())
            for place, test in squares.items():
                test.note(1 / 4, came=place in new)
        if any(test.wrong for test in [*tests.values(), *squares.values()]):
            counts = {piece: test.seen for piece, test in (tests | squares).items()}
            session.fail("60 % 2, 37 % 4, 3 % 8, each square equally often", str(counts))


def lost(seed: str) -> Iterator[Example]:
    """Yield boards without a legal move, and boards with a single gap or pair."""
    for size in (2, 3, 4):
        yield on(as_pieces(checkered(size, size)), "have_lost(board)", True)
        for rows in [*with_one_gap(size, size), *with_one_pair(size, size)]:
            yield on(as_pieces(rows), "have_lost(board)", False)
    for board in boards(seed):
        yield on([[*board[0][1:], "*"], *board[1:]], "have_lost(board)", False)


def packed(line: list[str]) -> list[str]:
    """Return a line after a swipe towards its beginning."""
    pieces: list[int] = []
    for piece in line:
        if piece != "*":
            pieces.append(int(piece))
            while len(pieces) > 1 and pieces[-1] == pieces[-2]:
                pieces.append(2 * pieces.pop() if pieces.pop() else 0)
    return [*map(str, pieces), *"*" * (len(line) - len(pieces))]


def swipes(seed: str) -> Iterator[Example]:
    """Yield examples of swipes. A fake `end_move` counts its calls."""
    traps = [["2", "2", "4", "8"], ["8", "4", "2", "2"], ["2", "2", "2", "2"], ["*", "2", "*", "4"]]
    for board in [traps, *boards(seed)]:
        columns = [list(column) for column in zip(*board, strict=True)]
        for word, lines, step in (
            *(("left", board, 1), ("right", board, -1)),
            *(("up", columns, 1), ("down", columns, -1)),
        ):
            after = [packed(line[::step])[::step] for line in lines]
            if lines is columns:
                after = [list(row) for row in zip(*after, strict=True)]
            given = f"import game\nends = []\ngame.end_move = ends.append\nboard = {board}"
            then = {"board": after, "len(ends)": int(after != board)}
            yield Example(f"swipe_{word}(board)", ..., given=given, then=then)


CHECKS = {
    "make_board": (Check("an empty board", MADE),),
    "get_piece": (Check("on the board and off it", got),),
    "place_piece": (Check("on the board and off it", placed),),
    "place_random": (
        Check("at random", run=places_at_random, weight=3),
        Check("a full board", FULL),
    ),
    "have_lost": (Check("lost or not", lost),),
    "swipe": (Check("all directions", swipes),),
}


def lent(own: str) -> tuple[str, ...]:
    """Return correct versions of the functions from the other tasks."""
    others = [name for name in CHECKS if name not in {own, "swipe"}]
    return (right_versions(piece_by_piece, others, "game"),)


GRADING = Grading(
    course="nifty2017",
    module="game",
    files=("game.py", "starter_2048.py"),
    expects=("make_board", "get_piece", "place_piece", "place_random", "have_lost", "swipe_left"),
    tasks=tuple(
        SHEET.task(number, *checks, patches=lent(name))
        for number, (name, checks) in zip(SHEET, CHECKS.items(), strict=True)
    ),
)
