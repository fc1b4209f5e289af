"""Reasons: what a move changes in the games played on from it, counted instead of guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from py2048.core.board import Board
from py2048.core.direction import Direction


class ReasonKind(StrEnum):
    """What differs most between two moves, as named in commands and files."""

    ENDED = "ended"
    """The game ends within 20 moves. Numbers: games in 100 that ended."""
    CORNER = "corner"
    """The largest tile is out of its corner ten moves later. Numbers: games in 100; ``tile``."""
    TRAPPED = "trapped"
    """A small tile stays behind a large one. Numbers: moves; ``tile`` and ``behind``."""
    MEETING = "meeting"
    """The two largest equal tiles meet late. Numbers: moves; ``tile``."""
    ROOM = "room"
    """Few cells are free five moves later. Numbers: free cells."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is worse than the best one.

    Attributes:
        kind: What was counted.
        numbers: ``played`` and ``best``, the means after each of the two moves; ``per``, how many
            games they refer to (100 for counts of games, 1 for means); and the board's tiles that
            the kind names (``tile``, ``behind``).
        z: Difference between the two moves in standard errors; at least 4.
    """

    kind: ReasonKind
    numbers: Mapping[str, float]
    z: float


@dataclass(frozen=True, slots=True)
class Habit:
    """A mistake that a player repeats.

    Attributes:
        kind: The reason that the mistakes share.
        count: Number of mistakes.
        cost: Mean loss of one of them, as a probability.
        plies: Numbers of the moves.
    """

    kind: ReasonKind
    count: int
    cost: float
    plies: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A typical continuation after a move.

    Attributes:
        directions: Three to six moves, the first of which is the one explained.
        boards: Board before the first move, then the board after each move's spawn.
        fear: Tile to keep an eye on, if the reason names one.
    """

    directions: tuple[Direction, ...]
    boards: tuple[Board, ...]
    fear: int | None
