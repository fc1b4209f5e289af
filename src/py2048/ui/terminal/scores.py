"""The small parts beside the board: the logo and the boxes with numbers."""

from __future__ import annotations

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from py2048.ui.shared.themes import DEFAULT_THEME, Theme
from py2048.ui.terminal.board import to_strip
from py2048.ui.terminal.canvas import Canvas

GAIN_SECONDS = 0.6
"""How long the points of a move stand beside the score."""

TITLE_COLUMNS = 11


class Logo(Widget):
    """The four digits of the name, as tiles."""

    _tiles = (("2", 2048), ("0", 16), ("4", 8), ("8", 32))

    def __init__(self) -> None:
        super().__init__()
        self._palette = DEFAULT_THEME

    def set_theme(self, theme: Theme) -> None:
        """Draw with the colours of `theme` from now on."""
        self._palette = theme
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one row of the picture."""
        canvas = Canvas(self.size.width, self.size.height, self._palette.page)
        for index, (digit, value) in enumerate(self._tiles):
            style = self._palette.tile(value)
            canvas.rectangle(12 * index, 0, 10, 5, style.background)
            canvas.write(6 * index + 2, 1, digit, style.text)
        return to_strip(canvas.runs(y))


class ScoreBox(Static):
    """A number under its name; points just gained stand beside the name for a moment."""

    def __init__(self, title: str, *, classes: str) -> None:
        super().__init__(classes=f"box {classes}")
        self._title = title
        self._number = 0
        self._gain = ""
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Show the number from the start."""
        self._write()

    def set_number(self, number: int) -> None:
        """Show this number."""
        if number != self._number:
            self._number = number
            self._write()

    def gain(self, points: int) -> None:
        """Show points beside the name for a moment."""
        self._gain = f"{points:+}"
        self._write()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(GAIN_SECONDS, self._forget_gain)

    def _forget_gain(self) -> None:
        self._gain = ""
        self._write()

    def _write(self) -> None:
        gap = " " * max(1, TITLE_COLUMNS - len(self._title) - len(self._gain))
        name = f"[$text-muted]{self._title}[/]{gap}[bold $accent]{self._gain}[/]"
        self.update(f"{name}\n[bold]{self._number:,}[/]", layout=False)


class FixedText(Static):
    """A text in a place whose size does not depend on it, so that a new text moves nothing."""

    def show(self, text: str) -> None:
        """Show a text, if it is another."""
        if text != self.content:
            self.update(text, layout=False)
