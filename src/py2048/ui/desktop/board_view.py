"""The board on a Tk canvas: tiles in motion, hints, the overlay of a finished game, the mouse."""

from __future__ import annotations

import time
import tkinter as tk
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from py2048.board import Board
from py2048.direction import Direction
from py2048.language import N_, _, number
from py2048.ui.desktop.style import Button, Photos, font, measured, photo_of, wrapped, write
from py2048.ui.shared import board_image, motion
from py2048.ui.shared.board_image import BoardGrid
from py2048.ui.shared.themes import TYPE, Theme

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
        ground: the colour of `theme` that it stands on, by its name.

    Attributes:
        cells: where the cells lie; `None` before the window has a size.
        margin: the page around the board, for marks and the ring of the focus.
        reshaped: called when a board of another shape is shown.
    """

    def __init__(
        self,
        parent: tk.Misc,
        theme: Theme,
        pushed: Callable[[Direction], object],
        ground: str = "page",
    ) -> None:
        super().__init__(
            parent, highlightthickness=3, borderwidth=0, takefocus=True, width=10, height=10
        )
        self.theme, self._ground_name = theme, ground
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
        self.overlay.clear()
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
        self.theme = replace(theme, page=getattr(theme, self._ground_name))
        self._photos.clear()
        page = self.theme.page
        self.configure(background=page, highlightbackground=page)
        self._ring(page)
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


WON_BUTTONS = ((N_("Keep playing"), "keep_going", ""), (N_("New game"), "new", ""))
FINAL_BUTTONS = (
    (N_("Share"), "share", "share"),
    (N_("Review"), "review", ""),
    (N_("Watch"), "replay", ""),
    (N_("New game"), "new", ""),
    (N_("Undo"), "undo", ""),
)
"""The words, actions and icons of the buttons on a result."""

VEIL = 184
"""How far the board gives way to the page below a result, of 255."""


class Overlay:
    """The result of a game that is won or over, on a panel over the board.

    Where the board is small, the panel takes the whole window.

    Attributes:
        current: the result that is shown or on its way.
        buttons: those on the panel.
        act: called with the action of the button that is pressed.
        unit: how many pixels are one of the usual size.
    """

    def __init__(self, canvas: CanvasBoard) -> None:
        self._canvas = canvas
        self.current: Result | None = None
        self.unit = 1.0
        self._grid: BoardGrid | None = None
        self._is_shown = False
        self._timer = ""
        self._sheet: tk.Canvas | None = None
        self._photos: list[tk.PhotoImage] = []
        self.buttons: list[Button] = []
        self.act: Callable[[str], object] = lambda _: None

    def lay_out(self, grid: BoardGrid) -> None:
        """Follow the board to its new place."""
        self._grid = grid
        self._draw()

    def show(self, result: Result | None, *, is_animated: bool) -> None:
        """Show a result, or none; if animated, when the last move has been seen."""
        if result is not None and result.is_update_of(self.current):
            self.current = result
            self._draw()
            return
        if self._timer:
            self._canvas.after_cancel(self._timer)
            self._timer = ""
        self.current = result
        self._is_shown = not is_animated
        self._draw()
        if result is not None and is_animated:
            delay = motion.OVERLAY_DELAY if result.is_final else motion.SLIDE + motion.SETTLE
            self._timer = self._canvas.after(round(1000 * delay), self._uncover)

    def _uncover(self) -> None:
        self._timer = ""
        self._is_shown = True
        self._draw()

    def clear(self) -> None:
        """Take the panel away, and give its focus to the board."""
        canvas = self._canvas
        # By name: tkinter has no object for an open menu or a list that has dropped down.
        focus = str(canvas.tk.call("focus"))
        if any(focus == str(button) for button in self.buttons):
            canvas.focus_set()
        for button in self.buttons:
            button.destroy()
        if self._sheet is not None:
            self._sheet.destroy()
        self._sheet, self.buttons = None, []
        self._photos.clear()
        canvas.delete("banner")

    def _draw(self) -> None:
        had_focus = [str(self._canvas.tk.call("focus")) == str(each) for each in self.buttons]
        self.clear()
        canvas, result, grid = self._canvas, self.current, self._grid
        if result is None or grid is None or not self._is_shown:
            return
        size = round(min(460 * self.unit, grid.width * 0.94)), 0
        panel = ResultPanel(canvas, result, canvas.theme, self.unit, size[0], self.act)
        if panel.height > grid.height or size[0] < 300 * self.unit:
            top = canvas.winfo_toplevel()
            self._sheet = sheet = tk.Canvas(top, highlightthickness=0, borderwidth=0)
            sheet.configure(background=canvas.theme.page)
            sheet.place(relwidth=1, relheight=1)
            room = top.winfo_width() - round(16 * self.unit), top.winfo_height()
            width = min(round(460 * self.unit), room[0])
            panel = ResultPanel(sheet, result, canvas.theme, self.unit, width, self.act, room[1])
            left, y = (top.winfo_width() - width) // 2, max(0, (room[1] - panel.height) // 2)
        else:
            left = round(grid.centre[0]) - size[0] // 2
            y = round(grid.centre[1]) - panel.height // 2
            veil = board_image.rounded(
                grid.width, grid.height, round(1.4 * grid.radius), canvas.theme.page
            )
            veil.putalpha(veil.getchannel("A").point(lambda alpha: alpha * VEIL // 255))
            self._photos.append(photo_of(veil, canvas))
            canvas.create_image(
                grid.left, grid.top, image=self._photos[0], anchor="nw", tags=("banner", "over")
            )
        self._photos += panel.draw(left, y)
        self.buttons = panel.buttons
        for button, had in zip(self.buttons, had_focus, strict=False):
            if had:
                button.focus_set()


class ResultPanel:
    """Draws a result on a canvas.

    Args:
        canvas: where to.
        result: what is drawn.
        theme: the colours.
        unit: how many pixels are one of the usual size.
        width: how wide it is.
        act: called with the action of a button.
        room: how high it may be; what has no room is left out, the bars first.

    Attributes:
        height: how high it is.
        buttons: its buttons, once it is drawn.
    """

    def __init__(
        self,
        canvas: tk.Canvas,
        result: Result,
        theme: Theme,
        unit: float,
        width: int,
        act: Callable[[str], object],
        room: int = 1 << 30,
    ) -> None:
        self._canvas, self._result, self._theme, self._unit = canvas, result, theme, unit
        self._width, self._act = width, act
        self.buttons: list[Button] = []
        self._pad = round((24 if width > 400 * unit else 14) * unit)
        for pixels in (24, 20):
            self._letters = font(canvas, pixels * unit, bold=True)
            inside = width - 2 * self._pad
            self._headline = wrapped(canvas, result.headline, self._letters, inside, 3)
            if len(self._headline) == 1:
                break
        self._rows = self._button_rows()
        for self._with in (3, 2, 1, 0):  # bars, sentence, figures
            self.height = round(sum(self._heights()))
            if self.height <= room:
                break

    def _heights(self) -> list[float]:
        unit, result = self._unit, self._result
        is_final = result.is_final
        return [
            2 * self._pad + (18 + 30 * len(self._headline) + 10) * unit,
            74 * unit if is_final and self._with > 0 else 0,
            24 * unit if is_final and self._with > 1 and result.place else 0,
            112 * unit if is_final and self._with > 2 and result.bars else 0,
            52 * unit * len(self._rows) - 8 * unit,
        ]

    def _button_rows(self) -> list[list[Button]]:
        """Return the buttons in rows that have room for them."""
        canvas, theme, unit = self._canvas, self._theme, self._unit
        rows: list[list[Button]] = [[]]
        used = 0
        for place, (text, action, icon) in enumerate(
            FINAL_BUTTONS if self._result.is_final else WON_BUTTONS
        ):
            words = self._result.review if action == "review" else _(text)
            kind = "plain" if place else "primary"
            act = partial(self._act, action)
            button = Button(canvas, words, act, theme, unit, kind=kind, icon=icon, ground="raised")
            self.buttons.append(button)
            needed = button.fit() - 2 * button.ring + round(8 * unit)
            if rows[-1] and used + needed > self._width - 2 * self._pad + 8 * unit:
                rows.append([])
                used = 0
            rows[-1].append(button)
            used += needed
        return rows

    def draw(self, left: int, top: int) -> list[tk.PhotoImage]:
        """Draw it all, and return the pictures, which must be held."""
        canvas, theme, unit, result = self._canvas, self._theme, self._unit, self._result
        panel = board_image.rounded(self._width, self.height, round(16 * unit), theme.raised)
        x, y, room = left + self._pad, top + self._pad, self._width - 2 * self._pad
        self._write((x, y + 9 * unit), result.kind, theme.muted, 13 * unit)
        y += round(18 * unit)
        for line in self._headline:
            self._write((x, y + 15 * unit), line, theme.ink, -self._letters[1], bold=True)
            y += round(30 * unit)
        y += round(10 * unit)
        _head, figures, place, bars, _buttons = self._heights()
        if figures:
            self._draw_figures(x, y, room, panel, (left, top))
            y += round(figures)
        if place:
            self._write((x, y + 9 * unit), result.place, theme.muted, 13 * unit)
            y += round(place)
        if bars:
            self._draw_bars(x, y, room)
            y += round(bars)
        self._put_buttons(x, y, room)
        photo = photo_of(panel, canvas)
        item = canvas.create_image(left, top, image=photo, anchor="nw", tags=("banner", "over"))
        canvas.tag_lower(item, "words")
        return [photo]

    def _write(
        self, place: tuple[float, float], text: str, colour: str, pixels: float, **look: Any
    ) -> None:
        look = {"anchor": "w"} | look
        write(self._canvas, place, text, colour, pixels, tags=("banner", "words", "over"), **look)

    def _draw_figures(
        self, left: int, top: int, room: int, panel: Image.Image, corner: tuple[int, int]
    ) -> None:
        """Draw the cards, their faces into the panel."""
        canvas, theme, unit = self._canvas, self._theme, self._unit
        step = (room + round(8 * unit)) // 4
        card = step - round(8 * unit), round(62 * unit)
        pad = (12 if self._width > 400 * unit else 7) * unit
        face = board_image.rounded(*card, round(12 * unit), theme.panel)
        for place, figure in enumerate(self._result.figures):
            x = left + place * step
            panel.alpha_composite(face, (x - corner[0], top - corner[1]))
            for text, y, pixels, colour in (
                (figure.label, 20, TYPE["small"][0] * unit, theme.muted),
                (figure.value, 43, TYPE["title"][0] * unit, theme.ink),
            ):
                is_bold = colour == theme.ink
                wide = measured(canvas, text, font(canvas, pixels, bold=is_bold))
                size = pixels * min(1.0, (card[0] - 2 * pad) / max(1, wide))
                self._write((x + pad, top + y * unit), text, colour, size, bold=is_bold)

    def _put_buttons(self, left: int, top: int, room: int) -> None:
        gap = round(8 * self._unit)
        for row in self._rows:
            widths = [each.fit() - 2 * each.ring for each in row]
            spare, x = (room - sum(widths) - gap * (len(row) - 1)) // len(row), left
            for button, width in zip(row, widths, strict=True):
                ring = button.ring
                item = self._canvas.create_window(x - ring, top - ring, window=button, anchor="nw")
                size = width + spare + 2 * ring
                self._canvas.itemconfigure(item, width=size, tags=("banner", "over"))
                x += width + spare + gap
            top += round(52 * self._unit)

    def _draw_bars(self, left: int, top: int, room: int) -> None:
        """Draw how many games ended where, this one in the accent's colour."""
        result, theme, unit = self._result, self._theme, self._unit
        step, most, base = room / len(result.bars), max(result.bars), top + 78 * unit
        for place, count in enumerate(result.bars):
            colour = theme.accent if place == result.mine else theme.line
            x, high = left + place * step, max(2 * unit, 76 * unit * count / most)
            box = x, base - high, x + step - 3 * unit, base
            self._canvas.create_rectangle(*box, fill=colour, width=0, tags=("banner", "over"))
        low, high_text = result.low_and_high
        mine = left + (result.mine + 0.5) * step
        for text, x, anchor in (
            (low, left, "w"),
            (number(result.score), min(max(mine, left + 0.2 * room), left + 0.8 * room), "center"),
            (high_text, left + room, "e"),
        ):
            self._write((x, base + 12 * unit), text, theme.muted, 13 * unit, anchor=anchor)
