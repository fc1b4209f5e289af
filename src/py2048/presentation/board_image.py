"""What is drawn: boards and their tiles, films of games, faces and icons of buttons.

No display is needed, and no font of the system, so that a tile looks the same on every machine:
`digits.ttf` holds the digits and a few letters of Inter 4, under the SIL Open Font License 1.1.
Pillow writes the numbers and the files; it is loaded then, after a window's first frame, whose
faces, icons and empty board are made in plain Python.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from py2048.presentation.screen import spellings
from py2048.presentation.themes import Theme

if TYPE_CHECKING:
    from PIL import Image, ImageFont

    from py2048.core.board import Board, Cell
    from py2048.core.game import Record

IMAGE_SIDE = 720
"""The longer side of a board in a file, in pixels."""

MIN_DIGITS = 6
"""Digits lower than this, in pixels, give way to a shorter spelling."""

DIGITS = Path(__file__).with_name("digits.ttf")
SIZES = {1: 0.48, 2: 0.47, 3: 0.4, 4: 0.315, 5: 0.26, 6: 0.218}
"""The height of a tile's number by its digits, as a share of the tile's side."""

RINGED = 2048
"""This tile has a ring inside in its number's colour."""

GAP = 0.1
"""The space between cells, as a share of a cell's side."""

FINE = 8
"""Distances from a corner's middle are rounded to this part of a pixel."""


