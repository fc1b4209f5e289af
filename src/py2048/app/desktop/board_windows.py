"""Windows with a board and words: reviews of games, practice, and a game to watch."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk
from typing import Any

from py2048.app.controller.controller import SPEEDS, START_SPEED
from py2048.app.controller.practice import PracticeRun
from py2048.app.controller.review import PAGE, GameReview, grade_colour, record_title
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.dialogs import Dialog, marks_of
from py2048.app.desktop.style import Flow, Graph, Lines, Text
from py2048.app.desktop.window import MainWindow, tk_keys
from py2048.app.session import Moved, Replay, Undone
from py2048.core.direction import Direction
from py2048.core.game import Record
from py2048.core.language import N_, _, number
from py2048.players import Unit
from py2048.presentation import motion
from py2048.presentation.actions import BY_NAME, PRACTICE_ACTIONS, REVIEW_ACTIONS
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.describe import describe
from py2048.presentation.hints import name_of
from py2048.presentation.themes import mixed
from py2048.presentation.words import grade_word

REVIEW_SIZE, WIDE, COLUMN = (960, 700), 620, 430
"""The size of a review at first, the width from which words stand beside the board, and theirs."""

GRAPH_HEIGHT = 130

TOOLS = (
    (N_("First move"), "first", "first"),
    (N_("Back"), "back", "back"),
    (N_("Forward"), "forward", "forward"),
    (N_("Last move"), "last", "last"),
    (N_("Mistake before"), "previous_mistake", "up"),
    (N_("Next mistake"), "next_mistake", ""),
)
"""The buttons that walk: words, actions and icons."""


WALKS = {
    Direction.LEFT: "back",
    Direction.RIGHT: "forward",
    Direction.UP: "previous_mistake",
    Direction.DOWN: "next_mistake",
}
"""Where the keys of moves walk in a review."""


class ReviewWindow(Dialog):
    """Walks through a game with its review.

    Args:
        window: the main window.
        review: the review, which may have begun only.
        play_on: what "play on from here" does, after the window has closed.

    Attributes:
        is_trying: whether the player looks for a better move than the one played.
    """

    def __init__(
        self, window: MainWindow, review: GameReview, play_on: Callable[[], object]
    ) -> None:
        super().__init__(window, _("Review"), REVIEW_SIZE)
        self.review, self.is_trying, self._tried = review, False, ""
        self._play_on = partial(self.close_and, play_on)
        body, look = self.body, self.look
        style = look.bar("accent", "panel", "raised", is_upright=True)
        self._bar = ttk.Progressbar(body, style=style, orient="vertical", maximum=1.0)
        self._share = Text(self._bar, "", "tiny", "on_accent", "accent", "")
        self.view = CanvasBoard(body, self._answer, "raised")
        self._whole, self._here, self._past = (
            ttk.Frame(body, style=look.card("raised"), padding=look.px(12)) for _ in range(3)
        )
        self._words: dict[str, Text] = {}
        self._build_whole(self._whole)
        self._build_here(self._here)
        self._tools = Flow(body)
        self.buttons = {}
        for text, name, icon in TOOLS:
            how: Any = {"icon": icon, "kind": "plain" if icon else "danger", "has_words": False}
            self.buttons[name] = self._tools.add(_(text), partial(self.go, name), **how)
        self._add(self._past, "title", "label").pack(fill="x")
        self.graph = Graph(self._past, self._draw_graph)
        self.graph.pack(fill="both", expand=True)
        for event in ("<Button-1>", "<B1-Motion>"):
            self.graph.bind(event, self._point)
        self.bind_actions(REVIEW_ACTIONS, self.go, self.view)
        for way in Direction:  # the keys of moves walk, unless a better move is looked for
            for key in tk_keys(BY_NAME[str(way)]):
                self.bind(f"<{key}>", partial(self._arrow, way))
        body.columnconfigure(2, weight=1)
        body.rowconfigure(4, weight=1)
        body.bind("<Configure>", lambda _: self._lay_out())
        review.changed = self._show
        self._show()
        self.open(self.view)

    def _add(
        self, card: tk.Misc, name: str, kind: str, colour: str = "ink", fit: str = "wrap"
    ) -> Text:
        """Put words that change onto a card."""
        self._words[name] = Text(card, "", kind, colour, "panel", fit)
        return self._words[name]

    def _build_whole(self, card: ttk.Frame) -> None:
        """Fill the card of the whole game."""
        card.columnconfigure(0, weight=1)
        for row, names in enumerate((("Accuracy", "Score"), ("accuracy", "score"), ("", "luck"))):
            for column, (name, kind) in enumerate(zip(names, ("page", "title"), strict=True)):
                look = (kind, "ink", "") if row == 1 else ("small", "muted", "")
                text = self._add(card, name, *look)
                text.grid(row=row, column=column, sticky="es" if column else "ws")
        self._words["Accuracy"].show(_("Accuracy"))
        self._words["Score"].show(_("Score"))
        self._words["score"].show(number(self.review.record.score))
        self._strip = ttk.Frame(card, height=self.look.px(10), style=self.look.frame("panel"))
        counts, summary = (
            self._add(card, name, "small", "muted") for name in ("counts", "summary")
        )
        self._details = self._strip, counts, summary
        for row, part in enumerate(self._details):
            part.grid(row=row + 3, columnspan=2, sticky="ew", pady=(self.look.px(4), 0))

    def _build_here(self, card: ttk.Frame) -> None:
        """Fill the card of the move."""
        look = self.look
        card.columnconfigure(1, weight=1)
        self._add(card, "place", "label", "muted", "").grid(row=0, columnspan=2, sticky="w")
        self._badge = tk.Label(card, font="label", borderwidth=0, padx=look.px(8), pady=look.px(4))
        self._badge.grid(row=0, column=2, sticky="e")
        self._sentence = Lines(card, 3, "lead", ground="panel")
        self._sentence.grid(row=1, columnspan=3, sticky="ew", pady=look.px(6))
        self._rows = []
        for row in range(2, 6):
            arrow = Text(card, "", ground="panel", fit="")
            bar = ttk.Progressbar(card, maximum=1.0)
            loss = Text(card, "", "label", "ink", "panel", "", width=9, anchor="e")
            card.rowconfigure(row, minsize=round(26 * look.unit))
            for column, part in enumerate((arrow, bar, loss)):
                part.grid(row=row, column=column, sticky="ew", padx=(0, look.px(8)))
            self._rows.append((arrow, bar, loss))
        buttons = Flow(card, "panel")
        self.retry = buttons.add("", self.try_again, kind="primary")
        buttons.add(_("Play on from here"), self._play_on)
        buttons.grid(row=6, columnspan=3, sticky="ew")

    # What is done

    def go(self, name: str) -> None:
        """Do what an action of `REVIEW_ACTIONS` says."""
        if name == "close":
            self.close()
        elif name == "play_on":
            self._play_on()
        elif not self.is_trying:
            self.review.go(name)
            self._show()

    def try_again(self) -> None:
        """Ask for a better move: what is known of this position is hidden until it is found."""
        self.is_trying, self._tried = not self.is_trying, ""
        self.view.focus_set()
        self._show()

    def _arrow(self, way: Direction, _event: tk.Event[tk.Misc]) -> None:
        if self.is_trying:
            self._answer(way)
        else:
            self.go(WALKS[way])

    def _answer(self, way: Direction) -> None:
        found = [row for row in self.review.rows if row.direction is way]
        if not self.is_trying or not found:
            return
        row = found[0]
        text = _("{direction} loses {loss}. Try another way.")
        self._tried = text.format(direction=name_of(way), loss=row.loss or number(0))
        self.is_trying = not row.is_best
        self._show()

    def _point(self, event: tk.Event[tk.Misc]) -> None:
        self.is_trying = False
        self.review.seek(self.review.place_at(event.x, max(1, self.graph.winfo_width())))
        self._show()

    def close(self) -> None:
        """Close the window, and stop judging."""
        self.review.close()
        super().close()

    # What is shown

    @property
    def said(self) -> str:
        """What is said of the move."""
        if self.is_trying:
            return self._tried or _("Your move. Which way is best?")
        return " ".join(filter(None, (self.review.headline, self.review.why)))

    @property
    def summary(self) -> str:
        """How far the review is, or what is said after it."""
        return self.review.progress or self.review.error or self.review.note

    def _lay_out(self) -> None:
        """Put the words beside the board where they have room, else below it."""
        unit, gap = self.look.unit, self.look.px(8)
        width, height = (
            side - 2 * self.look.px(16)
            for side in (self.body.winfo_width(), self.body.winfo_height())
        )
        is_wide, margin = width > WIDE * unit, self.view.margin
        across = width - 4 * gap - round((COLUMN if is_wide else 150) * unit)
        graph = min(round(GRAPH_HEIGHT * unit), height // 5)
        down = height - graph - gap if is_wide else height * 32 // 100
        grid = BoardGrid.fit(self.review.board.shape, across, max(60, down - 2 * margin))
        self.view.configure(width=grid.width + 2 * margin - 6, height=grid.height + 2 * margin - 6)
        self._bar.configure(length=grid.height)
        self._sentence.reserve(2 + is_wide)
        for part in self._details:
            part.grid() if is_wide else part.grid_remove()
        beside: dict[str, Any] = {"column": 2, "sticky": "new", "pady": (0, gap)}
        below = beside if is_wide else beside | {"column": 0, "columnspan": 3}
        rows = 4 if is_wide else 1
        self._bar.grid(row=0, column=0, rowspan=rows, sticky="n", pady=margin)
        self.view.grid(row=0, column=1, rowspan=rows, sticky="n", padx=(0, gap))
        self._whole.grid(row=0, **beside)
        for row, part in enumerate((self._here, self._tools), start=1):
            part.grid_forget()
            part.grid(row=row, **below)
        self._past.grid(row=4, column=0, columnspan=3, sticky="nsew")

    def _show(self) -> None:
        """Show the move, and what is known of the game."""
        review, look = self.review, self.look
        rows = [] if self.is_trying else review.rows
        self.view.put(review.board)
        if rows:
            self.view.mark(*marks_of(rows))
        counts = [f"{number(n)} {grade_word(grade, n)}" for grade, n in review.counts.items() if n]
        is_chance = review.unit is Unit.CHANCE
        for name, text in {
            "accuracy": "" if review.accuracy is None else f"{number(review.accuracy, 1)} %",
            "luck": _("luck: {luck}").format(luck=review.luck) if review.luck else "",
            "counts": " · ".join(counts),
            "summary": self.summary,
            "place": review.place_title,
            "title": _("Chance") if is_chance else _("Points still to come"),
        }.items():
            self._words[name].show(text)
        self._sentence.show(self.said)
        self.retry.show(_("Show the answer") if self.is_trying else _("Try it again"))
        self.retry.enable(is_on=review.move is not None)
        share = 0 if self.is_trying else review.chances or 0
        self._bar.configure(value=share)
        self._share.show(f"{100 * share:.0f}" if share else "")
        self._share.place(relx=0.5, rely=1.0, y=-look.px(8), anchor="s")
        self._show_badge()
        for place, (arrow, bar, loss) in enumerate(self._rows):
            if place < len(rows):
                row = rows[place]
                colour = "danger" if row.is_played and not row.is_best else "good"
                bar.configure(value=row.share, style=look.bar(colour, "line", "panel"))
                bar.grid()
                arrow.configure(image=look.icon(str(row.direction)))
                loss.show(row.text)
            else:
                bar.grid_remove()
                arrow.configure(image="")
                loss.show("")
        self._show_grades()
        self.graph.draw()

    def _show_badge(self) -> None:
        """Show the grade of the move on a tint of its colour."""
        theme, move = self.look.theme, None if self.is_trying else self.review.move
        tint = mixed(grade_colour(move.grade, theme), theme.panel, 0.8) if move else theme.panel
        ink = theme.danger if move and move.grade.is_mistake else theme.good
        text = self.review.badge if move else ""
        self._badge.configure(text=text, background=tint, foreground=ink)

    def _show_grades(self) -> None:
        """Show how many of the moves have each grade, as parts of a strip."""
        for each in self._strip.winfo_children():
            each.destroy()
        start, judged = 0.0, max(1, len(self.review.moves))
        for grade, count in self.review.counts.items():
            part = tk.Frame(self._strip, background=grade_colour(grade, self.look.theme))
            part.place(relx=start, relwidth=max(0.0, count / judged - 0.004), relheight=1)
            start += count / judged

    def _draw_graph(self, graph: Graph) -> None:
        """Draw all that is judged, a dot for each mistake, and where the review is."""
        review, theme, width = self.review, self.look.theme, graph.winfo_width()
        graph.begin(1, {0: "", 0.5: "", 1: ""})
        foot = graph.y(0)
        columns = review.graph(width, round(foot - graph.y(1)))
        places = [-1, *(review.place_at(x, width) for x in range(len(columns)))]
        judged = enumerate(zip(columns, places[1:], places, strict=False))
        points: list[tuple[float, float]] = [
            (x, foot - c.height) for x, (c, at, before) in judged if c.height and at != before
        ]
        graph.line(points, is_filled=True)
        here = review.column(width)
        graph.create_line(here, 0, here, graph.winfo_height(), fill=theme.ink)
        for x, column in enumerate(columns):
            if column.grade is not None:
                graph.dot(x, foot - column.height, grade_colour(column.grade, theme), "tick")


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
        super().__init__(window, _("Practice"))
        self.practice, self._answer = run, answer
        self.line = self.add_text(colour="muted")
        self.next, _close = self.add_buttons(
            (_("Next"), partial(self.go, "next")), (_("Close"), self.close)
        )
        self.words = Lines(self.body, PRACTICE_LINES, "small")
        self.words.pack(side="bottom", fill="x")
        self.view = self.add_board(PRACTICE_SIDE, lambda direction: self.go(str(direction)))
        self.bind_actions(PRACTICE_ACTIONS, self.go, self.view)
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
        self.line.show(run.title)
        self.words.show(" ".join(filter(None, [run.verdict, run.sentences])))
        self.next.show(_("Close") if run.is_over else _("Next"))
        if run.board is not None:
            self.view.put(run.board)
        if run.rows:
            self.view.mark(*marks_of(run.rows))


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
        super().__init__(window, _("Watch a game"))
        self._play_from = play_from
        self._is_animated = is_animated
        self._timer, self.speed = "", START_SPEED
        self.add_text(record_title(record), "muted")
        self.add_buttons(
            (_("Play on from here"), self.play_from_here),
            (_("Review"), lambda: self.close_and(review)),
            (_("Close"), self.close),
        )
        self.line = self.add_text(below=True)
        slower, faster = (partial(self.change_speed, step) for step in (-1, 1))
        tools = Flow(self.body)
        tools.pack(side="bottom", fill="x")
        _first, _back, self._play, *_rest = [
            tools.add(text, action, icon=icon, has_words=False)
            for text, action, icon in (
                (_("First move"), partial(self.go, "first"), "first"),
                (_("Back"), self.back, "back"),
                (_("Play"), self.toggle, "play"),
                (_("Forward"), self.forward, "forward"),
                (_("Last move"), partial(self.go, "last"), "last"),
                (_("Slower"), slower, "minus"),
                (_("Faster"), faster, "new"),
            )
        ]
        self.slider = ttk.Scale(self.body, from_=0, to=max(1, len(self.replay)))
        self.slider.configure(command=lambda value: self._slide(round(float(value))))
        self.slider.pack(side="bottom", fill="x")
        self.view = self.add_board(400)
        self.bind_actions(REVIEW_ACTIONS, self.go, self.view)
        for key, action in (
            ("space", self.toggle),
            *((key, faster) for key in tk_keys(BY_NAME["faster"])),
            *((key, slower) for key in tk_keys(BY_NAME["slower"])),
        ):
            self.view.bind(f"<{key}>", lambda _, action=action: action())  # type: ignore[misc]
        self._jump(0)
        self.open(self.view)

    # Walking

    def go(self, name: str) -> None:
        """Do what an action of `REVIEW_ACTIONS` says, where it is one of a game to watch."""
        index, last = self.replay.index, len(self.replay)
        places = {"page_back": index - PAGE, "page_forward": index + PAGE, "first": 0, "last": last}
        if name in places:
            self.seek(places[name])
        else:
            walks = {"back": self.back, "forward": self.forward, "close": self.close}
            (walks | {"play_on": self.play_from_here}).get(name, lambda: None)()

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
        self.view.put(position.board)
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
        moves = number(index), number(len(self.replay))
        place = _("Move {ply} of {count}").format(ply=moves[0], count=moves[1])
        place = _("{place}, score {score}").format(place=place, score=number(score))
        self.line.show(f"{place}. {text}")

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
        self._play.show(_("Pause"), "pause")
        self._run()

    def _run(self) -> None:
        self._timer = self.after(round(1000 / self.speed), self._run)
        self.forward()

    def pause(self) -> None:
        """Stop running."""
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
            self._play.show(_("Play"), "play")

    def change_speed(self, step: int) -> None:
        """Run faster (1) or slower (-1), where there is such a speed."""
        place = REPLAY_SPEEDS.index(self.speed) + step
        self.speed = REPLAY_SPEEDS[min(max(place, 0), len(REPLAY_SPEEDS) - 1)]
        self._show_place(_("{n} moves a second.").format(n=self.speed))

    def play_from_here(self) -> None:
        """Close the viewer, and continue the game from the place that is shown."""
        index = self.replay.index
        self.close_and(lambda: self._play_from(index))

    def close(self) -> None:
        """Close the viewer, running or not."""
        if self.winfo_exists():
            self.pause()
        super().close()
