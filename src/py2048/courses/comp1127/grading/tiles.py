"""Checks of problems 7, 8, 18 and 19: one tile moves, and may merge."""

from __future__ import annotations

from py2048.courses.comp1127.grading.boards import (
    MOVES,
    STEPS,
    Cell,
    Rows,
    far,
    laid,
    letter,
    tiles_of,
    with_tiles,
)
from py2048.courses.grading import Example, Loosely

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
