"""Where things stand on a screen of characters, from a large terminal down to 20 x 10.

The board is drawn on *pixels*: each character cell is two pixels wide and two high, since block
characters (``▘``, ``▐``, ``▄`` …) can colour its quarters. Sizes ending in ``_columns`` and
``_rows`` count characters; everything else here counts pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from py2048.ui.terminal.labels import FULL_WIDTH, POWERS_WIDTH

LARGEST_PITCH = 12
"""Characters from one cell's top to the next one's, at most: larger boards look empty."""

COMFORTABLE_PITCH = 5
"""Tiles of this many rows need not grow at the cost of scores and keys beside the board."""

PANEL_COLUMNS = 28
PANEL_ROWS = 22
LOGO_ROWS = 4
HEADER_ROWS = 3
BARS_ROWS = 2
"""The message and the keys, one row each."""


@dataclass(frozen=True, slots=True)
class Geometry:
    """The grid of a board: how far apart its cells are and how wide the frame is."""

    rows: int
    columns: int
    pitch_x: int
    pitch_y: int
    gap_x: int
    gap_y: int
    frame_x: int
    frame_y: int

    @property
    def tile_width(self) -> int:
        """The width of a tile."""
        return self.pitch_x - self.gap_x

    @property
    def tile_height(self) -> int:
        """The height of a tile."""
        return self.pitch_y - self.gap_y

    @property
    def label_columns(self) -> int:
        """How many characters fit on a tile."""
        return self.tile_width // 2

    @property
    def width_columns(self) -> int:
        """The width of the board with its frame, in characters."""
        return -(-(self.columns * self.pitch_x - self.gap_x + 2 * self.frame_x) // 2)

    @property
    def height_rows(self) -> int:
        """The height of the board with its frame, in characters."""
        return -(-(self.rows * self.pitch_y - self.gap_y + 2 * self.frame_y) // 2)

    @property
    def shows_powers(self) -> bool:
        """Whether tiles are labelled with their rank, for want of room."""
        return self.label_columns <= POWERS_WIDTH

    def corner(self, row: float, column: float) -> tuple[int, int]:
        """Return the top left pixel ``(x, y)`` of a cell, or of a place between cells."""
        return (
            self.frame_x + round(column * self.pitch_x),
            self.frame_y + round(row * self.pitch_y),
        )


def fit(width: int, height: int, rows: int, columns: int) -> Geometry | None:
    """Return the largest grid for a board of `rows` x `columns` on `width` x `height` characters.

    Roomy boards have a frame and square tiles. Smaller ones give up the frame, then the gaps;
    `None` means that not even one character per cell fits.
    """
    styles = (_framed(width, height, rows, columns), _bare(width, height, rows, columns))
    for geometry, least_label in zip(styles, (4, 3), strict=True):
        if geometry is not None and geometry.label_columns >= least_label:
            return geometry
    return _gapless(width, height, rows, columns)


def _framed(width: int, height: int, rows: int, columns: int) -> Geometry | None:
    across, down = (width - 1) // columns, (height - 1) // rows
    # Two characters are about as wide as one is high; narrow tiles may be wider than high.
    high = min(down, max(across // 2, 2), LARGEST_PITCH)
    wide = min(across, max(2 * high, FULL_WIDTH + 1))
    if wide < 2 or high < 2:
        return None
    return Geometry(rows, columns, 2 * wide, 2 * high, gap_x=2, gap_y=1, frame_x=2, frame_y=1)


def _bare(width: int, height: int, rows: int, columns: int) -> Geometry | None:
    across, down = (width + 1) // columns, height // rows
    high = min(down, max(across // 2, 1), 2)
    wide = min(across, FULL_WIDTH + 1)
    if wide < 2 or high < 1:
        return None
    return Geometry(rows, columns, 2 * wide, 2 * high, 2, int(high > 1), frame_x=0, frame_y=0)


def _gapless(width: int, height: int, rows: int, columns: int) -> Geometry | None:
    wide = min(width // columns, POWERS_WIDTH)
    if wide < 1 or height < rows:
        return None
    return Geometry(rows, columns, 2 * wide, 2, gap_x=0, gap_y=0, frame_x=0, frame_y=0)


class Arrangement(Enum):
    """Where the scores stand: beside the board, above it, or squeezed into one line."""

    WIDE = "wide"
    TALL = "tall"
    COMPACT = "compact"
    NONE = "too-small"


@dataclass(frozen=True, slots=True)
class Layout:
    """An arrangement with the grid that it leaves room for."""

    arrangement: Arrangement
    grid: Geometry | None


def arrange(width: int, height: int, rows: int, columns: int) -> Layout:
    """Choose the arrangement that shows a board of `rows` x `columns` best."""
    rooms = {
        Arrangement.WIDE: (width - PANEL_COLUMNS - 4, height),
        Arrangement.TALL: (width - 2, height - HEADER_ROWS - BARS_ROWS),
        Arrangement.COMPACT: (width, height - 2),
    }
    best = Layout(Arrangement.NONE, None)
    for arrangement, (across, down) in rooms.items():
        grid = fit(across, down, rows, columns) if across > 0 and down > 0 else None
        if grid is not None and _worth(grid) > _worth(best.grid):
            best = Layout(arrangement, grid)
    return best


def _worth(grid: Geometry | None) -> tuple[int, int]:
    """How well a grid can be read: digits before powers, then height, up to a comfortable one."""
    if grid is None:
        return -1, 0
    return min(grid.label_columns, FULL_WIDTH), min(grid.pitch_y, 2 * COMFORTABLE_PITCH)
