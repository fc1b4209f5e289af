"""The six tasks of the CMPUT 175 assignment and how they are graded.

The document gives no marks, so each task has ten. `Game`, `drawGrid` and `assignRandCell` are
given to the students and earn none.
"""

from __future__ import annotations

from py2048.courses.cmput175 import checks
from py2048.courses.cmput175.checks import DIRECTIONS, all_but
from py2048.courses.grading import Check, Grading, Task
from py2048.direction import Direction

MARKS = 10
OTHER_SIZES = "grids of other sizes than 4 x 4"

TASKS = (
    Task(
        "1",
        "createGrid",
        "createGrid(row, col) returns the grid: a list of `row` lists of `col` zeros each.",
        MARKS,
        (
            Check("four rows of four zeros", checks.CREATED),
            Check("the rows are independent", checks.APART),
            Check("any number of rows and columns", checks.CREATED_OTHERS),
        ),
        reference_patches=all_but("createGrid"),
    ),
    Task(
        "2",
        "setCell and getCell",
        "Cells are numbered row by row from 0. setCell(cell, val) puts a value into a cell, "
        "getCell(cell) returns it; then a new Grid fills its first cells with 2.",
        MARKS,
        (
            Check("setCell puts the value into its cell", checks.SET),
            Check("getCell reads its cell", checks.GOT),
            Check("a new grid starts with tiles of 2", run=checks.starts_with_twos),
            Check(OTHER_SIZES, checks.CELLS_OF_OTHERS),
        ),
        reference_patches=all_but("cells"),
    ),
    Task(
        "3",
        "collapsible",
        "collapsible() returns True if the grid can be collapsed in some direction, else False.",
        MARKS,
        (
            Check("True while a cell is empty", checks.answers(checks.ROOM, expected=True)),
            Check(
                "True on a full grid with equal neighbours",
                checks.answers(checks.MERGES, expected=True),
            ),
            Check("False on a full grid without", checks.answers(checks.STUCK, expected=False)),
            Check("asking changes nothing", checks.UNCHANGED),
            Check("it looks at the grid itself", checks.OWN_EYES),
            Check(OTHER_SIZES, checks.OTHER_ANSWERS),
        ),
        reference_patches=all_but("collapsible"),
    ),
    Task(
        "4",
        "collapseRow",
        "collapseRow(lst) returns the list collapsed to the left by the rules of 2048, and True "
        "if that changed it, else False. Merges add their sum to the score.",
        MARKS,
        (
            Check("the collapsed list", checks.lines(checks.first), weight=2),
            Check("the flag says whether it changed", checks.lines(checks.second)),
            Check("two values are returned", checks.PAIR),
            Check("the given list stays as it was", checks.KEPT),
            Check("merges add to the score", run=checks.scores),
            Check("lists of other lengths", checks.of_any_length),
        ),
        reference_patches=all_but("collapseRow"),
    ),
    Task(
        "5",
        "collapseLeft, collapseRight, collapseUp, collapseDown",
        "Each collapses the whole grid in its direction with collapseRow and returns True if the "
        "grid changed, else False.",
        MARKS,
        (
            *(
                Check(
                    f"collapse{direction.name.capitalize()}",
                    checks.slides(direction),
                    weight=2,
                    reference_patches=all_but(f"collapse{direction.name.capitalize()}"),
                )
                for direction in Direction
            ),
            Check("each says whether any line changed", checks.flags),
            Check(OTHER_SIZES, checks.other_slides),
        ),
        reference_patches=all_but(*DIRECTIONS),
    ),
    Task(
        "6",
        "updateEmptiesSet",
        "updateEmptiesSet() makes emptiesSet the list of the numbers of all empty cells; the game "
        "calls it after every collapse, before it places a tile.",
        MARKS,
        (
            Check("the empty cells in order", lambda: checks.emptied(checks.HOLES)),
            Check(OTHER_SIZES, lambda: checks.emptied(checks.OTHER_HOLES)),
            Check("in play, new tiles go into empty cells", run=checks.plays_on),
            Check(
                "in play, only a move that changed something brings a tile", run=checks.stays_still
            ),
        ),
        reference_patches=all_but("updateEmptiesSet"),
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
