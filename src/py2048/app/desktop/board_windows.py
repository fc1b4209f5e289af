"""Windows with a board: game reviews, practice, and the viewer for recorded games."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk
from typing import TYPE_CHECKING, Any

from py2048.app.controller.controller import SPEEDS, START_SPEED
from py2048.app.controller.review import FRAME_S, PAGE, grade_colour, place_text, record_title
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.dialogs import Dialog
from py2048.app.desktop.style import Flow, Graph, Text, TextArea, colour_menu, open_below
from py2048.app.desktop.window import MainWindow, tk_keys
from py2048.app.session import Replay
from py2048.core.direction import Direction
from py2048.core.game import Record
from py2048.core.language import N_, _, number
from py2048.players import Unit
from py2048.presentation import motion
from py2048.presentation.actions import BY_NAME, PRACTICE_ACTIONS, REVIEW_ACTIONS
from py2048.presentation.board_image import BoardGrid
from py2048.presentation.describe import describe
from py2048.presentation.events import Moved, Undone
from py2048.presentation.themes import mixed
from py2048.presentation.words import counted
from py2048.review import MoveReview

if TYPE_CHECKING:
    from py2048.app.controller.practice import PracticeRun
    from py2048.app.controller.review import Frame, GameReview
    from py2048.presentation.hints import DirectionRow

# Unscaled pixels.
REVIEW_SIZE, PRACTICE_SIDE = (1000, 800), 380
TEXT_WIDTH, GRAPH_HEIGHT = 430, 130
MIN_WIDE_WIDTH = 620
"""Minimum window width for text beside the board instead of below it."""

NAVIGATION = (
    (N_("First move"), "first", "first"),
    (N_("Back"), "back", "back"),
    (N_("Forward"), "forward", "forward"),
    (N_("Last move"), "last", "last"),
    (N_("Previous mistake"), "previous_mistake", "up"),
    (N_("Next mistake"), "next_mistake", ""),
)
"""Labels, actions and icons of the navigation buttons."""


class ReviewWindow(Dialog):
    """A window that steps through the moves of a reviewed game.

    Args:
        window: The main window.
        review: The review, which may still be in progress.
        leave: Called with ``play_on`` or ``practice`` after the window has closed, if the player
            chose this action.
        is_animated: Whether tiles slide during "Show me".
    """

    def __init__(
        self,
        window: MainWindow,
        review: GameReview,
        leave: Callable[[str], object],
        is_animated: bool,
    ) -> None:
        super().__init__(window, _("Review"), REVIEW_SIZE)
        self.review, self._leave, self._is_animated = review, leave, is_animated
        self._frame: Frame | None = None
        body, look = self.body, self.look
        self._left = ttk.Frame(body, style=look.frame("raised"))
        self._left.rowconfigure(1, weight=1)
        style = look.bar("accent", "panel", "raised", is_upright=True)
        self._bar = ttk.Progressbar(body, style=style, orient="vertical", maximum=1.0)
        self._percent = Text(self._bar, "", "tiny", "on_accent", "accent", "")
        self.view = CanvasBoard(body, self._answer, "raised")
        self._game_card, self._move_card, self._graph_card = (
            ttk.Frame(body, style=look.card("raised"), padding=look.px(12)) for _ in range(3)
        )
        self._texts: dict[str, Text] = {}
        self._levels = tk.Menu(self, tearoff=False)
        self._build_game_card(self._game_card)
        self._build_move_card(self._move_card)
        self._navigation = Flow(body)
        self.buttons = {}
        for text, name, icon in NAVIGATION:
            kind, go = "plain" if icon else "danger", partial(self.go, name)
            button = self._navigation.add(_(text), go, kind=kind, icon=icon, has_text=False)
            self.buttons[name] = button
        for side, name, kind in (("left", "title", "label"), ("right", "note", "small")):
            self._add(self._graph_card, name, kind, "ink" if side == "left" else "muted", "")
        self._texts["title"].grid(row=0, column=0, sticky="w")
        self._texts["note"].grid(row=0, column=1, sticky="e")
        self.graph = Graph(self._graph_card, self._draw_graph)
        self.graph.grid(row=1, columnspan=2, sticky="nsew")
        self._graph_card.columnconfigure(1, weight=1)
        self._graph_card.rowconfigure(1, weight=1)
        for event in ("<Button-1>", "<B1-Motion>"):
            self.graph.bind(event, self._on_graph_click)
        self.bind_actions(REVIEW_ACTIONS, self.go, self.view)
        body.columnconfigure(2, weight=1)
        body.rowconfigure(4, weight=1)
        body.bind("<Configure>", lambda _: self._lay_out())
        review.changed = self._show
        self._show()
        self.open(self.view)

    def _add(
        self, card: tk.Misc, name: str, kind: str, colour: str = "ink", fit: str = "wrap"
    ) -> Text:
        """Add a label to a card, and store it in `_texts` under `name`."""
        self._texts[name] = Text(card, "", kind, colour, "panel", fit)
        return self._texts[name]

    def _build_game_card(self, card: ttk.Frame) -> None:
        card.columnconfigure(0, weight=1)
        pairs = ("Accuracy", "Score"), ("accuracy", "score"), ("accuracy_note", "luck")
        for row, names in enumerate(pairs):
            for column, (name, kind) in enumerate(zip(names, ("page", "title"), strict=True)):
                look = (kind, "ink", "") if row == 1 else ("small", "muted", "")
                text = self._add(card, name, *look)
                text.grid(row=row, column=column, sticky="es" if column else "ws")
        self._texts["Accuracy"].show(_("Accuracy"))
        self._texts["Score"].show(_("Score"))
        self._texts["score"].show(number(self.review.record.score))
        self._strip = ttk.Frame(card, height=self.look.px(10), style=self.look.frame("panel"))
        kinds = {"counts": "muted", "habits": "ink", "summary": "muted"}
        texts = (self._add(card, name, "small", colour) for name, colour in kinds.items())
        self._details = self._strip, *texts
        for row, part in enumerate(self._details):
            part.grid(row=row + 3, columnspan=2, sticky="ew", pady=(self.look.px(4), 0))

    def _build_move_card(self, card: ttk.Frame) -> None:
        look = self.look
        card.columnconfigure(1, weight=1)
        self._add(card, "place", "label", "muted", "").grid(row=0, columnspan=2, sticky="w")
        self._badge = tk.Label(card, font="label", borderwidth=0, padx=look.px(8), pady=look.px(4))
        self._badge.grid(row=0, column=2, sticky="e")
        self._message = TextArea(card, 3, "lead", background="panel")
        self._message.grid(row=1, columnspan=3, sticky="ew", pady=look.px(6))
        self._add(card, "rows_title", "small", "muted", "").grid(row=2, columnspan=3, sticky="w")
        self._rows = []
        for row in range(3, 7):
            arrow = Text(card, "", background="panel", fit="")
            bar = ttk.Progressbar(card, maximum=1.0)
            loss = Text(card, "", "label", "ink", "panel", "", width=9, anchor="e")
            card.rowconfigure(row, minsize=round(26 * look.unit))
            for column, part in enumerate((arrow, bar, loss)):
                part.grid(row=row, column=column, sticky="ew", padx=(0, look.px(8)))
            self._rows.append((arrow, bar, loss))
        buttons = Flow(card, "panel")
        self.show_me = buttons.add(_("Show me"), partial(self.go, "show_me"), kind="primary")
        self.retry = buttons.add("", partial(self.go, "retry"))
        for text, name in ((_("Play on"), "play_on"), (_("Practise"), "practice")):
            buttons.add(text, partial(self.go, name))
        self.level = buttons.add("", partial(self.go, "level"))
        buttons.grid(row=7, columnspan=3, sticky="ew")

    # Actions

    def go(self, name: str) -> None:
        """Perform an action of `REVIEW_ACTIONS`."""
        if name == "close":
            self.close()
        elif name in ("play_on", "practice"):
            self.close_and(partial(self._leave, name))
        elif name == "level":
            self._choose_level()
        else:
            self.review.go(name)
            self.view.focus_set()
            self._show()

    def _choose_level(self) -> None:
        """Open the menu of levels."""
        self._levels.delete(0, "end")
        levels = self.review.levels()
        for each in levels.choices:
            choose = partial(levels.take, each.value)
            self._levels.add_command(label=f"{each.title}  {each.detail}".rstrip(), command=choose)
        colour_menu(self._levels)
        open_below(self.level, self._levels)

    def _answer(self, direction: Direction) -> None:
        self.review.answer(direction)
        self._show()

    def _on_graph_click(self, event: tk.Event[tk.Misc]) -> None:
        self.review.seek(self.review.place_at(event.x, max(1, self.graph.winfo_width())))
        self._show()

    def close(self) -> None:
        """Close the window and cancel the review."""
        self.review.close()
        super().close()

    # Display

    def _lay_out(self) -> None:
        """Place the text beside the board if the window is wide enough, otherwise below it."""
        unit, gap = self.look.unit, self.look.px(8)
        padding = 2 * self.look.px(16)
        width, height = self.body.winfo_width() - padding, self.body.winfo_height() - padding
        is_wide, margin = width > MIN_WIDE_WIDTH * unit, self.view.margin
        across = width - 4 * gap - round((TEXT_WIDTH if is_wide else 150) * unit)
        graph = min(round(GRAPH_HEIGHT * unit), height // 5)
        down = height - graph - gap if is_wide else height * 32 // 100
        grid = BoardGrid.fit(self.review.board.shape, across, max(60, down - 2 * margin))
        self.view.configure(width=grid.width + 2 * margin - 6, height=grid.height + 2 * margin - 6)
        self._bar.configure(length=grid.height)
        for part in self._details:
            part.grid() if is_wide else part.grid_remove()
        beside: dict[str, Any] = {"column": 2, "sticky": "new", "pady": (0, gap)}
        below = beside if is_wide else beside | {"column": 0, "columnspan": 3}
        holder = self._left if is_wide else self.body
        self._left.grid(row=0, rowspan=5, column=0, columnspan=2, sticky="nsew", padx=(0, gap))
        self._bar.grid(in_=holder, row=0, column=0, sticky="n", pady=margin)
        self.view.grid(in_=holder, row=0, column=1, sticky="n", padx=(0, gap * (not is_wide)))
        for row, part in enumerate((self._game_card, self._move_card, self._navigation)):
            part.grid_forget()
            part.grid(row=row, **(below if row else beside))
        row = 1 if is_wide else 4
        self._graph_card.grid(in_=holder, row=row, column=0, columnspan=3, sticky="nsew")

    def _show(self) -> None:
        review, look, frame = self.review, self.look, self.review.frame
        if frame:
            self._show_frame(frame)
        else:
            self.view.put(review.board)
        best, played = review.marks
        if best:
            self.view.mark(best, played)
        for name, text in {
            "accuracy": review.accuracy,
            "accuracy_note": review.accuracy_note,
            "luck": review.luck,
            "counts": " · ".join(counted(review.counts)),
            "habits": "\n".join(review.habits),
            "summary": review.state,
            "place": place_text(review.index + 1, len(review)),
            "rows_title": review.rows_title,
            "title": review.graph_title,
            "note": review.graph_note,
        }.items():
            self._texts[name].show(text)
        self._message.show(review.message)
        self.level.show(review.level_title)
        self.retry.show(_("Answer") if review.is_retrying else _("Try it again"))
        for button in (self.retry, self.show_me):
            button.enable(is_on=review.move is not None)
        share = 0 if review.is_retrying else review.chances or 0
        self._bar.configure(value=share)
        self._percent.show(f"{100 * share:.0f}" if share else "")
        self._percent.place(relx=0.5, rely=1.0, y=-look.px(8), anchor="s")
        self._show_badge(None if review.is_retrying else review.move)
        self._show_rows(review.rows)
        self._show_grades()
        self.graph.draw()

    def _show_frame(self, frame: Frame) -> None:
        """Show a step of "Show me", and schedule the next step."""
        if frame is not self._frame:
            self._frame = frame
            self.view.show(frame.transition, float(self._is_animated))
            self.view.watch(frame.fear)
            self.after(round(1000 * FRAME_S), lambda: self._advance(frame))

    def _advance(self, frame: Frame) -> None:
        """Show the next step of "Show me" if `frame` is still the current step."""
        if self.review.frame is frame:
            self.review.advance()
            self._show()

    def _show_rows(self, rows: list[DirectionRow]) -> None:
        for index, (arrow, bar, loss) in enumerate(self._rows):
            if index < len(rows):
                row = rows[index]
                colour = "danger" if row.is_played and not row.is_best else "good"
                bar.configure(value=row.share, style=self.look.bar(colour, "line", "panel"))
                bar.grid()
                arrow.configure(image=self.look.icon(str(row.direction)))
                loss.show(row.text)
            else:
                bar.grid_remove()
                arrow.configure(image="")
                loss.show("")

    def _show_badge(self, move: MoveReview | None) -> None:
        """Show a move's grade on a tinted background in the grade's colour."""
        theme = self.look.theme
        tint = mixed(grade_colour(move.grade, theme), theme.panel, 0.8) if move else theme.panel
        ink = theme.danger if move and move.grade.is_mistake else theme.good
        text = self.review.badge if move else ""
        self._badge.configure(text=text, background=tint, foreground=ink)

    def _show_grades(self) -> None:
        """Draw the number of moves per grade as a stacked bar."""
        for part in self._strip.winfo_children():
            part.destroy()
        start, judged = 0.0, max(1, len(self.review.moves))
        for grade, count in self.review.counts.items():
            segment = tk.Frame(self._strip, background=grade_colour(grade, self.look.theme))
            segment.place(relx=start, relwidth=max(0.0, count / judged - 0.004), relheight=1)
            start += count / judged

    def _draw_graph(self, graph: Graph) -> None:
        """Draw the best move's chances over the game, with dots at mistakes and a cursor."""
        review, theme, width = self.review, self.look.theme, graph.winfo_width()
        graph.begin(1, {0: "", 0.5: "", 1: ""})
        bottom = graph.y(0)
        columns = review.graph(width, round(bottom - graph.y(1)))
        moves = [-1, *(review.place_at(x, width) for x in range(len(columns)))]
        judged = enumerate(zip(columns, moves[1:], moves, strict=False))
        points: list[tuple[float, float]] = [
            (x, bottom - c.height) for x, (c, move, before) in judged if c.height and move != before
        ]
        graph.line(points, is_filled=True)
        graph.line([(x, bottom - columns[round(x)].next_height) for x, _y in points], "good")
        for share in (0, 0.5, 1) if review.unit is Unit.CHANCE else ():
            graph.write(0, graph.y(share), f"{100 * share:g} %", anchor="sw" if share < 1 else "nw")
        cursor = review.column(width)
        graph.create_line(cursor, 0, cursor, graph.winfo_height(), fill=theme.ink)
        for x, column in enumerate(columns):
            if column.grade is not None:
                graph.dot(x, bottom - column.height, grade_colour(column.grade, theme), "tick")


