"""The reference implementation of sliding, and the immutable `Board` built on it.

All faster engines are tested against the functions here. The functions are written for readability,
use plain tuples without NumPy or Numba, and handle any board size and tile value exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any, NamedTuple

from py2048.core.direction import Direction
from py2048.core.errors import BoardError, RulesError, check_kind, shown
from py2048.core.rules import Merging, is_tile, whole_number

# --- slides on plain tuples ----------------------------------------------------------------------

Line = tuple[int, ...]
Rows = tuple[Line, ...]
Steps = tuple[tuple[int, int, bool], ...]
Cell = tuple[int, int]
"""``(row, column)``, counted from 0 at the top left."""


class LineSlide(NamedTuple):
    """A line after sliding towards its first cell.

    Attributes:
        line: The line after the slide.
        points: Sum of the tiles created by merges.
        steps: One ``(source, target, merged)`` per tile, in the order in which the tiles move.
            `merged` is true if the tile merged into an equal tile.
    """

    line: Line
    points: int
    steps: Steps


def slide_line(line: Line, merging: Merging = Merging.ONCE) -> LineSlide:
    """Slide `line` towards its first cell.

    The tiles move one after the other, starting with the one nearest the wall. A tile stops at the
    wall or at another tile. Two equal tiles merge and move no further. With `Merging.ONCE`, a tile
    that has merged cannot merge again in the same slide; with `Merging.CASCADE` it can, so
    ``2 2 4 8`` becomes ``16`` while ``4 2 2`` becomes ``4 4``.

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
    """Return the rows or columns along `direction`, each beginning at the wall."""
    along = tuple(zip(*rows, strict=True)) if direction.is_vertical else rows
    return along if direction.is_forward else tuple(line[::-1] for line in along)


def from_lines(along: Rows, direction: Direction) -> Rows:
    """Return the rows whose `lines` in `direction` are `along`; the inverse of `lines`."""
    turned = along if direction.is_forward else tuple(line[::-1] for line in along)
    return tuple(zip(*turned, strict=True)) if direction.is_vertical else turned


def slide(rows: Rows, direction: Direction, merging: Merging = Merging.ONCE) -> tuple[Rows, int]:
    """Slide all tiles of `rows` in `direction`; return the new rows and the points gained."""
    slid = [slide_line(line, merging) for line in lines(rows, direction)]
    return from_lines(tuple(s.line for s in slid), direction), sum(s.points for s in slid)


def legal_directions(rows: Rows) -> tuple[Direction, ...]:
    """Return the directions in which a slide changes `rows`.

    The legal directions are the same under every merge rule.
    """
    return tuple(direction for direction in Direction if slide(rows, direction)[0] != rows)


def has_equal_neighbours(rows: Rows) -> bool:
    """Return whether any two neighbouring cells are equal; if so, a full board has a legal move."""
    along = (*rows, *zip(*rows, strict=True))
    return any(one == other for line in along for one, other in pairwise(line))


def symmetries(rows: Rows) -> Iterator[Rows]:
    """Yield `rows` in every rotation and reflection: 8 for a square board, otherwise 4."""
    flipped = tuple(row[::-1] for row in rows)
    yield from (rows, flipped, rows[::-1], flipped[::-1])
    if len(rows) == len(rows[0]):
        turned = tuple(zip(*rows, strict=True))
        mirrored = tuple(row[::-1] for row in turned)
        yield from (turned, mirrored, turned[::-1], mirrored[::-1])


def canonical(rows: Rows) -> Rows:
    """Return the smallest rotation or reflection of `rows`.

    All symmetric images of a board have the same canonical form.
    """
    return min(symmetries(rows))


# --- boards --------------------------------------------------------------------------------------

# Slides are cached per line, because a 4x4 game has only a few thousand different lines.
_LINE_CACHE_SIZE = 1 << 14


def _cached_slide(merging: Merging, is_forward: bool) -> Callable[[Line], LineSlide]:
    """Return a cached function that slides a line in one direction.

    `LineSlide.steps` numbers cells from the start of the line, whatever the direction.
    """
    step = 1 if is_forward else -1

    @lru_cache(_LINE_CACHE_SIZE)
    def slid(line: Line) -> LineSlide:
        after, points, steps = slide_line(line[::step], merging)
        if not is_forward:
            last = len(line) - 1
            steps = tuple(
                (last - source, last - target, merged) for source, target, merged in steps
            )
        return LineSlide(after[::step], points, steps)

    return slid


_CACHED_SLIDES = {
    (merging, is_forward): _cached_slide(merging, is_forward)
    for merging in Merging
    for is_forward in (True, False)
}


@lru_cache(_LINE_CACHE_SIZE)
def _mobility(line: Line) -> int:
    """Return where tiles can slide: bit 0 is set for the first cell, and bit 1 for the last."""
    bits = 0
    for one, other in pairwise(line):
        if other and one in (0, other):
            bits |= 1
        if one and other in (0, one):
            bits |= 2
    return bits


