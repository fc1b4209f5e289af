"""Checks of problems 7, 8, 18 and 19: one tile moves, and may merge."""

from __future__ import annotations

from py2048.courses._kit import Example
from py2048.courses.comp1127.grading.boards import (
    STEPS,
    Cell,
    Rows,
    far,
    laid,
    letter,
    tiles_of,
    with_tiles,
)

SHIFTS = "[(across, down) for _, across, down in board.moves if across or down]"
ALONE = laid(with_tiles({(1, 1): 2}))


def animated(direction: str, distance: int, step: int = 20, answer: object = True) -> Example:
    """One tile alone, animated over a distance: what it moved in all."""
    down, right = STEPS[direction]
    across, along = distance * abs(right), distance * abs(down)
    given = ALONE if step == 20 else f"main.transition_value = {step}\n{ALONE}"
    total = "[sum(move[1] for move in board.moves), sum(move[2] for move in board.moves)]"
    return Example(
        f"animate_movement(board, 'f', {across}, {along}, {direction})",
        answer,
        given=given,
        then={total: [right * distance, down * distance]},
    )


def in_steps(direction: str, distance: int, step: int = 20) -> Example:
    """One tile alone, animated over a distance: the single steps."""
    down, right = STEPS[direction]
    lengths = [step] * (distance // step) + [distance % step] * (distance % step > 0)
    example = animated(direction, distance, step, ...)
    expected = [(right * length, down * length) for length in lengths]
    return Example(example.code, given=example.given, then={SHIFTS: expected})


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
MERGES_SAY_SO = tuple(Example(f"merge(board, {key!r})", True, given=TWO_ON_ONE) for key in "yz")
ALONE_SAYS_SO = (
    Example("merge(board, 'f')", False, given=ALONE, then={"len(board.numbers)": 1}),
    Example("merge(board, 'x')", False, given=TWO_ON_ONE, then={"len(board.numbers)": 3}),
)


def after_a_merge(then: dict[str, object]) -> tuple[Example, ...]:
    """What is to be found when two tiles have merged, whichever of them is asked for."""
    return tuple(Example(f"merge(board, {key!r})", given=TWO_ON_ONE, then=then) for key in "yz")


MERGED_NUMBERS = after_a_merge({"sorted(board.numbers.values())": [(1, 1), (3, 3)]})
MERGED_PICTURES = after_a_merge({"board.seen() == main.grid": True})
MERGED_SCORE = after_a_merge({"board.score": 108})
MERGED_SCORE_SEEN = after_a_merge({"board.score_seen": 108})

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
