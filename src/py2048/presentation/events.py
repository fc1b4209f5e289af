"""What the calls of a session return: frozen events that carry all a screen needs to draw."""

from __future__ import annotations

from dataclasses import dataclass

from py2048.core.board import Board, Motion
from py2048.core.direction import Direction
from py2048.core.game import Outcome, Turn
from py2048.review.advice import Hint


@dataclass(frozen=True, slots=True)
class GameStarted:
    """The current game is another: a new one, a resumed one, or one set up by hand.

    Attributes:
        board: the board to show.
        score: its score, in points.
        best: the best score of a person under these rules.
        resumed: whether the game continues from an earlier session.
    """

    board: Board
    score: int
    best: int
    resumed: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """A legal turn was played, for the first time or again.

    Attributes:
        before: the board before the turn.
        turn: the turn; ``turn.slide.motions`` are to be animated, then ``turn.spawn`` appears.
        board: the board after the turn.
        points: what the turn changed in the score.
        score: the score after it.
        best: the best score of a person under these rules.
        redone: whether `redo` played it again.
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
    """A direction changed nothing.

    Attributes:
        direction: the direction that was tried.
        penalty: what the rules took off the score for it (0 under most rules, else negative).
        score: the score now.
    """

    direction: Direction
    penalty: int
    score: int


@dataclass(frozen=True, slots=True)
class Undone:
    """A turn was taken back.

    Attributes:
        turn: the turn; a screen runs its motions backwards, see `backward_motions`.
        before: the board before the undo.
        board: the board now.
        score: the score now.
    """

    turn: Turn
    before: Board
    board: Board
    score: int

    @property
    def backward_motions(self) -> tuple[Motion, ...]:
        """The motions with source and target exchanged."""
        motions = self.turn.slide.motions
        return tuple(Motion(target, source, merged) for source, target, merged in motions)


@dataclass(frozen=True, slots=True)
class Won:
    """The target was reached for the first time in this game.

    Attributes:
        tile: the target.
        plays_on: whether the rules let the game continue.
        by_computer: whether a computer player made a move of the game.
    """

    tile: int
    plays_on: bool
    by_computer: bool = False


@dataclass(frozen=True, slots=True)
class GameOver:
    """The game is over.

    Attributes:
        outcome: how it ended.
        score: the final score.
        best: the best score of a person under these rules.
        is_best: whether this game holds that best score.
        by_computer: whether a computer player made a move of the game.
    """

    outcome: Outcome
    score: int
    best: int
    is_best: bool
    by_computer: bool = False


@dataclass(frozen=True, slots=True)
class Hinted:
    """A hint for the current position has been found."""

    hint: Hint


@dataclass(frozen=True, slots=True)
class StorageFailed:
    """The store could not be read, or the game was saved elsewhere than expected.

    Attributes:
        message: one line for the player: what happened and what to do.
    """

    message: str


@dataclass(frozen=True, slots=True)
class SavingChanged:
    """Saving has fallen behind, for another reason than before, or has caught up.

    Attributes:
        unsaved: why something is not saved yet, in one line; empty when all is saved again.
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
