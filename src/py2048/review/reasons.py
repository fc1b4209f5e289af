"""Reasons why a move is worse than the best move, measured in playouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from py2048.core.board import Board
from py2048.core.rules import Rules

MIN_Z = 4.0
"""Minimum difference between two moves that counts as a reason, in standard errors."""


class ReasonKind(StrEnum):
    """Reasons why one move is better than another, with their names in commands and files."""

    ENDED = "ended"
    """The game ends within 20 moves. The numbers count games in 100."""
    CORNER = "corner"
    """The largest tile (``tile``) leaves its corner within ten moves. The numbers count games in
    100.
    """
    TRAPPED = "trapped"
    """A small tile at the edge (``tile``) stays trapped behind a large tile (``behind``). The
    numbers count moves.
    """
    MEETING = "meeting"
    """The largest pair of equal tiles (``tile``) takes longer to merge. The numbers count moves."""
    ROOM = "room"
    """Fewer cells are empty after five moves. The numbers count empty cells."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a move is worse than the best move.

    Attributes:
        kind: The kind of reason.
        numbers: The means after the two moves (``played`` and ``best``), and the unit ``per``,
            which is 100 for counts of games and otherwise 1. Kinds that mention tiles add them as
            ``tile`` and ``behind``.
        z: Difference between the two moves in standard errors. It is at least 4.
    """

    kind: ReasonKind
    numbers: Mapping[str, float]
    z: float

    @property
    def tile(self) -> int | None:
        """The tile that the move puts at risk, or None if the reason mentions no tile."""
        return int(self.numbers["tile"]) if "tile" in self.numbers else None


@dataclass(frozen=True, slots=True)
class Habit:
    """A mistake that a player repeats.

    Attributes:
        kind: The reason that the mistakes have in common.
        count: Number of mistakes.
        cost: Mean loss of the mistakes with this reason, as a probability.
        plies: Numbers of the moves.
    """

    kind: ReasonKind
    count: int
    cost: float
    plies: tuple[int, ...]


# --- what is counted -----------------------------------------------------------------------------

MIN_RATIO = 8
"""Minimum ratio between the trapping tile and the trapped tile."""
MAX_BELOW_LARGEST = 4
"""A trapping tile is at least the largest tile on the board divided by this number."""


class Watch(NamedTuple):
    """The tiles that playouts from a position track, or 0 for missing tiles.

    Attributes:
        corner: Largest tile, if it is in a corner.
        small: Small tile at the edge that would be trapped by at least one legal move.
        large: The large tile that traps `small` from the inner side.
        pair: Largest tile that is on the board more than once. Tiles that can spawn and tiles below
            a quarter of the largest tile are ignored.
    """

    corner: int
    small: int
    large: int
    pair: int


def watch(rules: Rules, board: Board) -> Watch:
    """Return the tiles that playouts from this board track.

    A trap that at least one legal move avoids takes priority over an unavoidable trap. Ties are
    broken by the largest trapping tile, and then by the smallest trapped tile.
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
    """Return whether all corner tiles are smaller than this tile."""
    return max(board.rows[row][column] for row in (0, -1) for column in (0, -1)) < tile


def traps(board: Board) -> set[tuple[int, int]]:
    """Return all pairs of a small tile at the edge and the large tile that traps it."""
    return {
        (small, large)
        for small, large in _edge_pairs(board)
        if small and large >= MIN_RATIO * small
    }


def is_trapped(board: Board, small: int, large: int) -> bool:
    """Return whether a tile of at least `large` traps a tile of at most `small`."""
    return any(0 < outer <= small and inner >= large for outer, inner in _edge_pairs(board))


def _edge_pairs(board: Board) -> Iterator[tuple[int, int]]:
    """Yield each tile at the edge, together with its neighbour on the inner side."""
    for lines in (board.rows, tuple(zip(*board.rows, strict=True))):
        if len(lines) > 1:
            yield from zip(lines[0], lines[1], strict=True)
            yield from zip(lines[-1], lines[-2], strict=True)


def sum_above(board: Board, tile: int) -> int:
    """Return the sum of all tiles that are larger than `tile`."""
    return sum(each for row in board.rows for each in row if each > tile)
