"""The computer players: one by chance, one that plans the whole game ahead."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Protocol

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import CourseError
from py2048.rules import Rules

if TYPE_CHECKING:
    from py2048.search.beam import BeamPlanner

LEAD = 200_000
"""How many moves the plan may be ahead of the play."""


class Computer(Protocol):
    """A player that is asked for one direction after the other."""

    def next(self) -> Direction | None:
        """Return what to try next; `None` while still thinking.

        Raises:
            CourseError: if the computer cannot play.
        """

    def stop(self) -> None:
        """Stop thinking; no further move is asked for."""


class RandomComputer:
    """Any of the four directions, all equally likely, whether it moves anything or not."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def next(self) -> Direction:
        """Return a random direction."""
        return self._random.choice(tuple(Direction))

    def stop(self) -> None:
        """Do nothing: chance does not think."""


class IntelligentComputer:
    """Plans in a thread of its own, far ahead of the play, so that the window never waits.

    It never tries a move that is not possible, and survives for as long as it can.
    """

    def __init__(self, board: Board, rules: Rules) -> None:
        self._board = board
        self._rules = rules
        self._planner: BeamPlanner | None = None
        self._fault: Exception | None = None
        self._stopped = threading.Event()
        self._wanted = threading.Event()
        self._thread = threading.Thread(target=self._think, name="cits1401-planner", daemon=True)
        self._thread.start()

    def next(self) -> Direction | None:
        """Return the next move of the plan; `None` while it is not made yet."""
        if self._fault is not None:
            raise CourseError(f"the intelligent computer gave up: {self._fault}") from self._fault
        move = self._planner.take() if self._planner is not None else None
        self._wanted.set()
        return move

    def stop(self) -> None:
        """End the thread after the search that it is in."""
        self._stopped.set()
        self._wanted.set()

    def _think(self) -> None:
        try:
            self._plan()
        except Exception as error:  # noqa: BLE001 (whatever it is, the player is told by `next`)
            self._fault = error

    def _plan(self) -> None:
        from py2048.search.beam import BeamPlanner  # loads Numba, which takes a while

        planner = BeamPlanner(self._board, self._rules)
        planner.extend()
        self._planner = planner
        while not planner.is_complete and not self._stopped.is_set():
            if len(planner) - planner.played < LEAD:
                planner.extend()
            else:
                self._wanted.wait()
                self._wanted.clear()
