"""`Replay`: walking through a finished game, forwards and backwards."""

from __future__ import annotations

from py2048.board import Board
from py2048.game import Position, Record, Turn
from py2048.session.events import Moved, Undone


class Replay:
    """A verified record and a place in it.

    Args:
        record: the record to walk through.

    Raises:
        RecordError: if the record breaks its own rules.
    """

    def __init__(self, record: Record) -> None:
        record.verify()
        self.record = record
        self._turns: list[Turn] = []
        self._positions = [Position(record.start, 0, 0)]
        for board, turn, score in record.replay():
            self._turns.append(turn)
            ply = self._positions[-1].ply + turn.legal
            self._positions.append(Position(board, score, ply))
        self._best = max(position.score for position in self._positions)
        self.index = 0
        """How many turns are played at this place."""

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._turns)

    @property
    def position(self) -> Position:
        """The position at this place."""
        return self._positions[self.index]

    @property
    def board(self) -> Board:
        """The board at this place."""
        return self.position.board

    @property
    def scores(self) -> tuple[int, ...]:
        """The score at the start and after each turn, for a graph."""
        return tuple(position.score for position in self._positions)

    def forward(self) -> Moved | None:
        """Go one turn forward; return the event to animate, `None` at the end."""
        if self.index == len(self):
            return None
        before, after = self.position, self._positions[self.index + 1]
        turn = self._turns[self.index]
        self.index += 1
        points = after.score - before.score
        return Moved(before.board, turn, after.board, points, after.score, self._best)

    def back(self) -> Undone | None:
        """Go one turn back; return the event to animate, `None` at the start."""
        if not self.index:
            return None
        before = self.board
        self.index -= 1
        return Undone(self._turns[self.index], before, self.board, self.position.score)

    def seek(self, index: int) -> Position:
        """Go to the place after `index` turns, or the nearest there is; return its position."""
        self.index = min(max(index, 0), len(self))
        return self.position
