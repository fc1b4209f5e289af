"""The 21 problems of COMP1127's project with the document's marks, and how they are graded."""

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
MAX_PUTS = 4  # tiles that are put on a board one by one
PUT_ALL = (
    "tiles = [gui.put(board, 'abcdefghijklmnop'[n], gui.find_number(main.grid[n // 4][n % 4]), "
    "n // 4, n % 4) for n in range(16)]"
)
PICTURE = "key"
MOVE = "key, horizontal, vertical"
PLACE = "key, number, row, column"


def noted(function: str, parameters: str, note: str) -> str:
    """Return code that notes where a function of gui is called, with a board of any name."""
    named = "".join(f"{name}=0, " for name in parameters.split(", ") if name)
    takes = f"lambda board=0, {named}game_board=0"
    return f"gui.{function} = {takes}: (board or game_board).numbers is None or {note}"


MOVED = "moved = []\n" + noted("move_tile", MOVE, "moved.append(key)")
KEYS_BOUND = (
    "keys = {}\n"
    "frame.bind = lambda sequence, func, add=None: keys.update({sequence: func})\n"
    "frame.unbind = lambda sequence, funcid=None: keys.pop(sequence, None)"
)
KEYS_DO_SOMETHING = f"keys.update(dict.fromkeys({SEQUENCES}, print))"
A_2_AND_A_4 = "numbers = [gui.find_number(2), gui.find_number(4)]\ngui.random_number = numbers.pop"
CELLS = [(row, column) for row in range(4) for column in range(4)]


# --- boards, as rows and as code ---


def unequal_rows(seed: str) -> Rows:
    """Return a grid in which no two numbers are equal, so that nothing can merge."""
    draw = random.Random(seed)
    values = [2**rank for rank in range(1, 12)] + [0] * 5
    draw.shuffle(values)
    return [values[at : at + 4] for at in (0, 4, 8, 12)]


def letter(cell: Cell) -> str:
    """Return the key of the tile of a cell."""
    return "abcdefghijklmnop"[4 * cell[0] + cell[1]]


def grid(rows: Rows) -> str:
    """Return code that sets the student's grid."""
    return f"main.grid = {rows}"


def laid(rows: Rows, *notes: str) -> str:
    """Return code that sets the grid, opens a board with its tiles, and takes notes."""
    puts = [
        f"gui.put(board, {letter((row, column))!r}, gui.find_number({rows[row][column]}), "
        f"{row}, {column})"
        for row, column in tiles_of(rows)
    ]
    if len(puts) > MAX_PUTS:
        puts = [PUT_ALL]
    return "\n".join([grid(rows), "frame, board = gui.setup()", *puts, *notes])


def event(direction: str) -> str:
    """Return code for a key press as Tk reports it."""
    return f"SimpleNamespace(keysym={direction.title()!r})"


def moved_all(rows: Rows, direction: str) -> Rows:
    """Return the grid after a whole move, from the shared engine."""
    return slid(rows, Direction[direction], Merging.CASCADE)


