"""The six tasks of the CMPUT 175 assignment and how they are graded.

The document gives no marks, so each task has ten. `Game`, `drawGrid` and `assignRandCell` are
given to the students and earn none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from py2048.courses._kit import Check, Example, Grading, Raised, Satisfies, Session, Task
from py2048.engine import Board, Direction
from py2048.engine.reference import slide_line
from py2048.rules import Merging

Rows = list[list[int]]

MARKS = 10
TILES = (0, 0, 2, 2, 4, 8)

# Right versions of what other tasks ask for, so that an error costs its own task only.
CREATE = """
def _create(self, row, col):
    return [[0 for _ in range(col)] for _ in range(row)]
Grid.createGrid = _create
"""
CELLS = """
def _set(self, cell, val):
    self._grid[cell // self.col][cell % self.col] = val
def _get(self, cell):
    return self._grid[cell // self.col][cell % self.col]
Grid.setCell, Grid.getCell = _set, _get
"""
ROW = """
def _collapse(self, lst):
    tiles, out = [tile for tile in lst if tile], []
    while tiles:
        tile = tiles.pop(0)
        if tiles and tiles[0] == tile:
            tile += tiles.pop(0)
            self.score += tile
        out.append(tile)
    out += [0] * (len(lst) - len(out))
    return out, out != list(lst)
Grid.collapseRow = _collapse
"""
EMPTIES = """
def _empties(self):
    cells = [tile for row in self._grid for tile in row]
    self.emptiesSet = [cell for cell, tile in enumerate(cells) if not tile]
Grid.updateEmptiesSet = _empties
"""
DIRECTIONS = """
def _move(turned, backwards):
    def move(self):
        lines = [list(line) for line in (zip(*self._grid) if turned else self._grid)]
        found = [self.collapseRow(line[::-1] if backwards else line) for line in lines]
        lines = [line[::-1] if backwards else line for line, _ in found]
        self._grid = [list(line) for line in (zip(*lines) if turned else lines)]
        return any(changed for _, changed in found)
    return move
Grid.collapseLeft, Grid.collapseRight = _move(False, False), _move(False, True)
Grid.collapseUp, Grid.collapseDown = _move(True, False), _move(True, True)
"""


def grid_of(rows: Rows) -> str:
    """Code that makes a `grid` with these rows, the list of empty cells in order."""
    cells = [tile for row in rows for tile in row]
    empties = [cell for cell, tile in enumerate(cells) if not tile]
    return (
        f"grid = Grid({len(rows)}, {len(rows[0])}, 0)\n"
        f"grid._grid = {rows}\ngrid.emptiesSet = {empties}"
    )


def random_rows(seed: int, rows: int, columns: int) -> Rows:
    """A grid of small tiles, the same for the same seed."""
    draw = random.Random(seed)
    return [[draw.choice(TILES) for _ in range(columns)] for _ in range(rows)]


# -- 1 and 2: the grid and its cells -------------------------------------------------------

CREATED = (
    Example("Grid(4, 4, 0).createGrid(1, 1)", [[0]]),
    Example("Grid(4, 4, 0).createGrid(2, 3)", [[0, 0, 0], [0, 0, 0]]),
    Example("Grid(4, 4, 0).createGrid(4, 4)", [[0] * 4] * 4),
    Example("Grid(3, 5, 0)._grid", [[0] * 5] * 3),
)
APART = (
    Example("rows[0][0] = 2\nrows", [[2, 0], [0, 0]], given="rows = Grid(4, 4, 0).createGrid(2, 2)"),
)
SET = (
    Example("grid.setCell(1, 2)\ngrid._grid", [[0, 2], [0, 0]], given=grid_of([[0, 0], [0, 0]])),
    Example(
        "grid.setCell(6, 8)\ngrid._grid",
        [[0, 0, 0, 0], [0, 0, 8, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        given=grid_of([[0] * 4 for _ in range(4)]),
    ),
    Example("grid.setCell(4, 2)\ngrid._grid", [[0, 0, 0], [0, 2, 0]], given=grid_of([[0] * 3] * 2)),
    Example(
        "grid.setCell(3, 2)\ngrid._grid", [[0, 0], [0, 2], [0, 0]], given=grid_of([[0, 0]] * 3)
    ),
)


def got() -> Iterator[Example]:
    """Every cell of a few grids, square and not."""
    for rows in ([[2, 4], [8, 16]], [[2, 4, 8], [16, 32, 64]], [[2, 4], [8, 16], [32, 64]]):
        cells = [tile for row in rows for tile in row]
        for cell, tile in enumerate(cells):
            yield Example(f"grid.getCell({cell})", tile, given=grid_of(rows))


def starts_with_twos(session: Session) -> None:
    """A new grid holds `initial` tiles of 2, and the list holds the other cells."""
    for row, col, initial in ((4, 4, 2), (2, 3, 1), (4, 4, 16)):
        session.begin()
        session.run(f"grid = Grid({row}, {col}, {initial})", seed=initial)
        tiles = session.value("[tile for row in grid._grid for tile in row]")
        twos = [cell for cell, tile in enumerate(tiles) if tile == 2]
        if len(twos) != initial or sum(tiles) != 2 * initial:
            session.fail(f"{initial} tiles of 2 and zeros", str(tiles))
        rest = sorted(set(range(row * col)) - set(twos))
        session.expect("sorted(grid.emptiesSet)", rest)


# -- 3: collapsible ------------------------------------------------------------------------

STUCK: tuple[Rows, ...] = (
    [[2, 4], [4, 2]],
    [[2, 4, 2], [4, 2, 4]],
    [[2, 4], [4, 2], [2, 4]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    [[2, 8, 2, 4], [4, 2, 8, 2], [16, 8, 2, 4], [2, 4, 8, 2]],
)
MERGES: tuple[Rows, ...] = (
    [[2, 2], [4, 8]],
    [[2, 4], [2, 8]],
    [[2, 4], [8, 8]],
    [[2, 8], [4, 8]],
    [[2, 4, 8], [4, 8, 8]],
    [[2, 4], [4, 8], [2, 8]],
    [[2, 8, 2, 4], [4, 4, 8, 2], [2, 8, 2, 4], [4, 2, 4, 2]],
    [[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 4]],
)
ROOM: tuple[Rows, ...] = (
    [[0, 0], [0, 2]],
    [[2, 4], [4, 0]],
    [[0, 4, 2], [4, 2, 4]],
    [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]],
)


def answers(boards: tuple[Rows, ...], expected: bool) -> tuple[Example, ...]:  # noqa: FBT001
    """`collapsible()` on each of the boards."""
    return tuple(Example("grid.collapsible()", expected, given=grid_of(b)) for b in boards)


UNCHANGED = tuple(
    Example(
        "grid.collapsible()",
        given=grid_of(rows),
        then={"grid._grid": rows, "grid.score": 0},
    )
    for rows in (MERGES[0], MERGES[1], ROOM[0], MERGES[6])
)
OWN_EYES = (
    Example(
        "grid.collapsible()",
        True,
        given="grid = Grid(2, 2, 0)\ngrid._grid = [[2, 4], [0, 8]]\ngrid.emptiesSet = []",
    ),
    Example(
        "grid.collapsible()",
        False,
        given="grid = Grid(2, 2, 0)\ngrid._grid = [[2, 4], [4, 2]]\ngrid.emptiesSet = [1]",
    ),
)

# -- 4: collapseRow ------------------------------------------------------------------------

LINES: tuple[list[int], ...] = (
    [0, 2],
    [2, 2],
    [2, 4],
    [0, 0, 0],
    [2, 0, 2],
    [2, 2, 2],
    [4, 2, 2],
    [2, 2, 4],
    [2, 0, 0, 0],
    [2, 0, 2, 0],
    [2, 0, 2, 2],
    [2, 0, 2, 4],
    [4, 4, 8, 4],
    [8, 8, 16, 8],
    [2, 8, 4, 4],
    [2, 2, 2, 2],
    [0, 0, 0, 2],
    [2, 4, 8, 16],
    [2, 2, 0, 2, 2],
    [2, 2, 2, 2, 2],
)


def lines(look: Callable[[list[int], list[int]], Example]) -> Callable[[], Iterator[Example]]:
    """Examples for single lines: the chosen ones, then some at random."""

    def examples() -> Iterator[Example]:
        draw = random.Random(175)
        more = [[draw.choice(TILES) for _ in range(draw.randint(2, 6))] for _ in range(60)]
        for line in (*LINES, *more):
            yield look(line, list(slide_line(tuple(line), Merging.ONCE)[0]))

    return examples


def first(line: list[int], after: list[int]) -> Example:
    """The list that comes back."""
    return Example(f"Grid(4, 4, 0).collapseRow({line})[0]", after)


def second(line: list[int], after: list[int]) -> Example:
    """The flag that comes back."""
    return Example(f"Grid(4, 4, 0).collapseRow({line})[1]", line != after)


PAIR = (
    Example(
        "type(Grid(4, 4, 0).collapseRow([2, 0])).__name__",
        "tuple",
    ),
    Example("len(Grid(4, 4, 0).collapseRow([2, 2]))", 2),
)
KEPT = tuple(
    Example(
        "grid.collapseRow(line)", given=f"grid = Grid(4, 4, 0)\nline = {line}", then={"line": line}
    )
    for line in ([0, 2], [2, 2], [2, 0, 2, 4], [2, 4, 8, 16])
)


def scores(session: Session) -> None:
    """Merges add to the score, be it in collapseRow or in the methods that call it."""
    for line, points in (([2, 2], 4), ([2, 4], 0), ([4, 4, 2, 2], 12)):
        session.begin()
        session.run(f"grid = Grid(1, {len(line)}, 0)\ngrid.collapseRow({line})")
        if session.run("grid.score").value == points:
            continue
        session.begin()
        session.run(f"grid = Grid(1, {len(line)}, 0)\ngrid._grid = [{line}]\ngrid.collapseLeft()")
        session.expect("grid.score", points)


# -- 5: the four directions ----------------------------------------------------------------

BOARDS: tuple[Rows, ...] = (
    [[2, 2], [0, 0]],
    [[0, 0], [2, 2]],
    [[2, 0], [2, 0]],
    [[0, 2], [0, 2]],
    [[2, 4], [4, 2]],
    [[2, 4], [0, 0]],
    [[0, 2], [0, 2], [0, 2]],
    [[2, 2, 2], [2, 2, 2]],
    [[2, 2, 4], [2, 2, 4]],
    [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 2]],
    [[2, 8, 2, 4], [8, 4, 8, 2], [2, 4, 2, 4], [4, 2, 4, 2]],
    *(random_rows(seed, 2 + seed % 3, 2 + seed % 4) for seed in range(24)),
)


def slides(direction: Direction) -> Callable[[], Iterator[Example]]:
    """What one direction makes of each board."""

    def examples() -> Iterator[Example]:
        for rows in BOARDS:
            after = [list(row) for row in Board.from_rows(rows).slide(direction).board.rows]
            yield Example(
                f"grid.collapse{direction.name.capitalize()}()\ngrid._grid",
                after,
                given=grid_of(rows),
            )

    return examples


def flags() -> Iterator[Example]:
    """Whether each direction says that it changed each board."""
    for rows in BOARDS:
        for direction in Direction:
            yield Example(
                f"grid.collapse{direction.name.capitalize()}()",
                Board.from_rows(rows).slide(direction).changed,
                given=grid_of(rows),
            )


# -- 6: the empty cells --------------------------------------------------------------------

HOLES: tuple[Rows, ...] = (
    [[0, 2], [2, 0]],
    [[2, 2], [2, 2]],
    [[0, 2, 0], [2, 0, 2]],
    [[0, 2], [0, 2], [2, 0]],
    [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 0]],
)
SPY = """
seen = []
original = Grid.assignRandCell
def spy(self, init=False):
    before = [tile for row in self._grid for tile in row]
    original(self, init)
    after = [tile for row in self._grid for tile in row]
    if not init:
        seen.append([before, after])
Grid.assignRandCell = spy
"""
KEYS = ("a", "s", "d", "w", "a", "a", "s", "s", "d", "w", "s", "a", "w", "d", "a", "s") * 2


def emptied() -> Iterator[Example]:
    """The list after the grid has changed, from a list that is out of date."""
    for rows in HOLES:
        cells = [tile for row in rows for tile in row]
        yield Example(
            "grid.updateEmptiesSet()\ngrid.emptiesSet",
            [cell for cell, tile in enumerate(cells) if not tile],
            given=f"grid = Grid({len(rows)}, {len(rows[0])}, 0)\ngrid._grid = {rows}",
        )


def plays_on(session: Session) -> None:
    """In a game each new tile goes into a cell that is empty then."""
    for seed in range(6):
        session.begin()
        session.run(f"{SPY}Grid.collapsible = lambda self: True")
        session.shown[:] = [f"random.seed({seed})", "Game(3, 3, 2)"]
        ended = session.run("Game(3, 3, 2)", typed=KEYS, seed=seed)
        steps = session.value("seen")
        if not steps:
            session.fail("a new tile after a move", _ending(ended.error))
        for before, after in steps:
            filled = [cell for cell, tile in enumerate(before) if tile != after[cell]]
            full = 0 not in before
            if len(filled) != (0 if full else 1) or any(before[cell] for cell in filled):
                session.fail(f"a new tile in an empty cell of {before}", str(after))


def _ending(error: Raised | None) -> str:
    return str(error) if error else "no tile"


STILL = """
class Watched(Grid):
    spawned = 0
    def assignRandCell(self, init=False):
        Watched.spawned += not init
game = Game.__new__(Game)
game.game = Watched(2, 2, 0)
game.game._grid = [[2, 4], [0, 0]]
game.game.emptiesSet = [2, 3]
"""


def stays_still(session: Session) -> None:
    """A move that changes nothing brings no tile; one that changes something brings one."""
    for keys, tiles in ((["a"], 0), (["w"], 0), (["s"], 1), (["a", "d", "s"], 1)):
        session.begin()
        session.run(STILL)
        session.shown[:] = ["# the grid is [[2, 4], [0, 0]]", "game.play()"]
        session.run("game.play()", typed=[*keys, "p"])
        spawned = session.value("Watched.spawned")
        if spawned != tiles:
            session.fail(f"{tiles} new tiles", f"{spawned}")


TASKS = (
    Task(
        "1",
        "createGrid",
        "createGrid(row, col) returns the grid: a list of `row` lists of `col` zeros each.",
        MARKS,
        (Check("the right shape, all zeros", CREATED), Check("the rows are independent", APART)),
        mended=CELLS,
    ),
    Task(
        "2",
        "setCell and getCell",
        "Cells are numbered row by row from 0. setCell(cell, val) puts a value into a cell, "
        "getCell(cell) returns it; then a new Grid fills its first cells with 2.",
        MARKS,
        (
            Check("setCell puts the value into its cell", SET),
            Check("getCell reads its cell", got),
            Check("a new grid starts with tiles of 2", run=starts_with_twos),
        ),
        mended=CREATE,
    ),
    Task(
        "3",
        "collapsible",
        "collapsible() returns True if the grid can be collapsed in some direction, else False.",
        MARKS,
        (
            Check("True while a cell is empty", answers(ROOM, expected=True)),
            Check("True on a full grid with equal neighbours", answers(MERGES, expected=True)),
            Check("False on a full grid without", answers(STUCK, expected=False)),
            Check("asking changes nothing", UNCHANGED),
            Check("it looks at the grid itself", OWN_EYES),
        ),
        mended=CREATE + CELLS + ROW + DIRECTIONS + EMPTIES,
    ),
    Task(
        "4",
        "collapseRow",
        "collapseRow(lst) returns the list collapsed to the left by the rules of 2048, and True "
        "if that changed it, else False. Merges add their sum to the score.",
        MARKS,
        (
            Check("the collapsed list", lines(first), weight=2),
            Check("the flag says whether it changed", lines(second)),
            Check("two values are returned", PAIR),
            Check("the given list stays as it was", KEPT),
            Check("merges add to the score", run=scores),
        ),
        mended=CREATE + CELLS,
    ),
    Task(
        "5",
        "collapseLeft, collapseRight, collapseUp, collapseDown",
        "Each collapses the whole grid in its direction with collapseRow and returns True if the "
        "grid changed, else False.",
        MARKS,
        (
            *(
                Check(f"collapse{direction.name.capitalize()}", slides(direction))
                for direction in Direction
            ),
            Check("each says whether any line changed", flags),
        ),
        mended=CREATE + CELLS + ROW + EMPTIES,
    ),
    Task(
        "6",
        "updateEmptiesSet",
        "updateEmptiesSet() makes emptiesSet the list of the numbers of all empty cells; the game "
        "calls it after every collapse, before it places a tile.",
        MARKS,
        (
            Check("the empty cells in order", emptied),
            Check("in play, new tiles go into empty cells", run=plays_on),
            Check("in play, only a move that changed something brings a tile", run=stays_still),
        ),
        mended=CREATE + CELLS + ROW + DIRECTIONS,
    ),
)

GRADING = Grading(
    course="cmput175",
    module="game",
    files=("game.py",),
    expects=("Grid", "Game", "createGrid", "collapseRow", "collapsible"),
    given_files=(),
    prelude="import random",
    tasks=TASKS,
    not_graded="",
)
