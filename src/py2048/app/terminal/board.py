"""The board in a terminal: a widget that draws tiles, animates transitions, understands the mouse.

The board is drawn on *pixels*: each character cell is two pixels wide and two high, since block
characters (``▘``, ``▐``, ``▄`` …) can colour its quarters. Sizes ending in ``_columns`` and
``_rows`` count characters; everything else here counts pixels.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import groupby
from time import monotonic
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.presentation.motion import BoardTransition, Sprite, direction_of_gesture, still
from py2048.presentation.screen import spellings
from py2048.presentation.themes import DEFAULT_THEME, Theme

FRAMES_PER_SECOND = 50
SWIPE_COLUMNS = 4
"""How far the mouse must be dragged sideways to count as a swipe; half as many rows."""


class TerminalBoard(Widget):
    """The board as it is now, or on its way there.

    `show` ends whatever is still moving, so the picture never lags behind the game.

    Attributes:
        board: the board that is shown, or is being moved to.
    """

    class Pushed(Message):
        """The player swiped or clicked towards a direction."""

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
        self._timer: Timer | None = None
        self._pressed: tuple[int, int] | None = None
        self._pointer: Direction | None = None
        self._played: Direction | None = None

    @property
    def is_moving(self) -> bool:
        """Whether a transition is running."""
        return self._transition is not None

    def on_mount(self) -> None:
        """Prepare the frame timer; it runs only while something moves."""
        self._timer = self.set_interval(1 / FRAMES_PER_SECOND, self._tick, pause=True)

    def set_grid(self, grid: TerminalGrid | None) -> None:
        """Draw on this grid from now on; `None` draws nothing."""
        self._grid = grid
        self.styles.width = grid.width_columns if grid else 0
        self.styles.height = grid.height_rows if grid else 0
        self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Draw with the colours of `theme` from now on."""
        self._palette = theme
        self._redraw()

    def point(self, direction: Direction | None, played: Direction | None = None) -> None:
        """Light up the side of the frame towards `direction` and the one that was played."""
        self._pointer, self._played = direction, played
        self._redraw()

    def show(self, transition: BoardTransition, pace: float) -> None:
        """Show a board become another in `pace` times the usual time; 0 shows the end at once."""
        self.board = transition.board
        if not pace:
            self._end()
            return
        self._pace = pace
        self._transition = transition
        self._began = monotonic()
        if self._timer is not None:
            self._timer.resume()
        self._redraw()

    def _end(self) -> None:
        self._transition = None
        if self._timer is not None:
            self._timer.pause()
        self._redraw()

    def _tick(self) -> None:
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
        """Draw anew, once for all that one event changes."""
        if not self._is_stale:
            self._is_stale = True
            self.call_next(self._draw)

    def _draw(self) -> None:
        """Draw anew and send only the rows that changed: slow links matter."""
        if not self._is_stale:
            return
        self._is_stale = False
        grid, theme = self._grid, self._palette
        columns, rows = (grid.width_columns, grid.height_rows) if grid else (0, 0)
        before, canvas = self._canvas, Canvas(columns, rows, theme.page)
        if grid is not None:
            draw_board(canvas, grid, theme, self._sprites(), self._pointer, self._played)
        if (before.columns, before.rows) == (columns, rows):
            changed = [row for row in range(rows) if canvas.key(row) != before.key(row)]
        else:
            changed, self._strips = list(range(rows)), [Strip.blank(columns)] * rows
        self._canvas = canvas
        for row in changed:
            self._strips[row] = to_strip(canvas.runs(row))
        if changed:
            self.refresh(*(Region(0, row, columns, 1) for row in changed))

    def render_line(self, y: int) -> Strip:
        """Return one row of the picture.

        Drawn anew while rows are painted, a row that has been passed would stay as it was.
        """
        if y >= len(self._strips):
            self._draw()
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember where a click or a swipe begins."""
        self._pressed = event.x, event.y
        self.capture_mouse()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        """End a click or a swipe, and say where it pointed."""
        self.release_mouse()
        if self._pressed is None:
            return
        (x, y), self._pressed = self._pressed, None
        if not self.size:  # the terminal has shrunk since the button went down
            return
        # A character is about twice as high as it is wide.
        start, end = (x + 0.5, 2 * y + 1), (event.x + 0.5, 2 * event.y + 1)
        size = self.size.width, 2 * self.size.height
        direction = direction_of_gesture(start, end, size, SWIPE_COLUMNS)
        if direction is not None:
            self.post_message(self.Pushed(direction))


def to_strip(runs: list[Run]) -> Strip:
    """Return the runs of one row as Textual draws them."""
    return Strip(
        [Segment(run.text, Style(color=run.ink, bgcolor=run.ground, bold=run.bold)) for run in runs]
    )


# Drawing tiles on a canvas

Place = tuple[int, int, int, int]
"""``(x, y, width, height)`` in pixels."""

MARK = 0.36
"""How much of a side of the board a mark on it takes, in its middle."""


def draw_board(
    canvas: Canvas,
    grid: TerminalGrid,
    theme: Theme,
    sprites: list[Sprite],
    pointer: Direction | None = None,
    played: Direction | None = None,
) -> None:
    """Draw the frame, the empty cells and the tiles.

    A mark stands on the side of the frame towards `pointer`, the best, and on the one `played`.
    """
    width, height = grid.width, grid.height
    canvas.rectangle(0, grid.top, width, height, theme.board)
    for row in range(grid.rows):
        for column in range(grid.columns):
            _draw_rectangle(canvas, grid, Sprite(0, row, column), theme.empty)
    for sprite in sprites:
        _draw_tile(canvas, grid, theme, sprite)
    for side, colour in ((played, theme.danger), (pointer, theme.good)):
        if side is not None and grid.frame_x:
            _draw_mark(canvas, grid, colour, side)


def _draw_mark(canvas: Canvas, grid: TerminalGrid, colour: str, side: Direction) -> None:
    width, height = grid.width, grid.height
    if side.is_vertical:
        long = 2 * round(width * MARK / 2)
        y = grid.top + (height - grid.frame_y if side is Direction.DOWN else 0)
        canvas.rectangle((width - long) // 4 * 2, y, long, grid.frame_y, colour)
    else:
        long = 2 * round(height * MARK / 2)
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


def _draw_rectangle(canvas: Canvas, grid: TerminalGrid, sprite: Sprite, colour: str) -> Place:
    """Fill a cell-sized rectangle, scaled about its centre; return where it lies."""
    x, y = grid.corner(sprite.row, sprite.column)
    # A swollen tile fills the gap around it, by at least one pixel where there is a gap.
    across = _growth(grid.tile_width, sprite.scale, grid.gap_x)
    down = _growth(grid.tile_height, sprite.scale, grid.gap_y)
    place = x - across, y - down, grid.tile_width + 2 * across, grid.tile_height + 2 * down
    canvas.rectangle(*place, colour)
    return place


def _growth(length: int, scale: float, gap: int) -> int:
    """Return how many pixels a side moves outwards, at most the gap; inwards if negative."""
    if scale > 1:
        return min(gap, max(1, round(length * (scale - 1) / 2)))
    return round(length * (scale - 1) / 2)


# Large digits made of dots

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
    """Return how many dots wide a number is; a comma or a point stands between thousands."""
    return sum(len(_DIGITS[each][0]) + 1 for each in text) - 1


def digit_dots(text: str) -> Iterator[tuple[int, int]]:
    """Yield the dots ``(x, y)`` of a number, from its top left."""
    left = 0
    for digit in text:
        for y, row in enumerate(_DIGITS[digit]):
            yield from ((left + x, y) for x, dot in enumerate(row) if dot == "#")
        left += len(row) + 1


def dot_size(count: int, width: int, height: int) -> tuple[int, int]:
    """Return how large the dots of `count` digits are on a tile, in pixels; 0 if they do not fit.

    A dot is square, two pixels by one, or narrower from three digits on, down to half as wide; no
    number has large digits where 2048 has none.
    """
    least = 4 * count - 1
    if height < DIGIT_HEIGHT + 2 or width < max(least, 15) + 1:
        return 0, 0
    for down in range(max(1, int(0.7 * height / DIGIT_HEIGHT)), 0, -1):
        across = max(down, min((4 if count < 3 else 3) * down // 2, int(0.8 * width / least)))
        if across * least < width:
            return across, down
    return 0, 0


def draw_digits(
    canvas: Canvas, text: str, at: tuple[int, int], dot: tuple[int, int], colour: str
) -> None:
    """Draw a number with dots of this size from its top left corner."""
    for x, y in digit_dots(text):
        canvas.rectangle(at[0] + dot[0] * x, at[1] + dot[1] * y, *dot, colour)


# A canvas of quarter characters

# One character for each set of filled quarters: bit 1 top left, 2 top right, 4 bottom left,
# 8 bottom right.
_QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"


class Run(NamedTuple):
    """Neighbouring characters of one row with the same colours."""

    text: str
    ink: str
    ground: str
    bold: bool


class Canvas:
    """A picture of `columns` x `rows` characters, two pixels wide and two high each."""

    def __init__(self, columns: int, rows: int, ground: str) -> None:
        self.columns, self.rows = columns, rows
        self._pixels = [[ground] * (2 * columns) for _ in range(2 * rows)]
        self._text: list[dict[int, tuple[str, str]]] = [{} for _ in range(rows)]

    def key(self, row: int) -> object:
        """Return what the look of a row depends on."""
        return self._pixels[2 * row], self._pixels[2 * row + 1], self._text[row]

    def rectangle(self, x: int, y: int, width: int, height: int, colour: str) -> None:
        """Fill a rectangle of pixels, over what is there; parts outside the canvas are cut off."""
        left, right = max(x, 0), min(x + width, 2 * self.columns)
        if right <= left:
            return
        for line in range(max(y, 0), min(y + height, 2 * self.rows)):
            self._pixels[line][left:right] = [colour] * (right - left)
            text = self._text[line // 2]
            for column in [each for each in text if left // 2 <= each < (right + 1) // 2]:
                del text[column]

    def write(self, column: int, row: int, text: str, colour: str) -> None:
        """Write bold characters onto the picture; those outside the canvas are cut off."""
        for at, character in enumerate(text, start=column):
            if 0 <= row < self.rows and 0 <= at < self.columns:
                self._text[row][at] = character, colour

    def runs(self, row: int) -> list[Run]:
        """Return one row of characters as runs, from the left."""
        top, bottom, text = self._pixels[2 * row], self._pixels[2 * row + 1], self._text[row]
        quarters = zip(top[::2], top[1::2], bottom[::2], bottom[1::2], strict=True)
        cells = [
            _letter(*text[column], each) if column in text else _block(each)
            for column, each in enumerate(quarters)
        ]
        return [
            Run("".join(cell.text for cell in group), *look)
            for look, group in groupby(cells, key=lambda cell: cell[1:])
        ]

    def content(self) -> list[Content]:
        """Return the rows as texts for other widgets."""
        return [
            Content.assemble(
                *(
                    (run.text, f"{'bold ' * run.bold}{run.ink} on {run.ground}")
                    for run in self.runs(row)
                )
            )
            for row in range(self.rows)
        ]


Quarters = tuple[str, str, str, str]
"""The colours of a character's top left, top right, bottom left and bottom right."""


