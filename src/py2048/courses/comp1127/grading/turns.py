"""Checks of problems 9 to 17, 20 and 21: all tiles move, keys are pressed, the game ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from py2048.courses.comp1127.grading.boards import (
    CELLS,
    EMPTY,
    ENDED,
    KEYS,
    KEYS_BOUND,
    MOVED,
    SEQUENCES,
    STEPS,
    STUCK,
    Cell,
    Rows,
    event,
    far,
    laid,
    letter,
    random_rows,
    slid,
    tiles_of,
    unequal_rows,
    with_tiles,
)
from py2048.courses.grading import Check, Example, OneOf, SubmissionSession


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
    session.shown[:] = [f"$ python {session.work.file}"]
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
