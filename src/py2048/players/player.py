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
    """Expected future points if `Meaning.policy` plays the rest of the game.

    If games are scored by the board's tile sum, the points are the expected increase of this sum.
    """
    CHANCE = "chance"
    """Probability of reaching a tile, from 0 to 1."""
    RATING = "rating"
    """The player's own scale; higher is better."""


class Chance(NamedTuple):
    """Share of recorded games that reached a larger tile from a similar position.

    Attributes:
        tile: The next large tile (see `StageRecord.next_tile`).
        made: Number of games that reached the tile.
        games: Number of games that reached the position's stage.
    """

    tile: int
    made: int
    games: int


class Meaning(NamedTuple):
    """The meaning of a player's values for a position, with statistics from recorded games.

    Attributes:
        unit: Unit of the values.
        policy: The player that is assumed to play the rest of the game, or an empty string if
            unknown.
        excess: Measured mean overestimate of the values, in points. Hints subtract this number.
        chance: Chance of reaching the next large tile, if enough games were recorded.
        is_exact: Whether the values are exact rather than estimated.
    """

    unit: Unit = Unit.RATING
    policy: str = ""
    excess: float = 0.0
    chance: Chance | None = None
    is_exact: bool = False


def checked_game(game: Game) -> Game:
    """Return `game`, or raise an error if it is not a `Game`.

    Raises:
        PlayerError: If `game` is not a `Game`.
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
        """The spec that recreates this player, such as ``expectimax:depth=3``."""

    def choose(self, game: Game) -> Direction:
        """Return a legal direction. The game must not be over.

        Raises:
            GameOverError: If the game is over.
        """

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal direction. The dict is empty if the game is over.

        `choose` returns the direction with the highest value. A player without a preference gives
        all directions the same value. `meaning_of` returns the unit of the values.
        """


@runtime_checkable
class Explains(Protocol):
    """Optional extension for players that explain the meaning of their values."""

    def meaning(self, game: Game) -> Meaning:
        """Return the meaning of the values that `rate` returns for `game`."""


def meaning_of(player: Player, game: Game) -> Meaning:
    """Return the meaning of a player's values for `game`."""
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
    """Raised by a player to resign. In a tournament, a player who resigns keeps the score."""


class Usage(NamedTuple):
    """Resources used by a player's moves.

    Attributes:
        seconds: Time spent on the moves.
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
    """Optional extension for players that play whole games in compiled code.

    For all other players, `py2048.lab.arena` calls `choose` for each move.
    """

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> Sequence[FinishedGame]:
        """Play the game of each seed to the end.

        Each result is the same as if a new player had chosen every move of a `Game` with this seed.
        If `seeds` is empty, the player only loads its files and compiles its kernels.
        """


def best(ratings: dict[Direction, float]) -> Direction:
    """Return the direction with the highest value; ties go to the first direction.

    Raises:
        GameOverError: If there are no directions.
    """
    if not ratings:
        raise GameOverError("the game is over: there is no direction to choose")
    return max(ratings, key=ratings.__getitem__)


class ChoosesBest:
    """Mixin for players that choose the direction with their highest rating."""

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
        """Return the cached object; create one if it is missing or `is_good` rejects it."""
        with self._lock:
            value = self._kept.pop(key, None)
            if value is None or not is_good(value):
                value = make()
            self._kept[key] = value
            if len(self._kept) > self._size:
                del self._kept[next(iter(self._kept))]
            return value
