"""Tiles onto a canvas: where each rectangle and each number goes."""

from __future__ import annotations

from functools import cache

from py2048.direction import Direction
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal import glyphs
from py2048.ui.terminal.canvas import Canvas
from py2048.ui.terminal.geometry import Geometry
from py2048.ui.terminal.labels import label
from py2048.ui.terminal.motion import Sprite

Place = tuple[int, int, int, int]
"""``(x, y, width, height)`` in pixels."""

DOT = 2
"""How many pixels wide a dot of a large digit is; it is one high, which makes it a square."""

LARGE_WIDTH = DOT * (glyphs.width_of("2048") + 1)
"""Tiles at least this wide get large digits, where they fit."""

FADE = 0.6
"""How far a faded board goes towards the colour of the page."""


def draw_board(
    canvas: Canvas,
    grid: Geometry,
    theme: Theme,
    sprites: list[Sprite],
    pointer: Direction | None = None,
    *,
    faded: bool = False,
) -> None:
    """Draw the frame, the empty cells and the tiles; `pointer` lights up a side of the frame."""
    fade = FADE if faded else 0.0
    width = grid.columns * grid.pitch_x - grid.gap_x + 2 * grid.frame_x
    height = grid.rows * grid.pitch_y - grid.gap_y + 2 * grid.frame_y
    canvas.rectangle(0, 0, width, height, blend(theme.board, theme.page, fade))
    if pointer is not None and grid.frame_x:
        _draw_pointer(canvas, grid, theme, pointer, width, height)
    for row in range(grid.rows):
        for column in range(grid.columns):
            empty = blend(theme.empty, theme.page, fade)
            _draw_rectangle(canvas, grid, Sprite(0, row, column), empty)
    for sprite in sprites:
        _draw_tile(canvas, grid, theme, sprite, fade)


@cache
def blend(colour: str, other: str, share: float) -> str:
    """Return `colour` with `share` (0 to 1) of it replaced by `other`."""
    mixed = (
        round(int(colour[i : i + 2], 16) * (1 - share) + int(other[i : i + 2], 16) * share)
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _draw_pointer(
    canvas: Canvas, grid: Geometry, theme: Theme, side: Direction, width: int, height: int
) -> None:
    thick_x, thick_y = grid.frame_x, grid.frame_y
    x = width - thick_x if side is Direction.RIGHT else 0
    y = height - thick_y if side is Direction.DOWN else 0
    across, down = (width, thick_y) if side.is_vertical else (thick_x, height)
    canvas.rectangle(x, y, across, down, theme.accent)


def _draw_tile(canvas: Canvas, grid: Geometry, theme: Theme, sprite: Sprite, fade: float) -> None:
    style = theme.tile(sprite.value)
    x, y, width, height = _draw_rectangle(
        canvas, grid, sprite, blend(style.background, theme.page, fade)
    )
    colour = blend(style.text, theme.page, fade)
    digits = str(sprite.value)
    if width >= max(LARGE_WIDTH, DOT * (glyphs.width_of(digits) + 1)):
        _draw_digits(canvas, digits, (x, y, width, height), colour)
    elif 2 * len(text := label(sprite.value, grid.label_columns)) <= width and height >= 2:
        column = (x + 1) // 2 + (width // 2 - len(text)) // 2
        canvas.write(column, (2 * y + height) // 4, text, colour)


def _draw_digits(canvas: Canvas, digits: str, place: Place, colour: str) -> None:
    x, y, width, height = place
    left = x + (width - DOT * glyphs.width_of(digits)) // 2
    top = y + (height - glyphs.HEIGHT) // 2
    for across, down in glyphs.dots(digits):
        canvas.rectangle(left + DOT * across, top + down, DOT, 1, colour)


def _draw_rectangle(canvas: Canvas, grid: Geometry, sprite: Sprite, colour: str) -> Place:
    """Fill a cell-sized rectangle, scaled about its centre; return where it lies."""
    x, y = grid.corner(sprite.row, sprite.column)
    # A swollen tile fills the gap around it, by at least one pixel where there is a gap.
    across = _growth(grid.tile_width, sprite.scale, grid.gap_x)
    down = _growth(grid.tile_height, sprite.scale, grid.gap_y)
    place = x - across, y - down, grid.tile_width + 2 * across, grid.tile_height + 2 * down
    canvas.rectangle(*place, colour)
    return place


def _growth(length: int, scale: float, gap: int) -> int:
    """How many pixels a side moves outwards, at most the gap; inwards if negative."""
    if scale > 1:
        return min(gap, max(1, round(length * (scale - 1) / 2)))
    return round(length * (scale - 1) / 2)
