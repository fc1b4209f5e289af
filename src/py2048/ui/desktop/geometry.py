"""Where the cells of a board lie in a window of any size, and what a click or a drag means."""

from __future__ import annotations

from dataclasses import dataclass

from py2048.board import Cell
from py2048.direction import Direction

GAP = 0.13
"""The space between cells, as a share of a cell's side."""

MARGIN = 0.02
"""The page around the board, as a share of the shorter side of its area."""

BAND = 0.62
"""A click beyond this share of the way from the centre to a side is a click on that side."""

CORNER = 0.12
"""A click whose sides differ by less than this means neither."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a board, in pixels.

    Attributes:
        shape: rows and columns.
        left: the left edge of the board's frame.
        top: the top edge of the board's frame.
        cell: the side of a cell.
        gap: the space between cells and around them.
    """

    shape: tuple[int, int]
    left: int
    top: int
    cell: int
    gap: int

    @classmethod
    def fit(cls, shape: tuple[int, int], width: int, height: int) -> Grid:
        """Return the largest grid of this shape that stands centred in `width` x `height`."""
        rows, columns = shape
        margin = MARGIN * min(width, height)
        across = (width - 2 * margin) / (columns + (columns + 1) * GAP)
        down = (height - 2 * margin) / (rows + (rows + 1) * GAP)
        cell = max(4, int(min(across, down)))
        grid = cls(shape, 0, 0, cell, max(1, int(GAP * cell)))
        return cls(
            shape,
            max(0, (width - grid.width) // 2),
            max(0, (height - grid.height) // 2),
            grid.cell,
            grid.gap,
        )

    @property
    def pitch(self) -> int:
        """The distance from one cell to the next."""
        return self.cell + self.gap

    @property
    def width(self) -> int:
        """The width of the frame."""
        return self.shape[1] * self.pitch + self.gap

    @property
    def height(self) -> int:
        """The height of the frame."""
        return self.shape[0] * self.pitch + self.gap

    @property
    def radius(self) -> int:
        """The radius of a tile's corners."""
        return max(2, round(self.cell * 0.07))

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the board."""
        return self.left + self.width / 2, self.top + self.height / 2

    def middle(self, row: float, column: float) -> tuple[float, float]:
        """Return the middle of a cell, or of a place between cells."""
        offset = self.gap + self.cell / 2
        return self.left + offset + column * self.pitch, self.top + offset + row * self.pitch

    def cell_at(self, x: float, y: float) -> Cell | None:
        """Return the cell under a point, if any."""
        rows, columns = self.shape
        column, in_x = divmod(x - self.left - self.gap, self.pitch)
        row, in_y = divmod(y - self.top - self.gap, self.pitch)
        is_inside = 0 <= row < rows and 0 <= column < columns
        return (
            (int(row), int(column))
            if is_inside and in_x < self.cell and in_y < self.cell
            else (None)
        )

    def side_at(self, x: float, y: float) -> Direction | None:
        """Return the direction of the side that a click is near, `None` in the middle."""
        middle_x, middle_y = self.centre
        across = (x - middle_x) / (self.width / 2)
        down = (y - middle_y) / (self.height / 2)
        if max(abs(across), abs(down)) < BAND or abs(abs(across) - abs(down)) < CORNER:
            return None
        return direction_of(across, down)


def direction_of(across: float, down: float) -> Direction:
    """Return the direction that a vector mostly points in."""
    if abs(across) >= abs(down):
        return Direction.RIGHT if across > 0 else Direction.LEFT
    return Direction.DOWN if down > 0 else Direction.UP


def swipe(across: float, down: float, least: float) -> Direction | None:
    """Return the direction of a drag over this distance, `None` if it is shorter than `least`."""
    return direction_of(across, down) if max(abs(across), abs(down)) >= least else None
