"""The board widget: draws tiles, animates transitions, understands the mouse."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from py2048.board import Board
from py2048.direction import Direction
from py2048.ui.shared.themes import DEFAULT_THEME, Theme
from py2048.ui.terminal.canvas import Canvas, RowKey, Run
from py2048.ui.terminal.drawing import draw_board
from py2048.ui.terminal.geometry import Geometry
from py2048.ui.terminal.motion import Sprite, Transition, still

FRAMES_PER_SECOND = 50
SWIPE_COLUMNS = 4
"""How far the mouse must be dragged sideways to count as a swipe; half as many rows."""


class BoardView(Widget):
    """The board as it is now, or on its way there.

    `show` puts a board on the screen at once; `play` animates the way to it. Either one ends
    whatever is still moving, so the picture never lags behind the game.
    """

    class Pushed(Message):
        """The player swiped or clicked towards a direction."""

        def __init__(self, direction: Direction) -> None:
            super().__init__()
            self.direction = direction

    def __init__(self, *, clock: Callable[[], float] = monotonic, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._clock = clock
        self._palette = DEFAULT_THEME
        self._grid: Geometry | None = None
        self._board: Board | None = None
        self._transition: Transition | None = None
        self._began = 0.0
        self._pace = 1.0
        self._canvas = Canvas(0, 0, self._palette.page)
        self._keys: list[RowKey] = []
        self._strips: list[Strip] = []
        self._is_stale = False
        self._timer: Timer | None = None
        self._pressed: tuple[int, int] | None = None
        self._faded = False
        self._pointer: Direction | None = None

    @property
    def board(self) -> Board | None:
        """The board that is shown, or is being moved to."""
        return self._board

    @property
    def is_moving(self) -> bool:
        """Whether a transition is running."""
        return self._transition is not None

    def on_mount(self) -> None:
        """Prepare the frame timer; it runs only while something moves."""
        self._timer = self.set_interval(1 / FRAMES_PER_SECOND, self._tick, pause=True)

    def set_grid(self, grid: Geometry | None) -> None:
        """Draw on this grid from now on; `None` draws nothing."""
        self._grid = grid
        self.styles.width = grid.width_columns if grid else 0
        self.styles.height = grid.height_rows if grid else 0
        self._redraw()

    def set_theme(self, theme: Theme) -> None:
        """Draw with the colours of `theme` from now on."""
        self._palette = theme
        self._redraw()

    def set_faded(self, faded: bool) -> None:
        """Draw the tiles faint, behind a panel, or at full strength."""
        self._faded = faded
        self._redraw()

    def point(self, direction: Direction | None) -> None:
        """Light up the side of the frame towards `direction`, or no side."""
        self._pointer = direction
        self._redraw()

    def show(self, board: Board) -> None:
        """Put `board` on the screen at once."""
        self._board = board
        self._end()

    def play(self, transition: Transition, pace: float = 1.0) -> None:
        """Animate the way to the transition's board, in `pace` times its usual time."""
        self._board = transition.board
        self._pace = pace
        self._transition = transition
        self._began = self._clock()
        if self._timer is not None:
            self._timer.resume()
        self._redraw()

    def finish(self) -> None:
        """Jump to the end of whatever is moving."""
        if self.is_moving:
            self._end()

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
        return (self._clock() - self._began) / self._pace

    def _sprites(self) -> list[Sprite]:
        if self._board is None:
            return []
        if self._transition is None:
            return still(self._board)
        return self._transition.at(self._elapsed())

    def _redraw(self) -> None:
        """Draw anew, once for all that one event changes."""
        if not self._is_stale:
            self._is_stale = True
            self.call_next(self._draw)

    def _draw(self) -> None:
        """Draw anew and send only the rows that changed: slow links thank you."""
        if not self._is_stale:
            return
        self._is_stale = False
        grid, theme, faded = self._grid, self._palette, self._faded and not self.is_moving
        columns, rows = (grid.width_columns, grid.height_rows) if grid else (0, 0)
        if (columns, rows) != (self._canvas.columns, self._canvas.rows):
            self._canvas, self._keys = Canvas(columns, rows, theme.page), []
        elif not self._canvas.clear(theme.page):
            self._keys = []
        canvas = self._canvas
        if grid is not None:
            draw_board(canvas, grid, theme, self._sprites(), self._pointer, faded=faded)
        keys = [canvas.key(row) for row in range(rows)]
        changed = [row for row in range(rows) if not self._keys or keys[row] != self._keys[row]]
        strips = self._strips if self._keys else [Strip.blank(columns)] * rows
        for row in changed:
            strips[row] = to_strip(canvas.runs(row))
        self._keys, self._strips = keys, strips
        if changed:
            self.refresh(*(Region(0, row, columns, 1) for row in changed))

    def render_line(self, y: int) -> Strip:
        """Return one row of the picture."""
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
        direction = _swipe(event.x - x, event.y - y) or self._edge(event.x, event.y)
        if direction is not None:
            self.post_message(self.Pushed(direction))

    def _edge(self, x: int, y: int) -> Direction | None:
        """The side of the board that a click is near; none in its middle."""
        across = (x + 0.5) / self.size.width - 0.5
        down = (y + 0.5) / self.size.height - 0.5
        if max(abs(across), abs(down)) < 0.2:
            return None
        if abs(across) >= abs(down):
            return Direction.RIGHT if across > 0 else Direction.LEFT
        return Direction.DOWN if down > 0 else Direction.UP


def _swipe(across: int, down: int) -> Direction | None:
    """The direction of a drag, in characters; none if it was too short."""
    # A character is about twice as high as it is wide.
    if max(abs(across), 2 * abs(down)) < SWIPE_COLUMNS:
        return None
    if abs(across) >= 2 * abs(down):
        return Direction.RIGHT if across > 0 else Direction.LEFT
    return Direction.DOWN if down > 0 else Direction.UP


def to_strip(runs: list[Run]) -> Strip:
    """Return the runs of one row as Textual draws them."""
    return Strip(
        [Segment(run.text, Style(color=run.ink, bgcolor=run.ground, bold=run.bold)) for run in runs]
    )
