"""Games with known reviews: the judge finds only the planted faults."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cache

from py2048.app.controller.review import GameReview
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Game, Record, Turn
from py2048.core.rules import Rules, get_rules
from py2048.players import Player, Unit, make_player
from py2048.review import Grade, Judge, Review, reviewing

FAULTS = {5: Grade.BLUNDER, 9: Grade.INACCURACY, 12: Grade.MISTAKE}
"""Grades of the planted faults by ply."""

CHANCES = {Grade.INACCURACY: 0.98, Grade.MISTAKE: 0.95, Grade.BLUNDER: 0.5}
"""Share of the winning chance that a move of each grade keeps."""

MOVES = 16


class KnownJudge(Judge):
    """Rates all moves of `known_record` alike, except those in `FAULTS`."""

    name = "known"
    is_exact = True
    unit = Unit.CHANCE

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.player: Player = make_player("greedy")

    def rate(self, board: Board) -> Mapping[Direction, float]:
        values = dict.fromkeys(board.legal_directions(), 0.8)
        if board in _faults():
            played, grade = _faults()[board]
            values[played] *= CHANCES[grade]
        return values

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        return 0.25 if turn.spawn and turn.spawn.tile == 4 else -0.05


@cache
def known_record() -> Record:
    """Return a game of `MOVES` moves, in which every planted fault had an alternative."""
    game, player = Game(get_rules("2x4"), seed=3, player="greedy"), make_player("greedy")
    while game.ply < MOVES:
        game.play(player.choose(game))
    return game.record()


@cache
def ended_record() -> Record:
    """Return `known_record` played to its end."""
    game = Game.from_record(known_record())
    while not game.is_over:
        game.play(game.legal_directions()[0])
    return game.record()


@cache
def _faults() -> dict[Board, tuple[Direction, Grade]]:
    found, board, score = {}, known_record().start, 0
    for ply, (after, turn, _) in enumerate(known_record().replay(), start=1):
        if ply in FAULTS:
            assert len(board.legal_directions()) > 1, (ply, score)
            found[board] = turn.direction, FAULTS[ply]
        board = after
    return found


def known_review(moves: int = MOVES) -> GameReview:
    """Return the review of `known_record` after `moves` judged moves."""
    review, judge = GameReview(known_record()), KnownJudge(known_record().rules)
    review.judge = judge
    judged = list(reviewing(known_record(), judge))
    review.add(judged[:moves])
    if moves == MOVES:
        review.review, review.progress = Review.of(known_record(), judge, judged), ""
    return review


def workers() -> list[threading.Thread]:
    """Return the threads of all running background workers."""
    return [thread for thread in threading.enumerate() if thread.name == "worker"]
