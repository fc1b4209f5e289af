"""Games that record thinking times, undos and hints, and replays of records."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime

from py2048.app.storage.values import GameChange, SavedGame
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error, StorageError
from py2048.core.game import Game, Position, Record, Spawn, Turn
from py2048.core.game.turn import Draws, decode_steps, encode_step, encode_turn
from py2048.core.rules import Rules
from py2048.presentation.events import Moved, Undone
from py2048.review.milestones import is_milestone

HUMAN_CATEGORIES = ("plain", "assisted")
"""Score categories of games played by people. Only these games can set a best score."""


@dataclass
class TrackedGame:
    """A game that records thinking times, undos, hints and unsaved changes.

    Attributes:
        game: The game. Change it only through this class.
        codes: Code of each turn, including undone turns at the end.
        think_ms: Thinking time of each turn in `codes`, in milliseconds.
        undos: Number of undos.
        hints: Number of hints shown.
        computer: Whether a computer player made a move.
        offline: Whether a browser chose some tiles while disconnected from the server.
        is_continued: Whether the game continues from a record, which may be another person's game.
        id: Id in the store.
        revision: Incremented by every turn, undo, redo and hint.
        extra: Additional data saved on behalf of the caller.
        last_turn_time: Start of the current thinking time, as returned by `time.monotonic`.
    """

    game: Game
    codes: list[str] = field(default_factory=list)
    think_ms: list[int] = field(default_factory=list)
    undos: int = 0
    hints: int = 0
    computer: bool = False
    _: KW_ONLY
    offline: bool = False
    is_continued: bool = False
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    revision: int = 0
    extra: Mapping[str, object] = field(default_factory=dict)
    last_turn_time: float = field(default_factory=time.monotonic)
    _reported_revision: int = 0
    _reported_count: int = 0
    _reached: list[tuple[int, int, int]] = field(default_factory=list)
    _has_custom_start: bool = field(init=False)
    _shape: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self._has_custom_start = not self.game.has_drawn_start()
        self._shape = self.game.rules.shape

    @classmethod
    def from_record(cls, record: Record, *, computer: bool) -> TrackedGame:
        """Create a game from a record, with all its turns.

        Raises:
            RecordError: If a turn breaks the record's rules.
        """
        game = Game.from_record(record)
        set_started(game, record.started)
        _set_finished(game, record.finished)
        codes = list(map(encode_turn, game.turns))
        times = [*record.times, *[0] * len(codes)][: len(codes)]
        help_taken = record.undos, record.hints, computer
        return cls(game, codes, times, *help_taken, is_continued=True, revision=len(codes))

    @classmethod
    def from_saved(
        cls, saved: SavedGame, draws: Draws | None = None, *, draw_again: bool = False
    ) -> TrackedGame:
        """Restore a game from the store, including turns that were undone and can be redone.

        Args:
            saved: The stored game.
            draws: Source of new tiles. Defaults to a generator with the game's seed.
            draw_again: Whether to draw the tiles again instead of restoring the saved tiles.

        Raises:
            StorageError: If the saved turns break the saved rules.
        """
        try:
            rules = Rules.parse(saved.rules)
            start = Board.parse(saved.start)
            player = str(saved.extra.get("player", saved.player))
            game = Game(rules, seed=saved.seed, board=start, player=player, draws=draws)
            set_started(game, saved.started)
            for direction, spawn in decode_steps("".join(saved.turns), rules.shape):
                if spawn and not draw_again:
                    game.play(direction, spawn=spawn)
                else:
                    game.attempt(direction)
        except Py2048Error as error:
            raise StorageError(f"the saved game {saved.id} cannot be read: {error}") from error
        for _ in saved.turns[saved.position :]:
            game.undo()
        _set_finished(game, saved.updated)
        return cls(
            game,
            codes=list(saved.turns),
            think_ms=[each or 0 for each in saved.millis],
            undos=saved.undos,
            hints=saved.hints,
            computer=bool(saved.extra.get("computer")),
            offline=bool(saved.extra.get("offline")),
            is_continued=bool(saved.extra.get("continued")),
            id=saved.id,
            revision=saved.revision,
            extra=saved.extra,
            _reported_revision=saved.revision,
            _reported_count=len(saved.turns),
        )

    def copy(self) -> TrackedGame:
        """Copy the game, so that a thread can continue it."""
        codes, think_ms = self.codes[:], self.think_ms[:]
        return replace(self, game=self.game.copy(), codes=codes, think_ms=think_ms, _reached=[])

    @property
    def position(self) -> int:
        """Number of turns in `codes`, excluding undone turns."""
        return self.game.turn_count

    @property
    def details(self) -> tuple[int, int, bool, bool]:
        """The facts that affect the score category: ``(undos, hints, computer, offline)``."""
        return self.undos, self.hints, self.computer, self.offline

    @property
    def category(self) -> str:
        """``computer``, ``assisted`` or ``plain``.

        A game is assisted if it has undos, hints or a custom start position, or continues a record.
        """
        if self.computer:
            return "computer"
        is_assisted = self.undos or self.hints or self._has_custom_start or self.is_continued
        return "assisted" if is_assisted else "plain"

    @property
    def may_be_best(self) -> bool:
        """Whether the score can become a best score: a person must have played the whole game."""
        return self.category in HUMAN_CATEGORIES and not self.is_continued

    def attempt(
        self, direction: Direction, think_ms: int | None = None, spawn: Spawn | None = None
    ) -> Turn | None:
        """Try to move, and return the turn, or `None` if the move is illegal.

        Illegal moves that the rules penalise count as turns.

        Args:
            direction: Direction to slide.
            think_ms: Thinking time in milliseconds. Defaults to the time since the previous turn.
            spawn: The new tile of a turn that was already played on another machine. By default,
                the game chooses a random tile.
        """
        game, before = self.game, self.game.position
        game.play(direction, spawn=spawn) if spawn else game.attempt(direction)
        turn, count = game.position.turn, before.turn_count
        if turn is None or game.position is before:
            return None
        del self.codes[count:], self.think_ms[count:]
        self.codes.append(encode_step(turn.direction, turn.spawn, self._shape))
        now = time.monotonic()
        elapsed_ms, self.last_turn_time = round((now - self.last_turn_time) * 1000), now
        self.think_ms.append(elapsed_ms if think_ms is None else think_ms)
        tile, is_offline = game.position.max_tile, self.offline or spawn is not None
        if tile > before.max_tile and not is_offline and is_milestone(game.rules, tile):
            pace = tile, sum(self.think_ms[1:]), game.ply
            self._reached += [pace] * (self.category == "plain")
        self._reported_count = min(self._reported_count, count)
        self.revision += 1
        return turn

    def undo(self) -> Turn | None:
        """Undo the last turn."""
        if (turn := self.game.undo()) is not None:
            self.undos += 1
            self.revision += 1
        return turn

    def redo(self) -> Turn | None:
        """Redo the last undone turn."""
        if (turn := self.game.redo()) is not None:
            self.revision += 1
        return turn

    def count_hint(self) -> None:
        """Count a hint."""
        self.hints += 1
        self.revision += 1

    @property
    def is_changed(self) -> bool:
        """Whether the game has changed since the last `take_change`."""
        return self.revision != self._reported_revision

    def take_change(self) -> GameChange | None:
        """Return the changes since the previous call, or `None` if there are none.

        The cost is proportional to the number of new turns, not to the length of the game.
        """
        if self.revision == self._reported_revision:
            return None
        count, length, now = self._reported_count, len(self.codes), self.game.position
        turns = zip(range(count, length), self.codes[count:], self.think_ms[count:], strict=True)
        change = GameChange(
            id=self.id, seen=self._reported_revision, revision=self.revision, length=length,
            position=now.turn_count, score=now.score, is_over=not now.legal,
            undos=self.undos, hints=self.hints, extra=self._extra(now.max_tile),
            turns=tuple(turns), reached=tuple(self._reached),
        )  # fmt: skip
        self._reached.clear()
        self._reported_revision, self._reported_count = self.revision, length
        return change

    def _extra(self, max_tile: int) -> dict[str, object]:
        """Return values to save as JSON, because the database has no columns for them."""
        facts = {
            "computer": self.computer, "continued": self.is_continued, "offline": self.offline,
            "player": self.game.player,
        }  # fmt: skip
        known = {name: value for name, value in facts.items() if value}
        return {**self.extra, "max_tile": max_tile, **known}

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds from the first move until now or until the end of the game."""
        played = sum(self.think_ms[1 : self.position])
        is_running = self.position and not self.game.is_over
        return played + round(1000 * (time.monotonic() - self.last_turn_time)) * bool(is_running)

    def record(self) -> Record:
        """Return a record of the game so far."""
        times = tuple(self.think_ms[: self.position])
        return replace(self.game.record(), undos=self.undos, hints=self.hints, times=times)


