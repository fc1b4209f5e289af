"""The view: the window, its canvases, labels and tile pictures.

Tiles are drawn with Pillow, without image files.
"""

from __future__ import annotations

import tkinter as tk

from py2048.courses.pictures import photo, rounded
from py2048.courses.windows import FIELD, fitting_font

WINDOW_WIDTH = 600
WINDOW_HEIGHT = 665
BAR_HEIGHT = 65
"""Height in pixels of the score bar below the game."""

PAGE = "#121212"


class View:
    """The window.

    Attributes:
        window: The Tk window of 600 by 665 pixels.
        main_canvas: Canvas that fills the window above the bar.
        game_canvas: Canvas of the game field inside `main_canvas`.
        score_label: The score, in the bar.
        finish_label: The label in the bar that says "Game Over" or "You Won!". Hidden at first.
        new_game_button: The button "Start Again", which is hidden until the game is over.
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
        button = tk.Button(self.window, text="Start Again", font=("Arial", -32), padx=24, pady=12)
        button.configure(bg=PAGE, fg="white", highlightbackground="white")
        button.configure(activebackground=FIELD, activeforeground="white")
        self.new_game_button = button
        self._tiles: dict[tuple[int, str], tk.PhotoImage] = {}

    def set_main_canvas(self) -> tk.Canvas:
        """Create and place the canvas that fills the window above the bar."""
        canvas = tk.Canvas(self.window, background=PAGE, highlightthickness=0)
        canvas.place(x=0, y=0, width=WINDOW_WIDTH, height=WINDOW_HEIGHT - BAR_HEIGHT)
        return canvas

    def set_game_canvas(self) -> tk.Canvas:
        """Create and place the canvas that shows the board."""
        canvas = tk.Canvas(self.main_canvas, background=FIELD, highlightthickness=0)
        canvas.place(relx=0.5, rely=0.5, anchor="center")
        return canvas

    def show_finish(self, text: str) -> None:
        """Show `text` at the right end of the bar in the largest font that fits."""
        self.window.update_idletasks()
        room = WINDOW_WIDTH - 75 - self.score_label.winfo_reqwidth()
        self.finish_label.configure(text=text, font=fitting_font(self.window, text, room, 45))
        middle = WINDOW_HEIGHT - BAR_HEIGHT // 2 - 4
        self.finish_label.place(x=WINDOW_WIDTH - 25, y=middle, anchor="e")

    def hide_finish(self) -> None:
        """Hide the final message and the button."""
        self.finish_label.place_forget()
        self.new_game_button.place_forget()

    def show_new_game_button(self) -> None:
        """Show the button for a new game in the middle of the field."""
        self.new_game_button.place(x=WINDOW_WIDTH // 2, rely=0.45, anchor="center")
        self.new_game_button.lift()

    def tile(self, side: int, color: str) -> tk.PhotoImage:
        """Return a tile's picture, cached by side and colour."""
        if (side, color) not in self._tiles:
            self._tiles[side, color] = photo(self.window, rounded(side, side / 12, color, FIELD))
        return self._tiles[side, color]

    def _bar_label(self, text: str) -> tk.Label:
        return tk.Label(self.window, text=text, font=("Arial", -45), fg="white", bg=PAGE)
