"""Session events: immutable records with everything a screen needs to draw them."""

from __future__ import annotations

from dataclasses import dataclass

from py2048.core.board import Board, Motion
from py2048.core.direction import Direction
from py2048.core.game import Outcome, Turn
from py2048.review.advice import Hint


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The session switched to a new, resumed or manually set-up game.

    Attributes:
        board: The position.
        score: Score in points.
        best: Best human score under these rules.
        resumed: Whether the game continues from an earlier session.
    """

    board: Board
    score: int
    best: int
    resumed: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """A move was played or redone.

    Attributes:
        before: Board before the turn.
        turn: The turn: animate ``turn.slide.motions``, then show ``turn.spawn``.
        board: Board after the turn.
        points: Change of the score.
        score: Score after the turn.
        best: Best human score under these rules.
        redone: Whether the move was redone.
    """

    before: Board
    turn: Turn
    board: Board
    points: int
    score: int
    best: int
    redone: bool = False


@dataclass(frozen=True, slots=True)
class IllegalMove:
    """The move changes nothing on the board.

    Attributes:
        direction: The attempted direction.
        penalty: Change of the score: negative if the rules punish illegal moves, otherwise 0.
        score: Current score.
    """

    direction: Direction
    penalty: int
    score: int


@dataclass(frozen=True, slots=True)
class Undone:
    """A turn was undone.

    Attributes:
        turn: The turn; animate its `backward_motions`.
        before: Board before the undo.
        board: Current board.
        score: Current score.
    """

    turn: Turn
    before: Board
    board: Board
    score: int

    @property
    def backward_motions(self) -> tuple[Motion, ...]:
        """The turn's motions, reversed."""
        motions = self.turn.slide.motions
        return tuple(Motion(target, source, merged) for source, target, merged in motions)


@dataclass(frozen=True, slots=True)
class Won:
    """The target tile was made for the first time in this game.

    Attributes:
        tile: The target.
        plays_on: Whether the rules allow the game to continue.
        by_computer: Whether a computer player made any of the moves.
    """

    tile: int
    plays_on: bool
    by_computer: bool = False


@dataclass(frozen=True, slots=True)
class GameOver:
    """The game ended.

    Attributes:
        outcome: How it ended.
        score: Final score.
        best: Best human score under these rules.
        is_best: Whether this game holds the best score.
        by_computer: Whether a computer player made any of the moves.
    """

    outcome: Outcome
    score: int
    best: int
    is_best: bool
    by_computer: bool = False


@dataclass(frozen=True, slots=True)
class Hinted:
    """A hint for the current position is available."""

    hint: Hint


@dataclass(frozen=True, slots=True)
class StorageFailed:
    """The store could not be read, or the game was saved to an unexpected place.

    Attributes:
        message: One-line message that says what happened and what to do.
    """

    message: str


@dataclass(frozen=True, slots=True)
class SavingChanged:
    """Saving fell behind, failed for a new reason, or caught up.

    Attributes:
        unsaved: Why changes are not saved yet; empty once everything is saved.
    """

    unsaved: str


Event = (
    GameStarted
    | Moved
    | IllegalMove
    | Undone
    | Won
    | GameOver
    | Hinted
    | StorageFailed
    | SavingChanged
)
