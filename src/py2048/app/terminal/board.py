"""The board in a terminal: drawing, animation and mouse gestures.

Each character cell holds 2x2 *pixels*, drawn with quarter block characters (``▘``, ``▐``, ``▄``).
Sizes are in pixels, except for names ending in ``_columns`` and ``_rows``, which count characters.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from time import monotonic

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.presentation.motion import BoardTransition, Sprite, direction_of_gesture, still
from py2048.presentation.screen import spellings
from py2048.presentation.themes import DEFAULT_THEME, Theme

FRAMES_PER_SECOND = 50
MIN_SWIPE_COLUMNS = 4  # Minimum length of a horizontal swipe. Vertical swipes need half of it.


class TerminalBoard(Widget):
    """A widget that shows boards and animates the transitions between them.

    A new transition ends a running animation immediately.

    Attributes:
        board: The board at the end of the current transition.
    """

    class Gesture(Message):
        """A swipe, or a click near an edge of the board, given as a direction."""

        def __init__(self, direction: Direction) -> None:
            super().__init__()
            self.direction = direction

    def __init__(self) -> None:
        super().__init__()
        self._palette = DEFAULT_THEME
        self._grid: TerminalGrid | None = None
        self.board: Board | None = None
        self._transition: BoardTransition | None = None
        self._began = 0.0
        self._pace = 1.0
        self._canvas = Canvas(0, 0, self._palette.page)
        self._strips: list[Strip] = []
        self._is_stale = False
        self._pressed: tuple[int, int] | None = None
        self._marks: tuple[Direction | None, Direction | None, int | None] = None, None, None

    @property
    def is_moving(self) -> bool:
        """Whether a transition is running."""
        return self._transition is not None

    def set_grid(self, grid: TerminalGrid | None) -> None:
        """Set the layout. `None` hides the board."""
        self._grid = grid
        self.styles.width = grid.width_columns if grid else 0
        self.styles.height = grid.height_rows if grid else 0
        self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Apply a theme."""
        self._palette = theme
        self._redraw()

    def mark(
        self,
        best: Direction | None,
        played: Direction | None = None,
        watched: int | None = None,
    ) -> None:
        """Mark the best direction, the played direction, and all tiles with the value `watched`."""
        self._marks = best, played, watched
        self._redraw()

    def show(self, transition: BoardTransition, pace: float) -> None:
        """Show a transition. `pace` scales the duration. 0 disables the animation."""
        self.board = transition.board
        if not pace:
            self._end()
            return
        self._pace = pace
        self._transition = transition
        self._began = monotonic()
        self.auto_refresh = 1 / FRAMES_PER_SECOND
        self._redraw()

    def _end(self) -> None:
        self._transition = None
        self.auto_refresh = None
        self._redraw()

    def automatic_refresh(self) -> None:
        """Show the next frame of a transition."""
        if self._transition and self._elapsed() >= self._transition.seconds:
            self._end()
        else:
            self._redraw()

    def _elapsed(self) -> float:
        return (monotonic() - self._began) / self._pace

    def _sprites(self) -> list[Sprite]:
        if self.board is None:
            return []
        if self._transition is None:
            return still(self.board)
        return self._transition.at(self._elapsed())

    def _redraw(self) -> None:
        """Schedule one redraw for all changes that are made while an event is handled."""
        if not self._is_stale:
            self._is_stale = True
            self.call_next(self._draw)

    def _draw(self) -> None:
        """Redraw the board, and refresh only the rows that have changed."""
        if not self._is_stale:
            return
        self._is_stale = False
        grid, theme = self._grid, self._palette
        columns, rows = (grid.width_columns, grid.height_rows) if grid else (0, 0)
        before, canvas = self._canvas, Canvas(columns, rows, theme.page)
        if grid is not None:
            draw_board(canvas, grid, theme, self._sprites(), *self._marks)
        if (before.columns, before.rows) == (columns, rows):
            changed = [row for row in range(rows) if canvas.key(row) != before.key(row)]
        else:
            changed, self._strips = list(range(rows)), [Strip.blank(columns)] * rows
        self._canvas = canvas
        for row in changed:
            self._strips[row] = Strip(canvas.segments(row))
        if changed:
            self.refresh(*(Region(0, row, columns, 1) for row in changed))

    def render_line(self, y: int) -> Strip:
        """Return one row of the board.

        If the row is missing, the whole board is drawn first. Pending changes must wait for the
        next refresh, because Textual does not repaint rows that it has already painted.
        """
        if y >= len(self._strips):
            self._draw()
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Start a gesture."""
        self._pressed = event.x, event.y
        self.capture_mouse()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """Finish a gesture."""
        self.release_mouse()
        if self._pressed is None:
            return
        (x, y), self._pressed = self._pressed, None
        if not self.size:  # the terminal may have become smaller
            return
        # Characters are about twice as high as they are wide.
        start, end = (x + 0.5, 2 * y + 1), (event.x + 0.5, 2 * event.y + 1)
        size = self.size.width, 2 * self.size.height
        direction = direction_of_gesture(start, end, size, MIN_SWIPE_COLUMNS)
        if direction is not None:
            self.post_message(self.Gesture(direction))


# Drawing the board

MARK_SHARE = 0.36  # Length of a direction mark, relative to the board's width.


def draw_board(
    canvas: Canvas,
    grid: TerminalGrid,
    theme: Theme,
    sprites: list[Sprite],
    best: Direction | None = None,
    played: Direction | None = None,
    watched: int | None = None,
) -> None:
    """Draw the board with marks for two directions and for tiles of value `watched`."""
    width, height = grid.width, grid.height
    canvas.rectangle(0, grid.top, width, height, theme.board)
    for row in range(grid.rows):
        for column in range(grid.columns):
            _draw_rectangle(canvas, grid, Sprite(0, row, column), theme.empty)
    for sprite in sprites:
        if sprite.value == watched:
            x, y = grid.corner(sprite.row, sprite.column)
            width_, height_ = grid.pitch_x + grid.gap_x, grid.pitch_y + grid.gap_y
            canvas.rectangle(x - grid.gap_x, y - grid.gap_y, width_, height_, theme.danger)
        _draw_tile(canvas, grid, theme, sprite)
    for side, colour in ((played, theme.danger), (best, theme.good)):
        if side is not None and grid.frame_x:
            _draw_mark(canvas, grid, colour, side)


def _draw_mark(canvas: Canvas, grid: TerminalGrid, colour: str, side: Direction) -> None:
    width, height = grid.width, grid.height
    if side.is_vertical:
        long = 2 * round(width * MARK_SHARE / 2)
        y = grid.top + (height - grid.frame_y if side is Direction.DOWN else 0)
        canvas.rectangle((width - long) // 4 * 2, y, long, grid.frame_y, colour)
    else:
        long = 2 * round(height * MARK_SHARE / 2)
        x = width - grid.frame_x if side is Direction.RIGHT else 0
        canvas.rectangle(x, grid.top + (height - long) // 2, grid.frame_x, long, colour)


def _draw_tile(canvas: Canvas, grid: TerminalGrid, theme: Theme, sprite: Sprite) -> None:
    style = theme.tile(sprite.value)
    x, y, width, height = _draw_rectangle(canvas, grid, sprite, style.background)
    digits = str(sprite.value)
    across, down = dot_size(len(digits), grid.tile_width, grid.tile_height)
    if across:
        if width >= (long := across * digits_width(digits)) and height >= (high := 5 * down):
            at = x + (width - long) // 4 * 2, y + (height - high + 1) // 2
            draw_digits(canvas, digits, at, (across, down), style.text)
    elif 2 * len(text := label(sprite.value, grid.label_columns)) <= width and height >= 2:
        column = (x + 1) // 2 + (width // 2 - len(text)) // 2
        canvas.write(column, (2 * y + height) // 4, text, style.text)


def _draw_rectangle(
    canvas: Canvas, grid: TerminalGrid, sprite: Sprite, colour: str
) -> tuple[int, int, int, int]:
    """Fill a scaled cell. Return the filled area as x, y, width and height."""
    x, y = grid.corner(sprite.row, sprite.column)
    across = _growth(grid.tile_width, sprite.scale, grid.gap_x)
    down = _growth(grid.tile_height, sprite.scale, grid.gap_y)
    box = x - across, y - down, grid.tile_width + 2 * across, grid.tile_height + 2 * down
    canvas.rectangle(*box, colour)
    return box


def _growth(length: int, scale: float, gap: int) -> int:
    """Return how many pixels to add to each side of a scaled tile.

    Enlarged tiles grow by at least one pixel, but no further than the gap between cells.
    """
    growth = round(length * (scale - 1) / 2)
    return min(gap, max(1, growth)) if scale > 1 else growth


# Large digits

_FONT = """
### .#. ### ### #.# ### ### ### ### ### .. .
#.# ##. ..# ..# #.# #.. #.. ..# #.# #.# .. .
#.# .#. ### .## ### ### ### ..# ### ### .. .
#.# .#. #.. ..# ..# ..# #.# ..# #.# ..# .# .
### ### ### ### ..# ### ### ..# ### ### #. #
"""
_ROWS = [line.split() for line in _FONT.split("\n")[1:-1]]
_DIGITS = dict(zip(string.digits + ",.", zip(*_ROWS, strict=True), strict=True))
DIGIT_HEIGHT = len(_ROWS)


def digits_width(text: str) -> int:
    """Return the width in dots of a formatted number."""
    return sum(len(_DIGITS[each][0]) + 1 for each in text) - 1


def digit_dots(text: str) -> Iterator[tuple[int, int]]:
    """Yield the dots ``(x, y)`` of a formatted number, relative to its top left corner."""
    left = 0
    for digit in text:
        for y, row in enumerate(_DIGITS[digit]):
            yield from ((left + x, y) for x, dot in enumerate(row) if dot == "#")
        left += len(row) + 1


def dot_size(count: int, width: int, height: int) -> tuple[int, int]:
    """Return the size, in pixels, of the dots that form `count` digits on a tile.

    Dots of 2 x 1 pixels look square, but numbers with three or more digits may have narrower dots.
    Returns (0, 0) if the digits do not fit, or if the tile is too small for four digits.
    """
    dots = 4 * count - 1
    if height < DIGIT_HEIGHT + 2 or width < max(dots, 15) + 1:
        return 0, 0
    for down in range(max(1, int(0.7 * height / DIGIT_HEIGHT)), 0, -1):
        across = max(down, min((4 if count < 3 else 3) * down // 2, int(0.8 * width / dots)))
        if across * dots < width:
            return across, down
    return 0, 0


def draw_digits(
    canvas: Canvas, text: str, at: tuple[int, int], dot: tuple[int, int], colour: str
) -> None:
    """Draw a number from dots of size `dot`, with its top left corner at `at`."""
    for x, y in digit_dots(text):
        canvas.rectangle(at[0] + dot[0] * x, at[1] + dot[1] * y, *dot, colour)


# A canvas of quarter blocks

# The index is a bit mask of filled quarters: 1 is top left, 2 top right, 4 bottom left, and 8
# bottom right.
_QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"


class Canvas:
    """An image of `columns` x `rows` characters, each with 2x2 pixels."""

    def __init__(self, columns: int, rows: int, background: str) -> None:
        self.columns, self.rows = columns, rows
        self._pixels = [[background] * (2 * columns) for _ in range(2 * rows)]
        self._text: list[dict[int, tuple[str, str]]] = [{} for _ in range(rows)]

    def key(self, row: int) -> object:
        """Return a key for a row. Rows with equal keys look the same."""
        return self._pixels[2 * row], self._pixels[2 * row + 1], self._text[row]

    def rectangle(self, x: int, y: int, width: int, height: int, colour: str) -> None:
        """Fill a rectangle, clipped to the canvas, and erase the text in it."""
        left, right = max(x, 0), min(x + width, 2 * self.columns)
        if right <= left:
            return
        for line in range(max(y, 0), min(y + height, 2 * self.rows)):
            self._pixels[line][left:right] = [colour] * (right - left)
            text = self._text[line // 2]
            for column in [each for each in text if left // 2 <= each < (right + 1) // 2]:
                del text[column]

    def write(self, column: int, row: int, text: str, colour: str) -> None:
        """Write bold text, clipped to the canvas."""
        for at, character in enumerate(text, start=column):
            if 0 <= row < self.rows and 0 <= at < self.columns:
                self._text[row][at] = character, colour

    def segments(self, row: int) -> list[Segment]:
        """Split a row of characters into segments of the same style."""
        top, bottom, text = self._pixels[2 * row], self._pixels[2 * row + 1], self._text[row]
        quarters = zip(top[::2], top[1::2], bottom[::2], bottom[1::2], strict=True)
        cells = [
            _letter(*text[column], each) if column in text else _block(each)
            for column, each in enumerate(quarters)
        ]
        return [
            Segment("".join(cell.text for cell in group), style)
            for style, group in groupby(cells, key=attrgetter("style"))
        ]

    def content(self) -> list[Content]:
        """Return the rows as Textual content for other widgets."""
        rows = (self.segments(row) for row in range(self.rows))
        texts = (Text.assemble(*((each.text, each.style or "") for each in row)) for row in rows)
        return [*map(Content.from_rich_text, texts)]


Quarters = tuple[str, str, str, str]
"""The colours of a character's quarters: top left, top right, bottom left, bottom right."""


