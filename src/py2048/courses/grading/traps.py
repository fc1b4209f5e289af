"""Recognise well-known mistakes from the boards in a failed check.

Boards are parsed from the text of the report, so a diagnosis uses only information that students
also see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from py2048.core.board import Line, Rows, from_lines, lines, slide, slide_line
from py2048.core.direction import Direction
from py2048.core.language import N_, _
from py2048.core.rules import Merging
from py2048.courses.grading.boards import new_tiles

ROW = r"\[\s*\d+(?:,\s*\d+)+\s*\]"
BOARD = re.compile(rf"\[\s*{ROW}(?:,\s*{ROW})*\s*\]|{ROW}")
# Examples of the IST course contain this call, which puts a tile on the board `b`.
TILE_CALL = re.compile(r"\(b, \w+\((\d), (\d)\), (\d+)\)")
CELL = re.compile(r"\d+")
MAX_CAUSES = 2

Boards = tuple[Rows, Rows, Rows | None]


# --- boards in texts ---


def boards_of(example: str, expected: str, actual: str) -> Boards | None:
    """Return three boards: the board before a move, the expected board and the actual board.

    Returns None if the board before the move or the expected board is missing. A line of tiles
    counts as a board with one row. The actual board may be missing.
    """
    before, target, result = map(_board_in, (example, expected, actual))
    if target is None or any(tile.bit_count() > 1 or tile == 1 for row in target for tile in row):
        return None
    if TILE_CALL.search(example):
        cells = {(int(r), int(c)): int(value) for r, c, value in TILE_CALL.findall(example)}
        before = tuple(tuple(cells.get((r, c), 0) for c in range(1, 5)) for r in range(1, 5))
    if before is None or _size(before) != _size(target):
        return None
    return before, target, result if result and _size(result) == _size(target) else None


def _size(rows: Rows) -> tuple[int, int]:
    return len(rows), len(rows[0])


def _board_in(text: str) -> Rows | None:
    """Return the first board in a string, or else the first line of tiles."""
    found = [
        tuple(tuple(map(int, CELL.findall(row))) for row in re.findall(ROW, match[0]))
        for match in BOARD.finditer(text)
    ]
    found = [rows for rows in found if len({*map(len, rows)}) == 1]
    return next((rows for rows in found if len(rows) > 1), found[0] if found else None)


def with_titles(boards: Boards) -> list[tuple[str, Rows]]:
    """Return the boards with their titles."""
    before, expected, actual = boards
    pairs = (_("before"), before), (_("expected"), expected), (_("actual"), actual)
    return [(title, rows) for title, rows in pairs if rows is not None]


def draw_boards(boards: Boards) -> list[str]:
    """Draw boards side by side as lines of text."""
    columns = []
    for title, rows in with_titles(boards):
        width = max(len(str(tile)) for row in rows for tile in row)
        cells = [" ".join(f"{tile or '.':>{width}}" for tile in row) for row in rows]
        wide = max(map(len, (title, *cells)))
        columns.append([f"{line:{wide}}" for line in (title, *cells)])
    return ["    ".join(parts).rstrip() for parts in zip(*columns, strict=True)]


# --- mistakes in a line, whose first cell is at the wall ---


def _packed(tiles: Sequence[int], line: Line) -> Line:
    left = [tile for tile in tiles if tile]
    return (*left, *(0,) * (len(line) - len(left)))


def _merged_in_place(line: Line, once: bool = False) -> list[int]:
    """Merge equal neighbours without sliding first, starting at the wall."""
    cells, merges = list(line), 0
    for at in range(len(cells) - 1):
        if cells[at] and cells[at] == cells[at + 1] and not (once and merges):
            cells[at : at + 2] = [2 * cells[at], 0]
            merges += 1
    return cells


def _cascade(line: Line) -> Line:
    """Slide and merge a line until it has no equal neighbours."""
    while (after := slide_line(line).line) != line:
        line = after
    return line


def _merge_through(line: Line) -> Line:
    """Merge each tile with the next equal tile, even if there are other tiles between them."""
    cells = list(_packed(line, line))
    for at, tile in enumerate(cells):
        if tile and tile in cells[at + 1 :]:
            cells[at], cells[cells.index(tile, at + 1)] = 2 * tile, 0
    return _packed(cells, line)


def _one_step(line: Line) -> Line:
    cells = list(line)
    for at in range(1, len(cells)):
        if not cells[at - 1]:
            cells[at - 1 : at + 1] = [cells[at], 0]
    return tuple(cells)


def _far_first(line: Line) -> Line:
    return _packed(slide_line(_packed(line, line)[::-1]).line[::-1], line)


def _kept_value(line: Line) -> Line:
    cells = _merged_in_place(_packed(line, line))
    return _packed([min(pair) for pair in zip(cells, [*_packed(line, line)], strict=True)], line)


_AGAIN = N_("a merged tile merges again in the same move")
TRAPS: tuple[tuple[str, Callable[[Line], Sequence[int]]], ...] = (
    (_AGAIN, _cascade),
    (_AGAIN, lambda line: slide_line(line, Merging.CASCADE).line),
    (N_("a merged tile does not merge again"), lambda line: slide_line(line).line),
    (N_("tiles far from the edge merge first"), _far_first),
    (N_("a gap is left after a merge"), lambda line: _merged_in_place(_packed(line, line))),
    (
        N_("equal tiles with a gap between them do not merge"),
        lambda line: _packed(_merged_in_place(line), line),
    ),
    (
        N_("only the first pair of a line merges"),
        lambda line: _packed(_merged_in_place(_packed(line, line), once=True), line),
    ),
    (N_("a tile moves through another to an equal one"), _merge_through),
    (N_("tiles slide but never merge"), lambda line: _packed(line, line)),
    (N_("tiles merge but do not slide"), _merged_in_place),
    (N_("tiles only move by one cell"), _one_step),
    (N_("two tiles merge into one with the same number"), _kept_value),
)
"""Descriptions of mistakes, each with a function that makes this mistake on a line of tiles."""


# --- mistakes on a board ---


def trap_of(boards: Boards) -> str:
    """Return the known mistakes that explain the student's board, or "" if there are none."""
    before, expected, actual = boards
    if actual is None or actual == expected:
        return ""
    found: dict[str, None] = {}
    for direction in Direction:
        for merging in Merging:
            right = slide(before, direction, merging)[0]
            if _is_with_new(right, expected):
                found |= dict.fromkeys(_traps(before, expected, actual, direction, merging))
    return _(" or ").join(map(_, list(found)[:MAX_CAUSES]))


def _traps(
    before: Rows, expected: Rows, actual: Rows, direction: Direction, merging: Merging
) -> Iterator[str]:
    right = slide(before, direction, merging)[0]
    if actual == before:
        yield N_("nothing moves")
        return
    if actual == right:
        yield N_("no new tile appears")
        return
    for name, trap in TRAPS:
        along = tuple(tuple(trap(line)) for line in lines(before, direction))
        result = from_lines(along, direction)
        if result != right and _is_with_new(result, actual):
            yield name
    for other in Direction:
        result = slide(before, other, merging)[0]
        if result != right and _is_with_new(result, actual):
            yield N_("the tiles move in the wrong direction")
    if actual == tuple(zip(*right, strict=True)):
        yield N_("rows and columns are swapped")
    after = zip(*(lines(rows, direction) for rows in (before, right, actual)), strict=True)
    if all(there in {still, moved} for still, moved, there in after):
        yield N_("some lines stay as they are")
    if right == expected and _is_with_new(right, actual):
        yield N_("a new tile appears where none should")


def _is_with_new(rows: Rows, shown: Rows) -> bool:
    """Return whether `shown` equals `rows`, except for at most one new tile."""
    new = new_tiles(rows, shown)
    return new is not None and len(new) <= 1
