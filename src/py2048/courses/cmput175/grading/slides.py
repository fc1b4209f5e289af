"""Tasks 3, 4 and 5: whether, and how, lines and grids collapse. The shared engine is the judge."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from py2048.board import Board, slide_line
from py2048.courses._kit import Example, OneOf, Satisfies, Session
from py2048.courses.cmput175.grading.grids import TILES, Rows, grid_of, random_rows, tiles_of
from py2048.direction import Direction
from py2048.rules import Merging

STUCK: tuple[Rows, ...] = (
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    [[2, 8, 2, 4], [4, 2, 8, 2], [16, 8, 2, 4], [2, 4, 8, 2]],
)
MERGES: tuple[Rows, ...] = (
    [[2, 2, 4, 8], [4, 8, 2, 4], [2, 4, 8, 2], [8, 2, 4, 8]],
    [[2, 4, 8, 2], [2, 8, 4, 8], [4, 2, 8, 2], [8, 4, 2, 4]],
    [[2, 8, 2, 4], [4, 4, 8, 2], [2, 8, 2, 4], [4, 2, 4, 2]],
    [[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 4]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 8], [4, 2, 4, 8]],
)
ROOM: tuple[Rows, ...] = (
    [[0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 0]],
)
OTHER_STUCK: tuple[Rows, ...] = (
    [[2, 4], [4, 2]],
    [[2, 4, 2], [4, 2, 4]],
    [[2, 4], [4, 2], [2, 4]],
    [[2, 4, 2, 4, 2], [4, 2, 4, 2, 4], [2, 4, 2, 4, 2], [4, 2, 4, 2, 4], [2, 4, 2, 4, 2]],
)
OTHER_MERGES: tuple[Rows, ...] = (
    [[2, 2], [4, 8]],
    [[2, 4], [2, 8]],
    [[2, 4], [8, 8]],
    [[2, 8], [4, 8]],
    [[2, 4, 8], [4, 8, 8]],
    [[2, 4], [4, 8], [2, 8]],
    [[2, 4, 2, 4, 2], [4, 2, 4, 2, 4], [2, 4, 2, 4, 2], [4, 2, 4, 2, 8], [2, 4, 2, 4, 8]],
)
OTHER_ROOM: tuple[Rows, ...] = (
    [[0, 0], [0, 2]],
    [[2, 4], [4, 0]],
    [[0, 4, 2], [4, 2, 4]],
    [[2, 4, 2, 4, 2], [4, 2, 4, 2, 4], [2, 4, 2, 4, 2], [4, 2, 4, 2, 4], [2, 4, 2, 4, 0]],
)


def answers(boards: tuple[Rows, ...], expected: bool) -> tuple[Example, ...]:
    """`collapsible()` on each of the boards."""
    return tuple(Example("grid.collapsible()", expected, given=grid_of(b)) for b in boards)


OTHER_ANSWERS = (
    *answers(OTHER_ROOM, expected=True),
    *answers(OTHER_MERGES, expected=True),
    *answers(OTHER_STUCK, expected=False),
)
UNCHANGED = tuple(
    Example(
        "grid.collapsible()",
        OneOf(True, False),
        given=grid_of(rows),
        then={"grid._grid": rows, "grid.score": 0},
    )
    for rows in (*ROOM[:2], *MERGES[:3])
)
OWN_EYES = (
    Example(
        "grid.collapsible()",
        True,
        given=f"grid = Grid(4, 4, 0)\ngrid._grid = {ROOM[2]}\ngrid.emptiesSet = []",
    ),
    Example(
        "grid.collapsible()",
        False,
        given=f"grid = Grid(4, 4, 0)\ngrid._grid = {STUCK[0]}\ngrid.emptiesSet = [1]",
    ),
)

LINES: tuple[list[int], ...] = (
    [2, 0, 0, 0],
    [0, 0, 0, 2],
    [2, 0, 2, 0],
    [2, 2, 0, 0],
    [0, 0, 0, 0],
    [2, 2, 2, 0],
    [4, 2, 2, 0],
    [2, 2, 4, 0],
    [2, 0, 2, 2],
    [2, 0, 2, 4],
    [2, 8, 4, 4],
    [2, 2, 2, 2],
    [4, 4, 8, 4],
    [2, 4, 8, 16],
    [8, 8, 16, 8],
)
OTHER_LINES: tuple[list[int], ...] = (
    [0, 2],
    [2, 2],
    [2, 4],
    [0, 0, 0],
    [2, 0, 2],
    [2, 2, 2],
    [4, 2, 2],
    [2, 2, 4],
    [2, 2, 0, 2, 2],
    [2, 2, 2, 2, 2],
    [0, 0, 4, 0, 0, 4],
)


def lines(look: Callable[[list[int], list[int]], Example]) -> Callable[[], Iterator[Example]]:
    """Examples for lines of four: the chosen ones, then some at random."""

    def examples() -> Iterator[Example]:
        draw = random.Random(175)
        for line in (*LINES, *([draw.choice(TILES) for _ in range(4)] for _ in range(60))):
            yield look(line, collapsed(line))

    return examples


def collapsed(line: list[int]) -> list[int]:
    """The list collapsed to the left."""
    return list(slide_line(tuple(line), Merging.ONCE)[0])


def of_any_length() -> Iterator[Example]:
    """Lists of other lengths, with the flag."""
    for line in OTHER_LINES:
        after = collapsed(line)
        code = f"list(Grid(4, 4, 0).collapseRow({line}))"
        yield Example(code, [after, after != line])


def first(line: list[int], after: list[int]) -> Example:
    """The list that comes back."""
    return Example(f"Grid(4, 4, 0).collapseRow({line})[0]", after)


def second(line: list[int], after: list[int]) -> Example:
    """The flag that comes back."""
    return Example(f"Grid(4, 4, 0).collapseRow({line})[1]", line != after)


PAIR = (
    Example(
        "type(Grid(4, 4, 0).collapseRow([2, 0, 0, 0])).__name__",
        "tuple",
    ),
    Example("len(Grid(4, 4, 0).collapseRow([2, 2, 0, 0]))", 2),
)
KEPT = tuple(
    Example(
        "grid.collapseRow(line)",
        Satisfies("a list and a flag", lambda found: len(found) > 0),
        given=f"grid = Grid(4, 4, 0)\nline = {line}",
        then={"line": line},
    )
    for line in ([0, 0, 0, 2], [2, 2, 0, 0], [2, 0, 2, 4], [2, 4, 8, 16])
)


def scores(session: Session) -> None:
    """Merges add to the score, be it in collapseRow or in the methods that call it."""
    for line, points in (([2, 2, 0, 0], 4), ([2, 4, 0, 0], 0), ([4, 4, 2, 2], 12)):
        session.begin()
        session.run(f"grid = Grid(4, 4, 0)\ngrid.collapseRow({line})")
        if session.run("grid.score").value == points:
            continue
        session.begin()
        session.run(f"{grid_of([line, *[[0] * 4] * 3])}\ngrid.collapseLeft()")
        session.expect("grid.score", points)


BOARDS: tuple[Rows, ...] = (
    [[0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[2, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[2, 0, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]],
    [[0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 2], [0, 0, 0, 0]],
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [2, 2, 2, 0]],
    [[2, 0, 0, 2], [2, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]],
    [[2, 2, 4, 0], [2, 2, 4, 0], [0, 0, 0, 0], [2, 2, 4, 0]],
    [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]],
    [[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    STUCK[0],
    *(random_rows(seed, 4, 4) for seed in range(20)),
)
OTHER_BOARDS: tuple[Rows, ...] = (
    [[2, 2], [0, 0]],
    [[0, 0], [2, 2]],
    [[2, 0], [2, 0]],
    [[2, 4], [4, 2]],
    [[0, 2], [0, 2], [0, 2]],
    [[2, 2, 2], [2, 2, 2]],
    [[2, 2, 4], [2, 2, 4]],
    *(random_rows(seed, 2 + seed % 3, 2 + seed % 4) for seed in range(12)),
    *(random_rows(seed, 5, 5) for seed in range(2)),
)


def slide(rows: Rows, direction: Direction) -> Example:
    """What one direction makes of one board."""
    after = [list(row) for row in Board.from_rows(rows).slide(direction).board.rows]
    code = f"grid.collapse{direction.name.capitalize()}()\ngrid._grid"
    return Example(code, after, given=grid_of(rows), rank=tiles_of(rows))


def slides(direction: Direction) -> Callable[[], Iterator[Example]]:
    """What one direction makes of each board."""
    return lambda: (slide(rows, direction) for rows in BOARDS)


def other_slides() -> Iterator[Example]:
    """What every direction makes of boards that are larger, smaller or not square."""
    return (slide(rows, direction) for rows in OTHER_BOARDS for direction in Direction)


def flags() -> Iterator[Example]:
    """Whether each direction says that it changed each board."""
    for rows in BOARDS:
        for direction in Direction:
            yield Example(
                f"grid.collapse{direction.name.capitalize()}()",
                Board.from_rows(rows).slide(direction).changed,
                given=grid_of(rows),
                rank=tiles_of(rows),
            )
