"""The screen of a game: the board with its scores, messages and keys, arranged by size.

It knows nothing of sessions; the application tells it what to show.
"""

from __future__ import annotations

import textwrap

from rich.markup import escape
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Horizontal
from textual.geometry import Size
from textual.timer import Timer
from textual.widgets import Static

from py2048.ui.shared.actions import BY_NAME, UserAction
from py2048.ui.shared.result import Result
from py2048.ui.shared.screen import CoachStatus, Status
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import (
    Arrangement,
    TerminalBoard,
    TerminalGrid,
    arrange,
)

BANNER_COLUMNS = 28
"""The width of a banner, as in the style sheet."""
BANNER_EDGES = 4
"""The rows that its border and padding take."""
BANNER_ROWS = 10
"""The height of the least board that a banner may cover."""

GAIN_S = 0.6
"""How long the points of a move stand beside the score."""

TITLE_COLUMNS = 11

MIN_BAR, MAX_BAR = 4, 24
"""The columns of the coach's bar."""

POWERS_NOTE = "11 means 2048"
"""Explains tiles that are too small for digits."""


class GameView(Container):
    """Everything on the screen of a game.

    Attributes:
        board: the board.
        arrangement: where things stand at this size.
        grid: the grid of the board at this size; `None` if it does not fit.
        status: the scores and facts that are shown.
        note: the message that is shown.
    """

    def __init__(self) -> None:
        super().__init__(id="game")
        self.board = TerminalBoard()
        self._score, self._best = ScoreBox("SCORE"), ScoreBox("BEST")
        self._about = FixedText(id="about")
        self._line = FixedText(id="line")
        self._panel_note = FixedText(id="note", markup=False)
        self._message = FixedText(id="message", markup=False)
        self._coach = FixedText(id="coach", markup=False)
        self._coach_status: CoachStatus | None = None
        self._banner_box = Static(id="banner")
        self._shape = (4, 4)
        self.status, self.note = Status(), ""
        self.arrangement = Arrangement.NONE
        self.grid: TerminalGrid | None = None
        self._banner: Result | None = None
        self._unsaved = ""

    def compose(self) -> ComposeResult:
        """Create every part once; the arrangement decides which are seen."""
        yield self._line
        with Horizontal(id="middle"):
            with Container(id="stage"):
                yield self.board
                yield self._banner_box
            with Container(id="facts"):
                with Horizontal(id="boxes"):
                    yield self._score
                    yield self._best
                yield self._about
                yield self._panel_note
        yield self._message
        yield Static(id="bar")
        yield Static("Too small", id="too-small", markup=False)
        yield self._coach
        yield Static(id="unsaved", markup=False)

    def set_theme(self, theme: Theme) -> None:
        """Draw the parts that draw themselves with the colours of `theme`."""
        self.board.set_theme(theme)

    def set_shape(self, shape: tuple[int, int]) -> None:
        """Make room for a board of this many rows and columns."""
        if shape != self._shape:
            self._shape = shape
            self._arrange(self._room)

    @property
    def _room(self) -> Size:
        """The room there is: the whole screen until anything is laid out."""
        return self.size if self.size.area else self.app.size

    def on_mount(self) -> None:
        """Arrange everything for the first time, before anything is seen."""
        self._arrange(self._room)

    def on_resize(self, event: events.Resize) -> None:
        """Arrange everything for the new size."""
        self._arrange(event.size)

    def show_status(self, status: Status) -> None:
        """Show scores and facts."""
        self.status = status
        self._score.set_number(status.score)
        self._best.set_number(status.best)
        size = f"{self._shape[0]}x{self._shape[1]}"
        name = f"[bold]{escape(status.rules)}[/]" + f" {size}" * (size != status.rules)
        played = f"[$text-muted]{', '.join(status.facts)}[/]"
        below = f"[$accent]{escape(status.note)}[/]" if status.note else played
        self._about.show(f"{name}\n{below}")
        self._write_line(0)

    def show_gain(self, points: int) -> None:
        """Show the points of a move beside the score for a moment."""
        if points:
            self._write_line(points)
            self._score.gain(points)

    def say(self, text: str) -> None:
        """Show a message until the next one.

        Below the board its lines are joined; a long one takes the row of the keys, too.
        """
        self.note = text
        shown = text or (POWERS_NOTE if self.grid and self.grid.shows_powers else "")
        self._panel_note.show(shown)
        joined = shown.replace("\n", "  ")
        self._message.show(joined)
        self.set_class(len(joined) > self._room.width, "-long")

    def show_unsaved(self, reason: str) -> None:
        """Say below everything why something is not saved, as long as that is so."""
        self._unsaved = f"Not saved: {reason}" if reason else ""
        self._arrange(self._room)

    def show_coach(self, status: CoachStatus | None) -> None:
        """Show below everything what the coach says, or take its line away."""
        is_new = (status is None) != (self._coach_status is None)
        self._coach_status = status
        self._write_coach(self._room.width)
        if is_new:
            self._arrange(self._room)

    def _write_coach(self, width: int) -> None:
        self._coach.show(coach_line(self._coach_status, width - 2) if self._coach_status else "")

    def cover(self, banner: Result | None) -> None:
        """Cover the middle of the board with a result, where it fits, or uncover it."""
        if banner != self._banner:
            self._banner = banner
            self._place_banner()

    def _place_banner(self) -> None:
        banner, grid = self._banner, self.grid
        self._banner_box.display = False
        if banner is None or grid is None:
            return
        across, down = grid.width_columns - BANNER_COLUMNS, grid.height_rows
        self._banner_box.display = across > 0 and down >= BANNER_ROWS
        markup = _banner_markup(banner)
        self._banner_box.update(markup)
        height = markup.count("\n") + 1 + BANNER_EDGES
        self._banner_box.styles.offset = across // 2, (down - height) // 2

    def _write_line(self, points: int) -> None:
        gain = f" [bold $accent]{points:+}[/]" if points else ""
        status = self.status
        self._line.show(f"[bold]{status.score}[/]{gain} [$text-muted]best {status.best}[/]")

    def _warning_rows(self, size: Size) -> int:
        """How many rows the warning takes, a third of the screen at most."""
        rows = len(textwrap.wrap(self._unsaved, max(1, size.width - 2)))
        return min(rows, size.height // 3)

    def _arrange(self, size: Size) -> None:
        warning = self.query_one("#unsaved", Static)
        warning.update(self._unsaved)
        warning.display = bool(self._unsaved)
        self._coach.set_class(self._coach_status is not None, "-on")
        self._write_coach(size.width)
        height = size.height - self._warning_rows(size) - (self._coach_status is not None)
        self.arrangement, self.grid = arrange(size.width, height, *self._shape)
        for arrangement in Arrangement:
            self.set_class(arrangement is self.arrangement, f"-{arrangement.value}")
        self.board.set_grid(self.grid)
        self.query_one("#bar", Static).update(key_bar(size.width))
        self._place_banner()
        self.say(self.note)


class FixedText(Static):
    """A text in a place whose size does not depend on it, so that a new text moves nothing."""

    def show(self, text: str) -> None:
        """Show a text, if it is another."""
        if text != self.content:
            self.update(text, layout=False)


class ScoreBox(FixedText):
    """A number under its name; points just gained stand beside the name for a moment."""

    def __init__(self, title: str) -> None:
        super().__init__(classes=f"box {title.lower()}")
        self._title, self._number, self._gain = title, 0, ""
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Show the number from the start."""
        self._write()

    def set_number(self, number: int) -> None:
        """Show this number."""
        self._number = number
        self._write()

    def gain(self, points: int) -> None:
        """Show points beside the name for a moment."""
        self._write(f"{points:+}")
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(GAIN_S, lambda: self._write(""))

    def _write(self, gain: str | None = None) -> None:
        self._gain = self._gain if gain is None else gain
        gap = " " * max(1, TITLE_COLUMNS - len(self._title) - len(self._gain))
        name = f"[$text-muted]{self._title}[/]{gap}[bold $accent]{self._gain}[/]"
        self.show(f"{name}\n[bold]{self._number:,}[/]")


def coach_line(status: CoachStatus, width: int) -> str:
    """Return the coach's bar and words in a line of `width` columns."""
    text = status.text if len(status.text) + MIN_BAR < width else status.short
    bar = min(max(width - len(text) - 1, MIN_BAR), MAX_BAR)
    filled = round(bar * status.share)
    line = f"{'█' * filled}{'░' * (bar - filled)} {text}"
    return line if len(line) <= width else f"{line[: width - 1]}…"


# Markup

FINAL_ACTIONS = ("new", "undo", "review")
"""The links of a banner over a game that is over."""

RANKED = "undo new hint help quit autoplay rules review theme redo player coach"
"""The keys below the board, the most useful first."""


def key_of(action: UserAction) -> str:
    """Return the keys of an action as a terminal's users call them: in lower case, but F1."""
    return action.shown if action.shown[1:].isdigit() else action.shown.lower()


def key_bar(width: int) -> str:
    """Return the most useful keys as Textual markup in a line of at most `width` columns."""
    entries: list[str] = []
    for name in RANKED.split():
        width -= len(_short_key(name)) + len(BY_NAME[name].label) + 2
        if width < -1:
            break
        entries.append(_entry(name))
    return " ".join(entries)


def _short_key(name: str) -> str:
    return "␣" if name == "autoplay" else key_of(BY_NAME[name])


def _entry(name: str) -> str:
    return f"[bold $accent]{_short_key(name)}[/] [@click=app.do('{name}')]{BY_NAME[name].label}[/]"


def _banner_markup(banner: Result) -> str:
    """Return a result as Textual markup; the links of a game that is over can be clicked."""
    room = BANNER_COLUMNS - 4
    lines = "\n".join(escape(each) for line in banner.lines for each in textwrap.wrap(line, room))
    links = "  ".join(_entry(name) for name in FINAL_ACTIONS) if banner.is_final else ""
    return f"[bold $accent]{escape(banner.title)}[/]\n\n{lines}" + (links and f"\n\n{links}")