class BoardGrid(NamedTuple):
    """The cells of a board, in pixels.

    Attributes:
        shape: rows and columns.
        left: the left edge of the board's frame.
        top: the top edge of the board's frame.
        cell: the side of a cell.
        gap: the space between cells and around them.
    """

    shape: tuple[int, int]
    left: int
    top: int
    cell: int
    gap: int

    @classmethod
    def fit(cls, shape: tuple[int, int], width: int, height: int) -> BoardGrid:
        """Return the largest grid of this shape that stands centred in `width` x `height`."""
        rows, columns = shape

        def sized(cell: int) -> BoardGrid:
            return cls(shape, 0, 0, cell, max(1, int(GAP * cell)))

        grids = map(sized, range(min(width // columns, height // rows), 4, -1))
        fitting = (each for each in grids if each.width <= width and each.height <= height)
        grid = next(fitting, sized(4))
        left, top = max(0, (width - grid.width) // 2), max(0, (height - grid.height) // 2)
        return grid._replace(left=left, top=top)

    @property
    def pitch(self) -> int:
        """The distance from one cell to the next."""
        return self.cell + self.gap

    @property
    def width(self) -> int:
        """The width of the frame."""
        return self.shape[1] * self.pitch + self.gap

    @property
    def height(self) -> int:
        """The height of the frame."""
        return self.shape[0] * self.pitch + self.gap

    @property
    def radius(self) -> int:
        """The radius of a tile's corners."""
        return max(2, round(self.cell * 0.1))

    @property
    def centre(self) -> tuple[float, float]:
        """The middle of the board."""
        return self.left + self.width / 2, self.top + self.height / 2

    def middle(self, row: float, column: float) -> tuple[float, float]:
        """Return the middle of a cell, or of a place between cells."""
        offset = self.gap + self.cell / 2
        return self.left + offset + column * self.pitch, self.top + offset + row * self.pitch

    def cell_at(self, x: float, y: float) -> Cell | None:
        """Return the cell under a point, if any."""
        rows, columns = self.shape
        column, in_x = divmod(x - self.left - self.gap, self.pitch)
        row, in_y = divmod(y - self.top - self.gap, self.pitch)
        is_inside = 0 <= row < rows and 0 <= column < columns
        is_on_cell = is_inside and in_x < self.cell and in_y < self.cell
        return (int(row), int(column)) if is_on_cell else None


class Picture(NamedTuple):
    """Pixels, as `PIL.Image.frombytes` takes them: of 3 bytes (RGB), or of 4 with holes (RGBA)."""

    mode: str
    size: tuple[int, int]
    pixels: bytes

    @property
    def image(self) -> Image.Image:
        """The picture as Pillow has it."""
        from PIL import Image

        return Image.frombytes(*self)

    def encoded(self) -> bytes:
        """Return the picture as Tk reads it: PPM or, where it has holes, PNG."""
        if self.mode == "RGB":
            return b"P6 %d %d 255\n" % self.size + self.pixels
        step = 4 * self.size[0]
        starts = range(0, len(self.pixels), step)
        rows = b"".join(b"\0" + self.pixels[at : at + step] for at in starts)
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in (
                (b"IHDR", struct.pack(">IIBBBBB", *self.size, 8, 6, 0, 0, 0)),
                (b"IDAT", zlib.compress(rows, 1)),
                (b"IEND", b""),
            )
        )


def rounded(
    width: int, height: int, radius: int, colour: str, *inner: tuple[int, str], on: str = ""
) -> Picture:
    """Return a rectangle with round corners.

    Args:
        width: its width.
        height: its height.
        radius: that of its corners.
        colour: ``#rrggbb``, with its opacity as ``#rrggbbaa``, or empty for a hole.
        inner: others that replace its inside: how much further in each is, and its colour.
        on: the colour of what is around the corners, nothing by default.
    """
    layers = [(radius - inset + 0.5, *_channels(fill)) for inset, fill in ((0, colour), *inner)]
    ground, mode = _channels(on), "RGB" if on else "RGBA"

    @cache
    def pixel(far: int) -> bytes:
        """Return the pixel at a distance from the middle of a corner's arc."""
        red, green, blue, opacity = ground
        for edge, *fill in layers:
            if (share := min(1.0, edge - far / FINE)) > 0:
                red += (fill[0] - red) * share
                green += (fill[1] - green) * share
                blue += (fill[2] - blue) * share
                opacity += (fill[3] - opacity) * share
        whole = opacity or 1.0
        found = round(red / whole), round(green / whole), round(blue / whole), round(255 * opacity)
        return bytes(found[: len(mode)])

    rows, corner = [], _corner(radius, max((far for far, _fill in inner), default=0))
    side = len(corner) - 1
    for distances in corner:
        *left, middle = map(pixel, distances)
        rows.append(b"".join([*left, middle * (width - 2 * side), *left[::-1]]))
    *top, middle = rows
    rows = [*top, *[middle] * (height - 2 * side), *top[::-1]]
    return Picture(mode, (width, height), b"".join(rows))


@lru_cache(maxsize=64)
def _corner(radius: int, inset: int) -> list[list[int]]:
    """Return how far the pixels of a corner, and those beside it, are from the middle of its arc.

    What is outside, or further in than `inset`, looks the same everywhere.
    """
    steps = [radius - 0.5 - place for place in range(max(radius, inset + 1) + 1)]
    low, high = FINE * (radius - inset - 0.5), FINE * (radius + 0.5)

    def distance(down: float, across: float) -> int:
        far = hypot(down, across) if down > 0 < across else max(down, across)
        return round(min(high, max(low, FINE * far)))

    return [[distance(down, across) for across in steps] for down in steps]


def _channels(colour: str) -> tuple[float, ...]:
    """Return red, green and blue times the opacity, and the opacity, 0 to 1."""
    red, green, blue, opacity = bytes.fromhex((colour or "#00000000")[1:].ljust(8, "f"))
    return *(each * opacity / 255 for each in (red, green, blue)), opacity / 255


def ground(grid: BoardGrid, theme: Theme) -> Picture:
    """Return the frame of a board with its empty cells, on the colour of the page."""
    width, height, gap = grid.width, grid.height, grid.gap
    frame = rounded(width, height, round(1.4 * grid.radius), theme.board, on=theme.page)
    cell = rounded(grid.cell, grid.cell, grid.radius, theme.empty, on=theme.board)
    between = bytes.fromhex(theme.board[1:]) * gap
    lines = [bytes(gap)] * gap  # of one row of cells; those of the gap stay as in the frame
    for at in range(0, len(cell.pixels), 3 * grid.cell):
        lines.append(between.join([cell.pixels[at : at + 3 * grid.cell]] * grid.shape[1]))
    rows = []
    for y in range(height):
        row = frame.pixels[3 * width * y : 3 * width * (y + 1)]
        line = y % grid.pitch
        is_gap = line < gap
        rows.append(row if is_gap else row[: 3 * gap] + lines[line] + row[-3 * gap :])
    return Picture("RGB", (width, height), b"".join(rows))


# Icons

STROKE = 11 / 6
"""The width of an icon's lines, in pixels of its 20."""

LINES = {
    "undo": "7,3 3,7 7,11; 3,7 11.5,7 13.2,7.6 14.5,9 15,11.5 14.5,14 13.2,15.4 11.5,16 8,16",
    "hint": "10,2.9 11.8,3.3 13.3,4.3 14.3,5.7 14.6,7.5 14.3,9.3 13.3,10.8 11.8,11.7 10,12.1"
    " 8.2,11.7 6.7,10.8 5.7,9.3 5.4,7.5 5.7,5.7 6.7,4.3 8.2,3.3 10,2.9;"
    " 7.5,15.5 12.5,15.5; 8.5,18 11.5,18",
    "play": "6.9,5.6 6.9,14.4 14.2,10 6.9,5.6; 8,7.5 8,12.5 12.2,10 8,7.5; 9,10 10,10",
    "more": "3.6,10 4,9.6 4.4,10 4,10.4 3.6,10; 9.6,10 10,9.6 10.4,10 10,10.4 9.6,10;"
    " 15.6,10 16,9.6 16.4,10 16,10.4 15.6,10",
    "new": "10,4 10,16; 4,10 16,10",
    "minus": "4,10 16,10",
    "pause": "7,4.5 7,15.5; 13,4.5 13,15.5",
    "back": "12.5,4 6.5,10 12.5,16",
    "forward": "7.5,4 13.5,10 7.5,16",
    "first": "15,4 9,10 15,16; 5,4 5,16",
    "last": "5,4 11,10 5,16; 15,4 15,16",
    "share": "10,3 10,12; 6.5,6 10,2.5 13.5,6; 4,11 4,17 16,17 16,11",
    "left": "16,10 4,10; 9,5 4,10 9,15",
    "right": "4,10 16,10; 11,5 16,10 11,15",
    "up": "10,16 10,4; 5,9 10,4 15,9",
    "down": "10,4 10,16; 5,11 10,16 15,11",
}
"""The lines of icons, by their points in a square of 20 pixels."""


def glyph(name: str, side: int, colour: str) -> Picture:
    """Return an icon of a button, `side` pixels square."""
    ink = bytes.fromhex(colour[1:])
    shades = [ink + bytes([opacity]) for opacity in range(256)]
    return Picture("RGBA", (side, side), b"".join(map(shades.__getitem__, _glyph(name, side))))


@lru_cache(maxsize=64)
def _glyph(name: str, side: int) -> bytes:
    """Return how much of each pixel the lines of an icon cover, of 255."""
    unit, covered = side / 20, bytearray(side * side)
    half = STROKE * unit / 2
    for text in LINES[name].split(";"):
        points = [[unit * float(each) for each in place.split(",")] for place in text.split()]
        for (x1, y1), (x2, y2) in pairwise(points):
            wide, high = x2 - x1, y2 - y1
            length = wide * wide + high * high
            for y in _near(y1, y2, half, side):
                for x in _near(x1, x2, half, side):
                    across, down = x + 0.5 - x1, y + 0.5 - y1
                    share = min(1.0, max(0.0, (across * wide + down * high) / length))
                    near = half + 0.5 - hypot(across - share * wide, down - share * high)
                    if near > 0:
                        shade, place = int(255 * min(1.0, near)), y * side + x
                        covered[place] = max(covered[place], shade)
    return bytes(covered)


def _near(start: float, end: float, far: float, side: int) -> Iterable[int]:
    """Return the pixels between two points and a little beyond, of `side`."""
    low, high = sorted((start, end))
    return range(max(0, int(low - far - 0.5)), min(side, int(high + far + 1.5)))


# Tiles and boards, with Pillow


@lru_cache(maxsize=64)
def number_font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font of numbers, in pixels."""
    from PIL import ImageFont

    return ImageFont.truetype(DIGITS, size)


def plain(width: int, height: int, colour: str) -> Image.Image:
    """Return a rectangle."""
    return Picture("RGB", (width, height), width * height * bytes.fromhex(colour[1:])).image


def closed(image: Image.Image) -> Picture:
    """Return the pixels of an image of Pillow."""
    return Picture(image.mode, image.size, image.tobytes())


def digits(value: int, side: int) -> tuple[str, int]:
    """Return what to write on a tile of `side` pixels, and the font's size in pixels."""
    for text in spellings(value):
        most = max(MIN_DIGITS, SIZES.get(len(text), 1.3 / len(text)) * side)
        size = int(min(most, 84 * side / number_font(100).getlength(text)))
        while size > MIN_DIGITS and number_font(size).getlength(text) > 0.84 * side:
            size -= 1  # small letters are wider in proportion
        if size >= MIN_DIGITS and number_font(size).getlength(text) <= 0.86 * side:
            break
    return text, max(size, 4)


def tile(value: int, side: int, theme: Theme, radius: int) -> Image.Image:
    """Return the picture of a tile, `side` pixels square, transparent at its corners."""
    style, inset = theme.tile(value), round(side * 0.035)
    ring = (inset, style.text), (inset + max(1, side // 50), style.background)
    inside = ring if value == RINGED else ()
    image = rounded(side, side, radius, style.background, *inside).image
    text, size = digits(value, side)
    write(image, (side / 2, side / 2), text, style.text, size)
    return image


def write(
    image: Image.Image, centre: tuple[float, float], text: str, colour: str, size: int
) -> None:
    """Write a number around a point."""
    from PIL import ImageDraw

    font = number_font(size)
    # The middle of the digits, not of the line, which has room for letters that go below it.
    left, top, right, bottom = font.getbbox(text, anchor="ls")
    x, y = centre[0] - (left + right) / 2, centre[1] - (top + bottom) / 2
    ImageDraw.Draw(image).text((x, y), text, colour, font, "ls")


def board(
    position: Board, grid: BoardGrid, theme: Theme, base: Image.Image | None = None
) -> Image.Image:
    """Return the whole picture of a position; `base` is its `ground`, if it is at hand."""
    image = base.copy() if base else ground(grid, theme).image
    for row, line in enumerate(position.rows):
        for column, value in enumerate(line):
            if value:
                face = _cached_tile(value, grid.cell, theme, grid.radius)
                corner = (grid.gap + column * grid.pitch, grid.gap + row * grid.pitch)
                image.paste(face, corner, face)
    return image


_cached_tile = lru_cache(maxsize=128)(tile)


def icon(side: int, theme: Theme) -> Image.Image:
    """Return the application's icon: the digits 2, 0, 4 and 8 on four tiles."""
    big = 2 * side
    image = rounded(big, big, big // 6, theme.page).image
    faces = (("2", 8), ("0", 64), ("4", 2048), ("8", 16384))
    cell = round(big * 0.41)
    for index, (text, value) in enumerate(faces):
        style = theme.tile(value)
        face = rounded(cell, cell, cell // 6, style.background).image
        write(face, (cell / 2, cell / 2), text, style.text, round(cell * 0.72))
        corner = [round(big * (0.065 + 0.46 * place)) for place in (index % 2, index // 2)]
        image.alpha_composite(face, (corner[0], corner[1]))
    return image.reduce(2)


def scored_board(
    position: Board, score: int, grid: BoardGrid, theme: Theme, base: Image.Image | None = None
) -> Image.Image:
    """Return the picture of a position under its score."""
    picture = board(position, grid, theme, base)
    head = max(28, grid.height // 10)
    image = plain(grid.width, grid.height + head, theme.page)
    image.paste(picture, (0, head))
    size = min(head * 0.6, grid.width / 8)
    write(image, (grid.width / 2, head / 2), f"{score:,}", theme.ink, round(size))
    return image


def save_board_image(path: Path, position: Board, score: int, theme: Theme) -> None:
    """Write a position as a PNG file.

    Raises:
        OSError: if the file cannot be written.
    """
    grid = BoardGrid.fit(position.shape, IMAGE_SIDE, IMAGE_SIDE)
    scored_board(position, score, grid, theme).save(path, "PNG", optimize=True)


# A game as an animated GIF

GIF_SIDE = 320
"""The longer side of a board in pixels."""

MAX_FRAMES = 1500
"""A longer game is shown in larger steps, so that its file stays at a few megabytes."""

FRAME_MS, LAST_MS = 120, 2500


def save_gif(
    path: Path, record: Record, theme: Theme, first: int = 0, last: int | None = None
) -> None:
    """Write a game as an animated GIF: a frame for each turn, the last one shown longer.

    Args:
        path: the file; it appears when it is complete.
        record: the game.
        theme: its colours.
        first: how many turns were made before the first frame.
        last: how many were made at the end; `None` for all.

    Raises:
        OSError: if the file cannot be written.
        RecordError: if the record breaks its rules.
    """
    from PIL import Image

    grid = BoardGrid.fit(record.rules.shape, GIF_SIDE, GIF_SIDE)
    positions = [(record.start, 0), *((board, score) for board, _, score in record.replay())]
    positions = positions[first:][: None if last is None else last - first + 1]
    step = -(-len(positions) // MAX_FRAMES)
    shown = [*positions[:-1:step], positions[-1]]
    base = ground(grid, theme).image
    palette = _palette(grid, theme, base)

    def frames() -> Iterator[Image.Image]:
        for position, score in shown:
            frame = scored_board(position, score, grid, theme, base)
            yield frame.quantize(palette=palette, dither=Image.Dither.NONE)

    drawn = frames()
    times = [FRAME_MS] * (len(shown) - 1) + [LAST_MS]
    how = {"save_all": True, "append_images": drawn, "loop": 0, "optimize": False}
    unfinished = path.with_name(path.name + ".part")
    try:
        next(drawn).save(unfinished, "GIF", duration=times, **how)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _palette(grid: BoardGrid, theme: Theme, base: Image.Image) -> Image.Image:
    """Return an image with a palette for all frames: the colours of every tile."""
    sample = plain(grid.cell * 6, grid.cell * 4, theme.page)
    for index in range(20):
        face = tile(2 << index, grid.cell, theme, grid.radius)
        sample.paste(face, (index % 6 * grid.cell, index // 6 * grid.cell), face)
    sample.paste(base.resize((grid.cell * 2, grid.cell)), (grid.cell * 2, grid.cell * 3))
    write(sample, (grid.cell * 5, grid.cell * 3.5), "0", theme.ink, grid.cell)
    return sample.quantize(colors=128)