def stepped(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Return where one value stands after one step, and the grid then (problem 6)."""
    (row, column), (down, right) = cell, STEPS[direction]
    target = (row + down, column + right)
    value = rows[row][column]
    if target not in CELLS or rows[target[0]][target[1]] not in (0, value):
        return cell, rows
    return target, with_tiles({target: rows[target[0]][target[1]] + value, cell: 0}, rows)


def far(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Return where one tile stands when it has moved until it merged or was stopped (problem 8)."""
    while True:
        target, after = stepped(rows, cell, direction)
        merged = len(tiles_of(after)) < len(tiles_of(rows))
        if merged or target == cell:
            return target, after
        cell, rows = target, after


# --- problems 2 to 6 ---

FIGURE_2: Rows = [[0, 0, 0, 4], [0, 0, 4, 2], [2, 4, 4, 2], [0, 8, 4, 2]]
FIGURE_3: Rows = [[0, 4, 0, 2], [2, 0, 0, 8], [0, 0, 16, 0], [32, 4, 0, 64]]


def empty_slots(seed: str) -> Iterator[Example]:
    """Yield the document's figure, one slot, none, all, and rows that are equal."""
    grids = [FIGURE_2, EMPTY, STUCK, *(with_tiles({cell: 0}, STUCK) for cell in CELLS)]
    grids += [[[0, 2, 2, 0]] * 2 + [[2, 2, 2, 2]] * 2, [[2, 0, 2, 0]] * 4]
    grids += [random_rows(f"{seed} {number}", (0, 0, 2, 4)) for number in range(8)]
    for rows in grids:
        expected = [cell for cell in CELLS if cell not in tiles_of(rows)]
        yield Example("empty_slots()", expected, given=grid(rows))


def draws_every_slot(session: SubmissionSession) -> None:
    """Check that each empty slot comes up equally often, and nothing else does."""
    for slots in ([(2, 3)], [(0, 0), (0, 3), (3, 1)]):
        session.begin()
        session.run(grid(with_tiles(dict.fromkeys(slots, 0), STUCK)))
        draws_evenly(session, "random_position()", slots)


ONE_LEFT = with_tiles({(2, 3): 0}, STUCK)
ADDED_EVERYWHERE = (
    Example(
        "add_random_number(board)",
        given=laid(ONE_LEFT),
        then={
            "main.grid[2][3]": OneOf(2, 4),
            COUNT: 16,
            "(2, 3) in board.numbers.values()": True,
        },
    ),
    Example(
        "add_random_number(board)",
        given=laid(
            ONE_LEFT,
            "seen = []",
            A_2_AND_A_4,
            "put = gui.put",
            noted("put", PLACE, f"seen.append(number.value) or put(board or game_board, {PLACE})"),
        ),
        then={"seen == [main.grid[2][3]]": True},
    ),
    Example(
        "add_random_number(board)\nadd_random_number(board)\nsorted(sum(main.grid, []))",
        [0] * 14 + [2, 4],
        given=laid(EMPTY, A_2_AND_A_4),
    ),
)
THREE_KEYS = Satisfies(
    "['Tile number 1', 'Tile number 2', 'Tile number 3'], or three other texts",
    lambda keys: len(keys) == 3 and all(isinstance(key, str) for key in keys),
)


def counts_its_keys(session: SubmissionSession) -> None:
    """Check that three numbers have three keys, which are texts such as "Count 1"."""
    session.fresh()
    session.begin()
    session.run(laid(EMPTY))
    for _ in range(3):
        session.run("add_random_number(board)")
    session.expect("list(board.numbers)", THREE_KEYS)


def lands_on_any_slot(session: SubmissionSession) -> None:
    """Check that the first number is not put on the same slot in each of 20 games."""
    places = set()
    for seed in map(session.seed_for, range(20)):
        session.begin()
        rows = session.value(f"{laid(EMPTY)}\nadd_random_number(board)\nmain.grid", seed=seed)
        places.add(tuple(tiles_of(rows)))
    if len(places) == 1:
        session.fail("another slot from time to time", f"20 times {rows}")


def identifier(cell: Cell, expected: str | None) -> Example:
    """Return the key of the tile on a slot of the figure, or none."""
    return Example(f"find_identifier(board, {cell[0]}, {cell[1]})", expected, given=laid(FIGURE_3))


IDENTIFIERS = [identifier(cell, letter(cell)) for cell in tiles_of(FIGURE_3)]
NO_IDENTIFIERS = [identifier(cell, None) for cell in CELLS if cell not in tiles_of(FIGURE_3)]


def identifiers(seed: str) -> list[Example]:
    """Return the key of every tile of the figure, and of some on a board at random."""
    rows = random_rows(seed, (0, 0, 2, 4, 8, 16))
    found = [(cell, letter(cell) if cell in tiles_of(rows) else None) for cell in CELLS]
    drawn = [
        Example(f"find_identifier(board, {row}, {column})", key, given=laid(rows))
        for (row, column), key in found
    ]
    return [*IDENTIFIERS, *drawn]


def step_of(rows: Rows, cell: Cell, direction: str) -> Example:
    """Return one call of `update_grid`."""
    place, after = stepped(rows, cell, direction)
    code = f"update_grid({cell[0]}, {cell[1]}, {direction})"
    return Example(code, place, given=grid(rows), then={"main.grid": after})


def steps(direction: str) -> Callable[[str], list[Example]]:
    """Return one step of every number on a few grids, in one direction."""

    def examples(seed: str) -> list[Example]:
        grids = [with_tiles({(1, 1): 2}), with_tiles({(0, 0): 2, (3, 3): 4})]
        grids += [STUCK, [[2, 2, 2, 2]] * 4, random_rows(seed, (0, 2, 2, 4))]
        return [step_of(rows, cell, direction) for rows in grids for cell in tiles_of(rows)]

    return examples


# --- problems 7 and 8 ---

ONE: Rows = with_tiles({(1, 1): 2})


def animated(direction: str, distance: int, code: str, expected: object, step: int = 20) -> Example:
    """Return one tile alone, animated over a distance; `code` is to give `expected` then."""
    down, right = STEPS[direction]
    moves = "moves = []\n" + noted("move_tile", MOVE, "moves.append((horizontal, vertical))")
    given = laid(ONE, moves)
    return Example(
        f"animate_movement(board, 'f', {distance * abs(right)}, {distance * abs(down)}, "
        f"{direction})",
        given=given if step == 20 else f"main.transition_value = {step}\n{given}",
        then={code: Loosely(expected)},
        expected=True if code == TOTAL else ...,
    )


TOTAL = "[sum(right for right, down in moves), sum(down for right, down in moves)]"


def whole_way(direction: str) -> list[Example]:
    """Return what one tile alone moves in all."""
    down, right = STEPS[direction]
    return [animated(direction, way, TOTAL, [right * way, down * way]) for way in (140, 50)]


def in_steps(direction: str, distance: int, step: int = 20) -> Example:
    """Return the single steps of one tile alone."""
    down, right = STEPS[direction]
    lengths = [step] * (distance // step) + [distance % step] * (distance % step > 0)
    expected = [(right * length, down * length) for length in lengths]
    return animated(direction, distance, "[m for m in moves if m != (0, 0)]", expected, step)


def moved(tiles: dict[Cell, int], cell: Cell, direction: str) -> Example:
    """Return one tile moved as far as it goes."""
    rows = with_tiles(tiles)
    call = f"move(board, {letter(cell)!r}, {direction})"
    return leads_to(far(rows, cell, direction)[1], rows, call)


def leads_to(after: Rows, rows: Rows, call: str) -> Example:
    """Return a call that makes `after` of `rows`, in the grid and on the board."""
    then = {"main.grid": after, "sorted(board.numbers.values())": tiles_of(after)}
    return Example(call, given=laid(rows), then=then)


# --- problems 9 to 14, and 21 ---


def whole_move(rows: Rows, direction: str, call: str) -> Example:
    """Return one move of the whole board."""
    return leads_to(moved_all(rows, direction), rows, call)


def line(values: list[int], direction: str) -> Rows:
    """Return a grid with one line of numbers, the first of them at the wall."""
    down, right = STEPS[direction]
    ordered = values if (down or right) < 0 else values[::-1]
    return with_tiles({(at, 2) if down else (2, at): value for at, value in enumerate(ordered)})


def all_move(direction: str) -> tuple[Check, ...]:
    """Return the checks of problems 9 to 12 for one direction."""
    call = f"move_all_{direction.lower()}(board)"
    gaps = [with_tiles({(at, 3 - at): 2 for at in range(4)}), line([0, 2, 0, 4], direction)]
    chains = ([2, 2, 0, 0], [0, 2, 0, 2], [4, 2, 2, 0], [2, 2, 2, 2], [2, 2, 4, 8], [2, 2, 4, 0])
    merges = [line(values, direction) for values in chains]

    def far_moves(seed: str) -> list[Example]:
        drawn = [unequal_rows(f"{seed} {number}") for number in range(10)]
        return [whole_move(rows, direction, call) for rows in (*gaps, *drawn)]

    def sums(seed: str) -> list[Example]:
        drawn = [random_rows(f"{seed} {number}", (0, 2, 2, 4, 8)) for number in range(10)]
        return [whole_move(rows, direction, call) for rows in (*merges, *drawn)]

    return (
        Check("every tile goes as far as it can", far_moves, weight=2),
        Check("equal tiles merge, beginning at the wall", sums, weight=2),
        Check("line by line, the tile nearest the wall first", [order_of(direction, call)]),
    )


def order_of(direction: str, call: str) -> Example:
    """Return the order in which the tiles of a board begin to move."""
    down, right = STEPS[direction]
    middle = with_tiles({(1, 1): 2, (1, 2): 4, (2, 1): 8, (2, 2): 16})
    cells = sorted(
        tiles_of(middle),
        key=lambda cell: (cell[1], -down * cell[0]) if down else (cell[0], -right * cell[1]),
    )
    order = {"list(dict.fromkeys(moved))": [letter(cell) for cell in cells]}
    return Example(call, given=laid(middle, MOVED), then=order)


def by_key(direction: str) -> Check:
    """Return the check of problem 13 for one key."""
    call = f"move_all(board, {event(direction)})"

    def examples(seed: str) -> list[Example]:
        grids = [ONE, *(unequal_rows(f"{seed} {number}") for number in range(3))]
        return [whole_move(rows, direction, call) for rows in grids]

    return Check(f"the key {direction.title()}", examples)


def turn(rows: Rows, direction: str, then: dict[str, object], *notes: str) -> Example:
    """Return one key press on a board."""
    code = f"keyboard_callback({event(direction)}, frame, board)"
    return Example(code, given=laid(rows, *notes), then=then)


def moved_and_added(rows: Rows, direction: str) -> Example:
    """Return a turn that moves: all tiles where they belong, and one more."""
    after = tiles_of(moved_all(rows, direction))
    stand = f"all(main.grid[r][c] for r, c in {after})"
    filled = "sum(number > 0 for row in main.grid for number in row)"
    number = len(after) + 1
    return turn(rows, direction, {stand: True, filled: number, COUNT: number})


def nothing_added(tiles: dict[Cell, int], direction: str) -> Example:
    """Return a turn that moves nothing: everything as before."""
    rows = with_tiles(tiles)
    return turn(rows, direction, {"main.grid": rows, COUNT: len(tiles)})


def key_turn(rows: Rows, direction: str, then: dict[str, object]) -> Example:
    """Return a key press while the arrow keys are bound to something."""
    alive = "alive = []\n" + noted("move_tile", MOVE, "alive.append(sorted(keys))")
    return turn(rows, direction, then, KEYS_BOUND, KEYS_DO_SOMETHING, alive)


def bound_after(call: str, keys: list[str], *notes: str) -> list[Example]:
    """Return what is bound after a call."""
    return [Example(call, given=laid(EMPTY, *notes), then={"sorted(keys)": keys})]


def key_plays(direction: str) -> Example:
    """Return an example: a key that was bound plays a turn."""
    row, column = far(ONE, (1, 1), direction)[0]
    return Example(
        f"bind(frame, board)\nkeys['<{direction.title()}>']({event(direction)})",
        given=laid(ONE, KEYS_BOUND),
        then={f"main.grid[{row}][{column}]": 2},
    )


# --- problem 17 ---

# The two functions that follow run beside a submission, whose program is the module `main`.


def run_main_section(main: Any) -> None:
    """Run the statements of the main section, wherever it stands, in the module as it is."""
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


def set_grid_as_it_begins(main: Any) -> None:
    """Undo what lines that start the game have put on the grid when the file was loaded."""
    import ast

    with open(main.__file__, encoding="utf-8") as file:  # noqa: PTH123 - pathlib loads slowly
        for node in ast.parse(file.read()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "grid":
                exec(compile(ast.Module([node], []), main.__file__, "exec"), vars(main))


def starts_with(code: str, expected: object, words: str) -> Callable[[SubmissionSession], None]:
    """Return the check of what is there when the student's main section waits for the player."""

    def check(session: SubmissionSession) -> None:
        session.begin()
        outcome = session.run(calling(run_main_section, "main"))
        # What a person can try; the lines that look are the checker's own.
        session.shown[:] = [f"$ python {session.submission.file}"]
        if outcome.error is None or outcome.error.type != "LeftAlone":
            session.fail("a window that waits", str(outcome.error or "the end of the program"))
        opened = session.value("len(gui_window.opened)", show=False)
        if opened != 1:
            session.fail("a window with a game", f"{opened} windows")
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
PICTURES = "\n".join(
    (
        "pictures = {'x': 4, 'y': 4, 'z': 4}",
        noted("remove_number", PICTURE, "pictures.pop(key, None)"),
        noted("put", PLACE, "pictures.update({key: number.value}) is None"),
    )
)
SCORES = "shown = []\n" + noted("update_score", "", "shown.append((board or game_board).score)")


def merged(code: str, expected: object, notes: str = "", answer: object = ...) -> list[Example]:
    """Return what is to be found when two tiles have merged, by the key of either."""
    then = {code: expected} if code else {}
    return [
        Example(f"merge(board, {key!r})", answer, given=TWO_ON_ONE + notes, then=then)
        for key in "yz"
    ]


ALONE = Example("merge(board, 'f')", False, given=laid(ONE))
ONTO_AN_EQUAL = (
    "main.grid = [[4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]\n"
    "frame, board = gui.setup()\n"
    "gui.put(board, 'a', gui.find_number(2), 0, 0)\n"
    "gui.put(board, 'b', gui.find_number(2), 0, 1)\n"
    "board.numbers['b'] = (0, 0)"
)


def arrived(answer: object = ..., **options: Any) -> list[Example]:
    """Return an example: a tile is animated onto an equal one."""
    call = "animate_movement(board, 'b', 140, 0, LEFT)"
    return [Example(call, answer, given=ONTO_AN_EQUAL, **options)]


ENDED = "ended = []\n" + noted("game_over", "winner", "ended.append(bool(winner))")


def over(rows: Rows, answer: bool, ended: list[bool]) -> Example:
    """Return one call of `is_game_over`; `ended` are the messages it has to show."""
    return Example("is_game_over(board)", answer, given=laid(rows, ENDED), then={"ended": ended})


def reached(tiles: dict[Cell, int]) -> Example:
    """Return a board with 2048 and a move: won, or not over as in the staff's solution."""
    answers = OneOf((True, [True]), (False, []))
    given = laid(with_tiles(tiles), ENDED)
    return Example("is_game_over(board), ended", answers, given=given)


# So that a function that always says the same fails.
STUCK_ENDS = Example("is_game_over(board)", True, given=laid(STUCK, ENDED))
WON_AT_LAST = [over(with_tiles({cell: 2048}, STUCK), True, [True]) for cell in ((3, 3), (0, 1))]


# --- right versions of what other problems ask for ---

FUNCTIONS = [task.title.partition("(")[0] for task in SHEET.values() if "(" in task.title]
VALUES = ("grid", "helper", "controls", "transition_value")
ALIASES = {"random_slot": "random_position", "find_key": "find_identifier"}


def all_but(*asked: str) -> str:
    """Return code that puts our functions into the module ``main`` in place of all but `asked`."""
    names = [name for name in FUNCTIONS if name not in asked]
    names += [alias for alias, name in ALIASES.items() if name not in asked]
    document = (*FUNCTIONS, "grid", *ALIASES)
    # One direction may be built on another, but not each on the other.
    direction = next((name for name in asked if name.startswith("move_all_")), "")
    return right_versions(main, names, "main", document=document, unless_using=direction)


def _problem(number: int, *checks: Check, about: str | None = None) -> Task:
    """Return a problem of the sheet, patched with right versions of all but what it is `about`."""
    task = SHEET[str(number)]
    about = task.title.partition("(")[0] if about is None else about
    patch = calling(set_grid_as_it_begins, "main") if about == "grid" else all_but(about)
    return replace(task, checks=checks, reference_patches=(patch,))


TASKS = (
    _problem(
        1,
        Check("four rows of four zeros", [Example("main.grid", EMPTY)]),
        Check(
            "the rows are four different lists",
            [Example("len({id(row) for row in main.grid})", 4)],
        ),
    ),
    _problem(2, Check("all empty slots and no others", empty_slots)),
    _problem(3, Check("any empty slot, and nothing else", run=draws_every_slot)),
    _problem(
        4,
        Check(
            "returns the slot",
            [
                Example("add_random_number(board)", (2, 3), given=laid(ONE_LEFT)),
                Example("add_random_number(board) in main.empty_slots()", False, given=laid(EMPTY)),
            ],
        ),
        Check("the grid and the board hold a 2 or a 4", ADDED_EVERYWHERE),
        Check("each number has a key of its own, a text", run=counts_its_keys),
        Check("the slot is drawn at random", run=lands_on_any_slot),
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
            "an empty slot, too, goes where there is room",
            [
                step_of(with_tiles({(0, 0): 2, (0, 1): 2, (2, 2): 2}), (2, 1), direction)
                for direction in STEPS
            ],
        ),
        Check(
            "a sum can be added to again",
            [
                Example(
                    "update_grid(0, 1, LEFT)\nupdate_grid(0, 2, LEFT)\nupdate_grid(0, 1, LEFT)",
                    (0, 0),
                    given=grid([[2, 2, 4, 0], *EMPTY[1:]]),
                    then={"main.grid[0]": [8, 0, 0, 0]},
                )
            ],
        ),
    ),
    _problem(
        7,
        *(Check(f"the whole way {way.lower()}", whole_way(way), weight=2) for way in STEPS),
        Check(
            "in steps of 20 pixels and a rest",
            [in_steps(way, distance) for way in ("RIGHT", "DOWN") for distance in (140, 50, 7)],
            weight=2,
        ),
        Check(
            "in steps of transition_value",
            [in_steps("RIGHT", 140, 50), in_steps("DOWN", 140, 70)],
            weight=2,
        ),
    ),
    _problem(
        8,
        Check(
            "to the wall",
            [
                moved({(3, 1): 4}, (3, 1), "UP"),
                moved({(0, 2): 4}, (0, 2), "DOWN"),
                moved({(1, 0): 4}, (1, 0), "RIGHT"),
                moved({(2, 3): 4}, (2, 3), "LEFT"),
            ],
            weight=3,
        ),
        Check(
            "to a different number",
            [
                moved({(0, 0): 4, (0, 3): 2}, (0, 3), "LEFT"),
                moved({(3, 2): 8, (0, 2): 2}, (0, 2), "DOWN"),
                moved({(3, 2): 8, (2, 2): 2}, (2, 2), "DOWN"),
            ],
        ),
        Check(
            "into an equal number, and then no further",
            [
                moved({(0, 0): 2, (0, 3): 2}, (0, 3), "LEFT"),
                moved({(0, 0): 8, (0, 1): 4, (0, 3): 4}, (0, 3), "LEFT"),
                moved({(3, 1): 8, (2, 1): 4, (1, 1): 4}, (1, 1), "DOWN"),
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
            "tiles move and a number comes",
            [moved_and_added(with_tiles({(1, 1): 2, (2, 2): 4}), way) for way in STEPS],
            weight=3,
        ),
        Check(
            "a merge is a move, too",
            [
                moved_and_added(with_tiles({(0, 0): 2, (0, 1): 2}), "LEFT"),
                moved_and_added([[2, 2, 4, 8], *STUCK[1:]], "LEFT"),
                moved_and_added([[2, 4, 2, 4], [2, 8, 16, 8], [4, 2, 4, 2], [8, 4, 8, 4]], "DOWN"),
            ],
        ),
        Check(
            "no number comes when nothing moves",
            [
                # One turn in which something moves, so that a function that does nothing fails.
                turn(ONE, "LEFT", {"main.grid[1][0]": 2}),
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
        Check(
            "no key is bound any more",
            bound_after("unbind(frame)", [], KEYS_BOUND, KEYS_DO_SOMETHING),
        ),
    ),
    _problem(
        17,
        Check(
            "two numbers stand on the board",
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
        Check("True when two have merged", [*merged("", None, answer=True), ALONE]),
        Check(
            "False for a tile alone",
            [
                Example(f"merge(board, {key!r})", False, given=given, then={COUNT: count})
                for key, given, count in (("f", laid(ONE), 1), ("x", TWO_ON_ONE, 3))
            ]
            + merged("", None, answer=True),
            weight=2,
        ),
        Check(
            "one of them is left in board.numbers",
            merged("sorted(board.numbers.values())", [(1, 1), (3, 3)]),
            weight=2,
        ),
        Check(
            "the window shows the sum",
            merged("sorted(pictures.values())", [4, 8], PICTURES),
            weight=2,
        ),
        Check("the score grows by the sum", merged("board.score", 108)),
        Check("the window shows the score", merged("shown", [108], SCORES)),
    ),
    _problem(
        19,
        Check(
            "the tile merges when it has arrived",
            arrived(then={"list(board.numbers.values())": [(0, 0)], "board.score": 4}),
        ),
        Check(
            "False tells of the merge",
            [
                *arrived(False),
                Example("animate_movement(board, 'f', 140, 0, RIGHT)", True, given=laid(ONE)),
            ],
        ),
        about="animate_movement",
    ),
    _problem(
        20,
        Check("won when no move is left", WON_AT_LAST, weight=2),
        Check(
            "never lost with 2048 on the board",
            [
                reached({(1, 2): 2048}),
                reached({(0, 0): 2048, (3, 3): 2}),
                reached({(3, 3): 2048, (3, 2): 2048}),
                WON_AT_LAST[0],  # so that a function that never says anything fails
            ],
        ),
        Check(
            "lost",
            [
                over(rows, True, [False])
                for rows in (STUCK, checkered(), [[2, 4, 2, 4], [8, 16, 8, 16]] * 2)
            ],
            weight=3,
        ),
        Check(
            "continues while a slot is empty",
            [STUCK_ENDS, over(EMPTY, False, [])]
            + [over(with_tiles({cell: 0}, STUCK), False, []) for cell in ((0, 0), (3, 3), (1, 2))],
            weight=2,
        ),
        Check(
            "continues while two neighbours are equal",
            [STUCK_ENDS, *(over(rows, False, []) for rows in with_one_pair())],
            weight=2,
        ),
    ),
    _problem(
        21,
        Check(
            "dead while tiles move, alive afterwards",
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
            "dead when the game is won",
            [key_turn(with_tiles({(0, 0): 1024, (0, 1): 1024}), "RIGHT", {"sorted(keys)": []})],
        ),
        Check(
            "dead when the new number ends the game",
            [
                # Only the new number, 2 or 4, fills the board. Without one the turn is problem
                # 14's concern.
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
    not_graded="that animate_movement and move are recursive, that bind and unbind use map and "
    "lambda, and the Challenge in bonus.py",
)
