"""How a move's values become its loss, share, accuracy and grade."""

from __future__ import annotations

import pytest

from py2048 import Board, Direction
from py2048.players import Unit
from py2048.review.moves import Basis, Grade, MoveReview, accuracy_of, move_review

UP, DOWN, LEFT, RIGHT = Direction
POINTS, CHANCE, RATING = Unit.POINTS, Unit.CHANCE, Unit.RATING
ESTIMATE, EXACT = Basis("search"), Basis("exact", is_exact=True)


def graded(
    up: float, down: float, score: int = 0, unit: Unit = POINTS, basis: Basis = ESTIMATE
) -> MoveReview:
    """Return the review of playing up instead of down."""
    board = Board.parse("2 . / . 2")
    return move_review(7, board, score, UP, {UP: up, DOWN: down}, 0.0, unit, basis)


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
