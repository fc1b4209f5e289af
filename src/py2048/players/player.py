"""The `Player` protocol, and what a player may offer besides."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

from py2048.direction import Direction
from py2048.errors import GameOverError, PlayerError, shown
from py2048.game import Game
from py2048.rules import Rules


class Unit(StrEnum):
    """The unit of a player's values."""

    POINTS = "points"
    """Points still to come, close to those that such a player makes from the position."""
    RATING = "rating"
    """The player's own scale: more is better, nothing else is known."""


def checked_game(game: Game) -> Game:
    """Return `game`.

    Raises:
        PlayerError: if it is not a `Game`, but for example a board.
    """
    if not isinstance(game, Game):
        raise PlayerError(f"{shown(game)} is not a Game: use Game(rules, board=board)")
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
        """Return the value of each legal direction; empty if the game is over.

        `choose` returns the direction of the highest value; a player without preferences gives
        all directions the same. `unit_of` says whether the values are points or a rating on the
        player's own scale.
        """


@runtime_checkable
class Calibrated(Protocol):
    """Knows the unit of its values. Optional: those of other players are a rating."""

    def unit(self, game: Game) -> Unit:
        """Return the unit of the values of `rate` for `game`."""


def unit_of(player: Player, game: Game) -> Unit:
    """Return the unit of a player's values for `game`."""
    return player.unit(game) if isinstance(player, Calibrated) else Unit.RATING


class FinishedGame(NamedTuple):
    """A game played to its end.

    Attributes:
        score: its score, in the points of the rules.
        max_tile: the largest tile on its last board.
        moves: the number of legal turns.
    """

    score: int
    max_tile: int
    moves: int


@runtime_checkable
class PlaysGames(Protocol):
    """Plays whole games without returning to Python between moves.

    Optional: `py2048.arena` plays move by move with other players.
    """

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> Sequence[FinishedGame]:
        """Play the game of each seed to its end.

        The games are those of a `Game` with the seed and `choose` of a new player, independent of
        the other `seeds`. Without seeds, the player loads and compiles what it needs.
        """


def best(ratings: dict[Direction, float]) -> Direction:
    """Return the direction of the highest value, the first of equals.

    Raises:
        GameOverError: if there is none.
    """
    if not ratings:
        raise GameOverError("the game is over: there is no direction to choose")
    return max(ratings, key=ratings.__getitem__)
