"""`MoveReview` holds the value and grade of a move; a `Judge` evaluates moves.

``docs/explanation/review.md`` lists the sources of the definitions, and how they were tested.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Game, Record, Turn
from py2048.core.game.turn import score_after
from py2048.core.rules import BoardSum, Rules
from py2048.players import Unit

if TYPE_CHECKING:
    from py2048.review.levels import Goals, Level
    from py2048.review.reasons import Reason

DIGITS, EXACT_DIGITS = 6, 10
"""Number of significant digits to compare, for estimated values and for exact values.

The last digits of estimates depend on the machine, because network weights may be summed in
different orders. Rounding keeps grades reproducible.
"""


class Grade(StrEnum):
    """The quality of a move, based on how much of the expected outcome it loses."""

    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"

    @property
    def is_mistake(self) -> bool:
        """Whether a clearly better move was available."""
        return self not in (Grade.BEST, Grade.GOOD)


LIMITS = {
    Grade.BEST: 0.001,
    Grade.GOOD: 0.01,
    Grade.INACCURACY: 0.025,
    Grade.MISTAKE: 0.1,
    Grade.BLUNDER: 1.0,
}
"""For each grade, the maximum loss of a move as a fraction of the expected outcome.

2048EndgameTablebase (github.com/game-difficulty) uses the same limits, stated as the ratios 0.999,
0.99, 0.975 and 0.9.
"""


def grade_of(share: float) -> Grade:
    """Return the grade of a move that loses `share` of the expected outcome."""
    return next(grade for grade, limit in LIMITS.items() if share <= limit)


def accuracy_of(lost: float, stake: float) -> float:
    """Return the accuracy (0 to 100), given the losses of the moves and of random moves."""
    return round(100 * min(max(1 - lost / stake, 0.0), 1.0), 2) if stake > 0 else 100.0


class Position(NamedTuple):
    """A position to judge.

    Attributes:
        ply: Number of the move.
        board: Board before the move, with at least one legal direction.
        score: Score before the move.
        played: Direction played, if known.
    """

    ply: int
    board: Board
    score: int = 0
    played: Direction | None = None


class Basis(NamedTuple):
    """The source of a move's values.

    Attributes:
        source: Human-readable name of the source.
        chances: Probability of reaching the endgame table's target after each legal direction.
            Empty without an endgame table.
        is_exact: Whether the values are exact.
    """

    source: str
    chances: Mapping[Direction, float] = MappingProxyType({})
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class MoveReview:
    """The review of a move, for a player of a given level or for perfect play.

    In a review for a level, `values`, `loss`, `share` and `stake` are probabilities of reaching the
    goal, or of surviving 20 moves if `survival` is set. The attributes from `goal` onwards are set
    only in reviews for a level.

    Attributes:
        ply: Number of the move, counted from 1 without illegal attempts.
        board: Board before the move.
        score: Score before the move.
        played: Direction played.
        best: Best direction, which is `played` if no other direction is better.
        values: Value of each legal direction, as expected points (including the points of the move)
            or as a probability.
        loss: Difference from the value of the best move, which is never negative.
        share: The loss as a fraction of the expected final score, or of the best value if the
            values are not points or come from an endgame table.
        stake: Expected `share` of a random legal move.
        accuracy: Accuracy of the move, 0 to 100, computed from `share` and `stake`.
        grade: Grade of the move.
        luck: How much the spawn increased the value, compared with the mean over all spawns.
        source: The source of the values: ``exact``, an endgame table, or a player spec.
        chances: Probability of reaching the endgame table's target after each legal direction;
            `values` are proportional to it. Empty without an endgame table.
        goal: The next two tiles that players of the level try to reach.
        games: Number of playouts simulated for each legal direction.
        next_values: Chance of reaching the second goal, `goal.next_tile`, after each legal
            direction.
        errors: Standard error of each direction's loss, which is 0 for the best direction.
        reason: The reason why the move is a mistake, if the playouts show it clearly.
        survival: Whether the values are probabilities of surviving 20 more moves, because even the
            best move rarely leads to the goal.
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
    goal: Goals | None = None
    games: Mapping[Direction, int] = field(default_factory=dict)
    next_values: Mapping[Direction, float] = field(default_factory=dict)
    errors: Mapping[Direction, float] = field(default_factory=dict)
    reason: Reason | None = None
    survival: bool = False

    @property
    def expected(self) -> float:
        """Expected final score before the move, if values are points."""
        return self.score + self.values[self.best]

    def to_json(self) -> dict[str, Any]:
        """Return the move as JSON values."""
        common = {
            "ply": self.ply,
            "score": self.score,
            "played": str(self.played),
            "best": str(self.best),
            "loss": round(self.loss, DIGITS),
            "share": self.share,
            "stake": self.stake,
            "accuracy": self.accuracy,
            "grade": self.grade.value,
            "source": self.source,
        }
        if self.goal is None:
            values = {"values": _by_name(self.values), "chances": _by_name(self.chances) or None}
            return common | values | {"luck": round(self.luck, DIGITS)}
        return common | {
            "goal": self.goal.tile,
            "next_goal": self.goal.next_tile,
            "survival": self.survival,
            "games": {str(direction): count for direction, count in self.games.items()},
            "chance": _by_name(self.values),
            "next_chance": _by_name(self.next_values),
            "error": _by_name(self.errors),
            "reason": self.reason and asdict(self.reason),
        }


def _by_name(values: Mapping[Direction, float]) -> dict[str, float]:
    return {str(direction): round(value, DIGITS) for direction, value in values.items()}


