"""Session events: immutable objects that contain everything a screen needs to show them."""

from __future__ import annotations

from dataclasses import dataclass

from py2048.core.board import Board, Motion
from py2048.core.direction import Direction
from py2048.core.game import Outcome, Turn
from py2048.review.advice import Hint


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The session has switched to a new game, a resumed game or a game set up by hand.

    Attributes:
        board: The position.
        score: Score in points.
        best: Best score of a human player under these rules.
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
        redone: Whether the move was redone.
    """

    before: Board
    turn: Turn
    board: Board
    points: int
    score: int
    redone: bool = False


@dataclass(frozen=True, slots=True)
class IllegalMove:
    """The player tried a move that does not change the board.

    Attributes:
        direction: The attempted direction.
        penalty: Points for the illegal move: negative if the rules penalise it, otherwise 0.
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
        board: Current board.
        score: Current score.
    """

    turn: Turn
    board: Board
    score: int

    @property
    def backward_motions(self) -> tuple[Motion, ...]:
        """The turn's motions, reversed."""
        motions = self.turn.slide.motions
        return tuple(Motion(target, source, merged) for source, target, merged in motions)


@dataclass(frozen=True, slots=True)
class Won:
    """The player reached the target tile for the first time in this game.

    Attributes:
        tile: The target.
        plays_on: Whether the game continues.
        by_computer: Whether a computer player made any of the moves.
    """

    tile: int
    plays_on: bool
    by_computer: bool = False


@dataclass(frozen=True, slots=True)
class GameOver:
    """The game ended.

    Attributes:
        outcome: How the game ended.
        score: Final score.
        best: Best human score under these rules.
        is_best: Whether the score is higher than in all of the player's other games.
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
    """The store cannot be read, or the game had to be saved as a separate copy.

    Attributes:
        message: One line that says what happened and how to fix it.
    """

    message: str


@dataclass(frozen=True, slots=True)
class SavingChanged:
    """Saving is delayed, fails for a new reason, or works again.

    Attributes:
        unsaved: The reason why changes are not saved yet, or an empty string if all changes are
            saved.
    """

    unsaved: str


GameEvent = GameStarted | Moved | IllegalMove | Undone | Won | GameOver
Event = GameEvent | Hinted | StorageFailed | SavingChanged
