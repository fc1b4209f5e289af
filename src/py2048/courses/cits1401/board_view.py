"""The board on the screen: squares, tiles that slide, and what the mouse points at."""

from __future__ import annotations

import colorsys
import time
import tkinter as tk
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from itertools import product

from PIL import Image, ImageDraw

from py2048.board import Cell
from py2048.courses.cits1401.presenter import ViewState, border_direction
from py2048.courses.windows import SCALE, photo, rounded, smaller
from py2048.direction import Direction

PAGE = "#f3f1ec"
BOARD = "#24324a"
EMPTY = "#344563"
GOLD = "#ffc72c"
WHITE = "#ffffff"
DARK = "#1d2433"

Corners = tuple[tuple[float, float], ...]
HEAD: Corners = ((0.5, 0.25), (0.9, 0.75), (0.1, 0.75))
Tile = tuple[int, int]  # the items of a picture and a number

_PALETTE = (
    *("#e8e3d6", "#d9cfae", "#eab676", "#e8935a", "#dd6b4d", "#c2453f"),
    *("#a83263", "#8a3a8f", "#6a4bb0", "#4a62c8", "#1f6ac0", "#2798b8"),
    *("#20a088", "#3fa75a", "#7fae3a", "#b9b22f", "#e0a526", "#c97a1d"),
)


class Mark(Enum):
    """Why a square is set off from the others: the colour of a ring around its tile."""

    NONE = ""
    MOVED = GOLD
    NEW = "#7df0c4"


def tile_colours(value: int) -> tuple[str, str]:
    """Return the colours of a tile and of its digits; every power of two from 2 has them."""
    rank = value.bit_length() - 1
    if rank <= len(_PALETTE):
        face = _PALETTE[rank - 1]
    else:
        hue = rank * 0.381966 % 1  # the golden angle keeps neighbours apart
        face = _hex(colorsys.hls_to_rgb(hue, 0.27, 0.55))
    # Contrast is a ratio, so the watershed is the geometric mean of the two shades.
    return face, DARK if (_luminance(face) + 0.05) ** 2 > 1.05 * (
        _luminance(DARK) + 0.05
    ) else WHITE


