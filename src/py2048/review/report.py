"""`GamesReport`: statistics about a player's games, in total, by rules and by week.

Reports are computed from summaries. A review takes seconds, but its summary only takes a few
hundred bytes, so summaries are stored and each game is reviewed only once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec

from py2048.core.game import Record
from py2048.review.games import Review, last_board
from py2048.review.moves import Grade

UNDATED = "no date"
"""Shown instead of the week for games without a date."""

VERSION = 6
"""Version of the summary file.

Increment the version if the fields change, or the definitions of grades, accuracy or luck.
"""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """Key figures of a reviewed game.

    Attributes:
        record: Checksum of the game's record.
        asked: Spec of the requested judge, or the requested level.
        judge: Name of the judge.
        rules: Rules as text.
        player: Name of the player.
        day: Date of the game's end, such as ``2026-11-23``, or of its start if the end is unknown.
            May be empty.
        score: Score.
        moves: Number of legal moves.
        max_tile: Largest tile.
        won: Whether the target was reached.
        timed: Number of moves with a recorded thinking time.
        think_ms: Total recorded thinking time in milliseconds.
        unit: Unit of `loss` and `luck`.
        reviewed: Number of reviewed moves.
        accuracy: Accuracy of the game, 0 to 100, or None if too little was at stake.
        loss: Total loss of the moves.
        luck: Total luck.
        grades: Number of moves by grade.
        phases: Number of moves by largest tile on the board, and by grade.
    """

    record: str
    asked: str
    judge: str
    rules: str
    player: str
    day: str
    score: int
    moves: int
    max_tile: int
    won: bool
    timed: int
    think_ms: int
    unit: str
    reviewed: int
    accuracy: float | None
    loss: float
    luck: float
    grades: Mapping[str, int]
    phases: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, review: Review, asked: str = "") -> GameSummary:
        """Summarise a complete review. `asked` is the requested judge or level."""
        record = review.record
        board = last_board(record)
        phases: dict[str, Counter[str]] = {}
        for move in review.moves:
            phases.setdefault(str(move.board.max_tile), Counter())[move.grade.value] += 1
        target = record.rules.target
        times = [time for time in record.times if time]
        return cls(
            checksum(record),
            asked,
            review.judge,
            str(record.rules),
            record.player,
            (record.finished or record.started)[:10],
            record.score,
            record.plies,
            board.max_tile,
            target is not None and board.max_tile >= target,
            len(times),
            sum(times),
            review.unit.value,
            len(review.moves),
            review.accuracy,
            round(review.loss, 4),
            round(review.luck, 4),
            {grade.value: count for grade, count in review.counts.items()},
            {tile: dict(counts) for tile, counts in phases.items()},
        )

    @property
    def mistakes(self) -> int:
        """Number of inaccuracies, mistakes and blunders."""
        return sum(count for grade, count in self.grades.items() if Grade(grade).is_mistake)


def checksum(record: Record) -> str:
    """Return the checksum that identifies a game."""
    return hashlib.sha256(record.to_json().encode()).hexdigest()


class SummaryFile:
    """A file of game summaries, with one summary per line in JSON.

    Lines are only appended, so no summary is lost if a program is interrupted, and several programs
    can share the file. Unreadable lines and lines from other versions are ignored.

    Args:
        path: Path of the file.
        release: Version of py2048. Summaries of other versions are ignored, because their judges
            may differ.

    Attributes:
        trouble: Reason why summaries cannot be saved, or an empty string.
    """

    def __init__(self, path: Path, release: str) -> None:
        self._path, self._release, self.trouble = path, release, ""
        self._summaries: dict[tuple[str, str], GameSummary] = {}
        with suppress(OSError):
            for text in path.read_bytes().splitlines():
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    line = msgspec.json.decode(text, type=_Line)
                    if (line.version, line.release) == (VERSION, release):
                        self._summaries[line.summary.record, line.summary.asked] = line.summary

    def get(self, record: Record, asked: str = "") -> GameSummary | None:
        """Return a game's summary for the requested level, or None if it was not reviewed."""
        return self._summaries.get((checksum(record), asked))

    def add(self, summary: GameSummary) -> None:
        """Add a summary and append it to the file. Errors are reported in `trouble`."""
        self._summaries[summary.record, summary.asked] = summary
        line = msgspec.json.encode(_Line(VERSION, self._release, summary))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"\n" + line + b"\n")  # a crash may have left an incomplete line
        except OSError as error:
            self.trouble = f"cannot write {self._path}: {error.strerror}"


