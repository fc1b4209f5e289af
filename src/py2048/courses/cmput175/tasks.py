"""The six tasks of the CMPUT 175 assignment and how they are graded.

The document gives no marks, so each task has ten. `Game`, `drawGrid` and `assignRandCell` are
given to the students and earn none.
"""

from __future__ import annotations

from py2048.courses.cmput175.grading import cells, slides
from py2048.courses.cmput175.grading.reference_patches import DIRECTIONS, all_but
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
            Check("four rows of four zeros", cells.CREATED),
            Check("the rows are independent", cells.APART),
            Check("any number of rows and columns", cells.CREATED_OTHERS),
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
            Check("setCell puts the value into its cell", cells.SET),
            Check("getCell reads its cell", cells.GOT),
            Check("a new grid starts with tiles of 2", run=cells.starts_with_twos),
            Check(OTHER_SIZES, cells.CELLS_OF_OTHERS),
        ),
        reference_patches=all_but("cells"),
    ),
    Task(
        "3",
        "collapsible",
        "collapsible() returns True if the grid can be collapsed in some direction, else False.",
        MARKS,
        (
            Check("True while a cell is empty", slides.answers(slides.ROOM, expected=True)),
            Check(
                "True on a full grid with equal neighbours",
                slides.answers(slides.MERGES, expected=True),
            ),
            Check("False on a full grid without", slides.answers(slides.STUCK, expected=False)),
            Check("asking changes nothing", slides.UNCHANGED),
            Check("it looks at the grid itself", slides.OWN_EYES),
            Check(OTHER_SIZES, slides.OTHER_ANSWERS),
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
            Check("the collapsed list", slides.lines(slides.first), weight=2),
            Check("the flag says whether it changed", slides.lines(slides.second)),
            Check("two values are returned", slides.PAIR),
            Check("the given list stays as it was", slides.KEPT),
            Check("merges add to the score", run=slides.scores),
            Check("lists of other lengths", slides.of_any_length),
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
                    slides.slides(direction),
                    weight=2,
                    reference_patches=all_but(f"collapse{direction.name.capitalize()}"),
                )
                for direction in Direction
            ),
            Check("each says whether any line changed", slides.flags),
            Check(OTHER_SIZES, slides.other_slides),
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
            Check("the empty cells in order", lambda: cells.emptied(cells.HOLES)),
            Check(OTHER_SIZES, lambda: cells.emptied(cells.OTHER_HOLES)),
            Check("in play, new tiles go into empty cells", run=cells.plays_on),
            Check(
                "in play, only a move that changed something brings a tile", run=cells.stays_still
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
