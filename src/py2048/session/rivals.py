"""Rivals: games to race against, in which the same tiles appear.

A game with a seed gives the same tile and the same random word at each ply, see
``docs/reference/generator.md``. A game without one, such as a replay from elsewhere, gives the
words that draw its tiles on its boards: on the same board the same tile appears in the same cell,
on another board the same tile in the cell as far along the empty ones.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from py2048 import rng
from py2048.board import Board
from py2048.game import Game, Position, Record, Spawn
from py2048.game.turn import Draws, draws_from, possible_cells
from py2048.players import Player, make_player
from py2048.rules import Rules

AHEAD = 100
"""How many plies a playing rival is ahead of the person at most."""

LONGEST_NAME = 40


def name_of(record: Record) -> str:
    """Return who played a game as screens show it; records may come from strangers.

    It is short, and has no sign that a terminal obeys.
    """
    name = "".join(sign if sign.isprintable() else " " for sign in record.player)
    name = " ".join(name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"


class Rival(ABC):
    """A game to race against.

    Attributes:
        name: who plays it.
        rules: its rules.
        seed: its seed; `None` if its tiles come from its record.
        start: its start.
        fault: why it plays no further, in one line; or an empty text.
    """

    name: str
    rules: Rules
    seed: int | None
    start: Board
    fault: str = ""

    @abstractmethod
    def draws(self) -> Draws | None:
        """Return where the tiles come from, if not from the seed."""

    @abstractmethod
    def positions(self, ply: int) -> tuple[Position, ...]:
        """Return the positions up to `ply`, or as far as the game has come."""

    @abstractmethod
    def elapsed_ms(self, ply: int) -> int | None:
        """Return the thinking time up to `ply` in milliseconds, if it was kept."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """Whether the last of the `positions` is the last of the game."""

    @abstractmethod
    def close(self) -> None:
        """Play no further."""

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """Return what `rival_from` makes the rival of again."""


class RecordedRival(Rival):
    """A game that was played before.

    Args:
        record: the game.
        name: what to call it; by default who played it.

    Raises:
        RecordError: if the record breaks its rules.
    """

    def __init__(self, record: Record, name: str = "") -> None:
        record.verify()
        self._record = record
        self.name = name or name_of(record) or "the record"
        self.rules, self.start = record.rules, record.start
        self.seed = record.seed if record.has_seeded_start() else None
        self._words: list[int] = []
        self._positions = [Position(record.start, 0, 0)]
        self._elapsed = [0]
        times = iter(record.times)
        for board, turn, score in record.replay():
            elapsed = self._elapsed[-1] + next(times, 0)
            if turn.spawn is None:
                self._elapsed[-1] = elapsed
                continue
            self._positions.append(Position(board, score, len(self._positions)))
            self._elapsed.append(elapsed)
            cells = possible_cells(record.rules, turn.slide.board, turn.direction)
            self._words.append(word_for(record.rules, turn.spawn, cells))
        self._has_times = any(record.times)

    def draws(self) -> Draws | None:
        """Return the record's words, and fresh ones after its end."""
        if self.seed is not None:
            return None
        words, fresh = self._words, draws_from(rng.key_of(rng.random_seed()))
        return lambda ply, board: words[ply] if ply < len(words) else fresh(ply, board)

    def positions(self, ply: int) -> tuple[Position, ...]:
        """Return the positions up to `ply`."""
        return tuple(self._positions[: ply + 1])

    def elapsed_ms(self, ply: int) -> int | None:
        """Return the thinking time up to `ply`, if the record has times."""
        return self._elapsed[min(ply, len(self._elapsed) - 1)] if self._has_times else None

    @property
    def is_over(self) -> bool:
        """A record does not go on."""
        return True

    def close(self) -> None:
        """Nobody plays here."""

    def to_json(self) -> dict[str, object]:
        """Return the record and what it is called."""
        return {"record": self._record.to_json(), "name": self.name}


class PlayingRival(Rival):
    """A computer player that plays along, in a thread of its own.

    Args:
        rules: the rules.
        player: the player.
        name: its spec.
        seed: the seed of both games; by default a fresh one.
    """

    def __init__(self, rules: Rules, player: Player, name: str, seed: int | None = None) -> None:
        self._game = Game(rules, seed=seed, player=name)
        self.name, self.rules, self.seed = name, rules, self._game.seed
        self.start = self._game.start
        self._player = player
        self._positions = [*self._game.positions()]
        self._wanted = 0
        self._is_closed = False
        self._wakeup = threading.Condition()
        self._thread: threading.Thread | None = None

    def draws(self) -> Draws | None:
        """The seed gives the tiles."""
        return None

    def positions(self, ply: int) -> tuple[Position, ...]:
        """Return the positions up to `ply` as far as there are any, and let the player go on."""
        with self._wakeup:
            self._wanted = max(self._wanted, ply + AHEAD)
            self._wakeup.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._play, name="rival", daemon=True)
            self._thread.start()
        return tuple(self._positions[: ply + 1])

    def elapsed_ms(self, ply: int) -> int | None:  # noqa: ARG002 - a computer's time is no person's
        """Return nothing: a computer's time says nothing to a person."""
        return None

    @property
    def is_over(self) -> bool:
        """Whether the player's game is over."""
        return bool(self.fault) or self._game.is_over

    def close(self) -> None:
        """Let the player stop after its move."""
        with self._wakeup:
            self._is_closed = True
            self._wakeup.notify_all()

    def to_json(self) -> dict[str, object]:
        """Return the player and its game; it plays it anew."""
        return {"player": self.name, "rules": str(self.rules), "seed": self.seed}

    def wait(self, ply: int) -> None:
        """Wait until the player has come to `ply`, or its game is over."""
        self.positions(ply)
        with self._wakeup:
            self._wakeup.wait_for(lambda: len(self._positions) > ply or self.is_over)

    def _play(self) -> None:
        try:
            while not self._game.is_over:
                with self._wakeup:
                    self._wakeup.wait_for(
                        lambda: self._is_closed or len(self._positions) <= self._wanted
                    )
                    if self._is_closed:
                        return
                direction = self._player.choose(self._game)
                with self._wakeup:
                    self._game.play(direction)
                    self._positions.append(self._game.positions()[-1])
                    self._wakeup.notify_all()
        except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
            with self._wakeup:
                self.fault = str(error) or type(error).__name__
                self._wakeup.notify_all()


def rival_from(data: Mapping[str, Any]) -> Rival:
    """Return the rival that `Rival.to_json` has described.

    Raises:
        RecordError, RulesError, PlayerError: if it cannot be made any more.
        KeyError: if something is missing.
    """
    if "record" in data:
        return RecordedRival(Record.from_json(data["record"]), data["name"])
    spec = data["player"]
    return PlayingRival(Rules.parse(data["rules"]), make_player(spec), spec, data["seed"])


def word_for(rules: Rules, spawn: Spawn, cells: list[tuple[int, int]]) -> int:
    """Return a draw that brings `spawn` where it can appear in `cells`: see `py2048.rng`."""
    weights = rules.spawn_weights
    below = sum(
        weight
        for tile, weight in zip(weights.tiles, weights.integers, strict=True)
        if tile < spawn.tile
    )
    index = weights.tiles.index(spawn.tile)
    high = _middle(2 * below + weights.integers[index], 2 * sum(weights.integers))
    low = _middle(2 * cells.index(spawn.cell) + 1, 2 * len(cells))
    return high << 32 | low


def _middle(numerator: int, denominator: int) -> int:
    return (numerator << 32) // denominator
