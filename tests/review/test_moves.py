"""How a move's values become its loss, share, accuracy and grade."""

from __future__ import annotations

import pytest

from py2048 import Board, Direction, Game, get_rules
from py2048.core.errors import PlayerError
from py2048.players import Unit
from py2048.review import Grade, Judge, MoveReview
from py2048.review.moves import Basis, Position, accuracy_of, grade_of, move_review

UP, DOWN, LEFT, RIGHT = Direction
POINTS, CHANCE, RATING = Unit.POINTS, Unit.CHANCE, Unit.RATING
ESTIMATE, EXACT = Basis("search"), Basis("exact", is_exact=True)


def graded(
    up: float, down: float, score: int = 0, unit: Unit = POINTS, basis: Basis = ESTIMATE
) -> MoveReview:
    """Return the review of playing up instead of down."""
    board = Board.parse("2 . / . 2")
    return move_review(Position(7, board, score, UP), {UP: up, DOWN: down}, unit, basis)


@pytest.mark.parametrize(
    ("score", "unit", "share"),
    [
        (0, POINTS, 0.1),
        (1000, POINTS, 0.05),
        (-500, POINTS, 0.1),
        (1000, CHANCE, 0.1),
        (1000, RATING, 0.1),
    ],
)
def test_the_share_lost_is_of_the_expected_final_score(score, unit, share):
    """Points already made count towards the whole, but only if the values are points."""
    move = graded(900.0, 1000.0, score, unit)
    assert (move.share, move.loss, move.best) == (share, 100.0, DOWN)
    assert (move.ply, move.score, move.expected) == (7, score, score + 1000.0)
    assert (move.luck, Position(7, move.board)) == (0.0, (7, move.board, 0, None))


@pytest.mark.parametrize(
    ("up", "down", "share"),
    [(-5.0, 0.0, 1.0), (-5.0, -3.0, 1.0), (0.0, 0.0, 0.0), (-900.0, 100.0, 1.0)],
)
def test_a_loss_is_never_more_than_everything(up, down, share):
    """If nothing can be won, any loss is total."""
    assert graded(up, down).share == share


@pytest.mark.parametrize(
    ("difference", "basis", "is_best"),
    [
        (0.009, ESTIMATE, True),
        (0.011, ESTIMATE, False),
        (0.009, EXACT, False),
        (0.9e-6, EXACT, True),
        (1.1e-6, EXACT, False),
    ],
)
def test_values_that_agree_in_their_significant_digits_are_equal(difference, basis, is_best):
    """Estimates are compared to six significant digits and exact values to ten."""
    move = graded(5000.0 - difference, 5000.0, basis=basis)
    assert (move.best is UP, move.loss == 0) == (is_best, is_best)


def test_a_table_decides_and_the_values_follow_its_chances():
    """The share is that of the best chance, whatever the score and the other values."""
    basis = Basis("table", {UP: 0.5, DOWN: 0.8})
    move = graded(70.0, 20.0, 1000, basis=basis)
    assert (move.best, move.share, move.source) == (DOWN, 0.375, "table")
    assert move.values == pytest.approx({UP: 43.75, DOWN: 70.0})


def test_accuracy_compares_the_loss_with_that_of_random_moves():
    """Accuracy is 100 without a loss, 0 for that of random moves or more, and 100 if none lose."""
    assert [accuracy_of(lost, 0.3) for lost in (0.0, 0.1, 0.3, 0.9)] == [100.0, 66.67, 0.0, 0.0]
    assert accuracy_of(0.0, 0.0) == 100.0
    move = graded(900.0, 1000.0)
    assert (move.stake, move.accuracy, move.grade) == (0.05, 0.0, Grade.MISTAKE)


def test_grades_have_the_limits_of_their_source():
    """Grades change at 0.999, 0.99, 0.975 and 0.9 of the best value."""
    shares = (0.0, 0.001, 0.0011, 0.01, 0.0101, 0.025, 0.0251, 0.1, 0.1001, 1.0)
    assert [grade_of(share) for share in shares] == [each for each in Grade for _ in range(2)]


class FixedJudge(Judge):
    """Gives the same values to every board."""

    name, is_exact = "fixed", False

    def __init__(self, rules: str, values: dict[Direction, float], unit: Unit = POINTS) -> None:
        self.rules, self.unit, self._values = get_rules(rules), unit, values

    def rate(self, board):
        return self._values

    def luck(self, turn, values):
        return 5.0


def test_only_a_legal_turn_has_luck():
    """Without a turn, or after an illegal attempt, nothing spawned."""
    judge = FixedJudge("cits1401", {LEFT: 10.0, UP: 8.0})
    game = Game("cits1401", board=Board.empty(5, 5).with_tile((0, 1), 2), seed=1)
    board = game.board
    for direction, luck in ((UP, 0.0), (LEFT, 5.0)):
        game.attempt(direction)
        assert judge.review_move(Position(1, board, 0, direction), game.last_turn).luck == luck
    assert judge.review_move(Position(1, board, 0, LEFT)).luck == 0.0
    with pytest.raises(PlayerError, match="down is not a legal move"):
        judge.review_move(Position(1, board, 0, DOWN))


@pytest.mark.parametrize(("unit", "value"), [(POINTS, 16.0), (CHANCE, 10.0)])
def test_the_first_move_also_scores_the_start_where_the_sum_is_the_score(unit, value):
    """Points that the board has and the score has not are still to come; chances are unaffected."""
    judge = FixedJudge("qsan_qarut", {LEFT: 10.0}, unit)
    board = Board.parse("4 4 . . / . . . . / . . . . / . . . .")
    assert judge.review_move(Position(1, board, 2, LEFT)).values == {LEFT: value}


def test_where_the_goal_is_reached_every_move_is_best():
    """A judge that rates no move any more finds no loss."""
    judge = FixedJudge("classic", {}, CHANCE)
    move = judge.review_move(Position(1, Board.parse("2 . / . 2"), 0, UP))
    assert (move.share, move.best, len(move.values)) == (0.0, UP, 4)
