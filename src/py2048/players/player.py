"""The `Player` protocol and its optional extensions."""

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
    """Unit of a player's values."""

    POINTS = "points"
    """Expected future points if `Meaning.policy` plays on.

    If the score is the board's sum, points are counted from the current sum.
    """
    CHANCE = "chance"
    """Probability of making a tile, from 0 to 1."""
    RATING = "rating"
    """The player's own scale; higher is better."""


class Chance(NamedTuple):
    """How often recorded games made a tile after they reached a position's stage.

    Attributes:
        tile: The next tile that is not certain to be made.
        made: Number of games that made it.
        games: Number of games that reached the stage.
    """

    tile: int
    made: int
    games: int


class Meaning(NamedTuple):
    """Meaning of a player's values for a position, and statistics of its stage.

    Attributes:
        unit: Unit of the values.
        policy: Player whose further play the points and the chance refer to; empty if unknown.
        excess: Measured overestimate in points, which hints subtract.
        chance: How often the next large tile was made, if enough games were recorded.
        is_exact: Whether the values are exact rather than estimated.
    """

    unit: Unit = Unit.RATING
    policy: str = ""
    excess: float = 0.0
    chance: Chance | None = None
    is_exact: bool = False


def checked_game(game: Game) -> Game:
    """Return `game`, or raise if it is not a `Game`.

    Raises:
        PlayerError: If `game` is something else, such as a board.
    """
    check_kind(game, Game, PlayerError, "a Game: use Game(rules, board=board)")
    return game


@runtime_checkable
class Player(Protocol):
    """Chooses a direction for a game.

    A player never changes the game. `py2048.testing.check_player` checks the whole contract.
    """

    @property
    def name(self) -> str:
        """Spec that recreates this player, such as ``expectimax:depth=3``."""

    def choose(self, game: Game) -> Direction:
        """Return a legal direction for `game`, which is not over.

        Raises:
            GameOverError: If the game is over.
        """

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal direction, empty if the game is over.

        `choose` returns the direction with the highest value. A player without preferences gives
        all directions the same value. `meaning_of` returns the unit of the values.
        """


@runtime_checkable
class Explains(Protocol):
    """Optional extension for players that can say what their values mean."""

    def meaning(self, game: Game) -> Meaning:
        """Return what the values of `rate` mean for `game`."""


def meaning_of(player: Player, game: Game) -> Meaning:
    """Return what a player's values mean for `game`."""
    return player.meaning(game) if isinstance(player, Explains) else Meaning()


class FinishedGame(NamedTuple):
    """Result of a game played to the end.

    Attributes:
        score: Score under the rules.
        max_tile: Largest tile on the final board.
        moves: Number of legal moves.
    """

    score: int
    max_tile: int
    moves: int


class ResignedError(PlayerError):
    """Raised by a player that resigns. In a tournament, its score so far counts."""


class Usage(NamedTuple):
    """Resources used by a player's moves.

    Attributes:
        seconds: Time that the moves took.
        boards: Number of boards rated.
        tokens: Number of tokens written by the player's language model.
    """

    seconds: float = 0.0
    boards: int = 0
    tokens: int = 0


@runtime_checkable
class CountsUsage(Protocol):
    """Optional extension for players that measure their own usage."""

    def usage(self) -> Usage:
        """Return the resources used since the player was created."""


@runtime_checkable
class PlaysGames(Protocol):
    """Optional extension for players that play whole games without returning to Python.

    `py2048.lab.arena` asks all other players for each move.
    """

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> Sequence[FinishedGame]:
        """Play the game of each seed to the end.

        Each game is the one that a new player would play with `choose` in a `Game` with that seed,
        and does not depend on the other `seeds`. Without seeds, the player only loads and compiles
        what it needs.
        """


def best(ratings: dict[Direction, float]) -> Direction:
    """Return the direction with the highest value; ties go to the first one.

    Raises:
        GameOverError: If there are no directions.
    """
    if not ratings:
        raise GameOverError("the game is over: there is no direction to choose")
    return max(ratings, key=ratings.__getitem__)


class ChoosesBest:
    """Mixin for players that play the direction they rate highest."""

    def choose(self: Player, game: Game) -> Direction:
        """Return the direction with the highest value."""
        return best(self.rate(game))


class Recent(Generic[Value]):
    """Thread-safe LRU cache of expensive objects such as solutions and searches.

    Args:
        size: Maximum number of objects.
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
        """Return the object cached under `key`; create it if missing or rejected by `is_good`."""
        with self._lock:
            value = self._kept.pop(key, None)
            if value is None or not is_good(value):
                value = make()
            self._kept[key] = value
            if len(self._kept) > self._size:
                del self._kept[next(iter(self._kept))]
            return value
