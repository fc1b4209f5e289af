"""Windows with a board and words: reviews of games, practice, and a game to watch."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from tkinter import ttk
from typing import Any

from PIL import Image

from py2048.direction import Direction
from py2048.game import Record
from py2048.language import N_, _, number
from py2048.players import Unit
from py2048.review.words import grade_word
from py2048.session import Moved, Replay, Undone
from py2048.ui.desktop.board_view import CanvasBoard
from py2048.ui.desktop.dialogs import Dialog, marks_of
from py2048.ui.desktop.style import Button, Photos, font, measured, wrapped, write
from py2048.ui.desktop.window import MainWindow, tk_keys
from py2048.ui.shared import motion
from py2048.ui.shared.actions import BY_NAME, PRACTICE_ACTIONS, REVIEW_ACTIONS
from py2048.ui.shared.board_image import BoardGrid, glyph, rounded
from py2048.ui.shared.controller import SPEEDS, START_SPEED
from py2048.ui.shared.describe import describe
from py2048.ui.shared.hints import DirectionRow, name_of
from py2048.ui.shared.motion import BoardTransition
from py2048.ui.shared.practice import PracticeRun
from py2048.ui.shared.review import (
    PAGE,
    GameReview,
    grade_colour,
    record_title,
)
from py2048.ui.shared.themes import TYPE, Theme, mixed

REVIEW_SIZE, WIDE, COLUMN = (960, 700), 620, 400
"""The size of a review at first, the width from which words stand beside the board, and theirs."""

GRAPH_HEIGHT, BAR = 130, 18
"""The height of the graph, the width of the bar beside the board."""

TOOLS = (
    (N_("First move"), "first", "first"),
    (N_("Back"), "back", "back"),
    (N_("Forward"), "forward", "forward"),
    (N_("Last move"), "last", "last"),
    (N_("Mistake before"), "previous_mistake", "up"),
)
"""The buttons that walk, besides that to the next mistake: words, actions and icons."""


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
        super().__init__(window, _("Review"))
        self.review, self.is_trying, self._tried = review, False, ""
        self._play_on = partial(self.close_and, play_on)
        self.page = tk.Canvas(self.body, highlightthickness=0, background=self.theme.raised)
        self.page.pack(fill="both", expand=True)
        self._photos = Photos(self.page)
        self.view = CanvasBoard(self.page, self.theme, self._answer, ground="raised")
        self.graph = ReviewGraph(self.page, review, self.theme, self.scale, self._seek)

        def add(text: str, action: Callable[[], object], **look: Any) -> Button:
            look["height"] = self.button_height
            return Button(self.page, text, action, self.theme, self.scale, **look)

        self.retry = add(_("Try it again"), self.try_again, kind="primary", ground="panel")
        self.play_on = add(_("Play on from here"), self._play_on, ground="panel")
        self.buttons = {
            name: add(_(text), partial(self.go, name), icon=icon, ground="raised")
            for text, name, icon in TOOLS
        }
        self.buttons["next_mistake"] = add(
            _("Next mistake"), partial(self.go, "next_mistake"), kind="danger", ground="raised"
        )
        self.bind_actions(REVIEW_ACTIONS, self.go, self.view)
        for way in Direction:  # the keys of moves walk, unless a better move is looked for
            for key in tk_keys(BY_NAME[str(way)]):
                self.bind(f"<{key}>", partial(self._arrow, way))
        room = self.winfo_screenwidth() * 0.96, self.winfo_screenheight() * 0.9
        sizes = zip(REVIEW_SIZE, room, strict=True)
        self.first_size = [round(min(size * self.scale, most)) for size, most in sizes]
        self.page.bind("<Configure>", lambda _: self._show())
        review.changed = self._show
        self.open(self.view)

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

    def _seek(self, index: int) -> None:
        self.is_trying = False
        self.review.seek(index)
        self._show()

    def close(self) -> None:
        """Close the window, and stop judging."""
        self.review.close()
        self._photos.clear()
        super().close()

    # What is shown

    @property
    def said(self) -> str:
        """What is said of the move."""
        if self.is_trying:
            return self._tried or _("Your move. Which way is best?")
        review = self.review
        return " ".join(filter(None, (review.headline, review.why)))

    @property
    def summary(self) -> str:
        """How far the review is, or what is said after it."""
        review = self.review
        return review.progress or review.error or review.note

    def _show(self) -> None:
        """Draw all of it, as it lies in the window now."""
        page, review, unit = self.page, self.review, self.scale
        width, height = page.winfo_width(), page.winfo_height()
        if min(width, height) < 100:
            return
        self.view.show(BoardTransition((), review.board), 0)
        if review.rows and not self.is_trying:
            self.view.mark(marks_of(review.rows))
        self.retry.show(
            _("Show the answer") if self.is_trying else _("Try it again"),
            is_possible=review.move is not None,
        )
        page.delete("all")
        gap, bar = round(12 * unit), round(BAR * unit)
        is_wide = width > WIDE * unit
        graph = round(GRAPH_HEIGHT * unit) if height > 560 * unit else round(height * 0.16)
        column = round(COLUMN * unit)
        across = width - bar - 2 * gap - (column if is_wide else 0)
        down = height - graph - gap if is_wide else round(height * 0.32)
        grid = BoardGrid.fit(review.board.shape, across, max(60, down - 2 * gap))
        margin = self.view.margin = gap
        self._draw_bar(gap, bar, grid.height)
        self._place(self.view, bar, 0, grid.width + 2 * margin, grid.height + 2 * margin)
        if is_wide:
            left = bar + grid.width + 3 * gap
            top = self._draw_accuracy(left, gap, width - left)
            top = self._draw_move(left, top + gap, width - left, has_face=True)
            top = self._put_tools(left, top + gap, width - left)
        else:
            self._write_accuracy(bar + grid.width + 3 * gap, gap)
            top = self._draw_move(0, grid.height + 2 * gap, width, has_face=False)
            top = self._put_tools(0, top + gap, width)
        top = max(top + gap, height - graph)
        self._put_graph(top, width, height - top)

    def _place(self, part: tk.Widget, left: int, top: int, width: int, height: int) -> None:
        self.page.create_window(left, top, window=part, anchor="nw", width=width, height=height)

    def _face(self, name: str, box: tuple[int, int, int, int], radius: int, colour: str) -> None:
        """Draw a rounded face: left, top, width and height."""
        left, top, width, height = box
        if min(width, height) > 0:
            radius = min(radius, min(width, height) // 2)
            draw = partial(rounded, width, height, radius, colour)
            photo = self._photos.get((name, width, height, colour), draw)
            self.page.create_image(left, top, image=photo, anchor="nw")

    def _write(
        self, x: float, y: float, text: str, name: str, colour: str = "", **look: Any
    ) -> None:
        look = {"anchor": "w"} | look
        colour = colour or self.theme.ink
        write(self.page, (x, y), text, colour, TYPE[name][0] * self.scale, **look)

    def _draw_bar(self, top: int, width: int, height: int) -> None:
        """Draw how good the position is, beside the board."""
        theme, share = self.theme, self.review.chances
        self._face("track", (0, top, width, height), width // 2, theme.panel)
        if share is not None and not self.is_trying:
            filled = max(width, round(height * share))
            box = 0, top + height - filled, width, filled
            self._face("share", box, width // 2, theme.accent)
            place, text = top + height - width * 0.6, f"{100 * share:.0f}"
            here, ink, pixels = (width / 2, place), theme.on_accent, width * 1.2 / max(2, len(text))
            write(self.page, here, text, ink, pixels, bold=True, anchor="center")

    def _write_accuracy(self, left: int, top: int) -> None:
        """Write the figures of the whole game where there is no room for their card."""
        unit, review = self.scale, self.review
        accuracy = "" if review.accuracy is None else f"{number(review.accuracy, 1)} %"
        for place, (name, value) in enumerate(
            ((_("Accuracy"), accuracy), (_("Score"), number(review.record.score)))
        ):
            y = top + (12 + 52 * place) * unit
            self._write(left, y, name, "small", self.theme.muted)
            self._write(left, y + 22 * unit, value, "title", bold=True)

    def _draw_accuracy(self, left: int, top: int, width: int) -> int:
        """Draw the card of the whole game, and return where it ends."""
        unit, theme, review = self.scale, self.theme, self.review
        pad = round(16 * unit)
        said = [f"{number(n)} {grade_word(grade, n)}" for grade, n in review.counts.items() if n]
        letters, room = font(self, TYPE["small"][0] * unit), width - 2 * pad
        lines = wrapped(self, " · ".join(said), letters, room, 2) if said else []
        lines += wrapped(self, self.summary, letters, room, 1) if self.summary else []
        high = round((112 + 17 * max(2, len(lines))) * unit)
        self._face("whole", (left, top, width, high), round(16 * unit), theme.panel)
        x, end = left + pad, left + width - pad
        self._write(x, top + 24 * unit, _("Accuracy"), "small", theme.muted)
        if review.accuracy is not None:
            text = f"{number(review.accuracy, 1)} %"
            self._write(x, top + 52 * unit, text, "page", bold=True)
        self._write(end, top + 22 * unit, _("Score"), "small", theme.muted, anchor="e")
        score = number(review.record.score)
        self._write(end, top + 44 * unit, score, "title", anchor="e", bold=True)
        if review.luck:
            text = _("luck: {luck}").format(luck=review.luck)
            self._write(end, top + 66 * unit, text, "small", theme.muted, anchor="e")
        start = float(x)
        judged = max(1, len(review.moves))
        for grade, count in review.counts.items():
            long = room * count / judged
            if count:
                box = start, top + 82 * unit, start + max(2, long - 2 * unit), top + 92 * unit
                self.page.create_rectangle(*box, fill=grade_colour(grade, theme), width=0)
            start += long
        for place, line in enumerate(lines):
            y = top + (108 + 17 * place) * unit
            self._write(left + pad, y, line, "small", theme.muted)
        return top + high

    def _draw_move(self, left: int, top: int, width: int, *, has_face: bool) -> int:
        """Draw what is known of the move, and return where that ends."""
        unit, theme, review = self.scale, self.theme, self.review
        pad, row = (round(16 * unit) if has_face else 0), round((30 if has_face else 22) * unit)
        high = round((110 if has_face else 76) * unit) + 4 * row + round(64 * unit)
        ground = "panel" if has_face else "raised"
        for button in (self.retry, self.play_on):
            button.stand_on(ground)
        if has_face:
            self._face("move", (left, top, width, high), round(16 * unit), theme.panel)
        x, end, y = left + pad, left + width - pad, float(top + (24 if has_face else 12) * unit)
        self._write(x, y, review.place_title, "small", theme.muted, bold=True)
        if review.badge and not self.is_trying:
            self._draw_badge(end, y)
        letters = font(self, TYPE["body"][0] * unit, bold=True)
        for line in wrapped(self, self.said, letters, width - 2 * pad, 2 + has_face):
            y += 22 * unit
            self._write(x, y, line, "body", bold=True)
        y = top + (110 if has_face else 76) * unit
        for place, each in enumerate(review.rows if not self.is_trying else ()):
            self._draw_row(each, x, round(y + place * row), end)
        y += 4 * row + 4 * unit
        used = self._put_row((self.retry, self.play_on), x, round(y), width - 2 * pad, 0)
        return top + high if has_face else used

    def _draw_badge(self, end: int, middle: float) -> None:
        unit, review = self.scale, self.review
        assert review.move is not None
        letters = font(self, TYPE["small"][0] * unit, bold=True)
        width = measured(self, review.badge, letters) + round(16 * unit)
        colour = grade_colour(review.move.grade, self.theme)
        box = end - width, round(middle - 12 * unit), width, round(24 * unit)
        tint = mixed(colour, self.theme.panel, 0.8)
        self._face("badge", box, round(8 * unit), tint)
        ink = self.theme.danger if review.move.grade.is_mistake else self.theme.good
        self._write(end - 8 * unit, middle, review.badge, "small", ink, bold=True, anchor="e")

    def _draw_row(self, row: DirectionRow, left: int, top: int, end: int) -> None:
        """Draw what a direction was worth: its arrow, a bar and its loss."""
        unit, theme, side = self.scale, self.theme, round(18 * self.scale)
        colour = theme.danger if row.is_played and not row.is_best else theme.good
        image = Image.new("RGBA", (side, side), theme.ink)
        image.putalpha(glyph(str(row.direction), side))
        photo = self._photos.get(("arrow", row.direction), lambda: image)
        self.page.create_image(left, top, image=photo, anchor="nw")
        x, thick = left + round(34 * unit), round(8 * unit)
        room = end - x - round(96 * unit)
        y = top + (side - thick) // 2
        self._face("track", (x, y, room, thick), thick // 2, theme.line)
        self._face("worth", (x, y, round(room * row.share), thick), thick // 2, colour)
        text = row.text
        self._write(end, top + side / 2, text, "small", anchor="e", bold=True)

    def _put_tools(self, left: int, top: int, width: int) -> int:
        for name, button in self.buttons.items():
            button.fit(has_words=name == "next_mistake", letters=TYPE["small"][0])
        return self._put_row(tuple(self.buttons.values()), left, top, width, -1)

    def _put_row(
        self, buttons: Sequence[Button], left: int, top: int, width: int, widest: int
    ) -> int:
        """Put buttons side by side, one of them as wide as there is room."""
        unit = self.scale
        gap, ring = round((8 if width > 350 * unit else 4) * unit), buttons[0].ring
        widths = [each.fit(letters=TYPE["small"][0]) - 2 * ring for each in buttons]
        spare = width - sum(widths) - gap * (len(buttons) - 1)
        widths[widest] += spare
        for button, wide in zip(buttons, widths, strict=True):
            high = int(button["height"])
            self._place(button, left - ring, top - ring, wide + 2 * ring, high)
            left += wide + gap
        return top + int(buttons[0]["height"]) - 2 * ring

    def _put_graph(self, top: int, width: int, height: int) -> None:
        unit = self.scale
        if height < 70 * unit:
            return
        pad, head = round(14 * unit), round(30 * unit)
        self._face("graph", (0, top, width, height), round(16 * unit), self.theme.panel)
        is_chance = self.review.unit is Unit.CHANCE
        title = _("Chance") if is_chance else _("Points still to come")
        self._write(pad, top + head * 0.6, title, "small", bold=True)
        place = self.review.place_title
        self._write(width - pad, top + head * 0.6, place, "small", self.theme.muted, anchor="e")
        self._place(self.graph, pad, top + head, width - 2 * pad, height - head - pad // 2)
        self.graph.draw()


class ReviewGraph(tk.Canvas):
    """The graph of a review, with a dot for each mistake; the mouse goes to a move.

    Args:
        parent: the page that it stands on.
        review: the review.
        theme: the colours.
        scale: how many pixels of this screen are one of an ordinary screen.
        seek: called with the move that the mouse points at.
    """

    def __init__(
        self,
        parent: tk.Canvas,
        review: GameReview,
        theme: Theme,
        scale: float,
        seek: Callable[[int], object],
    ) -> None:
        super().__init__(parent, highlightthickness=0, background=theme.panel)
        self._review, self._theme, self._seek, self._scale = review, theme, seek, scale
        self.bind("<Configure>", lambda _: self.draw())
        for event in ("<Button-1>", "<B1-Motion>"):
            self.bind(event, self._point)

    def _point(self, event: tk.Event[tk.Misc]) -> None:
        self._seek(self._review.place_at(event.x, max(1, self.winfo_width())))

    def draw(self) -> None:
        """Draw all that is judged, and where the review is."""
        self.delete("all")
        width, height, theme = self.winfo_width(), self.winfo_height(), self._theme
        edge = round(6 * self._scale)
        if width < 10 or height <= 2 * edge:
            return
        review = self._review
        columns = review.graph(width, height - 2 * edge)
        line = [
            (x, height - edge - each.height)
            for x, each in enumerate(columns)
            if each.height and (not x or review.place_at(x - 1, width) != review.place_at(x, width))
        ]
        for share in (0, 0.5, 1):
            y = edge + share * (height - 2 * edge)
            self.create_line(0, y, width, y, fill=theme.line)
        if len(line) > 1:
            outline = [(line[0][0], height), *line, (line[-1][0], height)]
            tint = mixed(theme.panel, theme.accent, 0.2)
            self.create_polygon(*outline, fill=tint, width=0)
            self.create_line(*line, fill=theme.accent, width=2.5 * self._scale)
        here = self._review.column(width)
        self.create_line(here, 0, here, height, fill=theme.ink, width=max(1, round(self._scale)))
        radius = 4 * self._scale
        for x, column in enumerate(columns):
            if column.grade is not None:
                y, dot = height - edge - column.height, max(radius, min(x, width - radius))
                box = dot - radius, y - radius, dot + radius, y + radius
                colour = grade_colour(column.grade, theme)
                self.create_oval(*box, fill=colour, outline=theme.panel, tags="tick")


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
