"""The review of a game in a window: the board with its marks, a graph, keys and buttons."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk

from py2048.review import Grade
from py2048.ui.desktop.dialogs import Dialog, marks_of
from py2048.ui.desktop.keys import tk_keys
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared.actions import REVIEW_ACTIONS, UserAction
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.review import GameReview, record_title
from py2048.ui.shared.themes import Theme

REFRESH_MS = 100
"""The least time between two pictures of moves that are being judged."""

BOARD_SIDE, GRAPH_HEIGHT, TEXT_LINES = 360, 80, 5
"""The size of the board and of the graph in pixels of an ordinary screen; the lines of words."""

TICKS = {Grade.INACCURACY: 0.3, Grade.MISTAKE: 0.6, Grade.BLUNDER: 1.0}
"""How much of the strip over the graph the tick of a mistake takes."""

STRIP = 14
"""The height of that strip, in pixels of an ordinary screen."""

BUTTONS = (
    ("|<", "first"),
    ("< Mistake", "previous_mistake"),
    ("<", "back"),
    (">", "forward"),
    ("Mistake >", "next_mistake"),
    (">|", "last"),
)


class ReviewWindow(Dialog):
    """Walks through a game with its review.

    Args:
        window: the main window.
        review: the review, which may have begun only.
        play_on: what "play on from here" does, after the window has closed.
    """

    def __init__(
        self, window: MainWindow, review: GameReview, play_on: Callable[[], object]
    ) -> None:
        super().__init__(window, "Review")
        self.review = review
        self._timer = ""
        self.add_text(record_title(review.record), "Muted.TLabel")
        self._play_on = partial(self.close_and, play_on)
        self.add_buttons(("Play on from here", self._play_on), ("Close", self.close))
        self.summary = self.add_text(style="Muted.TLabel", below=True)
        self.line = self.add_lines(TEXT_LINES)
        self._add_controls()
        self.graph = ReviewGraph(self, review, self._seek)
        self.graph.pack(side="bottom", fill="x", pady=round(4 * self.scale))
        self.view = self.add_board(BOARD_SIDE)
        self._bind_keys()
        self.bind("<Configure>", lambda _: self.wrap(self.line, self.summary))
        self._show_move()
        self.open(self.view)

    def _add_controls(self) -> None:
        row = ttk.Frame(self.body)
        row.pack(side="bottom", fill="x")
        self.buttons = {}
        for text, name in BUTTONS:
            button = ttk.Button(
                row, text=text, style="Tool.TButton", command=partial(self.go, name)
            )
            button.pack(side="left", expand=True, fill="x", padx=2)
            self.buttons[name] = button

    def _bind_keys(self) -> None:
        def press(action: UserAction) -> str:
            self.go(action.name)
            return "break"

        for action in REVIEW_ACTIONS:
            for key in tk_keys(action):
                # Enter belongs to the button that has the focus, wherever that is.
                target = self.view if key == "Return" else self
                target.bind(f"<{key}>", lambda _, action=action: press(action))  # type: ignore[misc]

    def go(self, name: str) -> None:
        """Do what an action of `REVIEW_ACTIONS` says."""
        if name == "close":
            self.close()
        elif name == "play_on":
            self._play_on()
        else:
            self.review.go(name)
            self._show_move()

    def _seek(self, index: int) -> None:
        self.review.seek(index)
        self._show_move()

    def refresh(self) -> None:
        """Show what was judged since, soon: once for many moves."""
        if not self._timer:
            self._timer = self.after(REFRESH_MS, self._refresh)

    def _refresh(self) -> None:
        self._timer = ""
        self._show_move()

    def _show_move(self) -> None:
        review = self.review
        self.view.show(BoardTransition((), review.board), 0)
        if review.rows:
            self.view.mark(marks_of(review.rows))
        self.line.configure(text=f"{review.verdict}\n{review.sentences}")
        self.summary.configure(text=review.summary)
        self.graph.draw()

    def close(self) -> None:
        """Close the window, and stop judging."""
        self.review.close()
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
        super().close()


class ReviewGraph(tk.Canvas):
    """The graph of a review, with a tick over each mistake; the mouse goes to a move.

    Args:
        parent: the window of the review.
        review: the review.
        seek: called with the move that the mouse points at.
    """

    def __init__(
        self, parent: ReviewWindow, review: GameReview, seek: Callable[[int], object]
    ) -> None:
        self._theme: Theme = parent.theme
        height = round(GRAPH_HEIGHT * parent.scale)
        super().__init__(
            parent.body,
            height=height,
            width=10,
            highlightthickness=0,
            background=parent.theme.panel,
        )
        self._review, self._seek, self._scale = review, seek, parent.scale
        self.bind("<Configure>", lambda _: self.draw())
        for event in ("<Button-1>", "<B1-Motion>"):
            self.bind(event, self._point)

    def _point(self, event: tk.Event[tk.Misc]) -> None:
        self._seek(self._review.place_at(event.x, max(1, self.winfo_width())))

    def draw(self) -> None:
        """Draw all that is judged, and where the review is."""
        self.delete("all")
        width, height, theme = self.winfo_width(), self.winfo_height(), self._theme
        strip = round(STRIP * self._scale)
        if width < 10 or height <= strip:
            return
        columns = self._review.graph(width, height - strip - 2)
        judged = [(x, height - column.height) for x, column in enumerate(columns) if column.height]
        if judged:
            outline = [(0, height), *judged, (judged[-1][0] + 1, height)]
            self.create_polygon(*outline, fill=theme.muted, width=0)
        here = self._review.column(width)
        self.create_line(here, strip, here, height, fill=theme.accent, width=round(3 * self._scale))
        for x, column in enumerate(columns):
            is_first = column.grade is not None and (not x or columns[x - 1].grade != column.grade)
            if column.grade is not None and is_first:
                top = strip * (1 - TICKS[column.grade])
                thick = round((1 + 2 * (column.grade is Grade.BLUNDER)) * self._scale)
                self.create_line(x, top, x, strip, fill=theme.accent, width=thick, tags="tick")
