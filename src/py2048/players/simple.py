"""The simplest players: by chance, by the points at hand, into a corner."""

from __future__ import annotations

import random

from py2048.direction import Direction
from py2048.errors import GameOverError
from py2048.game import Game
from py2048.players.player import asked


def best(ratings: dict[Direction, float]) -> Direction:
    """Return the best rated direction, the first of equals.

    Raises:
        GameOverError: if there is none.
    """
    if not ratings:
        raise GameOverError("the game is over: there is no direction to choose")
    return max(ratings, key=ratings.__getitem__)


class RandomPlayer:
    """Any legal direction, all equally likely."""

    def __init__(self, seed: int | None = None) -> None:
        self.name = "random" if seed is None else f"random:seed={seed}"
        self._random = random.Random(seed)

    def choose(self, game: Game) -> Direction:
        """Return a random legal direction."""
        legal = asked(game).legal_directions()
        return self._random.choice(legal) if legal else best({})

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate all directions the same."""
        return dict.fromkeys(asked(game).legal_directions(), 0.0)


class GreedyPlayer:
    """The direction that merges most now; of equals, the one that leaves most cells empty."""

    name = "greedy"

    def choose(self, game: Game) -> Direction:
        """Return the direction with the most points now."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the points of each slide, and less than a point for each empty cell."""
        slides = {
            d: game.board.slide(d, game.rules.merging) for d in asked(game).legal_directions()
        }
        cells = game.rules.cells
        return {
            d: slide.points + len(slide.board.empty_cells()) / cells for d, slide in slides.items()
        }


class CornerPlayer:
    """Keeps the large tiles in the lower left corner: down, else left, else right, else up."""

    name = "corner"
    _order = (Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP)

    def choose(self, game: Game) -> Direction:
        """Return the first legal direction of the order."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate the directions by their place in the order: 3 points down to 0."""
        legal = asked(game).legal_directions()
        return {d: 3.0 - rank for rank, d in enumerate(self._order) if d in legal}
