"""`PlaysGames`: what a compiled player offers besides choosing: whole games at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from py2048.rules import Rules


class Finished(NamedTuple):
    """A game that was played to its end.

    Attributes:
        score: its score, in the points of the rules.
        max_tile: the largest tile on its last board.
        moves: its legal turns.
    """

    score: int
    max_tile: int
    moves: int


@runtime_checkable
class PlaysGames(Protocol):
    """Plays whole games without coming back to Python between moves.

    Optional: `py2048.arena` asks a player for it and plays move by move where it is missing.
    """

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> Sequence[Finished]:
        """Play the game of each seed to its end.

        The games are those that a `Game` with the seed and a new player's `choose` make, each
        as if it were the player's first: what came before in `seeds` changes nothing. Without
        seeds the player loads and compiles what it needs, and is ready when that returns.
        """
