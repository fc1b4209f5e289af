"""The oracle: what a slide is, in plain tuples, and `Board`, an immutable position made of them.

Every faster engine is tested against the functions here. They know no NumPy and no Numba, are
exact for any board size and any tile value, and are meant to be read.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from py2048.direction import Direction
from py2048.errors import BoardError, RulesError, shown
from py2048.rules import Merging, is_tile
from py2048.rules.parts import whole_number

# --- slides of plain tuples ---------------------------------------------------------------------

Line = tuple[int, ...]
Rows = tuple[Line, ...]
Cell = tuple[int, int]
"""``(row, column)``, 0-based from the top left."""


class LineSlide(NamedTuple):
    """A line after sliding towards its first cell.

    Attributes:
        line: the new line.
        points: the sum of the merged tiles, in points.
        steps: one ``(source, target, merged)`` per tile, in the order in which the tiles move;
            `merged` says that the tile ran into an equal one.
    """

    line: Line
    points: int
    steps: tuple[tuple[int, int, bool], ...]


def slide_line(line: Line, merging: Merging = Merging.ONCE) -> LineSlide:
    """Slide `line` towards its first cell.

    The tiles move one after the other, starting with the one nearest the wall. A tile stops at
    the wall or at another tile; if that one is equal they merge, and the moving tile's journey
    ends. With `Merging.ONCE` a merged tile accepts no further one in this slide; with
    `Merging.CASCADE` it does, so ``2 2 4 8`` becomes ``16`` while ``4 2 2`` becomes ``4 4``.

    >>> slide_line((2, 2, 4, 8)).line
    (4, 4, 8, 0)
    >>> slide_line((2, 2, 4, 8), Merging.CASCADE)[:2]
    ((16, 0, 0, 0), 28)
    """
    stack: list[int] = []
    points = 0
    open_to_merge = False
    steps = []
    for source, tile in enumerate(line):
        if not tile:
            continue
        merged = open_to_merge and stack[-1] == tile
        if merged:
            stack[-1] += tile
            points += stack[-1]
            open_to_merge = merging is Merging.CASCADE
        else:
            stack.append(tile)
            open_to_merge = True
        steps.append((source, len(stack) - 1, merged))
    return LineSlide((*stack, *(0,) * (len(line) - len(stack))), points, tuple(steps))


def lines(rows: Rows, direction: Direction) -> Rows:
    """Return the lines that slide in `direction`, each with the leading cell first."""
    along = tuple(zip(*rows, strict=True)) if direction.is_vertical else rows
    return along if direction.is_forward else tuple(line[::-1] for line in along)


def from_lines(along: Rows, direction: Direction) -> Rows:
    """Return the rows whose `lines` in `direction` are `along`."""
    turned = along if direction.is_forward else tuple(line[::-1] for line in along)
    return tuple(zip(*turned, strict=True)) if direction.is_vertical else turned


def slide(rows: Rows, direction: Direction, merging: Merging = Merging.ONCE) -> tuple[Rows, int]:
    """Slide all tiles of `rows` in `direction`; return the new rows and the points gained."""
    slid = [slide_line(line, merging) for line in lines(rows, direction)]
    return from_lines(tuple(s.line for s in slid), direction), sum(s.points for s in slid)


def legal_directions(rows: Rows) -> tuple[Direction, ...]:
    """Return the directions whose slide changes `rows`. It does not depend on the merging."""
    return tuple(direction for direction in Direction if slide(rows, direction)[0] != rows)


def symmetries(rows: Rows) -> Iterator[Rows]:
    """Yield the images of `rows` under the symmetries of its shape: 8 if square, otherwise 4."""
    flipped = tuple(row[::-1] for row in rows)
    yield from (rows, flipped, rows[::-1], flipped[::-1])
    if len(rows) == len(rows[0]):
        turned = tuple(zip(*rows, strict=True))
        mirrored = tuple(row[::-1] for row in turned)
        yield from (turned, mirrored, turned[::-1], mirrored[::-1])


def canonical(rows: Rows) -> Rows:
    """Return the least image of `rows` under its symmetries: one name for all of them."""
    return min(symmetries(rows))


# --- boards --------------------------------------------------------------------------------------

# Lines repeat: a game on a 4x4 board meets a few thousand different ones.
_slide_line = lru_cache(maxsize=1 << 16)(slide_line)


class Motion(NamedTuple):
    """The way of one tile in a slide.

    Attributes:
        source: the cell it left.
        target: the cell it reached (the same cell if it did not move).
        merged: whether it ran into an equal tile at `target` and merged with it.
    """

    source: Cell
    target: Cell
    merged: bool


class Board:
    """Rows of cells, each empty (0) or holding a tile (a power of two, 2 or more).

    A board is a value: immutable, hashable, compared by its cells. Build one with
    `from_rows`, `parse` or `empty`, all of which check their input.
    """

    __slots__ = ("_rows",)
    _rows: Rows

    def __init__(self, rows: Iterable[Iterable[int]]) -> None:
        object.__setattr__(self, "_rows", _checked(rows))

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[int]]) -> Board:
        """Return the board with these rows, from the top.

        >>> Board.from_rows([[0, 2], [2, 4]]).max_tile
        4

        Raises:
            BoardError: if rows differ in length, a value is no tile, or there is only one cell.
        """
        return cls(rows)

    @classmethod
    def empty(cls, rows: int, columns: int) -> Board:
        """Return a board without tiles.

        Raises:
            BoardError: if the lengths are no whole numbers, or there are not two cells.
        """
        height, width = whole_number(rows), whole_number(columns)
        if height is None or width is None:
            raise BoardError(f"{shown(rows)} x {shown(columns)} is no size: give two whole numbers")
        return cls([[0] * width for _ in range(height)])

    @classmethod
    def _trusted(cls, rows: Rows) -> Board:
        board = object.__new__(cls)
        object.__setattr__(board, "_rows", rows)
        return board

    @classmethod
    def parse(cls, text: str) -> Board:
        """Return the board that `text` shows.

        Rows are separated by newlines, ``/`` or ``;``, cells by spaces, commas or ``|``; an empty
        cell is ``0``, ``.``, ``_`` or ``-``. ``str(board)`` is such a text.

        >>> Board.parse("2 . / 4 8").rows
        ((2, 0), (4, 8))

        Raises:
            BoardError: if the text is no board; the message names the value.
        """
        if not isinstance(text, str):
            raise BoardError(f"{shown(text)} is no text of a board, such as '2 . / 4 8'")
        rows = text.replace(";", "\n").replace("/", "\n").splitlines()
        cells = [line.replace(",", " ").replace("|", " ").split() for line in rows]
        return cls([[_parse_cell(cell) for cell in row] for row in cells if row])

    @property
    def rows(self) -> Rows:
        """The rows from the top, each a tuple of values."""
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """``(rows, columns)``."""
        return len(self._rows), len(self._rows[0])

    @property
    def max_tile(self) -> int:
        """The largest value on the board (0 if it is empty)."""
        return max(map(max, self._rows))

    @property
    def sum(self) -> int:
        """The sum of all tiles. A slide conserves it."""
        return sum(map(sum, self._rows))

    def empty_cells(self) -> list[Cell]:
        """Return the empty cells in row-major order."""
        return [
            (r, c) for r, row in enumerate(self._rows) for c, tile in enumerate(row) if not tile
        ]

    def slide(self, direction: Direction | str, merging: Merging = Merging.ONCE) -> Slide:
        """Slide all tiles in `direction`; the result says whether anything changed.

        Raises:
            DirectionError: if `direction` is none, nor a text of one.
            RulesError: if `merging` is none.
        """
        if not isinstance(direction, Direction):
            direction = Direction.parse(direction)
        if not isinstance(merging, Merging):
            raise RulesError(
                f"{shown(merging)} is no merging: give Merging.ONCE or Merging.CASCADE"
            )
        along = lines(self._rows, direction)
        slid = [_slide_line(line, merging) for line in along]
        after = tuple([s[0] for s in slid])
        if after == along:
            return Slide(self, direction, merging, self, 0)
        points = sum([s[1] for s in slid])
        board = Board._trusted(from_lines(after, direction))
        return Slide(self, direction, merging, board, points)

    def legal_directions(self) -> tuple[Direction, ...]:
        """Return the directions whose slide changes the board, in the order of `Direction`."""
        return tuple(direction for direction in Direction if self.slide(direction).changed)

    def can_move(self) -> bool:
        """Return whether any direction changes the board."""
        return any(self.slide(direction).changed for direction in Direction)

    def with_tile(self, cell: Cell, tile: int) -> Board:
        """Return this board with `tile` (0 to clear) on `cell`.

        Raises:
            BoardError: if the cell is outside the board or `tile` is no tile.
        """
        (row, column), (height, width) = checked_cell(cell), self.shape
        if not (0 <= row < height and 0 <= column < width):
            raise BoardError(f"cell {cell} is outside a {height}x{width} board")
        line = self._rows[row]
        changed = (*line[:column], _checked_value(tile), *line[column + 1 :])
        return Board._trusted((*self._rows[:row], changed, *self._rows[row + 1 :]))

    def __getitem__(self, cell: Cell) -> int:
        """Return the value on ``(row, column)``."""
        try:
            row, column = cell
            return self._rows[row][column]
        except (TypeError, ValueError):
            raise _no_cell(cell) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Board is immutable: cannot set {name}")

    def __eq__(self, other: object) -> bool:
        return self._rows == other._rows if isinstance(other, Board) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._rows)

    def __str__(self) -> str:
        width = len(str(self.max_tile))
        return "\n".join(
            " ".join(str(tile or ".").rjust(width) for tile in row) for row in self._rows
        )

    def __repr__(self) -> str:
        return f"Board.from_rows({[list(row) for row in self._rows]})"

    def __reduce__(self) -> tuple[type[Board], tuple[Rows]]:
        return Board, (self._rows,)


@dataclass(frozen=True, slots=True)
class Slide:
    """What a slide did.

    Attributes:
        before: the board that was slid.
        direction: where to.
        merging: how often a tile could merge.
        board: the afterstate, before anything spawns.
        points: the sum of the merged tiles.
    """

    before: Board
    direction: Direction
    merging: Merging
    board: Board
    points: int

    @property
    def changed(self) -> bool:
        """Whether the slide changed the board, which is what makes a move legal."""
        return self.board is not self.before

    @property
    def motions(self) -> tuple[Motion, ...]:
        """The way of each tile, line by line, the tile nearest the wall first."""
        return _motions(self.before.rows, self.direction, self.merging)


@lru_cache(maxsize=256)  # a screen, a sentence and a message ask for the same ones
def _motions(rows: Rows, direction: Direction, merging: Merging) -> tuple[Motion, ...]:
    last = (len(rows) if direction.is_vertical else len(rows[0])) - 1
    motions = []
    for index, line in enumerate(lines(rows, direction)):
        for step in _slide_line(line, merging).steps:
            source, target = step[:2] if direction.is_forward else (last - step[0], last - step[1])
            if direction.is_vertical:
                motions.append(Motion((source, index), (target, index), step[2]))
            else:
                motions.append(Motion((index, source), (index, target), step[2]))
    return tuple(motions)


def checked_cell(cell: Any) -> Cell:
    """Return ``(row, column)`` as ints, which need not be on a board.

    Raises:
        BoardError: if `cell` is not a pair of whole numbers.
    """
    try:
        row, column = cell
        return operator.index(row), operator.index(column)
    except (TypeError, ValueError):
        raise _no_cell(cell) from None


def _no_cell(cell: object) -> BoardError:
    return BoardError(f"{shown(cell)} is no cell: give (row, column), counted from 0")


def _parse_cell(text: str) -> int:
    if text in (".", "_", "-"):
        return 0
    try:
        return int(text)
    except ValueError:
        raise BoardError(f"{text!r} is no cell: write a tile such as 2, or . for empty") from None


def _checked(rows: Iterable[Iterable[int]]) -> Rows:
    try:
        checked = tuple(tuple(map(_checked_value, row)) for row in rows)
    except TypeError:
        raise BoardError(f"{shown(rows)} is no board: give rows of values") from None
    lengths = {len(row) for row in checked}
    if not checked or 0 in lengths:
        raise BoardError("a board needs at least one row with a cell")
    if len(lengths) > 1:
        raise BoardError(f"all rows must be equally long, not {[len(row) for row in checked]}")
    if len(checked) * len(checked[0]) < 2:
        raise BoardError("a 1x1 board has no move: a board needs at least two cells")
    return checked


def _checked_value(value: object) -> int:
    tile = whole_number(value)
    if tile is None or (tile and not is_tile(tile)):
        raise BoardError(
            f"{shown(value)} is not a tile: a tile is 0 (empty) or a power of two from 2"
        )
    return tile
