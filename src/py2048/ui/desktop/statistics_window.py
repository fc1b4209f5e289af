"""Your finished games in numbers, and a window with two plots of them, drawn on canvases."""

from __future__ import annotations

import tkinter as tk
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, median

from py2048.board import Board
from py2048.errors import Py2048Error
from py2048.language import N_, _, number
from py2048.session import RecordSummary, Session
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.desktop.style import Photos, cut, font, measured, write
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared.board_image import BoardGrid, board, face
from py2048.ui.shared.controller import title_of_rules
from py2048.ui.shared.screen import spellings
from py2048.ui.shared.themes import TYPE, Theme

MAX_GAMES = 10_000
ALL = "all"
CATEGORIES = {
    ALL: N_("all"),
    "plain": N_("plain"),
    "assisted": N_("assisted"),
    "computer": N_("played by the computer"),
}
"""What the categories of games are called."""

SIZE = 620, 680
NOTHING = Board.parse(". . . ./. 2 . ./. . 2 4/2 4 8 16")
"""What stands where there are no games yet."""

Box = tuple[int, int, int, int]
"""Left, top, width and height."""

WINDOW = 10
"""How many games the running mean spans."""


@dataclass(frozen=True, slots=True)
class GameStatistics:
    """Games in numbers.

    Attributes:
        scores: the score of each game, the oldest first.
        tiles: how many games ended with each largest tile, the smallest tile first.
        won: how many reached the target of their rules.
        moves: the turns of all games together.
    """

    scores: tuple[int, ...]
    tiles: tuple[tuple[int, int], ...]
    won: int
    moves: int

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """What a person wants to know, as names and values."""
        games = len(self.scores)
        if not games:
            return ((_("Games"), _("none yet")),)
        won = f"{number(self.won)} ({100 * self.won / games:.0f} %)"
        return (
            (_("Games"), number(games)),
            (_("Won"), won),
            (_("Best"), number(max(self.scores))),
            (_("Mean"), number(fmean(self.scores))),
            (_("Median"), number(median(self.scores))),
            (_("Largest tile"), f"{self.tiles[-1][0]}"),
            (_("Moves"), number(self.moves)),
        )

    @property
    def trend(self) -> tuple[float, ...]:
        """The mean of each game and the ones before it, `WINDOW` at most."""
        scores = self.scores
        return tuple(fmean(scores[max(0, end - WINDOW) : end]) for end in range(1, len(scores) + 1))


def summarise(
    games: Sequence[RecordSummary], rules: str = ALL, category: str = ALL
) -> GameStatistics:
    """Return the games under one text of rules and of one category in numbers."""
    chosen = sorted(
        (game for game in games if rules in (ALL, game.rules) and category in (ALL, game.category)),
        key=lambda game: game.finished,
    )
    return GameStatistics(
        tuple(game.score for game in chosen),
        tuple(sorted(Counter(game.max_tile for game in chosen).items())),
        sum(game.outcome == "won" for game in chosen),
        sum(game.plies for game in chosen),
    )


