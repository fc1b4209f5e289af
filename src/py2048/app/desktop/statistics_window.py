"""Statistics window for finished games."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from statistics import fmean
from tkinter import ttk
from typing import Literal

from py2048.app.controller.controller import title_of_rules
from py2048.app.desktop.board_view import CanvasBoard
from py2048.app.desktop.dialogs import Dialog
from py2048.app.desktop.style import Graph, NumberCards, Text, text_width
from py2048.app.desktop.window import MainWindow
from py2048.app.session import Session
from py2048.core.board import Board
from py2048.core.errors import Py2048Error
from py2048.core.language import _, number
from py2048.presentation.result import Statistic
from py2048.presentation.screen import spellings
from py2048.review.report import CareerTotals

SIZE = 620, 680
TREND_GAMES = 10
PLACEHOLDER = Board.parse(". . . ./. 2 . ./. . 2 4/2 4 8 16")
"""The board to show if there are no finished games."""


def figures(totals: CareerTotals | None) -> list[Statistic]:
    """Return the statistics to show for a player's games under the same rules."""
    if totals is None:
        return [Statistic(_("Games"), _("none yet"))]
    return [
        Statistic(_("Games"), number(totals.games)),
        Statistic(_("Won"), f"{number(totals.won)} ({100 * totals.won / totals.games:.0f} %)"),
        Statistic(_("Best"), number(totals.best_score)),
        Statistic(_("Mean"), number(totals.mean_score)),
        Statistic(_("Median"), number(totals.median_score)),
        Statistic(_("Largest tile"), f"{totals.largest_tile}"),
        Statistic(_("Moves"), number(totals.moves)),
    ]


def trend(scores: Sequence[int]) -> list[float]:
    """Return the moving average of scores over `TREND_GAMES` games."""
    ends = range(1, len(scores) + 1)
    return [fmean(scores[max(0, end - TREND_GAMES) : end]) for end in ends]


class StatisticsWindow(Dialog):
    """Statistics of a player's games with two graphs, based on the stored summary.

    Args:
        window: The main window.
        session: The session whose games are summarised.

    Attributes:
        career: The summary of the games under the selected rules.
        scores: Graph of the scores.
        tiles: Graph of the largest tiles.
    """

    def __init__(self, window: MainWindow, session: Session) -> None:
        super().__init__(window, _("Your games"), SIZE)
        fault = ""
        try:
            found = session.totals()
        except Py2048Error as error:
            found, fault = [], str(error)
        self._session = session
        self._totals = {each.rules: each for each in found}
        (close,) = self.add_buttons((_("Close"), self.close))
        texts = dict.fromkeys([str(session.rules), *self._totals])
        titles = [*map(title_of_rules, texts)]
        names = [
            title if titles.count(title) == 1 else text
            for title, text in zip(titles, texts, strict=True)
        ]
        self._rules = dict(zip(names, texts, strict=True))
        self.rules = self.add_field(_("Rules"), names[0], self.refresh, names)
        self.rules.configure(state="readonly")
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
        """Place the graphs side by side in a wide window, or one above the other."""
        side: Literal["left", "top"] = "left" if event.width > 1.6 * event.height else "top"
        for card in self._cards:
            card.pack(side=side, fill="both", expand=True, padx=2, pady=2)

    def refresh(self) -> None:
        """Update the statistics for the selected rules."""
        rules = self._rules[self.rules.get()]
        self.career = self._session.career(rules)
        self._numbers.show(figures(self._totals.get(rules)))
        shown, hidden = self._plots, self._placeholder
        if not self.career.recent:
            shown, hidden = hidden, shown
        hidden.pack_forget()
        shown.pack(fill="both", expand=True)
        for graph in (self.scores, self.tiles):
            graph.draw()

    def _draw_scores(self, graph: Graph) -> None:
        scores = [each.score for each in self.career.recent]
        last = max(1, len(scores) - 1)
        _begin(graph, max(scores, default=0))
        for index, score in enumerate(scores):
            graph.dot(graph.x(index / last), graph.y(score), graph.look.theme.muted)
        points = enumerate(trend(scores))
        graph.line([(graph.x(index / last), graph.y(value)) for index, value in points])

    def _draw_tiles(self, graph: Graph) -> None:
        tiles, line = sorted(self.career.tiles.items()), graph.look.px(12)
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
    """Draw grid lines at 0 and at the maximum, and halfway if the maximum is even."""
    values = (0, top) if top % 2 else (0, top / 2, top)
    graph.begin(top, {value: number(value) for value in values}, footer)
