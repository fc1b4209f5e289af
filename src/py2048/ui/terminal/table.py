"""The table: the board with its scores, messages and keys, arranged for the size of the screen.

It knows nothing of sessions; the application tells it what to show.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from rich.markup import escape
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.geometry import Size
from textual.widgets import Static

from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import BoardView
from py2048.ui.terminal.geometry import (
    LOGO_ROWS,
    PANEL_ROWS,
    Arrangement,
    Geometry,
    Layout,
    arrange,
)
from py2048.ui.terminal.keys import key_bar, key_list
from py2048.ui.terminal.scores import FixedText, Logo, ScoreBox

BANNER_COLUMNS = 28
"""The width of a banner, as in the style sheet."""
BANNER_EDGES = 4
"""The rows that its border and padding take."""
BANNER_ROWS = 10
"""The height of the least board that a banner may cover."""

POWERS_NOTE = "11 means 2048"
"""Explains tiles that are too small for digits."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the table shows beside the board.

    Attributes:
        rules: the name of the rules.
        score: the score, in points.
        best: the best score under these rules.
        moves: how many turns were played.
        help: what kept the game from being a person's alone, such as ``assisted``; or empty.
        player: who plays by itself, and how fast; empty if nobody does.
    """

    rules: str = ""
    score: int = 0
    best: int = 0
    moves: int = 0
    help: str = ""
    player: str = ""


class Table(Container):
    """The whole picture of a game."""

    def __init__(self) -> None:
        super().__init__(id="table")
        self.board = BoardView()
        self._boxes = [
            ScoreBox(title, classes=title.lower()) for title in ("SCORE", "BEST", "SCORE", "BEST")
        ]
        self._logo = Logo()
        self._title, self._about = FixedText(id="title"), FixedText(id="about")
        self._line = FixedText(id="line")
        self._panel_note = FixedText(id="note", markup=False)
        self._message = FixedText(id="message", markup=False)
        self._banner_box = Static(id="banner")
        self._shape = (4, 4)
        self._status = Status()
        self._layout = Layout(Arrangement.NONE, None)
        self._banner = ""
        self._note = ""
        self._unsaved = ""

    @property
    def arrangement(self) -> Arrangement:
        """Where things stand at this size."""
        return self._layout.arrangement

    @property
    def grid(self) -> Geometry | None:
        """The grid of the board at this size; `None` if it does not fit."""
        return self._layout.grid

    @property
    def note(self) -> str:
        """The message that is shown."""
        return self._note

    @property
    def status(self) -> Status:
        """The scores and facts that are shown."""
        return self._status

    def compose(self) -> ComposeResult:
        """Create every part once; the arrangement decides which are seen."""
        with Horizontal(id="header"):
            yield self._title
            yield from self._boxes[:2]
        yield self._line
        with Horizontal(id="middle"):
            with Container(id="stage"):
                yield self.board
                yield self._banner_box
            with Vertical(id="panel"):
                yield self._logo
                with Horizontal(id="boxes"):
                    yield from self._boxes[2:]
                yield self._about
                yield self._panel_note
                yield Static(key_list(), id="keys")
        yield self._message
        yield Static(id="bar")
        yield Static("Too small", id="too-small", markup=False)
        yield Static(id="unsaved", markup=False)

    def set_theme(self, theme: Theme) -> None:
        """Draw the parts that draw themselves with the colours of `theme`."""
        self.board.set_theme(theme)
        self._logo.set_theme(theme)

    def set_shape(self, shape: tuple[int, int]) -> None:
        """Make room for a board of this many rows and columns."""
        if shape != self._shape:
            self._shape = shape
            self._arrange(self.app.size)

    def on_mount(self) -> None:
        """Arrange everything for the first time, before anything is seen."""
        self._arrange(self.app.size)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange everything for the new size."""
        self._arrange(event.size)

    def show_status(self, status: Status) -> None:
        """Show scores and facts."""
        self._status = status
        for box, number in zip(self._boxes, 2 * (status.score, status.best), strict=True):
            box.set_number(number)
        name = f"[bold]{escape(status.rules)}[/] {self._shape[0]}x{self._shape[1]}"
        moves = f"{status.moves} move{'s' * (status.moves != 1)}"
        played = f"[$text-muted]{', '.join(filter(None, (moves, status.help)))}[/]"
        below = f"[$accent]{escape(status.player)}[/]" if status.player else played
        for place in (self._about, self._title):
            place.show(f"{name}\n{below}")
        self._write_line(0)

    def flash(self, points: int) -> None:
        """Let the points of a move stand beside the score for a moment."""
        if points:
            self._write_line(points)
            for box in self._boxes[::2]:
                box.gain(points)

    def say(self, text: str) -> None:
        """Show a message until the next one; lines are joined where there is room for one only."""
        self._note = text
        shown = text or (POWERS_NOTE if self.grid and self.grid.shows_powers else "")
        self._panel_note.show(shown)
        self._message.show(shown.replace("\n", "  "))

    def show_unsaved(self, reason: str) -> None:
        """Say below everything why something is not saved, as long as that is so."""
        self._unsaved = f"Not saved: {reason}" if reason else ""
        self._arrange(self.app.size)

    def set_banner(self, markup: str) -> None:
        """Show a banner over the middle of the board, where it fits; an empty text removes it."""
        if markup != self._banner:
            self._banner = markup
            self._place_banner()

    def _place_banner(self) -> None:
        markup, grid = self._banner, self.grid
        is_roomy = (
            grid is not None
            and grid.width_columns > BANNER_COLUMNS
            and grid.height_rows >= BANNER_ROWS
        )
        banner = self._banner_box
        banner.update(markup)
        banner.display = bool(markup) and is_roomy
        if grid is not None:
            height = markup.count("\n") + 1 + BANNER_EDGES
            banner.styles.offset = (
                (grid.width_columns - BANNER_COLUMNS) // 2,
                (grid.height_rows - height) // 2,
            )

    def _write_line(self, points: int) -> None:
        gain = f" [bold $accent]{points:+}[/]" if points else ""
        status = self._status
        self._line.show(f"[bold]{status.score}[/]{gain} [$text-muted]best {status.best}[/]")

    def _warning_rows(self, size: Size) -> int:
        """How many rows the warning takes, a third of the screen at most."""
        rows = len(textwrap.wrap(self._unsaved, max(1, size.width - 2)))
        return min(rows, size.height // 3)

    def _arrange(self, size: Size) -> None:
        warning = self.query_one("#unsaved", Static)
        warning.update(self._unsaved)
        warning.display = bool(self._unsaved)
        height = size.height - self._warning_rows(size)
        self._layout = layout = arrange(size.width, height, *self._shape)
        for arrangement in Arrangement:
            self.set_class(arrangement is layout.arrangement, f"-{arrangement.value}")
        self.set_class(height < PANEL_ROWS, "-short")
        self.set_class(height < PANEL_ROWS - LOGO_ROWS, "-shorter")
        self.board.set_grid(layout.grid)
        self.query_one("#bar", Static).update(key_bar(size.width))
        self._place_banner()
        self.say(self._note)
