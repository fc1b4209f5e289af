"""Pages of turns of finished games, each replayed from a place kept shortly before it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from py2048.board import Board
from py2048.game import Record
from py2048.game.record import encode_turn
from py2048.game.turn import score_after
from py2048.server import schema
from py2048.server.play import messages

STRIDE = 512
"""So many turns lie between two places that are kept of a game."""

_MOST_GAMES = 16


class _Place(NamedTuple):
    """A place in a game: where in the text its turns go on, with the board and the score there."""

    offset: int
    board: Board
    score: int


@dataclass
class _Kept:
    """What is kept of a game: how many turns it has, and the places that were reached so far."""

    game: str
    total: int | None = None
    places: dict[int, _Place] = field(default_factory=dict)


class Replays:
    """Turns of finished games, whose records never change. Threads may share it."""

    def __init__(self) -> None:
        self._kept = lru_cache(_MOST_GAMES)(_Kept)

    def turns(self, game: str, record: Record, first: int, most: int) -> schema.TurnsAnswer:
        """Return some turns of a game, with the board after each.

        Raises:
            RecordError: if a turn breaks the rules.
        """
        kept = self._kept(game)
        if kept.total is None:
            kept.total = sum(1 for _ in record.steps)
        turns, at = [], min(first // STRIDE, len(kept.places))
        offset, start, score = kept.places.get(at, _Place(0, record.start, 0))
        rest = replace(record, start=start, turns=record.turns[offset:], times=())
        replayed = islice(rest.replay(), first + most - at * STRIDE)
        for number, (board, turn, _) in enumerate(replayed, at * STRIDE + 1):
            before, score = score, score_after(record.rules, score, turn, board)
            offset += len(encode_turn(turn))
            if number % STRIDE == 0:
                kept.places[number // STRIDE] = _Place(offset, board, score)
            if number > first:
                turns.append(messages.turn_info(turn, score, score - before, board))
        times = list(record.times[first : first + most])
        return schema.TurnsAnswer(game, record.start.rows, first, kept.total, turns, times)
