"""The controller, which passes key presses to the model and shows the model in the view.

Importing the module does not open a window, but creating a `Controller` does.
"""

from __future__ import annotations

import tkinter as tk
from typing import TypedDict

import numpy as np

from py2048.courses.windows import colors, fitting_font

if __package__:
    from py2048.courses.qsan_qarut import model as m
    from py2048.courses.qsan_qarut import view as v
else:  # if copied to another folder
    import model as m  # type: ignore[import-not-found, no-redef]
    import view as v  # type: ignore[import-not-found, no-redef]

N = 4
"""Default grid size."""

FIELD_SIDE = 540
"""Side of the game field, in pixels."""

ZERO_COLOR = "#767676"
"""Colour of the 0 on empty cells."""


class CellWidgets(TypedDict):
    """The widgets of one cell."""

    frame: tk.Frame
    number: tk.Label


class Controller:
    """A game in its window.

    Args:
        grid: Number of rows and columns. Defaults to the module's `N`.

    Attributes:
        model: The data. ``model.game`` is the game.
        view: The window.
        cells: The widgets of each cell as ``{"frame": …, "number": …}``.
    """

    def __init__(self, grid: int | None = None) -> None:
        self.model = m.Model(N if grid is None else grid)
        self.view = v.View()
        self.cells = self.set_cells()
        self.view.new_game_button.configure(command=self.new_game)
        self.bind_keys()
        self.update_view()
        self.model.game.show_model()

    def set_cells(self) -> np.ndarray[tuple[int, ...], np.dtype[np.object_]]:
        """Create the widgets of all cells on the field and return them."""
        grid = self.model.game.grid
        step = FIELD_SIDE // grid
        spacing = max(2, step * 20 // 135)
        self.side = step - spacing
        sides = range(grid)
        return np.array([[self._set_cell(i, j, spacing) for j in sides] for i in sides])

    def _set_cell(self, row: int, column: int, spacing: int) -> CellWidgets:
        canvas, side = self.view.game_canvas, self.side
        frame = tk.Frame(canvas, width=side, height=side)
        number = tk.Label(canvas, compound="center", borderwidth=0, padx=0, pady=0)
        number.configure(width=side, height=side)
        for widget in (frame, number):
            widget.grid(row=row, column=column, padx=spacing / 2, pady=spacing / 2)
        return {"frame": frame, "number": number}

    def update_view(self, event: object = None) -> None:
        """Show the current state of the model."""
        game = self.model.game
        self.view.score_label["text"] = f"Score: {game.score}"
        for cell, number in zip(self.cells.ravel(), game.board.ravel(), strict=True):
            self._show_number(cell, int(number))
        if game.is_finished:
            self.finish_game()
        if game.is_won:
            self.win_game()

    def _show_number(self, cell: CellWidgets, number: int) -> None:
        color, text = colors[number], str(number)
        cell["frame"]["bg"] = color
        cell["number"].configure(
            text=text,
            bg=color,
            fg="white" if number else ZERO_COLOR,
            image=self.view.tile(self.side, color),
            font=fitting_font(self.view.window, text, self.side * 9 // 10, self.side * 5 // 11),
        )

    def finish_game(self) -> None:
        """Announce the end of the game, unbind the keys, and offer a new game."""
        self.view.show_finish("Game Over")
        self.view.show_new_game_button()
        for key in self.keys():
            self.view.window.unbind(key)

    def win_game(self) -> None:
        """Announce the win; play continues."""
        self.view.show_finish("You Won! Game Over" if self.model.game.is_finished else "You Won!")

    def new_game(self) -> None:
        """Start a new game in the same window."""
        self.model.game.restart()
        self.view.hide_finish()
        self.bind_keys()
        self.update_view()
        self.model.game.show_model()

    def bind_keys(self) -> None:
        """Bind each arrow key to a move in the model, followed by an update of the view."""
        for key, arrow in self.keys().items():
            self.view.window.bind(key, arrow)
            self.view.window.bind(key, self.update_view, add="+")

    def keys(self) -> dict[str, m.Arrow]:
        """Map each arrow key to its handler in the model."""
        game = self.model.game
        return {
            "<Left>": game.left_arrow,
            "<Right>": game.right_arrow,
            "<Up>": game.up_arrow,
            "<Down>": game.down_arrow,
        }
