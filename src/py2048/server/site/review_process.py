"""Computes the review of one game: the process that the server starts for it.

``python -m py2048.server.site.review_process`` reads the file of a record, as a line of JSON, and
writes lines of JSON: ``{"done": n}`` every second, and at last ``{"summary": …, "moves": …}`` or
``{"fault": "a line for people"}``. It ends when its input does, so it outlives no server.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import IO

import msgspec

from py2048.direction import Direction
from py2048.errors import Py2048Error
from py2048.game import Record
from py2048.players import Unit
from py2048.review import MoveReview, Phase, Review, judge_for, reviewing
from py2048.review.plots import graph
from py2048.review.words import describe_move
from py2048.server import schema
from py2048.server.site.reviews import packed_moves

NICENESS = 10
"""How much this process lowers its priority: the moves of players come first."""

MOST_MISTAKES = 40
"""So many mistakes are shown with their boards, the worst."""

_PERIOD = 1.0
_DIGITS = 6


def summary_of(review: Review) -> schema.ReviewSummary:
    """Return what is said of a game as a whole, and of its worst moves."""
    return schema.ReviewSummary(
        judge=review.judge,
        unit=review.unit.value,
        exact=review.is_exact,
        reviewed=len(review.moves),
        accuracy=review.accuracy,
        expected=_rounded(review.expected) if review.unit is Unit.POINTS else None,
        loss=_rounded(review.loss),
        luck=_rounded(review.luck),
        counts={grade.value: count for grade, count in review.counts.items()},
        phases=list(map(_phase, review.phases)),
        mistakes=_mistakes(review),
        graph=graph(review),
    )


def _phase(phase: Phase) -> schema.PhaseInfo:
    loss, luck = _rounded(phase.loss), _rounded(phase.luck)
    return schema.PhaseInfo(phase.tile, phase.first, phase.last, loss, luck, phase.accuracy)


def _mistakes(review: Review) -> list[schema.Mistake]:
    """Return the worst mistakes, in order."""
    worst = sorted(review.mistakes, key=lambda move: -move.share)[:MOST_MISTAKES]
    critical = {move.ply for move in review.critical}
    shown = critical.union(move.ply for move in worst)
    places = [place for place, (_, spawn) in enumerate(review.record.steps) if spawn is not None]
    return [
        schema.Mistake(
            ply=move.ply, turn=places[move.ply - 1], score=move.score, board=move.board.rows,
            played=str(move.played), best=str(move.best),
            values=_by_name(move.values), chances=_by_name(move.chances),
            loss=_rounded(move.loss), share=move.share, grade=move.grade.value,
            luck=_rounded(move.luck), source=move.source, critical=move.ply in critical,
            say=describe_move(review, move),
        )
        for move in review.moves if move.ply in shown
    ]  # fmt: skip


def _by_name(values: Mapping[Direction, float]) -> dict[str, float]:
    return {str(direction): _rounded(value) for direction, value in values.items()}


def _rounded(value: float) -> float:
    """Return a value with as many digits as mean something."""
    return float(f"{value:.{_DIGITS}g}")


def _move(move: MoveReview) -> schema.ReviewedMove:
    return schema.ReviewedMove(
        move.ply, str(move.played), str(move.best), _rounded(move.loss), move.grade.value
    )


# The process


class _Progress:
    """Tells every second how many moves are reviewed."""

    def __init__(self) -> None:
        self.moves: list[MoveReview] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        while not self._ended.wait(_PERIOD):
            print(json.dumps({"done": len(self.moves)}), flush=True)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def _reviewed(text: str, progress: _Progress) -> dict[str, object]:
    """Return the review of a record, or why there is none."""
    try:
        record = Record.from_json(text)
        judge = judge_for(record.rules)
        for move in reviewing(record, judge):
            progress.moves.append(move)
    except Py2048Error as error:
        return {"fault": str(error)}
    review = Review.of(record, judge, progress.moves)
    summary = msgspec.to_builtins(summary_of(review))
    return {
        "done": len(review.moves),
        "summary": summary,
        "moves": packed_moves(list(map(_move, review.moves))),
    }


def _end_with_parent(stdin: IO[str]) -> None:
    stdin.read()
    os._exit(1)


def main() -> None:
    """Review the game on standard input."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    text = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, args=(sys.stdin,), daemon=True).start()
    progress = _Progress()
    last = _reviewed(text, progress)
    progress.end()
    print(json.dumps(last), flush=True)


if __name__ == "__main__":
    main()
