"""The `Player` protocol, and what a player may offer besides."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from py2048.core.direction import Direction
from py2048.core.errors import GameOverError, PlayerError, check_kind
from py2048.core.game import Game
from py2048.core.rules import Rules

Value = TypeVar("Value")


class Unit(StrEnum):
    """The unit of a player's values."""

    POINTS = "points"
    """Points still to come, on average over games that the policy of the `Meaning` plays.

    A score by the board's sum counts from the sum of the board.
    """
    CHANCE = "chance"
    """The chance to make a tile, 0 to 1."""
    RATING = "rating"
    """The player's own scale: more is better, nothing else is known."""


class Chance(NamedTuple):
    """How often a tile was made in recorded games, from the stage of a position on.

    Attributes:
        tile: the tile, the next one that is in doubt.
        made: how many of the games made it.
        games: how many games there were.
    """

    tile: int
    made: int
    games: int


class Meaning(NamedTuple):
    """What a player's values of a position mean, and what is known of its stage.

    Attributes:
        unit: the unit of the values.
        policy: the player that makes these points, and this tile so often, when it plays on; empty
            if neither is known.
        excess: the points that the values were measured to be too high by, which hints take off.
        chance: the chance of the next large tile, if enough games were recorded.
        is_exact: whether the values are proven, not estimated.
    """

    unit: Unit = Unit.RATING
    policy: str = ""
    excess: float = 0.0
    chance: Chance | None = None
    is_exact: bool = False


def checked_game(game: Game) -> Game:
    """Return `game`.

    Raises:
        PlayerError: if it is not a `Game`, but for example a board.
    """
    check_kind(game, Game, PlayerError, "a Game: use Game(rules, board=board)")
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
        all directions the same. `meaning_of` says whether the values are points or a rating on
        the player's own scale.
        """


@runtime_checkable
class Explains(Protocol):
    """Knows what its values mean. Optional: those of other players are a rating."""

    def meaning(self, game: Game) -> Meaning:
        """Return what the values of `rate` mean for `game`."""


def meaning_of(player: Player, game: Game) -> Meaning:
    """Return what a player's values mean for `game`."""
    return player.meaning(game) if isinstance(player, Explains) else Meaning()


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


class ResignedError(PlayerError):
    """The player gives the game up. In a tournament the game ends there, and counts as it is."""


class Usage(NamedTuple):
    """What a player's moves have cost.

    Attributes:
        seconds: the time that it took.
        boards: how many boards it rated.
        tokens: how many tokens its language model wrote.
    """

    seconds: float = 0.0
    boards: int = 0
    tokens: int = 0


@runtime_checkable
class CountsUsage(Protocol):
    """Knows what its moves have cost. Optional: of others the processor time is known."""

    def usage(self) -> Usage:
        """Return what the moves have cost since the player was made."""


@runtime_checkable
class PlaysGames(Protocol):
    """Plays whole games without returning to Python between moves.

    Optional: `py2048.lab.arena` plays move by move with other players.
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


class Recent(Generic[Value]):
    """What a player has made, as solutions and searches: a few, those used last.

    Args:
        size: how many.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: dict[Hashable, Value] = {}

    def find(
        self,
        key: Hashable,
        make: Callable[[], Value],
        is_good: Callable[[Value], bool] = lambda _: True,
    ) -> Value:
        """Return what is kept under `key`; made first if there is nothing, or it is not good."""
        with self._lock:
            value = self._kept.pop(key, None)
            if value is None or not is_good(value):
                value = make()
            self._kept[key] = value
            if len(self._kept) > self._size:
                del self._kept[next(iter(self._kept))]
            return value
