"""Reasons: what a move changes in the games played on from it, counted instead of guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.rules import Rules

MIN_Z = 4.0
"""Minimum difference between two moves, in standard errors, that counts as a reason."""


class ReasonKind(StrEnum):
    """What differs most between two moves, as named in commands and files."""

    ENDED = "ended"
    """The game ends within 20 moves. Numbers: games in 100 that ended."""
    CORNER = "corner"
    """The largest tile is out of its corner ten moves later. Numbers: games in 100; ``tile``."""
    TRAPPED = "trapped"
    """A small tile stays behind a large one. Numbers: moves; ``tile`` and ``behind``."""
    MEETING = "meeting"
    """The two largest equal tiles meet late. Numbers: moves; ``tile``."""
    ROOM = "room"
    """Few cells are free five moves later. Numbers: free cells."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is worse than the best one.

    Attributes:
        kind: What was counted.
        numbers: ``played`` and ``best``, the means after each of the two moves; ``per``, how many
            games they refer to (100 for counts of games, 1 for means); and the board's tiles that
            the kind names (``tile``, ``behind``).
        z: Difference between the two moves in standard errors; at least 4.
    """

    kind: ReasonKind
    numbers: Mapping[str, float]
    z: float


@dataclass(frozen=True, slots=True)
class Habit:
    """A mistake that a player repeats.

    Attributes:
        kind: The reason that the mistakes share.
        count: Number of mistakes.
        cost: Mean loss of one of them, as a probability.
        plies: Numbers of the moves.
    """

    kind: ReasonKind
    count: int
    cost: float
    plies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A typical continuation after a move.

    Attributes:
        directions: Three to six moves, the first of which is the one explained.
        boards: Board before the first move, then the board after each move's spawn.
        fear: Tile to keep an eye on, if the reason names one.
    """

    directions: tuple[Direction, ...]
    boards: tuple[Board, ...]
    fear: int | None


# --- what is counted -----------------------------------------------------------------------------

MIN_RATIO = 8
"""A tile is trapped by one at least this many times as large."""
MAX_BELOW_LARGEST = 4
"""The tile that traps it is at least this fraction of the largest one."""


class Watch(NamedTuple):
    """The tiles of a position that the counts refer to; 0 if there are none.

    Attributes:
        corner: Largest tile, if it is in a corner.
        small: A small tile on an edge that some moves leave behind a large one.
        large: The large tile on its inner side.
        pair: Largest tile that is on the board more than once, too large to spawn, and at least a
            quarter of the largest tile.
    """

    corner: int
    small: int
    large: int
    pair: int


def watch(rules: Rules, board: Board) -> Watch:
    """Return the tiles to watch in the games played on from a board.

    The trap is one that some moves leave and others do not, if there is one; among those, the one
    with the largest trapping tile and then the smallest trapped tile.
    """
    largest = board.max_tile
    tiles = [tile for row in board.rows for tile in row]
    found = [traps(board.slide(each, rules.merging).board) for each in board.legal_directions()]
    known = {
        (small, large)
        for small, large in set().union(*found)
        if large * MAX_BELOW_LARGEST >= largest
    }
    small, large = max(
        known,
        key=lambda trap: (not all(trap in each for each in found), trap[1], -trap[0]),
        default=(0, 0),
    )
    least = max(2 * max(rules.spawn_weights.tiles), largest // MAX_BELOW_LARGEST)
    pairs = (tile for tile in tiles if tile >= least and tiles.count(tile) > 1)
    return Watch(0 if is_out(board, largest) else largest, small, large, max(pairs, default=0))


def is_out(board: Board, tile: int) -> bool:
    """Return whether no corner has this tile or a larger one."""
    return max(board.rows[row][column] for row in (0, -1) for column in (0, -1)) < tile


def traps(board: Board) -> set[tuple[int, int]]:
    """Return the small tiles on an edge with a large one on their inner side, as pairs."""
    return {
        (small, large)
        for small, large in _edge_pairs(board)
        if small and large >= MIN_RATIO * small
    }


def is_trapped(board: Board, small: int, large: int) -> bool:
    """Return whether a tile up to `small` is behind one from `large` on."""
    return any(0 < outer <= small and inner >= large for outer, inner in _edge_pairs(board))


def _edge_pairs(board: Board) -> Iterator[tuple[int, int]]:
    """Yield the tile of each cell on an edge, and the tile on its inner side."""
    for lines in (board.rows, tuple(zip(*board.rows, strict=True))):
        if len(lines) > 1:
            yield from zip(lines[0], lines[1], strict=True)
            yield from zip(lines[-1], lines[-2], strict=True)


def sum_above(board: Board, tile: int) -> int:
    """Return the sum of the tiles larger than this one; it grows when two of them meet."""
    return sum(each for row in board.rows for each in row if each > tile)
