"""Animation, which computes the tiles to draw at each moment of a move.

All functions are pure functions of the time in seconds. First the tiles slide. After the slide,
merged tiles pop and the new tile grows. Merged tiles start at full size, so no number ever
disappears.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from py2048.core.direction import Direction
from py2048.presentation.themes import MOTION_MS

if TYPE_CHECKING:
    from py2048.core.board import Board, Cell, Slide
    from py2048.presentation.events import Moved, Undone

SLIDE_S, SETTLE_S, GROW_S = (MOTION_MS[name] / 1000 for name in ("slide", "pop", "spawn"))
POP = 1.12
"""Peak scale of a merged tile."""

SPROUT = 0.3
"""Initial scale of a new tile."""

OVERLAY_DELAY_S = MOTION_MS["wait"] / 1000
"""Delay before the game-over overlay appears, in seconds."""


class Sprite(NamedTuple):
    """A tile to draw. Moving tiles have fractional coordinates. The scale 1 is full size."""

    value: int
    row: float
    column: float
    scale: float = 1.0


class BoardTransition(NamedTuple):
    """The animation of the transition from one board to the next.

    Attributes:
        moving: The value, source cell and target cell of each tile during the slide.
        board: Final board.
        popping: Cells of merged tiles.
        growing: Cells of new tiles.
    """

    moving: tuple[tuple[int, Cell, Cell], ...]
    board: Board
    popping: frozenset[Cell] = frozenset()
    growing: frozenset[Cell] = frozenset()

    @property
    def seconds(self) -> float:
        """Total duration."""
        return SLIDE_S * bool(self.moving) + SETTLE_S * bool(self.popping or self.growing)

    def at(self, seconds: float) -> list[Sprite]:
        """Return the tiles at a time in seconds after the start, in drawing order."""
        slide = SLIDE_S * bool(self.moving)
        if seconds < slide:
            progress = glide(max(0.0, seconds) / slide)
            return [_between(tile, progress) for tile in self.moving]
        if seconds >= self.seconds:
            return still(self.board)
        return self._settling(seconds - slide)

    def _settling(self, seconds: float) -> list[Sprite]:
        sprites = still(self.board)
        resting = [s for s in sprites if (s.row, s.column) not in self.popping | self.growing]
        size = SPROUT + (1 - SPROUT) * ease(seconds / GROW_S)
        growing = _scaled(sprites, self.growing, size)
        return resting + growing + _scaled(sprites, self.popping, pop(seconds / SETTLE_S))


def still(board: Board) -> list[Sprite]:
    """Return the tiles of a board at rest."""
    return [
        Sprite(value, row, column)
        for row, line in enumerate(board.rows)
        for column, value in enumerate(line)
        if value
    ]


def of_move(event: Moved) -> BoardTransition:
    """Return the animation of a move."""
    return sliding(event.turn.slide, event.board)


def sliding(slide: Slide, board: Board) -> BoardTransition:
    """Return the animation of a slide and the spawn after it."""
    motions, rows = slide.motions, slide.before.rows
    return BoardTransition(
        moving=tuple([(rows[r][c], (r, c), target) for (r, c), target, _ in motions]),
        board=board,
        popping=frozenset([m.target for m in motions if m.merged]),
        growing=frozenset(slide.board.empty_cells()) - frozenset(board.empty_cells()),
    )


def of_undo(event: Undone) -> BoardTransition:
    """Return the animation of an undo. The tiles slide back."""
    moving = [(event.board[m.target], m.source, m.target) for m in event.backward_motions]
    return BoardTransition(tuple(moving), event.board)


def appearing(board: Board) -> BoardTransition:
    """Return the animation of a new game, during which all tiles grow."""
    cells = frozenset((int(s.row), int(s.column)) for s in still(board))
    return BoardTransition((), board, growing=cells)


def pop(progress: float) -> float:
    """Return the scale of a merged tile. It peaks at `POP`, halfway through the animation."""
    return 1 + (POP - 1) * ease(1 - abs(2 * progress - 1))


def _scaled(sprites: list[Sprite], cells: frozenset[Cell], scale: float) -> list[Sprite]:
    return [s._replace(scale=scale) for s in sprites if (s.row, s.column) in cells]


def _between(tile: tuple[int, Cell, Cell], progress: float) -> Sprite:
    value, (row, column), (to_row, to_column) = tile
    return Sprite(value, row + (to_row - row) * progress, column + (to_column - column) * progress)


def bezier(x1: float, y1: float, x2: float, y2: float) -> Callable[[float], float]:
    """Return the CSS timing function ``cubic-bezier(x1, y1, x2, y2)``."""

    def coordinate(first: float, second: float, t: float) -> float:
        return ((1 - 3 * second + 3 * first) * t + (3 * second - 6 * first)) * t * t + 3 * first * t

    @lru_cache(maxsize=1024)
    def timing(progress: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(20):  # bisection works because x increases with t
            t = (low + high) / 2
            low, high = (t, high) if coordinate(x1, x2, t) < progress else (low, t)
        return coordinate(y1, y2, (low + high) / 2)

    return lambda progress: 0.0 if progress <= 0 else 1.0 if progress >= 1 else timing(progress)


ease = bezier(0.25, 0.1, 0.25, 1.0)
glide = bezier(0.3, 0.0, 0.2, 1.0)


STEPS = dict(zip(Direction, ((-1, 0), (1, 0), (0, -1), (0, 1)), strict=True))
"""The row offset and the column offset of each direction."""


def direction_of(across: float, down: float) -> Direction:
    """Return the direction closest to a vector."""
    if abs(across) >= abs(down):
        return Direction.RIGHT if across > 0 else Direction.LEFT
    return Direction.DOWN if down > 0 else Direction.UP


BAND = 0.5
"""Minimum distance of a click from the centre of the board, where the edge has distance 1."""

CORNER = 0.12
"""Minimum difference between a click's horizontal and vertical distance from the centre.

Clicks near a diagonal of the board have no clear direction.
"""


def direction_of_gesture(
    start: tuple[float, float], end: tuple[float, float], size: tuple[float, float], least: float
) -> Direction | None:
    """Return the direction of a drag, or of the edge nearest to a click. Return None if unclear.

    Args:
        start: Position of the press, relative to the top left corner of the board.
        end: Release position.
        size: Width and height of the board.
        least: Minimum length of a drag. Shorter drags count as clicks.
    """
    across, down = end[0] - start[0], end[1] - start[1]
    if max(abs(across), abs(down)) >= least:
        return direction_of(across, down)
    across, down = 2 * start[0] / size[0] - 1, 2 * start[1] / size[1] - 1
    is_clear = max(abs(across), abs(down)) >= BAND and abs(abs(across) - abs(down)) >= CORNER
    return direction_of(across, down) if is_clear else None
