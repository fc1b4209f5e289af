"""The 21 problems of COMP1127's project with the document's marks, and how they are graded."""

from __future__ import annotations

from pathlib import Path

from py2048.courses.comp1127 import checks
from py2048.courses.comp1127.checks import DOCUMENT_NAMES, all_but
from py2048.courses.grading import Check, Example, Grading, Task

FIGURE_3: checks.Rows = [[0, 4, 0, 2], [2, 0, 0, 8], [0, 0, 16, 0], [32, 4, 0, 64]]

# The other names that the document's examples use, and what the checker's examples use. What
# an example has put in place of gui's functions is put back; a program that has taken them by
# ``from gui import *`` finds them in gui when it runs.
PRELUDE = """
import gui
from types import SimpleNamespace
UP, DOWN, RIGHT, LEFT = 1, 2, 3, 4
main.transition_value = 20
if hasattr(main, 'gui'):
    main.gui = gui
_given = vars(gui).setdefault('_given', {name: vars(gui)[name] for name in gui.__all__})
vars(gui).update(_given)
for _name, _function in _given.items():
    if vars(main).get(_name) is _function:
        setattr(main, _name, lambda *parts, _name=_name: getattr(gui, _name)(*parts))
for _name in ('bind', 'unbind') if gui.opened() else ():
    vars(gui.opened()[0]).pop(_name, None)
if hasattr(main, 'random_slot') and not hasattr(main, 'random_position'):
    random_position = main.random_position = main.random_slot
if hasattr(main, 'find_key') and not hasattr(main, 'find_identifier'):
    find_identifier = main.find_identifier = main.find_key
"""


def _problem(
    number: int,
    title: str,
    marks: int,
    asked: str,
    *checks: Check,
    about: str | None = None,
    patched: bool = True,
) -> Task:
    """A problem of the document, patched with right versions of all but what it is `about`."""
    patches = (all_but(title if about is None else about),) if patched else ()
    return Task(str(number), title, asked, marks, checks, patches)


