"""Helpers for windows, colours and fonts, shared by the courses with a GUI."""

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
    """Call `open_window` and return its result.

    Raises:
        MissingExtraError: If this Python has no tkinter.
        CourseError: If there is no display.
    """
    try:
        import tkinter
    except ImportError as error:
        raise MissingExtraError(
            "this Python has no tkinter, which windows need; "
            "on Debian and Ubuntu install it with: sudo apt install python3-tk"
        ) from error
    try:
        return open_window()
    except tkinter.TclError as error:
        raise CourseError(
            f"cannot open a window ({error}): run this in a desktop session, or set DISPLAY to one"
        ) from error


def run(play: Callable[[], object]) -> int:
    """Run a course's program and return its exit status. Errors are printed on one line.

    The exit status is 0 at the end of input, 130 after Ctrl-C, and 2 after an error.
    """
    try:
        status = play()
    except (CourseError, MissingExtraError) as error:
        print(error, file=sys.stderr)
        return 2
    except (EOFError, KeyboardInterrupt) as error:
        print()
        return 130 if isinstance(error, KeyboardInterrupt) else 0
    return status if isinstance(status, int) else 0


class Colors(dict[int, str]):
    """Background colours of tiles. Numbers without a colour get a generated colour.

    All colours are dark enough for white digits, with a contrast of at least 4.5:1.
    """

    def __missing__(self, number: int) -> str:
        """Generate and store the colour of a power of two that has no entry."""
        number = int(number)
        if number < 2 or number & (number - 1):
            raise KeyError(number)
        # Hues advance by the golden angle, so that neighbouring numbers differ clearly.
        hue = number.bit_length() * 0.381966 % 1
        red, green, blue = (round(255 * c) for c in colorsys.hls_to_rgb(hue, 0.27, 0.55))
        self[number] = f"#{red:02x}{green:02x}{blue:02x}"
        return self[number]


FIELD = "#232323"
"""Board background behind the tiles."""

FACES = """
    5c6670 3f6e8c 23787a 2c7a46 62751c 8a6410 a85512 b8431f c22b3c b02475 8a30b0 6240b8 3f52c4
    1f66b0 0f6a5c 4a5a2a 6d4a3c
"""
colors = Colors({0: "#2e2e2e"} | {2 << n: f"#{face}" for n, face in enumerate(FACES.split())})


@functools.lru_cache(maxsize=4096)
def fitting_font(
    master: tkinter.Misc, text: str, width: int, height: int, weight: str = "normal"
) -> tuple[str, int, str]:
    """Return a font in which `text` fits into about `width` x `height` pixels."""
    wide = max(1, int(master.tk.call("font", "measure", ("Arial", -height, weight), text)))
    return "Arial", -max(1, min(height, height * width // wide)), weight
