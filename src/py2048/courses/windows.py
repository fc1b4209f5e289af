"""What the courses with windows share: opening one, smooth shapes, pictures for Tk."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PIL import Image, ImageDraw

from py2048.errors import CourseError, MissingExtraError

if TYPE_CHECKING:
    import tkinter

T = TypeVar("T")

SCALE = 4
"""How much larger shapes are drawn; scaling down smooths them."""


def opened(open_window: Callable[[], T]) -> T:
    """What `open_window` returns.

    Raises:
        MissingExtraError: where Python has no tkinter.
        CourseError: where there is no display to open a window on.
    """
    try:
        import tkinter
    except ImportError as error:
        raise MissingExtraError(
            "this Python has no tkinter, which draws the window; "
            "on Debian and Ubuntu install it with: sudo apt install python3-tk"
        ) from error
    try:
        return open_window()
    except tkinter.TclError as error:
        raise CourseError(
            f"no window can be opened ({error}); "
            "run this in a desktop session, or set DISPLAY to one"
        ) from error


def run(play: Callable[[], object]) -> int:
    """Play; return the exit status, 2 with one line for what cannot be done."""
    try:
        status = play()
    except (CourseError, MissingExtraError) as error:
        print(error, file=sys.stderr)
        return 2
    return status if isinstance(status, int) else 0


def rounded(
    width: int,
    height: int,
    radius: float,
    fill: str,
    around: str = "",
    *,
    ring: str = "",
    thick: int = 0,
) -> Image.Image:
    """A rectangle with round corners and a `ring` inside its edge.

    It stands on the colour `around`, or else has transparent corners. Tk draws pictures without
    transparency many times faster.
    """
    # Transparent pixels carry the colour, so scaling down leaves no dark rim.
    ground = around or f"{(ring or fill)[:7]}00"
    image = Image.new("RGB" if around else "RGBA", (width * SCALE, height * SCALE), ground)
    box = (0, 0, width * SCALE - 1, height * SCALE - 1)
    ImageDraw.Draw(image).rounded_rectangle(
        box, radius * SCALE, fill=fill, outline=ring or None, width=thick
    )
    return smaller(image)


def smaller(image: Image.Image) -> Image.Image:
    """A picture drawn `SCALE` times too large, in its own size."""
    size = image.width // SCALE, image.height // SCALE
    return image.resize(size, Image.Resampling.LANCZOS)


def photo(master: tkinter.Misc, image: Image.Image) -> tkinter.PhotoImage:
    """A picture for Tk, as PNG, which needs no further library."""
    import tkinter

    data = io.BytesIO()
    image.save(data, "PNG", compress_level=1)
    return tkinter.PhotoImage(master=master, data=data.getvalue())