def _letter(character: str, ink: str, quarters: Quarters) -> Run:
    """Return a letter on the one colour that most of its character has."""
    return Run(character, ink, max(quarters, key=quarters.count), bold=True)


@lru_cache(maxsize=1 << 14)
def _block(quarters: Quarters) -> Run:
    """Return the character with two colours that looks most like four coloured quarters.

    Where three colours meet, which happens only while tiles move, the rarer ones give way.
    """
    (ground, count), *others = Counter(quarters).most_common()
    if count == 4:
        return Run(" ", ground, ground, bold=False)
    ink = others[0][0]
    mask = sum(1 << bit for bit, colour in enumerate(quarters) if colour != ground)
    if _QUARTERS[mask] in "▄▐":
        # In some fonts the lower half ends above the next row, which shows as a line across a
        # tile; the upper half with its colours exchanged has no such edge.
        return Run(_QUARTERS[15 - mask], ground, ink, bold=False)
    return Run(_QUARTERS[mask], ink, ground, bold=False)


# The layout of the screen, from a large one down to 20 x 10, and labels for tiles

FULL_WIDTH = 6
"""Columns that show every tile up to 131072 in digits."""

POWERS_WIDTH = 2
"""At this width and below a label is the tile's rank, since digits would not fit."""

MIN_PITCH = 4
"""Pixels from one cell's top to the next one's, at least, for gaps between the cells."""

