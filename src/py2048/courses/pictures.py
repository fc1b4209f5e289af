"""Pictures for Tk: drawn with Pillow, four times too large and scaled down, which smooths them.

Students of comp1127 receive this very file.
"""

from __future__ import annotations

import io
import tkinter

from PIL import Image, ImageDraw

SCALE = 4
"""How much larger shapes are drawn."""


def rounded(side: int, radius: float, fill: str, around: str = "") -> Image.Image:
    """Draw a square with round corners on the colour `around`, by default transparent.

    Tk draws pictures without transparency many times faster.
    """
    # Transparent pixels carry the colour, so scaling down leaves no dark rim.
    side *= SCALE
    image = Image.new("RGB" if around else "RGBA", (side, side), around or f"{fill}00")
    box = (0, 0, side - 1, side - 1)
    ImageDraw.Draw(image).rounded_rectangle(box, radius * SCALE, fill=fill)
    return smaller(image)


def smaller(image: Image.Image) -> Image.Image:
    """Scale a picture that is drawn `SCALE` times too large to its own size."""
    size = image.width // SCALE, image.height // SCALE
    return image.resize(size, Image.Resampling.LANCZOS)


def photo(master: tkinter.Misc, image: Image.Image) -> tkinter.PhotoImage:
    """Return a picture for Tk, as PNG, which needs no further library."""
    data = io.BytesIO()
    image.save(data, "PNG", compress_level=1)
    return tkinter.PhotoImage(master=master, data=data.getvalue())
