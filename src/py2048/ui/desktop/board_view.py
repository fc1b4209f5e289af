"""The board on a Tk canvas: tiles in motion, hints, the overlay of a finished game, the mouse."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image

from py2048.board import Board
from py2048.direction import Direction
from py2048.ui.desktop.style import Button, Photos, font, photo_of
from py2048.ui.shared import board_image, motion
from py2048.ui.shared.board_image import BoardGrid
from py2048.ui.shared.themes import Theme

if TYPE_CHECKING:
    from py2048.session import Hint
    from py2048.ui.shared.result import Result

FRAME = 1 / 60
STEPS = 16
"""Sizes of a growing tile are rounded to such a part of its full size, and drawn once."""

MIN_SWIPE = 0.25
"""A drag over this share of a cell is a swipe, a shorter one a click."""


class Marks(NamedTuple):
    """Which sides of a board are marked.

    Attributes:
        best: the best direction.
        played: the one that was played, if there is one.
    """

    best: Direction
    played: Direction | None = None


class CanvasBoard(tk.Canvas):
    """Shows boards and how one becomes the next.

    Whatever is still moving when something new is shown jumps to its end.

    Args:
        parent: the widget to stand in.
        theme: the colours.
        pushed: called with the direction of each swipe and of each click near a side.

    Attributes:
        cells: where the cells lie; `None` before the window has a size.
        margin: the page around the board, for marks and the ring of the focus.
        reshaped: called when a board of another shape is shown.
    """

    def __init__(
        self, parent: tk.Misc, theme: Theme, pushed: Callable[[Direction], object]
    ) -> None:
        super().__init__(
            parent, highlightthickness=3, borderwidth=0, takefocus=True, width=10, height=10
        )
        self.theme = theme
        self._pushed = pushed
        self._photos = Photos(self)
        self._shape = (4, 4)
        self.cells: BoardGrid | None = None
        self.margin = 8
        self.reshaped: Callable[[], object] = lambda: None
        self._transition = motion.BoardTransition((), Board.empty(4, 4))
        self._pace = 0.0
        self._began = 0.0
        self._timer = ""
        self._marks: Marks | None = None
        self._items: list[int] = []
        self._shown: list[tuple[float, float, tk.PhotoImage] | None] = []
        self._press: tuple[int, int] | None = None
        self._ground = self.create_image(0, 0, anchor="nw")
        self._base: tk.PhotoImage | None = None
        self.overlay = Overlay(self)
        self.frames = 0
        self.set_theme(theme)
        self._bind_events()

    def _bind_events(self) -> None:
        self.bind("<Configure>", lambda _: self._lay_out())
        self.bind("<ButtonPress-1>", self._on_press)
        self.bind("<ButtonRelease-1>", self._on_release)
        self.bind("<<TraverseIn>>", lambda _: self._ring(self.theme.focus))
        self.bind("<FocusOut>", lambda _: self._ring(self.theme.page))

    def destroy(self) -> None:
        """Close, and free the pictures at once: a thread that collects garbage waits for Tk's."""
        super().destroy()
        self._photos.clear()
        self._shown.clear()
        self._base = None

    # What is shown

    @property
    def board(self) -> Board:
        """The board that is shown, or will be when the motion has ended."""
        return self._transition.board

    def cover(self, banner: Result | None) -> None:
        """Cover the board with the end of the game, or uncover it."""
        self.overlay.show(banner, is_animated=self.is_animated)

    @property
    def is_animated(self) -> bool:
        """Whether what was shown last slid, and did not jump."""
        return bool(self._pace)

    @property
    def is_moving(self) -> bool:
        """Whether an animation is running."""
        return bool(self._timer)

    def set_theme(self, theme: Theme) -> None:
        """Change the colours."""
        self.theme = theme
        self._photos.clear()
        self.configure(background=theme.page, highlightbackground=theme.page)
        self._ring(theme.page)
        self._lay_out()

    def show(self, transition: motion.BoardTransition, pace: float) -> None:
        """Show how a board becomes another.

        Args:
            transition: what to show.
            pace: how many times longer than usual it takes; 0 jumps to the end.
        """
        self._stop()
        self._transition, self._pace = transition, pace
        self._marks = None
        if transition.board.shape != self._shape:
            self._shape = transition.board.shape
            self.reshaped()
            self._lay_out()
        self._began = time.perf_counter()
        # Drawing waits until all keys that were pressed have been handled.
        self._timer = self.after_idle(self._draw_frame)

    def finish(self) -> None:
        """Jump to the end of what is moving."""
        self._stop()
        self._pace = 0.0
        self._draw_frame()

    def point(self, hint: Hint) -> None:
        """Show where a hint points."""
        self.mark(Marks(hint.direction))

    def mark(self, marks: Marks) -> None:
        """Show marks at the sides of the board until another is shown."""
        self._marks = marks
        self.finish()
        self._draw_marks()

    def _stop(self) -> None:
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
        self.delete("hint")

    # Drawing

    def _draw_frame(self) -> None:
        self._timer = ""
        now = time.perf_counter()
        elapsed = (now - self._began) / self._pace if self._pace else self._transition.seconds
        self._draw(self._transition.at(elapsed))
        self.frames += 1
        if elapsed < self._transition.seconds:
            rest = FRAME - (time.perf_counter() - now)
            self._timer = self.after(max(1, round(1000 * rest)), self._draw_frame)

    def _draw(self, sprites: Sequence[motion.Sprite]) -> None:
        if self.cells is None:
            return
        while len(self._items) < len(sprites):
            self._items.append(self.create_image(0, 0, state="hidden", tags="tile"))
            self._shown.append(None)
            self.tag_raise("over")
        for index, sprite in enumerate(sprites):
            self._draw_sprite(index, sprite, self.cells)
        for index in range(len(sprites), len(self._items)):
            if self._shown[index] is not None:
                self.itemconfigure(self._items[index], state="hidden")
                self._shown[index] = None

    def _draw_sprite(self, index: int, sprite: motion.Sprite, grid: BoardGrid) -> None:
        x, y = grid.middle(sprite.row, sprite.column)
        photo = self._tile(sprite.value, sprite.scale, grid)
        item, shown = self._items[index], self._shown[index]
        if shown is None or shown[2] is not photo:
            self.itemconfigure(item, image=photo, state="normal")
        if shown is None or shown[:2] != (x, y):
            self.coords(item, x, y)
        self._shown[index] = (x, y, photo)

    def _tile(self, value: int, scale: float, grid: BoardGrid) -> tk.PhotoImage:
        step = max(1, round(scale * STEPS))
        side, theme = max(2, grid.cell * step // STEPS), self.theme

        def draw() -> Image.Image:
            image = board_image.tile(value, grid.cell, theme, grid.radius)
            return image if step == STEPS else image.resize((side, side))

        return self._photos.get((value, step), draw)

    def _lay_out(self) -> None:
        """Fit the board to the window, and draw everything again."""
        width, height = (
            side - 2 * self.margin for side in (self.winfo_width(), self.winfo_height())
        )
        if width < 10 or height < 10:
            return
        grid = BoardGrid.fit(self._shape, width, height)
        grid = replace(grid, left=grid.left + self.margin, top=grid.top + self.margin)
        self._photos.clear()
        self.cells, theme = grid, self.theme
        self._shown = [None] * len(self._items)
        self._base = photo_of(board_image.ground(grid, theme), self)
        self.itemconfigure(self._ground, image=self._base)
        self.coords(self._ground, grid.left, grid.top)
        self.finish()
        self.overlay.lay_out(grid)
        if self._marks:
            self._draw_marks()

    def _draw_marks(self) -> None:
        if self.cells is None or self._marks is None:
            return
        self.delete("hint")
        theme, marks = self.theme, self._marks
        self._draw_mark(self.cells, marks.best, theme.good)
        if marks.played is not None and marks.played is not marks.best:
            self._draw_mark(self.cells, marks.played, theme.danger)

    def _draw_mark(self, grid: BoardGrid, direction: Direction, colour: str) -> None:
        """Draw a bar on the edge of the frame, as long as two of four cells."""
        theme = self.theme
        thick = min(2 * self.margin, max(10, round(grid.gap * 1.2)))
        size = round(0.42 * min(grid.width, grid.height)), thick
        width, height = size if direction.is_vertical else size[::-1]
        photo = self._photos.get(
            (colour, width, height),
            lambda: board_image.edge_mark(width, height, colour, theme.page),
        )
        x, y = _side(grid, direction)
        self.create_image(x, y, image=photo, tags=("hint", "over"))

    # The mouse and the focus

    def _on_press(self, event: tk.Event[tk.Misc]) -> None:
        self._press = event.x, event.y
        self.focus_set()

    def _on_release(self, event: tk.Event[tk.Misc]) -> None:
        if self._press is None or self.cells is None:
            return
        (x, y), self._press, grid = self._press, None, self.cells
        start, end = (x - grid.left, y - grid.top), (event.x - grid.left, event.y - grid.top)
        size = grid.width, grid.height
        direction = motion.direction_of_gesture(start, end, size, MIN_SWIPE * grid.cell)
        if direction is not None:
            self._pushed(direction)

    def _ring(self, colour: str) -> None:
        self.configure(highlightcolor=colour)

    def hide_ring(self) -> None:
        """Take the focus ring away: keys are for the board anyway."""
        self._ring(self.theme.page)


def _side(grid: BoardGrid, direction: Direction) -> tuple[float, float]:
    """Return the middle of a side of the frame."""
    (x, y), (down, across) = grid.centre, motion.STEPS[direction]
    return x + across * grid.width / 2, y + down * grid.height / 2


WON_BUTTONS = (("Keep going", "keep_going"), ("New game", "new"))
FINAL_BUTTONS = (
    ("New game", "new"),
    ("Undo", "undo"),
    ("Watch it", "replay"),
    ("Review", "review"),
)
"""The texts and actions of the buttons on a banner."""


class Overlay:
    """Words and buttons over the board of a game that is won or over.

    Attributes:
        current: the result that is shown or on its way.
        buttons: those on the banner.
        act: called with the action of the button that is pressed.
    """

    def __init__(self, canvas: CanvasBoard) -> None:
        self._canvas = canvas
        self.current: Result | None = None
        self._grid: BoardGrid | None = None
        self._is_shown = False
        self._timer = ""
        self._card: tk.Frame | None = None
        self.buttons: list[Button] = []
        self.act: Callable[[str], object] = lambda _: None

    def lay_out(self, grid: BoardGrid) -> None:
        """Follow the board to its new place."""
        self._grid = grid
        self._draw()

    def show(self, banner: Result | None, *, is_animated: bool) -> None:
        """Show a result, or none; if animated, when the last move has been seen."""
        if banner is not None and banner.is_update_of(self.current):
            self.current = banner
            self._draw()
            return
        if self._timer:
            self._canvas.after_cancel(self._timer)
            self._timer = ""
        self.current = banner
        self._is_shown = not is_animated
        self._draw()
        if banner is not None and is_animated:
            delay = motion.OVERLAY_DELAY if banner.is_final else motion.SLIDE + motion.SETTLE
            self._timer = self._canvas.after(round(1000 * delay), self._uncover)

    def _uncover(self) -> None:
        self._timer = ""
        self._is_shown = True
        self._draw()

    def _draw(self) -> None:
        canvas, banner, grid = self._canvas, self.current, self._grid
        if self._card is not None:
            # By name: tkinter has no object for an open menu or a list that has dropped down.
            if str(canvas.tk.call("focus")).startswith(str(self._card)):
                canvas.focus_set()
            self._card.destroy()
            self._card, self.buttons = None, []
        canvas.delete("banner")
        if banner is None or grid is None or not self._is_shown:
            return
        unit = min(grid.height / 10, grid.width / 10, 46)
        theme = canvas.theme
        self._card = card = tk.Frame(
            canvas, background=theme.raised, padx=round(unit / 3), pady=round(unit / 3)
        )
        large = unit * min(1.15, 13 / len(banner.title))
        for text, size in ((banner.title, large), *((line, unit / 2) for line in banner.lines)):
            letters = font(canvas, max(size, 9), bold=text is banner.title)
            label = tk.Label(card, text=text, font=letters)
            label.configure(background=theme.raised, foreground=theme.ink)
            label.grid(columnspan=2, pady=2)
        for index, (text, action) in enumerate(FINAL_BUTTONS if banner.is_final else WON_BUTTONS):
            act = partial(self.act, action)
            kind = "plain" if index else "primary"
            button = Button(card, text, act, theme, unit / 46, kind=kind, ground="raised")
            button.grid(
                row=1 + len(banner.lines) + index // 2,
                column=index % 2,
                sticky="ew",
                padx=2,
                pady=2,
            )
            self.buttons.append(button)
        canvas.create_window(*grid.centre, window=card, tags=("banner", "over"))