class StatisticsWindow(Dialog):
    """Your finished games in numbers and two plots.

    Args:
        window: the main window.
        session: where the games are kept.
    """

    def __init__(self, window: MainWindow, session: Session) -> None:
        super().__init__(window, _("Your games"))
        fault = ""
        try:
            self._games = session.finished(limit=MAX_GAMES)
        except Py2048Error as error:
            self._games, fault = [], str(error)
        (close,) = self.add_buttons((_("Close"), self.close))
        texts = dict.fromkeys(game.rules for game in self._games)
        titles = Counter(map(title_of_rules, texts))
        names = {text: title_of_rules(text) for text in texts if titles[title_of_rules(text)] == 1}
        self._rules = {_(ALL): ALL} | {names.get(text, text): text for text in texts}
        self._categories = {_(title): name for name, title in CATEGORIES.items()}
        current = str(session.rules)
        shown = next((name for name, text in self._rules.items() if text == current), _(ALL))
        self.rules = self.add_field(_("Rules"), shown, self.refresh, list(self._rules))
        self.category = self.add_field(_("Played"), _(ALL), self.refresh, list(self._categories))
        for field in (self.rules, self.category):
            field.configure(state="readonly")
        if fault:
            self.add_text(fault, "Fault.TLabel")
        self.page = tk.Canvas(self.body, highlightthickness=0, background=self.theme.raised)
        self.page.pack(fill="both", expand=True, pady=(round(8 * self.scale), 0))
        room = self.winfo_screenwidth() * 0.96, self.winfo_screenheight() * 0.9
        sizes = zip(SIZE, room, strict=True)
        self.first_size = [round(min(size * self.scale, most)) for size, most in sizes]
        self._photos = Photos(self.page)
        self.page.bind("<Configure>", lambda _: self._draw())
        self.refresh()
        self.open(close)

    def close(self) -> None:
        """Close the window, and free its pictures."""
        self._photos.clear()
        super().close()

    def refresh(self) -> None:
        """Show the games that are chosen."""
        rules, category = self._rules[self.rules.get()], self._categories[self.category.get()]
        self.summary = summarise(self._games, rules, category)
        self._draw()

    def _draw(self) -> None:
        """Draw the numbers as cards in rows that have room for them, and the plots below."""
        page, unit = self.page, self.scale
        page.delete("all")
        width, height, gap = page.winfo_width(), page.winfo_height(), round(8 * unit)
        lines = self.summary.lines
        columns = max(1, min(len(lines), int(width / ((72 if width < 480 * unit else 104) * unit))))
        columns = -(-len(lines) // -(-len(lines) // columns))  # as many in each row
        step, high = (width + gap) // columns, round(56 * unit)
        for place, (name, value) in enumerate(lines):
            x, y = place % columns * step, place // columns * (high + gap)
            self._face(x, y, step - gap, high)
            self._write(x + 10 * unit, y + 17 * unit, name, "caption", step - 2 * gap)
            self._write(x + 10 * unit, y + 38 * unit, value, "title", step - 3 * gap)
        top = -(-len(lines) // columns) * (high + gap)
        if not self.summary.scores:
            self._draw_nothing(width, top, height)
            return
        is_wide = width > 1.6 * (height - top)  # the plots stand side by side
        room = (width - gap) // 2 if is_wide else width
        down = height - top if is_wide else (height - top - gap) // 2
        if down < 60 * unit:
            return
        boxes = (0, top), ((room + gap, top) if is_wide else (0, top + down + gap))
        for (left, y), draw in zip(boxes, (self._plot_scores, self._plot_tiles), strict=True):
            self._face(left, y, room, down)
            draw((left, y, room, down))

    def _face(self, left: int, top: int, width: int, height: int) -> None:
        colours = self.theme.panel, self.theme.raised
        draw = partial(face, width, height, round(12 * self.scale), *colours)
        photo = self._photos.get((width, height), draw)
        self.page.create_image(left, top, image=photo, anchor="nw")

    def _write(self, x: float, y: float, text: str, name: str, room: float) -> None:
        """Write in letters that are small enough for the room."""
        is_bold, pixels = name == "title", TYPE[name][0] * self.scale
        wide = measured(self, text, font(self, pixels, bold=is_bold))
        pixels *= min(1.0, room / max(1, wide))
        colour = self.theme.ink if is_bold else self.theme.muted
        write(self.page, (x, y), text, colour, pixels, bold=is_bold, anchor="w")

    def _draw_nothing(self, width: int, top: int, height: int) -> None:
        """Say what will be here: a small board and a sentence."""
        side = round(min(140 * self.scale, (height - top) * 0.5))
        grid = BoardGrid.fit((4, 4), max(20, side), max(20, side))
        theme = replace(self.theme, page=self.theme.raised)
        picture = board(NOTHING, grid, theme)
        photo = self._photos.get(("nothing", grid), lambda: picture)
        middle = width / 2, top + (height - top) / 2
        self.page.create_image(middle[0], middle[1] - 14 * self.scale, image=photo)
        text = _("Finish a game, and it appears here.")
        place = middle[0], middle[1] + grid.height / 2 + 14 * self.scale
        write(self.page, place, text, self.theme.muted, TYPE["body"][0] * self.scale)

    def _plot_scores(self, box: Box) -> None:
        scores, trend = self.summary.scores, self.summary.trend
        plot = Plot(self.page, self.theme, self.scale, _("Scores, game by game"), box, max(scores))
        last = max(1, len(scores) - 1)
        for index, score in enumerate(scores):
            plot.dot(index / last, score)
        plot.line([(index / last, value) for index, value in enumerate(trend)])

    def _plot_tiles(self, box: Box) -> None:
        tiles = self.summary.tiles
        most, title = max(count for _tile, count in tiles), _("Games by their largest tile")
        plot = Plot(self.page, self.theme, self.scale, title, box, most)
        for index, (tile, count) in enumerate(tiles):
            plot.bar(index, len(tiles), count, self.theme.tile(tile or 2).background, tile)


class Plot:
    """A plot in a box of a canvas, with lines at 0, at `top` and halfway behind it."""

    def __init__(
        self, canvas: tk.Canvas, theme: Theme, scale: float, title: str, box: Box, top: float
    ) -> None:
        self._canvas, self._theme, self._scale = canvas, theme, scale
        left, above, width, height = box
        letters, self._most = font(canvas, 12 * scale), top or 1
        values = (0, top) if top < 2 else (0, top / 2, top)
        wide = max(measured(canvas, number(value), letters) for value in values)
        self._left, self._right = left + wide + 18 * scale, left + width - 14 * scale
        self._top, self._bottom = above + 46 * scale, above + height - 26 * scale
        title = cut(canvas, title, font(canvas, 13 * scale, bold=True), width - 24 * scale)
        place = left + 12 * scale, above + 18 * scale
        write(canvas, place, title, theme.ink, 13 * scale, bold=True, anchor="w")
        for value in values:
            y = self._y(value)
            canvas.create_line(self._left, y, self._right, y, fill=theme.line)
            self._write(self._left - 6 * scale, y, number(value), theme.muted, "e")

    def _write(self, x: float, y: float, text: str, colour: str, anchor: str = "center") -> None:
        write(self._canvas, (x, y), text, colour, 12 * self._scale, anchor=anchor)

    def _x(self, share: float) -> float:
        return self._left + 6 + share * (self._right - self._left - 12)

    def _y(self, value: float) -> float:
        return self._bottom - value / self._most * (self._bottom - self._top)

    def dot(self, share: float, value: float) -> None:
        """Draw a value at this share of the way from left to right."""
        x, y, r = self._x(share), self._y(value), 2.5 * self._scale
        self._canvas.create_oval(x - r, y - r, x + r, y + r, fill=self._theme.muted, width=0)

    def line(self, points: list[tuple[float, float]]) -> None:
        """Draw a line through values."""
        if len(points) > 1:
            flat = [c for share, value in points for c in (self._x(share), self._y(value))]
            self._canvas.create_line(*flat, fill=self._theme.accent, width=2.5 * self._scale)

    def bar(self, index: int, count: int, value: float, colour: str, tile: int) -> None:
        """Draw one of `count` bars, with its tile below in the spelling that has room."""
        room, scale = (self._right - self._left) / count, self._scale
        x, top = self._left + (index + 0.5) * room, self._y(value)
        half = min(room * 0.4, 30 * scale)
        box = x - half, top, x + half, self._bottom
        self._canvas.create_rectangle(*box, fill=colour, outline=self._theme.line, tags="bar")
        letters = font(self._canvas, 12 * scale)
        fitting = (
            text for text in spellings(tile) if measured(self._canvas, text, letters) < room - 2
        )
        if label := next(fitting, ""):
            self._write(x, self._bottom + 12 * scale, label, self._theme.ink)
        if measured(self._canvas, number(value), letters) < room:
            self._write(x, top - 9 * scale, number(value), self._theme.muted)
