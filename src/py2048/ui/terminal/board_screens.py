"""The terminal's screens of a board with words beside it: reviews of games, and practice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar

from rich.markup import escape
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from py2048.direction import Direction
from py2048.review import Grade
from py2048.ui.shared.actions import PRACTICE_ACTIONS, REVIEW_ACTIONS, UserAction
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.practice import PracticeRun
from py2048.ui.shared.review import DirectionRow, GameReview, record_title
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import Canvas, TerminalBoard, fit, to_strip
from py2048.ui.terminal.dialogs import Answer, ModalDialog

ARROWS = {Direction.UP: "↑", Direction.DOWN: "↓", Direction.LEFT: "←", Direction.RIGHT: "→"}

FACTS_COLUMNS = 34
WIDE_COLUMNS = 64
"""The width of the facts beside the board, and of the least screen that has them there."""

MIN_MARKED_COLUMNS = 36
"""The least width at which words mark the best direction and the one played."""

NARROW_FACTS_ROWS = 7
"""The rows of the facts below the board."""

MIN_GRAPH_HEIGHT = 16
"""The height of the least screen with a graph and a title."""

MAX_GRAPH_ROWS = 9


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
        is_narrow, is_short = width < WIDE_COLUMNS, height < MIN_GRAPH_HEIGHT
        self.set_class(is_narrow, "-narrow")
        self.set_class(is_short, "-short")
        graph_rows = 0
        if self.graph is not None:
            self.graph.styles.height = graph_rows = (
                0 if is_short else min(MAX_GRAPH_ROWS, height // 5)
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


# Reviews

MARKS = {Grade.INACCURACY: "i", Grade.MISTAKE: "m", Grade.BLUNDER: "B"}
"""The letters over the graph."""


class ReviewScreen(BoardScreen[bool]):
    """Walks through a game with its review; closes with `True` to play on from where it is.

    Args:
        review: the review.
        theme: the colours, as the terminal can show them.

    Attributes:
        review: the review.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(REVIEW_ACTIONS)
    graph: ReviewGraph
    keys = ("←→ move", "↑↓ mistake", "q close", "⏎ play on", "PgUp PgDn ten moves")

    def __init__(self, review: GameReview, theme: Theme) -> None:
        super().__init__(theme)
        self.review = review
        self.graph = ReviewGraph(review, theme)

    @property
    def heading(self) -> str:
        """Which game it is."""
        return record_title(self.review.record)

    @property
    def shape(self) -> tuple[int, int]:
        """The size of the game's board."""
        return self.review.record.rules.shape

    def on_unmount(self) -> None:
        """Stop judging, however the screen was closed."""
        self.review.close()

    def action_go(self, name: str) -> None:
        """Do what a key of `REVIEW_ACTIONS` says."""
        if name in ("close", "play_on"):
            self.action_close(True if name == "play_on" else None)
        else:
            self.review.go(name)
            self.refresh_facts()

    def on_review_graph_pointed(self, event: ReviewGraph.Pointed) -> None:
        """Go to the move that was clicked in the graph."""
        self.review.seek(event.index)
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Show the move where the review is, and all that is judged."""
        review, move = self.review, self.review.move
        self.board.show(BoardTransition((), review.board), 0)
        self.board.point(move.best if move else None, review.played)
        self.facts.update(self._markup())
        self.graph.refresh()

    def _markup(self) -> str:
        """Return the facts: line by line beside the board, close together below it."""
        review, room = self.review, self.app.size.width
        place, verdict = f"[bold]{escape(review.place)}[/]", escape(review.verdict)
        figures, summary = escape(", ".join(review.figures).capitalize()), escape(review.summary)
        verdict, summary = f"[bold $accent]{verdict}[/]", f"[$text-muted]{summary}[/]"
        rows = [row_text(row, is_marked=room >= MIN_MARKED_COLUMNS) for row in review.rows]
        if room >= WIDE_COLUMNS:
            return "\n".join([place, verdict, *rows, "", figures, "", summary])
        pairs = ["  ".join(rows[at : at + 2]) for at in range(0, len(rows), 2)]
        lines = [verdict, *pairs, place, figures, summary]
        return "\n".join(lines if room < MIN_MARKED_COLUMNS else [place, *lines[:-3], *lines[-2:]])


class ReviewGraph(Widget):
    """The graph of a review, with a letter over each mistake; a click goes to a move.

    Args:
        review: the review.
        theme: the colours.
    """

    class Pointed(Message):
        """The player clicked a move in the graph."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, review: GameReview, theme: Theme) -> None:
        super().__init__(id="review-graph")
        self._review, self._theme = review, theme
        self._canvas = Canvas(0, 0, theme.panel)

    def render_line(self, y: int) -> Strip:
        """Return one row of the graph, all of which is drawn with its first row."""
        width, height = self.size
        if y == 0 or (self._canvas.columns, self._canvas.rows) != (width, height):
            self._canvas = self._draw(width, height)
        return to_strip(self._canvas.runs(y))

    def _draw(self, width: int, height: int) -> Canvas:
        """Draw the columns, two in a character, under a row for the letters."""
        review, theme = self._review, self._theme
        canvas, across, high = Canvas(width, height, theme.panel), 2 * width, 2 * (height - 1)
        columns = review.graph(across, high)
        for x, column in enumerate(columns):
            canvas.rectangle(x, 2 + high - column.height, 1, column.height, theme.muted)
        here = review.column(across)
        canvas.rectangle(here - here % 2, 2, 2, high, theme.accent)
        for at in range(width):
            worst = max((columns[2 * at].grade, columns[2 * at + 1].grade), key=_severity)
            if worst is not None:
                canvas.write(at, 0, MARKS[worst], theme.accent)
        return canvas

    def on_click(self, event: events.Click) -> None:
        """Go to the move that is clicked."""
        self.post_message(self.Pointed(self._review.place_at(event.x, max(1, self.size.width))))


