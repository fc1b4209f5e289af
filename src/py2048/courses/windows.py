"""What the courses with windows share: opening one, colours and fonts."""

from __future__ import annotations

import colorsys
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from py2048.core.errors import CourseError, MissingExtraError

if TYPE_CHECKING:
    import tkinter

T = TypeVar("T")


def opened(open_window: Callable[[], T]) -> T:
    """Return what `open_window` returned.

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


class Colors(dict[int, str]):
    """The background of every number that can occur, also of those beyond the table.

    All of them are dark enough for white digits: a contrast of 4.5:1 or more.
    """

    def __missing__(self, number: int) -> str:
        """Make the colour of a number beyond the table, a power of two, and keep it."""
        number = int(number)
        if number < 2 or number & (number - 1):
            raise KeyError(number)
        hue = number.bit_length() * 0.381966 % 1  # the golden angle keeps neighbours apart
        red, green, blue = (round(255 * c) for c in colorsys.hls_to_rgb(hue, 0.27, 0.55))
        self[number] = f"#{red:02x}{green:02x}{blue:02x}"
        return self[number]


FIELD = "#232323"
"""The ground on which tiles with these colours stand."""

colors = Colors(
    {
        0: "#2e2e2e",
        2: "#5c6670",
        4: "#3f6e8c",
        8: "#23787a",
        16: "#2c7a46",
        32: "#62751c",
        64: "#8a6410",
        128: "#a85512",
        256: "#b8431f",
        512: "#c22b3c",
        1024: "#b02475",
        2048: "#8a30b0",
        4096: "#6240b8",
        8192: "#3f52c4",
        16384: "#1f66b0",
        32768: "#0f6a5c",
        65536: "#4a5a2a",
        131072: "#6d4a3c",
    }
)


@functools.lru_cache(maxsize=4096)
def fitting_font(
    master: tkinter.Misc, text: str, width: int, height: int, weight: str = "normal"
) -> tuple[str, int, str]:
    """Return the font in which `text` is at most about `width` pixels wide and `height` high."""
    wide = max(1, int(master.tk.call("font", "measure", ("Arial", -height, weight), text)))
    return "Arial", -max(1, min(height, height * width // wide)), weight
