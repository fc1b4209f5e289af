"""The player that needs no compiling: for a hint while the others are being compiled."""

from __future__ import annotations

import time

from py2048.direction import Direction
from py2048.errors import PlayerError
from py2048.game import Game
from py2048.ntuple.heuristic import DEFAULT, board_value
from py2048.players.player import asked
from py2048.players.simple import best
from py2048.search.expectimax import Expectimax

MAX_DEPTH = 8


class QuickPlayer:
    """Looks two or three moves ahead by a heuristic, in plain Python; needs no compiling."""

    def __init__(self, ms: float = 300.0) -> None:
        if not 0 < ms < float("inf"):
            raise PlayerError(f"ms must be more than 0, not {ms:g}")
        self.name = "quick" if ms == 300.0 else f"quick:ms={ms:g}"
        self._seconds = ms / 1000

    def choose(self, game: Game) -> Direction:
        """Return the direction with the highest value."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal direction, from as deep a search as there was time for."""
        if not asked(game).legal_directions():
            return {}
        end = time.perf_counter() + self._seconds
        rules, won = game.rules, DEFAULT.base * sum(game.rules.shape)
        values: dict[Direction, float] = {}
        for depth in range(1, MAX_DEPTH + 1):
            start = time.perf_counter()
            values = Expectimax(rules, board_value, depth, won).rate(game.board)
            now = time.perf_counter()
            if now + (now - start) * len(Direction) * _spawns(game) > end:
                break
        return values


def _spawns(game: Game) -> int:
    """Return about how many boards a spawn can make of a board of the game."""
    if game.rules.is_deterministic:
        return 1
    return len(game.rules.spawn_weights.pairs) * (len(game.board.empty_cells()) + 1)
