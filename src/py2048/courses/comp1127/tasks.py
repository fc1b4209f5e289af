"""The 21 problems of the COMP1127 project, with the document's marks, and their checks."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from py2048.core.board import Cell
from py2048.core.direction import Direction
from py2048.core.rules import Merging
from py2048.courses.comp1127 import main
from py2048.courses.grading import (
    Check,
    Example,
    Grading,
    Loosely,
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
    Rows,
    checkered,
    random_rows,
    slid,
    tiles_of,
    with_one_pair,
    with_tiles,
)
from py2048.courses.grading.chance import draws_evenly

HERE = Path(__file__).parent
SHEET = read_sheet(HERE / "starter" / "TASKS.md")

STUCK: Rows = [[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]]
STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "RIGHT": (0, 1), "LEFT": (0, -1)}
SEQUENCES = ["<Down>", "<Left>", "<Right>", "<Up>"]
COUNT = "len(board.numbers)"
MAX_PUTS = 4  # with more tiles, examples use a loop instead of separate calls
PUT_ALL = (
    "tiles = [gui.put(board, 'abcdefghijklmnop'[n], gui.find_number(main.grid[n // 4][n % 4]), "
    "n // 4, n % 4) for n in range(16)]"
)
KEY_ONLY = "key"
DISTANCES = "key, horizontal, vertical"
PUT_PARAMETERS = "key, number, row, column"


def log(function: str, parameters: str, note: str) -> str:
    """Return code that replaces a function of gui by one that records its calls.

    The replacement accepts both of the document's names for the board parameter.
    """
    named = "".join(f"{name}=0, " for name in parameters.split(", ") if name)
    takes = f"lambda board=0, {named}game_board=0"
    return f"gui.{function} = {takes}: (board or game_board).numbers is None or {note}"


LOG_MOVED = "moved = []\n" + log("move_tile", DISTANCES, "moved.append(key)")
KEYS_BOUND = (
    "keys = {}\n"
    "frame.bind = lambda sequence, func, add=None: keys.update({sequence: func})\n"
    "frame.unbind = lambda sequence, funcid=None: keys.pop(sequence, None)"
)
KEYS_DO_SOMETHING = f"keys.update(dict.fromkeys({SEQUENCES}, print))"
A_2_AND_A_4 = "numbers = [gui.find_number(2), gui.find_number(4)]\ngui.random_number = numbers.pop"
CELLS = [(row, column) for row in range(4) for column in range(4)]


# --- boards, and the code that sets them up ---


def unequal_rows(seed: str) -> Rows:
    """Return a grid without equal numbers, so that nothing can merge."""
    draw = random.Random(seed)
    values = [2**rank for rank in range(1, 12)] + [0] * 5
    draw.shuffle(values)
    return [values[at : at + 4] for at in (0, 4, 8, 12)]


def key_of(cell: Cell) -> str:
    """Return the key of the tile on a cell."""
    return "abcdefghijklmnop"[4 * cell[0] + cell[1]]


def grid_code(rows: Rows) -> str:
    """Return code that sets the student's grid."""
    return f"main.grid = {rows}"


def setup(rows: Rows, *notes: str) -> str:
    """Return code that sets the grid, opens a board with its tiles, and runs `notes`."""
    puts = [
        f"gui.put(board, {key_of((row, column))!r}, gui.find_number({rows[row][column]}), "
        f"{row}, {column})"
        for row, column in tiles_of(rows)
    ]
    if len(puts) > MAX_PUTS:
        puts = [PUT_ALL]
    return "\n".join([grid_code(rows), "frame, board = gui.setup()", *puts, *notes])


def event_code(direction: str) -> str:
    """Return code for a key press as Tk reports it."""
    return f"SimpleNamespace(keysym={direction.title()!r})"


def moved_all(rows: Rows, direction: str) -> Rows:
    """Return the grid after a whole move, computed by py2048's engine."""
    return slid(rows, Direction[direction], Merging.CASCADE)


