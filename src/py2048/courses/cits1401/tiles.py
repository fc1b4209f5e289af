"""The pictures of the board, drawn with Pillow.

Everything is drawn four times too large and scaled down, which smooths corners and arrows. No
file is read. The numbers on the tiles are texts of the canvas.
"""

from __future__ import annotations

import colorsys
from enum import Enum
from functools import lru_cache

from PIL import Image, ImageDraw

from py2048.direction import Direction

PAGE = "#f3f1ec"
BOARD = "#24324a"
EMPTY = "#344563"
GOLD = "#ffc72c"
WHITE = "#ffffff"
DARK = "#1d2433"

SCALE = 4

_PALETTE = (
    *("#e8e3d6", "#d9cfae", "#eab676", "#e8935a", "#dd6b4d", "#c2453f"),
    *("#a83263", "#8a3a8f", "#6a4bb0", "#4a62c8", "#1f6ac0", "#2798b8"),
    *("#20a088", "#3fa75a", "#7fae3a", "#b9b22f", "#e0a526", "#c97a1d"),
)


class Mark(Enum):
    """Why a square is set off from the others: the colour of a ring around its tile."""

    NONE = ""
    MOVED = GOLD
    NEW = "#7df0c4"


def tile_colours(value: int) -> tuple[str, str]:
    """Return the colours of a tile and of its digits; every power of two from 2 has them."""
    rank = value.bit_length() - 1
    if rank <= len(_PALETTE):
        face = _PALETTE[rank - 1]
    else:
        hue = rank * 0.381966 % 1  # the golden angle keeps neighbours apart
        face = _hex(colorsys.hls_to_rgb(hue, 0.27, 0.55))
    # Contrast is a ratio, so the watershed is the geometric mean of the two shades.
    return face, DARK if (_luminance(face) + 0.05) ** 2 > 1.05 * (
        _luminance(DARK) + 0.05
    ) else WHITE


@lru_cache(maxsize=2048)
def draw_tile(face: str, side: int, mark: Mark = Mark.NONE) -> Image.Image:
    """Return a tile of `side` pixels square with transparent corners, without its number."""
    large = side * SCALE
    image = _blank(large, large, mark.value or face)
    ring = 0 if mark is Mark.NONE else max(SCALE, large // 16)
    box = (0, 0, large - 1, large - 1)
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle(box, large // 9, fill=face, outline=mark.value or None, width=ring)
    return image.resize((side, side), Image.Resampling.LANCZOS)


@lru_cache(maxsize=64)
def draw_panel(width: int, height: int, colour: str, radius: int) -> Image.Image:
    """Return a plain rectangle with round corners."""
    image = _blank(width * SCALE, height * SCALE, colour)
    box = (0, 0, width * SCALE - 1, height * SCALE - 1)
    ImageDraw.Draw(image).rounded_rectangle(box, radius * SCALE, fill=colour)
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=256)
def draw_hover(side: int, direction: Direction, *, strong: bool) -> Image.Image:
    """Return what lies over a square that can be clicked: a tint, and an arrow if `strong`."""
    large = side * SCALE
    tint = (255, 199, 44, 120 if strong else 45)
    image = _blank(large, large, GOLD)
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((0, 0, large - 1, large - 1), large // 9, fill=tint)
    if strong:
        draw.polygon(_arrow(large, direction), fill=(29, 36, 51, 235))
    return image.resize((side, side), Image.Resampling.LANCZOS)


@lru_cache(maxsize=64)
def draw_arrow(side: int, direction: Direction, colour: str) -> Image.Image:
    """Return an arrow head alone."""
    large = side * SCALE
    image = _blank(large, large, colour)
    corners = _turned([(0.5, 0.25), (0.9, 0.75), (0.1, 0.75)], large, direction)
    ImageDraw.Draw(image).polygon(corners, fill=colour)
    return image.resize((side, side), Image.Resampling.LANCZOS)


@lru_cache(maxsize=4)
def draw_veil(width: int, height: int) -> Image.Image:
    """Return what lies over the board when the game is over."""
    return Image.new("RGBA", (width, height), (29, 36, 51, 165))


def _blank(width: int, height: int, colour: str) -> Image.Image:
    # Transparent pixels carry the colour, so scaling down leaves no dark rim.
    return Image.new("RGBA", (width, height), f"{colour}00")


def _arrow(side: int, direction: Direction) -> list[tuple[float, float]]:
    """Return the corners of an arrow in the middle of a square."""
    half = [(0.5, 0.25), (0.75, 0.54), (0.6, 0.54), (0.6, 0.75)]
    return _turned([*half, *((1 - x, y) for x, y in reversed(half[1:]))], side, direction)


def _turned(
    upward: list[tuple[float, float]], side: int, direction: Direction
) -> list[tuple[float, float]]:
    """Return the corners of a shape that points up in the unit square, turned and enlarged."""
    if not direction.is_forward:
        upward = [(x, 1 - y) for x, y in upward]
    turned = upward if direction.is_vertical else [(y, x) for x, y in upward]
    return [(side * x, side * y) for x, y in turned]


def _hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


def _luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (Web Content Accessibility Guidelines 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
