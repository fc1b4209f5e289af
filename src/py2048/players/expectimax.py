"""The expectimax player."""

from __future__ import annotations

from py2048.engine import Direction
from py2048.errors import PlayerError
from py2048.evaluation import board_value
from py2048.game import Game
from py2048.players.simple import best
from py2048.rules import Rules
from py2048.search.expectimax import Expectimax

MAX_DEPTH = 8


class ExpectimaxPlayer:
    """Looks `depth` moves ahead, averages over all spawns, and weighs boards by a heuristic."""

    def __init__(self, depth: int = 2) -> None:
        if not 1 <= depth <= MAX_DEPTH:
            raise PlayerError(f"depth must be 1 to {MAX_DEPTH}, not {depth}")
        self.name = f"expectimax:depth={depth}"
        self._depth = depth
        self._searches: dict[Rules, Expectimax] = {}

    def choose(self, game: Game) -> Direction:
        """Return the direction with the highest value."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal direction, in points."""
        if not game.legal_directions():
            return {}
        rules = game.rules
        if rules not in self._searches:
            self._searches[rules] = Expectimax(rules, board_value, self._depth)
        return self._searches[rules].rate(game.board)
