"""`Judge`: what values the moves of a review."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import PlayerError
from py2048.game import Turn
from py2048.game.turn import score_after
from py2048.players import Player, Unit
from py2048.review.moves import Basis, MoveReview, move_review
from py2048.rules import BoardSum, Rules


class Judge(ABC):
    """Values the moves of games under some rules.

    The first use may have to compile kernels: a screen first prepares `player` in the background
    (`py2048.players.preparing`). It may be used by one thread at a time.

    Attributes:
        name: its name, such as ``expectimax:depth=2``.
        rules: the rules.
        unit: the unit of its values.
        is_exact: whether they are exact.
        player: a player that needs the same kernels.
    """

    name: str
    rules: Rules
    unit: Unit
    is_exact: bool
    player: Player

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
