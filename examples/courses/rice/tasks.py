"""The checks for each task; the task texts and marks are in starter/TASKS.md."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from py2048.core.board import slide_line
from py2048.core.direction import Direction
from py2048.courses.grading import (
    Check,
    Example,
    Grading,
    Satisfies,
    SubmissionSession,
    calling,
    read_sheet,
    right_versions,
)
from py2048.courses.grading.boards import Rows, random_rows, slid
from py2048.courses.grading.chance import Odds

from .right import offsets

SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")
METHODS = {name for name, part in vars(offsets.TwentyFortyEight).items() if callable(part)}
TILES = (0, 0, 2, 2, 4, 8)


def lent(*own: str) -> tuple[str, ...]:
    """Return correct versions of all methods that the task does not ask for.

    Methods that only call other methods come first, because they work with any representation.
    """
    methods = sorted(METHODS.difference(own))
    callers = [name for name in methods if not name.startswith(("get", "set", "__init"))]
    place = "game.TwentyFortyEight"
    return (
        right_versions(offsets, ["merge"], "game"),
        *(right_versions(offsets, names, "game", place=place) for names in (callers, methods)),
    )


def on(board: Rows, code: str, expected: object, seed: int = 0) -> Example:
    """Return an example with a game that has these rows."""
    height, width = len(board), len(board[0])
    given = f"rows = {board}\ngame = TwentyFortyEight({height}, {width})\n"
    given += (
        f"for r in range({height}):\n    for c in range({width}): game.set_tile(r, c, rows[r][c])"
    )
    code = code.replace(
        "READ", f"[[game.get_tile(r, c) for c in range({width})] for r in range({height})]"
    )
    return Example(code, expected, given=given, seed=seed)


def boards(seed: str, values: tuple[int, ...] = TILES) -> Iterator[Rows]:
    """Yield boards of several sizes."""
    for number, size in enumerate([(2, 3), (3, 2), (4, 4), (5, 1), (1, 4), (4, 4)]):
        yield random_rows(f"{seed} {number}", values, *size)


def merges(seed: str) -> Iterator[Example]:
    """Yield lines that are easy to get wrong, and random lines."""
    draw = random.Random(seed)
    lines = [
        [2, 2, 4, 0],
        [4, 4, 4],
        [2, 2, 2, 2, 2],
        [0, 0, 8],
        [2, 0, 0, 2],
        [4, 2, 2],
        [2, 4],
        [],
    ]
    for line in lines + [draw.choices(TILES, k=draw.randrange(1, 8)) for _ in range(20)]:
        yield Example(f"merge({line})", list(slide_line(tuple(line)).line))


NEW_LINES = (
    Example("merge(line)", [4, 8, 0], given="line = [4, 0, 8]", then={"line": [4, 0, 8]}),
    Example("merged = merge(line)\nmerged, merged is line", ([4, 2], False), given="line = [4, 2]"),
)


def sizes(seed: str) -> Iterator[Example]:
    """Get the height and the width of boards."""
    for board in boards(seed):
        yield on(
            board, "game.get_grid_height(), game.get_grid_width()", (len(board), len(board[0]))
        )


def is_begun(board: list[list[int]]) -> bool:
    """Return whether a board of eight squares has two tiles, each a 2 or a 4."""
    tiles = sorted(chain(*board))
    return tiles[:6] == [0] * 6 and {*tiles[6:]} <= {2, 4}


BEGUN = Satisfies("two tiles, each a 2 or a 4, and zeros", is_begun)
BEGINNINGS = (
    Example(
        "[[game.get_tile(r, c) for c in range(4)] for r in range(2)]",
        BEGUN,
        given="game = TwentyFortyEight(2, 4)",
    ),
    on([[8] * 4, [16] * 4], "game.reset()\nREAD", BEGUN),
    on([[0] * 4] * 2, "game.reset()\nREAD", BEGUN, seed=1),
)


def texts(seed: str) -> Iterator[Example]:
    """Yield checks that ``str`` shows all tiles in order."""
    for board in boards(seed, (16, 32, 64, 128)):
        found = partial(re.search, r"\D+".join(str(tile) for row in board for tile in row))
        yield on(board, "str(game)", Satisfies(f"a text with {board}, row by row", found))


def draw_tiles(game_class: Any, times: int) -> list[Any]:
    """Collect new tiles on boards with three empty squares. Runs in the submission's process."""
    found = []
    for _ in range(times):
        game = game_class(2, 3)
        for cell in range(6):
            game.set_tile(cell // 3, cell % 3, 0 if cell in (0, 2, 4) else 8)
        game.new_tile()
        found.append([game.get_tile(cell // 3, cell % 3) for cell in (0, 2, 4, 1, 3, 5)])
    return found


def draws_tiles(session: SubmissionSession) -> None:
    """Check that one new tile in ten is a 4, and that all empty squares are equally likely."""
    four, squares = Odds(of=4), [Odds(of=4) for _ in range(3)]
    for seed in range(12):
        session.begin()
        session.expect(calling(draw_tiles, "TwentyFortyEight", "500", result="seen"), seed=seed)
        for tiles in session.value("seen"):
            new = tiles[:3]
            if tiles[3:] != [8, 8, 8] or sorted(new) not in ([0, 0, 2], [0, 0, 4]):
                session.fail(
                    "a 2 or a 4 in one of the first three of [0, 0, 0, 8, 8, 8]", str(tiles)
                )
            four.note(0.1, came=4 in new)
            for test, tile in zip(squares, new, strict=True):
                test.note(1 / 3, came=tile > 0)
        if four.wrong:
            session.fail("a 4 in 10 % of all cases", f"{four.seen} times in {500 * (seed + 1)}")
        if any(test.wrong for test in squares):
            session.fail("each square equally often", str([test.seen for test in squares]))
        if all(test.settled for test in [four, *squares]):
            return


def has_one_more(after: Rows, board: Rows) -> bool:
    """Return whether `board` is `after` plus one new tile."""
    pairs = zip(chain(*board), chain(*after), strict=True)
    return sorted(pair for pair in pairs if pair[0] != pair[1]) in ([(2, 0)], [(4, 0)])


def moves(seed: str) -> Iterator[Example]:
    """Yield boards of several sizes, in all directions."""
    for board in boards(seed):
        for direction in Direction:
            after = slid(board, direction)
            moved = Satisfies(f"{after} and one new tile", partial(has_one_more, after))
            code = f"game.move({direction.name})\nREAD"
            yield on(board, code, board if after == board else moved)


CHECKS = {
    "1": (Check("slides and merges", merges, weight=4), Check("returns a new list", NEW_LINES)),
    "2": (
        Check("height and width", sizes),
        Check("what is set", lambda seed: (on(b, "READ", b) for b in boards(seed)), weight=2),
    ),
    "3": (Check("begins with two tiles", BEGINNINGS),),
    "4": (Check("shows all tiles", texts),),
    "5": (Check("draws tiles", run=draws_tiles),),
    "6": (Check("moves", moves),),
}
PATCHES = {
    "2": lent("get_grid_height", "get_grid_width", "set_tile", "get_tile", "__init__"),
    "3": lent("reset", "__init__"),
    "4": lent("__str__"),
    "5": lent("new_tile"),
    "6": lent("move", "squares"),
}
GRADING = Grading(
    course="rice",
    module="game",
    files=("game.py", "poc_2048.py"),
    expects=("merge", "TwentyFortyEight"),
    tasks=tuple(
        SHEET.task(id_, *checks, patches=PATCHES.get(id_, ())) for id_, checks in CHECKS.items()
    ),
)
