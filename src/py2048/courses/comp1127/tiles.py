"""The pictures of the number tiles, drawn with Pillow.

No file is read: the digits come from the font inside Pillow.
"""

from __future__ import annotations

from functools import cached_property

from PIL import Image, ImageDraw, ImageFont

from py2048.courses.windows import SCALE, rounded, smaller

CELL = 140
"""Distance from one cell to the next, in pixels."""

GAP = 14
"""Space between neighbouring tiles, in pixels."""

TILE = CELL - GAP
"""Side of a tile, in pixels."""

RADIUS = 12
"""Radius of a tile's corners, in pixels."""

EMPTY = "#cdc1b4"
"""Colour of an empty cell."""

COLOURS = {
    2: ("#eee4da", "#5b4f45"),
    4: ("#ecd9b0", "#5b4f45"),
    8: ("#f2b179", "#4a2a0c"),
    16: ("#f28d52", "#3c1a05"),
    32: ("#ef6b4f", "#330b02"),
    64: ("#c93a1c", "#ffffff"),
    128: ("#f3d64e", "#4a3a00"),
    256: ("#b9cf4a", "#2f3a00"),
    512: ("#5fb86a", "#062b0b"),
    1024: ("#14808c", "#ffffff"),
    2048: ("#4b3fa7", "#ffffff"),
}
"""Colours of each number's tile: background and digits."""


class NumberTile:
    """A number that can stand on the board."""

    def __init__(self, value: int) -> None:
        self.value = value

    @cached_property
    def image(self) -> Image.Image:
        """The tile's picture, `TILE` pixels square with transparent corners."""
        return draw_tile(self.value)


def draw_square(colour: str) -> Image.Image:
    """Draw a tile without a number."""
    return rounded(TILE, RADIUS, colour)


def draw_tile(value: int) -> Image.Image:
    """Draw the tile of `value`, one of `COLOURS`."""
    background, ink = COLOURS[value]
    text = str(value)
    digits = Image.new("RGBA", (TILE * SCALE, TILE * SCALE), f"{ink}00")
    size = {1: 62, 2: 58, 3: 48, 4: 38}[len(text)] * SCALE
    font, middle = ImageFont.load_default(size), TILE * SCALE / 2
    # The font has one weight; an outline of its own colour makes it bold.
    ImageDraw.Draw(digits).text(
        (middle, middle), text, ink, font, anchor="mm", stroke_width=SCALE, stroke_fill=ink
    )
    return Image.alpha_composite(draw_square(background), smaller(digits))
