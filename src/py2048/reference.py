"""The reference: what a slide is, in plain tuples.

Every faster engine is tested against these functions. They know no NumPy and no Numba, work
for any board size and any tile value, and are meant to be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from py2048.direction import Direction
from py2048.rules import Merging

Line = tuple[int, ...]
Rows = tuple[Line, ...]


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
