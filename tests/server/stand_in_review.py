"""A fake reviewer for tests of the queue."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py2048 import Board, Direction, Record
from py2048.players import Unit
from py2048.review import Grade, MoveReview, Review
from py2048.review.levels import PERFECT, Goals, parse_level
from py2048.review.reasons import Reason, ReasonKind
from py2048.server.site.reviews import kept


def judged(record: Record, level: str) -> Review:
    """Return a review of one move, a blunder, judged for a level."""
    best, played = Direction.DOWN, Direction.LEFT
    board = Board.empty(*record.rules.shape).with_tile((0, record.rules.columns - 1), 2)
    move = MoveReview(
        *(1, board, 0, played, best, {played: 0.25, best: 0.75}, 0.5, 0.5, 1.0, 50.0),
        *(Grade.BLUNDER, 0.0, "stand-in", {}, Goals(512, 1024), {played: 64, best: 64}),
        *({played: 0.0, best: 0.125}, {played: 0.05, best: 0.0}),
        Reason(ReasonKind.CORNER, {"tile": 2, "played": 62, "best": 9, "per": 100}, 5.0),
    )
    return Review(record, "stand-in", Unit.CHANCE, False, (move,), parse_level(level))


def stand_in(
    folder: Path, record: str, level: str, note: Callable[[int], None]
) -> dict[str, object]:
    """Log the call, and hang or crash if the test's folder says so."""
    with (folder / "runs").open("a") as runs:
        print(json.loads(record)["score"], file=runs)
    with (folder / "levels").open("a") as levels:
        print(level, file=levels)
    mine = folder / f"running {os.getpid()}"
    mine.touch()
    with (folder / "at once").open("a") as counts:
        print(len(list(folder.glob("running *"))), file=counts)
    note(1)
    while (folder / "hang").exists():
        time.sleep(0.05)
    mine.unlink()
    if (folder / "crash").exists():
        sys.exit("this is said to those who run the server")
    found: dict[str, Any] = kept(
        judged(Record.from_json(record), PERFECT)
    )  # lines would take compiled players
    found["summary"]["level"] = level
    return found
