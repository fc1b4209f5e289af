"""The view: the window, its bars and canvases, the colours and the pictures of the tiles.

Tiles are drawn with Pillow; no picture file is read.
"""

from __future__ import annotations

import colorsys
import tkinter as tk
from tkinter import font

from PIL import Image

from py2048.courses.windows import photo, rounded

WINDOW_WIDTH = 600
WINDOW_HEIGHT = 665
BAR_HEIGHT = 65
"""Height of the bar with the score below the game, in pixels."""

PAGE = "#121212"
FIELD = "#232323"


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


def draw_tile(side: int, color: str) -> Image.Image:
    """Return a tile of `side` pixels square with round corners, standing on the field."""
    return rounded(side, side, side / 12, color, FIELD)


class View:
    """The window.

    Attributes:
        window: the window itself, 600 by 665 pixels.
        main_canvas: the canvas of the whole window above the bar.
        game_canvas: the canvas of the game field, inside the main one.
        score_label: the score, in the bar.
        finish_label: "Game Over" or "You Won!", in the bar; hidden until then.
        new_game_button: "Start Again", over the field; hidden until the game is over.
    """

    def __init__(self) -> None:
        self.window = tk.Tk()
        self.window.title("Qsan Qarut")
        self.window.geometry(f"{WINDOW_WIDTH}x{WINDOW_HEIGHT}")
        self.window.resizable(False, False)
        self.window.configure(bg=PAGE)
        self.score_label = self._bar_label("Score: 0")
        self.score_label.place(x=25, y=WINDOW_HEIGHT - BAR_HEIGHT // 2 - 4, anchor="w")
        self.finish_label = self._bar_label("Game Over")
        self.main_canvas = self.set_main_canvas()
        self.game_canvas = self.set_game_canvas()
        self.new_game_button = tk.Button(
            self.window,
            text="Start Again",
            font=("Arial", -32),
            bg=PAGE,
            fg="white",
            activebackground=FIELD,
            activeforeground="white",
            highlightbackground="white",
            padx=24,
            pady=12,
        )
        self._tiles: dict[tuple[int, str], tk.PhotoImage] = {}
        self._fonts: dict[tuple[str, int, int], tuple[str, int]] = {}

    def set_main_canvas(self) -> tk.Canvas:
        """Return the canvas of the whole window above the bar, in its place."""
        canvas = tk.Canvas(self.window, background=PAGE, highlightthickness=0)
        canvas.place(x=0, y=0, width=WINDOW_WIDTH, height=WINDOW_HEIGHT - BAR_HEIGHT)
        return canvas

    def set_game_canvas(self) -> tk.Canvas:
        """Return the canvas of the game field, in its place."""
        canvas = tk.Canvas(self.main_canvas, background=FIELD, highlightthickness=0)
        canvas.place(relx=0.5, rely=0.5, anchor="center")
        return canvas

    def show_finish(self, text: str) -> None:
        """Show `text` at the right end of the bar, as large as the score leaves room for."""
        self.window.update_idletasks()
        room = WINDOW_WIDTH - 75 - self.score_label.winfo_reqwidth()
        self.finish_label.configure(text=text, font=self.fitting_font(text, room, 45))
        middle = WINDOW_HEIGHT - BAR_HEIGHT // 2 - 4
        self.finish_label.place(x=WINDOW_WIDTH - 25, y=middle, anchor="e")

    def hide_finish(self) -> None:
        """Hide what `show_finish` showed, and the button."""
        self.finish_label.place_forget()
        self.new_game_button.place_forget()

    def show_new_game_button(self) -> None:
        """Show the button over the middle of the field."""
        self.new_game_button.place(x=WINDOW_WIDTH // 2, rely=0.45, anchor="center")
        self.new_game_button.lift()

    def tile(self, side: int, color: str) -> tk.PhotoImage:
        """Return the picture of a tile, drawn once for each side and colour."""
        if (side, color) not in self._tiles:
            self._tiles[side, color] = photo(self.window, draw_tile(side, color))
        return self._tiles[side, color]

    def fitting_font(self, text: str, width: int, size: int) -> tuple[str, int]:
        """Return the font in which `text` is at most `width` pixels wide and `size` high."""
        if (text, width, size) not in self._fonts:
            wide = font.Font(self.window, family="Arial", size=-size).measure(text)
            self._fonts[text, width, size] = "Arial", -max(1, min(size, size * width // wide))
        return self._fonts[text, width, size]

    def _bar_label(self, text: str) -> tk.Label:
        return tk.Label(self.window, text=text, font=("Arial", -45), fg="white", bg=PAGE)