class _Line(msgspec.Struct):
    version: int
    release: str
    summary: GameSummary


# --- many games ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Totals:
    """Aggregate figures of games. Means and best scores are undefined if there are no games.

    Attributes:
        games: The games, oldest first.
    """

    games: tuple[GameSummary, ...]

    @property
    def moves(self) -> int:
        """Total number of moves."""
        return sum(game.moves for game in self.games)

    @property
    def accuracy(self) -> float | None:
        """Mean accuracy of all reviewed moves, 0 to 100, or None if no move was reviewed."""
        known = [(game.accuracy, game.reviewed) for game in self.games if game.accuracy is not None]
        judged = sum(moves for _, moves in known)
        return sum(accuracy * moves for accuracy, moves in known) / judged if judged else None

    @property
    def mistakes(self) -> float | None:
        """Number of mistakes per 100 reviewed moves, or None if no move was reviewed."""
        judged = sum(game.reviewed for game in self.games)
        return 100 * sum(game.mistakes for game in self.games) / judged if judged else None

    @property
    def speed(self) -> float | None:
        """Moves per minute of thinking time, or None if no times were recorded."""
        think_ms = sum(game.think_ms for game in self.games)
        return 60_000 * sum(game.timed for game in self.games) / think_ms if think_ms else None

    @property
    def luck(self) -> float:
        """Mean luck per game, in points or as a probability."""
        return fmean(game.luck for game in self.games)

    @property
    def loss(self) -> float:
        """Mean loss per game, in the unit of the values."""
        return fmean(game.loss for game in self.games)

    @property
    def score(self) -> float:
        """Mean score."""
        return fmean(game.score for game in self.games)

    @property
    def best(self) -> int:
        """Best score."""
        return max(game.score for game in self.games)

    @property
    def tiles(self) -> dict[int, int]:
        """Number of games by largest tile, in ascending order of tiles."""
        return dict(sorted(Counter(game.max_tile for game in self.games).items()))

    @property
    def grades(self) -> dict[Grade, int]:
        """Number of moves by grade, best grade first."""
        return {grade: sum(game.grades.get(grade, 0) for game in self.games) for grade in Grade}

    @property
    def phases(self) -> dict[int, dict[Grade, int]]:
        """Number of moves by largest tile on the board, and by grade."""
        tiles = sorted({int(tile) for game in self.games for tile in game.phases})
        return {
            tile: {
                grade: sum(game.phases.get(str(tile), {}).get(grade, 0) for game in self.games)
                for grade in Grade
            }
            for tile in tiles
        }

    def to_json(self) -> dict[str, Any]:
        """Return the figures that can be compared between different rules, as JSON values."""
        return {
            "games": len(self.games),
            "moves": self.moves,
            "accuracy": _rounded(self.accuracy, 2),
            "mistakes_per_100_moves": _rounded(self.mistakes, 2),
            "moves_per_minute": _rounded(self.speed, 1),
            "grades": self.grades,
        }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)