class PracticeWindow(Dialog):
    """A window that shows one position after another and asks for the best move.

    Args:
        window: The main window.
        run: The practice run.
        answer: Callback that performs an action of `PRACTICE_ACTIONS`.
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
        self.feedback = TextArea(self.body, 6, "small")
        self.feedback.pack(side="bottom", fill="x")
        self.view = self.add_board(PRACTICE_SIDE, lambda direction: self.go(str(direction)))
        self.bind_actions(PRACTICE_ACTIONS, self.go, self.view)
        self._show()
        self.open(self.view)

    def go(self, name: str) -> None:
        """Perform an action of `PRACTICE_ACTIONS`."""
        if name == "close" or (name == "next" and self.practice.is_over):
            self.close()
            return
        self._answer(name)
        if self.winfo_exists():
            self._show()

    def _show(self) -> None:
        run = self.practice
        self.line.show(run.title)
        self.feedback.show(" ".join(filter(None, [run.verdict, run.sentences])))
        if run.is_over:
            self.next.pack_forget()  # "Close" remains
        if run.board is not None:
            self.view.put(run.board)
        if run.answer:
            self.view.mark(run.answer.move.best, run.answer.move.played)


REPLAY_SPEEDS = SPEEDS[:-1]
"""Replay speeds in turns per second. The maximum speed is left out because it is not animated."""


class ReplayWindow(Dialog):
    """A viewer for a recorded game.

    Args:
        window: The main window.
        record: The game.
        play_from: Function that starts a game from the position after a given number of turns.
        review: Function that opens the review of the game.
        is_animated: Whether tiles slide instead of jumping.

    Raises:
        RecordError: If a turn breaks the record's rules.
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
        controls = Flow(self.body)
        controls.pack(side="bottom", fill="x")
        _first, _back, self._play, *_rest = [
            controls.add(text, action, icon=icon, has_text=False)
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
        self.slider.configure(command=lambda value: self._on_slide(round(float(value))))
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

    # Navigation

    def go(self, name: str) -> None:
        """Perform one of the `REVIEW_ACTIONS`, ignoring those that need a review."""
        index, last = self.replay.index, len(self.replay)
        jumps = {"page_back": index - PAGE, "page_forward": index + PAGE, "first": 0, "last": last}
        if name in jumps:
            self.seek(jumps[name])
        else:
            actions = {"back": self.back, "forward": self.forward, "close": self.close}
            (actions | {"play_on": self.play_from_here}).get(name, lambda: None)()

    def forward(self) -> None:
        """Go forward one turn, or pause at the end of the game."""
        event = self.replay.forward()
        if event is None:
            self.pause()
        else:
            self._show(event, motion.of_move(event))

    def back(self) -> None:
        """Pause and go back one turn."""
        self.pause()
        event = self.replay.back()
        if event is not None:
            self._show(event, motion.of_undo(event))

    def seek(self, index: int) -> None:
        """Pause and jump to the position after `index` turns."""
        self.pause()
        self._jump(index)

    def _jump(self, index: int) -> None:
        position = self.replay.seek(index)
        self.view.put(position.board)
        self._show_index("")

    def _show(self, event: Moved | Undone, transition: motion.BoardTransition) -> None:
        pace = 1.0 if self._is_animated else 0.0
        if self._timer and transition.seconds:
            pace = min(pace, 1 / self.speed / transition.seconds)
        self.view.show(transition, pace)
        self._show_index(describe(event))

    def _show_index(self, text: str) -> None:
        index, score = self.replay.index, self.replay.position.score
        self.slider.configure(value=index)
        self.line.show(f"{place_text(index, len(self.replay), score)}. {text}")

    def _on_slide(self, index: int) -> None:
        if index != self.replay.index:
            self.seek(index)

    # Playback

    def toggle(self) -> None:
        """Start or pause playback."""
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
        """Pause playback."""
        if self._timer:
            self.after_cancel(self._timer)
            self._timer = ""
            self._play.show(_("Play"), "play")

    def change_speed(self, step: int) -> None:
        """Increase the replay speed by `step` levels, or decrease it if `step` is negative."""
        speed = REPLAY_SPEEDS.index(self.speed) + step
        self.speed = REPLAY_SPEEDS[min(max(speed, 0), len(REPLAY_SPEEDS) - 1)]
        self._show_index(_("{n} moves a second.").format(n=self.speed))

    def play_from_here(self) -> None:
        """Close the viewer and continue the game from the current position."""
        index = self.replay.index
        self.close_and(lambda: self._play_from(index))

    def close(self) -> None:
        """Pause playback and close the viewer."""
        if self.winfo_exists():
            self.pause()
        super().close()