def _severity(grade: Grade | None) -> int:
    return -1 if grade is None else list(Grade).index(grade)


# Practice


class PracticeScreen(BoardScreen[None]):
    """Asks for moves until nothing more is asked; Enter goes to the next position.

    Args:
        run: what is asked.
        answer: does an action of `PRACTICE_ACTIONS`.
        theme: the colours, as the terminal can show them.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of(PRACTICE_ACTIONS)
    keys = ("↑↓←→ your move", "⏎ next", "q close")

    def __init__(self, run: PracticeRun, answer: Callable[[str], object], theme: Theme) -> None:
        super().__init__(theme)
        self._run, self._answer = run, answer

    @property
    def heading(self) -> str:
        """What is practised, and where this is."""
        return self._run.title

    @property
    def shape(self) -> tuple[int, int]:
        """The size of the board; any, where there is none."""
        return self._run.board.shape if self._run.board else (1, 1)

    def action_go(self, name: str) -> None:
        """Do what a key of `PRACTICE_ACTIONS` says."""
        if name == "close" or (name == "next" and self._run.is_over):
            self.action_close()
            return
        self._answer(name)
        self.share_room(self.app.size)
        self.refresh_facts()

    def on_terminal_board_pushed(self, event: TerminalBoard.Pushed) -> None:
        """Answer with the direction where the mouse went."""
        event.stop()
        self.action_go(str(event.direction))

    def refresh_facts(self) -> None:
        """Show the position, and what each direction was worth once a move is made."""
        run = self._run
        self.board.display = run.board is not None
        if run.board is not None:
            self.board.show(BoardTransition((), run.board), 0)
        move = run.answer.move if run.answer else None
        self.board.point(move.best if move else None, move.played if move else None)
        is_marked = self.app.size.width >= MIN_MARKED_COLUMNS
        rows = [row_text(row, is_marked=is_marked) for row in run.rows]
        verdict = f"[bold $accent]{escape(run.verdict)}[/]" if run.verdict else ""
        self.facts.update("\n".join(filter(None, [verdict, *rows, escape(run.sentences)])))
