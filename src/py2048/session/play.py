"""`Play`: a game as it is being played, with what a screen does to it besides moving."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from py2048.direction import Direction
from py2048.game import Game, Record, Turn
from py2048.game.notation import encode_turn

Facts = tuple[int, int, bool]
"""``(undos, hints, computer)``: what decides the category, saved beside the turns."""


@dataclass
class Play:
    """A game, how it was helped, and how much of it is on the disk.

    Attributes:
        game: the game; change it only through this class.
        codes: the code of each turn, undone ones at the end included.
        millis: the thinking time of each turn of `codes`, in milliseconds.
        undos: how many turns were taken back.
        hints: how many hints were shown.
        computer: whether a computer player made a move.
        clean: how many of `codes` are known to be on the disk.
    """

    game: Game
    codes: list[str] = field(default_factory=list)
    millis: list[int] = field(default_factory=list)
    undos: int = 0
    hints: int = 0
    computer: bool = False
    clean: int = 0
    _since: float = field(default_factory=time.monotonic, repr=False)
    _is_set_up: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._is_set_up = not self.game.has_drawn_start()

    @classmethod
    def of(cls, record: Record, *, computer: bool) -> Play:
        """Return the play of a game that was played elsewhere, with all its turns.

        Raises:
            RecordError: if a turn of the record breaks its rules.
        """
        game = Game.from_record(record)
        codes = [encode_turn(turn) for turn in game.turns]
        times = [*record.times, *[0] * len(codes)][: len(codes)]
        return cls(game, codes, times, record.undos, record.hints, computer)

    @property
    def position(self) -> int:
        """How many of `codes` are played."""
        return self.game.turn_count

    @property
    def facts(self) -> Facts:
        """What is saved beside the turns."""
        return self.undos, self.hints, self.computer

    @property
    def category(self) -> str:
        """``computer``, ``assisted`` (by an undo, a hint or a position set up) or ``plain``."""
        if self.computer:
            return "computer"
        return "assisted" if self.undos or self.hints or self._is_set_up else "plain"

    def attempt(self, direction: Direction) -> Turn | None:
        """Try a direction; return the turn, or `None` if nothing happened and nothing counts."""
        position, before = self.position, self.game.turn_count
        self.game.attempt(direction)
        if self.game.turn_count == before:
            return None
        turn = self.game.last_turn
        assert turn is not None  # the count has just grown
        del self.codes[position:], self.millis[position:]
        self.codes.append(encode_turn(turn))
        self.millis.append(self._elapsed())
        self.clean = min(self.clean, position)
        return turn

    def undo(self) -> Turn | None:
        """Take the last turn back."""
        turn = self.game.undo()
        self.undos += turn is not None
        return turn

    def redo(self) -> Turn | None:
        """Play the last undone turn again."""
        return self.game.redo()

    def record(self) -> Record:
        """Return the record of the game as it stands."""
        times = tuple(self.millis[: self.position])
        return replace(self.game.record(), undos=self.undos, hints=self.hints, times=times)

    def _elapsed(self) -> int:
        now = time.monotonic()
        millis, self._since = round((now - self._since) * 1000), now
        return millis
