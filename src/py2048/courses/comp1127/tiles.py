"""The pictures of the number tiles, drawn with Pillow.

Every tile is drawn four times too large and scaled down, which smooths its round corners
and its digits. No file is read: the digits come from the font inside Pillow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

from PIL import Image, ImageDraw, ImageFont

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

COLOURS = MappingProxyType(
    {
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
)
"""Colours of each number's tile: background and digits."""

_SCALE = 4


@dataclass(frozen=True, eq=False)
class NumberTile:
    """A number that can stand on the board."""

    value: int

    @cached_property
    def image(self) -> Image.Image:
        """The tile's picture, `TILE` pixels square with transparent corners."""
        return draw_tile(self.value)


@cache
def number_tile(value: int) -> NumberTile | None:
    """Return the one tile of `value`, or None where the game has no such number."""
    return NumberTile(value) if value in COLOURS else None


def draw_square(colour: str) -> Image.Image:
    """Draw a tile without a number."""
    side = TILE * _SCALE
    # Transparent pixels carry the tile's colour, so scaling down leaves no dark rim.
    image = Image.new("RGBA", (side, side), f"{colour}00")
    box = (0, 0, side - 1, side - 1)
    ImageDraw.Draw(image).rounded_rectangle(box, RADIUS * _SCALE, fill=colour)
    return image.resize((TILE, TILE), Image.Resampling.LANCZOS)


def draw_tile(value: int) -> Image.Image:
    """Draw the tile of `value`, one of `COLOURS`."""
    background, ink = COLOURS[value]
    digits = Image.new("RGBA", (TILE * _SCALE, TILE * _SCALE), f"{ink}00")
    text = str(value)
    size = {1: 62, 2: 58, 3: 48, 4: 38}[len(text)] * _SCALE
    centre = (TILE * _SCALE / 2, TILE * _SCALE / 2)
    # The font has one weight; an outline of its own colour makes it bold.
    ImageDraw.Draw(digits).text(
        centre,
        text,
        ink,
        ImageFont.load_default(size),
        anchor="mm",
        stroke_width=_SCALE,
        stroke_fill=ink,
    )
    digits = digits.resize((TILE, TILE), Image.Resampling.LANCZOS)
    return Image.alpha_composite(draw_square(background), digits)
