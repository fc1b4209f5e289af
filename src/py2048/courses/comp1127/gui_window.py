"""The window, the board and the tile pictures. All Tk code of the course is in this module.

Tiles are drawn with Pillow and its built-in font, so the module reads no files. If the player
closes the window during an animation, the student's program continues, but nothing more is drawn.
"""

from __future__ import annotations

import time
import tkinter as tk
from tkinter import font
from typing import Any

from PIL import Image, ImageDraw, ImageFont

if __package__:
    from py2048.courses import pictures
else:  # if copied to a student's folder
    import pictures  # type: ignore[import-not-found, no-redef]

TILE = 126
"""Side of a tile, in pixels."""

GAP = 14
"""Space between neighbouring tiles, in pixels."""

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
"""Background and digit colour for each value."""


def draw_square(colour: str) -> Image.Image:
    """Draw a tile with transparent corners, without a number."""
    return pictures.rounded(TILE, 12, colour)


def draw_tile(value: int) -> Image.Image:
    """Draw the tile with `value`, which is a key of `COLOURS`."""
    background, ink = COLOURS[value]
    text = str(value)
    digits = Image.new("RGBA", (TILE * pictures.SCALE, TILE * pictures.SCALE), f"{ink}00")
    size = {1: 62, 2: 58, 3: 48, 4: 38}[len(text)] * pictures.SCALE
    font, middle = ImageFont.load_default(size), TILE * pictures.SCALE / 2
    # An outline in the text colour imitates bold text, because the font has no bold weight.
    ImageDraw.Draw(digits).text(
        (middle, middle), text, ink, font, anchor="mm", stroke_width=pictures.SCALE, stroke_fill=ink
    )
    return Image.alpha_composite(draw_square(background), pictures.smaller(digits))


ROWS = COLUMNS = 4
SIDE = COLUMNS * (TILE + GAP) + GAP
BACKGROUND = "#bbada0"
INK = "#3c3226"
SCORE_HEIGHT = 90
DIMMING = (250, 244, 236, 120)
BAND = (250, 244, 236, 255)
BAND_HEIGHT = 130

MIN_STEP_S = 0.004
"""Minimum time between two steps of an animation, in seconds."""


class WindowFrame(tk.Tk):
    """The window frame, to which the student's program binds keys.

    Attributes:
        playing: Whether `mainloop` is running.
        closed: Whether the window has been closed.
    """

    def __init__(self) -> None:
        self.closed = False
        self.playing = False
        super().__init__()
        self.title("2048")
        self.resizable(width=False, height=False)
        super().bind("<Destroy>", self._on_destroy)

    def _on_destroy(self, event: tk.Event[Any]) -> None:
        """Record that the window was closed."""
        if event.widget is self:
            self.closed = True

    def destroy(self) -> None:
        """Close the window, unless it is already closed."""
        if not self.closed:
            self.closed = True
            super().destroy()

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """Like `tkinter.Misc.bind`, but does nothing once the window is closed."""
        return None if self.closed else super().bind(*args, **kwargs)

    def unbind(self, sequence: str, funcid: str | None = None) -> None:
        """Like `tkinter.Misc.unbind`, but does nothing once the window is closed."""
        if not self.closed:
            super().unbind(sequence, funcid)

    def mainloop(self, n: int = 0) -> None:
        """Show the window until it is closed."""
        if not self.closed:
            self.playing = True
            super().mainloop(n)
            self.playing = False


class BoardFrame(tk.Frame):
    """The board, with its tiles and score, drawn on a canvas.

    Attributes:
        numbers: Maps each tile's key to its (row, column), counted from 0.
        score: The score.
    """

    def __init__(self, window: WindowFrame) -> None:
        super().__init__(window)
        self.numbers: dict[str, tuple[int, int]] = {}
        self.score = 0
        self.window = window
        self.canvas = tk.Canvas(self, width=SIDE, height=SIDE + SCORE_HEIGHT)
        self.canvas.configure(background=BACKGROUND, borderwidth=0, highlightthickness=0)
        self.canvas.pack()
        self._pictures: dict[int, tk.PhotoImage] = {}
        self._items: dict[str, int] = {}
        self._last_step = 0.0
        self._draw_background()

    @property
    def closed(self) -> bool:
        """Whether the window is closed."""
        return self.window.closed

    def show_tile(self, key: str, number: Any, row: int, column: int) -> None:
        """Draw the tile `key` on a cell, replacing its old picture. `number` is a `NumberTile`."""
        self.erase_tile(key)
        if number.value not in self._pictures:
            self._pictures[number.value] = pictures.photo(self, number.image)
        picture = self._pictures[number.value]
        self._items[key] = self.canvas.create_image(*_corner(row, column), image=picture)
        self.canvas.itemconfigure(self._items[key], anchor="nw", tags="tile")

    def erase_tile(self, key: str) -> None:
        """Remove the picture of the tile `key`, if there is one."""
        if key in self._items:
            self.canvas.delete(self._items.pop(key))

    def shift_tile(self, key: str, horizontal: int, vertical: int) -> None:
        """Move the picture of the tile `key` by a distance in pixels, and redraw."""
        if key not in self._items:
            return
        self.canvas.tag_raise(self._items[key])
        self.canvas.move(self._items[key], horizontal, vertical)
        self.canvas.update()
        if self.window.playing and (horizontal or vertical):
            self._pace()

    def show_score(self) -> None:
        """Update the score below the cells."""
        self.canvas.itemconfigure(self.score_text, text=f"Score: {self.score}")

    def show_message(self, text: str) -> None:
        """Dim the cells and show `text` on a horizontal band over them."""
        self.canvas.delete("message")
        self.canvas.create_image(0, 0, image=self._overlay, anchor="nw", tags="message")
        self.canvas.create_text(
            SIDE // 2, SIDE // 2, text=text, font=self._font(30), fill=INK, tags="message"
        )

    def _draw_background(self) -> None:
        """Draw the empty cells and the score."""
        self._empty = pictures.photo(self, draw_square(EMPTY))
        overlay = Image.new("RGBA", (SIDE, SIDE), DIMMING)
        overlay.paste(BAND, (0, (SIDE - BAND_HEIGHT) // 2, SIDE, (SIDE + BAND_HEIGHT) // 2))
        self._overlay = pictures.photo(self, overlay)
        for row in range(ROWS):
            for column in range(COLUMNS):
                self.canvas.create_image(*_corner(row, column), image=self._empty, anchor="nw")
        self.score_text = self.canvas.create_text(
            SIDE // 2, SIDE + SCORE_HEIGHT // 2 - GAP // 2, font=self._font(30), fill=INK
        )
        self.show_score()

    def _font(self, pixels: int) -> font.Font:
        family = font.nametofont("TkDefaultFont", self).actual("family")
        return font.Font(self, family=family, size=-pixels, weight="bold")

    def _pace(self) -> None:
        """Wait until `MIN_STEP_S` seconds have passed since the last step."""
        wait = self._last_step + MIN_STEP_S - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        self._last_step = time.monotonic()


def _corner(row: int, column: int) -> tuple[int, int]:
    """Return the pixel position of a tile's top left corner."""
    return GAP + column * (TILE + GAP), GAP + row * (TILE + GAP)


def open_window() -> tuple[WindowFrame, BoardFrame]:
    """Open a window with an empty board.

    Raises:
        tkinter.TclError: If there is no display.
    """
    window = WindowFrame()
    board = BoardFrame(window)
    board.pack()
    return window, board
