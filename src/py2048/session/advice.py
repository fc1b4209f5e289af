"""Asking a player about a position without blocking the screen.

A `Question` is a snapshot that a worker thread may think about; the `Hint` it gives carries
the session's version, so that an answer to an outdated position is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from py2048.engine import Board, Direction
from py2048.errors import PlayerError
from py2048.game import Game
from py2048.players import Player
from py2048.rules import Rules


@dataclass(frozen=True, slots=True)
class Hint:
    """What a player would do.

    Attributes:
        direction: the direction it would choose.
        values: the worth of each legal direction, in points.
        player: the spec of the player that was asked.
        version: the version of the session's position that it was asked about.
    """

    direction: Direction
    values: Mapping[Direction, float]
    player: str
    version: int

    @property
    def ranked(self) -> list[tuple[Direction, float]]:
        """The legal directions with their values, the best first."""
        return sorted(self.values.items(), key=lambda item: -item[1])


@dataclass(frozen=True, slots=True)
class Question:
    """A position to think about, independent of the session it comes from.

    Attributes:
        rules: the rules of the game.
        board: the board to move on; the game is not over.
        version: the version of the session's position.
    """

    rules: Rules
    board: Board
    version: int

    def ask(self, player: Player) -> Hint:
        """Return what `player` would do, and what it thinks of each direction.

        May be slow; safe in a thread of its own. The player sees the position but not the
        game's seed, so it cannot know what will spawn.

        Raises:
            PlayerError: if the player answers with an illegal direction.
        """
        return self._answer(player, player.rate(self._game()))

    def choose(self, player: Player) -> Hint:
        """Like `ask`, without the values: for autoplay, where only the move matters.

        Raises:
            PlayerError: if the player answers with an illegal direction.
        """
        return self._answer(player, {})

    def _answer(self, player: Player, values: Mapping[Direction, float]) -> Hint:
        game = self._game()
        direction = player.choose(game)
        if direction not in game.legal_directions():
            raise PlayerError(f"player {player.name!r} chose {direction}, which is illegal")
        return Hint(direction, values, player.name, self.version)

    def _game(self) -> Game:
        return Game(self.rules, seed=0, board=self.board)
