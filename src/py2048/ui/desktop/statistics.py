"""One's finished games in numbers. Knows no Tk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Protocol

ALL = "all"
WINDOW = 10
"""How many games the running mean spans."""


class Finished(Protocol):
    """What there is to know of a finished game; the store's summaries are such."""

    @property
    def rules(self) -> str:
        """The text of the rules."""

    @property
    def category(self) -> str:
        """``plain``, ``assisted`` or ``computer``."""

    @property
    def finished(self) -> str:
        """When it ended, as a text that sorts as time."""

    @property
    def score(self) -> int:
        """The final score."""

    @property
    def max_tile(self) -> int:
        """The largest tile of the final board."""

    @property
    def plies(self) -> int:
        """How many turns it took."""

    @property
    def outcome(self) -> str:
        """How it ended, such as ``won``."""


@dataclass(frozen=True, slots=True)
class Summary:
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
            return (("Games", "none yet: finish one, and it appears here"),)
        largest = self.tiles[-1][0]
        return (
            ("Games", f"{games:,}"),
            ("Won", f"{self.won:,} ({100 * self.won / games:.0f} %)"),
            ("Best", f"{max(self.scores):,}"),
            ("Mean", f"{fmean(self.scores):,.0f}"),
            ("Median", f"{median(self.scores):,.0f}"),
            ("Largest tile", f"{largest:,}"),
            ("Moves", f"{self.moves:,}"),
        )

    @property
    def trend(self) -> tuple[float, ...]:
        """The mean of each game and the ones before it, `WINDOW` at most."""
        scores = self.scores
        return tuple(fmean(scores[max(0, end - WINDOW) : end]) for end in range(1, len(scores) + 1))


def summarise(games: Sequence[Finished], rules: str = ALL, category: str = ALL) -> Summary:
    """Return the games under one text of rules and of one category in numbers."""
    chosen = sorted(
        (game for game in games if rules in (ALL, game.rules) and category in (ALL, game.category)),
        key=lambda game: game.finished,
    )
    return Summary(
        tuple(game.score for game in chosen),
        tuple(sorted(Counter(game.max_tile for game in chosen).items())),
        sum(game.outcome == "won" for game in chosen),
        sum(game.plies for game in chosen),
    )


def nice_steps(top: float, most: int = 5) -> list[float]:
    """Return round values from 0 that reach `top`, for the lines behind a plot."""
    if top <= 0:
        return [0.0, 1.0]
    magnitude = 1.0
    while magnitude * 10 <= top:
        magnitude *= 10
    while magnitude > top:
        magnitude /= 10
    step = next(
        magnitude * factor for factor in (0.2, 0.5, 1, 2, 5) if top / (magnitude * factor) <= most
    )
    count = int(-(-top // step))
    return [step * index for index in range(count + 1)]
