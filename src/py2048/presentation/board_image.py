"""Drawings of boards, tiles, icons and animated games, made with Pillow.

Drawing requires neither a display nor a system font, so tiles look the same on every machine. The
file `digits.ttf` contains the digits and a few letters of Inter 4, under the SIL Open Font License
1.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from struct import pack
from typing import TYPE_CHECKING, NamedTuple
from zlib import compress, crc32

from PIL import Image, ImageDraw, ImageFont

from py2048.presentation.screen import spellings
from py2048.presentation.themes import Theme

if TYPE_CHECKING:
    from py2048.core.board import Board, Cell
    from py2048.core.game import Record

IMAGE_SIDE = 720
"""Length of the longer side of an exported board, in pixels."""

SAMPLES = 8
"""Supersampling factor for antialiased curves and lines."""

MIN_DIGITS = 6
"""Minimum font size in pixels. Numbers that would need a smaller font are abbreviated."""

DIGITS = Path(__file__).with_name("digits.ttf")
SIZES = {1: 0.48, 2: 0.47, 3: 0.4, 4: 0.315, 5: 0.26, 6: 0.218}
"""Font size relative to the tile's side, for each number of characters."""

RINGED = 2048
"""The tile with this value gets a ring in the colour of its number."""

GAP = 0.1
"""Width of the gap between cells, relative to the side of a cell."""


class BoardGrid(NamedTuple):
    """Geometry of a board, in pixels.

    Attributes:
        shape: Rows and columns.
        left: Left edge of the frame.
        top: Top edge of the frame.
        cell: Side of a cell.
        gap: Distance between two cells, and between a cell and the edge of the frame.
    """

    shape: tuple[int, int]
    left: int
    top: int
    cell: int
    gap: int

    @classmethod
    def fit(cls, shape: tuple[int, int], width: int, height: int) -> BoardGrid:
        """Return the largest centred grid that fits into `width` x `height`."""
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
        """Distance between the left edges of adjacent cells."""
        return self.cell + self.gap

    @property
    def width(self) -> int:
        """Width of the frame."""
        return self.shape[1] * self.pitch + self.gap

    @property
    def height(self) -> int:
        """Height of the frame."""
        return self.shape[0] * self.pitch + self.gap

    @property
    def radius(self) -> int:
        """Corner radius of a tile."""
        return max(2, round(self.cell * 0.1))

    @property
    def centre(self) -> tuple[float, float]:
        """Centre of the board."""
        return self.left + self.width / 2, self.top + self.height / 2

    def middle(self, row: float, column: float) -> tuple[float, float]:
        """Return the centre of a cell. Fractional coordinates are between cells."""
        offset = self.gap + self.cell / 2
        return self.left + offset + column * self.pitch, self.top + offset + row * self.pitch

    def cell_at(self, x: float, y: float) -> Cell | None:
        """Return the cell at a point, or None if no cell is there."""
        rows, columns = self.shape
        column, in_x = divmod(x - self.left - self.gap, self.pitch)
        row, in_y = divmod(y - self.top - self.gap, self.pitch)
        is_inside = 0 <= row < rows and 0 <= column < columns
        is_on_cell = is_inside and in_x < self.cell and in_y < self.cell
        return (int(row), int(column)) if is_on_cell else None