def move_review(
    at: Position, values: Mapping[Direction, float], unit: Unit, basis: Basis, luck: float = 0.0
) -> MoveReview:
    """Review a move, by default the best move, given the values of all legal directions."""
    if chances := basis.chances:
        top, most = max(values.values()), max(chances.values())
        values = {direction: top * chance / most for direction, chance in chances.items()}
    top = max(values.values())
    grain = _grain(top, EXACT_DIGITS if basis.is_exact else DIGITS)
    # Losses in points are relative to the expected final score.
    whole = top + max(at.score, 0) if unit is Unit.POINTS and not chances else top
    losses = {direction: _rounded(top - value, grain) for direction, value in values.items()}
    shares = {direction: _share(loss, whole) for direction, loss in losses.items()}
    best = max(values, key=values.__getitem__)
    played = at.played or best
    share, stake = shares[played], round(fmean(shares.values()), DIGITS)
    return MoveReview(
        *(at.ply, at.board, at.score, played, best if losses[played] else played, values),
        *(losses[played], share, stake, accuracy_of(share, stake), grade_of(share)),
        *(luck, basis.source, dict(chances)),  # a mapping proxy cannot be pickled
    )


def _rounded(loss: float, grain: float) -> float:
    return loss if loss >= grain else 0.0


def _share(loss: float, whole: float) -> float:
    """Return a loss as a fraction of the outcome `whole`, at most 1.

    If `whole` is zero or negative, any loss counts as 1.
    """
    return round(min(loss / whole, 1.0), DIGITS) if whole > 0 else float(loss > 0)


def _grain(value: float, digits: int) -> float:
    """Return the rounding step of a value with this many significant digits."""
    return 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1) if value else 1e-9


class Judge(ABC):
    """Evaluates moves under fixed rules.

    The first use may compile kernels. Judges are not thread-safe.

    Attributes:
        name: Name, such as ``expectimax:depth=2``.
        rules: Rules of the game.
        unit: Unit of the values.
        is_exact: Whether the values are exact.
        level: Level of the simulated players, or None for perfect play.
    """

    name: str
    rules: Rules
    unit: Unit
    is_exact: bool
    level: Level | None = None

    @abstractmethod
    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return the value of each legal move, or an empty mapping once the goal is reached.

        Under rules that score the sum of the tiles, values only count increases of the sum.
        """

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:  # noqa: ARG002
        """Return the luck of a turn: the value after its spawn minus the mean over all spawns.

        The result is 0 if a judge does not measure luck.

        Args:
            turn: The turn.
            values: The values that `rate` returned for the board before the turn.
        """
        return 0.0

    def prepare(self) -> None:
        """Compile the kernels, or load them from the cache."""
        self.rate(Game(self.rules, seed=0).board)

    def basis(self, board: Board) -> Basis:  # noqa: ARG002 - used by subclasses
        """Return the source of a board's values, such as an endgame table."""
        return Basis(self.name, is_exact=self.is_exact)

    def review_move(self, at: Position, turn: Turn | None = None) -> MoveReview:
        """Review the move that was played in a position, by default the best move.

        Args:
            at: The position.
            turn: The turn played, which is needed to compute luck.

        Raises:
            PlayerError: If the move is illegal, or the judge cannot evaluate the board.
        """
        board = at.board
        rated = self.rate(board) or dict.fromkeys(board.legal_directions(), 1.0)
        if at.played not in (None, *rated):
            raise PlayerError(f"{at.played} is not a legal move to review")
        # If the score is the sum of the tiles, the first move also earns points for the start
        # tiles.
        is_sum = isinstance(self.rules.scoring, BoardSum) and self.unit is not Unit.CHANCE
        owed = board.sum - at.score if is_sum else 0
        values = {direction: value + owed for direction, value in rated.items()}
        top = max(values.values())
        for direction in values:  # a winning move ends the game and has no loss
            if self._wins(board.slide(direction, self.rules.merging).board):
                values[direction] = top
        luck = self.luck(turn, rated) if turn and turn.legal else 0.0
        return move_review(at, values, self.unit, self.basis(board), luck)

    def reviews(self, record: Record) -> Iterator[MoveReview]:
        """Yield the review of each legal move.

        If the judge has a fixed goal, moves after the goal was reached are not reviewed.

        A later review of the same move replaces an earlier review.

        Raises:
            PlayerError: If the judge cannot evaluate a board.
            RecordError: If a turn in the record breaks the rules.
        """
        for at, turn in legal_turns(record):
            if self.unit is Unit.CHANCE and not self.rate(at.board):
                return
            yield self.review_move(at, turn)

    def _wins(self, board: Board) -> bool:
        """Return whether a move that leads to this board reaches the target and ends the game."""
        return self.rules.ends_at_target and board.max_tile >= (self.rules.target or 0)


def legal_turns(record: Record) -> Iterator[tuple[Position, Turn]]:
    """Yield each legal move of a game with the position before the move.

    Raises:
        RecordError: If a turn in the record breaks the rules.
    """
    board, score, ply = record.start, 0, 0
    for after, turn, reached in record.replay():
        if turn.legal:
            ply += 1
            yield Position(ply, board, score, turn.direction), turn
        board, score = after, reached


def gain_of(rules: Rules, turn: Turn) -> int:
    """Return the points of a turn.

    If the score is the sum of the tiles, the points are the increase of the sum.
    """
    before = turn.slide.before.sum
    return score_after(rules, before, turn, turn.board) - before
