"""A player as a plugin would bring it."""

from __future__ import annotations

from py2048 import Direction, Game
from py2048.players.simple import best


class Mine:
    """Always its favourite direction, if legal."""

    def __init__(self, favourite: str = "left", bold: bool = False, ratio: float = 1.0) -> None:
        self.name = f"mine:favourite={favourite}"
        self.favourite, self.bold, self.ratio = favourite, bold, ratio

    def choose(self, game: Game) -> Direction:
        """Return the favourite, or the first legal direction."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate the favourite highest."""
        favourite = Direction.parse(self.favourite)
        return {d: float(d is favourite) for d in game.legal_directions()}


class Hasty(Mine):
    """Fails before it is made."""

    def __init__(self) -> None:
        self.name = str(1 // 0)


def nobody() -> None:
    """Make no player."""


def vague(speed: Speed) -> Mine:  # type: ignore[name-defined]  # noqa: F821
    """Have an option of a type that is not there."""
    return Mine()