def _letter(character: str, ink: str, quarters: Quarters) -> Segment:
    """Return a bold letter on the most frequent of the four background colours."""
    background = max(quarters, key=quarters.count)
    return Segment(character, Style(color=ink, bgcolor=background, bold=True))


@lru_cache(maxsize=1 << 14)
def _block(quarters: Quarters) -> Segment:
    """Return the block character that best approximates four coloured quarters.

    A character can show only two colours, so the two most frequent are used. The most frequent
    colour becomes the background.
    """
    (background, count), *others = Counter(quarters).most_common()
    if count == 4:
        return Segment(" ", Style(color=background, bgcolor=background))
    ink = others[0][0]
    mask = sum(1 << bit for bit, colour in enumerate(quarters) if colour != background)
    if _QUARTERS[mask] in "▄▐":
        # In some fonts, the lower half block leaves a gap above the next row. The complementary
        # character with swapped colours does not.
        return Segment(_QUARTERS[15 - mask], Style(color=background, bgcolor=ink))
    return Segment(_QUARTERS[mask], Style(color=ink, bgcolor=background))


# Layout for terminals of at least 20x10 characters.

FULL_COLUMNS = 6
"""A label of this many columns has room for all digits of 131072."""

MAX_POWER_COLUMNS = 2
"""Labels of this width or less show the exponent of 2, such as ``11`` for 2048."""

