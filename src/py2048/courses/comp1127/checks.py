"""The checks of COMP1127's problems; the problems themselves are in ``tasks.py``."""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Callable, Iterable, Iterator

from py2048.board import Board
from py2048.courses.comp1127 import main
from py2048.courses.grading import Check, Example, Loosely, OneOf, Satisfies, SubmissionSession
from py2048.direction import Direction
from py2048.rules import Merging

Rows = list[list[int]]
Cell = tuple[int, int]

EMPTY: Rows = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
STUCK: Rows = [[2, 4, 8, 16], [4, 8, 16, 32], [8, 16, 32, 64], [16, 32, 64, 128]]
STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "RIGHT": (0, 1), "LEFT": (0, -1)}
KEYS = {"UP": "Up", "DOWN": "Down", "RIGHT": "Right", "LEFT": "Left"}
SEQUENCES = ["<Down>", "<Left>", "<Right>", "<Up>"]
MOST_PUTS = 4  # tiles that are put on a board one by one
PUT_ALL = (
    "tiles = [gui.put(board, 'abcdefghijklmnop'[n], gui.find_number(main.grid[n // 4][n % 4]), "
    "n // 4, n % 4) for n in range(16)]"
)
MOVES = "moves = []\ngui.move_tile = lambda board, key, right, down: moves.append((right, down))"
MOVED = "moved = []\ngui.move_tile = lambda board, key, right, down: moved.append(key)"
ENDED = "ended = []\ngui.game_over = lambda board, winner: ended.append(bool(winner))"
KEYS_BOUND = (
    "keys = {}\n"
    "frame.bind = lambda key, function, *more: keys.update({key: function})\n"
    "frame.unbind = lambda key, *more: keys.pop(key, None)"
)
CELLS = [(row, column) for row in range(4) for column in range(4)]


def copy(rows: Rows) -> Rows:
    """A copy to write on."""
    return [list(row) for row in rows]


def with_tiles(tiles: dict[Cell, int], rows: Rows = EMPTY) -> Rows:
    """`rows` with some cells replaced."""
    rows = copy(rows)
    for (row, column), value in tiles.items():
        rows[row][column] = value
    return rows


def random_rows(seed: int, values: tuple[int, ...]) -> Rows:
    """A grid of these values, the same for the same seed."""
    draw = random.Random(seed)
    return [[draw.choice(values) for _ in range(4)] for _ in range(4)]


def unequal_rows(seed: int) -> Rows:
    """A grid in which no two numbers are equal, so that nothing can merge."""
    draw = random.Random(seed)
    values = [2**rank for rank in range(1, 12)] + [0] * 5
    draw.shuffle(values)
    return [values[at : at + 4] for at in (0, 4, 8, 12)]


def grid(rows: Rows) -> str:
    """Code that sets the student's grid."""
    return f"main.grid = {rows}"


def laid(rows: Rows, *notes: str) -> str:
    """Code that sets the grid, opens a board with its tiles, and takes notes."""
    puts = [
        f"gui.put(board, {letter(cell)!r}, gui.find_number({rows[cell[0]][cell[1]]}), "
        f"{cell[0]}, {cell[1]})"
        for cell in tiles_of(rows)
    ]
    if len(puts) > MOST_PUTS:
        puts = [PUT_ALL]
    return "\n".join([grid(rows), "frame, board = gui.setup()", *puts, *notes])


def event(direction: str) -> str:
    """Code for a key press as Tk reports it."""
    return f"SimpleNamespace(keysym={KEYS[direction]!r})"


def letter(cell: Cell) -> str:
    """The key that the checker's gui gives to the tile of a cell."""
    return "abcdefghijklmnop"[4 * cell[0] + cell[1]]


def slid(rows: Rows, direction: str) -> Rows:
    """The grid after a whole move, from the shared engine."""
    slide = Board.from_rows(rows).slide(Direction[direction], Merging.CASCADE)
    return [list(row) for row in slide.board.rows]


def tiles_of(rows: Rows) -> list[Cell]:
    """The cells that hold a number."""
    return [cell for cell in CELLS if rows[cell[0]][cell[1]]]