def draw_tile(face: str, side: int, mark: Mark = Mark.NONE) -> Image.Image:
    """Return a tile of `side` pixels square on the board, without its number."""
    ring = 0 if mark is Mark.NONE else max(SCALE, side * SCALE // 16)
    return rounded(side, side, side / 9, face, BOARD, ring=mark.value, thick=ring)


def draw_shape(side: int, direction: Direction, colour: str, corners: Corners) -> Image.Image:
    """Return a shape that points up in the unit square, turned to a direction."""
    if not direction.is_forward:
        corners = tuple((x, 1 - y) for x, y in corners)
    turned = corners if direction.is_vertical else tuple((y, x) for x, y in corners)
    image = Image.new("RGBA", (side * SCALE, side * SCALE), f"{colour[:7]}00")
    points = [(side * SCALE * x, side * SCALE * y) for x, y in turned]
    ImageDraw.Draw(image).polygon(points, fill=colour)
    return smaller(image)


def _hex(colour: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in colour)


def _luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (Web Content Accessibility Guidelines 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


SIDE = 600
"""Side of the canvas, in pixels."""

MARGIN = 34
"""Width of the frame around the squares, in pixels; it holds an arrow on each side."""

FRAME_MS = 16

FONT = "Helvetica"


class BoardCanvas(tk.Canvas):
    """A board in its frame.

    Args:
        parent: the widget around it.
        on_cell: called with the (row, column) of a square that is clicked.
        on_arrow: called with the direction of an arrow on the frame that is clicked.

    Attributes:
        slide_ms: how long tiles take to slide, in milliseconds.
        state: what is shown; `None` for an empty board.
    """

    def __init__(
        self,
        parent: tk.Misc,
        on_cell: Callable[[Cell], None],
        on_arrow: Callable[[Direction], None],
    ) -> None:
        super().__init__(parent, width=SIDE, height=SIDE, background=PAGE, highlightthickness=0)
        self.slide_ms = 130
        self.state: ViewState | None = None
        self._on_cell = on_cell
        self._on_arrow = on_arrow
        self._pictures: dict[tuple[object, ...], tk.PhotoImage] = {}
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
        self.state = None
        room = SIDE - 2 * MARGIN
        self.step = 12 * room // (12 * max(shape) + 1)
        self.gap = max(2, self.step // 12)
        self.tile = self.step - self.gap
        self._size = width, height = columns * self.step + self.gap, rows * self.step + self.gap
        self._left, self._top = (SIDE - width) // 2, (SIDE - height) // 2
        edge, around = (self._left - MARGIN, self._top - MARGIN), 2 * MARGIN
        self._picture(edge, "ground", rounded, width + around, height + around, 18, BOARD, PAGE)
        radius = max(2, self.tile // 9)
        for cell in product(range(rows), range(columns)):
            x, y = self.corner(cell)
            self._picture((x, y), "ground", rounded, self.tile, self.tile, radius, EMPTY, BOARD)
            self.create_rectangle(x, y, x + self.tile, y + self.tile, outline="", tags="square")
        self._draw_arrows(None)

    def corner(self, cell: Cell) -> tuple[int, int]:
        """Return the top left pixel of a square."""
        row, column = cell
        return self._left + self.gap + column * self.step, self._top + self.gap + row * self.step

    def middle(self, cell: Cell) -> tuple[int, int]:
        """Return the pixel in the middle of a square."""
        x, y = self.corner(cell)
        return x + self.tile // 2, y + self.tile // 2

    def show(self, state: ViewState) -> None:
        """Show `state`, after its tiles have slid to their places if there is time for it.

        A slide still going on is cut short: nothing that is pressed waits for it.
        """
        if state.board.shape != self.shape:
            self.lay_out(state.board.shape)
        self._stop()
        self.state = state
        self.delete("veil")
        if state.motions and state.animated and self.slide_ms >= FRAME_MS:
            self._slide(state)
        else:
            self._settle(state)
        self._point(self._pointed)

    @property
    def is_moving(self) -> bool:
        """Whether tiles are on their way."""
        return self._frame is not None

    def rest(self) -> None:
        """Leave what is shown as it is, and let clicks be expected no more."""
        if self.state is not None:
            self._stop()
            self.state = replace(self.state, listens=False)
            self._settle(self.state)
            self._point(None)

    # --- drawing ---

    def _picture(
        self, place: tuple[int, int], tag: str, draw: Callable[..., Image.Image], *args: object
    ) -> int:
        """Show what `draw` draws, made once for the same arguments."""
        if (draw, args) not in self._pictures:
            self._pictures[draw, args] = photo(self, draw(*args))
        picture = self._pictures[draw, args]
        return self.create_image(*place, image=picture, anchor="nw", tags=tag)

    def _draw_tile(
        self, value: int, cell: Cell, mark: Mark = Mark.NONE, size: float = 1, tag: str = ""
    ) -> Tile:
        """Draw a tile; return its picture and its number."""
        side = max(4, round(self.tile * size))
        x, y = self.corner(cell)
        inset = (self.tile - side) // 2
        face, ink = tile_colours(value)
        tags = f"{tag} tile"
        picture = self._picture((x + inset, y + inset), tags, draw_tile, face, side, mark)
        font = FONT, -self.digit_height(value, side), "bold"
        number = self.create_text(
            *self.middle(cell), text=str(value), fill=ink, font=font, tags=tags
        )
        return picture, number

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

    def _slide(self, state: ViewState) -> None:
        """Draw the tiles of the last board, and let them slide to their places."""
        merged = {motion.target for motion in state.motions if motion.merged}
        moving = []
        self.delete("tile")
        for source, target, _ in state.motions:
            value = state.board[target] // (2 if target in merged else 1)
            tile = self._draw_tile(value, source)
            if source != target:
                moving.append((tile, self.corner(source), self.corner(target)))

        def shift(share: float) -> None:
            eased, half = 1 - (1 - share) ** 3, self.tile // 2
            for (picture, number), (x1, y1), (x2, y2) in moving:
                x, y = round(x1 + (x2 - x1) * eased), round(y1 + (y2 - y1) * eased)
                self.coords(picture, x, y)
                self.coords(number, x + half, y + half)

        self._animate(shift, lambda: self._pop(state))

    def _pop(self, state: ViewState) -> None:
        """Draw the tiles in their places while the new one grows and merged ones bulge."""
        self._draw_all(state, 0)
        drawn = 0.0

        def grow(share: float) -> None:
            nonlocal drawn
            size = round(share * 4) / 4  # few sizes, so that few pictures are drawn
            if size != drawn:
                drawn = size
                self._draw_growing(state, size)

        self._animate(grow, lambda: self._settle(state))

    def _animate(self, draw: Callable[[float], None], then: Callable[[], None]) -> None:
        """Call `draw` with the share of the time that is over, frame by frame, and then `then`."""
        since = time.perf_counter()

        def frame() -> None:
            share = (time.perf_counter() - since) * 1000 / self.slide_ms
            self._frame = self.after(FRAME_MS, frame) if share < 1 else None
            if share < 1:
                draw(share)
            else:
                then()

        frame()

    def _settle(self, state: ViewState) -> None:
        """Draw all tiles in their places, and the end of the game over them."""
        self._draw_all(state)
        if state.is_over:
            self._draw_end(state)

    def _draw_all(self, state: ViewState, grown: float = 1) -> None:
        """Draw all tiles, those of the last move marked; see `_draw_growing` for `grown`."""
        self.delete("tile")
        for row, line in enumerate(state.board.rows):
            for column, value in enumerate(line):
                if value and (row, column) not in state.made:
                    mark = Mark.MOVED if (row, column) in state.moved else Mark.NONE
                    self._draw_tile(value, (row, column), mark)
        self._draw_growing(state, grown)

    def _draw_growing(self, state: ViewState, grown: float) -> None:
        """Draw the new tile, from small to its size, and merged ones, from large to theirs."""
        self.delete("growing")
        for cell in state.made:
            if state.spawn and cell == state.spawn.cell:
                look = Mark.NEW, 0.4 + 0.6 * grown
            else:
                look = Mark.MOVED, 1.12 - 0.12 * grown
            self._draw_tile(state.board[cell], cell, *look, "growing")

    def _draw_end(self, state: ViewState) -> None:
        width, height = self._size
        veil = (29, 36, 51, 165)
        self._picture((self._left, self._top), "veil", Image.new, "RGBA", self._size, veil)
        x, y = self._left + width // 2, self._top + height // 2
        for text, size, offset in (("Game over", 46, -26), (f"Final score {state.score}", 26, 26)):
            font = FONT, -size, "bold"
            self.create_text(x, y + offset, text=text, font=font, fill=WHITE, tags="veil")

    def _stop(self) -> None:
        """Cut the running animation short."""
        if self._frame is not None:
            self.after_cancel(self._frame)
            self._frame = None

    # --- the mouse ---

    def _place(self, x: int, y: int) -> Direction | Cell | None:
        """Return what stands at a pixel: a square, a side of the frame, or nothing."""
        rows, columns = self.shape
        width, height = self._size
        across, down = x - self._left, y - self._top
        if 0 <= across < width and 0 <= down < height:
            row, column = min(down // self.step, rows - 1), min(across // self.step, columns - 1)
            return row, column
        if 0 <= across < width and -MARGIN <= down < height + MARGIN:
            return Direction.UP if down < 0 else Direction.DOWN
        if 0 <= down < height and -MARGIN <= across < width + MARGIN:
            return Direction.LEFT if across < 0 else Direction.RIGHT
        return None

    def _click(self, event: tk.Event[BoardCanvas]) -> None:
        place = self._place(event.x, event.y)
        if isinstance(place, Direction):
            self._on_arrow(place)
        elif place is not None:
            self._on_cell(place)

    def _point(self, place: Direction | Cell | None) -> None:
        """Show what a click at `place` would do."""
        self._pointed = place
        lit = place if isinstance(place, Direction) else None
        if isinstance(place, tuple):
            lit = border_direction(place, self.shape)
        if self.state is None or not self.state.listens:
            lit = None
        self._draw_arrows(lit)
        self.configure(cursor="" if lit is None else "hand2")

    def _draw_arrows(self, lit: Direction | None) -> None:
        """Draw the arrows on the frame, the one of `lit` in gold."""
        self.delete("arrow")
        width, height = self._size
        side = MARGIN - 8
        centre = self._left + (width - side) // 2, self._top + (height - side) // 2
        for direction, (x, y) in {
            Direction.UP: (centre[0], self._top - MARGIN + 4),
            Direction.DOWN: (centre[0], self._top + height + 4),
            Direction.LEFT: (self._left - MARGIN + 4, centre[1]),
            Direction.RIGHT: (self._left + width + 4, centre[1]),
        }.items():
            colour = GOLD if direction is lit else "#5d6f92"
            self._picture((x, y), "arrow", draw_shape, side, direction, colour, HEAD)
