"""The ten tasks of CITS1401's project, and how they are graded.

The document gives 25 marks in all and says that a program is "graded according to the number of
tasks achieved". So every task counts the same: two and a half marks.
"""

from __future__ import annotations

from fractions import Fraction

from py2048.courses.cits1401 import checks
from py2048.courses.grading import Check, Grading, Task
from py2048.direction import Direction

MARKS = Fraction(25, 10)
PATIENCE = 20.0
"""Seconds for one request of a check that plays whole games."""


def _task(id: str, title: str, asked: str, *checks: Check) -> Task:
    return Task(id, title, asked, MARKS, checks)


def _move(number: str, direction: Direction) -> Task:
    name = direction.name.lower()
    places = {
        Direction.UP: "the rightmost empty square of the bottom row",
        Direction.DOWN: "the leftmost empty square of the top row",
        Direction.LEFT: "the highest empty square of the right column",
        Direction.RIGHT: "the lowest empty square of the left column",
    }
    return _task(
        number,
        f"The move {name}",
        f"A click on the border slides all tiles {name} and merges equal ones, each once; a "
        f"new 2 appears on {places[direction]}. If nothing can move, nothing happens.",
        Check("tiles slide and merge", run=checks.slides(direction), seconds=PATIENCE),
        Check("the new 2 is in its place", run=checks.adds_at_its_place(direction)),
        Check("an impossible move changes nothing", run=checks.refuses(direction)),
    )


TASKS = (
    _task(
        "1",
        "The window",
        "5 x 5 squares, a score board, a button for a new game, and a button Quit that "
        "closes the window.",
        Check("squares, score board, New game", run=checks.has_all_components),
        Check("Quit", run=checks.quits),
    ),
    _task(
        "2",
        "Values and highlights",
        "Every square shows a power of two or nothing; squares that moved in the last move "
        "look different from the others.",
        Check("only legal values", run=checks.shows_legal_values, seconds=PATIENCE),
        Check("what moved is highlighted", run=checks.highlights_what_moved),
    ),
    _task(
        "3",
        "Clicks on the border",
        "The twelve squares on the border that are no corners take clicks; corners and the "
        "squares inside do nothing.",
        Check("all squares of the border", run=checks.border_squares_act),
        Check("no corners, no squares inside", run=checks.other_squares_do_nothing),
    ),
    _move("4", Direction.UP),
    _move("5", Direction.DOWN),
    _move("6", Direction.RIGHT),
    _move("7", Direction.LEFT),
    _task(
        "8",
        "The status panel",
        "The status panel says that a move in a direction was successful, that it is not "
        "possible, and at the end that the game is over, with the final score.",
        Check("successful moves", run=checks.tells_success, seconds=PATIENCE),
        Check("impossible moves", run=checks.tells_failure),
        Check("the end", run=checks.tells_the_end),
    ),
    _task(
        "9",
        "The score board",
        "The score begins with 0; a successful move adds one, an impossible one takes one away.",
        Check("the score after every click", run=checks.counts, seconds=PATIENCE),
    ),
    _task(
        "10",
        "New game",
        "At any time New game ends the game in progress and offers Human and Computer; the "
        "computer plays by itself, with pauses, to the end or until it is stopped.",
        Check("a new game for a person", run=checks.begins_a_human_s_game),
        Check("the computer plays", run=checks.lets_the_computer_play, seconds=PATIENCE),
        Check("the computer stops", run=checks.stops_the_computer),
    ),
)

GRADING = Grading(
    course="cits1401",
    module="app",
    files=("app.py", "main.py", "project2.py", "game.py"),
    expects=(),
    tasks=TASKS,
    gui=True,
    libraries=("numpy", "PIL"),
    not_graded="clarity of the code, how attractive the display is, and the three additional tasks",
)
