"""`Report`: a player's games over time, in all, by rules and by week.

A report is made of summaries. A review takes seconds, a summary is a few hundred bytes: a thousand
games need to be reviewed once.
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
from typing import Any

import msgspec

from py2048.core.game import Record
from py2048.core.language import N_
from py2048.review.games import Review, last_board
from py2048.review.moves import Grade

UNDATED = N_("no date")

VERSION = 4
"""Changes with the definitions of grades, accuracy and luck, and with the fields below."""


@dataclass(frozen=True, slots=True)
class GameSummary:
    """A game in numbers.

    Attributes:
        record: the checksum of its record.
        asked: the spec of the judge that was asked for; empty for the best there was.
        judge: what judged it.
        rules: its rules, as text.
        player: who played.
        day: when it was finished, or begun, as ``2026-11-23``; empty if it does not say.
        score: its score.
        moves: its legal moves.
        max_tile: its largest tile.
        won: whether the target of its rules was reached.
        is_assisted: whether moves were taken back or hints shown.
        timed: how many moves have a thinking time.
        think_ms: the thinking times of these, together.
        unit: the unit of `loss` and `luck`.
        reviewed: how many moves are judged.
        accuracy: 0 to 100.
        loss: what the moves lost.
        luck: what the new tiles gave or took.
        grades: the moves of each grade.
        phases: the moves of each grade while a tile was the largest, by that tile.
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
    is_assisted: bool
    timed: int
    think_ms: int
    unit: str
    reviewed: int
    accuracy: float
    loss: float
    luck: float
    grades: Mapping[str, int]
    phases: Mapping[str, Mapping[str, int]]

    @classmethod
    def of(cls, review: Review, asked: str = "") -> GameSummary:
        """Return the summary of a whole review by the judge that was asked for."""
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
            bool(record.undos or record.hints),
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
        """How many moves were inaccuracies or worse."""
        return sum(count for grade, count in self.grades.items() if Grade(grade).is_mistake)


def checksum(record: Record) -> str:
    """Return the checksum by which a game is known again."""
    return hashlib.sha256(record.to_json().encode()).hexdigest()


class SummaryFile:
    """The summaries of all games that were reviewed, a line of JSON each.

    It is only added to, a line at a time, so that work which ends early is not lost and several
    programs may use it. Lines that cannot be read, and those of other versions, are as good as
    none.

    Args:
        path: the file.
        release: the version of the program, whose judges may differ.

    Attributes:
        trouble: why summaries are not kept; empty if they are.
    """

    def __init__(self, path: Path, release: str) -> None:
        self._path, self._release, self.trouble = path, release, ""
        self._known: dict[tuple[str, str], GameSummary] = {}
        with suppress(OSError):  # as good as none
            for text in path.read_bytes().splitlines():
                with suppress(msgspec.MsgspecError, UnicodeDecodeError):
                    line = msgspec.json.decode(text, type=_Line)
                    if (line.version, line.release) == (VERSION, release):
                        self._known[line.summary.record, line.summary.asked] = line.summary

    def __len__(self) -> int:
        return len(self._known)

    def get(self, record: Record, asked: str = "") -> GameSummary | None:
        """Return the summary of a game by the judge asked for, if it was reviewed before."""
        return self._known.get((checksum(record), asked))

    def add(self, summary: GameSummary) -> None:
        """Keep a summary, if the file can be written."""
        self._known[summary.record, summary.asked] = summary
        line = msgspec.json.encode(_Line(VERSION, self._release, summary))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(b"\n" + line + b"\n")  # a line cut off before ends here
        except OSError as error:
            self.trouble = f"cannot write {self._path}: {error.strerror}"


class _Line(msgspec.Struct):
    version: int
    release: str
    summary: GameSummary


# --- many games ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Totals:
    """Games in numbers; without any there are no means, and no best score.

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
        return fmean(game.luck for game in self.games)

    @property
    def loss(self) -> float:
        """What the moves of a game lost on average, in the unit of its values."""
        return fmean(game.loss for game in self.games)

    @property
    def score(self) -> float:
        """The mean score."""
        return fmean(game.score for game in self.games)

    @property
    def best(self) -> int:
        """The best score."""
        return max(game.score for game in self.games)

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

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that mean something for games under any rules, as JSON values."""
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
            "phases": {str(tile): grades for tile, grades in self.totals.phases.items()},
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
