"""The 21 problems of the COMP1127 project, with the assignment's marks, and their checks."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import product
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
    FULL,
    Rows,
    checkered,
    lists,
    random_rows,
    slid,
    tiles_of,
    with_one_pair,
    with_tiles,
)
from py2048.courses.grading.chance import draws_evenly

HERE = Path(__file__).parent
SHEET = read_sheet(HERE / "starter" / "TASKS.md")

STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "RIGHT": (0, 1), "LEFT": (0, -1)}
SEQUENCES = ["<Down>", "<Left>", "<Right>", "<Up>"]
COUNT = "len(board.numbers)"
MAX_PUTS = 4  # Examples with more tiles use a loop instead of separate calls.
PUT_ALL = (
    "tiles = [gui.put(board, 'abcdefghijklmnop'[n], gui.find_number(main.grid[n // 4][n % 4]), "
    "n // 4, n % 4) for n in range(16)]"
)
DISTANCES = "key, horizontal, vertical"
PUT_PARAMETERS = "key, number, row, column"


def log(function: str, parameters: str, note: str) -> str:
    """Return code that replaces a function of `gui` with a function that records its calls.

    The assignment calls the board parameter `board` or `game_board`, so the function takes both.
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
ONE_EMPTY = [with_tiles({cell: 0}, FULL) for cell in CELLS]


# --- boards, and the code that sets them up ---


def unequal_rows(seed: str) -> Rows:
    """Return a grid without equal numbers, in which nothing can merge."""
    draw = random.Random(seed)
    values = [2**rank for rank in range(1, 12)] + [0] * 5
    draw.shuffle(values)
    return [values[at : at + 4] for at in (0, 4, 8, 12)]


def key_of(cell: Cell) -> str:
    """Return the key of the tile on a cell."""
    return "abcdefghijklmnop"[4 * cell[0] + cell[1]]


def grid_code(rows: Rows) -> str:
    """Return code that sets the student's grid to the given rows."""
    return f"main.grid = {rows}"


def setup(rows: Rows, *notes: str, tiles: Sequence[tuple[str, int, Cell]] = ()) -> str:
    """Return code that sets up a grid and a board, followed by the lines in `notes`.

    The tiles are given as (key, value, cell). By default, the grid's tiles are put on the board.
    """
    tiles = tiles or [(key_of((r, c)), rows[r][c], (r, c)) for r, c in tiles_of(rows)]
    puts = [
        f"gui.put(board, {key!r}, gui.find_number({value}), {row}, {column})"
        for key, value, (row, column) in tiles
    ]
    if len(puts) > MAX_PUTS:
        puts = [PUT_ALL]
    return "\n".join([grid_code(rows), "frame, board = gui.setup()", *puts, *notes])


def event_code(direction: str) -> str:
    """Return code for a key press event as Tk reports it."""
    return f"SimpleNamespace(keysym={direction.title()!r})"


def moved_all(rows: Rows, direction: str) -> Rows:
    """Return the grid after moving all numbers, as computed by py2048's engine."""
    return slid(rows, Direction[direction], Merging.CASCADE)


