"""Windows with a board and words: reviews of games, practice, and a game to watch."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk

from py2048.game import Record
from py2048.review import Grade
from py2048.session import Moved, Replay, Undone
from py2048.ui.desktop.dialogs import Dialog, marks_of
from py2048.ui.desktop.window import MainWindow, tk_keys
from py2048.ui.shared import motion
from py2048.ui.shared.actions import BY_NAME, PRACTICE_ACTIONS, REVIEW_ACTIONS
from py2048.ui.shared.controller import SPEEDS, START_SPEED
from py2048.ui.shared.describe import describe
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.practice import PracticeRun
from py2048.ui.shared.review import PAGE, GameReview, record_title
from py2048.ui.shared.themes import Theme

REVIEW_SIDE, GRAPH_HEIGHT, REVIEW_LINES = 360, 80, 5
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
        self.add_text(record_title(review.record), "Muted.TLabel")
        self._play_on = partial(self.close_and, play_on)
        self.add_buttons(("Play on from here", self._play_on), ("Close", self.close))
        self.summary = self.add_text(style="Muted.TLabel", below=True)
        self.line = self.add_lines(REVIEW_LINES)
        self.buttons = self.add_tools(*((text, partial(self.go, name)) for text, name in BUTTONS))
        self.graph = ReviewGraph(self, review, self._seek)
        self.graph.pack(side="bottom", fill="x", pady=round(4 * self.scale))
        self.view = self.add_board(REVIEW_SIDE)
        self.bind_actions(REVIEW_ACTIONS, self.go, self.view)
        self.bind("<Configure>", lambda _: self.wrap(self.line, self.summary))
        review.changed = self._show_move
        self._show_move()
        self.open(self.view)

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


# Practice

PRACTICE_SIDE, PRACTICE_LINES = 380, 6
"""The size of the board in pixels of an ordinary screen; the lines of words."""


class PracticeWindow(Dialog):
    """Asks for moves until nothing more is asked; Enter goes to the next position.

    Args:
        window: the main window.
        run: what is asked.
        answer: does an action of `PRACTICE_ACTIONS`.
    """

    def __init__(
        self, window: MainWindow, run: PracticeRun, answer: Callable[[str], object]
    ) -> None:
        super().__init__(window, "Practice")
        self.practice, self._answer = run, answer
        self.line = self.add_text(style="Muted.TLabel")
        self.next, _ = self.add_buttons(("Next", partial(self.go, "next")), ("Close", self.close))
        self.words = self.add_lines(PRACTICE_LINES)
        self.view = self.add_board(PRACTICE_SIDE, lambda direction: self.go(str(direction)))
        self.bind_actions(PRACTICE_ACTIONS, self.go, self.view)
        self.bind("<Configure>", lambda _: self.wrap(self.line, self.words))
        self._show()
        self.open(self.view)

    def go(self, name: str) -> None:
        """Do what an action of `PRACTICE_ACTIONS` says."""
        if name == "close" or (name == "next" and self.practice.is_over):
            self.close()
            return
        self._answer(name)
        if self.winfo_exists():
            self._show()

    def _show(self) -> None:
        run = self.practice
        self.line.configure(text=run.title)
        self.words.configure(text="\n".join(filter(None, [run.verdict, run.sentences])))
        self.next.show("Close" if run.is_over else "Next")
        if run.board is not None:
            self.view.show(BoardTransition((), run.board), 0)
        if run.rows:
            self.view.mark(marks_of(run.rows))


# A game to watch

REPLAY_SPEEDS = SPEEDS[:-1]


class ReplayWindow(Dialog):
    """Walks through a record.

    Args:
        window: the main window.
        record: the game.
        play_from: called with a number of turns, to continue the game from there.
        review: opens the review of the game.
        is_animated: whether tiles slide or jump.

    Raises:
        RecordError: if the record breaks its own rules.
    """

    def __init__(
        self,
        window: MainWindow,
        record: Record,
        play_from: Callable[[int], object],
        review: Callable[[], object],
        is_animated: bool,
    ) -> None:
        self.replay = Replay(record)
        super().__init__(window, "Watch a game")
        self._play_from = play_from
        self._is_animated = is_animated
        self._timer, self.speed = "", START_SPEED
        self.add_text(record_title(record), "Muted.TLabel")
        self.add_buttons(
            ("Play on from here", self.play_from_here),
            ("Review", lambda: self.close_and(review)),
            ("Close", self.close),
        )
        self.line = self.add_text(below=True)
        slower, faster = (partial(self.change_speed, step) for step in (-1, 1))
        self.buttons = self.add_tools(
            ("|<", lambda: self.seek(0)),
            ("<", self.back),
            ("Play", self.toggle),
            (">", self.forward),
            (">|", lambda: self.seek(len(self.replay))),
            ("Slower", slower),
            ("Faster", faster),
        )
        self.slider = ttk.Scale(self.body, from_=0, to=max(1, len(self.replay)))
        self.slider.configure(command=lambda value: self._slide(round(float(value))))
        self.slider.pack(side="bottom", fill="x")
        self.view = self.add_board(400)
        keys: dict[str, Callable[[], object]] = {
            "Left": self.back,
            "Right": self.forward,
            "Home": lambda: self.seek(0),
            "End": lambda: self.seek(len(self.replay)),
            "Prior": lambda: self.seek(self.replay.index - PAGE),
            "Next": lambda: self.seek(self.replay.index + PAGE),
            "space": self.toggle,
            **dict.fromkeys(tk_keys(BY_NAME["faster"]), faster),
            **dict.fromkeys(tk_keys(BY_NAME["slower"]), slower),
        }
        for key, action in keys.items():
            self.view.bind(f"<{key}>", lambda _, action=action: action())  # type: ignore[misc]
        for key in "qQ":
            self.bind(key, lambda _: self.close())
        self._jump(0)
        self.open(self.view)

    # Walking

    def forward(self) -> None:
        """Go one turn forward."""
        event = self.replay.forward()
        if event is None:
            self.pause()
        else:
            self._show(event, motion.of_move(event))

    def back(self) -> None:
        """Go one turn back."""
        self.pause()
        event = self.replay.back()
        if event is not None:
            self._show(event, motion.of_undo(event))

    def seek(self, index: int) -> None:
        """Go to the place after `index` turns."""
        self.pause()
        self._jump(index)

    def _jump(self, index: int) -> None:
        position = self.replay.seek(index)
        self.view.show(BoardTransition((), position.board), 0)
        self._show_place("")

    def _show(self, event: Moved | Undone, transition: motion.BoardTransition) -> None:
        pace = 1.0 if self._is_animated else 0.0
        if self._timer and transition.seconds:
            pace = min(pace, 1 / self.speed / transition.seconds)
        self.view.show(transition, pace)
        self._show_place(describe(event))

    def _show_place(self, text: str) -> None:
        index, score = self.replay.index, self.replay.position.score
        self.slider.configure(value=index)
        place = f"Move {index} of {len(self.replay)}, score {score:,}."
        self.line.configure(text=f"{place} {text}")

    def _slide(self, index: int) -> None:
        if index != self.replay.index:
            self.seek(index)

    # Playing

    def toggle(self) -> None:
        """Let it run, or pause it."""
        if self._timer:
            self.pause()
            return
        if self.replay.index == len(self.replay):
            self._jump(0)
        self.buttons["Play"].show("Pause")
        self._run()

    def _run(self) -> None:
        self._timer = self.after(round(1000 / self.speed), self._run)
        self.forward()

    def pause(self) -> None:
        """Stop running."""
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
            self.buttons["Play"].show("Play")

    def change_speed(self, step: int) -> None:
        """Run faster (1) or slower (-1), where there is such a speed."""
        place = REPLAY_SPEEDS.index(self.speed) + step
        self.speed = REPLAY_SPEEDS[min(max(place, 0), len(REPLAY_SPEEDS) - 1)]
        self._show_place(f"{self.speed} moves a second.")

    def play_from_here(self) -> None:
        """Close the viewer, and continue the game from the place that is shown."""
        index = self.replay.index
        self.close_and(lambda: self._play_from(index))

    def close(self) -> None:
        """Close the viewer, running or not."""
        if self.winfo_exists():
            self.pause()
        super().close()
