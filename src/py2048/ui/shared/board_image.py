"""What Pillow draws: boards and their tiles, films of games, faces and icons of buttons.

No display is needed, and no font of the system, so that a tile looks the same on every machine:
`digits.ttf` holds the digits and a few letters of Inter 4, under the SIL Open Font License 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont

from py2048.board import Board, Cell
from py2048.ui.shared.screen import spellings
from py2048.ui.shared.themes import Theme

if TYPE_CHECKING:
    from py2048.game import Record

IMAGE_SIDE = 720
"""The longer side of a board in a file, in pixels."""

MIN_DIGITS = 6
"""Digits lower than this, in pixels, give way to a shorter spelling."""


GAP = 0.1
"""The space between cells, as a share of a cell's side."""

DIGITS = Path(__file__).with_name("digits.ttf")
SIZES = {1: 0.48, 2: 0.47, 3: 0.4, 4: 0.315, 5: 0.26, 6: 0.218}
"""The height of a tile's number by its digits, as a share of the tile's side."""

RINGED = 2048
"""This tile has a ring inside in its number's colour."""


@dataclass(frozen=True, slots=True)
class BoardGrid:
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
        return replace(grid, left=left, top=top)

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


@lru_cache(maxsize=64)
def number_font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font of numbers, in pixels."""
    return ImageFont.truetype(DIGITS, size)


def rounded_mask(width: int, height: int, radius: int) -> Image.Image:
    """Return the mask of a rectangle with smooth round corners."""
    mask = Image.new("L", (2 * width, 2 * height))
    box = (0, 0, 2 * width - 1, 2 * height - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, 2 * radius, fill=255)
    return mask.reduce(2)


def rounded(
    width: int, height: int, radius: int, colour: str, *inner: tuple[int, str]
) -> Image.Image:
    """Return a rectangle with round corners on nothing; others, further in, replace parts of it."""
    image = Image.new("RGBA", (width, height))
    for inset, fill in ((0, colour), *inner):
        size = width - 2 * inset, height - 2 * inset
        image.paste(fill, (inset, inset), rounded_mask(*size, max(1, radius - inset)))
    return image


STROKE = 11
"""The width of an icon's lines, in sixths of a pixel of its 20."""


def glyph(name: str, side: int) -> Image.Image:
    """Return an icon of a button as a mask, `side` pixels square."""
    mask = Image.new("L", (120, 120))
    pen = ImageDraw.Draw(mask)

    half = STROKE / 2 - 0.5
    for text in filter(None, LINES.get(name, "").split("; ")):
        points = [tuple(6 * float(each) for each in place.split(",")) for place in text.split()]
        pen.line(points, 255, STROKE, "curve")
        for x, y in points:
            pen.ellipse((x - half, y - half, x + half, y + half), 255)
    match name:
        case "undo":
            pen.arc((42, 37, 96, 101), -90, 90, 255, STROKE)
        case "hint":
            pen.ellipse((27, 12, 93, 78), outline=255, width=STROKE)
        case "play":
            pen.polygon([(36, 24), (36, 96), (96, 60)], 255)
        case "more":
            for x in (24, 60, 96):
                pen.ellipse((x - 8, 52, x + 8, 68), 255)
    return mask.resize((side, side), Image.Resampling.LANCZOS)


LINES = {
    "undo": "7,3 3,7 7,11; 3,7 11.5,7; 11.5,16 8,16",
    "hint": "7.5,15.5 12.5,15.5; 8.5,18 11.5,18",
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
    style = theme.tile(value)
    image = rounded(side, side, radius, style.background)
    if value == RINGED:
        pen, inset = ImageDraw.Draw(image), round(side * 0.035)
        box = (inset, inset, side - inset - 1, side - inset - 1)
        pen.rounded_rectangle(box, radius * 0.7, outline=style.text, width=max(1, side // 50))
    text, size = digits(value, side)
    write(image, (side / 2, side / 2), text, style.text, size)
    return image


def write(
    image: Image.Image, centre: tuple[float, float], text: str, colour: str, size: int
) -> None:
    """Write a number around a point."""
    font = number_font(size)
    # The middle of the digits, not of the line, which has room for letters that go below it.
    left, top, right, bottom = font.getbbox(text, anchor="ls")
    x, y = centre[0] - (left + right) / 2, centre[1] - (top + bottom) / 2
    ImageDraw.Draw(image).text((x, y), text, colour, font, "ls")


def ground(grid: BoardGrid, theme: Theme) -> Image.Image:
    """Return the frame of a board with its empty cells, on the colour of the page."""
    image = Image.new("RGB", (grid.width, grid.height), theme.page)
    frame = rounded_mask(grid.width, grid.height, round(1.4 * grid.radius))
    image.paste(theme.board, (0, 0), frame)
    mask = rounded_mask(grid.cell, grid.cell, grid.radius)
    rows, columns = grid.shape
    for row in range(rows):
        for column in range(columns):
            corner = (grid.gap + column * grid.pitch, grid.gap + row * grid.pitch)
            image.paste(theme.empty, corner, mask)
    return image


def board(
    position: Board, grid: BoardGrid, theme: Theme, base: Image.Image | None = None
) -> Image.Image:
    """Return the whole picture of a position; `base` is its `ground`, if it is at hand."""
    image = (base or ground(grid, theme)).copy()
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
    """Return the picture of a position under its score."""
    picture = board(position, grid, theme, base)
    head = max(28, grid.height // 10)
    image = Image.new("RGB", (grid.width, grid.height + head), theme.page)
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
    grid = BoardGrid.fit(record.rules.shape, GIF_SIDE, GIF_SIDE)
    positions = [(record.start, 0), *((board, score) for board, _, score in record.replay())]
    positions = positions[first:][: None if last is None else last - first + 1]
    step = -(-len(positions) // MAX_FRAMES)
    shown = [*positions[:-1:step], positions[-1]]
    base = ground(grid, theme)
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
    sample = Image.new("RGB", (grid.cell * 6, grid.cell * 4), theme.page)
    for index in range(20):
        face = tile(2 << index, grid.cell, theme, grid.radius)
        sample.paste(face, (index % 6 * grid.cell, index // 6 * grid.cell), face)
    sample.paste(base.resize((grid.cell * 2, grid.cell)), (grid.cell * 2, grid.cell * 3))
    write(sample, (grid.cell * 5, grid.cell * 3.5), "0", theme.ink, grid.cell)
    return sample.quantize(colors=128, method=Image.Quantize.MEDIANCUT)