def after_step(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Move a number by one step (problem 6); return its new cell and the new grid."""
    (row, column), (down, right) = cell, STEPS[direction]
    target = (row + down, column + right)
    value = rows[row][column]
    if target not in CELLS or rows[target[0]][target[1]] not in (0, value):
        return cell, rows
    return target, with_tiles({target: rows[target[0]][target[1]] + value, cell: 0}, rows)


def moved_fully(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Move a tile until it merges or is blocked (problem 8); return its cell and the new grid."""
    while True:
        target, after = after_step(rows, cell, direction)
        merged = len(tiles_of(after)) < len(tiles_of(rows))
        if merged or target == cell:
            return target, after
        cell, rows = target, after


# --- problems 2 to 6 ---

FIGURE_2: Rows = [[0, 0, 0, 4], [0, 0, 4, 2], [2, 4, 4, 2], [0, 8, 4, 2]]
FIGURE_3: Rows = [[0, 4, 0, 2], [2, 0, 0, 8], [0, 0, 16, 0], [32, 4, 0, 64]]


def empty_slots(seed: str) -> Iterator[Example]:
    """Yield examples with the document's figure, few or many empty slots, and equal rows."""
    grids = [FIGURE_2, EMPTY, STUCK, *(with_tiles({cell: 0}, STUCK) for cell in CELLS)]
    grids += [[[0, 2, 2, 0]] * 2 + [[2, 2, 2, 2]] * 2, [[2, 0, 2, 0]] * 4]
    grids += [random_rows(f"{seed} {number}", (0, 0, 2, 4)) for number in range(8)]
    for rows in grids:
        expected = [cell for cell in CELLS if cell not in tiles_of(rows)]
        yield Example("empty_slots()", expected, given=grid_code(rows))


def draws_every_slot(session: SubmissionSession) -> None:
    """Check that all empty slots, and only those, are chosen with equal probability."""
    for slots in ([(2, 3)], [(0, 0), (0, 3), (3, 1)]):
        session.begin()
        session.run(grid_code(with_tiles(dict.fromkeys(slots, 0), STUCK)))
        draws_evenly(session, "random_position()", slots)


ONE_LEFT = with_tiles({(2, 3): 0}, STUCK)
ADDED_EVERYWHERE = (
    Example(
        "add_random_number(board)",
        given=setup(ONE_LEFT),
        then={"main.grid[2][3]": OneOf(2, 4), COUNT: 16, "(2, 3) in board.numbers.values()": True},
    ),
    Example(
        "add_random_number(board)",
        given=setup(
            ONE_LEFT,
            "seen = []",
            A_2_AND_A_4,
            "put = gui.put",
            log(
                "put",
                PUT_PARAMETERS,
                f"seen.append(number.value) or put(board or game_board, {PUT_PARAMETERS})",
            ),
        ),
        then={"seen == [main.grid[2][3]]": True},
    ),
    Example(
        "add_random_number(board)\nadd_random_number(board)\nsorted(sum(main.grid, []))",
        [0] * 14 + [2, 4],
        given=setup(EMPTY, A_2_AND_A_4),
    ),
)
THREE_KEYS = Satisfies(
    "['Tile number 1', 'Tile number 2', 'Tile number 3'], or three other strings",
    lambda keys: len(keys) == 3 and all(isinstance(key, str) for key in keys),
)


def counts_its_keys(session: SubmissionSession) -> None:
    """Check that three numbers get three different keys, all of them strings."""
    session.fresh()
    session.begin()
    session.run(setup(EMPTY))
    for _ in range(3):
        session.run("add_random_number(board)")
    session.expect("list(board.numbers)", THREE_KEYS)


def lands_on_any_slot(session: SubmissionSession) -> None:
    """Check that the first number is not on the same slot in 20 games."""
    places = set()
    for seed in map(session.seed_for, range(20)):
        session.begin()
        rows = session.value(f"{setup(EMPTY)}\nadd_random_number(board)\nmain.grid", seed=seed)
        places.add(tuple(tiles_of(rows)))
    if len(places) == 1:
        session.fail("different slots in different games", f"20 times {rows}")


def identifier_at(cell: Cell, expected: str | None) -> Example:
    """Ask for the key on one slot of the figure."""
    return Example(f"find_identifier(board, {cell[0]}, {cell[1]})", expected, given=setup(FIGURE_3))


IDENTIFIERS = [identifier_at(cell, key_of(cell)) for cell in tiles_of(FIGURE_3)]
NO_IDENTIFIERS = [identifier_at(cell, None) for cell in CELLS if cell not in tiles_of(FIGURE_3)]


def identifiers(seed: str) -> list[Example]:
    """Look up the key of every tile in the figure, and of every slot of a random board."""
    rows = random_rows(seed, (0, 0, 2, 4, 8, 16))
    found = [(cell, key_of(cell) if cell in tiles_of(rows) else None) for cell in CELLS]
    drawn = [
        Example(f"find_identifier(board, {row}, {column})", key, given=setup(rows))
        for (row, column), key in found
    ]
    return [*IDENTIFIERS, *drawn]


def step_of(rows: Rows, cell: Cell, direction: str) -> Example:
    """Call `update_grid` for one cell."""
    place, after = after_step(rows, cell, direction)
    code = f"update_grid({cell[0]}, {cell[1]}, {direction})"
    return Example(code, place, given=grid_code(rows), then={"main.grid": after})


def steps(direction: str) -> Callable[[str], list[Example]]:
    """Return a function that yields examples of single steps in one direction, on several grids."""

    def examples(seed: str) -> list[Example]:
        grids = [with_tiles({(1, 1): 2}), with_tiles({(0, 0): 2, (3, 3): 4})]
        grids += [STUCK, [[2, 2, 2, 2]] * 4, random_rows(seed, (0, 2, 2, 4))]
        return [step_of(rows, cell, direction) for rows in grids for cell in tiles_of(rows)]

    return examples


# --- problems 7 and 8 ---

ONE: Rows = with_tiles({(1, 1): 2})


def animate(direction: str, distance: int, code: str, expected: object, step: int = 20) -> Example:
    """Animate a single tile over a distance; afterwards `code` must give `expected`."""
    down, right = STEPS[direction]
    moves = "moves = []\n" + log("move_tile", DISTANCES, "moves.append((horizontal, vertical))")
    given = setup(ONE, moves)
    return Example(
        f"animate_movement(board, 'f', {distance * abs(right)}, {distance * abs(down)}, "
        f"{direction})",
        given=given if step == 20 else f"main.transition_value = {step}\n{given}",
        then={code: Loosely(expected)},
        expected=True if code == TOTAL else ...,
    )


TOTAL = "[sum(right for right, down in moves), sum(down for right, down in moves)]"


def whole_way(direction: str) -> list[Example]:
    """Check the total distance that a single tile moves."""
    down, right = STEPS[direction]
    return [animate(direction, way, TOTAL, [right * way, down * way]) for way in (140, 50)]


def in_steps(direction: str, distance: int, step: int = 20) -> Example:
    """Check the individual steps of a single tile."""
    down, right = STEPS[direction]
    lengths = [step] * (distance // step) + [distance % step] * (distance % step > 0)
    expected = [(right * length, down * length) for length in lengths]
    return animate(direction, distance, "[m for m in moves if m != (0, 0)]", expected, step)


def move_of(tiles: dict[Cell, int], cell: Cell, direction: str) -> Example:
    """Move one tile as far as possible."""
    rows = with_tiles(tiles)
    call = f"move(board, {key_of(cell)!r}, {direction})"
    return leads_to(moved_fully(rows, cell, direction)[1], rows, call)


def leads_to(after: Rows, rows: Rows, call: str) -> Example:
    """Check that `call` turns `rows` into `after`, both in the grid and on the board."""
    then = {"main.grid": after, "sorted(board.numbers.values())": tiles_of(after)}
    return Example(call, given=setup(rows), then=then)


# --- problems 9 to 14, and 21 ---


def whole_move(rows: Rows, direction: str, call: str) -> Example:
    """Move the whole board once."""
    return leads_to(moved_all(rows, direction), rows, call)


def line_at_wall(values: list[int], direction: str) -> Rows:
    """Return a grid with one line of numbers, starting at the wall."""
    down, right = STEPS[direction]
    ordered = values if (down or right) < 0 else values[::-1]
    return with_tiles({(at, 2) if down else (2, at): value for at, value in enumerate(ordered)})


def all_move(direction: str) -> tuple[Check, ...]:
    """Return the checks of problems 9 to 12 for one direction."""
    call = f"move_all_{direction.lower()}(board)"
    gaps = [with_tiles({(at, 3 - at): 2 for at in range(4)}), line_at_wall([0, 2, 0, 4], direction)]
    chains = ([2, 2, 0, 0], [0, 2, 0, 2], [4, 2, 2, 0], [2, 2, 2, 2], [2, 2, 4, 8], [2, 2, 4, 0])
    merges = [line_at_wall(values, direction) for values in chains]

    def far_moves(seed: str) -> list[Example]:
        drawn = [unequal_rows(f"{seed} {number}") for number in range(10)]
        return [whole_move(rows, direction, call) for rows in (*gaps, *drawn)]

    def sums(seed: str) -> list[Example]:
        drawn = [random_rows(f"{seed} {number}", (0, 2, 2, 4, 8)) for number in range(10)]
        return [whole_move(rows, direction, call) for rows in (*merges, *drawn)]

    return (
        Check("every tile moves as far as it can", far_moves, weight=2),
        Check("equal tiles merge, starting at the wall", sums, weight=2),
        Check("moves line by line, the tile nearest the wall first", [order_of(direction, call)]),
    )


def order_of(direction: str, call: str) -> Example:
    """Check the order in which the tiles start to move."""
    down, right = STEPS[direction]
    middle = with_tiles({(1, 1): 2, (1, 2): 4, (2, 1): 8, (2, 2): 16})
    cells = sorted(
        tiles_of(middle),
        key=lambda cell: (cell[1], -down * cell[0]) if down else (cell[0], -right * cell[1]),
    )
    order = {"list(dict.fromkeys(moved))": [key_of(cell) for cell in cells]}
    return Example(call, given=setup(middle, LOG_MOVED), then=order)


def by_key(direction: str) -> Check:
    """Return problem 13's check for one key."""
    call = f"move_all(board, {event_code(direction)})"

    def examples(seed: str) -> list[Example]:
        grids = [ONE, *(unequal_rows(f"{seed} {number}") for number in range(3))]
        return [whole_move(rows, direction, call) for rows in grids]

    return Check(f"the key {direction.title()}", examples)


def turn_example(rows: Rows, direction: str, then: dict[str, object], *notes: str) -> Example:
    """Press one key on a board."""
    code = f"keyboard_callback({event_code(direction)}, frame, board)"
    return Example(code, given=setup(rows, *notes), then=then)


def moved_and_added(rows: Rows, direction: str) -> Example:
    """Press a key that moves tiles. Afterwards all must be in the right place, plus a new tile."""
    after = tiles_of(moved_all(rows, direction))
    stand = f"all(main.grid[r][c] for r, c in {after})"
    filled = "sum(number > 0 for row in main.grid for number in row)"
    number = len(after) + 1
    return turn_example(rows, direction, {stand: True, filled: number, COUNT: number})


def nothing_added(tiles: dict[Cell, int], direction: str) -> Example:
    """Press a key that moves nothing. Nothing may change."""
    rows = with_tiles(tiles)
    return turn_example(rows, direction, {"main.grid": rows, COUNT: len(tiles)})


def key_turn(rows: Rows, direction: str, then: dict[str, object]) -> Example:
    """Press a key while the arrow keys are bound."""
    alive = "alive = []\n" + log("move_tile", DISTANCES, "alive.append(sorted(keys))")
    return turn_example(rows, direction, then, KEYS_BOUND, KEYS_DO_SOMETHING, alive)


def bound_after(call: str, keys: list[str], *notes: str) -> list[Example]:
    """Check which keys are bound after a call."""
    return [Example(call, given=setup(EMPTY, *notes), then={"sorted(keys)": keys})]


def key_plays(direction: str) -> Example:
    """Check that a bound key plays a turn."""
    row, column = moved_fully(ONE, (1, 1), direction)[0]
    return Example(
        f"bind(frame, board)\nkeys['<{direction.title()}>']({event_code(direction)})",
        given=setup(ONE, KEYS_BOUND),
        then={f"main.grid[{row}][{column}]": 2},
    )


# --- problem 17 ---

# The next two functions run in the submission's process, where `main` is the student's module.


def run_main_section(main: Any) -> None:
    """Run the statements of the main section, wherever they are in the file."""
    import ast

    done = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign)
    with open(main.__file__, encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
        section = [
            node
            for node in ast.parse(file.read()).body
            if not isinstance(node, done)
            and (not isinstance(node, ast.Assign) or isinstance(node.value, ast.Call))
        ]
    main.grid = [[0, 0, 0, 0] for _ in range(4)]
    name, main.__name__ = main.__name__, "__main__"
    try:
        exec(compile(ast.Module(section, []), main.__file__, "exec"), vars(main))
    finally:
        main.__name__ = name


def reset_grid(main: Any) -> None:
    """Set `grid` to its initial value, in case the file starts a game when it is loaded."""
    import ast

    with open(main.__file__, encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
        for node in ast.parse(file.read()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "grid":
                exec(compile(ast.Module([node], []), main.__file__, "exec"), vars(main))


def starts_with(code: str, expected: object, words: str) -> Callable[[SubmissionSession], None]:
    """Return a function that checks the state after the main section has run."""

    def check(session: SubmissionSession) -> None:
        session.begin()
        outcome = session.run(calling(run_main_section, "main"))
        # The report shows only steps that a student can repeat, not how the grader inspects the
        # program.
        session.shown[:] = [f"$ python {session.submission.file}"]
        if outcome.error is None or outcome.error.type != "LeftAlone":
            session.fail("a window that waits for keys", str(outcome.error or "the program ended"))
        opened = session.value("len(gui_window.opened)", show=False)
        if opened != 1:
            session.fail("one open window", f"{opened} windows")
        found = session.value(code, show=False)
        if found != expected:
            session.fail(f"{words}: {expected}", f"{words}: {found}")

    return check


# --- problems 18 to 20 ---

TWO_ON_ONE = (
    "main.grid = [[0, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]]\n"
    "frame, board = gui.setup()\n"
    "gui.put(board, 'x', gui.find_number(4), 3, 3)\n"
    "gui.put(board, 'y', gui.find_number(4), 1, 1)\n"
    "gui.put(board, 'z', gui.find_number(4), 1, 1)\n"
    "board.score = 100\n"
)
LOG_PICTURES = "\n".join(
    (
        "pictures = {'x': 4, 'y': 4, 'z': 4}",
        log("remove_number", KEY_ONLY, "pictures.pop(key, None)"),
        log("put", PUT_PARAMETERS, "pictures.update({key: number.value}) is None"),
    )
)
LOG_SCORES = "seen = []\n" + log("update_score", "", "seen.append((board or game_board).score)")


def merges(code: str, expected: object, notes: str = "", answer: object = ...) -> list[Example]:
    """Check the state after two tiles have merged, with either tile's key."""
    then = {code: expected} if code else {}
    return [
        Example(f"merge(board, {key!r})", answer, given=TWO_ON_ONE + notes, then=then)
        for key in "yz"
    ]


ALONE = Example("merge(board, 'f')", False, given=setup(ONE))
ONTO_AN_EQUAL = (
    "main.grid = [[4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]\n"
    "frame, board = gui.setup()\n"
    "gui.put(board, 'a', gui.find_number(2), 0, 0)\n"
    "gui.put(board, 'b', gui.find_number(2), 0, 1)\n"
    "board.numbers['b'] = (0, 0)"
)


def arrival(answer: object = ..., **options: Any) -> list[Example]:
    """Animate a tile onto an equal one."""
    call = "animate_movement(board, 'b', 140, 0, LEFT)"
    return [Example(call, answer, given=ONTO_AN_EQUAL, **options)]


LOG_END = "ended = []\n" + log("game_over", "winner", "ended.append(bool(winner))")


def over_call(rows: Rows, answer: bool, ended: list[bool]) -> Example:
    """Call `is_game_over` once; `ended` lists the messages it must show."""
    return Example("is_game_over(board)", answer, given=setup(rows, LOG_END), then={"ended": ended})


def reached_2048(tiles: dict[Cell, int]) -> Example:
    """Check a board with 2048 and moves left.

    The game may be won or, as in the staff's solution, not over yet.
    """
    answers = OneOf((True, [True]), (False, []))
    given = setup(with_tiles(tiles), LOG_END)
    return Example("is_game_over(board), ended", answers, given=given)


# Added to other checks, so that a constant result fails.
STUCK_ENDS = Example("is_game_over(board)", True, given=setup(STUCK, LOG_END))
WON_LAST = [over_call(with_tiles({cell: 2048}, STUCK), True, [True]) for cell in ((3, 3), (0, 1))]


# --- reference versions of other problems' functions ---

FUNCTIONS = [task.title.partition("(")[0] for task in SHEET.values() if "(" in task.title]
VALUES = ("grid", "helper", "controls", "transition_value")
ALIASES = {"random_slot": "random_position", "find_key": "find_identifier"}


def all_but(*asked: str) -> str:
    """Return code that replaces all functions of ``main`` except `asked` with the reference."""
    names = [name for name in FUNCTIONS if name not in asked]
    names += [alias for alias, name in ALIASES.items() if name not in asked]
    document = (*FUNCTIONS, "grid", *ALIASES)
    # One direction may use another, but two directions must not use each other.
    direction = next((name for name in asked if name.startswith("move_all_")), "")
    return right_versions(main, names, "main", document=document, unless_using=direction)


def _problem(number: int, *checks: Check, about: str | None = None) -> Task:
    """Return a problem with its checks; its patches replace all functions except `about`."""
    task = SHEET[str(number)]
    about = task.title.partition("(")[0] if about is None else about
    patch = calling(reset_grid, "main") if about == "grid" else all_but(about)
    return replace(task, checks=checks, reference_patches=(patch,))


TASKS = (
    _problem(
        1,
        Check("four rows of four zeros", [Example("main.grid", EMPTY)]),
        Check("the rows are different lists", [Example("len({id(row) for row in main.grid})", 4)]),
    ),
    _problem(2, Check("all empty slots, and no others", empty_slots)),
    _problem(3, Check("draws every empty slot, and no other slot", run=draws_every_slot)),
    _problem(
        4,
        Check(
            "returns the slot",
            [
                Example("add_random_number(board)", (2, 3), given=setup(ONE_LEFT)),
                Example(
                    "add_random_number(board) in main.empty_slots()", False, given=setup(EMPTY)
                ),
            ],
        ),
        Check("adds a 2 or a 4 to the grid and the board", ADDED_EVERYWHERE),
        Check("gives each tile its own key, a string", run=counts_its_keys),
        Check("draws the slot at random", run=lands_on_any_slot),
    ),
    _problem(
        5,
        Check("the key of every tile", identifiers),
        Check("None for an empty slot", [IDENTIFIERS[0], *NO_IDENTIFIERS]),
    ),
    _problem(
        6,
        *(Check(f"steps {direction.lower()}", steps(direction), weight=3) for direction in STEPS),
        Check(
            "an empty slot's 0 also moves into an empty slot",
            [
                step_of(with_tiles({(0, 0): 2, (0, 1): 2, (2, 2): 2}), (2, 1), direction)
                for direction in STEPS
            ],
        ),
        Check(
            "a merged number can merge again",
            [
                Example(
                    "update_grid(0, 1, LEFT)\nupdate_grid(0, 2, LEFT)\nupdate_grid(0, 1, LEFT)",
                    (0, 0),
                    given=grid_code([[2, 2, 4, 0], *EMPTY[1:]]),
                    then={"main.grid[0]": [8, 0, 0, 0]},
                )
            ],
        ),
    ),
    _problem(
        7,
        *(Check(f"moves all the way {way.lower()}", whole_way(way), weight=2) for way in STEPS),
        Check(
            "moves in steps of 20 pixels, then the remainder",
            [in_steps(way, distance) for way in ("RIGHT", "DOWN") for distance in (140, 50, 7)],
            weight=2,
        ),
        Check(
            "moves in steps of transition_value",
            [in_steps("RIGHT", 140, 50), in_steps("DOWN", 140, 70)],
            weight=2,
        ),
    ),
    _problem(
        8,
        Check(
            "moves to the wall",
            [
                move_of({(3, 1): 4}, (3, 1), "UP"),
                move_of({(0, 2): 4}, (0, 2), "DOWN"),
                move_of({(1, 0): 4}, (1, 0), "RIGHT"),
                move_of({(2, 3): 4}, (2, 3), "LEFT"),
            ],
            weight=3,
        ),
        Check(
            "stops before a different number",
            [
                move_of({(0, 0): 4, (0, 3): 2}, (0, 3), "LEFT"),
                move_of({(3, 2): 8, (0, 2): 2}, (0, 2), "DOWN"),
                move_of({(3, 2): 8, (2, 2): 2}, (2, 2), "DOWN"),
            ],
        ),
        Check(
            "merges with an equal number and stops there",
            [
                move_of({(0, 0): 2, (0, 3): 2}, (0, 3), "LEFT"),
                move_of({(0, 0): 8, (0, 1): 4, (0, 3): 4}, (0, 3), "LEFT"),
                move_of({(3, 1): 8, (2, 1): 4, (1, 1): 4}, (1, 1), "DOWN"),
            ],
            weight=2,
        ),
    ),
    *(
        _problem(number, *all_move(direction))
        for number, direction in enumerate(("DOWN", "UP", "RIGHT", "LEFT"), 9)
    ),
    _problem(13, *map(by_key, STEPS)),
    _problem(
        14,
        Check(
            "moves the tiles and adds a number",
            [moved_and_added(with_tiles({(1, 1): 2, (2, 2): 4}), way) for way in STEPS],
            weight=3,
        ),
        Check(
            "a merge also counts as a move",
            [
                moved_and_added(with_tiles({(0, 0): 2, (0, 1): 2}), "LEFT"),
                moved_and_added([[2, 2, 4, 8], *STUCK[1:]], "LEFT"),
                moved_and_added([[2, 4, 2, 4], [2, 8, 16, 8], [4, 2, 4, 2], [8, 4, 8, 4]], "DOWN"),
            ],
        ),
        Check(
            "adds no number if nothing moves",
            [
                # Includes a turn with a move, so that a function that does nothing fails.
                turn_example(ONE, "LEFT", {"main.grid[1][0]": 2}),
                nothing_added({(0, 0): 2}, "LEFT"),
                nothing_added({(0, 0): 2}, "UP"),
                nothing_added({(0, 0): 2, (0, 1): 4, (0, 2): 2, (0, 3): 4}, "UP"),
                nothing_added({(3, 3): 2, (2, 3): 4}, "DOWN"),
                nothing_added({(3, 3): 2, (3, 2): 4}, "RIGHT"),
            ],
            weight=3,
        ),
    ),
    _problem(
        15,
        Check("all four keys are bound", bound_after("bind(frame, board)", SEQUENCES, KEYS_BOUND)),
        Check("each key plays a turn", list(map(key_plays, STEPS))),
    ),
    _problem(
        16,
        Check("no key is bound", bound_after("unbind(frame)", [], KEYS_BOUND, KEYS_DO_SOMETHING)),
    ),
    _problem(
        17,
        Check(
            "the board starts with two numbers",
            run=starts_with("len(gui_window.opened[0][1].numbers)", 2, "numbers on the board"),
        ),
        Check(
            "the arrow keys are bound",
            run=starts_with("sorted(gui_window.opened[0][0].bound)", SEQUENCES, "keys bound"),
        ),
        about="",
    ),
    _problem(
        18,
        Check("returns True if tiles have merged", [*merges("", None, answer=True), ALONE]),
        Check(
            "returns False if there is only one tile",
            [
                Example(f"merge(board, {key!r})", False, given=given, then={COUNT: count})
                for key, given, count in (("f", setup(ONE), 1), ("x", TWO_ON_ONE, 3))
            ]
            + merges("", None, answer=True),
            weight=2,
        ),
        Check(
            "leaves one of the two tiles in board.numbers",
            merges("sorted(board.numbers.values())", [(1, 1), (3, 3)]),
            weight=2,
        ),
        Check(
            "the window shows the sum",
            merges("sorted(pictures.values())", [4, 8], LOG_PICTURES),
            weight=2,
        ),
        Check("adds the sum to the score", merges("board.score", 108)),
        Check("the window shows the score", merges("seen", [108], LOG_SCORES)),
    ),
    _problem(
        19,
        Check(
            "merges the tile when it arrives",
            arrival(then={"list(board.numbers.values())": [(0, 0)], "board.score": 4}),
        ),
        Check(
            "returns False after a merge",
            [
                *arrival(False),
                Example("animate_movement(board, 'f', 140, 0, RIGHT)", True, given=setup(ONE)),
            ],
        ),
        about="animate_movement",
    ),
    _problem(
        20,
        Check("won, even if no move is left", WON_LAST, weight=2),
        Check(
            "never lost with 2048 on the board",
            [
                reached_2048({(1, 2): 2048}),
                reached_2048({(0, 0): 2048, (3, 3): 2}),
                reached_2048({(3, 3): 2048, (3, 2): 2048}),
                WON_LAST[0],  # so that a function that never shows a message fails
            ],
        ),
        Check(
            "lost if no tile can move",
            [
                over_call(rows, True, [False])
                for rows in (STUCK, checkered(), [[2, 4, 2, 4], [8, 16, 8, 16]] * 2)
            ],
            weight=3,
        ),
        Check(
            "not over while a slot is empty",
            [STUCK_ENDS, over_call(EMPTY, False, [])]
            + [
                over_call(with_tiles({cell: 0}, STUCK), False, [])
                for cell in ((0, 0), (3, 3), (1, 2))
            ],
            weight=2,
        ),
        Check(
            "not over while two neighbours are equal",
            [STUCK_ENDS, *(over_call(rows, False, []) for rows in with_one_pair())],
            weight=2,
        ),
    ),
    _problem(
        21,
        Check(
            "keys are unbound during the move and bound again afterwards",
            [
                key_turn(
                    ONE,
                    way,
                    {"len(alive) > 0": True, "sum(alive, [])": [], "sorted(keys)": SEQUENCES},
                )
                for way in STEPS
            ],
            weight=2,
        ),
        Check(
            "keys stay unbound if the game is won",
            [key_turn(with_tiles({(0, 0): 1024, (0, 1): 1024}), "RIGHT", {"sorted(keys)": []})],
        ),
        Check(
            "keys stay unbound if the new number ends the game",
            [
                # The new number, a 2 or a 4, fills the board. If the number is missing, problem 14
                # fails.
                key_turn(
                    [[0, 8, 32, 128], [4, 8, 16, 64], [8, 16, 32, 128], [16, 32, 64, 256]],
                    "LEFT",
                    {
                        "len(alive) > 0": True,
                        "sorted(keys) if len(board.numbers) == 16 else []": [],
                    },
                )
            ],
        ),
        about="keyboard_callback",
    ),
)

GRADING = Grading(
    course="comp1127",
    module="main",
    files=("main.py", "game.py"),
    expects=(*FUNCTIONS, *VALUES),
    given_files=(HERE / "gui.py", HERE / "given" / "gui_window.py"),
    gui=True,
    prelude=(HERE / "prelude.py").read_text("utf-8"),
    opening="import {module} as main, gui; from {module} import *; "
    "from types import SimpleNamespace",
    tasks=TASKS,
    not_graded="whether animate_movement and move are recursive, whether bind and unbind use map "
    "and lambda, and the Challenge in bonus.py",
)
