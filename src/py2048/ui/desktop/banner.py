"""What covers the board when a game is won or over: a veil that comes slowly, words, buttons."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from dataclasses import dataclass
from tkinter import ttk
from typing import NamedTuple

from py2048.ui.desktop import motion, pictures
from py2048.ui.desktop.geometry import Grid
from py2048.ui.desktop.photos import photo_of
from py2048.ui.desktop.style import font
from py2048.ui.shared.themes import Theme

STEPS = 10
"""In how many steps the veil becomes dense."""


class Choice(NamedTuple):
    """A button on the banner."""

    text: str
    action: str


@dataclass(frozen=True, slots=True)
class Banner:
    """What to say over the board.

    Attributes:
        title: the large words.
        text: the small ones below.
        choices: the buttons.
        waits: whether it comes as slowly as in the original game.
    """

    title: str
    text: str
    choices: tuple[Choice, ...]
    waits: bool = True


class BannerView:
    """Shows a banner on a canvas.

    Attributes:
        act: called with the action of the button that is pressed.
    """

    def __init__(self, canvas: tk.Canvas, theme: Theme) -> None:
        self._canvas = canvas
        self._theme = theme
        self._banner: Banner | None = None
        self._grid: Grid | None = None
        self._step = 0
        self._timer = ""
        self._photo: tk.PhotoImage | None = None
        self._buttons: list[ttk.Button] = []
        self.act: Callable[[str], object] = lambda _: None

    @property
    def current(self) -> Banner | None:
        """The banner that is shown or on its way."""
        return self._banner

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self._theme = theme
        self._draw()

    def lay_out(self, grid: Grid) -> None:
        """Follow the board to its new place."""
        self._grid = grid
        self._draw()

    def show(self, banner: Banner | None, *, is_animated: bool) -> None:
        """Show a banner, or none."""
        self._clear()
        self._banner = banner
        if banner is None:
            return
        if is_animated:
            self._step = 0
            delay = motion.VEIL_DELAY if banner.waits else motion.SLIDE + motion.SETTLE
            self._timer = self._canvas.after(round(1000 * delay), self._thicken)
        else:
            self._step = STEPS
            self._draw()

    def _thicken(self) -> None:
        self._timer = ""
        self._step += 1
        self._draw()
        if self._step < STEPS:
            self._timer = self._canvas.after(round(1000 * motion.VEIL_FADE / STEPS), self._thicken)

    def _clear(self) -> None:
        if self._timer:
            self._canvas.after_cancel(self._timer)
            self._timer = ""
        self._step = 0
        self._wipe()

    def _wipe(self) -> None:
        self._canvas.delete("banner")
        # By name: tkinter has no object for an open menu or a list that has dropped down.
        had_focus = str(self._canvas.tk.call("focus")) in map(str, self._buttons)
        for button in self._buttons:
            button.destroy()
        self._buttons.clear()
        if had_focus:
            self._canvas.focus_set()

    def _draw(self) -> None:
        banner, grid = self._banner, self._grid
        if banner is None or grid is None or not self._step:
            return
        is_new = not self._buttons
        strength = motion.ease(self._step / STEPS)
        radius = round(1.4 * grid.radius)
        self._photo = photo_of(
            pictures.veil(grid.width, grid.height, self._theme, strength, radius), self._canvas
        )
        if not is_new and self._canvas.find_withtag("veil") and self._step < STEPS:
            self._canvas.itemconfigure("veil", image=self._photo)
            return
        self._wipe()
        self._canvas.create_image(
            grid.left, grid.top, image=self._photo, anchor="nw", tags=("veil", "banner", "over")
        )
        self._write(banner, grid)

    def _write(self, banner: Banner, grid: Grid) -> None:
        x, y = grid.centre
        unit = min(grid.height / 10, grid.width / 10, 46)
        width = round(grid.width * 0.94)
        for text, offset, size, colour in (
            (banner.title, -2.2, unit * 1.15, self._theme.ink),
            (banner.text, -0.6, unit * 0.5, self._theme.ink),
        ):
            self._canvas.create_text(
                x,
                y + offset * unit,
                text=text,
                fill=colour,
                width=width,
                justify="center",
                font=font(self._canvas, max(size, 9), bold=size > unit),
                tags=("banner", "over"),
            )
        self._place_buttons(banner, grid, y + 1.2 * unit)

    def _place_buttons(self, banner: Banner, grid: Grid, y: float) -> None:
        self._buttons = [
            ttk.Button(
                self._canvas,
                text=choice.text,
                style="Tool.TButton",
                command=lambda action=choice.action: self.act(action),  # type: ignore[misc]
            )
            for choice in banner.choices
        ]
        widths = [button.winfo_reqwidth() + 8 for button in self._buttons]
        tall = sum(widths) > grid.width * 0.96
        x = grid.centre[0] if tall else grid.centre[0] - sum(widths) / 2
        for button, width in zip(self._buttons, widths, strict=True):
            place = (x, y) if tall else (x + width / 2, y)
            self._canvas.create_window(*place, window=button, tags=("banner", "over"))
            if tall:
                y += button.winfo_reqheight() + 4
            else:
                x += width
