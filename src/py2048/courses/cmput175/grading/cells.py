"""Tasks 1, 2 and 6: the grid, its cells, and the list of the empty ones."""

from __future__ import annotations

from collections.abc import Iterator

from py2048.courses.cmput175.grading.grids import Rows, grid_of, tiles_of
from py2048.courses.grading import Example, Raised, SubmissionSession

EMPTY: Rows = [[0] * 4 for _ in range(4)]
FULL: Rows = [[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]]

CREATED = (Example("Grid(4, 4, 0).createGrid(4, 4)", EMPTY),)
CREATED_OTHERS = (
    Example("Grid(4, 4, 0).createGrid(2, 3)", [[0, 0, 0], [0, 0, 0]]),
    Example("Grid(4, 4, 0).createGrid(1, 1)", [[0]]),
    Example("Grid(3, 5, 0)._grid", [[0] * 5] * 3),
)
APART = (
    Example(
        "rows[0][0] = 2\nrows",
        [[2, 0, 0, 0], *EMPTY[1:]],
        given="rows = Grid(4, 4, 0).createGrid(4, 4)",
    ),
)


def put(cell: int, val: int, rows: Rows) -> Example:
    """One call of `setCell`."""
    columns = len(rows[0])
    after = [list(row) for row in rows]
    after[cell // columns][cell % columns] = val
    code = f"grid.setCell({cell}, {val})\ngrid._grid"
    return Example(code, after, given=grid_of(rows), rank=tiles_of(rows))


def got(rows: Rows) -> Iterator[Example]:
    """Every cell of a grid."""
    for cell, tile in enumerate(tile for row in rows for tile in row):
        yield Example(f"grid.getCell({cell})", tile, given=grid_of(rows))


SET = (put(1, 2, EMPTY), put(6, 8, EMPTY), put(15, 4, FULL))
GOT = tuple(got(FULL))
CELLS_OF_OTHERS = (
    put(1, 2, [[0, 0], [0, 0]]),
    put(4, 2, [[0] * 3] * 2),
    put(3, 2, [[0, 0]] * 3),
    *got([[2, 4], [8, 16]]),
    *got([[2, 4, 8], [16, 32, 64]]),
    *got([[2, 4], [8, 16], [32, 64]]),
)


def starts_with_twos(session: SubmissionSession) -> None:
    """A new grid holds `initial` tiles of 2, and the list holds the other cells."""
    for row, col, initial in ((4, 4, 2), (4, 4, 1), (4, 4, 16)):
        session.begin()
        session.run(f"grid = Grid({row}, {col}, {initial})", seed=initial)
        tiles = session.value("[tile for row in grid._grid for tile in row]")
        twos = [cell for cell, tile in enumerate(tiles) if tile == 2]
        if len(twos) != initial or sum(tiles) != 2 * initial:
            session.fail(f"{initial} tiles of 2 and zeros", str(tiles))
        rest = sorted(set(range(row * col)) - set(twos))
        session.expect("sorted(grid.emptiesSet)", rest)


HOLES: tuple[Rows, ...] = (
    EMPTY,
    [[0, 2, 0, 0], [0, 0, 4, 0], [0, 0, 0, 0], [2, 0, 0, 2]],
    [[0, 0, 0, 0], [0, 0, 0, 4], [2, 0, 2, 16], [2, 4, 4, 0]],
    FULL,
)
OTHER_HOLES: tuple[Rows, ...] = (
    [[0, 2], [2, 0]],
    [[2, 2], [2, 2]],
    [[0, 2, 0], [2, 0, 2]],
    [[0, 2], [0, 2], [2, 0]],
    [[0, 2, 0, 0, 0]] * 5,
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
KEYS = ("a", "s", "d", "w", "a", "a", "s", "s", "d", "w", "s", "a", "w", "d", "a", "s") * 4


def emptied(boards: tuple[Rows, ...]) -> Iterator[Example]:
    """The list after the grid has changed, from a list that is out of date."""
    for rows in boards:
        cells = [tile for row in rows for tile in row]
        yield Example(
            "grid.updateEmptiesSet()\ngrid.emptiesSet",
            [cell for cell, tile in enumerate(cells) if not tile],
            given=f"grid = Grid({len(rows)}, {len(rows[0])}, 0)\ngrid._grid = {rows}",
        )


def plays_on(session: SubmissionSession) -> None:
    """In a game each new tile goes into a cell that is empty then."""
    for seed in range(6):
        session.begin()
        session.run(f"{SPY}Grid.collapsible = lambda self: True", show=False)
        session.run(f"random.seed({seed})")
        ended = session.run("Game()", typed=KEYS)
        steps = session.value("seen", show=False)
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
game.game = Watched(4, 4, 0)
game.game._grid = [[2, 4, 8, 16], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
game.game.emptiesSet = list(range(4, 16))
"""


def stays_still(session: SubmissionSession) -> None:
    """A move that changes nothing brings no tile; one that changes something brings one.

    This much is given, so it counts for nothing until `updateEmptiesSet` does something.
    """
    session.begin()
    rows = [[2, 0, 0, 0], *EMPTY[1:]]
    session.run(f"grid = Grid(4, 4, 0)\ngrid._grid = {rows}\ngrid.updateEmptiesSet()")
    session.expect("0 in grid.emptiesSet", False)
    for keys, tiles in ((["a"], 0), (["w"], 0), (["s"], 1), (["a", "d", "s"], 1)):
        session.begin()
        session.run(STILL, show=False)
        session.run(
            "# the first row is [2, 4, 8, 16], the others are empty\ngame.play()",
            typed=[*keys, "p"],
        )
        spawned = session.value("Watched.spawned", show=False)
        if spawned != tiles:
            session.fail(f"{tiles} new tiles", f"{spawned}")
