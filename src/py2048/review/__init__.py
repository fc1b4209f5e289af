"""Game reviews: the quality of each move, and the share of luck in the result."""

from __future__ import annotations

from py2048.review.games import Review, judge_for, judging_player, review
from py2048.review.moves import Grade, Judge, MoveReview

__all__ = [
    "Grade",
    "Judge",
    "MoveReview",
    "Review",
    "judge_for",
    "judging_player",
    "review",
]
