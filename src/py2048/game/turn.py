"""What a game is made of: turns, positions, outcomes, and how they are scored."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, assert_never

from py2048.board import Board, Slide
from py2048.direction import Direction
from py2048.game.spawning import Spawn
from py2048.rules import BoardSum, MergePoints, MovePoints, Rules
from py2048.rules.parts import NetPoints


@dataclass(frozen=True, slots=True)
class Turn:
    """One step of a game: a slide and the tile that appeared after it.

    Attributes:
        direction: where the player slid.
        slide: what the slide did.
        spawn: the new tile; `None` for an illegal attempt that the rules counted.
    """

    direction: Direction
    slide: Slide
    spawn: Spawn | None

    @property
    def legal(self) -> bool:
        """Whether the slide changed the board."""
        return self.spawn is not None

    @property
    def board(self) -> Board:
        """The board after the turn."""
        if self.spawn is None:
            return self.slide.board
        return self.slide.board.with_tile(self.spawn.cell, self.spawn.tile)


class Outcome(Enum):
    """How a game stands."""

    PLAYING = "playing"
    """A move is possible."""

    WON = "won"
    """Over, with the target on the board."""

    LOST = "lost"
    """Over, without the target."""

    ENDED = "ended"
    """Over, under rules that have no target."""


class Position(NamedTuple):
    """Where a game stands after a turn: the board, the score and the number of legal turns."""

    board: Board
    score: int
    ply: int


def score_after(rules: Rules, score: int, turn: Turn, board: Board) -> int:
    """Return the score after `turn`, which led to `board`, when it was `score` before."""
    match rules.scoring:
        case MergePoints():
            return score + turn.slide.points
        case NetPoints(cost):
            return score + (turn.slide.points - cost if turn.legal else 0)
        case MovePoints(legal, illegal):
            return score + (legal if turn.legal else illegal)
        case BoardSum():
            return board.sum
        case other:
            assert_never(other)


def outcome_of(rules: Rules, board: Board, can_move: bool | None = None) -> Outcome:
    """Return how a game under `rules` stands on `board`; `can_move` spares trying, if known.

    A game that reaches its target and gets stuck on the same move is won, not lost.
    """
    won = rules.target is not None and board.max_tile >= rules.target
    if not (won and rules.ends_at_target) and (board.can_move() if can_move is None else can_move):
        return Outcome.PLAYING
    if rules.target is None:
        return Outcome.ENDED
    return Outcome.WON if won else Outcome.LOST