def after_step(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Return a number's new cell and the new grid after a single step (problem 6)."""
    (row, column), (down, right) = cell, STEPS[direction]
    target = (row + down, column + right)
    value = rows[row][column]
    if target not in CELLS or rows[target[0]][target[1]] not in (0, value):
        return cell, rows
    return target, with_tiles({target: rows[target[0]][target[1]] + value, cell: 0}, rows)


# --- problems 2 to 6 ---

FIGURE_2: Rows = [[0, 0, 0, 4], [0, 0, 4, 2], [2, 4, 4, 2], [0, 8, 4, 2]]
FIGURE_3: Rows = [[0, 4, 0, 2], [2, 0, 0, 8], [0, 0, 16, 0], [32, 4, 0, 64]]


def empty_slots(seed: str) -> Iterator[Example]:
    """Yield examples that call `empty_slots` on fixed and random boards."""
    grids = [FIGURE_2, EMPTY, FULL, *ONE_EMPTY]
    grids += [[[0, 2, 2, 0]] * 2 + [[2, 2, 2, 2]] * 2, [[2, 0, 2, 0]] * 4]
    grids += [random_rows(f"{seed} {number}", (0, 0, 2, 4)) for number in range(8)]
    for rows in grids:
        expected = [cell for cell in CELLS if cell not in tiles_of(rows)]
        yield Example("empty_slots()", expected, given=grid_code(rows))


def draws_every_slot(session: SubmissionSession) -> None:
    """Check that only empty slots are chosen, and that all of them are equally likely."""
    for slots in ([(2, 3)], [(0, 0), (0, 3), (3, 1)]):
        given = grid_code(with_tiles(dict.fromkeys(slots, 0), FULL))
        draws_evenly(session, "random_position()", slots, given)


ONE_LEFT = with_tiles({(2, 3): 0}, FULL)
NOTE_PUT = f"seen.append(number.value) or put(board or game_board, {PUT_PARAMETERS})"
LOG_PUT = "seen = []\nput = gui.put\n" + log("put", PUT_PARAMETERS, NOTE_PUT)
ADD = "add_random_number(board)"
SAME_NUMBER = {"seen == [main.grid[2][3]]": True}
TWO_ADDED = f"{ADD}\n{ADD}\nsorted(sum(main.grid, []))"
ADDED_EVERYWHERE = (
    Example(
        ADD,
        given=setup(ONE_LEFT),
        then={"main.grid[2][3]": OneOf(2, 4), COUNT: 16, "(2, 3) in board.numbers.values()": True},
    ),
    Example(ADD, given=setup(ONE_LEFT, A_2_AND_A_4, LOG_PUT), then=SAME_NUMBER),
    Example(TWO_ADDED, [0] * 14 + [2, 4], given=setup(EMPTY, A_2_AND_A_4)),
)
THREE_KEYS = Example(
    f"{ADD}\n{ADD}\n{ADD}\nlist(board.numbers)",
    Satisfies(
        "['Tile number 1', 'Tile number 2', 'Tile number 3'], or three other strings",
        lambda keys: len(keys) == 3 and all(isinstance(key, str) for key in keys),
    ),
    given=setup(EMPTY),
)


def lands_on_any_slot(session: SubmissionSession) -> None:
    """Check that the slot of the first number varies over 20 games."""
    places = set()
    for seed in map(session.seed_for, range(20)):
        session.begin()
        rows = session.value(f"{setup(EMPTY)}\nadd_random_number(board)\nmain.grid", seed=seed)
        places.add(tuple(tiles_of(rows)))
    if len(places) == 1:
        session.fail("different slots in different games", f"20 times {rows}")


def identifier_at(cell: Cell, rows: Rows = FIGURE_3) -> Example:
    """Return an example that calls `find_identifier` for a cell."""
    key = key_of(cell) if cell in tiles_of(rows) else None
    return Example(f"find_identifier(board, {cell[0]}, {cell[1]})", key, given=setup(rows))


IDENTIFIERS = [identifier_at(cell) for cell in tiles_of(FIGURE_3)]
NO_IDENTIFIERS = [identifier_at(cell) for cell in CELLS if cell not in tiles_of(FIGURE_3)]


def identifiers(seed: str) -> list[Example]:
    """Return examples that call `find_identifier` on the assignment's board and a random board."""
    rows = random_rows(seed, (0, 0, 2, 4, 8, 16))
    return [*IDENTIFIERS, *(identifier_at(cell, rows) for cell in CELLS)]


def step_of(rows: Rows, cell: Cell, direction: str) -> Example:
    """Call `update_grid` for one cell."""
    place, after = after_step(rows, cell, direction)
    code = f"update_grid({cell[0]}, {cell[1]}, {direction})"
    return Example(code, place, given=grid_code(rows), then={"main.grid": after})


def steps(seed: str, direction: str) -> list[Example]:
    """Return examples that move numbers by a single step, on several grids."""
    grids = [with_tiles({(1, 1): 2}), with_tiles({(0, 0): 2, (3, 3): 4})]
    grids += [FULL, [[2, 2, 2, 2]] * 4, [[1024] * 4] * 4, random_rows(seed, (0, 2, 2, 4))]
    return [step_of(rows, cell, direction) for rows in grids for cell in tiles_of(rows)]


MERGES_AGAIN = Example(
    "update_grid(0, 1, LEFT)\nupdate_grid(0, 2, LEFT)\nupdate_grid(0, 1, LEFT)",
    (0, 0),
    given=grid_code([[2, 2, 4, 0], *EMPTY[1:]]),
    then={"main.grid[0]": [8, 0, 0, 0]},
)


# --- problems 7 and 8 ---

ONE: Rows = with_tiles({(1, 1): 2})


def animate(direction: str, distance: int, code: str, expected: object, step: int = 20) -> Example:
    """Return an example that animates a tile and then checks the value of `code`."""
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
    """Return examples that check how far the animation moves a single tile in total."""
    down, right = STEPS[direction]
    return [animate(direction, way, TOTAL, [right * way, down * way]) for way in (140, 50)]


def in_steps(direction: str, distance: int, step: int = 20) -> Example:
    """Return an example that checks each step in the animation of one tile."""
    down, right = STEPS[direction]
    lengths = [step] * (distance // step) + [distance % step] * (distance % step > 0)
    expected = [(right * length, down * length) for length in lengths]
    return animate(direction, distance, "[m for m in moves if m != (0, 0)]", expected, step)


def line_at_wall(values: list[int], direction: str) -> Rows:
    """Return a grid with a single line of numbers that starts at the wall."""
    down, right = STEPS[direction]
    ordered = values if (down or right) < 0 else values[::-1]
    return with_tiles({(at, 2) if down else (2, at): value for at, value in enumerate(ordered)})


def moves_of(*lines: list[int]) -> list[Example]:
    """Return examples that move a line's last tile towards the wall, for each wall."""
    found = []
    for direction, values in product(STEPS, lines):
        rows = line_at_wall(values, direction)
        cell = tiles_of(rows)[-1 if sum(STEPS[direction]) < 0 else 0]
        call = f"move(board, {key_of(cell)!r}, {direction})"
        found.append(leads_to(slid(rows, Direction[direction]), rows, call))
    return found


def leads_to(after: Rows, rows: Rows, call: str) -> Example:
    """Return an example that runs `call` and then checks the grid and the tiles."""
    then = {"main.grid": after, "sorted(board.numbers.values())": tiles_of(after)}
    return Example(call, given=setup(rows), then=then)


# --- problems 9 to 14, and 21 ---


def whole_move(rows: Rows, direction: str, call: str) -> Example:
    """Move the whole board once."""
    return leads_to(moved_all(rows, direction), rows, call)


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
    """Return an example that checks the order in which the tiles start to move."""
    down, right = STEPS[direction]
    middle = with_tiles({(1, 1): 2, (1, 2): 4, (2, 1): 8, (2, 2): 16})
    cells = sorted(
        tiles_of(middle),
        key=lambda cell: (cell[1], -down * cell[0]) if down else (cell[0], -right * cell[1]),
    )
    order = {"list(dict.fromkeys(moved))": [key_of(cell) for cell in cells]}
    return Example(call, given=setup(middle, LOG_MOVED), then=order)


def by_key(direction: str) -> Check:
    """Return the check for one key in problem 13."""
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
    """Return an example that presses a key and checks all tiles, including the new one."""
    after = tiles_of(moved_all(rows, direction))
    stand = f"all(main.grid[r][c] for r, c in {after})"
    filled = "sum(number > 0 for row in main.grid for number in row)"
    number = len(after) + 1
    return turn_example(rows, direction, {stand: True, filled: number, COUNT: number})


def nothing_added() -> Iterator[Example]:
    """Yield examples where the pressed key moves no tile, so nothing may change."""
    for way, values in product(STEPS, lists("2 0 0 0 / 2 4 0 0 / 2 4 2 4")):
        rows = line_at_wall(values, way)
        yield turn_example(rows, way, {"main.grid": rows, COUNT: len(tiles_of(rows))})


def key_turn(rows: Rows, direction: str, then: dict[str, object]) -> Example:
    """Return an example that presses a key while the arrow keys are bound."""
    alive = "alive = []\n" + log("move_tile", DISTANCES, "alive.append(sorted(keys))")
    return turn_example(rows, direction, then, KEYS_BOUND, KEYS_DO_SOMETHING, alive)


MOVED: dict[str, object] = {"len(alive) > 0": True}
BOUND: dict[str, object] = {"sorted(keys)": SEQUENCES}
LAST_GAP = lists("0 8 32 128 / 4 8 16 64 / 8 16 32 128 / 16 32 64 256")
"""A move to the left leaves one empty slot on this board, and the new number cannot merge."""


def bound_after(call: str, keys: list[str], *notes: str) -> list[Example]:
    """Return examples that check which keys are bound after a call."""
    return [Example(call, given=setup(EMPTY, *notes), then={"sorted(keys)": keys})]


def key_plays(direction: str) -> Example:
    """Return an example that checks that a bound key plays a turn."""
    ((row, column),) = tiles_of(slid(ONE, Direction[direction]))
    return Example(
        f"bind(frame, board)\nkeys['<{direction.title()}>']({event_code(direction)})",
        given=setup(ONE, KEYS_BOUND),
        then={f"main.grid[{row}][{column}]": 2},
    )


# --- problem 17 ---

# The next two functions run in the submission's process, in which `main` is the student's module.


def run_main_section(main: Any) -> None:
    """Run the statements of the main section, which may be anywhere in the file."""
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
    """Reset `grid` to its initial value, because loading the program may have started a game."""
    import ast

    with open(main.__file__, encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
        for node in ast.parse(file.read()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "grid":
                exec(compile(ast.Module([node], []), main.__file__, "exec"), vars(main))


def starts_with(session: SubmissionSession, code: str, expected: object, words: str) -> None:
    """Run the program's main section, then check the resulting state."""
    session.begin()
    outcome = session.run(calling(run_main_section, "main"))
    # The report shows only steps that students can repeat, and not how the grader inspects the
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


NUMBERS_AT_START = "len(gui_window.opened[0][1].numbers)"
KEYS_AT_START = "sorted(gui_window.opened[0][0].bound)"


# --- problems 18 to 20 ---

TWO_ON_ONE = setup(
    with_tiles({(1, 1): 8, (3, 3): 4}),
    "board.score = 20000\n",
    tiles=[("x", 4, (3, 3)), ("y", 4, (1, 1)), ("z", 4, (1, 1))],
)
PICTURES = "pictures = {'x': 4, 'y': 4, 'z': 4}"
LOG_REMOVED = log("remove_number", "key", "pictures.pop(key, None)")
LOG_DRAWN = log("put", PUT_PARAMETERS, "pictures.update({key: number.value}) is None")
LOG_PICTURES = "\n".join([PICTURES, LOG_REMOVED, LOG_DRAWN])
LOG_SCORES = "seen = []\n" + log("update_score", "", "seen.append((board or game_board).score)")


def merges(then: dict[str, object], notes: str = "", answer: object = ...) -> list[Example]:
    """Return two examples that call `merge`, one for each of the two tiles on the same slot."""
    calls = (f"merge(board, {key!r})" for key in "yz")
    return [Example(call, answer, given=TWO_ON_ONE + notes, then=then) for call in calls]


ALONE = Example("merge(board, 'f')", False, given=setup(ONE))
NOTHING_MERGED = [
    Example(f"merge(board, {key!r})", False, given=given, then={COUNT: count})
    for key, given, count in (("f", setup(ONE), 1), ("x", TWO_ON_ONE, 3))
]
ONTO_AN_EQUAL = setup(
    with_tiles({(0, 0): 4}),
    "board.numbers['b'] = (0, 0)",
    tiles=[("a", 2, (0, 0)), ("b", 2, (0, 1))],
)


def arrival(answer: object = ..., **options: Any) -> list[Example]:
    """Return an example that animates a tile towards an equal tile."""
    call = "animate_movement(board, 'b', 140, 0, LEFT)"
    return [Example(call, answer, given=ONTO_AN_EQUAL, **options)]


ARRIVES_ALONE = Example("animate_movement(board, 'f', 140, 0, RIGHT)", True, given=setup(ONE))
LOG_END = "ended = []\n" + log("game_over", "winner", "ended.append(bool(winner))")


def over_calls(boards: Iterable[Rows], answer: bool, *ended: bool) -> list[Example]:
    """Return examples that call `is_game_over` once. `ended` lists the expected messages."""
    given = [setup(rows, LOG_END) for rows in boards]
    then = {"ended": [*ended]}
    return [Example("is_game_over(board)", answer, given=code, then=then) for code in given]


def reached_2048(cell: Cell) -> Example:
    """Return an example that calls `is_game_over` on a board with a 2048 tile and legal moves.

    A program may end the game when it is won, or let the player continue like the staff's solution.
    """
    answers = OneOf((True, [True]), (False, []))
    given = setup(with_tiles({cell: 2048, (3, 2): 2}), LOG_END)
    return Example("is_game_over(board), ended", answers, given=given)


# Added to several checks to detect functions that always return False.
STUCK_ENDS = Example("is_game_over(board)", True, given=setup(FULL, LOG_END))
WON_LAST = over_calls((with_tiles({at: 2048}, FULL) for at in ((3, 3), (0, 1))), True, True)


# --- reference versions of other problems' functions ---

FUNCTIONS = [task.title.partition("(")[0] for task in SHEET.values() if "(" in task.title]
VALUES = ("grid", "helper", "controls", "transition_value")
ALIASES = {"random_slot": "random_position", "find_key": "find_identifier"}


def all_but(*asked: str) -> str:
    """Return a patch that replaces all functions of ``main`` except those in `asked`."""
    names = [name for name in FUNCTIONS if name not in asked]
    names += [alias for alias, name in ALIASES.items() if name not in asked]
    document = (*FUNCTIONS, "grid", *ALIASES)
    # Functions for different directions may call each other, but not in a cycle.
    direction = next((name for name in asked if name.startswith("move_all_")), "")
    return right_versions(main, names, "main", document=document, unless_using=direction)


def _problem(number: int, *checks: Check, about: str | None = None) -> Task:
    """Return problem `number`, whose patches replace all functions except `about`."""
    about = SHEET[str(number)].title.partition("(")[0] if about is None else about
    patch = calling(reset_grid, "main") if about == "grid" else all_but(about)
    return SHEET.task(str(number), *checks, patches=(patch,))


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
                Example(ADD, (2, 3), given=setup(ONE_LEFT)),
                Example(f"{ADD} in main.empty_slots()", False, given=setup(EMPTY)),
            ],
        ),
        Check("adds a 2 or a 4 to the grid and the board", ADDED_EVERYWHERE),
        Check("gives each tile its own key, a string", [THREE_KEYS]),
        Check("draws the slot at random", run=lands_on_any_slot),
    ),
    _problem(
        5,
        Check("the key of every tile", identifiers),
        Check("None for an empty slot", [IDENTIFIERS[0], *NO_IDENTIFIERS]),
    ),
    _problem(
        6,
        *(Check(f"steps {way.lower()}", partial(steps, direction=way), weight=3) for way in STEPS),
        Check(
            "an empty slot's 0 also moves into an empty slot",
            [step_of(with_tiles({(0, 0): 2, (0, 1): 2, (2, 2): 2}), (2, 1), way) for way in STEPS],
        ),
        Check("a merged number can merge again", [MERGES_AGAIN]),
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
        Check("moves to the wall", moves_of([0, 0, 0, 4]), weight=3),
        Check("stops before a different number", moves_of([4, 0, 0, 2], [8, 2, 0, 0])),
        Check(
            "merges with an equal number and stops there",
            moves_of([2, 0, 0, 2], [8, 4, 0, 4], [8, 4, 4, 0]),
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
            [
                moved_and_added(with_tiles({first: 2, last: 4}), way)
                for first, last in (((1, 1), (2, 2)), ((0, 0), (3, 3)))
                for way in STEPS
            ],
            weight=3,
        ),
        Check(
            "a merge also counts as a move",
            [
                moved_and_added(with_tiles({(0, 0): 2, (0, 1): 2}), "LEFT"),
                moved_and_added([[2, 2, 4, 8], *FULL[1:]], "LEFT"),
                moved_and_added([[2, 4, 2, 4], [2, 8, 16, 8], [4, 2, 4, 2], [8, 4, 8, 4]], "DOWN"),
            ],
        ),
        Check(
            "adds no number if nothing moves",
            # The first turn moves a tile, so that a function that does nothing fails.
            [turn_example(ONE, "LEFT", {"main.grid[1][0]": 2}), *nothing_added()],
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
            run=lambda session: starts_with(session, NUMBERS_AT_START, 2, "numbers on the board"),
        ),
        Check(
            "the arrow keys are bound",
            run=lambda session: starts_with(session, KEYS_AT_START, SEQUENCES, "keys bound"),
        ),
        about="",
    ),
    _problem(
        18,
        Check("returns True if tiles have merged", [*merges({}, answer=True), ALONE]),
        Check(
            "returns False if there is only one tile",
            [*merges({}, answer=True), *NOTHING_MERGED],
            weight=2,
        ),
        Check(
            "leaves one of the two tiles in board.numbers",
            merges({"sorted(board.numbers.values())": [(1, 1), (3, 3)]}),
            weight=2,
        ),
        Check(
            "the window shows the sum",
            merges({"sorted(pictures.values())": [4, 8]}, LOG_PICTURES),
            weight=2,
        ),
        Check("adds the sum to the score", merges({"board.score": 20008})),
        Check("the window shows the score", merges({"seen": [20008]}, LOG_SCORES)),
    ),
    _problem(
        19,
        Check(
            "merges the tile when it arrives",
            arrival(then={"list(board.numbers.values())": [(0, 0)], "board.score": 4}),
        ),
        Check("returns False after a merge", [*arrival(False), ARRIVES_ALONE]),
        about="animate_movement",
    ),
    _problem(
        20,
        Check("won, even if no move is left", WON_LAST, weight=2),
        Check(
            "never lost with 2048 on the board",
            # The last example fails if no message is ever shown.
            [*map(reached_2048, ((1, 2), (0, 0), (3, 3))), WON_LAST[0]],
        ),
        Check(
            "lost if no tile can move",
            over_calls((FULL, checkered(), [[2, 4, 2, 4], [8, 16, 8, 16]] * 2), True, False),
            weight=3,
        ),
        Check(
            "not over while a slot is empty",
            [STUCK_ENDS, *over_calls((EMPTY, *ONE_EMPTY), False)],
            weight=2,
        ),
        Check(
            "not over while two neighbours are equal",
            [STUCK_ENDS, *over_calls(with_one_pair(), False)],
            weight=2,
        ),
    ),
    _problem(
        21,
        Check(
            "keys are unbound during the move and bound again afterwards",
            [key_turn(ONE, way, {**MOVED, "sum(alive, [])": [], **BOUND}) for way in STEPS]
            + [key_turn(with_tiles({(0, 0): 2}), "LEFT", BOUND)],
            weight=2,
        ),
        Check(
            "keys stay unbound if the game is won",
            [key_turn(with_tiles({(0, 0): 1024, (0, 1): 1024}), "RIGHT", {"sorted(keys)": []})],
        ),
        Check(
            "keys stay unbound if the new number ends the game",
            # A missing new number costs marks only in problem 14, so this check passes without it.
            [key_turn(LAST_GAP, "LEFT", MOVED | {f"sorted(keys) if {COUNT} == 16 else []": []})],
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
