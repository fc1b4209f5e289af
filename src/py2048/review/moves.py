"""`MoveReview`: what one move was worth, and how it is graded; `Judge`: what values moves.

``docs/explanation/review.md`` says where the definitions come from and how they were checked.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Turn
from py2048.core.game.turn import score_after
from py2048.core.rules import BoardSum, Rules
from py2048.players import Unit

DIGITS, EXACT_DIGITS = 6, 10
"""Values that differ by less than a unit of this digit of the best one are equal.

Two machines may sum the same weights in another order, which changes the last digits; this is
coarse enough for the grades to stay the same. Exact values are the same everywhere.
"""


class Grade(StrEnum):
    """How good a move is, by the share of the chances that it lost."""

    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"

    @property
    def is_mistake(self) -> bool:
        """Whether there was a clearly better move."""
        return self not in (Grade.BEST, Grade.GOOD)


LIMITS = {
    Grade.BEST: 0.001,
    Grade.GOOD: 0.01,
    Grade.INACCURACY: 0.025,
    Grade.MISTAKE: 0.1,
    Grade.BLUNDER: 1.0,
}
"""The largest share of the chances that a move of each grade loses.

Source: the ratios 0.999, 0.99, 0.975 and 0.9 of 2048EndgameTablebase, github.com/game-difficulty.
"""


def grade_of(share: float) -> Grade:
    """Return the grade of a move that lost this share of the chances."""
    return next(grade for grade, limit in LIMITS.items() if share <= limit)


def accuracy_of(lost: float, stake: float) -> float:
    """Return the accuracy of moves that lost so much where random ones would lose `stake`.

    It is 100 for the best moves, and 0 for those that are not better than random ones.
    """
    return round(100 * max(1 - lost / stake, 0.0), 2) if stake else 100.0


class Basis(NamedTuple):
    """What the review of a move is based on.

    Attributes:
        source: what valued it, as a person reads it.
        chances: the chance to make the tile of a table after each legal direction, if one knows
            the board: these decide then, and the values follow them.
        is_exact: whether the values are exact.
    """

    source: str
    chances: Mapping[Direction, float] = MappingProxyType({})
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class MoveReview:
    """The review of a move.

    Attributes:
        ply: its number, 1 for the first legal move.
        board: the board before it.
        score: the score before it.
        played: the direction that was played.
        best: the best direction; the one played if none is better.
        values: of each legal direction: points to come, its own included, or a chance.
        loss: what the move lost against the best one, in the unit of the values, never negative.
        share: the share of the chances that it lost, 0 to 1: of the expected final score where
            values are points, else of the best value.
        stake: the share that a legal move loses on average, as keys pressed at random would.
        accuracy: 0 to 100, for what it lost of the stake.
        grade: its grade.
        luck: what the new tile gave, or took if negative, against its expectation, in the unit of
            the values.
        source: what valued it: ``exact``, the name of a table, or the spec of a search.
        chances: the chance to make the tile of a table after each legal direction, if one knows
            the board. The values are then in proportion to them.
    """

    ply: int
    board: Board
    score: int
    played: Direction
    best: Direction
    values: Mapping[Direction, float]
    loss: float
    share: float
    stake: float
    accuracy: float
    grade: Grade
    luck: float
    source: str
    chances: Mapping[Direction, float]

    @property
    def expected(self) -> float:
        """The final score that is expected before the move, if the values are points."""
        return self.score + self.values[self.best]


def move_review(
    ply: int,
    board: Board,
    score: int,
    played: Direction,
    values: Mapping[Direction, float],
    luck: float,
    unit: Unit,
    basis: Basis,
) -> MoveReview:
    """Return the review of a move, given what each legal direction is worth."""
    if chances := basis.chances:
        top, most = max(values.values()), max(chances.values())
        values = {direction: top * chance / most for direction, chance in chances.items()}
    top = max(values.values())
    grain = _grain(top, EXACT_DIGITS if basis.is_exact else DIGITS)
    # Of points, those that are made already are no longer at stake.
    whole = top + max(score, 0) if unit is Unit.POINTS and not chances else top
    losses = {direction: _rounded(top - value, grain) for direction, value in values.items()}
    shares = {direction: _share(loss, whole) for direction, loss in losses.items()}
    best, share = max(values, key=values.__getitem__), shares[played]
    stake = round(fmean(shares.values()), DIGITS)
    return MoveReview(
        *(ply, board, score, played, best if losses[played] else played, values),
        *(losses[played], share, stake, accuracy_of(share, stake), grade_of(share)),
        *(luck, basis.source, chances),
    )


def _rounded(loss: float, grain: float) -> float:
    return loss if loss >= grain else 0.0


def _share(loss: float, whole: float) -> float:
    """Return which share of the whole a loss is; without a whole, any loss is all of it."""
    return round(min(loss / whole, 1.0), DIGITS) if whole > 0 else float(loss > 0)


def _grain(value: float, digits: int) -> float:
    """Return a unit of a digit of a value."""
    return 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) if value else 1e-9


class Judge(ABC):
    """Values the moves of games under some rules.

    The first use may have to compile kernels. It may be used by one thread at a time.

    Attributes:
        name: its name, such as ``expectimax:depth=2``.
        rules: the rules.
        unit: the unit of its values.
        is_exact: whether they are exact.
    """

    name: str
    rules: Rules
    unit: Unit
    is_exact: bool

    @abstractmethod
    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return what each legal move is worth; nothing where the goal is reached.

        A score by the board's sum counts from the sum of the board.
        """

    @abstractmethod
    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        """Return what the spawn of a legal turn gave against the mean of all spawns.

        Args:
            turn: the turn.
            values: those that `rate` gave for the board before it.
        """

    def basis(self, board: Board) -> Basis:  # noqa: ARG002 - other judges look at it
        """Return what values the moves on a board."""
        return Basis(self.name, is_exact=self.is_exact)

    def review_move(
        self,
        board: Board,
        score: int,
        played: Direction,
        turn: Turn | None = None,
        *,
        ply: int = 1,
    ) -> MoveReview:
        """Return the review of a move.

        Args:
            board: the board before it.
            score: the score before it.
            played: a legal direction.
            turn: the turn that was played, for its luck.
            ply: the number of the move.

        Raises:
            PlayerError: if the judge cannot value the board.
        """
        rated = self.rate(board) or dict.fromkeys(board.legal_directions(), 1.0)
        if played not in rated:
            raise PlayerError(f"{played} is not a legal move to review")
        # By the sum of the board, the first move also brings the tiles of the start.
        is_sum = isinstance(self.rules.scoring, BoardSum) and self.unit is not Unit.CHANCE
        owed = board.sum - score if is_sum else 0
        values = {direction: value + owed for direction, value in rated.items()}
        luck = self.luck(turn, rated) if turn and turn.legal else 0.0
        return move_review(ply, board, score, played, values, luck, self.unit, self.basis(board))


def gain_of(rules: Rules, turn: Turn) -> int:
    """Return the points of a turn; a score by the board's sum grows from the sum before it."""
    before = turn.slide.before.sum
    return score_after(rules, before, turn, turn.board) - before
