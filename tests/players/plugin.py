"""Players as a plugin would provide them."""

from __future__ import annotations

from py2048 import Direction, Game
from py2048.players.simple import best


class Mine:
    """Plays its favourite direction whenever it is legal."""

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
    """Fails in its constructor."""

    def __init__(self) -> None:
        self.name = str(1 // 0)


def nobody() -> None:
    """Return something that is not a player."""


def vague(speed: Speed) -> Mine:  # type: ignore[name-defined]  # noqa: F821
    """Have an option with an undefined type."""
    return Mine()
