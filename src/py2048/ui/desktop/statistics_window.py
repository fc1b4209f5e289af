"""Your finished games in numbers, and a window with two plots of them, drawn on canvases."""

from __future__ import annotations

import tkinter as tk
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from py2048.errors import Py2048Error
from py2048.language import N_, _, number
from py2048.session import RecordSummary, Session
from py2048.ui.desktop.dialogs import Dialog
from py2048.ui.desktop.style import write
from py2048.ui.desktop.window import MainWindow
from py2048.ui.shared.controller import title_of
from py2048.ui.shared.themes import Theme

MAX_GAMES = 10_000
ALL = "all"
CATEGORIES = {
    ALL: N_("all"),
    "plain": N_("plain"),
    "assisted": N_("assisted"),
    "computer": N_("played by the computer"),
}
"""What the categories of games are called."""
HEIGHT = 190

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
            return ((_("Games"), _("none yet: finish one, and it appears here")),)
        largest = self.tiles[-1][0]
        return (
            (_("Games"), number(games)),
            (_("Won"), f"{number(self.won)} ({number(100 * self.won / games)} %)"),
            (_("Best"), number(max(self.scores))),
            (_("Mean"), number(fmean(self.scores))),
            (_("Median"), number(median(self.scores))),
            (_("Largest tile"), f"{largest}"),
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
        super().__init__(window, _("Statistics"))
        fault = ""
        try:
            self._games = session.finished(limit=MAX_GAMES)
        except Py2048Error as error:
            self._games, fault = [], str(error)
        self.add_title(_("Your games"))
        (close,) = self.add_buttons((_("Close"), self.close))
        texts = dict.fromkeys(game.rules for game in self._games)
        titles = Counter(map(title_of, texts))
        names = {text: title_of(text) for text in texts if titles[title_of(text)] == 1}
        self._categories = {_(title): name for name, title in CATEGORIES.items()}
        self._rules = {_(ALL): ALL} | {names.get(text, text): text for text in texts}
        current = str(session.rules)
        shown = next((name for name, text in self._rules.items() if text == current), _(ALL))
        self.rules = self.add_field(_("Rules"), shown, self.refresh, list(self._rules))
        self.category = self.add_field(_("Played"), _(ALL), self.refresh, [*self._categories])
        for field in (self.rules, self.category):
            field.configure(state="readonly")
        self._numbers = self.add_text()
        if fault:
            self.add_text(fault, "Fault.TLabel")
        self.plots = [self._add_plot(), self._add_plot()]
        self.refresh()
        self.open(close)

    def _add_plot(self) -> tk.Canvas:
        canvas = tk.Canvas(self.body, background=self.theme.panel, highlightthickness=0)
        canvas.configure(width=round(520 * self.scale), height=round(HEIGHT * self.scale))
        canvas.pack(fill="both", expand=True, pady=(0, round(8 * self.scale)))
        canvas.bind("<Configure>", lambda _: self._draw())
        return canvas

    def refresh(self) -> None:
        """Show the games that are chosen."""
        rules = self._rules[self.rules.get()]
        self.summary = summarise(self._games, rules, self._categories[self.category.get()])
        numbers = "   ".join(f"{name}: {value}" for name, value in self.summary.lines)
        self._numbers.configure(text=numbers)
        self._draw()

    def _draw(self) -> None:
        for canvas in self.plots:
            canvas.delete("all")
        scores, tiles, trend = self.summary.scores, self.summary.tiles, self.summary.trend
        if not scores:
            return
        plot = Plot(self.plots[0], self.theme, self.scale, _("Scores, game by game"), max(scores))
        last = max(1, len(scores) - 1)
        for index, score in enumerate(scores):
            plot.dot(index / last, score)
        plot.line([(index / last, value) for index, value in enumerate(trend)])
        most = max(count for _, count in tiles)
        plot = Plot(self.plots[1], self.theme, self.scale, _("Games by their largest tile"), most)
        for index, (tile, count) in enumerate(tiles):
            plot.bar(index, len(tiles), count, self.theme.tile(tile or 2).background, f"{tile}")


class Plot:
    """A plot on a canvas, with lines at 0, at `top` and halfway behind it."""

    def __init__(
        self, canvas: tk.Canvas, theme: Theme, scale: float, title: str, top: float
    ) -> None:
        self._canvas, self._theme, self._scale = canvas, theme, scale
        self._left, self._right = 60 * scale, canvas.winfo_width() - 14 * scale
        self._top, self._bottom = 30 * scale, canvas.winfo_height() - 22 * scale
        self._write(self._left, 13 * scale, title, theme.ink, "w")
        self._most = top or 1
        for value in (0, top / 2, top):
            y = self._y(value)
            canvas.create_line(self._left, y, self._right, y, fill=theme.empty)
            self._write(self._left - 6, y, f"{value:,.0f}", theme.muted, "e")

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
            self._canvas.create_line(*flat, fill=self._theme.accent, width=2 * self._scale)

    def bar(self, index: int, count: int, value: float, colour: str, label: str) -> None:
        """Draw one of `count` bars."""
        room = (self._right - self._left) / count
        x, top, half = (
            self._left + (index + 0.5) * room,
            self._y(value),
            min(room * 0.4, 30 * self._scale),
        )
        box = x - half, top, x + half, self._bottom
        self._canvas.create_rectangle(*box, fill=colour, outline=self._theme.ink)
        self._write(x, self._bottom + 11 * self._scale, label, self._theme.ink)
        self._write(x, top - 9 * self._scale, f"{value:,.0f}", self._theme.muted)
