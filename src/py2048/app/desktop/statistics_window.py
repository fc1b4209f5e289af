"""Statistics of the finished games, and the window that shows them."""

from __future__ import annotations

import tkinter as tk
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from tkinter import ttk
from typing import Literal

from py2048.app.controller.controller import CATEGORY_LABELS, title_of_rules
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.dialogs import Dialog
from py2048.app.desktop.style import Graph, NumberCards, Text, text_width
from py2048.app.desktop.window import MainWindow
from py2048.app.session import RecordSummary, Session
from py2048.core.board import Board
from py2048.core.errors import Py2048Error
from py2048.core.language import N_, _, number
from py2048.presentation.screen import spellings

MAX_GAMES = 10_000
ALL = "all"
CATEGORIES = {ALL: N_("all"), "plain": N_("plain")} | CATEGORY_LABELS
SIZE = 620, 680
TREND_GAMES = 10
PLACEHOLDER = Board.parse(". . . ./. 2 . ./. . 2 4/2 4 8 16")
"""Board to show as long as there is no finished game."""


@dataclass(frozen=True, slots=True)
class GameStatistics:
    """Statistics of finished games.

    Attributes:
        scores: Score of each game, oldest first.
        tiles: Number of games by largest tile, in increasing order of the tile.
        won: Number of games in which the target was reached.
        moves: Total number of turns.
    """

    scores: tuple[int, ...]
    tiles: tuple[tuple[int, int], ...]
    won: int
    moves: int

    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Labels and formatted values for the summary."""
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
        """Moving average of the scores over `TREND_GAMES` games."""
        ends = range(1, len(self.scores) + 1)
        return tuple(fmean(self.scores[max(0, end - TREND_GAMES) : end]) for end in ends)


def summarise(
    games: Sequence[RecordSummary], rules: str = ALL, category: str = ALL
) -> GameStatistics:
    """Summarise the games that match the rules and the category."""
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
    """Statistics of the finished games, with two graphs.

    Args:
        window: The main window.
        session: The session whose games are summarised.

    Attributes:
        summary: Statistics of the selected games.
        scores: Graph of the scores.
        tiles: Graph of the largest tiles.
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
        rules = str(session.rules)
        selected = next((name for name, text in self._rules.items() if text == rules), _(ALL))
        self.rules = self.add_field(_("Rules"), selected, self.refresh, list(self._rules))
        self.category = self.add_field(_("Played"), _(ALL), self.refresh, list(self._categories))
        for field in (self.rules, self.category):
            field.configure(state="readonly")
        if fault:
            self.add_text(fault, "danger")
        self._numbers = NumberCards(self.body)
        self._numbers.pack(fill="x", pady=self.look.px(8))
        self._placeholder = ttk.Frame(self.body)
        board = CanvasBoard(self._placeholder, background="raised")
        board.pack(fill="both", expand=True)
        board.put(PLACEHOLDER)
        invitation = _("Finish a game, and it appears here.")
        Text(self._placeholder, invitation, anchor="center").pack(fill="x")
        self._plots, self._cards = ttk.Frame(self.body), list[ttk.Frame]()
        self.scores = self._add_plot(_("Scores, game by game"), self._draw_scores)
        self.tiles = self._add_plot(_("Games by their largest tile"), self._draw_tiles)
        self._plots.bind("<Configure>", self._lay_out_plots)
        self.refresh()
        self.open(close)

    def _add_plot(self, title: str, draw: Callable[[Graph], object]) -> Graph:
        card = ttk.Frame(self._plots, style=self.look.card("raised"), padding=self.look.px(10))
        Text(card, title, "label", "ink", "panel").pack(fill="x")
        graph = Graph(card, draw)
        graph.pack(fill="both", expand=True)
        self._cards.append(card)
        return graph

    def _lay_out_plots(self, event: tk.Event[tk.Misc]) -> None:
        """Place the graphs side by side if the window is wide, otherwise one above the other."""
        side: Literal["left", "top"] = "left" if event.width > 1.6 * event.height else "top"
        for card in self._cards:
            card.pack(side=side, fill="both", expand=True, padx=2, pady=2)

    def refresh(self) -> None:
        """Update the statistics for the current selection."""
        rules, category = self._rules[self.rules.get()], self._categories[self.category.get()]
        self.summary = summarise(self._games, rules, category)
        self._numbers.show(self.summary.lines)
        shown, hidden = self._plots, self._placeholder
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
        tiles, line = self.summary.tiles, graph.look.px(12)
        _begin(graph, max((count for _tile, count in tiles), default=0), 2 * line)
        for index, (tile, count) in enumerate(tiles):
            colour = graph.look.theme.tile(tile or 2).background
            x, top, width = graph.bar(index, len(tiles), count, colour)
            fits = (
                text for text in spellings(tile) if text_width(self, text, "caption") < width - 2
            )
            graph.write(x, graph.winfo_height() - line, next(fits, ""), "ink")
            if text_width(self, number(count), "caption") < width:
                graph.write(x, top - line * 0.7, number(count))


def _begin(graph: Graph, top: float, footer: int = 0) -> None:
    """Draw labelled grid lines at 0, at the maximum and, if that is an integer, at half of it."""
    values = (0, top) if top % 2 else (0, top / 2, top)
    graph.begin(top, {value: number(value) for value in values}, footer)
