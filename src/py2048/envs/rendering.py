"""Pictures of boards, drawn without a display."""

from __future__ import annotations

import colorsys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

BOARD_SIZE = 400
"""The longer side of the cells in pixels, as near as whole pixels allow."""

HEADER = 40
GAP = 8
PAGE, INK, EMPTY = "#171512", "#ece4d8", "#38332e"


def picture_of(board: NDArray[np.uint8], score: int) -> Image.Image:
    """Return the board as a picture with the score above it."""
    rows, columns = board.shape
    side = max(12, (BOARD_SIZE - GAP) // max(rows, columns) - GAP)
    size = GAP + columns * (side + GAP), HEADER + rows * (side + GAP)
    picture = Image.new("RGB", size, PAGE)
    pen = ImageDraw.Draw(picture)
    pen.text((GAP, HEADER / 2), str(score), fill=INK, font=_font(22), anchor="lm")
    for (row, column), exponent in np.ndenumerate(board):
        place = GAP + column * (side + GAP), HEADER + row * (side + GAP)
        picture.paste(tile_picture(int(exponent), side), place)
    return picture


@lru_cache(maxsize=512)
def tile_picture(exponent: int, side: int) -> Image.Image:
    """Return the picture of one cell, `side` pixels wide and high."""
    tile = Image.new("RGB", (side, side), PAGE)
    pen = ImageDraw.Draw(tile)
    face, ink = tile_colours(exponent)
    pen.rounded_rectangle((0, 0, side - 1, side - 1), radius=side // 12, fill=face)
    if exponent:
        text = str(1 << exponent)
        font = _font(side * 0.42)
        while pen.textlength(text, font) > side * 0.86:
            font = _font(font.size * 0.92)
        pen.text((side / 2, side / 2), text, fill=ink, font=font, anchor="mm")
    return tile


def tile_colours(exponent: int) -> tuple[str, str]:
    """Return the colours of a cell's face and of the number on it.

    Neighbours in size differ by a third of the colour circle's warm half and in lightness, so that
    an agent which learns from pixels can tell them apart.
    """
    if exponent == 0:
        return EMPTY, INK
    red, green, blue = colorsys.hls_to_rgb(exponent * 0.137 % 1, 0.72 - exponent % 3 * 0.2, 0.6)
    light = 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2
    face = "#" + "".join(f"{round(255 * channel):02x}" for channel in (red, green, blue))
    return face, "#000000" if light > 0.18 else "#ffffff"


@lru_cache(maxsize=64)
def _font(size: float) -> Any:
    return ImageFont.load_default(size)