_DIRECTIONS_BY_BITS = tuple(
    tuple(direction for direction in Direction if bits >> direction.value & 1) for bits in range(16)
)


class Motion(NamedTuple):
    """The movement of one tile during a slide.

    Attributes:
        source: The cell the tile leaves.
        target: The cell where the tile ends up; equal to `source` if it does not move.
        merged: Whether the tile merges into an equal tile at `target`.
    """

    source: Cell
    target: Cell
    merged: bool


class Board:
    """An immutable grid of cells, each empty (0) or holding a tile (a power of two, at least 2).

    Boards are hashable and compare by their cells. `from_rows`, `parse` and `empty` create boards
    and validate their input.
    """

    __slots__ = ("_rows",)
    _rows: Rows

    def __init__(self, rows: Iterable[Iterable[int]]) -> None:
        object.__setattr__(self, "_rows", _checked_rows(rows))

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[int]]) -> Board:
        """Create a board from its rows, listed from the top.

        >>> Board.from_rows([[0, 2], [2, 4]]).max_tile
        4

        Raises:
            BoardError: If rows differ in length, a value is not a tile, or there is only one cell.
        """
        return cls(rows)

    @classmethod
    def empty(cls, rows: int, columns: int) -> Board:
        """Return a board without tiles.

        Raises:
            BoardError: If `rows` or `columns` is not a whole number, or the board has fewer than
                two cells.
        """
        height, width = whole_number(rows), whole_number(columns)
        if height is None or width is None:
            raise BoardError(f"{shown(rows)} x {shown(columns)} is not a size: give whole numbers")
        return cls([[0] * width for _ in range(height)])

    @classmethod
    def _trusted(cls, rows: Rows) -> Board:
        board = object.__new__(cls)
        object.__setattr__(board, "_rows", rows)
        return board

    @classmethod
    def parse(cls, text: str) -> Board:
        """Parse a board from text.

        Rows are separated by newlines, ``/`` or ``;``, cells by spaces, commas or ``|``. An empty
        cell is ``0``, ``.``, ``_`` or ``-``. The output of ``str(board)`` is also accepted.

        >>> Board.parse("2 . / 4 8").rows
        ((2, 0), (4, 8))

        Raises:
            BoardError: If the text is not a board; the message quotes the invalid part.
        """
        check_kind(text, str, BoardError, "the text of a board, such as '2 . / 4 8'")
        rows = text.replace(";", "\n").replace("/", "\n").splitlines()
        cells = [line.replace(",", " ").replace("|", " ").split() for line in rows]
        return cls([[_parse_cell(cell) for cell in row] for row in cells if row])

    @property
    def rows(self) -> Rows:
        """The rows from the top."""
        return self._rows

    @property
    def shape(self) -> tuple[int, int]:
        """``(rows, columns)``."""
        return len(self._rows), len(self._rows[0])

    @property
    def max_tile(self) -> int:
        """The largest tile, or 0 if the board is empty."""
        return max(map(max, self._rows))

    @property
    def sum(self) -> int:
        """The sum of all tiles; slides never change it."""
        return sum(map(sum, self._rows))

    def empty_cells(self) -> list[Cell]:
        """Return the empty cells in row-major order."""
        return [
            (r, c)
            for r, row in enumerate(self._rows)
            if 0 in row
            for c, tile in enumerate(row)
            if not tile
        ]

    def slide(self, direction: Direction | str, merging: Merging = Merging.ONCE) -> Slide:
        """Slide all tiles in `direction`. The move is legal if `Slide.changed` is true.

        Raises:
            DirectionError: If `direction` is neither a direction nor the text of one.
            RulesError: If `merging` is not a `Merging`.
        """
        if not isinstance(direction, Direction):
            direction = Direction.parse(direction)
        if not isinstance(merging, Merging):
            raise RulesError(
                f"{shown(merging)} is not a merging: give Merging.ONCE or Merging.CASCADE"
            )
        along = tuple(zip(*self._rows)) if direction.is_vertical else self._rows  # noqa: B905 - same length
        after, points, _ = zip(*map(_CACHED_SLIDES[merging, direction.is_forward], along))  # noqa: B905
        if after == along:
            return Slide(self, direction, merging, self, 0)
        rows = tuple(zip(*after)) if direction.is_vertical else after  # noqa: B905
        return Slide(self, direction, merging, Board._trusted(rows), sum(points))

    def legal_directions(self) -> tuple[Direction, ...]:
        """Return the directions that change the board, in the order of `Direction`."""
        along = reduce(operator.or_, map(_mobility, self._rows))
        across = reduce(operator.or_, map(_mobility, zip(*self._rows)))  # noqa: B905 - same length
        return _DIRECTIONS_BY_BITS[across | along << 2]

    def can_move(self) -> bool:
        """Return whether any direction changes the board."""
        return any(map(_mobility, self._rows)) or any(map(_mobility, zip(*self._rows)))  # noqa: B905

    def with_tile(self, cell: Cell, tile: int) -> Board:
        """Return a copy with `tile` on `cell`; 0 clears the cell.

        Raises:
            BoardError: If the cell is outside the board or `tile` is not a tile.
        """
        (row, column), (height, width) = checked_cell(cell), self.shape
        if not (0 <= row < height and 0 <= column < width):
            raise BoardError(f"cell {shown((row, column))} is outside a {height}x{width} board")
        return self._with_valid_tile((row, column), _checked_tile(tile))

    def _with_valid_tile(self, cell: Cell, tile: int) -> Board:
        """Return a copy with `tile` on `cell`, without validation."""
        row, column = cell
        line = self._rows[row]
        changed = (*line[:column], tile, *line[column + 1 :])
        return Board._trusted((*self._rows[:row], changed, *self._rows[row + 1 :]))

    def __getitem__(self, cell: Cell) -> int:
        """Return the value at ``(row, column)``."""
        try:
            row, column = cell
            return self._rows[row][column]
        except (TypeError, ValueError):
            raise _cell_error(cell) from None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Board is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Board is immutable: cannot delete {name}")

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

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks."""
        rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self._rows)
        return f'<table style="border-spacing:4px;border-collapse:separate">{rows}</table>'

    def __reduce__(self) -> tuple[type[Board], tuple[Rows]]:
        return Board, (self._rows,)


class Slide(NamedTuple):
    """The result of a slide.

    Attributes:
        before: The board before the slide.
        direction: The direction of the slide.
        merging: The merge rule that this slide follows.
        board: The afterstate, which is the board before a new tile spawns.
        points: Sum of the tiles created by merges.
    """

    before: Board
    direction: Direction
    merging: Merging
    board: Board
    points: int

    @property
    def changed(self) -> bool:
        """Whether the slide changed the board; if so, the move is legal."""
        return self.board is not self.before

    @property
    def motions(self) -> tuple[Motion, ...]:
        """The movements of all tiles, line by line.

        In each line, the tile nearest the wall comes first.
        """
        rows, direction = self.before._rows, self.direction
        along = zip(*rows) if direction.is_vertical else rows  # noqa: B905 - same length
        motions: list[Motion] = []
        for index, line in enumerate(along):
            motions += _motions(direction, index, line, self.merging)
        return tuple(motions)


@lru_cache(_LINE_CACHE_SIZE)
def _motions(direction: Direction, index: int, line: Line, merging: Merging) -> tuple[Motion, ...]:
    """Return the movements of all tiles in row or column `index`."""
    steps = _CACHED_SLIDES[merging, direction.is_forward](line).steps
    if direction.is_vertical:
        return tuple(Motion((here, index), (there, index), merged) for here, there, merged in steps)
    return tuple(Motion((index, here), (index, there), merged) for here, there, merged in steps)


def checked_cell(cell: Any) -> Cell:
    """Return `cell` as a pair of ints, without checking whether it lies on the board.

    Raises:
        BoardError: If `cell` is not a pair of whole numbers.
    """
    try:
        row, column = cell
        return operator.index(row), operator.index(column)
    except (TypeError, ValueError):
        raise _cell_error(cell) from None


def _cell_error(cell: object) -> BoardError:
    return BoardError(f"{shown(cell)} is not a cell: give (row, column), counted from 0")


def _parse_cell(text: str) -> int:
    if text in (".", "_", "-"):
        return 0
    try:
        return int(text)
    except ValueError:
        raise BoardError(
            f"{shown(text)} is not a cell: write a tile such as 2, or . for empty"
        ) from None


def _checked_rows(rows: Iterable[Iterable[int]]) -> Rows:
    try:
        checked = tuple(tuple(map(_checked_tile, row)) for row in rows)
    except TypeError:
        raise BoardError(f"{shown(rows)} is not a board: give rows of values") from None
    lengths = {len(row) for row in checked}
    if not checked or 0 in lengths:
        raise BoardError("a board needs at least one row with a cell")
    if len(lengths) > 1:
        raise BoardError(f"all rows must be equally long, not {shown(list(map(len, checked)))}")
    if len(checked) * len(checked[0]) < 2:
        raise BoardError("a 1x1 board has no move: a board needs at least two cells")
    return checked


def _checked_tile(value: object) -> int:
    tile = whole_number(value)
    if tile is None or (tile and not is_tile(tile)):
        raise BoardError(
            f"{shown(value)} is not a tile: a tile is 0 (empty) or a power of two from 2"
        )
    return tile


def _html_cell(tile: int) -> str:
    level = min(tile.bit_length(), 18)
    ink, light = ("#222", 92) if level < 12 else ("#fff", 75)
    back = f"hsl({50 - 3 * level},75%,{light - 2.5 * level}%)" if tile else "#8883"
    size = "min-width:3em;height:3em;text-align:center;font-weight:bold"
    return f'<td style="{size};background:{back};color:{ink}">{tile or ""}</td>'
