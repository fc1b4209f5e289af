"""Your finished games in numbers, and a window with two graphs of them."""

from __future__ import annotations

import tkinter as tk
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from tkinter import ttk
from typing import Literal

from py2048.app.controller.controller import title_of_rules
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.dialogs import Dialog
from py2048.app.desktop.style import Figures, Graph, Text, measured
from py2048.app.desktop.window import MainWindow
from py2048.app.session import RecordSummary, Session
from py2048.core.board import Board
from py2048.core.errors import Py2048Error
from py2048.core.language import N_, _, number
from py2048.presentation.screen import spellings

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
    """Your finished games in numbers and two graphs.

    Args:
        window: the main window.
        session: where the games are kept.

    Attributes:
        scores: the graph of the scores.
        tiles: the graph of the largest tiles.
    """

    def __init__(self, window: MainWindow, session: Session) -> None:
        super().__init__(window, _("Your games"), SIZE)
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
            self.add_text(fault, "danger")
        self._figures = Figures(self.body)
        self._figures.pack(fill="x", pady=self.look.px(8))
        self._nothing = ttk.Frame(self.body)
        board = CanvasBoard(self._nothing, ground="raised")
        board.pack(fill="both", expand=True)
        board.put(NOTHING)
        Text(self._nothing, _("Finish a game, and it appears here."), anchor="center").pack(
            fill="x"
        )
        self._plots, self._cards = ttk.Frame(self.body), list[ttk.Frame]()
        self.scores = self._add_plot(_("Scores, game by game"), self._draw_scores)
        self.tiles = self._add_plot(_("Games by their largest tile"), self._draw_tiles)
        self._plots.bind("<Configure>", self._put_plots)
        self.refresh()
        self.open(close)

    def _add_plot(self, title: str, draw: Callable[[Graph], object]) -> Graph:
        card = ttk.Frame(self._plots, style=self.look.card("raised"), padding=self.look.px(10))
        Text(card, title, "label", "ink", "panel").pack(fill="x")
        graph = Graph(card, draw)
        graph.pack(fill="both", expand=True)
        self._cards.append(card)
        return graph

    def _put_plots(self, event: tk.Event[tk.Misc]) -> None:
        """Put the graphs side by side where they have room, else one below the other."""
        side: Literal["left", "top"] = "left" if event.width > 1.6 * event.height else "top"
        for card in self._cards:
            card.pack(side=side, fill="both", expand=True, padx=2, pady=2)

    def refresh(self) -> None:
        """Show the games that are chosen."""
        rules, category = self._rules[self.rules.get()], self._categories[self.category.get()]
        self.summary = summarise(self._games, rules, category)
        self._figures.show(self.summary.lines)
        shown, hidden = self._plots, self._nothing
        if not self.summary.scores:
            shown, hidden = hidden, shown
        hidden.pack_forget()
        shown.pack(fill="both", expand=True)
        for graph in (self.scores, self.tiles):
            graph.draw()

    def _draw_scores(self, graph: Graph) -> None:
        scores, trend = self.summary.scores, self.summary.trend
        last = max(1, len(scores) - 1)
        _begin(graph, max(scores, default=0))
        for index, score in enumerate(scores):
            graph.dot(graph.x(index / last), graph.y(score), graph.look.theme.muted)
        graph.line([(graph.x(index / last), graph.y(value)) for index, value in enumerate(trend)])

    def _draw_tiles(self, graph: Graph) -> None:
        tiles, foot = self.summary.tiles, graph.look.px(12)
        _begin(graph, max((count for _tile, count in tiles), default=0), foot)
        for index, (tile, count) in enumerate(tiles):
            colour = graph.look.theme.tile(tile or 2).background
            x, top, room = graph.bar(index, len(tiles), count, colour)
            words = (text for text in spellings(tile) if measured(self, text, "caption") < room - 2)
            graph.write(x, graph.winfo_height() - foot, next(words, ""), "ink")
            if measured(self, number(count), "caption") < room:
                graph.write(x, top - foot * 0.7, number(count))


def _begin(graph: Graph, top: float, foot: int = 0) -> None:
    """Draw lines at 0, at the top and halfway, with their values."""
    values = (0, top) if top % 2 else (0, top / 2, top)
    graph.begin(top, {value: number(value) for value in values}, 2 * foot)