def set_started(game: Game, text: str) -> None:
    """Set the start time from ISO 8601 text, unless it is before 1970 or in the future."""
    started = _timestamp(text)
    if started is not None:
        game.started = started


def _set_finished(game: Game, text: str) -> None:
    """Set the time of the last turn, if the game has turns and the time is valid."""
    finished = _timestamp(text)
    if game.turn_count and finished is not None and finished >= game.started:
        game.finished = finished


def _timestamp(text: str) -> float | None:
    """Parse ISO 8601 text as whole Unix seconds, or return None if the time is implausible."""
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text).replace(microsecond=0)
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
        if 0 <= seconds <= time.time():
            return seconds
    return None


class Replay:
    """Steps through a verified record.

    Args:
        record: The record to step through.

    Attributes:
        index: Number of turns before the current position.

    Raises:
        RecordError: If a turn breaks the record's rules.
    """

    def __init__(self, record: Record) -> None:
        record.verify()
        self.record = record
        self._positions = Game.from_record(record).positions()
        self.index = 0

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self._positions) - 1

    @property
    def position(self) -> Position:
        """The current position."""
        return self._positions[self.index]

    def forward(self) -> Moved | None:
        """Go forward one turn, and return a `Moved` event, or `None` at the end."""
        before, after = self.position, self.seek(self.index + 1)
        if after is before or after.turn is None:
            return None
        points = after.score - before.score
        return Moved(before.board, after.turn, after.board, points, after.score)

    def back(self) -> Undone | None:
        """Go back one turn, and return an `Undone` event, or `None` at the start."""
        before, after = self.position, self.seek(self.index - 1)
        if before.turn is None:
            return None
        return Undone(before.turn, after.board, after.score)

    def seek(self, index: int) -> Position:
        """Jump to the position after `index` turns, or to the end, and return the position."""
        self.index = min(max(index, 0), len(self))
        return self.position
