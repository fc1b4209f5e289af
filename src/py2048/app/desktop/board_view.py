"""The board on a Tk canvas: tiles in motion, hints, the mouse; and the result of a game."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from tkinter import ttk
from typing import TYPE_CHECKING, Any

from py2048.app.desktop.style import Button, Figures, Flow, Graph, Text, look_of
from py2048.core.direction import Direction
from py2048.core.language import N_, _, number
from py2048.presentation import board_image, motion
from py2048.presentation.board_image import BoardGrid, encode
from py2048.presentation.themes import MOTION_MS

if TYPE_CHECKING:
    from PIL import Image

    from py2048.core.board import Board, Cell
    from py2048.presentation.result import Result

FRAME = 1 / 60
STEPS = 16
"""Sizes of a growing tile are rounded to such a part of its full size, and drawn once."""

MIN_SWIPE = 0.25
"""A drag over this share of a cell is a swipe, a shorter one a click."""


MAX_PIXELS = 12_000_000
"""How many pixels of tiles are kept, 4 bytes each, before they are drawn anew."""

MARGIN = 8
"""The room around the board, for marks and the ring of the focus, in pixels of usual size."""

VEIL, FADES = 184, 4
"""How far the board gives way to the page below a result, of 255, and in how many steps."""

LEAN, LIT = 4, 128
"""The pixels that the board leans where nothing moves; the least tile whose first has a ring."""


class CanvasBoard(tk.Canvas):
    """Shows boards and how one becomes the next.

    Whatever is still moving when something new is shown jumps to its end.

    Args:
        parent: the widget to stand in.
        pushed: called with the direction of each swipe and of each click near a side.
        ground: the colour of `theme` that it stands on, by its name.

    Attributes:
        cells: where the cells lie; `None` before the window has a size.
        margin: the room around the board, in pixels.
        reshaped: called when a board of another shape is shown.
    """

    def __init__(
        self,
        parent: tk.Misc,
        pushed: Callable[[Direction], object] = lambda _: None,
        ground: str = "page",
    ) -> None:
        super().__init__(
            parent, highlightthickness=3, borderwidth=0, takefocus=True, width=10, height=10
        )
        self._look, self._ground_name, self._pushed = look_of(parent), ground, pushed
        self.margin = self._look.px(MARGIN)
        self._photos: dict[Hashable, tk.PhotoImage] = {}
        self.shape = (4, 4)
        self.cells: BoardGrid | None = None
        self.reshaped: Callable[[], object] = lambda: None
        self._transition: motion.BoardTransition | None = None
        self._pace = self._began = 0.0
        self._timer = ""
        self._passing: tuple[str, Callable[[float], object]] | None = None
        self._leaning = 0, 0
        self._marks: tuple[Direction, Direction | None] | None = None
        self._is_veiled = False
        self._items: list[int] = []
        self._shown: list[tuple[float, float, tk.PhotoImage] | None] = []
        self._press: tuple[int, int] | None = None
        self._ground = self.create_image(0, 0, anchor="nw")
        self._base: list[tk.PhotoImage] = []
        self.frames = 0
        self.set_theme()
        self.bind("<Configure>", lambda _: self._lay_out())
        self.bind("<ButtonPress-1>", self._on_press)
        self.bind("<ButtonRelease-1>", self._on_release)
        self.bind("<<TraverseIn>>", lambda _: self.configure(highlightcolor=self.theme.focus))
        self.bind("<FocusOut>", lambda _: self.hide_ring())

    def destroy(self) -> None:
        """Close, and free the pictures at once: a thread that collects garbage waits for Tk's."""
        super().destroy()
        self._photos.clear()
        self._shown.clear()
        self._base.clear()

    # What is shown

    @property
    def board(self) -> Board:
        """The board that is shown, or will be when the motion has ended."""
        assert self._transition is not None, "nothing is shown yet"
        return self._transition.board

    @property
    def is_animated(self) -> bool:
        """Whether what was shown last slid, and did not jump."""
        return bool(self._pace)

    @property
    def is_moving(self) -> bool:
        """Whether an animation is running."""
        return bool(self._timer or self._passing)

    def set_theme(self) -> None:
        """Follow the colours of the look."""
        theme = self._look.theme
        self.theme = theme._replace(page=getattr(theme, self._ground_name))
        self.configure(background=self.theme.page, highlightbackground=self.theme.page)
        self.hide_ring()
        self._lay_out()

    def veil(self, *, is_on: bool) -> None:
        """Let the board give way to what stands over it, or not."""
        fades = self.is_animated and not self._is_veiled
        self._is_veiled = is_on
        self._end_passing()
        self.delete("banner")
        if is_on and fades:
            self._pass("fade", self._draw_veil)
        elif is_on:
            self._draw_veil()

    def lean(self, direction: Direction) -> None:
        """Give way to a move that changes nothing, and come back."""
        down, across = motion.STEPS[direction]

        def draw(share: float) -> None:
            far = round(self._look.px(LEAN) * (1 - abs(2 * share - 1)))
            (was_right, was_down), self._leaning = self._leaning, (far * across, far * down)
            self.move("all", self._leaning[0] - was_right, self._leaning[1] - was_down)

        self._pass("lean", draw)

    def light_up(self, cell: Cell) -> None:
        """Let a ring of light go out from a tile that there was none of before."""

        def draw(share: float) -> None:
            self.delete("ring")
            if self.cells and 0 <= share < 1:
                colour = f"{self.theme.accent}{round(255 * (1 - share)):02x}"
                side = round(self.cells.cell * (1 + 0.2 * share))
                how = 2 * self.cells.radius, colour, (self._look.px(3), "")
                self._ring = self._image(board_image.rounded(side, side, *how))
                place = self.cells.middle(*cell)
                self.create_image(*place, image=self._ring, tags=("ring", "over"))

        self._pass("ring", draw, motion.SLIDE_S)

    def _pass(self, name: str, draw: Callable[[float], object], wait: float = 0.0) -> None:
        """Draw something at shares of its time, from 0 until 1; what passes already ends."""
        self._end_passing()
        began = time.perf_counter() + wait

        def step() -> None:
            share = min(1.0, (time.perf_counter() - began) * 1000 / MOTION_MS[name])
            draw(share)
            again = share < 1
            self._passing = (self.after(round(1000 * FRAME), step), draw) if again else None

        step()

    def _end_passing(self) -> None:
        if self._passing:
            (timer, draw), self._passing = self._passing, None
            self.after_cancel(timer)
            draw(1.0)

    def show(self, transition: motion.BoardTransition, pace: float) -> None:
        """Show how a board becomes another.

        Args:
            transition: what to show.
            pace: how many times longer than usual it takes; 0 jumps to the end.
        """
        self._stop()
        self._transition, self._pace = transition, pace
        self._marks = None
        if transition.board.shape != self.shape:
            self.shape = transition.board.shape
            self.reshaped()
            self._lay_out()
        self._began = time.perf_counter()
        # Drawing waits until all keys that were pressed have been handled.
        self._timer = self.after_idle(self._draw_frame)

    def put(self, board: Board) -> None:
        """Show a board at rest."""
        self.show(motion.BoardTransition((), board), 0)

    def finish(self) -> None:
        """Jump to the end of what is moving."""
        self._stop()
        self._pace = 0.0
        self._draw_frame()

    def mark(self, best: Direction, played: Direction | None = None) -> None:
        """Mark the sides of the best direction, and of the one played, until another is shown."""
        self._marks = best, played
        self.finish()
        self._draw_marks()

    def _stop(self) -> None:
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
        self._end_passing()
        self.delete("hint")

    # Drawing

    def _draw_frame(self) -> None:
        self._timer, shown = "", self._transition
        if shown is None:
            return
        now = time.perf_counter()
        elapsed = (now - self._began) / self._pace if self._pace else shown.seconds
        self._draw(shown.at(elapsed))
        self.frames += 1
        if elapsed < shown.seconds:
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

        return self._photo((value, step), draw)

    def _photo(self, key: Hashable, draw: Callable[[], Image.Image]) -> tk.PhotoImage:
        """Return a picture, made once; what is on the canvas is held by `_shown`, too."""
        if key not in self._photos:
            if self.cells and len(self._photos) * self.cells.cell**2 > MAX_PIXELS:
                self._photos.clear()
            self._photos[key] = self._image(draw())
        return self._photos[key]

    def _image(self, image: Image.Image) -> tk.PhotoImage:
        return tk.PhotoImage(master=self, data=encode(image))

    def _lay_out(self) -> None:
        """Fit the board to the window, and draw everything again."""
        sides = self.winfo_width() - 2 * self.margin, self.winfo_height() - 2 * self.margin
        if min(sides) < 10:
            return
        grid = BoardGrid.fit(self.shape, *sides)
        grid = grid._replace(left=grid.left + self.margin, top=grid.top + self.margin)
        self._photos.clear()
        self.cells, theme = grid, self.theme
        self._shown = [None] * len(self._items)
        base = self._image(board_image.ground(grid, theme))
        self.itemconfigure(self._ground, image=base)
        self.coords(self._ground, grid.left, grid.top)
        self._base[:] = [base]
        self.finish()
        self.veil(is_on=self._is_veiled)
        self._draw_marks()

    def _draw_veil(self, share: float = 1.0) -> None:
        grid, depth = self.cells, VEIL * max(1, round(share * FADES)) // FADES
        if grid and not self.find_withtag(f"veil{depth}"):
            size = grid.width, grid.height, round(1.4 * grid.radius)
            veil = board_image.rounded(*size, f"{self.theme.page}{depth:02x}")
            self._base[1:] = [self._image(veil)]
            self.delete("banner")
            look: dict[str, Any] = {"anchor": "nw", "tags": ("banner", "over", f"veil{depth}")}
            self.create_image(grid.left, grid.top, image=self._base[1], **look)

    def _draw_marks(self) -> None:
        if self.cells and self._marks:
            self.delete("hint")
            best, played = self._marks
            self._draw_mark(self.cells, best, self.theme.good)
            if played not in (None, best):
                self._draw_mark(self.cells, played, self.theme.danger)

    def _draw_mark(self, grid: BoardGrid, direction: Direction, colour: str) -> None:
        """Draw a bar on the edge of the frame, as long as two of four cells."""
        thick = min(2 * self.margin, max(10, round(grid.gap * 1.2)))
        size = round(0.42 * min(grid.width, grid.height)), thick
        width, height = size if direction.is_vertical else size[::-1]
        inner = max(2, thick // 5), colour
        photo = self._photo(
            (colour, width, height),
            lambda: board_image.rounded(width, height, thick // 2, self.theme.page, inner),
        )
        (x, y), (down, across) = grid.centre, motion.STEPS[direction]
        place = x + across * grid.width / 2, y + down * grid.height / 2
        self.create_image(*place, image=photo, tags=("hint", "over"))

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

    def hide_ring(self) -> None:
        """Take the focus ring away: keys are for the board anyway."""
        self.configure(highlightcolor=self.theme.page)


# The end of a game

WON_BUTTONS = ((N_("Keep playing"), "keep_going", ""), (N_("New game"), "new", ""))
FINAL_BUTTONS = (
    (N_("Share"), "share", "share"),
    (N_("Review"), "review", ""),
    (N_("Watch"), "replay", ""),
    (N_("New game"), "new", ""),
    (N_("Undo"), "undo", ""),
)
"""The words, actions and icons of the buttons on a result."""


class ResultPanel(ttk.Frame):
    """The result of a game that is won or over.

    Args:
        parent: the widget to stand in.
        result: what is shown.
        act: called with the action of the button that is pressed.

    Attributes:
        result: what is shown.
        buttons: those on it, by their actions.
    """

    def __init__(self, parent: tk.Misc, result: Result, act: Callable[[str], object]) -> None:
        look = look_of(parent)
        self._pad, self.result = look.px(16), result
        super().__init__(parent, style=look.card("page", "raised"), padding=self._pad)
        self._headline = Text(self, result.headline, "title")
        self._figures = Figures(self, result.figures)
        self._place = Text(self, result.place, colour="muted")
        self._bars = Graph(self, self._draw_bars, 104, "raised")
        self._flow, self.buttons = Flow(self), dict[str, Button]()
        for text, action, icon in FINAL_BUTTONS if result.is_final else WON_BUTTONS:
            kind = "plain" if self.buttons else "primary"
            button = self._flow.add(_(text), partial(act, action), kind=kind, icon=icon)
            self.buttons[action] = button
        self._parts: list[tk.Widget] = [Text(self, result.kind, colour="muted"), self._headline]
        if result.is_final:
            self._parts += [self._figures, *[self._place] * bool(result.place)]
            self._parts += [self._bars] * bool(result.bars)
        self.show(result)

    def show(self, result: Result) -> None:
        """Show the same result with more in it."""
        self.result = result
        self._figures.show(result.figures)
        if result.is_final:
            self.buttons["review"].show(result.review)

    def fit(self, width: int, room: int) -> int:
        """Lie in a width and a height, without the last parts if need be; return the height."""
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
            if self.winfo_reqheight() <= room:
                break
        return self.winfo_reqheight()

    def _draw_bars(self, graph: Graph) -> None:
        """Draw how many games ended where, this one in the colour of the accent."""
        result, theme = self.result, graph.look.theme
        graph.begin(max(result.bars), {}, graph.look.px(14))
        for place, count in enumerate(result.bars):
            graph.bar(
                place, len(result.bars), count, theme.accent if place == result.mine else theme.line
            )
        wide, foot = graph.winfo_width(), graph.winfo_height() - graph.look.px(9)
        low, high = result.low_and_high
        mine = min(max((result.mine + 0.5) / len(result.bars), 0.2), 0.66) * wide
        graph.write(0, foot, low, anchor="w")
        graph.write(mine, foot, number(result.score), "ink")
        graph.write(wide, foot, high, anchor="e")