def encode(image: Image.Image) -> bytes:
    """Encode an image for Tk, as PNG if it has an alpha channel, otherwise as PPM.

    Pillow's encoders would import modules that delay the first frame of a window.
    """
    (width, height), pixels = image.size, memoryview(image.tobytes())
    if image.mode == "RGB":
        return b"P6 %d %d 255\n" % (width, height) + pixels
    rows = b"".join(b"\0" + pixels[at:][: 4 * width] for at in range(0, len(pixels), 4 * width))
    head = pack(">2I5B", width, height, 8, 6, 0, 0, 0)  # 8 bits a channel, RGBA
    chunks = b"IHDR" + head, b"IDAT" + compress(rows, 1), b"IEND"
    parts = (pack(">I", len(each) - 4) + each + pack(">I", crc32(each)) for each in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def rounded(
    width: int, height: int, radius: int, colour: str, *inner: tuple[int, str]
) -> Image.Image:
    """Draw a rectangle with rounded corners.

    Args:
        width: Width in pixels.
        height: Height in pixels.
        radius: Corner radius in pixels.
        colour: ``#rrggbb``, ``#rrggbbaa``, or an empty string for transparent.
        inner: Smaller rectangles to draw on top, as pairs of an inset in pixels and a colour.
    """
    # Transparent pixels have the colour of the adjacent layer, so that antialiased edges show no
    # coloured fringe.
    ink = colour or next((fill for _inset, fill in inner if fill), "#000000")
    image = Image.new("RGBA", (width, height), f"{ink[:7]}00")
    for inset, fill in ((0, colour), *inner):
        ink = fill or f"{ink[:7]}00"
        mask = _rounded_mask(width - 2 * inset, height - 2 * inset, radius - inset)
        image.paste(ink, (inset, inset), mask)
    return image


@lru_cache(maxsize=64)
def _rounded_mask(width: int, height: int, radius: int) -> Image.Image:
    """Return an antialiased mask for a rectangle with rounded corners."""
    mask = Image.new("L", (width, height), 255)
    if (radius := min(radius, width // 2, height // 2)) > 0:
        side = 2 * radius * SAMPLES
        disc = Image.new("L", (side, side))
        ImageDraw.Draw(disc).ellipse((0, 0, side - 1, side - 1), 255)
        disc = disc.reduce(SAMPLES)
        for x, y in product((0, radius), repeat=2):
            corner = disc.crop((x, y, x + radius, y + radius))
            mask.paste(corner, (x and width - radius, y and height - radius))
    return mask


def ground(grid: BoardGrid, theme: Theme) -> Image.Image:
    """Draw the frame and the empty cells of a board on the page background."""
    image = Image.new("RGB", (grid.width, grid.height), theme.page)
    image.paste(theme.board, mask=_rounded_mask(*image.size, round(1.4 * grid.radius)))
    cell = _rounded_mask(grid.cell, grid.cell, grid.radius)
    for row, column in product(*map(range, grid.shape)):
        corner = grid.gap + column * grid.pitch, grid.gap + row * grid.pitch
        image.paste(theme.empty, corner, cell)
    return image


# Icons

STROKE = 11 / 6
"""Line width of icons, which are drawn on a grid of 20 by 20 units."""

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
"""Polylines of each icon, separated by semicolons, with points on a grid of 20 by 20."""


def glyph(name: str, side: int, colour: str) -> Image.Image:
    """Draw the icon of a button, with sides of `side` pixels."""
    image = Image.new("RGBA", (side, side), colour)
    image.putalpha(_glyph_mask(name, side))
    return image


@lru_cache(maxsize=64)
def _glyph_mask(name: str, side: int) -> Image.Image:
    mask = Image.new("L", (side * SAMPLES, side * SAMPLES))
    draw, unit = ImageDraw.Draw(mask), side * SAMPLES / 20
    half = STROKE * unit / 2
    for line in LINES[name].split(";"):
        points = [tuple(unit * float(each) - 0.5 for each in at.split(",")) for at in line.split()]
        draw.line(points, 255, round(2 * half))
        for x, y in points:
            draw.ellipse((x - half, y - half, x + half, y + half), 255)
    return mask.reduce(SAMPLES)


# Tiles and boards


@lru_cache(maxsize=64)
def number_font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font for numbers, with the given size in pixels."""
    return ImageFont.truetype(DIGITS, size)


def digits(value: int, side: int) -> tuple[str, int]:
    """Return the text and the font size for a tile with sides of `side` pixels."""
    for text in spellings(value):
        largest = max(MIN_DIGITS, SIZES.get(len(text), 1.3 / len(text)) * side)
        size = int(min(largest, 84 * side / number_font(100).getlength(text)))
        while size > MIN_DIGITS and number_font(size).getlength(text) > 0.84 * side:
            size -= 1  # hinting makes small letters wider
        if size >= MIN_DIGITS and number_font(size).getlength(text) <= 0.86 * side:
            break
    return text, max(size, 4)


def tile(value: int, side: int, theme: Theme, radius: int) -> Image.Image:
    """Draw a tile with sides of `side` pixels and transparent corners."""
    style, inset = theme.tile(value), round(side * 0.035)
    ring = (inset, style.text), (inset + max(1, side // 50), style.background)
    image = rounded(side, side, radius, style.background, *(ring if value == RINGED else ()))
    text, size = digits(value, side)
    write(image, (side / 2, side / 2), text, style.text, size)
    return image


def write(
    image: Image.Image, centre: tuple[float, float], text: str, colour: str, size: int
) -> None:
    """Draw a number centred on a point."""
    font = number_font(size)
    # Centre the digits themselves, because the text line includes space for descenders.
    left, top, right, bottom = font.getbbox(text, anchor="ls")
    x, y = centre[0] - (left + right) / 2, centre[1] - (top + bottom) / 2
    ImageDraw.Draw(image).text((x, y), text, colour, font, "ls")


def board(
    rows: Sequence[Sequence[int]], grid: BoardGrid, theme: Theme, base: Image.Image | None = None
) -> Image.Image:
    """Draw tiles on a copy of the image `base`. The default is an empty board."""
    image = base.copy() if base else ground(grid, theme)
    for row, line in enumerate(rows):
        for column, value in enumerate(line):
            if value:
                face = _cached_tile(value, grid.cell, theme, grid.radius)
                corner = (grid.gap + column * grid.pitch, grid.gap + row * grid.pitch)
                image.paste(face, corner, face)
    return image


_cached_tile = lru_cache(maxsize=128)(tile)


def icon(side: int, theme: Theme) -> Image.Image:
    """Draw the application icon: four tiles with the digits 2, 0, 4 and 8."""
    big = 2 * side
    image = rounded(big, big, big // 6, theme.page)
    faces = (("2", 8), ("0", 64), ("4", 2048), ("8", 16384))
    cell = round(big * 0.41)
    for index, (text, value) in enumerate(faces):
        style = theme.tile(value)
        face = rounded(cell, cell, cell // 6, style.background)
        write(face, (cell / 2, cell / 2), text, style.text, round(cell * 0.72))
        corner = [round(big * (0.065 + 0.46 * place)) for place in (index % 2, index // 2)]
        image.alpha_composite(face, (corner[0], corner[1]))
    return image.reduce(2)


def scored_board(
    position: Board, score: int, grid: BoardGrid, theme: Theme, base: Image.Image | None = None
) -> Image.Image:
    """Draw a position, with the score above the board."""
    head = max(28, grid.height // 10)
    image = Image.new("RGB", (grid.width, grid.height + head), theme.page)
    image.paste(board(position.rows, grid, theme, base), (0, head))
    size = min(head * 0.6, grid.width / 8)
    write(image, (grid.width / 2, head / 2), f"{score:,}", theme.ink, round(size))
    return image


def save_board_image(path: Path, position: Board, score: int, theme: Theme) -> None:
    """Save a position as a PNG file.

    Raises:
        OSError: The file cannot be written.
    """
    grid = BoardGrid.fit(position.shape, IMAGE_SIDE, IMAGE_SIDE)
    scored_board(position, score, grid, theme).save(path, "PNG", optimize=True)


# A game as an animated GIF

GIF_SIDE, MAX_FRAMES = 320, 1500
"""The longer side of an animated board in pixels, and the maximum number of frames.

Animations of long games skip some turns, so that files stay within a few megabytes.
"""

FRAME_MS, LAST_MS = 120, 2500


def save_gif(
    path: Path, record: Record, theme: Theme, first: int = 0, last: int | None = None
) -> None:
    """Save a game as an animated GIF, with one frame per turn if possible.

    Args:
        path: The file. An existing file is replaced when the animation is complete.
        record: Record of the game.
        theme: The colours.
        first: Number of turns before the first frame.
        last: Number of turns before the last frame, or None for all turns.

    Raises:
        OSError: The file cannot be written.
        RecordError: If a turn in the record breaks the rules.
    """
    # Importing this module earlier would delay the first frame of a window.
    from py2048.core.game.record import replacing

    grid = BoardGrid.fit(record.rules.shape, GIF_SIDE, GIF_SIDE)
    positions = [(record.start, 0), *((board, score) for board, _, score in record.replay())]
    positions = positions[first:][: None if last is None else last - first + 1]
    step = -(-len(positions) // MAX_FRAMES)
    kept = [*positions[:-1:step], positions[-1]]
    base = ground(grid, theme)
    palette = _palette(grid, theme, base)

    def frames() -> Iterator[Image.Image]:
        for position, score in kept:
            frame = scored_board(position, score, grid, theme, base)
            yield frame.quantize(palette=palette, dither=Image.Dither.NONE)

    drawn = frames()
    times = [FRAME_MS] * (len(kept) - 1) + [LAST_MS]
    settings = {"save_all": True, "append_images": drawn, "loop": 0, "optimize": False}
    with replacing(path) as file:
        next(drawn).save(file, "GIF", duration=times, **settings)


def _palette(grid: BoardGrid, theme: Theme, base: Image.Image) -> Image.Image:
    """Return a palette image with the colours of all tiles, for use in all frames."""
    sample = Image.new("RGB", (grid.cell * 6, grid.cell * 4), theme.page)
    for index in range(20):
        face = tile(2 << index, grid.cell, theme, grid.radius)
        sample.paste(face, (index % 6 * grid.cell, index // 6 * grid.cell), face)
    sample.paste(base.resize((grid.cell * 2, grid.cell)), (grid.cell * 2, grid.cell * 3))
    write(sample, (grid.cell * 5, grid.cell * 3.5), "0", theme.ink, grid.cell)
    return sample.quantize(colors=128)
