"""What a compiled batch remembers of a game, and the way from there to a record.

A batch keeps the directions only: with the rules and the seed they give the whole game again. The
layer above knows records, and makes one when it is asked for (`record_of`).
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from py2048.board import Board
from py2048.direction import Direction
from py2048.rules import Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class WrittenGame(Protocol):
    """What a history becomes. It is a `py2048.Record`, whose layer is above this."""

    def verify(self) -> None:
        """Check the whole game; raise `RecordError` at the first fault."""

    def to_json(self) -> str:
        """Return the text of the record's file."""


@dataclass(frozen=True, slots=True)
class History:
    """A game as a batch remembers it.

    Attributes:
        rules: its rules.
        seed: the seed of its generator.
        directions: every direction tried, illegal ones among them.
        start: the position it began from; ``None`` for the one that the rules draw.
    """

    rules: Rules
    seed: int
    directions: tuple[Direction, ...]
    start: Board | None = None


class HistoryLog:
    """The directions of every game of a batch, one array a step."""

    def __init__(self) -> None:
        self._steps: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
        self._starts: dict[tuple[int, int], Board] = {}

    def clear(self) -> None:
        """Forget everything."""
        self._steps.clear()
        self._starts.clear()

    def add(self, directions: NDArray[np.uint8], episodes: NDArray[np.int64]) -> None:
        """Note a step: the direction of each slot and the number of its game, before the step."""
        self._steps.append((directions, episodes))

    def set_start(self, slot: int, episode: int, board: Board) -> None:
        """Note that a game begins from `board`."""
        self._starts[slot, episode] = board

    def start(self, slot: int, episode: int) -> Board | None:
        """Return the position that a game was made to begin from."""
        return self._starts.get((slot, episode))

    def last_episode(self, slot: int) -> int:
        """Return the number of the last game of a slot in which a direction was tried, or 0."""
        return int(self._steps[-1][1][slot]) if self._steps else 0

    def directions(self, slot: int, episode: int) -> tuple[Direction, ...]:
        """Return every direction tried in a game."""
        steps = ((way[slot], number[slot]) for way, number in self._steps)
        return tuple(Direction(int(way)) for way, number in steps if number == episode)


def record_of(history: History) -> WrittenGame:
    """Return the record of the game."""
    # By name, as records are of a layer above, which the engine does not know before it is asked.
    record: WrittenGame = importlib.import_module("py2048.game.replay").record_history(history)
    return record
