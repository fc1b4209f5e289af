"""Reviews of finished games: who may ask for one, how far it is, and what it says.

The queue of requests is in the store, and `review_workers` work through it. A review helps nobody
in a game: it needs a record, which only finished games have, and that of a daily challenge opens
when the secret of the day is known, even to its player, who could play the day again as a guest.
"""

from __future__ import annotations

from typing import Any

import msgspec

from py2048.direction import Direction
from py2048.server import schema
from py2048.server.play import fairness
from py2048.server.play.games import GameService
from py2048.server.schema import ActionRejected
from py2048.storage import RecordSummary, StoredReview

VERSION = "1"
"""Reviews of another version count as none: raise it when judges, grades or a summary change."""

MOST_KEPT = 5_000
"""So many reviews are kept, the latest."""

MOST_MOVES = 20_000
"""The longest game that is reviewed."""

MOST_PENDING = 200
"""The longest queue."""

_NAMES = {direction.letter: str(direction) for direction in Direction}


MAX_PENDING_EACH = 20
"""The most places in the queue for one address."""


def request_review(games: GameService, game_id: str, asked: set[str]) -> None:
    """Ask for the review of a finished game, unless it is there or on its way.

    Args:
        games: the games.
        game_id: the game.
        asked: the games that the same address asked for, some of which may be reviewed by now.

    Raises:
        ActionRejected: if there is no such game (``unknown_game``), it is sealed (``sealed``) or
            too long (``length``), or too many wait (``busy``).
    """
    record = _record(games, game_id)
    if record.plies > MOST_MOVES:
        raise ActionRejected(
            "length", f"this game has {record.plies:,} moves: at most {MOST_MOVES:,} are reviewed"
        )
    if games.store.reviews.pending() >= MOST_PENDING:
        raise ActionRejected("busy", "too many games wait for a review: try again later")
    asked.intersection_update(games.store.reviews.waiting(asked))
    if len(asked - {game_id}) >= MAX_PENDING_EACH:
        raise ActionRejected("busy", "too many games from here wait for a review: try again later")
    games.store.reviews.request(game_id, VERSION)
    asked.add(game_id)


def review_answer(
    games: GameService, game_id: str, first: int = 0, limit: int = 0
) -> schema.ReviewAnswer:
    """Return the review of a finished game as far as it is, with some of its moves.

    Raises:
        ActionRejected: if there is no such game (``unknown_game``), or it is ``sealed``.
    """
    with games.store.snapshot():
        record, review = _record(games, game_id), games.store.reviews.find(game_id)
        state = _state(review)
        moves = games.store.reviews.moves(game_id) if limit and state == "done" else None
        return schema.ReviewAnswer(
            game=game_id,
            state=state,
            ahead=games.store.reviews.pending(review.asked) if review and state == "waiting" else 0,
            done=review.done if review else 0,
            total=record.plies,
            fault=review.fault if review else None,
            summary=_summary(review) if review and state == "done" else None,
            first=first,
            moves=_moves(moves, first, limit) if isinstance(moves, list) else [],
        )


def _record(games: GameService, game_id: str) -> RecordSummary:
    """Return the summary of a game that was finished on this server and may be reviewed."""
    found, info = games.store.records.summary(game_id), games.store.online.info(game_id)
    if found is None or info is None:
        raise ActionRejected("unknown_game", "there is no record of such a game yet")
    if opens := fairness.sealed_until(info):
        raise ActionRejected("sealed", f"the review of this game opens on {opens} (UTC)")
    return found


def _state(review: StoredReview | None) -> str:
    if review is None or (review.finished and review.version != VERSION):
        return "none"
    if review.finished is None:
        return "waiting" if review.claimed is None else "running"
    return "failed" if review.fault else "done"


def _summary(review: StoredReview) -> schema.ReviewSummary:
    return msgspec.convert(review.summary, schema.ReviewSummary)


# What is kept of each move is as short as can be: directions and grades are a character each.


def packed_moves(moves: list[schema.ReviewedMove]) -> list[object]:
    """Return moves as they are kept: what was played, the best, grades and losses."""
    letters = {name: letter for letter, name in _NAMES.items()}
    return [
        "".join(letters[move.played] for move in moves),
        "".join(letters[move.best] for move in moves),
        "".join(str(schema.GRADES.index(move.grade)) for move in moves),
        [move.loss for move in moves],
    ]


def _moves(packed: list[Any], first: int, limit: int) -> list[schema.ReviewedMove]:
    """Return some of the moves that were packed."""
    played, best, grades, losses = packed
    wanted = slice(first, first + limit)
    columns = zip(played[wanted], best[wanted], grades[wanted], losses[wanted], strict=True)
    return [
        schema.ReviewedMove(ply, _NAMES[one], _NAMES[other], loss, schema.GRADES[int(grade)])
        for ply, (one, other, grade, loss) in enumerate(columns, first + 1)
    ]
