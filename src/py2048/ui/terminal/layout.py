"""The layout of a terminal's screen, from a large one down to 20 x 10, and labels for tiles.

The board is drawn on *pixels*: each character cell is two pixels wide and two high, since block
characters (``▘``, ``▐``, ``▄`` …) can colour its quarters. Sizes ending in ``_columns`` and
``_rows`` count characters; everything else here counts pixels.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from enum import Enum

FULL_WIDTH = 6
"""Columns that show every tile up to 131072 in digits."""

POWERS_WIDTH = 2
"""At this width and below a label is the tile's rank, since digits would not fit."""

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
class TerminalGrid:
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


def fit(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    """Return the largest grid for a board of `rows` x `columns` on `width` x `height` characters.

    Roomy boards have a frame and square tiles. Smaller ones give up the frame, then the gaps;
    `None` means that not even one character per cell fits.
    """
    styles = (_framed(width, height, rows, columns), _bare(width, height, rows, columns))
    for geometry, least_label in zip(styles, (4, 3), strict=True):
        if geometry is not None and geometry.label_columns >= least_label:
            return geometry
    return _gapless(width, height, rows, columns)


def _framed(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    across, down = (width - 1) // columns, (height - 1) // rows
    # Two characters are about as wide as one is high; narrow tiles may be wider than high.
    high = min(down, max(across // 2, 2), LARGEST_PITCH)
    wide = min(across, max(2 * high, FULL_WIDTH + 1))
    if wide < 2 or high < 2:
        return None
    return TerminalGrid(rows, columns, 2 * wide, 2 * high, gap_x=2, gap_y=1, frame_x=2, frame_y=1)


def _bare(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    across, down = (width + 1) // columns, height // rows
    high = min(down, max(across // 2, 1), 2)
    wide = min(across, FULL_WIDTH + 1)
    if wide < 2 or high < 1:
        return None
    return TerminalGrid(rows, columns, 2 * wide, 2 * high, 2, int(high > 1), frame_x=0, frame_y=0)


def _gapless(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    wide = min(width // columns, POWERS_WIDTH)
    if wide < 1 or height < rows:
        return None
    return TerminalGrid(rows, columns, 2 * wide, 2, gap_x=0, gap_y=0, frame_x=0, frame_y=0)


class Arrangement(Enum):
    """Where the scores are: beside the board, above it, or squeezed into one line."""

    WIDE = "wide"
    TALL = "tall"
    COMPACT = "compact"
    NONE = "too-small"


@dataclass(frozen=True, slots=True)
class Layout:
    """An arrangement with the grid that it leaves room for."""

    arrangement: Arrangement
    grid: TerminalGrid | None


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
        if grid is not None and _legibility(grid) > _legibility(best.grid):
            best = Layout(arrangement, grid)
    return best


def _legibility(grid: TerminalGrid | None) -> tuple[int, int]:
    """How well a grid can be read: digits before powers, then height, up to a comfortable one."""
    if grid is None:
        return -1, 0
    return min(grid.label_columns, FULL_WIDTH), min(grid.pitch_y, 2 * COMFORTABLE_PITCH)


# Labels of tiles

_UNITS = "kMGTPE"
_BASE36 = string.digits + string.ascii_lowercase


def label(value: int, width: int) -> str:
    """Return the text for a tile on `width` columns, at most that long.

    Digits where they fit, then thousands (``131k``), and on one or two columns the rank: ``11``
    is 2048. A board uses one width for all its tiles, so that a label has one meaning.

    >>> label(131072, 6), label(131072, 4), label(131072, 3), label(131072, 2)
    ('131072', '131k', '.1M', '17')
    """
    if width <= POWERS_WIDTH:
        return _rank(value.bit_length() - 1, width)
    for text in _spellings(value):
        if len(text) <= width:
            return text
    return "·"


def _rank(rank: int, width: int) -> str:
    if width == 1:
        return _BASE36[rank] if rank < len(_BASE36) else "·"
    return str(rank) if rank < 100 else "··"


def _spellings(value: int) -> list[str]:
    """The ways to write `value`, the most exact first."""
    spellings = [str(value)]
    for power, unit in enumerate(_UNITS, start=1):
        thousands = value / 1000**power
        if thousands >= 1:
            spellings.append(f"{int(thousands)}{unit}")
        elif thousands >= 0.1:
            spellings.append(f".{int(thousands * 10)}{unit}")
    return [*spellings, f"2^{value.bit_length() - 1}"]
