"""The `Player` protocol: what every player offers, ours and yours."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol, runtime_checkable

from py2048.direction import Direction
from py2048.errors import PlayerError, shown
from py2048.game import Game


class Unit(StrEnum):
    """What the values of a player are measured in."""

    POINTS = "points"
    """Points still to come, near what such a player makes of the position."""
    RATING = "rating"
    """Nothing but the player's own scale: more is better, and no more is said."""


def asked(game: Game) -> Game:
    """Return the game that a player is asked about.

    Raises:
        PlayerError: if it is something else, such as a board.
    """
    if not isinstance(game, Game):
        raise PlayerError(f"{shown(game)} is no Game: ask about Game(rules, board=board)")
    return game


@runtime_checkable
class Player(Protocol):
    """Chooses a direction from a game's state.

    A player never changes the game it is asked about. `py2048.testing.check_player` checks the
    whole contract.
    """

    @property
    def name(self) -> str:
        """The spec that makes this player again, such as ``expectimax:depth=3``."""

    def choose(self, game: Game) -> Direction:
        """Return a legal direction for `game`, which is not over.

        Raises:
            GameOverError: if the game is over.
        """

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the worth of each legal direction; empty if the game is over.

        The best rated direction is the one that `choose` returns, where the player rates at all:
        a player without an opinion rates all directions the same. `unit_of` says whether the
        values are points or a rating on the player's own scale.
        """


@runtime_checkable
class Calibrated(Protocol):
    """Says what its values are measured in. Optional: those of other players are a rating."""

    def unit(self, game: Game) -> Unit:
        """Return what the values of `rate` for `game` are measured in."""


def unit_of(player: Player, game: Game) -> Unit:
    """Return what the values of `player` for `game` are measured in."""
    return player.unit(game) if isinstance(player, Calibrated) else Unit.RATING