def stepped(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Where one value stands after one step, and the grid then (problem 6)."""
    (row, column), (down, right) = cell, STEPS[direction]
    target = (row + down, column + right)
    after = copy(rows)
    if target not in CELLS or rows[target[0]][target[1]] not in (0, rows[row][column]):
        return cell, after
    after[target[0]][target[1]] += rows[row][column]
    after[row][column] = 0
    return target, after


def far(rows: Rows, cell: Cell, direction: str) -> tuple[Cell, Rows]:
    """Where one tile stands when it has moved until it merged or was stopped (problem 8)."""
    while True:
        target, after = stepped(rows, cell, direction)
        merged = len(tiles_of(after)) < len(tiles_of(rows))
        if merged or target == cell:
            return target, after
        cell, rows = target, after


FIGURE: Rows = [[0, 0, 0, 4], [0, 0, 4, 2], [2, 4, 4, 2], [0, 8, 4, 2]]


def empty_slots() -> Iterator[Example]:
    """The document's figure, one slot, none, all, and rows that are equal."""
    grids = [FIGURE, EMPTY, STUCK, *(with_tiles({cell: 0}, STUCK) for cell in CELLS)]
    grids += [[[0, 2, 2, 0]] * 2 + [[2, 2, 2, 2]] * 2, [[2, 0, 2, 0]] * 4]
    grids += [random_rows(seed, (0, 0, 2, 4)) for seed in range(8)]
    for rows in grids:
        expected = [cell for cell in CELLS if not rows[cell[0]][cell[1]]]
        yield Example("empty_slots()", expected, given=grid(rows))


def draws_every_slot(session: SubmissionSession) -> None:
    """Each of three empty slots comes up in 40 draws, and nothing else does."""
    for slots in ([(2, 3)], [(0, 0), (0, 3), (3, 1)]):
        session.begin()
        session.run(grid(with_tiles(dict.fromkeys(slots, 0), STUCK)))
        found = [session.value("random_position()", seed=seed) for seed in range(40)]
        del session.shown[2:]
        strange = [slot for slot in found if slot not in slots]
        if strange:
            session.fail(" or ".join(map(str, slots)), str(strange[0]))
        if set(found) != set(slots):
            session.fail(f"each of {slots} from time to time", f"40 times one of {set(found)}")


def steps(direction: str) -> Callable[[], Iterator[Example]]:
    """One step of every number on a few grids, in one direction."""

    def examples() -> Iterator[Example]:
        grids = [with_tiles({(1, 1): 2}), with_tiles({(0, 0): 2, (3, 3): 4})]
        grids += [STUCK, [[2, 2, 2, 2]] * 4, random_rows(5, (0, 2, 2, 4))]
        for rows in grids:
            for cell in tiles_of(rows):
                yield step_of(rows, cell, direction)

    return examples


def step_of(rows: Rows, cell: Cell, direction: str) -> Example:
    """One call of `update_grid`."""
    place, after = stepped(rows, cell, direction)
    code = f"update_grid({cell[0]}, {cell[1]}, {direction})"
    return Example(code, place, given=grid(rows), then={"main.grid": after})


EMPTY_SOURCES = tuple(
    step_of(with_tiles({(0, 0): 2, (0, 1): 2, (2, 2): 2}), (2, 1), direction) for direction in STEPS
)
MERGED_BEFORE = (
    Example(
        "update_grid(0, 1, LEFT)\nupdate_grid(0, 2, LEFT)\nupdate_grid(0, 1, LEFT)",
        (0, 0),
        given=grid([[2, 2, 4, 0], *EMPTY[1:]]),
        then={"main.grid[0]": [8, 0, 0, 0]},
    ),
)


ONE_LEFT = with_tiles({(2, 3): 0}, STUCK)
ADDED_SLOT = (
    Example("add_random_number(board)", (2, 3), given=laid(ONE_LEFT)),
    Example("add_random_number(board) in main.empty_slots()", False, given=laid(EMPTY)),
)
ADDED_EVERYWHERE = (
    Example(
        "add_random_number(board)",
        given=laid(ONE_LEFT),
        then={
            "main.grid[2][3]": OneOf(2, 4),
            "len(board.numbers)": 16,
            "(2, 3) in board.numbers.values()": True,
        },
    ),
    Example(
        "add_random_number(board)",
        given=laid(
            ONE_LEFT,
            "seen = []",
            "numbers = [gui.find_number(2), gui.find_number(4)]",
            "gui.random_number = numbers.pop",
            "put = gui.put",
            "gui.put = lambda board, key, number, row, column: "
            "seen.append(number.value) or put(board, key, number, row, column)",
        ),
        then={"seen == [main.grid[2][3]]": True},
    ),
    Example(
        "add_random_number(board)\nadd_random_number(board)\nsorted(sum(main.grid, []))",
        [0] * 14 + [2, 4],
        given=laid(
            EMPTY,
            "numbers = [gui.find_number(2), gui.find_number(4)]",
            "gui.random_number = numbers.pop",
        ),
    ),
)


THREE_KEYS = Satisfies(
    "['Tile number 1', 'Tile number 2', 'Tile number 3'], or three other texts",
    lambda keys: len(keys) == 3 and all(isinstance(key, str) for key in keys),
)


def counts_its_keys(session: SubmissionSession) -> None:
    """Three numbers have three keys, which are texts: the course's own are "Count 1" and so on."""
    session.fresh()
    session.begin()
    session.run(laid(EMPTY))
    for _ in range(3):
        session.run("add_random_number(board)")
    session.expect("list(board.numbers)", THREE_KEYS)


def identifiers(rows: Rows) -> Iterator[Example]:
    """The key of every tile of a board."""
    for cell in tiles_of(rows):
        code = f"find_identifier(board, {cell[0]}, {cell[1]})"
        yield Example(code, letter(cell), given=laid(rows))


def no_identifiers(rows: Rows) -> Iterator[Example]:
    """None for every empty slot of a board, but not for a slot with a tile."""
    yield from list(identifiers(rows))[:1]
    for cell in CELLS:
        if not rows[cell[0]][cell[1]]:
            yield Example(f"find_identifier(board, {cell[0]}, {cell[1]})", None, given=laid(rows))


ONE: Rows = with_tiles({(1, 1): 2})
ALONE = laid(ONE)


def animated(direction: str, distance: int, step: int = 20, answer: object = True) -> Example:
    """One tile alone, animated over a distance: what it moved in all."""
    down, right = STEPS[direction]
    across, along = distance * abs(right), distance * abs(down)
    given = laid(ONE, MOVES)
    if step != 20:
        given = f"main.transition_value = {step}\n{given}"
    total = "[sum(right for right, down in moves), sum(down for right, down in moves)]"
    return Example(
        f"animate_movement(board, 'f', {across}, {along}, {direction})",
        answer,
        given=given,
        then={total: Loosely([right * distance, down * distance])},
    )


def in_steps(direction: str, distance: int, step: int = 20) -> Example:
    """One tile alone, animated over a distance: the single steps."""
    down, right = STEPS[direction]
    lengths = [step] * (distance // step) + [distance % step] * (distance % step > 0)
    example = animated(direction, distance, step, ...)
    expected = [(right * length, down * length) for length in lengths]
    shifts = "[move for move in moves if move != (0, 0)]"
    return Example(example.code, given=example.given, then={shifts: Loosely(expected)})


def moved(rows: Rows, cell: Cell, direction: str) -> Example:
    """One tile moved as far as it goes."""
    after = far(rows, cell, direction)[1]
    return Example(
        f"move(board, {letter(cell)!r}, {direction})",
        given=laid(rows),
        then={"main.grid": after, "sorted(board.numbers.values())": tiles_of(after)},
    )


TO_THE_WALL = tuple(
    moved(with_tiles({cell: 4}), cell, direction)
    for direction, cell in {"UP": (3, 1), "DOWN": (0, 2), "RIGHT": (1, 0), "LEFT": (2, 3)}.items()
)
TO_ANOTHER = (
    moved(with_tiles({(0, 0): 4, (0, 3): 2}), (0, 3), "LEFT"),
    moved(with_tiles({(3, 2): 8, (0, 2): 2}), (0, 2), "DOWN"),
    moved(with_tiles({(3, 2): 8, (2, 2): 2}), (2, 2), "DOWN"),
)
INTO_AN_EQUAL = (
    moved(with_tiles({(0, 0): 2, (0, 3): 2}), (0, 3), "LEFT"),
    moved(with_tiles({(0, 0): 8, (0, 1): 4, (0, 3): 4}), (0, 3), "LEFT"),
    moved(with_tiles({(3, 1): 8, (2, 1): 4, (1, 1): 4}), (1, 1), "DOWN"),
)

TWO_ON_ONE = (
    "main.grid = [[0, 0, 0, 0], [0, 8, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]]\n"
    "frame, board = gui.setup()\n"
    "gui.put(board, 'x', gui.find_number(4), 3, 3)\n"
    "gui.put(board, 'y', gui.find_number(4), 1, 1)\n"
    "gui.put(board, 'z', gui.find_number(4), 1, 1)\n"
    "board.score = 100"
)
PICTURES = (
    "pictures = {'x': 4, 'y': 4, 'z': 4}\n"
    "gui.remove_number = lambda board, key: pictures.pop(key, None)\n"
    "gui.put = lambda board, key, number, row, column: pictures.update({key: number.value}) is None"
)
MERGES_SAY_SO = tuple(Example(f"merge(board, {key!r})", True, given=TWO_ON_ONE) for key in "yz")
ALONE_SAYS_SO = (
    Example("merge(board, 'f')", False, given=ALONE, then={"len(board.numbers)": 1}),
    Example("merge(board, 'x')", False, given=TWO_ON_ONE, then={"len(board.numbers)": 3}),
)


def after_a_merge(then: dict[str, object], notes: str = "") -> tuple[Example, ...]:
    """What is to be found when two tiles have merged, whichever of them is asked for."""
    given = f"{TWO_ON_ONE}\n{notes}"
    return tuple(Example(f"merge(board, {key!r})", given=given, then=then) for key in "yz")


MERGED_NUMBERS = after_a_merge({"sorted(board.numbers.values())": [(1, 1), (3, 3)]})
MERGED_PICTURES = after_a_merge({"sorted(pictures.values())": [4, 8]}, PICTURES)
MERGED_SCORE = after_a_merge({"board.score": 108})
MERGED_SCORE_SEEN = after_a_merge(
    {"shown": [108]}, "shown = []\ngui.update_score = lambda board: shown.append(board.score)"
)

ONTO_AN_EQUAL = (
    "main.grid = [[4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]\n"
    "frame, board = gui.setup()\n"
    "gui.put(board, 'a', gui.find_number(2), 0, 0)\n"
    "gui.put(board, 'b', gui.find_number(2), 0, 1)\n"
    "board.numbers['b'] = (0, 0)"
)
MERGES_AT_THE_END = (
    Example(
        "animate_movement(board, 'b', 140, 0, LEFT)",
        given=ONTO_AN_EQUAL,
        then={"list(board.numbers.values())": [(0, 0)], "board.score": 4},
    ),
)
TELLS_OF_THE_MERGE = (
    Example("animate_movement(board, 'b', 140, 0, LEFT)", False, given=ONTO_AN_EQUAL),
)


def whole_move(rows: Rows, direction: str, call: str) -> Example:
    """One move of the whole board."""
    after = slid(rows, direction)
    then = {"main.grid": after, "sorted(board.numbers.values())": tiles_of(after)}
    return Example(call, given=laid(rows), then=then)


def line(values: list[int], direction: str) -> Rows:
    """A grid with one line of numbers, the first of them at the wall."""
    down, right = STEPS[direction]
    ordered = values if (down or right) < 0 else values[::-1]
    tiles = {(at, 2) if down else (2, at): value for at, value in enumerate(ordered)}
    return with_tiles(tiles)


def all_move(direction: str) -> tuple[Check, ...]:
    """The checks of problems 9 to 12 for one direction."""
    call = f"move_all_{direction.lower()}(board)"
    gaps = [with_tiles({(at, 3 - at): 2 for at in range(4)}), line([0, 2, 0, 4], direction)]
    gaps += [unequal_rows(seed) for seed in range(10)]
    chains = ([2, 2, 0, 0], [0, 2, 0, 2], [4, 2, 2, 0], [2, 2, 2, 2], [2, 2, 4, 8], [2, 2, 4, 0])
    merges = [line(values, direction) for values in chains]
    merges += [random_rows(seed, (0, 2, 2, 4, 8)) for seed in range(10)]
    return (
        Check(
            "every tile goes as far as it can",
            tuple(whole_move(rows, direction, call) for rows in gaps),
            weight=2,
        ),
        Check(
            "equal tiles merge, beginning at the wall",
            tuple(whole_move(rows, direction, call) for rows in merges),
            weight=2,
        ),
        Check("line by line, the tile nearest the wall first", (order_of(direction, call),)),
    )


def order_of(direction: str, call: str) -> Example:
    """The order in which the tiles of a board begin to move."""
    down, right = STEPS[direction]
    middle = with_tiles(
        {cell: 2 ** (at + 1) for at, cell in enumerate([(1, 1), (1, 2), (2, 1), (2, 2)])}
    )
    cells = sorted(
        tiles_of(middle),
        key=lambda cell: (cell[1], -down * cell[0]) if down else (cell[0], -right * cell[1]),
    )
    order = "list(dict.fromkeys(moved))"
    return Example(call, given=laid(middle, MOVED), then={order: [letter(cell) for cell in cells]})


def by_key(direction: str) -> Check:
    """The check of problem 13 for one key."""
    call = f"move_all(board, {event(direction)})"
    grids = [with_tiles({(1, 1): 2}), *(unequal_rows(seed) for seed in range(3))]
    examples = tuple(whole_move(rows, direction, call) for rows in grids)
    return Check(f"the key {KEYS[direction]}", examples)


def turn(rows: Rows, direction: str, then: dict[str, object], keys: bool = False) -> Example:
    """One key press on a board, with the arrow keys bound to something if `keys`."""
    given = laid(rows, *([KEYS_BOUND, KEYS_DO_SOMETHING, ALIVE] if keys else []))
    code = f"keyboard_callback({event(direction)}, frame, board)"
    return Example(code, given=given, then=then)


KEYS_DO_SOMETHING = f"keys.update(dict.fromkeys({SEQUENCES}, print))"
BOUND = "sorted(keys)"
ALIVE = "alive = []\ngui.move_tile = lambda board, key, right, down: alive.append(sorted(keys))"
COUNT = "sum(number > 0 for row in main.grid for number in row)"


def moved_and_added(rows: Rows, direction: str) -> Example:
    """A turn that moves: all tiles where they belong, and one more."""
    after = slid(rows, direction)
    stand = f"all(main.grid[r][c] for r, c in {tiles_of(after)})"
    number = len(tiles_of(after)) + 1
    return turn(rows, direction, {stand: True, COUNT: number, "len(board.numbers)": number})


def nothing_added(rows: Rows, direction: str) -> Example:
    """A turn that moves nothing: everything as before."""
    number = len(tiles_of(rows))
    return turn(rows, direction, {"main.grid": rows, "len(board.numbers)": number})


ADDS = tuple(moved_and_added(with_tiles({(1, 1): 2, (2, 2): 4}), way) for way in STEPS)
ADDS_AFTER_MERGES = (
    moved_and_added(with_tiles({(0, 0): 2, (0, 1): 2}), "LEFT"),
    moved_and_added([[2, 2, 4, 8], *STUCK[1:]], "LEFT"),
    moved_and_added([[2, 4, 2, 4], [2, 8, 16, 8], [4, 2, 4, 2], [8, 4, 8, 4]], "DOWN"),
)
# Beside them one turn in which something moves, so that a function that does nothing fails.
ADDS_NOTHING = (
    turn(with_tiles({(1, 1): 2}), "LEFT", {"main.grid[1][0]": 2}),
    nothing_added(with_tiles({(0, 0): 2}), "LEFT"),
    nothing_added(with_tiles({(0, 0): 2}), "UP"),
    nothing_added(with_tiles({(0, 0): 2, (0, 1): 4, (0, 2): 2, (0, 3): 4}), "UP"),
    nothing_added(with_tiles({(3, 3): 2, (2, 3): 4}), "DOWN"),
    nothing_added(with_tiles({(3, 3): 2, (3, 2): 4}), "RIGHT"),
)

BINDS_ALL = (Example("bind(frame, board)", given=laid(EMPTY, KEYS_BOUND), then={BOUND: SEQUENCES}),)
KEYS_PLAY = tuple(
    Example(
        f"bind(frame, board)\nkeys['<{KEYS[way]}>']({event(way)})",
        given=laid(with_tiles({(1, 1): 2}), KEYS_BOUND),
        then={"main.grid[{}][{}]".format(*far(with_tiles({(1, 1): 2}), (1, 1), way)[0]): 2},
    )
    for way in STEPS
)
UNBINDS_ALL = (
    Example(
        "unbind(frame)",
        given=laid(EMPTY, KEYS_BOUND, KEYS_DO_SOMETHING),
        then={BOUND: []},
    ),
)

DEAD_AND_ALIVE = tuple(
    turn(
        with_tiles({(1, 1): 2}),
        way,
        {
            "len(alive) > 0": True,
            "sum(alive, [])": [],
            BOUND: SEQUENCES,
        },
        keys=True,
    )
    for way in STEPS
)
DEAD_WHEN_WON = (turn(with_tiles({(0, 0): 1024, (0, 1): 1024}), "RIGHT", {BOUND: []}, keys=True),)
# Only the new number, 2 or 4, fills the board. Without one the turn is problem 14's concern.
DEAD_WHEN_LOST = (
    turn(
        [[0, 8, 32, 128], [4, 8, 16, 64], [8, 16, 32, 128], [16, 32, 64, 256]],
        "LEFT",
        {
            "len(alive) > 0": True,
            "sorted(keys) if len(board.numbers) == 16 else []": [],
        },
        keys=True,
    ),
)

# The statements of the main section, wherever it stands, run in the module as it is.
_MAIN_SECTION = """
import ast
done = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.AnnAssign)
with open(main.__file__, encoding='utf-8') as file:
    section = [
        node for node in ast.parse(file.read()).body
        if not isinstance(node, done)
        and (not isinstance(node, ast.Assign) or isinstance(node.value, ast.Call))
    ]
main.grid = [[0, 0, 0, 0] for _ in range(4)]
name, main.__name__ = main.__name__, '__main__'
try:
    exec(compile(ast.Module(section, []), main.__file__, 'exec'), vars(main))
finally:
    main.__name__ = name
"""


def run_main_section(session: SubmissionSession) -> None:
    """Run the student's main section up to the point where it waits for the player."""
    session.begin()
    outcome = session.run(_MAIN_SECTION)
    session.shown[:] = [f"$ python {session.submission.file}"]
    if outcome.error is not None and outcome.error.type != "LeftAlone":
        session.fail("a window with a game", str(outcome.error))
    session.expect("gui.opened() is not None", True)
    session.shown.pop()


def starts_with_two(session: SubmissionSession) -> None:
    """Two numbers stand on the board."""
    run_main_section(session)
    session.expect("len(gui.opened()[1].numbers)", 2)


def starts_with_keys(session: SubmissionSession) -> None:
    """The arrow keys are bound."""
    run_main_section(session)
    session.expect("sorted(gui.opened()[0].bound)", SEQUENCES)


def over(rows: Rows, answer: bool, ended: list[bool]) -> Example:
    """One call of `is_game_over`; `ended` are the messages it has to show."""
    return Example("is_game_over(board)", answer, given=laid(rows, ENDED), then={"ended": ended})


def reached(rows: Rows) -> Example:
    """2048 is on the board and a move is left: won, or not over yet as in the staff's solution."""
    answers = OneOf((True, [True]), (False, []))
    return Example("is_game_over(board), ended", answers, given=laid(rows, ENDED))


def merges_left() -> Iterator[Rows]:
    """Full boards on which exactly one pair of neighbours is equal."""
    checkered: Rows = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
    for first, second in pairs():
        yield with_tiles({first: 8, second: 8}, checkered)


def pairs() -> Iterable[tuple[Cell, Cell]]:
    """Every two neighbouring cells."""
    for row, column in CELLS:
        if column < 3:
            yield (row, column), (row, column + 1)
        if row < 3:
            yield (row, column), (row + 1, column)


WON_AT_LAST = (
    over(with_tiles({(3, 3): 2048}, STUCK), True, [True]),
    over(with_tiles({(0, 1): 2048}, STUCK), True, [True]),
)
# The last, so that a function that never says anything fails.
WON = (
    reached(with_tiles({(1, 2): 2048})),
    reached(with_tiles({(0, 0): 2048, (3, 3): 2})),
    reached(with_tiles({(3, 3): 2048, (3, 2): 2048})),
    WON_AT_LAST[0],
)
LOST = (
    over(STUCK, True, [False]),
    over([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]], True, [False]),
    over([[2, 4, 2, 4], [8, 16, 8, 16], [2, 4, 2, 4], [8, 16, 8, 16]], True, [False]),
)
GOES_ON = (
    over(EMPTY, False, []),
    *(over(with_tiles({cell: 0}, STUCK), False, []) for cell in ((0, 0), (3, 3), (1, 2))),
)
GOES_ON_FULL = tuple(over(rows, False, []) for rows in merges_left())


DOCUMENT_NAMES = frozenset(
    {
        *("grid", "helper", "controls", "transition_value"),
        *("empty_slots", "random_position", "add_random_number", "find_identifier"),
        *("update_grid", "animate_movement", "move", "move_all"),
        *("move_all_down", "move_all_up", "move_all_right", "move_all_left"),
        *("keyboard_callback", "bind", "unbind", "merge", "is_game_over"),
    }
)
CONSTANTS = frozenset({"UP", "DOWN", "RIGHT", "LEFT", "steps"})
ALIASES = {"random_position": "random_slot", "find_identifier": "find_key"}

_INSTALL = """
parts = {{'main': main, 'gui': gui}}
exec({source!r}, parts)
for name, value in {constants!r}.items():
    if not hasattr(main, name):
        setattr(main, name, value)
for name, other in {names!r}:
    old, new = getattr(main, name, None), parts[other]
    setattr(main, name, new)
    tables = [value for key, value in vars(main).items() if key[0] != '_' and type(value) is dict]
    for table in tables if old else []:
        for key in [key for key, value in table.items() if value is old]:
            table[key] = new
"""


class _InTheModule(ast.NodeTransformer):
    """Look the document's names up in the student's module."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in DOCUMENT_NAMES:
            return node
        return ast.Attribute(ast.Name("main", ast.Load()), node.id, node.ctx)


def all_but(*asked: str) -> str:
    """Code that puts our functions into the module ``main`` in place of all but `asked`."""
    tree = ast.parse(inspect.getsource(main))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = [node.name for node in functions if node.name in DOCUMENT_NAMES - set(asked)]
    source = ast.unparse(
        ast.Module([*_needed(tree), *(_InTheModule().visit(node) for node in functions)], [])
    )
    pairs = [(name, name) for name in names]
    pairs += [(ALIASES[name], name) for name in names if name in ALIASES]
    constants = {
        "helper": main.helper,
        "controls": main.controls,
        "transition_value": main.transition_value,
    }
    return _INSTALL.format(source=source, constants=constants, names=pairs)


def _needed(tree: ast.Module) -> list[ast.stmt]:
    """Return the imports and constants that our functions need around them."""
    return [node for node in tree.body if _is_import(node) or _is_constant(node)]


def _is_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not (node.module or "").startswith("py2048")
    return isinstance(node, ast.Import)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in CONSTANTS
