"""Where an environment is shown: as text, as a picture drawn without a display, in a window.

Pillow and tkinter are loaded when they are needed.
"""

from __future__ import annotations

import colorsys
import io
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from py2048.envs.options import OptionError
from py2048.errors import Py2048Error

if TYPE_CHECKING:
    import tkinter

    from PIL import Image

RENDER_FPS = 8
Picture = NDArray[np.uint8] | str | None
MODES = (None, "human", "rgb_array", "ansi")

BOARD_SIZE = 400
"""The longer side of the cells in pixels, as near as whole pixels allow."""

HEADER = 40
GAP = 8
PAGE, INK, EMPTY = "#171512", "#ece4d8", "#38332e"


class DisplayError(Py2048Error):
    """A window was asked for and there is no display."""


class Screen:
    """Where an environment is shown.

    Args:
        mode: a render mode of `GameEnv`.
        shape: ``(rows, columns)`` of the boards.

    Raises:
        OptionError: if there is no such mode.
    """

    def __init__(self, mode: str | None, shape: tuple[int, int]) -> None:
        if mode not in MODES:
            raise OptionError(f"render_mode={mode!r} is unknown; known: human, rgb_array, ansi")
        self._mode = mode
        self._shape = shape
        self._window: Window | None = None

    def show(self, board: NDArray[np.uint8], score: int) -> Picture:
        """Return or show the board (exponents) as the mode asks."""
        if self._mode == "ansi":
            return text_of(board, score)
        if self._mode is None:
            return None
        picture = picture_of(board, score)
        if self._mode == "rgb_array":
            return np.asarray(picture)
        if self._window is None:
            self._window = Window(RENDER_FPS)
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def text_of(board: NDArray[np.uint8], score: int) -> str:
    """Return the board as lines of right-aligned tiles under the score."""
    tiles = [[str(1 << int(e)) if e else "." for e in row] for row in board]
    width = max(len(tile) for row in tiles for tile in row)
    lines = [" ".join(tile.rjust(width) for tile in row) for row in tiles]
    return "\n".join([f"score {score}", *lines]) + "\n"


def picture_of(board: NDArray[np.uint8], score: int) -> Image.Image:
    """Return the board as a picture with the score above it."""
    from PIL import Image, ImageDraw

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
    from PIL import Image, ImageDraw

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
    from PIL import ImageFont

    return ImageFont.load_default(size)


class Window:
    """A window that shows one picture after another, at a steady pace.

    When somebody closes it, nothing more is shown and the program continues.

    Args:
        frames_per_second: how many pictures are shown in a second at most.

    Raises:
        DisplayError: if there is no display.
    """

    def __init__(self, frames_per_second: int) -> None:
        import tkinter

        try:
            self._root: tkinter.Tk | None = tkinter.Tk(className="py2048")
        except tkinter.TclError as error:
            raise DisplayError(
                f"render_mode='human' needs a display ({error}); use 'rgb_array' or 'ansi'"
            ) from None
        self._root.title("py2048")
        self._root.protocol("WM_DELETE_WINDOW", self.close)
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()
        self._pause = 1 / frames_per_second
        self._next = 0.0

    @property
    def is_open(self) -> bool:
        """Whether the window is still there."""
        return self._root is not None

    def show(self, picture: Image.Image) -> None:
        """Show a picture, no sooner than the pace allows."""
        if self._root is None:
            return
        time.sleep(max(0.0, self._next - time.monotonic()))
        self._next = time.monotonic() + self._pause
        data = io.BytesIO()
        picture.save(data, "PPM")
        import tkinter

        image = tkinter.PhotoImage(master=self._root, data=data.getvalue())
        self._label.configure(image=image)
        self._image = image  # Tk shows it only as long as somebody holds it
        self._root.update()

    def close(self) -> None:
        """Close the window."""
        if self._root is not None:
            self._root.destroy()
            self._root = None
