"""Checks of problems 2 to 6: empty slots, new numbers, one step in the grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from py2048.courses.comp1127.grading.boards import (
    CELLS,
    EMPTY,
    STEPS,
    STUCK,
    Cell,
    Rows,
    grid,
    laid,
    letter,
    random_rows,
    stepped,
    tiles_of,
    with_tiles,
)
from py2048.courses.grading import Example, OneOf, Satisfies, SubmissionSession

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
MERGED_BEFORE = tuple(
    Example(
        f"update_grid(0, 1, {ahead})\nupdate_grid(0, 2, {ahead})\nupdate_grid(0, 1, {ahead})",
        (0, 0),
        given=grid([[2, 2, 4, 0], *EMPTY[1:]]),
        then={"main.grid[0]": [8, 0, 0, 0]},
    )
    for ahead in ("LEFT",)
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