MIN_PITCH = 4
"""Minimum height of a cell with its gap, in pixels."""

COMFORTABLE_PITCH = 8
"""Height of a comfortably legible cell with its gap, in pixels."""

PANEL_COLUMNS = 22
MARGINS = (2, 3, 2)
"""Left margin, gap between board and panel, and right margin, in columns."""


@dataclass(frozen=True, slots=True)
class TerminalGrid:
    """Layout of a board's cells.

    Attributes:
        rows: Number of rows.
        columns: Number of columns.
        pitch_x: Horizontal distance between the left edges of adjacent cells.
        pitch_y: Vertical distance between the top edges of adjacent cells.
        gap_x: Horizontal gap between cells.
        gap_y: Vertical gap between cells.
        frame_x: Width of the frame on the left and right.
        frame_y: Height of the frame at the top and bottom.
    """

    rows: int
    columns: int
    pitch_x: int
    pitch_y: int
    gap_x: int
    gap_y: int
    frame_x: int
    frame_y: int

    @property
    def tile_width(self) -> int:
        """Width of a tile."""
        return self.pitch_x - self.gap_x

    @property
    def tile_height(self) -> int:
        """Height of a tile."""
        return self.pitch_y - self.gap_y

    @property
    def label_columns(self) -> int:
        """Number of characters that fit into the label of a tile."""
        return self.tile_width // 2

    @property
    def width(self) -> int:
        """Width of the board with its frame."""
        return self.columns * self.pitch_x - self.gap_x + 2 * self.frame_x

    @property
    def height(self) -> int:
        """Height of the board with its frame."""
        return self.rows * self.pitch_y - self.gap_y + 2 * self.frame_y

    @property
    def top(self) -> int:
        """Blank pixels above the board that align its lower edge with a character row."""
        return self.height % 2

    @property
    def width_columns(self) -> int:
        """Width of the board with its frame, in characters."""
        return -(-self.width // 2)

    @property
    def height_rows(self) -> int:
        """Height of the board with its frame, in characters."""
        return -(-self.height // 2)

    def corner(self, row: float, column: float) -> tuple[int, int]:
        """Return the top left pixel ``(x, y)`` of a cell or of a tile moving between cells."""
        return (
            self.frame_x + round(column * self.pitch_x),
            self.top + self.frame_y + round(row * self.pitch_y),
        )


def fit(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    """Return the largest grid for a board of `rows` x `columns` on `width` x `height` characters.

    If there is not enough room, the frame is omitted first, then the gaps. Returns None if the
    cells would be smaller than a character.
    """
    for frame, min_columns in ((1, 4), (0, 3)):
        grid = _spaced(2 * width, 2 * height, rows, columns, frame)
        if grid is not None and grid.label_columns >= min_columns:
            return grid
    return _gapless(width, height, rows, columns)


def _spaced(width: int, height: int, rows: int, columns: int, frame: int) -> TerminalGrid | None:
    """Return a layout with gaps for `width` x `height` pixels, or None if it does not fit."""
    across, down = (width + 2 - 4 * frame) // columns, (height + 1 - 2 * frame) // rows
    # Pixels are half as wide as they are high. Tiles are square, or wider if their digits need
    # room.
    pitch_y = min(down, max((across - 2) // 2, MIN_PITCH))
    pitch_x = min(across, max(2 * pitch_y + 2, 2 * FULL_COLUMNS + 2)) // 2 * 2
    if pitch_x < 4 or pitch_y < MIN_PITCH:
        return None
    return TerminalGrid(rows, columns, pitch_x, pitch_y, 2, 1, 2 * frame, frame)


def _gapless(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    cell_columns = min(width // columns, FULL_COLUMNS)
    if cell_columns < 1 or height < rows:
        return None
    gap = 2 if cell_columns > MAX_POWER_COLUMNS else 0
    return TerminalGrid(rows, columns, 2 * cell_columns, 2, gap, gap_y=0, frame_x=0, frame_y=0)


class Arrangement(Enum):
    """Position of the panel, beside or below the board. COMPACT also omits the key bar."""

    WIDE = "wide"
    TALL = "tall"
    COMPACT = "compact"
    NONE = "too-small"


def arrange(
    width: int, height: int, rows: int, columns: int
) -> tuple[Arrangement, TerminalGrid | None]:
    """Return the most legible arrangement that fits, and the layout of its cells."""
    # Space for the board, without the panel, the key bar, the score and the message.
    sizes = {
        Arrangement.WIDE: (width - PANEL_COLUMNS - sum(MARGINS), height - 1),
        Arrangement.TALL: (width, height - 3),
        Arrangement.COMPACT: (width, height - 2),
    }
    grids = {
        arrangement: fit(*size, rows, columns)
        for arrangement, size in sizes.items()
        if min(size) > 0
    }
    none: tuple[Arrangement, TerminalGrid | None] = (Arrangement.NONE, None)
    return max([none, *grids.items()], key=lambda choice: _legibility(choice[1]))


def _legibility(grid: TerminalGrid | None) -> tuple[int, int, int]:
    """Return a sort key that prefers wide labels, then large digits, then tall cells."""
    if grid is None:
        return -1, 0, 0
    columns = min(grid.label_columns, FULL_COLUMNS)
    has_large_digits = dot_size(4, grid.tile_width, grid.tile_height) > (0, 0)
    return columns, has_large_digits, min(grid.pitch_y, COMFORTABLE_PITCH)


# Tile labels

_BASE36 = string.digits + string.ascii_lowercase


def label(value: int, width: int) -> str:
    """Return a tile's label with at most `width` characters.

    Labels show all digits if they fit, and otherwise thousands (``131k``). Labels of one or two
    characters show exponents, such as ``11`` for 2048. Pass the same `width` for all tiles of a
    board, so that different tiles have different labels.

    >>> label(131072, 6), label(131072, 4), label(131072, 3), label(131072, 2)
    ('131072', '131k', '.1M', '17')
    """
    rank = value.bit_length() - 1
    if width == 1:
        return _BASE36[rank] if rank < len(_BASE36) else "·"
    if width <= MAX_POWER_COLUMNS:
        return str(rank) if rank < 100 else "··"
    return next((text for text in spellings(value) if len(text) <= width), "·")
