"""`TrackedGame`: a game with its undos, hints and thinking times; `Replay`: walking through one."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from py2048.app.storage.values import GameChange
from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import Py2048Error, StorageError
from py2048.core.game import Game, Position, Record, Spawn, Turn
from py2048.core.game.record import decode_steps, encode_turn
from py2048.core.game.turn import Draws
from py2048.core.rules import Rules
from py2048.presentation.events import Moved, Undone

if TYPE_CHECKING:
    from py2048.app.storage import SavedGame

HUMAN_CATEGORIES = ("plain", "assisted")
"""The categories of games that a person played alone; only these count for the best score."""

MAX_NAME_LENGTH = 40


def name_of(record: Record) -> str:
    """Return who played a game as screens show it; records may come from strangers.

    It is short, and has no sign that a terminal obeys.
    """
    name = " ".join("".join(each if each.isprintable() else " " for each in record.player).split())
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}…"


@dataclass
class TrackedGame:
    """A game, the help that its player took, and what of it is not saved yet.

    Attributes:
        game: the game; change it only through this class.
        codes: the code of each turn, undone ones at the end included.
        think_ms: the thinking time of each turn of `codes`, in milliseconds.
        undos: how many turns were taken back.
        hints: how many hints were shown.
        computer: whether a computer player made a move.
        offline: whether a browser without its server chose some of the tiles.
        is_continued: whether it began as a record, which anybody may have played.
        id: the store's name for the game.
        revision: how many turns, undos, redos and hints changed it; grows by one with each.
        extra: further facts that the store keeps for the caller.
    """

    game: Game
    codes: list[str] = field(default_factory=list)
    think_ms: list[int] = field(default_factory=list)
    undos: int = 0
    hints: int = 0
    computer: bool = False
    offline: bool = field(default=False, kw_only=True)
    is_continued: bool = field(default=False, kw_only=True)
    id: str = field(default_factory=lambda: secrets.token_hex(8), kw_only=True)
    revision: int = field(default=0, kw_only=True)
    extra: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    _taken_revision: int = field(default=0, kw_only=True, repr=False)
    _taken_count: int = field(default=0, kw_only=True, repr=False)
    _since: float = field(default_factory=time.monotonic, repr=False)
    _is_set_up: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._is_set_up = not self.game.has_drawn_start()

    @classmethod
    def from_record(cls, record: Record, *, computer: bool) -> TrackedGame:
        """Return a game that was played elsewhere, with all its turns.

        Raises:
            RecordError: if a turn of the record breaks its rules.
        """
        game = Game.from_record(record)
        set_started(game, record.started)
        _set_finished(game, record.finished)
        codes = [encode_turn(turn) for turn in game.turns]
        times = [*record.times, *[0] * len(codes)][: len(codes)]
        help_taken = record.undos, record.hints, computer
        return cls(game, codes, times, *help_taken, is_continued=True, revision=len(codes))

    @classmethod
    def from_saved(cls, saved: SavedGame, draws: Draws | None = None) -> TrackedGame:
        """Return a game from the store, with its undone turns ready to be redone.

        Args:
            saved: the game.
            draws: where its tiles come from, if not from its seed.

        Raises:
            StorageError: if the saved turns break the saved rules.
        """
        try:
            rules = Rules.parse(saved.rules)
            start = Board.parse(saved.start)
            player = str(saved.extra.get("player", saved.player))
            game = Game(rules, seed=saved.seed, board=start, player=player, draws=draws)
            set_started(game, saved.started)
            for direction, spawn in decode_steps("".join(saved.turns), rules.shape):
                if spawn is None:
                    game.attempt(direction)
                else:
                    game.play(direction, spawn=spawn)
        except Py2048Error as error:
            raise StorageError(f"the saved game {saved.id} cannot be read back: {error}") from error
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
            _taken_revision=saved.revision,
            _taken_count=len(saved.turns),
        )

    def copy(self) -> TrackedGame:
        """Return a copy, to be played on in a thread; the game itself stays as it is."""
        codes, think_ms = self.codes[:], self.think_ms[:]
        return replace(self, game=self.game.copy(), codes=codes, think_ms=think_ms)

    @property
    def position(self) -> int:
        """How many of `codes` are played."""
        return self.game.turn_count

    @property
    def details(self) -> tuple[int, int, bool, bool]:
        """What decides the category: ``(undos, hints, computer, offline)``."""
        return self.undos, self.hints, self.computer, self.offline

    @property
    def category(self) -> str:
        """``offline``, ``computer``, ``assisted`` or ``plain``.

        A game is assisted by an undo, a hint, a position set up, a record that it continues.
        """
        if self.offline:
            return "offline"
        if self.computer:
            return "computer"
        has_help = self.undos or self.hints or self._is_set_up or self.is_continued
        return "assisted" if has_help else "plain"

    @property
    def may_be_best(self) -> bool:
        """Whether its score counts as its player's: a person's alone, from the first turn."""
        return self.category in HUMAN_CATEGORIES and not self.is_continued

    def attempt(
        self, direction: Direction, think_ms: int | None = None, spawn: Spawn | None = None
    ) -> Turn | None:
        """Try a direction; return the turn, or `None` if nothing happened and nothing counts.

        Args:
            direction: where to.
            think_ms: the thinking time in milliseconds; by default since the turn before.
            spawn: the tile that appeared, of a legal turn that was played elsewhere.
        """
        game, position = self.game, self.game.turn_count
        if spawn is None:
            game.attempt(direction)
        else:
            game.play(direction, spawn=spawn)
        if game.turn_count == position:
            return None
        turn = game.last_turn
        assert turn is not None  # the count has just grown
        del self.codes[position:], self.think_ms[position:]
        self.codes.append(encode_turn(turn))
        now = time.monotonic()
        elapsed, self._since = round((now - self._since) * 1000), now
        self.think_ms.append(elapsed if think_ms is None else think_ms)
        self._taken_count = min(self._taken_count, position)
        self.revision += 1
        return turn

    def undo(self) -> Turn | None:
        """Take the last turn back."""
        if (turn := self.game.undo()) is not None:
            self.undos += 1
            self.revision += 1
        return turn

    def redo(self) -> Turn | None:
        """Play the last undone turn again."""
        if (turn := self.game.redo()) is not None:
            self.revision += 1
        return turn

    def count_hint(self) -> None:
        """Count a hint."""
        self.hints += 1
        self.revision += 1

    @property
    def is_changed(self) -> bool:
        """Whether something is new since `take_change`."""
        return self.revision != self._taken_revision

    def take_change(self) -> GameChange | None:
        """Return what is new since this was last asked, `None` if nothing is.

        It costs as much as the turns that are new, however long the game is.
        """
        if not self.is_changed:
            return None
        new = range(self._taken_count, len(self.codes))
        change = GameChange(
            id=self.id, seen=self._taken_revision, revision=self.revision,
            length=len(self.codes), position=self.position, score=self.game.score,
            is_over=self.game.is_over, undos=self.undos, hints=self.hints, extra=self._extra(),
            turns=tuple((ply, self.codes[ply], self.think_ms[ply]) for ply in new),
        )  # fmt: skip
        self._taken_revision, self._taken_count = self.revision, len(self.codes)
        return change

    def _extra(self) -> dict[str, object]:
        """Return what is saved of a game besides the columns of its own."""
        facts = {
            "computer": self.computer,
            "continued": self.is_continued,
            "max_tile": self.game.board.max_tile,
            "offline": self.offline,
            "player": self.game.player,
        }
        return {**self.extra, **{name: fact for name, fact in facts.items() if fact}}

    def record(self) -> Record:
        """Return the record of the game up to now."""
        times = tuple(self.think_ms[: self.position])
        return replace(self.game.record(), undos=self.undos, hints=self.hints, times=times)


def set_started(game: Game, text: str) -> None:
    """Let a game have begun when a text says, in ISO 8601, if that is from 1970 to now."""
    started = _moment(text)
    if started is not None:
        game.started = started


def _set_finished(game: Game, text: str) -> None:
    """Let the last turn of a game, if it has one, have been played when a text says, likewise."""
    finished = _moment(text)
    if game.turn_count and finished is not None and finished >= game.started:
        game.finished = finished


def _moment(text: str) -> float | None:
    """Return a time from 1970 to now in seconds, to the second as in records."""
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text).replace(microsecond=0)
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
        if 0 <= seconds <= time.time():
            return seconds
    return None


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
