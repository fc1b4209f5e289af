"""The judge for a level: deterministic, honest about errors, and with reasons that hold."""

from __future__ import annotations

import random
from functools import cache
from statistics import fmean

import pytest

from py2048 import Board, Direction, Game, Rules, get_rules
from py2048.core.errors import PlayerError
from py2048.core.game import Record
from py2048.review import Grade, Review
from py2048.review.coaching import Judgement, LevelJudge, grade_for, level_judge, why_not
from py2048.review.levels import Level
from py2048.review.moves import Position, legal_turns
from py2048.review.reasons import MIN_Z, ReasonKind

CLASSIC = get_rules("classic")
CASUAL = Level("Casual", 0.2)
BUDGET = 1_000_000
MERGES = Board.parse("64 32 16 8 / 64 16 8 4 / 8 4 2 . / 2 . . .")


def random_game(seed: int, plies: int = 10_000, rules: Rules = CLASSIC) -> Record:
    """A game of random keys."""
    draws, game = random.Random(seed), Game(rules, seed=seed)
    while not game.is_over and game.ply < plies:
        game.play(draws.choice(game.legal_directions()))
    return game.record()


def reviewed(record: Record, judge: LevelJudge) -> Review:
    """The final review of a game."""
    return Review.of(record, judge, judge.reviews(record))


@cache
def review_of_random_keys() -> tuple[LevelJudge, Review]:
    judge = LevelJudge(CLASSIC, CASUAL, threads=1, budget=8 * BUDGET)
    return judge, reviewed(random_game(3), judge)


def test_equal_seeds_give_equal_reviews_on_one_thread_and_two():
    """Fresh seeds give other counts."""
    record, found = random_game(3, plies=40), []
    for seed, threads in ((0, 1), (0, 2), (1, 1)):
        judge = LevelJudge(CLASSIC, CASUAL, seed=seed, threads=threads, budget=BUDGET)
        found.append(reviewed(record, judge).to_json())
    assert found[0] == found[1] != found[2]


def test_reviews_have_the_same_figures_on_every_machine():
    """The number of playouts is exact, and other figures differ at most in the last digit."""
    _, review = review_of_random_keys()
    games = [max(move.games.values()) for move in review.moves[:12]]
    assert games == [42, 42, 106, 306, 42, 42, 106, 106, 42, 42, 106, 42]
    (move,) = (move for move in review.moves if move.grade is Grade.INACCURACY)
    assert (move.ply, move.best, move.luck, move.chances) == (74, Direction.LEFT, 0.0, {})
    figures = move.values[move.best], move.next_values[move.best], move.loss, move.share, move.stake
    assert figures == pytest.approx((0.930876, 0.705069, 0.059908, 0.015052, 0.003645), abs=2e-6)
    assert [*move.errors.values()] == pytest.approx([0.019117, 0.019006, 0.0, 0.020348], abs=2e-6)
    assert move.reason is not None
    assert (move.reason.kind, move.reason.z) == (ReasonKind.TRAPPED, pytest.approx(20.27))
    assert move.reason.numbers == {"played": 5.96, "best": 0.0, "per": 1, "tile": 2, "behind": 64}


def test_every_move_is_reviewed_in_order_before_any_is_improved():
    """Later reviews of a move are based on more games, and the budget is not exceeded by much."""
    record = random_game(3, plies=40)
    judge = LevelJudge(CLASSIC, CASUAL, threads=1, budget=BUDGET)
    plies: list[int] = []
    games: dict[int, int] = {}
    for move in judge.reviews(record):
        plies.append(move.ply)
        assert set(move.games) == set(move.values) == set(move.board.legal_directions())
        count = max(move.games.values())
        assert count > games.get(move.ply, 0)
        games[move.ply] = count
    assert plies[:40] == [*range(1, 41)]


def test_random_moves_lose_what_is_at_stake():
    """On average over the legal moves, so that the accuracy of random moves is 0."""
    judge, stakes = LevelJudge(CLASSIC, CASUAL, threads=1, budget=BUDGET), []
    for position, _turn in [*legal_turns(random_game(3))][-12:]:
        judgement = judge.judge(position)
        moves = [judgement.review(direction) for direction in judgement.directions]
        stakes.append(moves[0].stake)
        assert fmean(move.share for move in moves) == pytest.approx(stakes[-1], abs=1e-6)
    assert max(stakes) > 0


