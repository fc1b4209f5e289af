"""The six tasks of the CMPUT 175 assignment, with their checks.

The assignment does not define marks, so each task is worth ten marks. Students receive `Game`,
`drawGrid` and `assignRandCell`, which therefore earn no marks.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

from py2048.core.board import Board, Slide, slide_line
from py2048.core.direction import Direction
from py2048.courses.cmput175 import game
from py2048.courses.grading import (
    Check,
    Example,
    Grading,
    OneOf,
    Satisfies,
    SubmissionSession,
    Task,
    calling,
    read_sheet,
    right_versions,
)
from py2048.courses.grading.boards import (
    EMPTY,
    FULL,
    LINES,
    OTHER_LINES,
    Rows,
    as_lists,
    checkered,
    lists,
    new_tiles,
    random_rows,
    slid,
    tiles_of,
    with_one_gap,
    with_one_pair,
    with_tiles,
)

TILES = (0, 0, 2, 2, 4, 8)


def grid_of(rows: Rows, empties: list[int] | None = None) -> str:
    """Return code that creates a `grid` with the given rows and list of empty cells."""
    size = f"{len(rows)}, {len(rows[0])}"
    listed = empty_cells(rows) if empties is None else empties
    return f"grid = Grid({size}, 0)\ngrid._grid = {rows}\ngrid.emptiesSet = {listed}"


def empty_cells(rows: Rows) -> list[int]:
    """Return the numbers of the empty cells, in order."""
    return [cell for cell, tile in enumerate(chain(*rows)) if not tile]


CREATED_OTHERS = (
    Example("Grid(4, 4, 0).createGrid(2, 3)", [[0, 0, 0], [0, 0, 0]]),
    Example("Grid(4, 4, 0).createGrid(1, 1)", [[0]]),
    Example("Grid(3, 5, 0)._grid", [[0] * 5] * 3),
)
INDEPENDENT_ROWS = Example(
    "rows[0][0] = 2\nrows",
    [[2, 0, 0, 0], *EMPTY[1:]],
    given="rows = Grid(4, 4, 0).createGrid(4, 4)",
)


def set_example(cell: int, val: int, rows: Rows) -> Example:
    """Call `setCell` once. Examples with few tiles run first."""
    after = with_tiles({divmod(cell, len(rows[0])): val}, rows)
    code = f"grid.setCell({cell}, {val})\ngrid._grid"
    return Example(code, after, given=grid_of(rows), rank=len(tiles_of(rows)))


def reads(rows: Rows) -> Iterator[Example]:
    """Read every cell of a grid."""
    for cell, tile in enumerate(chain(*rows)):
        yield Example(f"grid.getCell({cell})", tile, given=grid_of(rows))


def set_examples(seed: str) -> Iterator[Example]:
    """Yield examples that set cells of fixed and random grids."""
    yield from (set_example(1, 2, EMPTY), set_example(6, 8, EMPTY), set_example(15, 4, FULL))
    draw = random.Random(seed)
    for number in range(4):
        rows = random_rows(f"{seed} set {number}", TILES)
        yield set_example(draw.randrange(16), 2 ** draw.randrange(1, 12), rows)


def other_size_cells(seed: str) -> Iterator[Example]:
    """Yield examples that set and read cells of grids of other sizes."""
    for cell, rows, columns in ((1, 2, 2), (4, 2, 3), (3, 3, 2)):
        yield set_example(cell, 2, [[0] * columns] * rows)
    for size in SIZES:
        yield from reads(random_rows(f"{seed} get", POWERS, *size))


POWERS = [2**power for power in range(1, 12)]


def starts_with_twos(session: SubmissionSession) -> None:
    """Check that a new grid has `initial` 2s, and that `emptiesSet` contains all other cells."""
    for row, col, initial in ((4, 4, 2), (4, 4, 1), (4, 4, 16)):
        session.begin()
        session.expect(f"grid = Grid({row}, {col}, {initial})", seed=session.seed_for(initial))
        tiles = session.value("[tile for row in grid._grid for tile in row]")
        twos = [cell for cell, tile in enumerate(tiles) if tile == 2]
        if len(twos) != initial or sum(tiles) != 2 * initial:
            session.fail(f"{initial} tiles of 2 and zeros", str(tiles))
        rest = sorted(set(range(row * col)) - set(twos))
        session.expect("sorted(grid.emptiesSet)", rest)


SIZES = ((2, 2), (2, 3), (3, 2), (5, 5))
"""Additional grid sizes to check, as (rows, columns)."""


def holes(seed: str) -> list[Rows]:
    """Return an empty grid, a full grid, and partly filled grids."""
    return [EMPTY, FULL, *(random_rows(f"{seed} holes {n}", (0, 0, 2, 4)) for n in range(4))]


KEYS = (*("a", "s", "d", "w", "a", "a", "s", "s", "d", "w", "s", "a", "w", "d", "a", "s") * 4, "p")


def record_new_tiles(grid_class: Any, start: Any) -> list[Any]:
    """Keep the game from ending, and record the grid before and after each new tile.

    `start` may contain the grid and the list of empty cells with which the game begins.
    """
    seen: list[Any] = []
    create, add_tile = grid_class.__init__, grid_class.assignRandCell

    def prepared(self: Any, *args: Any, **named: Any) -> None:
        create(self, *args, **named)
        if start:
            self._grid, self.emptiesSet = start.pop()

    def spy(self: Any, init: bool = False) -> None:
        before = [tile for row in self._grid for tile in row]
        add_tile(self, init)
        if not init:
            seen.append([before, [tile for row in self._grid for tile in row]])

    grid_class.__init__ = prepared
    grid_class.assignRandCell = spy
    grid_class.collapsible = lambda self: True
    return seen


def updates(boards: Iterable[Rows]) -> Iterator[Example]:
    """Yield examples that update grids whose `emptiesSet` is out of date."""
    for rows in boards:
        given = grid_of(rows).rpartition("\n")[0]
        yield Example("grid.updateEmptiesSet()\ngrid.emptiesSet", empty_cells(rows), given=given)


def fills_empty_cells(session: SubmissionSession) -> None:
    """Check that new tiles in a game are placed on empty cells."""
    for seed in map(session.seed_for, range(6)):
        session.begin()
        spy = calling(record_new_tiles, "Grid", "[]", result="seen")
        session.expect(f"{spy}random.seed({seed})")
        ended = session.run("Game()", typed=KEYS)
        steps = session.value("seen", show=False)
        if not steps:
            session.fail("a new tile after a move", str(ended.error or "no tile"))
        for step, (before, after) in enumerate(steps):
            new = new_tiles([before], [after])
            if new is None or len(new) != (0 in before):
                session.shown.append(f"seen[{step}][1]")
                session.fail(f"a new tile in an empty cell of {before}", str(after))


def adds_after_changes(session: SubmissionSession) -> None:
    """Check that a move adds a tile only if the move changes the grid.

    In the starter, `Game` already adds tiles only after changes, so the check also requires a
    correct `updateEmptiesSet`.
    """
    session.begin()
    rows = [[2, 0, 0, 0], *EMPTY[1:]]
    session.expect(f"grid = Grid(4, 4, 0)\ngrid._grid = {rows}\ngrid.updateEmptiesSet()")
    session.expect("0 in grid.emptiesSet", False)
    start = repr([([FULL[0], *EMPTY[1:]], [*range(4, 16)])])
    for keys, tiles in ((["a"], 0), (["w"], 0), (["s"], 1), (["a", "d", "s"], 1)):
        session.begin()
        session.expect(calling(record_new_tiles, "Grid", start, result="seen"))
        ended = session.run("Game()", typed=[*keys, "p"])
        seen = session.value("len(seen)")
        if seen != tiles:
            session.fail(str(tiles), str(ended.error or seen))


SPARSE = lists("0 0 0 0 / 0 0 0 4 / 2 0 2 16 / 2 4 4 2")


def can_collapse(boards: Iterable[Rows]) -> list[Example]:
    """Return examples that call `collapsible` on boards.

    Two boards with different results are added, so that a method that always returns the same value
    fails. The given boards are tested first, because they match the check's title.
    """
    return [
        Example("grid.collapsible()", Board.from_rows(rows).can_move(), given=grid_of(rows), rank=n)
        for n, rows in enumerate((*boards, with_tiles({(1, 1): 2}), checkered()))
    ]


def packed(seed: str) -> Iterator[Rows]:
    """Yield grids with all tiles pushed to one side or into a corner."""
    for side in Direction:
        yield slid([[2, 4, 8, 16], *EMPTY[1:]], side)
    for first, second in product((Direction.LEFT, Direction.RIGHT), (Direction.UP, Direction.DOWN)):
        rows = random_rows(f"{seed} {first} {second}", TILES)
        rows[0][0] = rows[3][3] = 0
        while (after := slid(slid(rows, first), second)) != rows:
            rows = after
        yield rows


def gaps(seed: str) -> list[Example]:
    """Return examples with empty cells."""
    return can_collapse([SPARSE, *with_one_gap(), *packed(seed)])


LARGE_PAIRS = [
    with_tiles({(0, 0): value, other: value}, checkered())
    for value in (1024, 2048)
    for other in ((0, 1), (1, 0))
]
EQUAL_NEIGHBOURS = can_collapse([*with_one_pair(), *LARGE_PAIRS])
COLLAPSIBLE_OTHER_SIZES = can_collapse(
    rows
    for size in SIZES
    for rows in (checkered(*size), *with_one_gap(*size), *with_one_pair(*size))
)


def changes_nothing(rows: Rows) -> Example:
    """Return an example that checks that `collapsible` does not modify the grid."""
    then = {"grid._grid": rows, "grid.score": 0}
    return Example("grid.collapsible()", OneOf(True, False), given=grid_of(rows), then=then)


UNCHANGED = [*can_collapse(()), *map(changes_nothing, (SPARSE, *with_one_pair()))]
WRONG_EMPTIES = (
    Example("grid.collapsible()", True, given=grid_of(with_tiles({(3, 3): 0}, checkered()), [])),
    Example("grid.collapsible()", False, given=grid_of(checkered(), [1])),
)


def line_examples(seed: str, part: int) -> Iterator[Example]:
    """Yield examples of fixed and random lines of four cells.

    Args:
        seed: Seed of the random lines.
        part: The part of the result to check: 0 for the list, 1 for the flag.
    """
    for line in (*LINES, *random_rows(seed, TILES, 60)):
        after = collapsed(line)
        code = f"Grid(4, 4, 0).collapseRow({line})[{part}]"
        yield Example(code, (after, after != line)[part])


def collapsed(line: list[int]) -> list[int]:
    """Return a list collapsed to the left."""
    return list(slide_line(tuple(line))[0])


def other_length_examples(seed: str) -> Iterator[Example]:
    """Collapse lists of other lengths."""
    draw = random.Random(seed)
    for line in (*OTHER_LINES, *(draw.choices(TILES, k=length) for length in (3, 5, 6, 7))):
        after = collapsed(line)
        code = f"list(Grid(4, 4, 0).collapseRow({line}))"
        yield Example(code, [after, after != line])


def different(line: list[int]) -> Satisfies:
    """Return a matcher that rejects `collapseRow` results that contain `line` itself."""
    return Satisfies("a different list and a flag", lambda found: line not in (found, found[0]))


PAIR = (
    Example("type(Grid(4, 4, 0).collapseRow([2, 0, 0, 0])).__name__", "tuple"),
    Example("len(Grid(4, 4, 0).collapseRow([2, 2, 0, 0]))", 2),
    Example("list(Grid(4, 4, 0).collapseRow([0, 0, 0, 2]))", different([0, 0, 0, 2])),
)


def unchanged_example(line: list[int]) -> Example:
    """Return an example that checks that `collapseRow` does not modify its argument."""
    given = f"grid = Grid(4, 4, 0)\nline = {line}"
    expected: object = ... if collapsed(line) == line else different(line)
    return Example("list(grid.collapseRow(line))", expected, given=given, then={"line": line})


UNCHANGED_LISTS = tuple(map(unchanged_example, ([0, 0, 0, 2], [0, 2, 0, 4], [2, 4, 8, 16])))


def scores(session: SubmissionSession) -> None:
    """Check that merges increase the score, either in `collapseRow` or in its callers."""
    for line in lists("2 2 0 0 / 2 4 0 0 / 4 4 2 2 / 65536 65536 65536 65536"):
        points = slide_line(tuple(line)).points
        session.begin()
        session.run(f"grid = Grid(4, 4, 0)\ngrid.collapseRow({line})")
        if session.run("grid.score").value == points:
            continue
        session.begin()
        session.expect(f"{grid_of([line, *[[0] * 4] * 3])}\ngrid.collapseLeft()")
        session.expect("grid.score", points)


def boards(seed: str) -> list[Rows]:
    """Return fixed and random 4x4 grids."""
    return [
        *(with_tiles(dict.fromkeys(cells, 2)) for cells in ([(1, 1)], [(0, 0), (0, 1)])),
        *(random_rows(f"{seed} few {n}", (0, 0, 0, 2)) for n in range(6)),
        *([line] * 3 + [[0] * 4] for line in ([2, 2, 4, 0], [0, 0, 0, 2], [2, 0, 0, 2])),
        *(SPARSE, checkered(), next(with_one_pair())),
        *(random_rows(f"{seed} {n}", TILES) for n in range(20)),
    ]


def other_boards(seed: str) -> list[Rows]:
    """Return grids of other sizes."""
    return [
        *(
            random_rows(f"{seed} {n}", values, *size)
            for size in SIZES
            for n in range(4)
            for values in ((0, 2), TILES)
        ),
        *map(checkered, (2, 3), (2, 2)),
    ]


def collapses(
    drawn: Callable[[str], Iterable[Rows]],
    directions: Iterable[Direction],
    ending: str = "\ngrid._grid",
    expected: Callable[[Slide], object] = lambda slide: as_lists(slide.board.rows),
) -> Callable[[str], Iterator[Example]]:
    """Return a function that generates examples in which whole grids are collapsed.

    Args:
        drawn: Function that generates the boards from a seed.
        directions: The directions to collapse in.
        ending: Code to append to the call. Its last expression is the result.
        expected: Function that computes the expected result from a correct slide. By default, the
            result is the grid after the slide.
    """
    return lambda seed: (
        Example(
            f"grid.{method_of(direction)}(){ending}",
            expected(Board.from_rows(rows).slide(direction)),
            given=f"{grid_of(rows)}\ngrid.score = 100",
            rank=len(tiles_of(rows)),
        )
        for rows in drawn(seed)
        for direction in directions
    )


def method_of(direction: Direction) -> str:
    """Return the name of the method that collapses the grid in a direction."""
    return f"collapse{direction.name.capitalize()}"


FLAGS = collapses(boards, Direction, "", lambda slide: slide.changed)


# --- reference versions of other tasks' methods ---


def replace_directions(grid_class: Any, moves: Any, uses: Any) -> None:
    """Replace the submission's methods for the four directions with correct methods.

    The reference methods cannot be used here, because they also update the list of empty cells.
    Students may update `emptiesSet` in the methods of either `Grid` or `Game`.

    Args:
        grid_class: The submission's `Grid`.
        moves: Maps each method name to two flags: whether the method collapses columns instead of
            rows, and whether it reverses them first.
        uses: Function that returns whether a method calls the method under test. Such methods are
            not replaced.
    """
    codes = [getattr(method, "__code__", None) for method in vars(grid_class).values()]
    updates = any("updateEmptiesSet" in code.co_names for code in codes if code)

    def columns(rows: Any) -> Any:
        return [list(column) for column in zip(*rows, strict=False)]

    def made(turned: bool, backwards: bool) -> Any:
        def move(self: Any) -> bool:
            lines = columns(self._grid) if turned else self._grid
            found = [self.collapseRow(line[::-1] if backwards else line) for line in lines]
            lines = [line[::-1] if backwards else line for line, _ in found]
            self._grid = columns(lines) if turned else [list(line) for line in lines]
            if updates:
                self.updateEmptiesSet()
            return any(changed for _, changed in found)

        return move

    for name, (turned, backwards) in moves.items():
        if not uses(name):
            setattr(grid_class, name, made(turned, backwards))


DIRECTIONS = {
    "collapseLeft": (False, False),
    "collapseRight": (False, True),
    "collapseUp": (True, False),
    "collapseDown": (True, True),
}


def row_adds_points(grid_class: Any) -> bool:
    """Return whether `collapseRow` itself adds the points, or leaves this to its callers."""
    counter = grid_class(4, 4, 0)
    counter.score = 0
    try:
        counter.collapseRow([2, 2, 0, 0])
    except Exception:  # noqa: BLE001 - another check reports it
        return bool(counter.score)
    return bool(counter.score)


def without_row_points(grid_class: Any) -> None:
    """Stop `collapseRow` from adding points, for programs whose other methods add the points."""
    row = grid_class.collapseRow

    def without_points(self: Any, lst: Any) -> Any:
        score = self.score
        found = row(self, lst)
        self.score = score
        return found

    grid_class.collapseRow = without_points


METHODS = ("createGrid", "setCell", "getCell", "collapseRow", "updateEmptiesSet", "collapsible")


def all_but(*about: str) -> tuple[str, ...]:
    """Return a patch that replaces every method except `about` with the reference version.

    Callers of the checked method are not replaced. Otherwise, two methods that only call each other
    would both pass.
    """
    names = [name for name in METHODS if name not in about]
    asked = [name for name in about if name in DIRECTIONS]
    moves = {name: how for name, how in DIRECTIONS.items() if name not in about}
    uses = f"lambda name: not _uses(name, vars(game) | vars(Grid)).isdisjoint({asked})"
    lent = right_versions(game, names, "game", place="game.Grid")
    return (lent + calling(replace_directions, "Grid", repr(moves), uses),)


def all_but_points() -> tuple[str, ...]:
    """Return a patch that replaces `collapseRow`, but not the methods that call it.

    If the student's `collapseRow` adds no points, the replacement adds no points either.
    """
    before = calling(row_adds_points, "Grid", result="_rows_count")
    after = calling(without_row_points, "Grid")
    lines = after.rstrip().split("\n")
    lines[-1] = f"if not _rows_count: {lines[-1]}"
    return tuple(before + patch + "\n".join([*lines, ""]) for patch in all_but(*DIRECTIONS))


SHEET = read_sheet(Path(__file__).parent / "starter" / "TASKS.md")
ANY_SIZE = "grids of other sizes"


def _task(id: str, *checks: Check) -> Task:
    """Return a task whose patches replace all methods except those in its title."""
    return SHEET.task(id, *checks, patches=all_but(*re.findall(r"\w+", SHEET[id].title)))


TASKS = (
    _task(
        "1",
        Check("four rows of four zeros", [Example("Grid(4, 4, 0).createGrid(4, 4)", EMPTY)]),
        Check("changing one row leaves the others unchanged", [INDEPENDENT_ROWS]),
        Check("any number of rows and columns works", CREATED_OTHERS),
    ),
    _task(
        "2",
        Check("setCell sets the right cell", set_examples),
        Check("getCell reads the right cell", lambda seed: reads(random_rows(seed, POWERS))),
        Check("a new grid starts with 2s", run=starts_with_twos),
        Check(ANY_SIZE, other_size_cells),
    ),
    _task(
        "3",
        Check("True while a cell is empty", gaps),
        Check("True on a full grid with equal neighbours", EQUAL_NEIGHBOURS),
        Check("False on a full grid without equal neighbours", can_collapse([checkered(), FULL])),
        Check("collapsible changes nothing", UNCHANGED),
        Check("looks at the grid, not at emptiesSet", WRONG_EMPTIES),
        Check(ANY_SIZE, COLLAPSIBLE_OTHER_SIZES),
    ),
    _task(
        "4",
        Check("returns the collapsed list", partial(line_examples, part=0), weight=2),
        Check("the second value says whether the list changed", partial(line_examples, part=1)),
        Check("returns two values", PAIR),
        Check("the given list is not changed", UNCHANGED_LISTS),
        Check("merges add to the score", run=scores),
        Check("lists of other lengths work", other_length_examples),
    ),
    _task(
        "5",
        *(
            Check(
                method_of(direction),
                collapses(boards, [direction]),
                weight=2,
                reference_patches=all_but(method_of(direction)),
            )
            for direction in Direction
        ),
        Check("each returns whether any line changed", FLAGS),
        Check(
            "each adds its merges to the score, once",
            collapses(boards, Direction, "\ngrid.score", lambda slide: 100 + slide.points),
            reference_patches=(*all_but(*DIRECTIONS), *all_but_points()),
        ),
        Check(ANY_SIZE, collapses(other_boards, Direction)),
    ),
    _task(
        "6",
        Check("lists the empty cells in order", lambda seed: updates(holes(seed))),
        Check(ANY_SIZE, lambda seed: updates(random_rows(seed, (0, 2), *size) for size in SIZES)),
        Check("in a game, new tiles go into empty cells", run=fills_empty_cells),
        Check("in a game, only moves that change something add a tile", run=adds_after_changes),
    ),
)

GRADING = Grading(
    course="cmput175",
    module="game",
    files=("game.py",),
    expects=("Grid", "Game", "createGrid", "collapseRow", "collapsible"),
    prelude="import random",
    opening="import random; from {module} import *",
    tasks=TASKS,
)
