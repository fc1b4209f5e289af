"""`BoardScreen`: a board with words beside it over the game, for reviews and for practice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from py2048.direction import Direction
from py2048.ui.shared.actions import UserAction
from py2048.ui.shared.review import DirectionRow
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import TerminalBoard, fit
from py2048.ui.terminal.dialogs import Answer, ModalDialog

ARROWS = {Direction.UP: "↑", Direction.DOWN: "↓", Direction.LEFT: "←", Direction.RIGHT: "→"}

FACTS_COLUMNS = 34
WIDE_COLUMNS = 64
"""The width of the facts beside the board, and of the least screen that has them there."""

LEAST_MARKED = 36
"""The least width at which words mark the best direction and the one played."""

NARROW_FACTS_ROWS = 7
"""The rows of the facts below the board."""

LEAST_GRAPH_HEIGHT = 16
"""The height of the least screen with a graph and a title."""

MOST_GRAPH_ROWS = 9


class BoardScreen(ModalDialog[Answer]):
    """A board with its facts, beside it or below it, over a graph if there is one.

    Args:
        theme: the colours, as the terminal can show them.

    Attributes:
        keys: what the line at the bottom says, the most useful first.
        graph: the graph.
    """

    keys: ClassVar[tuple[str, ...]]
    graph: Widget | None = None

    def __init__(self, theme: Theme) -> None:
        super().__init__(classes="board-screen")
        self.board = TerminalBoard()
        self.board.set_theme(theme)
        self.facts = Static(id="screen-facts")
        self._title = Static(id="screen-title", markup=False)
        self._bar = Static(id="screen-bar", markup=False)

    @property
    @abstractmethod
    def heading(self) -> str:
        """The line at the top."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The size of the board."""

    @abstractmethod
    def refresh_facts(self) -> None:
        """Show the board and the facts as they are now."""

    def compose(self) -> ComposeResult:
        """Lay out the title, the board with its facts, the graph and the keys."""
        yield self._title
        with Container(id="screen-middle"):
            with Container(id="screen-stage"):
                yield self.board
            with VerticalScroll(id="screen-side", can_focus=False):
                yield self.facts
        if self.graph is not None:
            yield self.graph
        yield self._bar

    def on_mount(self) -> None:
        """Show what there is."""
        self.share_room(self.app.size)
        self.refresh_facts()

    def on_resize(self, event: events.Resize) -> None:
        """Arrange everything for the new size."""
        self.share_room(event.size)
        self.refresh_facts()

    def share_room(self, size: Size) -> None:
        """Share out the room: the facts, the graph, and the board with the rest."""
        width, height = size
        is_narrow, is_short = width < WIDE_COLUMNS, height < LEAST_GRAPH_HEIGHT
        self.set_class(is_narrow, "-narrow")
        self.set_class(is_short, "-short")
        graph_rows = 0
        if self.graph is not None:
            self.graph.styles.height = graph_rows = (
                0 if is_short else min(MOST_GRAPH_ROWS, height // 5)
            )
        rest = height - 1 - (0 if is_short else 1 + graph_rows)
        rows, columns = self.shape
        if is_narrow:
            across, down = width - 2, rest - min(NARROW_FACTS_ROWS, rest // 2)
        else:
            across, down = width - FACTS_COLUMNS - 4, rest
        self.board.set_grid(fit(across, down, rows, columns) if down > 0 else None)
        self._title.update(self.heading)
        self._bar.update(_within(width, self.keys))


def bindings_of(actions: Iterable[UserAction]) -> list[BindingType]:
    """Return the bindings of a table of actions, to the method ``action_go``."""
    return [
        Binding(",".join(action.keys), f"go('{action.name}')", action.help) for action in actions
    ]


def row_text(row: DirectionRow, *, is_marked: bool) -> str:
    """Return a direction with its value, or with what it loses; `is_marked` by words too."""
    marks = [word for word, holds in (("best", row.is_best), ("played", row.is_played)) if holds]
    words = f"{ARROWS[row.direction]} {row.loss or row.value}"
    if is_marked:
        words = f"{words:<11}{' '.join(marks):<6}"
    return f"[bold]{words}[/]" if marks else words


def _within(width: int, keys: Iterable[str]) -> str:
    """Return the keys in a line of at most `width` columns."""
    said = ""
    for key in keys:
        longer = f"{said}  {key}" if said else key
        if len(longer) > width:
            break
        said = longer
    return said
