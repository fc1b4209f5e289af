"""The board on the screen: squares, tiles that slide, and what the mouse points at."""

from __future__ import annotations

import colorsys
import io
import time
import tkinter as tk
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import lru_cache

from PIL import Image, ImageDraw

from py2048.board import Cell
from py2048.courses.cits1401.presenter import ViewState, border_direction
from py2048.direction import Direction

PAGE = "#f3f1ec"
BOARD = "#24324a"
EMPTY = "#344563"
GOLD = "#ffc72c"
WHITE = "#ffffff"
DARK = "#1d2433"

SCALE = 4

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


@lru_cache(maxsize=2048)
def draw_tile(face: str, side: int, mark: Mark = Mark.NONE) -> Image.Image:
    """Return a tile of `side` pixels square with transparent corners, without its number."""
    large = side * SCALE
    image = _blank(large, large, mark.value or face)
    ring = 0 if mark is Mark.NONE else max(SCALE, large // 16)
    box = (0, 0, large - 1, large - 1)
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle(box, large // 9, fill=face, outline=mark.value or None, width=ring)
    return image.resize((side, side), Image.Resampling.LANCZOS)


@lru_cache(maxsize=64)
def draw_panel(width: int, height: int, colour: str, radius: int) -> Image.Image:
    """Return a plain rectangle with round corners."""
    image = _blank(width * SCALE, height * SCALE, colour)
    box = (0, 0, width * SCALE - 1, height * SCALE - 1)
    ImageDraw.Draw(image).rounded_rectangle(box, radius * SCALE, fill=colour)
    return image.resize((width, height), Image.Resampling.LANCZOS)


@lru_cache(maxsize=256)
def draw_hover(side: int, direction: Direction, *, strong: bool) -> Image.Image:
    """Return the overlay of a square that can be clicked: a tint, and an arrow if `strong`."""
    large = side * SCALE
    tint = (255, 199, 44, 120 if strong else 45)
    image = _blank(large, large, GOLD)
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((0, 0, large - 1, large - 1), large // 9, fill=tint)
    if strong:
        draw.polygon(_arrow(large, direction), fill=(29, 36, 51, 235))
    return image.resize((side, side), Image.Resampling.LANCZOS)


@lru_cache(maxsize=64)
def draw_arrow(side: int, direction: Direction, colour: str) -> Image.Image:
    """Return an arrow head alone."""
    large = side * SCALE
    image = _blank(large, large, colour)
    corners = _turned([(0.5, 0.25), (0.9, 0.75), (0.1, 0.75)], large, direction)
    ImageDraw.Draw(image).polygon(corners, fill=colour)
    return image.resize((side, side), Image.Resampling.LANCZOS)


@lru_cache(maxsize=4)
def draw_veil(width: int, height: int) -> Image.Image:
    """Return the overlay of the board when the game is over."""
    return Image.new("RGBA", (width, height), (29, 36, 51, 165))


def _blank(width: int, height: int, colour: str) -> Image.Image:
    # Transparent pixels carry the colour, so scaling down leaves no dark rim.
    return Image.new("RGBA", (width, height), f"{colour}00")


def _arrow(side: int, direction: Direction) -> list[tuple[float, float]]:
    """Return the corners of an arrow in the middle of a square."""
    half = [(0.5, 0.25), (0.75, 0.54), (0.6, 0.54), (0.6, 0.75)]
    return _turned([*half, *((1 - x, y) for x, y in reversed(half[1:]))], side, direction)


def _turned(
    upward: list[tuple[float, float]], side: int, direction: Direction
) -> list[tuple[float, float]]:
    """Return the corners of a shape that points up in the unit square, turned and enlarged."""
    if not direction.is_forward:
        upward = [(x, 1 - y) for x, y in upward]
    turned = upward if direction.is_vertical else [(y, x) for x, y in upward]
    return [(side * x, side * y) for x, y in turned]


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

FRAME_MS = 12

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
        self.state = None
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
            self._slide(state, time.perf_counter())
        else:
            self._settle(state)
        self._point(self._pointed)

    def rest(self) -> None:
        """Leave what is shown as it is, and let clicks be expected no more."""
        if self.state is not None:
            self._stop()
            self.state = replace(self.state, listens=False)
            self._settle(self.state)
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

    def _slide(self, state: ViewState, since: float) -> None:
        """Draw the tiles on their way, and call for the next frame."""
        share = (time.perf_counter() - since) * 1000 / self.slide_ms
        if share >= 1:
            self._pop(state, time.perf_counter())
            return
        eased = 1 - (1 - share) ** 3
        merged = {motion.target for motion in state.motions if motion.merged}
        self.delete("tile")
        for (row, column), target, _ in state.motions:
            value = state.board[target] // (2 if target in merged else 1)
            at = (row + (target[0] - row) * eased, column + (target[1] - column) * eased)
            self._draw_tile(value, at, Mark.NONE, 1)
        self._raise_hover()
        self._frame = self.after(FRAME_MS, self._slide, state, since)

    def _pop(self, state: ViewState, since: float) -> None:
        """Draw the tiles in their places while the new one grows and merged ones bulge."""
        share = (time.perf_counter() - since) * 1000 / self.slide_ms
        self._frame = None
        self._settle(state, min(1.0, share))
        if share < 1:
            self._frame = self.after(FRAME_MS, self._pop, state, since)

    def _settle(self, state: ViewState, grown: float = 1.0) -> None:
        """Draw all tiles in their places, the squares of the last move marked."""
        steps = round(grown * 4) / 4  # few sizes, so that few pictures are drawn
        merged = {motion.target for motion in state.motions if motion.merged}
        moved = state.moved
        new = state.spawn.cell if state.spawn else None
        self.delete("tile")
        for row, line in enumerate(state.board.rows):
            for column, value in enumerate(line):
                cell = row, column
                if cell == new:
                    self._draw_tile(value, cell, Mark.NEW, 0.4 + 0.6 * steps)
                elif value:
                    mark = Mark.MOVED if cell in moved else Mark.NONE
                    self._draw_tile(value, cell, mark, 1.12 - 0.12 * steps if cell in merged else 1)
        self._raise_hover()
        if state.is_over and grown >= 1:
            self._draw_end(state)

    def _draw_end(self, state: ViewState) -> None:
        rows, columns = self.shape
        width, height = columns * self.step + self.gap, rows * self.step + self.gap
        self._picture(draw_veil(width, height), self._left, self._top, "veil")
        middle = self._left + width // 2, self._top + height // 2
        for text, size, offset in (("Game over", 46, -26), (f"Final score {state.score}", 26, 26)):
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

    def _click(self, event: tk.Event[BoardCanvas]) -> None:
        place = self._place(event.x, event.y)
        if isinstance(place, Direction):
            self._on_arrow(place)
        elif place is not None:
            self._on_cell(place)

    def _point(self, place: Direction | Cell | None) -> None:
        """Show what a click at `place` would do."""
        self._pointed = place
        self.delete("hover")
        listens = self.state is not None and self.state.listens
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