TASKS = (
    _problem(
        1,
        "grid",
        1,
        "Let `grid` be the empty board: a list of four rows, each a list of four zeros.",
        Check("four rows of four zeros", (Example("main.grid", checks.EMPTY),)),
        Check(
            "the rows are four different lists",
            (Example("len({id(row) for row in main.grid})", 4),),
        ),
        patched=False,
    ),
    _problem(
        2,
        "empty_slots",
        2,
        "Return the (row, column) of every empty slot of the grid, row by row.",
        Check("all empty slots and no others", checks.empty_slots),
    ),
    _problem(
        3,
        "random_position",
        1,
        "Return one of the empty slots, drawn at random.",
        Check("any empty slot, and nothing else", run=checks.draws_every_slot),
    ),
    _problem(
        4,
        "add_random_number",
        3,
        "Put a random number on a random empty slot of board and grid, under a key "
        '"Tile number x" of its own, and return the slot.',
        Check("returns the slot", checks.ADDED_SLOT),
        Check("the grid and the board hold a 2 or a 4", checks.ADDED_EVERYWHERE),
        Check("each number has a key of its own, a text", run=checks.counts_its_keys),
    ),
    _problem(
        5,
        "find_identifier",
        2,
        "Return the key of the tile on a slot.",
        Check("the key of every tile", lambda: checks.identifiers(FIGURE_3)),
        Check("None for an empty slot", lambda: checks.no_identifiers(FIGURE_3)),
    ),
    _problem(
        6,
        "update_grid",
        7,
        "Move the number of one slot a single step in the grid: into an empty slot, or onto "
        "an equal number, with which it adds up. Return where it is then.",
        *(
            Check(f"steps {direction.lower()}", checks.steps(direction), weight=3)
            for direction in checks.STEPS
        ),
        Check("an empty slot, too, goes where there is room", checks.EMPTY_SOURCES),
        Check("a sum can be added to again", checks.MERGED_BEFORE),
    ),
    _problem(
        7,
        "animate_movement",
        12,
        "Move a tile by the distances in steps of `transition_value`, the rest at the end, "
        "in the direction given; return True.",
        *(
            Check(
                f"the whole way {direction.lower()}",
                (checks.animated(direction, 140), checks.animated(direction, 50)),
                weight=2,
            )
            for direction in checks.STEPS
        ),
        Check(
            "in steps of 20 pixels and a rest",
            tuple(
                checks.in_steps(direction, distance)
                for direction in ("RIGHT", "DOWN")
                for distance in (140, 50, 7)
            ),
            weight=2,
        ),
        Check(
            "in steps of transition_value",
            (checks.in_steps("RIGHT", 140, 50), checks.in_steps("DOWN", 140, 70)),
            weight=2,
        ),
    ),
    _problem(
        8,
        "move",
        6,
        "Move a tile slot by slot in a direction until it can go no further.",
        Check("to the wall", checks.TO_THE_WALL, weight=3),
        Check("to a different number", checks.TO_ANOTHER, weight=1),
        Check("into an equal number, and then no further", checks.INTO_AN_EQUAL, weight=2),
    ),
    *tuple(
        _problem(
            number,
            f"move_all_{direction.lower()}",
            5,
            f"Move all tiles {words}, {line} by {line} from the first, "
            f"each time beginning with the {first} tile.",
            *checks.all_move(direction),
        )
        for number, direction, words, line, first in (
            (9, "DOWN", "down", "column", "lowermost"),
            (10, "UP", "up", "column", "uppermost"),
            (11, "RIGHT", "to the right", "row", "rightmost"),
            (12, "LEFT", "to the left", "row", "leftmost"),
        )
    ),
    _problem(
        13,
        "move_all",
        3,
        "Move all tiles in the direction of the arrow key that `event.keysym` names.",
        *tuple(checks.by_key(direction) for direction in checks.STEPS),
    ),
    _problem(
        14,
        "keyboard_callback",
        7,
        "Move all tiles; add a random number if at least one of them has moved.",
        Check("tiles move and a number comes", checks.ADDS, weight=3),
        Check("a merge is a move, too", checks.ADDS_AFTER_MERGES, weight=1),
        Check("no number comes when nothing moves", checks.ADDS_NOTHING, weight=3),
    ),
    _problem(
        15,
        "bind",
        6,
        "Bind every key of `controls` to `keyboard_callback`, with map.",
        Check("all four keys are bound", checks.BINDS_ALL),
        Check("each key plays a turn", checks.KEYS_PLAY),
    ),
    _problem(
        16,
        "unbind",
        6,
        "Unbind every key of `controls`, with map.",
        Check("no key is bound any more", checks.UNBINDS_ALL),
    ),
    _problem(
        17,
        "the main section",
        2,
        "Put two numbers on the board and bind the arrow keys, then start.",
        Check("two numbers stand on the board", run=checks.starts_with_two),
        Check("the arrow keys are bound", run=checks.starts_with_keys),
        about="",
    ),
    _problem(
        18,
        "merge",
        9,
        "If another tile stands on the same slot, make one of the two, with the sum of the "
        "grid, add it to the score, show both and return True; else return False.",
        Check("True when two have merged", checks.MERGES_SAY_SO),
        Check("False for a tile alone", checks.ALONE_SAYS_SO, weight=2),
        Check("one of them is left in board.numbers", checks.MERGED_NUMBERS, weight=2),
        Check("the window shows the sum", checks.MERGED_PICTURES, weight=2),
        Check("the score grows by the sum", checks.MERGED_SCORE),
        Check("the window shows the score", checks.MERGED_SCORE_SEEN),
    ),
    _problem(
        19,
        "animate_movement with merge",
        5,
        "When the tile has arrived, merge it; return False if it has merged.",
        Check("the tile merges when it has arrived", checks.MERGES_AT_THE_END),
        Check("False tells of the merge", checks.TELLS_OF_THE_MERGE),
        about="animate_movement",
    ),
    _problem(
        20,
        "is_game_over",
        10,
        "Show whether the game is won (2048 is on the board) or lost (nothing can move) and "
        "return True; return False while it goes on.",
        Check("won when no move is left", checks.WON_AT_LAST, weight=2),
        Check("never lost with 2048 on the board", checks.WON, weight=1),
        Check("lost", checks.LOST, weight=3),
        Check("goes on while a slot is empty", checks.GOES_ON, weight=2),
        Check("goes on while two neighbours are equal", checks.GOES_ON_FULL, weight=2),
    ),
    _problem(
        21,
        "keyboard_callback and the keys",
        4,
        "Unbind the keys before anything moves; bind them again if the game is not over.",
        Check("dead while tiles move, alive afterwards", checks.DEAD_AND_ALIVE, weight=2),
        Check("dead when the game is won", checks.DEAD_WHEN_WON),
        Check("dead when the new number ends the game", checks.DEAD_WHEN_LOST),
        about="keyboard_callback",
    ),
)

GRADING = Grading(
    course="comp1127",
    module="main",
    files=("main.py", "game.py"),
    expects=tuple(sorted(DOCUMENT_NAMES)),
    given_files=(Path(__file__).parent / "given" / "gui.py",),
    gui=True,
    prelude=PRELUDE,
    opening="import {module} as main, gui; from {module} import *; "
    "from types import SimpleNamespace",
    tasks=TASKS,
    not_graded="that animate_movement and move are recursive, that bind and unbind use map and "
    "lambda, and the Challenge in bonus.py",
)