COMFORTABLE_PITCH = 8
"""Tiles of this number of pixels need not grow at the cost of what stands beside the board."""

PANEL_COLUMNS = 22
MARGINS = (2, 3, 2)
"""The columns left of the board, between it and the panel, and right of the panel."""


@dataclass(frozen=True, slots=True)
class TerminalGrid:
    """The grid of a board: how far apart its cells are and how wide the frame is."""

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
        """The width of a tile."""
        return self.pitch_x - self.gap_x

    @property
    def tile_height(self) -> int:
        """The height of a tile."""
        return self.pitch_y - self.gap_y

    @property
    def label_columns(self) -> int:
        """How many characters fit on a tile."""
        return self.tile_width // 2

    @property
    def width(self) -> int:
        """The width of the board with its frame."""
        return self.columns * self.pitch_x - self.gap_x + 2 * self.frame_x

    @property
    def height(self) -> int:
        """The height of the board with its frame."""
        return self.rows * self.pitch_y - self.gap_y + 2 * self.frame_y

    @property
    def top(self) -> int:
        """What is left free above the board, so that it ends with a row of characters."""
        return self.height % 2

    @property
    def width_columns(self) -> int:
        """The width of the board with its frame, in characters."""
        return -(-self.width // 2)

    @property
    def height_rows(self) -> int:
        """The height of the board with its frame, in characters."""
        return -(-self.height // 2)

    @property
    def shows_powers(self) -> bool:
        """Whether tiles are labelled with their rank, for want of room."""
        return self.label_columns <= POWERS_WIDTH

    @property
    def has_large_digits(self) -> bool:
        """Whether numbers are drawn with dots."""
        return dot_size(4, self.tile_width, self.tile_height) > (0, 0)

    def corner(self, row: float, column: float) -> tuple[int, int]:
        """Return the top left pixel ``(x, y)`` of a cell, or of a place between cells."""
        return (
            self.frame_x + round(column * self.pitch_x),
            self.top + self.frame_y + round(row * self.pitch_y),
        )


def fit(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    """Return the largest grid for a board of `rows` x `columns` on `width` x `height` characters.

    Roomy boards have a frame and square tiles. Smaller ones give up the frame, then the gaps;
    `None` means that not even one character per cell fits.
    """
    for frame, least_label in ((1, 4), (0, 3)):
        grid = _spaced(2 * width, 2 * height, rows, columns, frame)
        if grid is not None and grid.label_columns >= least_label:
            return grid
    return _gapless(width, height, rows, columns)


def _spaced(width: int, height: int, rows: int, columns: int, frame: int) -> TerminalGrid | None:
    """Return a grid with gaps, with a frame or without (1 or 0), on `width` x `height` pixels."""
    across, down = (width + 2 - 4 * frame) // columns, (height + 1 - 2 * frame) // rows
    # Two pixels are about as wide as one is high, and as a gap; narrow tiles may be wider.
    high = min(down, max((across - 2) // 2, MIN_PITCH))
    wide = min(across, max(2 * high + 2, 2 * FULL_WIDTH + 2)) // 2 * 2
    if wide < 4 or high < MIN_PITCH:
        return None
    return TerminalGrid(rows, columns, wide, high, 2, 1, 2 * frame, frame)


def _gapless(width: int, height: int, rows: int, columns: int) -> TerminalGrid | None:
    wide = min(width // columns, FULL_WIDTH)
    if wide < 1 or height < rows:
        return None
    gap = 2 if wide > POWERS_WIDTH else 0
    return TerminalGrid(rows, columns, 2 * wide, 2, gap_x=gap, gap_y=0, frame_x=0, frame_y=0)


class Arrangement(Enum):
    """Where the panel is: beside the board, or below it; or how little is left of it."""

    WIDE = "wide"
    TALL = "tall"
    COMPACT = "compact"
    NONE = "too-small"


def arrange(
    width: int, height: int, rows: int, columns: int
) -> tuple[Arrangement, TerminalGrid | None]:
    """Return the arrangement that shows a board of `rows` x `columns` best, and the board's grid.

    The grid is what there is room for.
    """
    rooms = {
        Arrangement.WIDE: (width - PANEL_COLUMNS - sum(MARGINS), height - 1),  # below it the keys
        Arrangement.TALL: (width, height - 3),  # the score, a message and the keys
        Arrangement.COMPACT: (width, height - 2),  # the score and a message
    }
    grids = {
        arrangement: fit(across, down, rows, columns)
        for arrangement, (across, down) in rooms.items()
        if across > 0 and down > 0
    }
    none: tuple[Arrangement, TerminalGrid | None] = (Arrangement.NONE, None)
    return max([none, *grids.items()], key=lambda choice: _legibility(choice[1]))


def _legibility(grid: TerminalGrid | None) -> tuple[int, int, int]:
    """Rate how well a grid reads: digits before powers, large ones, height up to a comfort."""
    if grid is None:
        return -1, 0, 0
    columns = min(grid.label_columns, FULL_WIDTH)
    return columns, grid.has_large_digits, min(grid.pitch_y, COMFORTABLE_PITCH)


# Labels of tiles

_BASE36 = string.digits + string.ascii_lowercase


def label(value: int, width: int) -> str:
    """Return the text for a tile on `width` columns, at most that long.

    Digits where they fit, then thousands (``131k``), and on one or two columns the rank: ``11``
    is 2048. A board uses one width for all its tiles, so that a label has one meaning.

    >>> label(131072, 6), label(131072, 4), label(131072, 3), label(131072, 2)
    ('131072', '131k', '.1M', '17')
    """
    rank = value.bit_length() - 1
    if width == 1:
        return _BASE36[rank] if rank < len(_BASE36) else "·"
    if width <= POWERS_WIDTH:
        return str(rank) if rank < 100 else "··"
    return next((text for text in spellings(value) if len(text) <= width), "·")
