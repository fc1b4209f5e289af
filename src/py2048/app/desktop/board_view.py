"""The animated board on a Tk canvas, and the overlay with the result of a game."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from tkinter import ttk
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from py2048.app.desktop.style import Button, Flow, Graph, NumberCards, Text, look_of
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.presentation import board_image, motion
from py2048.presentation.board_image import BoardGrid, encode
from py2048.presentation.themes import MOTION_MS

if TYPE_CHECKING:
    from PIL import Image

    from py2048.core.board import Board, Cell
    from py2048.presentation.result import Result

FRAME_S = 1 / 60
SIZE_STEPS = 16
"""Number of sizes of growing tiles. Sizes are rounded, so that images can be reused."""

MIN_SWIPE_CELLS = 0.25
"""Minimum length of a swipe in cells. Shorter drags count as clicks."""

MAX_CACHED_PIXELS = 12_000_000
"""Maximum total size of cached tile images, which take 4 bytes per pixel."""

MARGIN, LEAN_PX, MARK_SHARE = 8, 4, 0.42
OVERLAY_ALPHA, FADE_STEPS = 184, 4
MIN_RING_TILE = 128
"""Smallest tile that is highlighted with an expanding ring when it first appears."""


class CanvasBoard(tk.Canvas):
    """A canvas that shows boards and animates the transitions between them.

    A new transition ends a running animation immediately.

    Args:
        parent: The parent widget.
        on_gesture: Called with the direction of a swipe, or with the side of the board that was
            clicked.
        background: Name of the theme colour behind the board.

    Attributes:
        cells: Layout of the cells, or `None` until the window has a size.
        margin: Margin around the board in pixels.
        on_reshape: Called when the number of rows or columns has changed.
    """

    def __init__(
        self,
        parent: tk.Misc,
        on_gesture: Callable[[Direction], object] = lambda _: None,
        background: str = "page",
    ) -> None:
        super().__init__(
            parent, highlightthickness=3, borderwidth=0, takefocus=True, width=10, height=10
        )
        self._look, self._on_gesture, self._page = look_of(parent), on_gesture, background
        self.margin = self._look.px(MARGIN)
        self._photos: dict[Hashable, tk.PhotoImage] = {}
        self.shape = (4, 4)
        self.cells: BoardGrid | None = None
        self.on_reshape: Callable[[], object] = lambda: None
        self._preview: list[list[int]] = []
        self._transition: motion.BoardTransition | None = None
        self._pace = self._began = 0.0
        self._timer = ""
        self._effect: tuple[str, Callable[[float], object]] | None = None
        self._lean = 0, 0
        self._marks: dict[Direction, tuple[str, float]] = {}  # colour and share of the side
        self._is_dimmed = False
        self._items: list[int] = []
        self._drawn: list[tuple[float, float, tk.PhotoImage] | None] = []
        self._press: tuple[int, int] | None = None
        self._background = self.create_image(0, 0, anchor="nw")
        self._base: list[tk.PhotoImage] = []
        self.frames = 0
        self.set_theme()
        self.bind("<Configure>", lambda _: self._lay_out())
        self.bind("<ButtonPress-1>", self._on_press)
        self.bind("<ButtonRelease-1>", self._on_release)
        self.bind("<<TraverseIn>>", lambda _: self.configure(highlightcolor=self.theme.focus))
        self.bind("<FocusOut>", lambda _: self.hide_focus_ring())

    def destroy(self) -> None:
        """Destroy the widget and free its images.

        If the garbage collector freed the images in a worker thread, that thread would block until
        Tk's thread responds.
        """
        super().destroy()
        self._photos.clear()
        self._drawn.clear()
        self._base.clear()

    # Boards and effects

    @property
    def board(self) -> Board:
        """The board that the current transition leads to."""
        assert self._transition is not None, "no board is shown yet"
        return self._transition.board

    @property
    def is_animated(self) -> bool:
        """Whether the last transition was animated."""
        return bool(self._pace)

    @property
    def is_moving(self) -> bool:
        """Whether an animation is running."""
        return bool(self._timer or self._effect)

    def set_theme(self) -> None:
        """Apply the current theme."""
        theme = self._look.theme
        self.theme = theme._replace(page=getattr(theme, self._page))
        self.configure(background=self.theme.page, highlightbackground=self.theme.page)
        self.hide_focus_ring()
        self._lay_out()

    def dim(self, *, is_on: bool) -> None:
        """Dim the board behind an overlay, or restore its colours."""
        fades = self.is_animated and not self._is_dimmed
        self._is_dimmed = is_on
        self._end_effect()
        self.delete("banner")
        if is_on and fades:
            self._run_effect("fade", self._draw_dimming)
        elif is_on:
            self._draw_dimming()

    def lean(self, direction: Direction) -> None:
        """Briefly shift the board in the direction of an illegal move."""
        down, across = motion.STEPS[direction]

        def draw(share: float) -> None:
            shift = round(self._look.px(LEAN_PX) * (1 - abs(2 * share - 1)))
            (old_x, old_y), self._lean = self._lean, (shift * across, shift * down)
            self.move("all", self._lean[0] - old_x, self._lean[1] - old_y)

        self._run_effect("lean", draw)

    def show_ring(self, cell: Cell) -> None:
        """Show an expanding ring around a tile when the slide is over."""

        def draw(share: float) -> None:
            self.delete("ring")
            if self.cells and 0 <= share < 1:
                colour = f"{self.theme.accent}{round(255 * (1 - share)):02x}"
                side = round(self.cells.cell * (1 + 0.2 * share))
                shape = 2 * self.cells.radius, colour, (self._look.px(3), "")
                self._ring = self._image(board_image.rounded(side, side, *shape))
                centre = self.cells.middle(*cell)
                self.create_image(*centre, image=self._ring, tags=("ring", "over"))

        self._run_effect("ring", draw, motion.SLIDE_S)

    def _run_effect(self, name: str, draw: Callable[[float], object], delay_s: float = 0) -> None:
        """Run an effect: call `draw` repeatedly with the progress from 0 to 1."""
        self._end_effect()
        began = time.perf_counter() + delay_s

        def step() -> None:
            share = min(1.0, (time.perf_counter() - began) * 1000 / MOTION_MS[name])
            draw(share)
            is_over = share >= 1
            self._effect = None if is_over else (self.after(round(1000 * FRAME_S), step), draw)

        step()

    def _end_effect(self) -> None:
        if self._effect:
            (timer, draw), self._effect = self._effect, None
            self.after_cancel(timer)
            draw(1.0)

    def show(self, transition: motion.BoardTransition, pace: float) -> None:
        """Show a transition.

        Args:
            transition: The transition.
            pace: Multiplies the duration of the transition. With a pace of 0, the result is shown
                immediately.
        """
        self._stop()
        if preview := self._preview:
            pace = 0 if preview == [*map(list, transition.board.rows)] else pace
            self._preview = []
            self._lay_out()
        self._transition, self._pace = transition, pace
        self._marks = {}
        if transition.board.shape != self.shape:
            self.shape = transition.board.shape
            self.on_reshape()
            self._lay_out()
        self._began = time.perf_counter()
        # handles pending key presses before drawing
        self._timer = self.after_idle(self._draw_frame)

    def preview(self, rows: list[list[int]]) -> None:
        """Show placeholder tiles until the first transition draws a complete board."""
        self._preview, self.shape = rows, (len(rows), len(rows[0]))

    def put(self, board: Board) -> None:
        """Show a board without animation."""
        self.show(motion.BoardTransition((), board), 0)

    def finish(self) -> None:
        """Skip to the end of the animation."""
        self._stop()
        self._pace = 0.0
        self._draw_frame()

    def watch(self, tile: int | None) -> None:
        """Frame every tile with the value `tile` until the next board transition."""
        self.delete("watched")
        for sprite in motion.still(self.board) if tile and self.cells else ():
            if sprite.value == tile and self.cells:
                (x, y), half = self.cells.middle(sprite.row, sprite.column), self.cells.cell / 2
                box = x - half, y - half, x + half, y + half
                look: dict[str, Any] = {"outline": self.theme.danger, "tags": ("watched", "over")}
                self.create_rectangle(*box, width=self._look.px(4), **look)

    def mark(
        self,
        best: Direction,
        played: Direction | None = None,
        chances: Mapping[Direction, float] = MappingProxyType({}),
    ) -> None:
        """Mark the best direction and the played direction on the board until the next transition.

        Args:
            best: The best direction.
            played: The direction played, if any.
            chances: Chance of each direction, from 0 to 1, shown as the length of its mark.
        """
        self._marks = {each: ("muted", chance) for each, chance in chances.items()}
        if played:
            self._marks[played] = "danger", MARK_SHARE
        self._marks[best] = "good", chances.get(best, MARK_SHARE)
        self.finish()
        self._draw_marks()

    def _stop(self) -> None:
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
        self._end_effect()
        self.delete("hint", "watched")

    # Drawing

    def _draw_frame(self) -> None:
        self._timer, transition = "", self._transition
        if transition is None:
            return
        now = time.perf_counter()
        elapsed = (now - self._began) / self._pace if self._pace else transition.seconds
        self._draw(transition.at(elapsed))
        self.frames += 1
        if elapsed < transition.seconds:
            rest = FRAME_S - (time.perf_counter() - now)
            self._timer = self.after(max(1, round(1000 * rest)), self._draw_frame)

    def _draw(self, sprites: Sequence[motion.Sprite]) -> None:
        if self.cells is None:
            return
        while len(self._items) < len(sprites):
            self._items.append(self.create_image(0, 0, state="hidden", tags="tile"))
            self._drawn.append(None)
            self.tag_raise("over")
        for index, sprite in enumerate(sprites):
            self._draw_sprite(index, sprite, self.cells)
        for index in range(len(sprites), len(self._items)):
            if self._drawn[index] is not None:
                self.itemconfigure(self._items[index], state="hidden")
                self._drawn[index] = None

    def _draw_sprite(self, index: int, sprite: motion.Sprite, grid: BoardGrid) -> None:
        x, y = grid.middle(sprite.row, sprite.column)
        photo = self._tile(sprite.value, sprite.scale, grid)
        item, drawn = self._items[index], self._drawn[index]
        if drawn is None or drawn[2] is not photo:
            self.itemconfigure(item, image=photo, state="normal")
        if drawn is None or drawn[:2] != (x, y):
            self.coords(item, x, y)
        self._drawn[index] = (x, y, photo)

    def _tile(self, value: int, scale: float, grid: BoardGrid) -> tk.PhotoImage:
        step = max(1, round(scale * SIZE_STEPS))
        side, theme = max(2, grid.cell * step // SIZE_STEPS), self.theme

        def draw() -> Image.Image:
            image = board_image.tile(value, grid.cell, theme, grid.radius)
            return image if step == SIZE_STEPS else image.resize((side, side))

        return self._photo((value, step), draw)

    def _photo(self, key: Hashable, draw: Callable[[], Image.Image]) -> tk.PhotoImage:
        """Return a cached image, drawing it first if necessary.

        Clearing the cache does not affect images on the canvas, which `_drawn` keeps alive.
        """
        if key not in self._photos:
            if self.cells and len(self._photos) * self.cells.cell**2 > MAX_CACHED_PIXELS:
                self._photos.clear()
            self._photos[key] = self._image(draw())
        return self._photos[key]

    def _image(self, image: Image.Image) -> tk.PhotoImage:
        return tk.PhotoImage(master=self, data=encode(image))

    def _lay_out(self) -> None:
        """Fit the board to the widget's size and redraw everything."""
        sides = self.winfo_width() - 2 * self.margin, self.winfo_height() - 2 * self.margin
        if min(sides) < 10:
            return
        grid = BoardGrid.fit(self.shape, *sides)
        grid = grid._replace(left=grid.left + self.margin, top=grid.top + self.margin)
        self._photos.clear()
        self.cells, theme = grid, self.theme
        self._drawn = [None] * len(self._items)
        base = self._image(board_image.board(self._preview, grid, theme))
        self.itemconfigure(self._background, image=base)
        self.coords(self._background, grid.left, grid.top)
        self._base[:] = [base]
        self.finish()
        self.dim(is_on=self._is_dimmed)
        self._draw_marks()

    def _draw_dimming(self, share: float = 1.0) -> None:
        grid, alpha = self.cells, OVERLAY_ALPHA * max(1, round(share * FADE_STEPS)) // FADE_STEPS
        if grid and not self.find_withtag(f"alpha{alpha}"):
            size = grid.width, grid.height, round(1.4 * grid.radius)
            layer = board_image.rounded(*size, f"{self.theme.page}{alpha:02x}")
            self._base[1:] = [self._image(layer)]
            self.delete("banner")
            look: dict[str, Any] = {"anchor": "nw", "tags": ("banner", "over", f"alpha{alpha}")}
            self.create_image(grid.left, grid.top, image=self._base[1], **look)

    def _draw_marks(self) -> None:
        if self.cells and self._marks:
            self.delete("hint")
            for direction, (colour, share) in self._marks.items():
                self._draw_mark(self.cells, direction, getattr(self.theme, colour), share)

    def _draw_mark(self, grid: BoardGrid, direction: Direction, colour: str, share: float) -> None:
        """Draw a bar along part of one side of the board."""
        thick = min(2 * self.margin, max(10, round(grid.gap * 1.2)))
        size = max(thick, round(share * min(grid.width, grid.height))), thick
        width, height = size if direction.is_vertical else size[::-1]
        inner = max(2, thick // 5), colour
        photo = self._photo(
            (colour, width, height),
            lambda: board_image.rounded(width, height, thick // 2, self.theme.page, inner),
        )
        (x, y), (down, across) = grid.centre, motion.STEPS[direction]
        centre = x + across * grid.width / 2, y + down * grid.height / 2
        self.create_image(*centre, image=photo, tags=("hint", "over"))

    # Mouse and focus

    def _on_press(self, event: tk.Event[tk.Misc]) -> None:
        self._press = event.x, event.y
        self.focus_set()

    def _on_release(self, event: tk.Event[tk.Misc]) -> None:
        if self._press is None or self.cells is None:
            return
        (x, y), self._press, grid = self._press, None, self.cells
        start, end = (x - grid.left, y - grid.top), (event.x - grid.left, event.y - grid.top)
        size = grid.width, grid.height
        direction = motion.direction_of_gesture(start, end, size, MIN_SWIPE_CELLS * grid.cell)
        if direction is not None:
            self._on_gesture(direction)

    def hide_focus_ring(self) -> None:
        """Hide the focus ring until the Tab key is pressed."""
        self.configure(highlightcolor=self.theme.page)


# Results

WON_BUTTONS = ((N_("Keep playing"), "keep_going", ""), (N_("New game"), "new", ""))
FINAL_BUTTONS = (
    (N_("Share"), "share", "share"),
    (N_("Review"), "review", ""),
    (N_("Watch"), "replay", ""),
    (N_("New game"), "new", ""),
    (N_("Undo"), "undo", ""),
)
"""Labels, actions and icons of the buttons."""


class ResultPanel(ttk.Frame):
    """A panel with the result of a game that was won or is over.

    Args:
        parent: The parent widget.
        result: The result.
        do: Called with the name of an action when its button is pressed.

    Attributes:
        result: The result.
        buttons: Buttons by action.
    """

    def __init__(self, parent: tk.Misc, result: Result, do: Callable[[str], object]) -> None:
        look = look_of(parent)
        self._pad, self.result = look.px(16), result
        super().__init__(parent, style=look.card("page", "raised"), padding=self._pad)
        self._headline = Text(self, result.headline, "title")
        self._figures = NumberCards(self, result.figures)
        self._place = Text(self, result.place, colour="muted")
        self._bars = Graph(self, self._draw_bars, 104, "raised")
        self._flow, self.buttons = Flow(self), dict[str, Button]()
        for text, action, icon in FINAL_BUTTONS if result.is_final else WON_BUTTONS:
            kind = "plain" if self.buttons else "primary"
            button = self._flow.add(_(text), partial(do, action), kind=kind, icon=icon)
            self.buttons[action] = button
        self._parts: list[tk.Widget] = [Text(self, result.kind, colour="muted"), self._headline]
        if result.is_final:
            race = Text(self, "\n".join(map("  ".join, result.race)))
            self._parts += [self._figures, *[race] * bool(result.race)]
            self._parts += [self._place] * bool(result.place)
            self._parts += [self._bars] * bool(result.bars)
        self.show(result)

    def show(self, result: Result) -> None:
        """Show an updated result, for example when the review is complete."""
        self.result = result
        self._figures.show(result.figures)
        if result.is_final:
            self.buttons["review"].show(result.review)
            self._flow.lay_out(self._flow.winfo_width())

    def fit(self, width: int, max_height: int) -> int:
        """Lay out the panel and return its height. Parts that do not fit are omitted."""
        inside = width - 2 * self._pad
        self._headline.fit(inside)
        self._flow.lay_out(inside)
        self._figures.lay_out(inside)
        for count in range(len(self._parts), 1, -1):
            for each in self.pack_slaves():
                each.pack_forget()
            for each in self._parts[:count]:
                each.pack(fill="x", pady=(0, self._pad // 2))
            self._flow.pack(fill="x")
            self.update_idletasks()
            if self.winfo_reqheight() <= max_height:
                break
        return self.winfo_reqheight()

    def _draw_bars(self, graph: Graph) -> None:
        """Draw the distribution of scores, with this game's bar highlighted."""
        result, theme = self.result, graph.look.theme
        graph.begin(max(result.bars), {}, graph.look.px(14))
        for index, count in enumerate(result.bars):
            colour = theme.accent if index == result.mine else theme.line
            graph.bar(index, len(result.bars), count, colour)
        width, y = graph.winfo_width(), graph.winfo_height() - graph.look.px(9)
        low, high = result.low_and_high
        mine = min(max((result.mine + 0.5) / len(result.bars), 0.2), 0.66) * width
        graph.write(0, y, low, anchor="w")
        graph.write(mine, y, number(result.score), "ink")
        graph.write(width, y, high, anchor="e")
