"""The board on the screen: squares, tiles that slide, and what the mouse points at."""

from __future__ import annotations

import io
import time
import tkinter as tk
from collections.abc import Callable
from dataclasses import replace

from PIL import Image

from py2048.board import Cell
from py2048.courses.cits1401.presenter import Scene, border_direction
from py2048.courses.cits1401.tiles import (
    BOARD,
    EMPTY,
    GOLD,
    PAGE,
    WHITE,
    Mark,
    draw_arrow,
    draw_hover,
    draw_panel,
    draw_tile,
    draw_veil,
    tile_colours,
)
from py2048.direction import Direction

SIDE = 600
"""Side of the canvas, in pixels."""

MARGIN = 34
"""Width of the frame around the squares, in pixels; it holds an arrow on each side."""

FRAME_MS = 12

FONT = "Helvetica"


class BoardView(tk.Canvas):
    """A board in its frame.

    Args:
        parent: the widget around it.
        on_cell: called with the (row, column) of a square that is clicked.
        on_arrow: called with the direction of an arrow on the frame that is clicked.

    Attributes:
        slide_ms: how long tiles take to slide, in milliseconds.
        scene: what is shown; `None` for an empty board.
    """

    def __init__(
        self,
        parent: tk.Misc,
        on_cell: Callable[[Cell], None],
        on_arrow: Callable[[Direction], None],
    ) -> None:
        super().__init__(parent, width=SIDE, height=SIDE, background=PAGE, highlightthickness=0)
        self.slide_ms = 130
        self.scene: Scene | None = None
        self._on_cell = on_cell
        self._on_arrow = on_arrow
        self._pictures: dict[int, tuple[Image.Image, tk.PhotoImage]] = {}
        self._heights: dict[tuple[int, int], int] = {}
        self._frame: str | None = None
        self._pointed: Direction | Cell | None = None
        self.lay_out((5, 5))
        self.bind("<Button-1>", self._click)
        self.bind("<Motion>", lambda event: self._point(self._place(event.x, event.y)))
        self.bind("<Leave>", lambda _: self._point(None))

    def lay_out(self, shape: tuple[int, int]) -> None:
        """Draw an empty board of `shape` (rows, columns)."""
        self._stop()
        self.delete("all")
        self._pictures.clear()
        self.shape = rows, columns = shape
        self.scene = None
        room = SIDE - 2 * MARGIN
        self.step = 12 * room // (12 * max(shape) + 1)
        self.gap = max(2, self.step // 12)
        self.tile = self.step - self.gap
        width, height = columns * self.step + self.gap, rows * self.step + self.gap
        self._left, self._top = (SIDE - width) // 2, (SIDE - height) // 2
        frame = draw_panel(width + 2 * MARGIN, height + 2 * MARGIN, BOARD, 18)
        self._picture(frame, self._left - MARGIN, self._top - MARGIN, "ground")
        for row in range(rows):
            for column in range(columns):
                square = draw_panel(self.tile, self.tile, EMPTY, max(2, self.tile // 9))
                x, y = self.corner((row, column))
                self._picture(square, x, y, "ground")
                self.create_rectangle(x, y, x + self.tile, y + self.tile, outline="", tags="square")
        self._draw_arrows(None)

    def corner(self, cell: tuple[float, float]) -> tuple[int, int]:
        """Return the top left pixel of a square; fractions lie between squares."""
        row, column = cell
        return (
            round(self._left + self.gap + column * self.step),
            round(self._top + self.gap + row * self.step),
        )

    def middle(self, cell: Cell) -> tuple[int, int]:
        """Return the pixel in the middle of a square."""
        x, y = self.corner(cell)
        return x + self.tile // 2, y + self.tile // 2

    def show(self, scene: Scene) -> None:
        """Show `scene`, after its tiles have slid to their places if there is time for it.

        A slide still going on is cut short: nothing that is pressed waits for it.
        """
        if scene.board.shape != self.shape:
            self.lay_out(scene.board.shape)
        self._stop()
        self.scene = scene
        self.delete("veil")
        if scene.motions and scene.animated and self.slide_ms >= FRAME_MS:
            self._slide(scene, time.perf_counter())
        else:
            self._settle(scene)
        self._point(self._pointed)

    def rest(self) -> None:
        """Leave what is shown as it is, and let clicks be expected no more."""
        if self.scene is not None:
            self._stop()
            self.scene = replace(self.scene, listens=False)
            self._settle(self.scene)
            self._point(None)

    # --- drawing ---

    def _picture(self, image: Image.Image, x: int, y: int, tag: str) -> None:
        # PNG needs no further library between Pillow and Tk. The image is kept with its picture,
        # so that its id stays its own.
        if id(image) not in self._pictures:
            data = io.BytesIO()
            image.save(data, "PNG", compress_level=1)
            picture = tk.PhotoImage(master=self, data=data.getvalue())
            self._pictures[id(image)] = image, picture
        self.create_image(x, y, image=self._pictures[id(image)][1], anchor="nw", tags=tag)

    def _draw_tile(self, value: int, cell: tuple[float, float], mark: Mark, size: float) -> None:
        side = max(4, round(self.tile * size))
        x, y = self.corner(cell)
        inset = (self.tile - side) // 2
        face, ink = tile_colours(value)
        self._picture(draw_tile(face, side, mark), x + inset, y + inset, "tile")
        self.create_text(
            x + self.tile // 2,
            y + self.tile // 2,
            text=str(value),
            fill=ink,
            font=(FONT, -self.digit_height(value, side), "bold"),
            tags="tile",
        )

    def digit_height(self, value: int, side: int) -> int:
        """Return the size of the font, in pixels, in which a number fits a tile of `side` pixels.

        The font is measured: which one stands in for `FONT` is up to the system.
        """
        if (value, side) not in self._heights:
            full, room = max(1, side * 46 // 100), side * 90 // 100
            height = max(1, min(full, full * room // self._width(value, full)))
            while height > 1 and self._width(value, height) > room:  # hinting makes some wider
                height -= 1
            self._heights[value, side] = height
        return self._heights[value, side]

    def _width(self, value: int, height: int) -> int:
        return int(self.tk.call("font", "measure", (FONT, -height, "bold"), str(value)))

    def _slide(self, scene: Scene, since: float) -> None:
        """Draw the tiles on their way, and call for the next frame."""
        share = (time.perf_counter() - since) * 1000 / self.slide_ms
        if share >= 1:
            self._pop(scene, time.perf_counter())
            return
        eased = 1 - (1 - share) ** 3
        merged = {motion.target for motion in scene.motions if motion.merged}
        self.delete("tile")
        for (row, column), target, _ in scene.motions:
            value = scene.board[target] // (2 if target in merged else 1)
            at = (row + (target[0] - row) * eased, column + (target[1] - column) * eased)
            self._draw_tile(value, at, Mark.NONE, 1)
        self._raise_hover()
        self._frame = self.after(FRAME_MS, self._slide, scene, since)

    def _pop(self, scene: Scene, since: float) -> None:
        """Draw the tiles in their places while the new one grows and merged ones bulge."""
        share = (time.perf_counter() - since) * 1000 / self.slide_ms
        self._frame = None
        self._settle(scene, min(1.0, share))
        if share < 1:
            self._frame = self.after(FRAME_MS, self._pop, scene, since)

    def _settle(self, scene: Scene, grown: float = 1.0) -> None:
        """Draw all tiles in their places, the squares of the last move marked."""
        steps = round(grown * 4) / 4  # few sizes, so that few pictures are drawn
        merged = {motion.target for motion in scene.motions if motion.merged}
        moved = scene.moved
        new = scene.spawn.cell if scene.spawn else None
        self.delete("tile")
        for row, line in enumerate(scene.board.rows):
            for column, value in enumerate(line):
                cell = row, column
                if cell == new:
                    self._draw_tile(value, cell, Mark.NEW, 0.4 + 0.6 * steps)
                elif value:
                    mark = Mark.MOVED if cell in moved else Mark.NONE
                    self._draw_tile(value, cell, mark, 1.12 - 0.12 * steps if cell in merged else 1)
        self._raise_hover()
        if scene.is_over and grown >= 1:
            self._draw_end(scene)

    def _draw_end(self, scene: Scene) -> None:
        rows, columns = self.shape
        width, height = columns * self.step + self.gap, rows * self.step + self.gap
        self._picture(draw_veil(width, height), self._left, self._top, "veil")
        middle = self._left + width // 2, self._top + height // 2
        for text, size, offset in (("Game over", 46, -26), (f"Final score {scene.score}", 26, 26)):
            self.create_text(
                middle[0],
                middle[1] + offset,
                text=text,
                fill=WHITE,
                font=(FONT, -size, "bold"),
                tags="veil",
            )

    def _stop(self) -> None:
        """Cut the running animation short."""
        if self._frame is not None:
            self.after_cancel(self._frame)
            self._frame = None

    # --- the mouse ---

    def _place(self, x: int, y: int) -> Direction | Cell | None:
        """Return what stands at a pixel: a square, a side of the frame, or nothing."""
        rows, columns = self.shape
        width, height = columns * self.step + self.gap, rows * self.step + self.gap
        across, down = x - self._left, y - self._top
        if 0 <= across < width and 0 <= down < height:
            row, column = min(down // self.step, rows - 1), min(across // self.step, columns - 1)
            return row, column
        if 0 <= across < width and -MARGIN <= down < height + MARGIN:
            return Direction.UP if down < 0 else Direction.DOWN
        if 0 <= down < height and -MARGIN <= across < width + MARGIN:
            return Direction.LEFT if across < 0 else Direction.RIGHT
        return None

    def _click(self, event: tk.Event[BoardView]) -> None:
        place = self._place(event.x, event.y)
        if isinstance(place, Direction):
            self._on_arrow(place)
        elif place is not None:
            self._on_cell(place)

    def _point(self, place: Direction | Cell | None) -> None:
        """Show what a click at `place` would do."""
        self._pointed = place
        self.delete("hover")
        listens = self.scene is not None and self.scene.listens
        direction = self._direction(place) if listens else None
        if direction is not None:
            rows, columns = self.shape
            for cell in ((r, c) for r in range(rows) for c in range(columns)):
                if border_direction(cell, self.shape) is direction:
                    image = draw_hover(self.tile, direction, strong=cell == place)
                    self._picture(image, *self.corner(cell), "hover")
        self._draw_arrows(direction)
        self.configure(cursor="" if direction is None else "hand2")

    def _direction(self, place: Direction | Cell | None) -> Direction | None:
        if place is None or isinstance(place, Direction):
            return place
        return border_direction(place, self.shape)

    def _draw_arrows(self, lit: Direction | None) -> None:
        """Draw the arrows on the frame, the one of `lit` in gold."""
        self.delete("arrow")
        rows, columns = self.shape
        width, height = columns * self.step + self.gap, rows * self.step + self.gap
        side = MARGIN - 8
        centre = self._left + (width - side) // 2, self._top + (height - side) // 2
        for direction, (x, y) in {
            Direction.UP: (centre[0], self._top - MARGIN + 4),
            Direction.DOWN: (centre[0], self._top + height + 4),
            Direction.LEFT: (self._left - MARGIN + 4, centre[1]),
            Direction.RIGHT: (self._left + width + 4, centre[1]),
        }.items():
            colour = GOLD if direction is lit else "#5d6f92"
            self._picture(draw_arrow(side, direction, colour), x, y, "arrow")

    def _raise_hover(self) -> None:
        if self.find_withtag("hover"):
            self.tag_raise("hover")
