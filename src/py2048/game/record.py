"""`Record`: a game written down, so that anyone can replay and verify it.

The file is JSON with one field a line; ``docs/reference/record-format.md`` describes it. It
stores every spawn, so a replay depends on no generator, and reading is strict: a file that
differs by a single byte from what py2048 would have written is refused, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from py2048 import rng
from py2048.board import Board
from py2048.errors import Py2048Error, RecordError, shown
from py2048.game import record_text
from py2048.game.notation import Step, decode_steps
from py2048.game.spawning import draw_spawn, draw_start, spawn_fault
from py2048.game.turn import Outcome, Turn, outcome_of, score_after
from py2048.rules import MovePoints, Rules

Replayed = tuple[Board, Turn, int]
"""The board after a turn, the turn, and the score after it."""


@dataclass(frozen=True, slots=True)
class Record:
    """A game written down.

    Attributes:
        rules: the rules it was played under.
        start: the board before the first turn.
        turns: the turns in the notation of `py2048.game.notation`.
        score: the final score that the record claims; `verify` reproduces it.
        seed: the seed of the generator, if the spawns came from it.
        player: who played.
        started: when, as ISO 8601 in UTC, or an empty text.
        finished: when the last turn was played, likewise.
        undos: how many turns were taken back on the way.
        hints: how many hints were shown.
        times: the thinking time of each turn in milliseconds; empty if it was not kept.
    """

    rules: Rules
    start: Board
    turns: str
    score: int
    seed: int | None = None
    player: str = ""
    started: str = ""
    finished: str = ""
    undos: int = 0
    hints: int = 0
    times: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name, kind in (("rules", Rules), ("start", Board), ("times", tuple)):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise RecordError(f"{name} must be of type {kind.__name__}, not {shown(value)}")
        record_text.check(self._plain())

    @classmethod
    def load(cls, path: str | Path) -> Record:
        """Read a record from a file.

        Raises:
            RecordError: if the file cannot be read, is no record, or is not byte for byte what
                `save` wrote; the message names the file and the reason.
        """
        text = record_text.read(path)
        try:
            return cls.from_json(text)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read a record from the text of its file; strict like `load`."""
        data = record_text.parse(text)
        try:
            rules, start = Rules.parse(data["rules"]), Board.from_rows(data["start"])
        except Py2048Error as error:
            raise RecordError(str(error)) from None
        if start.shape != rules.shape:
            raise RecordError(f"the start has size {start.shape}, the rules {rules.shape}")
        values = data | {"rules": rules, "start": start, "times": tuple(data["times"])}
        record = cls(**values)
        if record.to_json() != text:
            raise RecordError("the record was changed after it was written: the layout is not ours")
        return record

    def save(self, path: str | Path) -> None:
        """Write the record to a file, replacing it in one step.

        Raises:
            RecordError: if the file cannot be written; an existing one is then untouched.
        """
        target, text = record_text.path_of(path), self.to_json()
        try:
            record_text.write_atomically(target, text.encode())
        except OSError as error:
            raise RecordError(f"cannot write {path}: {error.strerror or error}") from None

    def to_json(self) -> str:
        """Return the text of the record's file."""
        return record_text.dump(self._plain())

    def _plain(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        start = [list(row) for row in self.start.rows]
        return values | {"rules": str(self.rules), "start": start, "times": list(self.times)}

    @property
    def steps(self) -> Iterator[Step]:
        """The turns as directions and spawns, not yet checked against the rules."""
        return decode_steps(self.turns, self.rules.shape)

    @property
    def plies(self) -> int:
        """The number of legal turns."""
        return sum(spawn is not None for _, spawn in self.steps)

    def replay(self) -> Iterator[Replayed]:
        """Yield ``(board, turn, score)`` after each turn, checking each against the rules.

        Raises:
            RecordError: at the first turn that breaks the rules; the message names the ply.
        """
        board, score, ply, over = self.start, 0, 0, False
        for direction, spawn in self.steps:
            slide = board.slide(direction, self.rules.merging)
            turn = Turn(direction, slide, spawn)
            fault = "the game was over" if over else self._fault(turn)
            if fault:
                raise RecordError(f"ply {ply + 1} ({direction}): {fault}")
            board = turn.board
            score = score_after(self.rules, score, turn, board)
            ply += turn.legal
            over = self.rules.ends_at_target and outcome_of(self.rules, board) is Outcome.WON
            yield board, turn, score

    def verify(self) -> None:
        """Check the whole game: each move legal, each spawn allowed, the score reproduced.

        A record with a seed is also checked against the generator, spawn by spawn.

        Raises:
            RecordError: at the first fault; the message names the ply and the reason.
        """
        score, unseeded = self._check_turns()
        if score != self.score:
            raise RecordError(f"the record claims a score of {self.score}; its turns give {score}")
        if self.seed is not None and unseeded:
            raise RecordError(f"ply {unseeded}: the spawn is not the one of seed {self.seed}")

    def follows_seed(self) -> bool:
        """Return whether every spawn is the one that the generator draws from the seed."""
        return self.seed is not None and self._check_turns()[1] is None

    def _check_turns(self) -> tuple[int, int | None]:
        """Return the score, and the first ply whose spawn the seed does not draw, if any."""
        key = rng.key_of(self.seed or 0)
        score, ply, unseeded = 0, 0, None
        for _, turn, reached in self.replay():
            score = reached
            if turn.spawn is None:
                continue
            word = rng.draw(key, ply)
            ply += 1
            drawn = draw_spawn(self.rules, turn.slide.board, turn.direction, word)
            if turn.spawn != drawn and unseeded is None:
                unseeded = ply
        return score, unseeded

    def has_seeded_start(self) -> bool:
        """Return whether the start is the one that the generator draws from the seed."""
        return self.seed is not None and self.start == draw_start(self.rules, rng.key_of(self.seed))

    def without_seed(self) -> Record:
        """Return this record without its seed."""
        return replace(self, seed=None)

    def _fault(self, turn: Turn) -> str | None:
        if turn.spawn is None:
            if not isinstance(self.rules.scoring, MovePoints):
                return "an illegal attempt does not count under these rules"
            return "a legal move is written as an illegal attempt" if turn.slide.changed else None
        if not turn.slide.changed:
            return "the move changes nothing"
        return spawn_fault(self.rules, turn.slide.board, turn.direction, turn.spawn)


def utc(moment: float) -> str:
    """Return a time in seconds since the epoch as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