def test_a_quarter_of_the_positions_count_whatever_was_played():
    """The same ones, with the same stake."""
    judge = LevelJudge(CLASSIC, CASUAL, threads=1, budget=BUDGET)
    played = [at for at, _turn in legal_turns(random_game(3))][-40:]
    others = [each._replace(played=each.board.legal_directions()[0]) for each in played]
    found, again = (
        {move.ply: move.stake for move in judge.review(positions)} for positions in (played, others)
    )
    assert found == again
    assert 0 < sum(stake != 0 for stake in found.values()) <= len(played) / 4


def test_a_review_extends_the_games_of_a_hint():
    """Games of equal numbers are equal, however they are divided into batches."""
    *_, (position, _turn) = legal_turns(random_game(3, plies=12))
    judge = LevelJudge(CLASSIC, CASUAL, threads=1, budget=8 * BUDGET)
    hint, alone = judge.judge(position), Judgement(CLASSIC, CASUAL, position)
    *_, extended = judge.review([position])
    judge.play([alone], hint.games)
    assert hint.games == 64
    assert (alone.sums == hint.sums).all()
    games = min(extended.games.values())
    judge.play([alone], games - hint.games)
    assert (alone.review().values, alone.games) == (extended.values, games)


def test_values_are_chances_with_errors():
    """A merge of the largest tiles is better for a casual player than to leave it for later."""
    judge = level_judge(CLASSIC, CASUAL)
    move = judge.review_move(Position(1, MERGES))
    assert move.played is move.best
    assert (move.grade, move.loss, move.errors[move.best]) == (Grade.BEST, 0.0, 0.0)
    assert all(0 <= move.next_values[each] <= move.values[each] <= 1 for each in move.values)
    assert move.goal.tile > MERGES.max_tile
    played = judge.review_move(Position(1, MERGES, 0, Direction.RIGHT))
    assert played.values == move.values
    assert played.loss in (0.0, round(move.values[move.best] - move.values[Direction.RIGHT], 6))


def test_a_grade_needs_a_loss_that_is_more_than_chance():
    """The limits are points of percentage; without an error every loss is certain."""
    grades = [grade_for(loss, 0.0) for loss in (0.0, 0.02, 0.03, 0.06, 0.12, 1.0)]
    mistakes = [Grade.INACCURACY, Grade.MISTAKE, Grade.BLUNDER, Grade.BLUNDER]
    assert grades == [Grade.BEST, Grade.GOOD, *mistakes]
    grades = [grade_for(0.2, error) for error in (0.2, 0.1, 0.07)]
    assert grades == [Grade.BEST, Grade.GOOD, Grade.BLUNDER]


def test_no_reason_argues_for_the_move_it_explains_away():
    """Each has a bad side, on which the losing move is; moves that lose nothing have no reason."""
    _, review = review_of_random_keys()
    reasons = [move.reason for move in review.moves if move.reason]
    assert reasons
    for reason in reasons:
        difference = reason.numbers["played"] - reason.numbers["best"]
        assert difference * (-1 if reason.kind is ReasonKind.ROOM else 1) > 0
        assert reason.z >= MIN_Z
    assert all(move.grade.is_mistake for move in review.moves if move.reason)


def test_reasons_hold_when_they_are_counted_again():
    """With fresh seeds, reasons keep their direction."""
    _, review = review_of_random_keys()
    fresh = LevelJudge(CLASSIC, CASUAL, seed=1, threads=1, budget=64 * BUDGET)
    for move in review.moves:
        if move.reason:
            again = fresh.judge(Position(move.ply, move.board))
            assert again.compared(move.reason.kind, move.played, move.best).z > 0


def test_solved_boards_have_no_levels():
    """Their judge is exact."""
    with pytest.raises(PlayerError, match="exactly"):
        LevelJudge(get_rules("2x4"), CASUAL)
    assert not why_not(CLASSIC)


def test_an_illegal_move_is_not_judged():
    """The error names it."""
    with pytest.raises(PlayerError, match="up is not a legal move"):
        level_judge(CLASSIC, CASUAL).review_move(
            Position(1, Board.parse("2 4 . / . . . / . . ."), 0, Direction.UP)
        )
