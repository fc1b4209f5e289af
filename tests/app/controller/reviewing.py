"""Games with known reviews: the judge finds only the planted faults."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from py2048.app.controller.review import GameReview
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.game import Game, Record, Turn
from py2048.core.rules import Rules, get_rules
from py2048.players import Player, Unit, make_player
from py2048.review import Grade, Judge, MoveReview, Review
from py2048.review.levels import LEVELS, Goals
from py2048.review.reasons import Reason, ReasonKind

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
    judged = list(judge.reviews(known_record()))
    review.add(judged[:moves])
    if moves == MOVES:
        review.review, review.progress = Review.of(known_record(), judge, judged), ""
    return review


def leveled_review() -> GameReview:
    """Return the review of `known_record` at a level, with the same faults.

    The mistake and the blunder leave the corner. The inaccuracy has no reason.
    """
    review, known = GameReview(known_record(), LEVELS[1]), known_review().moves
    moves = [_leveled(move) for move in known]
    review.add(moves)
    facts = "playouts", Unit.CHANCE, False, tuple(moves), LEVELS[1]
    review.receive(Review(known_record(), *facts))
    return review


def _leveled(move: MoveReview) -> MoveReview:
    numbers = {"played": 62.0, "best": 9.0, "per": 100, "tile": 32}
    losses = {Grade.INACCURACY: 0.04, Grade.MISTAKE: 0.08, Grade.BLUNDER: 0.5}
    loss, is_slip = losses.get(move.grade, 0.0), move.grade is Grade.INACCURACY
    return replace(
        move,
        values=dict.fromkeys(move.values, 0.8) | {move.played: 0.8 - loss},
        loss=loss,
        share=loss,
        stake=0.1,
        goal=Goals(64, 128),
        games=dict.fromkeys(move.values, 1000),
        next_values=dict.fromkeys(move.values, 0.2),
        errors=dict.fromkeys(move.values, 0.01),
        reason=Reason(ReasonKind.CORNER, numbers, 9.0) if loss and not is_slip else None,
    )


def workers() -> list[threading.Thread]:
    """Return the threads of all running background workers."""
    return [thread for thread in threading.enumerate() if thread.name == "worker"]