@dataclass(frozen=True, slots=True)
class RulesReport:
    """The games under the same rules.

    Attributes:
        rules: Rules as text.
        judge: Name of the judge.
        unit: Unit of the judge's values.
        totals: All games.
        weeks: Games by week, such as ``2026-W48``, in ascending order. Undated games come last.
    """

    rules: str
    judge: str
    unit: str
    totals: Totals
    weeks: dict[str, Totals]

    @property
    def name(self) -> str:
        """Name of the rules."""
        return self.rules.partition(":")[0]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "rules": self.rules,
            "judge": self.judge,
            "unit": self.unit,
            **_detailed(self.totals),
            "tiles": {str(tile): count for tile, count in self.totals.tiles.items()},
            "phases": {str(tile): grades for tile, grades in self.totals.phases.items()},
            "weeks": {week: _detailed(totals) for week, totals in self.weeks.items()},
        }


def _detailed(totals: Totals) -> dict[str, Any]:
    """Return totals, and figures that are only comparable under the same rules."""
    return totals.to_json() | {
        "mean_score": round(totals.score, 1),
        "best_score": totals.best,
        "mean_luck": round(totals.luck, 4),
        "mean_loss": round(totals.loss, 4),
    }


class CareerTotals(NamedTuple):
    """Totals of all games that a player finished under the same rules, reviewed or not.

    Attributes:
        rules: Rules as text.
        games: Number of games, at least one.
        won: Number of games with the winning tile.
        best_score: Best score.
        mean_score: Mean score.
        median_score: Median score.
        largest_tile: Largest tile.
        moves: Total number of moves.
        tiles: Number of games by largest tile, in ascending order of tiles.
    """

    rules: str
    games: int
    won: int
    best_score: int
    mean_score: float
    median_score: int
    largest_tile: int
    moves: int
    tiles: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class GamesReport:
    """A report on a player's games.

    Attributes:
        totals: All games.
        weeks: Games by week, as in a `RulesReport`.
        sections: Reports by rules, most played first.
        refused: Reasons why files were skipped.
        careers: Totals over all games under each set of rules, if the report itself covers only
            recent games. Otherwise empty.
    """

    totals: Totals
    weeks: dict[str, Totals]
    sections: tuple[RulesReport, ...]
    refused: tuple[str, ...] = ()
    careers: tuple[CareerTotals, ...] = ()

    @classmethod
    def of(
        cls,
        games: Iterable[GameSummary],
        refused: Iterable[str] = (),
        careers: Iterable[CareerTotals] = (),
    ) -> GamesReport:
        """Build a report from summaries. Duplicate games count once."""
        unique = {(game.record, game.judge): game for game in games}
        ordered = sorted(unique.values(), key=lambda game: (not game.day, game.day))
        kinds: dict[tuple[str, str, str], list[GameSummary]] = {}
        for game in ordered:
            kinds.setdefault((game.rules, game.judge, game.unit), []).append(game)
        sections = [
            RulesReport(*kind, Totals(tuple(group)), _weekly(group))
            for kind, group in kinds.items()
        ]
        sections.sort(key=lambda section: -len(section.totals.games))
        found = tuple(sections), tuple(refused), tuple(careers)
        return cls(Totals(tuple(ordered)), _weekly(ordered), *found)

    @property
    def games(self) -> int:
        """Number of games, including those that were not reviewed."""
        return sum(career.games for career in self.careers) or len(self.totals.games)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            **self.totals.to_json(),
            "weeks": {week: totals.to_json() for week, totals in self.weeks.items()},
            "rules": [section.to_json() for section in self.sections],
            "refused": list(self.refused),
            "careers": [career._asdict() for career in self.careers],
        }


def _weekly(games: Iterable[GameSummary]) -> dict[str, Totals]:
    weeks: dict[str, list[GameSummary]] = {}
    for game in games:
        weeks.setdefault(week_of(game.day), []).append(game)
    return {week: Totals(tuple(group)) for week, group in weeks.items()}


def week_of(day: str) -> str:
    """Return the ISO week of a date, such as ``2026-W48``, or `UNDATED`.

    >>> week_of("2026-11-23"), week_of("2027-01-01")
    ('2026-W48', '2026-W53')
    """
    try:
        year, week, _ = date.fromisoformat(day).isocalendar()
    except ValueError:
        return UNDATED
    return f"{year}-W{week:02}"
