"""The terminal's review of a game: the board, what each direction was worth, and a graph."""

from __future__ import annotations

from typing import ClassVar

from rich.markup import escape
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from py2048.review import Grade
from py2048.ui.shared.actions import REVIEW_ACTIONS
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.review import GameReview, record_title
from py2048.ui.shared.themes import Theme
from py2048.ui.terminal.board import Canvas, to_strip
from py2048.ui.terminal.board_screen import (
    LEAST_MARKED,
    WIDE_COLUMNS,
    BoardScreen,
    bindings_of,
    row_text,
)

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
        rows = [row_text(row, is_marked=room >= LEAST_MARKED) for row in review.rows]
        if room >= WIDE_COLUMNS:
            return "\n".join([place, verdict, *rows, "", figures, "", summary])
        pairs = ["  ".join(rows[at : at + 2]) for at in range(0, len(rows), 2)]
        lines = [verdict, *pairs, place, figures, summary]
        return "\n".join(lines if room < LEAST_MARKED else [place, *lines[:-3], *lines[-2:]])


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
