"""`GameSummary`: what a report keeps of a reviewed game, and the file that keeps it.

A review takes seconds, a summary is a few hundred bytes: a thousand games need to be reviewed once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from py2048.errors import RecordError, os_errors_as
from py2048.game import Record
from py2048.review.games import Review
from py2048.review.moves import Grade

VERSION = 2
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
        board = [record.start, *(board for board, _, _ in record.replay())][-1]
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
        path: the file; `None` keeps nothing.
        release: the version of the program, whose judges may differ.
    """

    def __init__(self, path: Path | None, release: str) -> None:
        self._path, self._release = path, release
        self._known: dict[tuple[str, str], GameSummary] = {}
        for line in _lines(path):
            summary = _parsed(line, release)
            if summary is not None:
                self._known[summary.record, summary.asked] = summary

    def __len__(self) -> int:
        return len(self._known)

    def get(self, record: Record, asked: str = "") -> GameSummary | None:
        """Return the summary of a game by the judge asked for, if it was reviewed before."""
        return self._known.get((checksum(record), asked))

    def add(self, summary: GameSummary) -> None:
        """Keep a summary.

        Raises:
            RecordError: if the file cannot be written.
        """
        self._known[summary.record, summary.asked] = summary
        if self._path is None:
            return
        line = json.dumps({"version": VERSION, "release": self._release} | asdict(summary))
        with os_errors_as(RecordError, f"cannot write {self._path}"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(handle, f"\n{line}\n".encode())  # a line cut off before ends here
            finally:
                os.close(handle)


def _lines(path: Path | None) -> list[bytes]:
    try:
        return path.read_bytes().splitlines() if path else []
    except OSError:
        return []


def _parsed(line: bytes, release: str) -> GameSummary | None:
    try:
        data: dict[str, Any] = json.loads(line)
        if (data.pop("version"), data.pop("release")) != (VERSION, release):
            return None
        return GameSummary(**data)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
