"""Players without compiled kernels: random, greedy, corner and quick."""

from __future__ import annotations

import random

from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Game
from py2048.core.rng import checked_seed
from py2048.players.ntuple.heuristic import board_value
from py2048.players.player import ChoosesBest, best, checked_game
from py2048.players.search.expectimax import heuristic_win_value, rate_for

QUICK_DEPTH = 8
"""Maximum depth of a quick search."""


class RandomPlayer:
    """Any legal direction, all equally likely."""

    def __init__(self, seed: int | None = None) -> None:
        chosen = None if seed is None else checked_seed(seed)
        self.name = "random" if chosen is None else f"random:seed={chosen}"
        self._random = random.Random(chosen)

    def choose(self, game: Game) -> Direction:
        """Return a random legal direction."""
        legal = checked_game(game).legal_directions()
        return self._random.choice(legal) if legal else best({})

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate all legal directions equally."""
        return dict.fromkeys(checked_game(game).legal_directions(), 0.0)


class GreedyPlayer(ChoosesBest):
    """Chooses the move with the most points; ties go to the most empty cells."""

    name = "greedy"

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return each slide's points, plus the fraction of cells that are empty after the slide."""
        board, rules = checked_game(game).board, game.rules
        slides = [board.slide(direction, rules.merging) for direction in game.legal_directions()]
        return {s.direction: s.points + len(s.board.empty_cells()) / rules.cells for s in slides}


class CornerPlayer(ChoosesBest):
    """Keeps large tiles in the lower left corner: prefers down, then left, right and up."""

    name = "corner"
    _order = (Direction.DOWN, Direction.LEFT, Direction.RIGHT, Direction.UP)

    def rate(self, game: Game) -> dict[Direction, float]:
        """Rate the directions in the player's order of preference, from 3 (best) to 0."""
        legal = checked_game(game).legal_directions()
        return {d: 3.0 - rank for rank, d in enumerate(self._order) if d in legal}


class QuickPlayer(ChoosesBest):
    """Searches two or three moves ahead in plain Python, without compilation."""

    def __init__(self, ms: float = 300.0) -> None:
        if not 0 < ms < float("inf"):
            raise PlayerError(f"ms must be more than 0 and finite, not {ms:g}")
        self.name = "quick" if ms == 300.0 else f"quick:ms={ms}".removesuffix(".0")
        self._seconds = ms / 1000

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the move values of the deepest search that fits into the time limit."""
        if not checked_game(game).legal_directions():
            return {}
        rules, win_value = game.rules, heuristic_win_value(game.rules)
        return rate_for(self._seconds, rules, board_value, QUICK_DEPTH, win_value, game.board)
