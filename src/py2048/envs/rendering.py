"""Rendering of environments as text, as an image, or in a window.

Pillow and tkinter are imported on first use.
"""

from __future__ import annotations

import colorsys
import io
import os
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.board import Board
from py2048.core.errors import Py2048Error
from py2048.envs.options import known_word

if TYPE_CHECKING:
    import tkinter

    from PIL import Image

RENDER_FPS = 8
Picture = NDArray[np.uint8] | str | None
MODES = "human", "rgb_array", "ansi"

BOARD_SIZE = 400
"""Approximate length of the board's longer side, in pixels."""

HEADER = 40
GAP = 8
PAGE, INK, EMPTY = "#171512", "#ece4d8", "#38332e"


def shown_modes() -> list[str]:
    """Return the render modes that are available here. A window requires a display."""
    has_display = sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY"))
    return [mode for mode in MODES if has_display or mode != "human"]


class DisplayError(Py2048Error):
    """A window was requested, but there is no display."""


class Screen:
    """Shows the board of an environment as text, as an image, in a window, or not at all.

    If the user closes the window, the program continues without a window.

    Args:
        mode: A render mode of `GameEnv`.

    Raises:
        OptionError: If the mode does not exist.
    """

    def __init__(self, mode: str | None) -> None:
        self._mode = None if mode is None else known_word(mode, "render_mode", MODES)
        self._root: tkinter.Tk | None = None
        self._is_closed = False
        self._next_s = 0.0

    def show(self, board: NDArray[np.uint8], score: int) -> Picture:
        """Show a board in the window, or return it as a picture or text, depending on the mode.

        Raises:
            DisplayError: If a window is needed but there is no display.
        """
        if self._mode is None or self._is_closed:
            return None
        if self._mode == "ansi":
            return text_of(board, score)
        picture = picture_of(board, score)
        if self._mode == "rgb_array":
            return np.asarray(picture)
        self._show_in_window(picture)
        return None

    def close(self) -> None:
        """Close the window, if it is open. The next call of `show` opens a new window."""
        if self._root is not None:
            self._root.destroy()
            self._root = None

    def _show_in_window(self, picture: Image.Image) -> None:
        """Show an image in the window, at most `RENDER_FPS` times per second."""
        import tkinter

        if self._root is None:
            self._open_window()
        assert self._root is not None
        time.sleep(max(0.0, self._next_s - time.monotonic()))
        self._next_s = time.monotonic() + 1 / RENDER_FPS
        data = io.BytesIO()
        picture.save(data, "PPM")
        image = tkinter.PhotoImage(master=self._root, data=data.getvalue())
        self._label.configure(image=image)
        self._image = image  # Tk itself keeps no reference to the image
        self._root.update()

    def _open_window(self) -> None:
        import tkinter

        try:
            self._root = tkinter.Tk(className="py2048")
        except tkinter.TclError as error:
            raise DisplayError(
                f"render_mode='human' needs a display ({error}); use 'rgb_array' or 'ansi'"
            ) from None
        self._root.title("py2048")
        self._root.protocol("WM_DELETE_WINDOW", self._close_for_good)
        self._label = tkinter.Label(self._root, borderwidth=0)
        self._label.pack()

    def _close_for_good(self) -> None:
        self.close()
        self._is_closed = True


def text_of(board: NDArray[np.uint8], score: int) -> str:
    """Return the score and the board as lines of text."""
    tiles = Board([[1 << int(e) if e else 0 for e in row] for row in board])
    return f"score {score}\n{tiles}\n"


def picture_of(board: NDArray[np.uint8], score: int) -> Image.Image:
    """Draw the board and the score as a Pillow image."""
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
    """Draw a cell that is `side` pixels wide and high."""
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
    """Return the background colour and the text colour of a cell.

    Consecutive tiles differ clearly in hue and lightness, so that agents can distinguish their
    pixels.
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
