"""Reviews with known results, and invariants of every review."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from py2048 import Board, Game, Record, get_rules, make_player
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, PlayerError, RecordError
from py2048.players import Unit
from py2048.players.solving import solve
from py2048.presentation.page import page
from py2048.presentation.plots import graph
from py2048.presentation.words import describe_review
from py2048.review import Grade, judge_for, review
from py2048.review.games import Review, accuracy_of_moves, judging_player
from py2048.review.judges import ExactJudge
from py2048.review.moves import Basis, Position, move_review
from py2048.review.reasons import Reason, ReasonKind

RULES = "classic:size=2x3"

KINDS = (
    "classic:size=2x3",
    "classic:size=2x2,scoring=moves:2:-3",
    "classic:size=2x2,start=1..3,spawn=2:1+4:1+8:1",
    "comp1127:size=2x3,target=32",
    "qsan_qarut:size=2x2",
)
"""Every scoring, cascading merges, an end at the target, other tiles and starts."""


@cache
def exact(rules: str, goal: str = "score") -> ExactJudge:
    """Return the exact judge for the rules."""
    return ExactJudge(solve(rules, goal))


def played(rules: str, seed: int, board: Board | None = None) -> Game:
    """Return a finished game of random attempts, legal or not."""
    game, choice = Game(rules, seed=seed, board=board), random.Random(seed)
    while not game.is_over:
        game.attempt(choice.choice("UDLR"))
    return game


def perfect(rules: str, seed: int) -> Game:
    """Return a game of perfect play."""
    game, player = Game(rules, seed=seed), make_player("perfect")
    while not game.is_over:
        game.play(player.choose(game))
    return game


def test_one_planted_blunder_is_found():
    """In otherwise perfect play, one bad move is the only mistake and loses the known value."""
    solution, player = solve(RULES), make_player("perfect")
    game, planted, lost = Game(RULES, seed=4), 0, 0.0
    while not game.is_over:
        values = solution.move_values(game.board)
        worst, top = min(values, key=values.__getitem__), max(values.values())
        if not planted and values[worst] < 0.7 * top:
            planted, lost = game.ply + 1, top - values[worst]
            game.play(worst)
        else:
            game.play(player.choose(game))
    found = review(game.record())
    assert [move.ply for move in found.mistakes] == [planted]
    (blunder,) = found.moments
    assert blunder.grade is Grade.BLUNDER
    assert blunder.loss == pytest.approx(lost)
    assert blunder.share == pytest.approx(lost / blunder.expected, abs=1e-6)
    assert found.loss == pytest.approx(lost)
    assert found.worst_phase.tile == blunder.board.max_tile
    assert 90 < found.accuracy < 100
    assert "best, 1 blunder" in describe_review(found)[2]


@pytest.mark.parametrize(
    ("rules", "rows"),
    [
        ("2x3:target=16,end=target", "0 2 0 / 4 8 8"),
        ("comp1127", "1024 1024 2 4 / 8 16 4 2 / 2 4 64 8 / 4 2 0 0"),
    ],
)
def test_a_move_that_ends_the_game_by_winning_loses_nothing(rules, rows):
    """No other move is better at perfect play, though the game could have had more points."""
    game = Game(rules, board=Board.parse(rows))
    game.play(Direction.RIGHT)
    assert game.has_won
    found = review(game.record())
    assert (found.moves[0].grade, found.accuracy) == (Grade.BEST, 100)


@pytest.mark.parametrize("rules", [RULES, pytest.param("2x4", marks=pytest.mark.slow)])
def test_perfect_play_is_flawless(rules):
    """Perfect play has accuracy 100, no loss, and only best moves."""
    game = perfect(rules, seed=5)
    found = review(game.record(), "perfect")
    assert (found.accuracy, found.loss, found.is_exact) == (100.0, 0.0, True)
    assert found.counts[Grade.BEST] == len(found.moves) == game.ply
    assert (found.mistakes, found.moments, found.worst_phase) == ((), (), None)


def test_what_is_still_to_come_is_not_lost():
    """In an unfinished game, perfect moves have lost nothing."""
    whole = perfect(RULES, seed=5)
    game = Game(RULES, seed=5)
    for turn in whole.turns[: whole.ply // 2]:
        game.play(turn.direction)
    found = review(game.record(), exact(RULES))
    assert (found.accuracy, found.worst_phase) == (100.0, None)
    assert found.loss == 0
    assert [phase.loss for phase in found.phases] == [0.0] * len(found.phases)
    values = exact(RULES).rate(game.board)
    to_come = found.expected - found.loss + found.luck
    assert to_come == pytest.approx(game.score + max(values.values()))
    (line,) = re.findall('<polyline.*? points="([^"]*)"', graph(found))
    assert len(line.split()) == game.ply
    (line,) = re.findall(
        '<polyline.*? points="([^"]*)"', graph(review(whole.record(), exact(RULES)))
    )
    assert len(line.split()) == whole.ply + 1


@given(seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=20)
def test_random_keys_have_no_accuracy(seed):
    """Playing every legal direction once on each board has accuracy 0."""
    judge, moves = exact(RULES), []
    for board, *_ in played(RULES, seed).record().replayed[:-1]:
        moves += [judge.review_move(Position(1, board, 0, d)) for d in board.legal_directions()]
    assert accuracy_of_moves(moves) == pytest.approx(0 if any(m.stake for m in moves) else 100)
    assert max(move.accuracy for move in moves) == 100


@settings(deadline=None, max_examples=40)
@given(rules=st.sampled_from(KINDS), seed=st.integers(0, 2**32))
@example(rules="comp1127:size=2x3,target=32", seed=397589881)
def test_the_final_score_is_the_value_less_losses_plus_luck(rules, seed):
    """With an exact judge, value minus losses plus luck is the final score, in every phase.

    A move that ends the game by winning is not a mistake. The points that it gives up still count.
    """
    game, judge = played(rules, seed), exact(rules)
    found = review(game.record(), judge)
    losses = sum(move.loss for move in found.moves)
    losses -= sum(-3 for turn in game.turns if not turn.legal)
    if game.has_won and game.rules.ends_at_target:
        last = found.moves[-1]
        values = judge.rate(last.board)
        losses += max(values.values()) - values[last.played]
    assert found.expected - losses + found.luck == pytest.approx(game.score, abs=1e-6)
    assert found.loss == pytest.approx(losses, abs=1e-5)
    assert sum(phase.loss for phase in found.phases) == pytest.approx(losses, abs=1e-4)
    assert all(move.loss >= 0 and 0 <= move.share <= 1 for move in found.moves)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_the_chance_of_a_tile_is_lost_and_given_until_it_is_settled(seed):
    """Initial chance minus losses plus luck is 1 if the tile was made, otherwise 0."""
    game, judge = played(RULES, seed), exact(RULES, "tile=32")
    found = review(game.record(), judge)
    assert found.unit is Unit.CHANCE
    balance = max(found.moves[0].values.values()) - found.loss + found.luck
    assert balance == pytest.approx(float(game.board.max_tile >= 32), abs=1e-9)
    assert all(move.board.max_tile < 32 for move in found.moves)


def test_phases_divide_the_game_by_its_largest_tile():
    """Phases follow each other without gaps."""
    found = review(played(RULES, 9).record(), exact(RULES))
    assert [phase.tile for phase in found.phases] == sorted({m.board.max_tile for m in found.moves})
    lasts = [0, *(phase.last for phase in found.phases)]
    assert [phase.first for phase in found.phases] == [last + 1 for last in lasts[:-1]]
    assert lasts[-1] == len(found.moves)


def test_the_first_moves_of_a_review_are_a_review():
    """A partial review balances as well."""
    record, judge = played(RULES, 2).record(), exact(RULES)
    moves = list(judge.reviews(record))
    part = type(review(record, judge)).of(record, judge, moves[:5])
    assert part.moves == tuple(moves[:5])
    assert part.loss == pytest.approx(sum(move.loss for move in moves[:5]), abs=1e-5)


def test_the_ten_worst_mistakes_are_moments():
    """They are in game order, and habits in that of their total cost; the JSON has every figure."""
    kinds, values = [*ReasonKind], dict.fromkeys(Direction, 100.0)
    losses = [30.0, 0.0, 20.0, 60.0, 10.0, 50.0, 40.0, 21.0, 22.0, 23.0, 24.0, 25.0]
    moves = [
        move_review(
            Position(ply, Board.parse("2 . / . 2"), 0, Direction.UP),
            *(values | {Direction.UP: 100.0 - loss}, Unit.RATING, Basis("search")),
            3.0 if ply == 1 else -4.0 * (ply == 2),
        )
        for ply, loss in enumerate(losses, 1)
    ]
    moves = [replace(move, reason=Reason(kinds[move.ply % 4], {}, 5.0)) for move in moves]
    found = Review(Game(RULES, seed=1).record(), "search", Unit.RATING, False, tuple(moves))
    assert [move.ply for move in found.mistakes] == [1, *range(3, 13)]
    assert [move.ply for move in found.moments] == [1, 3, 4, *range(6, 13)]
    assert found.first is found.moves[3]
    habits = [(each.kind, each.count * each.cost, each.plies) for each in found.habits]
    first, second = (kinds[0], 106.0, (4, 8, 12)), (kinds[3], 84.0, (3, 7, 11))
    assert habits == [first, second, (kinds[2], 73.0, (6, 10))]
    assert (found.loss, found.luck, found.swing) == (325.0, -1.0, 5.0)
    data = found.to_json()
    assert (data["loss"], data["luck"], data["level"]) == (325.0, -1.0, "perfect")
    assert data["expected"] is data["moves"][0]["expected"] is data["moves"][0]["chances"] is None
    assert (data["counts"]["blunder"], data["counts"]["best"]) == (10, 1)
    assert (data["moves"][0]["played"], data["moves"][0]["best"]) == ("up", "down")
    assert (data["phases"][0]["first"], data["phases"][0]["last"]) == (1, 12)


@pytest.mark.parametrize(
    ("rules", "spec"),
    [
        *(("2x4", "perfect"), ("3x3", "expectimax:depth=3"), ("classic", "expectimax:depth=3")),
        *(("5x5", "expectimax:depth=2"), ("9x9", "heuristic:depth=1")),
    ],
)
def test_screens_compile_the_player_that_judges(rules, spec):
    """Up to eight cells are solved, more than sixteen are searched less deep, or not compiled."""
    assert judging_player(get_rules(rules)).name == spec


def test_a_game_without_moves_has_an_empty_review():
    """A game without moves has accuracy 100."""
    found = review(Game(RULES, seed=1).record(), exact(RULES))
    assert (found.moves, found.accuracy, found.loss, found.luck) == ((), 100.0, 0, 0)
    assert found.phases == ()
    assert graph(found) == ""
    assert "accuracy 100.0 %" in page([found])
    json.dumps(found.to_json())


def test_a_start_that_no_game_meets_is_solved_from_there():
    """Manual starting positions have exact values."""
    board = Board.parse("16 8 . / 32 64 16")
    with pytest.raises(BoardError):
        solve(RULES).value_of(board)
    game = played(RULES, 3, board)
    found = review(game.record())
    assert (found.judge, len(found.moves)) == ("exact", game.ply)
    losses = sum(move.loss for move in found.moves)
    assert found.moves[0].expected - losses + found.luck == pytest.approx(game.score)


def test_a_judge_is_a_text_a_player_or_a_judge():
    """A spec, a player and a judge give the same review."""
    record = played(RULES, 5).record()
    reviews = [
        review(record, judge)
        for judge in ("greedy", make_player("greedy"), judge_for(record.rules, "greedy"))
    ]
    assert reviews[0] == reviews[1] == reviews[2]
    assert reviews[0].unit is Unit.RATING


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        ("gredy", "did you mean 'greedy'"),
        (7, "7 is not a judge: give a player such as"),
        (exact("classic:size=2x2"), "the judge is for classic:size=2x2"),
    ],
)
def test_an_invalid_judge_is_refused(judge, reason):
    """The error names the invalid judge."""
    with pytest.raises(PlayerError, match=reason):
        review(played(RULES, 5).record(), judge)


def test_an_invalid_record_is_refused():
    """Games must be converted to records, and invalid records are refused with the ply."""
    with pytest.raises(RecordError, match="is not a record"):
        review(Game(RULES))  # type: ignore[arg-type]
    record = Record(get_rules(RULES), Board.parse("2 . . / . . ."), "L11", 0)
    with pytest.raises(RecordError, match="ply 1"):
        review(record, "greedy")


@pytest.mark.parametrize("judge", ["greedy", exact(RULES), exact(RULES, "tile=32")])
def test_every_unit_has_a_graph(judge):
    """Graphs are well-formed SVG with marked mistakes and a text alternative."""
    found = review(played(RULES, 4).record(), judge)
    drawn = ElementTree.fromstring(graph(found))
    assert f"Accuracy {found.accuracy:.1f} %" in drawn.attrib["aria-label"]
    marks = [mark for mark in drawn.iter("path") if mark.get("class")]
    assert f"Accuracy {found.accuracy:.1f} %" not in graph(found, is_silent=True)
    assert len(marks) == len(found.mistakes) > 0
    assert len(list(drawn.iter("title"))) == len(marks)
    assert page([found]).count("<svg") == 1


def test_whatever_may_be_wider_than_a_screen_is_scrolled_by_keys():
    """Graphs and wide tables have a name and can be focused."""
    written = page([review(played(RULES, 4).record(), "greedy")])
    places = re.findall(
        r'<div class="scroll" role="region" aria-label="(.+?)" tabindex="0">', written
    )
    assert places == ["Evaluation", "Phases", "Inaccuracies, mistakes and blunders"]
    assert written.count('<div class="scroll"') == len(places)
