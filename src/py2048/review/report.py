"""`Report`: a player's games over time, in all, by rules and by week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from py2048.review.moves import Grade
from py2048.review.summaries import GameSummary

UNDATED = "no date"


@dataclass(frozen=True, slots=True)
class Totals:
    """Games in numbers.

    Attributes:
        games: the games, the oldest first.
    """

    games: tuple[GameSummary, ...]

    @property
    def moves(self) -> int:
        """All moves."""
        return sum(game.moves for game in self.games)

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy of all judged moves, 0 to 100; `None` without any."""
        judged = sum(game.reviewed for game in self.games)
        summed = sum(game.accuracy * game.reviewed for game in self.games)
        return summed / judged if judged else None

    @property
    def mistakes(self) -> float | None:
        """Inaccuracies and worse in 100 judged moves; `None` without any."""
        judged = sum(game.reviewed for game in self.games)
        return 100 * sum(game.mistakes for game in self.games) / judged if judged else None

    @property
    def speed(self) -> float | None:
        """Moves a minute of thinking; `None` where no times are kept."""
        think_ms = sum(game.think_ms for game in self.games)
        return 60_000 * sum(game.timed for game in self.games) / think_ms if think_ms else None

    @property
    def luck(self) -> float:
        """The mean luck of a game, in the unit of its values."""
        return self._mean([game.luck for game in self.games])

    @property
    def loss(self) -> float:
        """What the moves of a game lost in the mean, in the unit of its values."""
        return self._mean([game.loss for game in self.games])

    @property
    def score(self) -> float:
        """The mean score."""
        return self._mean([game.score for game in self.games])

    @property
    def best(self) -> int:
        """The best score."""
        return max((game.score for game in self.games), default=0)

    @property
    def tiles(self) -> dict[int, int]:
        """How many games ended with each largest tile, the smallest first."""
        return dict(sorted(Counter(game.max_tile for game in self.games).items()))

    @property
    def grades(self) -> dict[Grade, int]:
        """The moves of each grade, the best first."""
        return {grade: sum(game.grades.get(grade, 0) for game in self.games) for grade in Grade}

    @property
    def phases(self) -> dict[int, dict[Grade, int]]:
        """The moves of each grade while a tile was the largest, by that tile."""
        tiles = sorted({int(tile) for game in self.games for tile in game.phases})
        return {
            tile: {
                grade: sum(game.phases.get(str(tile), {}).get(grade, 0) for game in self.games)
                for grade in Grade
            }
            for tile in tiles
        }

    def _mean(self, values: Sequence[float]) -> float:
        return sum(values) / len(values) if values else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that mean something for games under any rules, as JSON values."""
        return {
            "games": len(self.games),
            "moves": self.moves,
            "accuracy": _rounded(self.accuracy, 2),
            "mistakes_per_100_moves": _rounded(self.mistakes, 2),
            "moves_per_minute": _rounded(self.speed, 1),
            "grades": {grade.value: count for grade, count in self.grades.items()},
        }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


@dataclass(frozen=True, slots=True)
class Section:
    """The games under one set of rules.

    Attributes:
        rules: the rules, as text.
        judge: what judged them.
        unit: the unit of their values.
        totals: all of them.
        weeks: those of each week by its name, such as ``2026-W48``, the first week first; games
            without a date come last.
    """

    rules: str
    judge: str
    unit: str
    totals: Totals
    weeks: dict[str, Totals]

    @property
    def name(self) -> str:
        """The name of the rules."""
        return self.rules.partition(":")[0]

    def to_json(self) -> dict[str, Any]:
        """Return the section as JSON values."""
        return {
            "rules": self.rules,
            "judge": self.judge,
            "unit": self.unit,
            **_detailed(self.totals),
            "tiles": {str(tile): count for tile, count in self.totals.tiles.items()},
            "phases": {
                str(tile): {grade.value: count for grade, count in grades.items()}
                for tile, grades in self.totals.phases.items()
            },
            "weeks": {week: _detailed(totals) for week, totals in self.weeks.items()},
        }


def _detailed(totals: Totals) -> dict[str, Any]:
    """Return also the numbers that only games under the same rules share."""
    return totals.to_json() | {
        "mean_score": round(totals.score, 1),
        "best_score": totals.best,
        "mean_luck": round(totals.luck, 4),
        "mean_loss": round(totals.loss, 4),
    }


@dataclass(frozen=True, slots=True)
class Report:
    """A player's games.

    Attributes:
        totals: all games.
        weeks: those of each week, as in a `Section`.
        sections: those under each set of rules, the most played first.
        refused: why files were skipped, a line each.
    """

    totals: Totals
    weeks: dict[str, Totals]
    sections: tuple[Section, ...]
    refused: tuple[str, ...] = ()

    @classmethod
    def of(cls, games: Iterable[GameSummary], refused: Iterable[str] = ()) -> Report:
        """Return the report of these games; one that comes twice counts once."""
        unique = {(game.record, game.judge): game for game in games}
        ordered = sorted(unique.values(), key=lambda game: (not game.day, game.day))
        kinds: dict[tuple[str, str, str], list[GameSummary]] = {}
        for game in ordered:
            kinds.setdefault((game.rules, game.judge, game.unit), []).append(game)
        sections = [
            Section(*kind, Totals(tuple(group)), _weekly(group)) for kind, group in kinds.items()
        ]
        sections.sort(key=lambda section: -len(section.totals.games))
        totals = Totals(tuple(ordered))
        return cls(totals, _weekly(ordered), tuple(sections), tuple(refused))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            **self.totals.to_json(),
            "weeks": {week: totals.to_json() for week, totals in self.weeks.items()},
            "rules": [section.to_json() for section in self.sections],
            "refused": list(self.refused),
        }


def _weekly(games: Iterable[GameSummary]) -> dict[str, Totals]:
    weeks: dict[str, list[GameSummary]] = {}
    for game in games:
        weeks.setdefault(week_of(game.day), []).append(game)
    return {week: Totals(tuple(group)) for week, group in weeks.items()}


def week_of(day: str) -> str:
    """Return the ISO week of a day, such as ``2026-W48``; `UNDATED` for none.

    >>> week_of("2026-11-23"), week_of("2027-01-01")
    ('2026-W48', '2026-W53')
    """
    try:
        year, week, _ = date.fromisoformat(day).isocalendar()
    except ValueError:
        return UNDATED
    return f"{year}-W{week:02}"
