"""What a transition looks like at each moment: tiles sliding, merging, appearing.

Pure functions of time in seconds; the board widget draws what they return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from py2048.board import Board, Cell, Motion

SLIDE_SECONDS = 0.1
SETTLE_SECONDS = 0.12
"""The time in which a merged tile swells and a new tile grows, after the slide."""


class Sprite(NamedTuple):
    """One tile to draw: where (in cells, possibly between them) and how large (1 = full)."""

    value: int
    row: float
    column: float
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Transition:
    """From one board to the next.

    Attributes:
        moving: value, source and target of each tile during the slide.
        board: the board at the end.
        swelling: cells whose tile has just merged.
        growing: cells whose tile has just appeared.
    """

    moving: tuple[tuple[int, Cell, Cell], ...]
    board: Board
    swelling: frozenset[Cell] = frozenset()
    growing: frozenset[Cell] = frozenset()

    @property
    def seconds(self) -> float:
        """How long it takes."""
        settles = bool(self.swelling or self.growing)
        return SLIDE_SECONDS * bool(self.moving) + SETTLE_SECONDS * settles

    def at(self, seconds: float) -> list[Sprite]:
        """Return the tiles to draw `seconds` after the beginning, the lowest first."""
        slide = SLIDE_SECONDS * bool(self.moving)
        if seconds < slide:
            return [_between(tile, _ease(seconds / slide)) for tile in self.moving]
        return self._settling(min(1.0, (seconds - slide) / SETTLE_SECONDS))

    def _settling(self, progress: float) -> list[Sprite]:
        sprites = still(self.board)
        if progress >= 1:
            return sprites
        swollen = 1.12 if progress < 0.6 else 1.0
        scales = dict.fromkeys(self.swelling, swollen) | dict.fromkeys(self.growing, progress)
        # Swollen tiles come last: they reach over their neighbours' edges.
        resting = [s for s in sprites if (s.row, s.column) not in scales]
        lively = [s for s in sprites if (s.row, s.column) in scales]
        return resting + [s._replace(scale=scales[int(s.row), int(s.column)]) for s in lively]


def still(board: Board) -> list[Sprite]:
    """Return the tiles of a board at rest."""
    return [
        Sprite(value, row, column)
        for row, line in enumerate(board.rows)
        for column, value in enumerate(line)
        if value
    ]


def forward(
    before: Board, motions: tuple[Motion, ...], board: Board, spawn: Cell | None
) -> Transition:
    """Return the transition of a turn: slide along `motions`, then let the spawn grow."""
    return Transition(
        moving=tuple((before[m.source], m.source, m.target) for m in motions),
        board=board,
        swelling=frozenset(m.target for m in motions if m.merged),
        growing=frozenset() if spawn is None else frozenset({spawn}),
    )


def backward(motions: tuple[Motion, ...], board: Board) -> Transition:
    """Return the transition of an undo: the tiles of `board` slide home along `motions`.

    The motions are those of the undo, with their source where the turn had brought the tile.
    """
    return Transition(tuple((board[m.target], m.source, m.target) for m in motions), board)


def appearing(board: Board) -> Transition:
    """Return the transition of a new game: all tiles grow."""
    return Transition(
        (), board, growing=frozenset((int(s.row), int(s.column)) for s in still(board))
    )


def _between(tile: tuple[int, Cell, Cell], progress: float) -> Sprite:
    value, (row, column), (to_row, to_column) = tile
    return Sprite(value, row + (to_row - row) * progress, column + (to_column - column) * progress)


def _ease(progress: float) -> float:
    """Slow at both ends, as the original game's slide."""
    return progress * progress * (3 - 2 * progress)
