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

PROBLEM_1 = Task(
    id="1",
    title="grid",
    asked="Let `grid` be the empty board: a list of four rows, each a list of four zeros.",
    marks=1,
    checks=(
        Check("four rows of four zeros", (Example("main.grid", checks.EMPTY),)),
        Check(
            "the rows are four different lists",
            (Example("len({id(row) for row in main.grid})", 4),),
        ),
    ),
)
PROBLEM_2 = Task(
    id="2",
    title="empty_slots",
    asked="Return the (row, column) of every empty slot of the grid, row by row.",
    marks=2,
    checks=(Check("all empty slots and no others", checks.empty_slots),),
    reference_patches=(all_but("empty_slots"),),
)
PROBLEM_3 = Task(
    id="3",
    title="random_position",
    asked="Return one of the empty slots, drawn at random.",
    marks=1,
    checks=(Check("any empty slot, and nothing else", run=checks.draws_every_slot),),
    reference_patches=(all_but("random_position"),),
)
PROBLEM_4 = Task(
    id="4",
    title="add_random_number",
    asked="Put a random number on a random empty slot of board and grid, under a key "
    '"Tile number x" of its own, and return the slot.',
    marks=3,
    checks=(
        Check("returns the slot", checks.ADDED_SLOT),
        Check("the grid and the board hold a 2 or a 4", checks.ADDED_EVERYWHERE),
        Check("each number has a key of its own, a text", run=checks.counts_its_keys),
    ),
    reference_patches=(all_but("add_random_number"),),
)
PROBLEM_5 = Task(
    id="5",
    title="find_identifier",
    asked="Return the key of the tile on a slot.",
    marks=2,
    checks=(
        Check("the key of every tile", lambda: checks.identifiers(FIGURE_3)),
        Check("None for an empty slot", lambda: checks.no_identifiers(FIGURE_3)),
    ),
    reference_patches=(all_but("find_identifier"),),
)
PROBLEM_6 = Task(
    id="6",
    title="update_grid",
    asked="Move the number of one slot a single step in the grid: into an empty slot, or onto "
    "an equal number, with which it adds up. Return where it is then.",
    marks=7,
    checks=(
        *(
            Check(f"steps {direction.lower()}", checks.steps(direction), weight=3)
            for direction in checks.STEPS
        ),
        Check("an empty slot, too, goes where there is room", checks.EMPTY_SOURCES),
        Check("a sum can be added to again", checks.MERGED_BEFORE),
    ),
    reference_patches=(all_but("update_grid"),),
)
PROBLEM_7 = Task(
    id="7",
    title="animate_movement",
    asked="Move a tile by the distances in steps of `transition_value`, the rest at the end, "
    "in the direction given; return True.",
    marks=12,
    checks=(
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
    reference_patches=(all_but("animate_movement"),),
)
PROBLEM_8 = Task(
    id="8",
    title="move",
    asked="Move a tile slot by slot in a direction until it can go no further.",
    marks=6,
    checks=(
        Check("to the wall", checks.TO_THE_WALL, weight=3),
        Check("to a different number", checks.TO_ANOTHER, weight=1),
        Check("into an equal number, and then no further", checks.INTO_AN_EQUAL, weight=2),
    ),
    reference_patches=(all_but("move"),),
)
PROBLEMS_9_TO_12 = tuple(
    Task(
        id=str(number),
        title=f"move_all_{direction.lower()}",
        asked=f"Move all tiles {words}, {line} by {line} from the first, "
        f"each time beginning with the {first} tile.",
        marks=5,
        checks=checks.all_move(direction),
        reference_patches=(all_but(f"move_all_{direction.lower()}"),),
    )
    for number, direction, words, line, first in (
        (9, "DOWN", "down", "column", "lowermost"),
        (10, "UP", "up", "column", "uppermost"),
        (11, "RIGHT", "to the right", "row", "rightmost"),
        (12, "LEFT", "to the left", "row", "leftmost"),
    )
)
PROBLEM_13 = Task(
    id="13",
    title="move_all",
    asked="Move all tiles in the direction of the arrow key that `event.keysym` names.",
    marks=3,
    checks=tuple(checks.by_key(direction) for direction in checks.STEPS),
    reference_patches=(all_but("move_all"),),
)
PROBLEM_14 = Task(
    id="14",
    title="keyboard_callback",
    asked="Move all tiles; add a random number if at least one of them has moved.",
    marks=7,
    checks=(
        Check("tiles move and a number comes", checks.ADDS, weight=3),
        Check("a merge is a move, too", checks.ADDS_AFTER_MERGES, weight=1),
        Check("no number comes when nothing moves", checks.ADDS_NOTHING, weight=3),
    ),
    reference_patches=(all_but("keyboard_callback"),),
)
PROBLEM_15 = Task(
    id="15",
    title="bind",
    asked="Bind every key of `controls` to `keyboard_callback`, with map.",
    marks=6,
    checks=(
        Check("all four keys are bound", checks.BINDS_ALL),
        Check("each key plays a turn", checks.KEYS_PLAY),
    ),
    reference_patches=(all_but("bind"),),
)
PROBLEM_16 = Task(
    id="16",
    title="unbind",
    asked="Unbind every key of `controls`, with map.",
    marks=6,
    checks=(Check("no key is bound any more", checks.UNBINDS_ALL),),
    reference_patches=(all_but("unbind"),),
)
PROBLEM_17 = Task(
    id="17",
    title="the main section",
    asked="Put two numbers on the board and bind the arrow keys, then start.",
    marks=2,
    checks=(
        Check("two numbers stand on the board", run=checks.starts_with_two),
        Check("the arrow keys are bound", run=checks.starts_with_keys),
    ),
    reference_patches=(all_but(),),
)
PROBLEM_18 = Task(
    id="18",
    title="merge",
    asked="If another tile stands on the same slot, make one of the two, with the sum of the "
    "grid, add it to the score, show both and return True; else return False.",
    marks=9,
    checks=(
        Check("True when two have merged", checks.MERGES_SAY_SO),
        Check("False for a tile alone", checks.ALONE_SAYS_SO, weight=2),
        Check("one of them is left in board.numbers", checks.MERGED_NUMBERS, weight=2),
        Check("the window shows the sum", checks.MERGED_PICTURES, weight=2),
        Check("the score grows by the sum", checks.MERGED_SCORE),
        Check("the window shows the score", checks.MERGED_SCORE_SEEN),
    ),
    reference_patches=(all_but("merge"),),
)
PROBLEM_19 = Task(
    id="19",
    title="animate_movement with merge",
    asked="When the tile has arrived, merge it; return False if it has merged.",
    marks=5,
    checks=(
        Check("the tile merges when it has arrived", checks.MERGES_AT_THE_END),
        Check("False tells of the merge", checks.TELLS_OF_THE_MERGE),
    ),
    reference_patches=(all_but("animate_movement"),),
)
PROBLEM_20 = Task(
    id="20",
    title="is_game_over",
    asked="Show whether the game is won (2048 is on the board) or lost (nothing can move) and "
    "return True; return False while it goes on.",
    marks=10,
    checks=(
        Check("won when no move is left", checks.WON_AT_LAST, weight=2),
        Check("never lost with 2048 on the board", checks.WON, weight=1),
        Check("lost", checks.LOST, weight=3),
        Check("goes on while a slot is empty", checks.GOES_ON, weight=2),
        Check("goes on while two neighbours are equal", checks.GOES_ON_FULL, weight=2),
    ),
    reference_patches=(all_but("is_game_over"),),
)
PROBLEM_21 = Task(
    id="21",
    title="keyboard_callback and the keys",
    asked="Unbind the keys before anything moves; bind them again if the game is not over.",
    marks=4,
    checks=(
        Check("dead while tiles move, alive afterwards", checks.DEAD_AND_ALIVE, weight=2),
        Check("dead when the game is won", checks.DEAD_WHEN_WON),
        Check("dead when the new number ends the game", checks.DEAD_WHEN_LOST),
    ),
    reference_patches=(all_but("keyboard_callback"),),
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
    tasks=(
        PROBLEM_1,
        PROBLEM_2,
        PROBLEM_3,
        PROBLEM_4,
        PROBLEM_5,
        PROBLEM_6,
        PROBLEM_7,
        PROBLEM_8,
        *PROBLEMS_9_TO_12,
        PROBLEM_13,
        PROBLEM_14,
        PROBLEM_15,
        PROBLEM_16,
        PROBLEM_17,
        PROBLEM_18,
        PROBLEM_19,
        PROBLEM_20,
        PROBLEM_21,
    ),
    not_graded="that animate_movement and move are recursive, that bind and unbind use map and "
    "lambda, and the Challenge in bonus.py",
)
