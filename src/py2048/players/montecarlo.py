"""The `montecarlo` player, which tries each direction in many random games."""

from __future__ import annotations

import numpy as np

from py2048.core.direction import Direction
from py2048.core.errors import PlayerError
from py2048.core.game import Game
from py2048.core.rng import checked_seed, mix64, random_seed
from py2048.engine.batch import rollouts
from py2048.engine.boards import exponents_of
from py2048.players.player import ChoosesBest, Meaning, Unit, checked_game

MAX_GAMES = 1_000_000
DEFAULT_MOVES = 2000
"""Default move limit. Random games on boards of up to 5x5 end before this limit; games on 6x6 take
about 4,300 moves.
"""
MAX_EXACT_CELLS = 25
"""On boards with more cells, the move limit ends random games early, so their mean points are too
low.
"""


class MonteCarloPlayer(ChoosesBest):
    """Plays many random games after each move, and chooses the move with the best mean score."""

    def __init__(
        self, games: int = 100, moves: int = DEFAULT_MOVES, seed: int | None = None
    ) -> None:
        if not 1 <= games <= MAX_GAMES:
            raise PlayerError(f"games must be 1 to {MAX_GAMES}, not {games}")
        if moves < 1:
            raise PlayerError(f"moves must be 1 or more, not {moves}")
        changed = {"moves": moves if moves != DEFAULT_MOVES else None, "seed": seed}
        options = [f"{name}={value}" for name, value in changed.items() if value is not None]
        self.name = ",".join([f"montecarlo:games={games}", *options])
        self._games, self._moves = games, moves
        self._seed = random_seed() if seed is None else checked_seed(seed)

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the mean points of random games that begin with each legal direction.

        The random games depend only on the seed and the board.
        """
        legal = checked_game(game).legal_directions()
        if not legal:
            return {}
        board = exponents_of(game.board.rows)
        results = rollouts(
            game.rules,
            np.repeat(board[None], len(legal), axis=0),
            count=self._games,
            seed=_seed_of(self._seed, board.tobytes()),
            directions=[direction.value for direction in legal],
            moves=self._moves,
        )
        return dict(zip(legal, results.scores.mean(axis=1).tolist(), strict=True))

    def meaning(self, game: Game) -> Meaning:
        """Describe the values as points, unless the move limit may cut games short."""
        if game.rules.cells > MAX_EXACT_CELLS or self._moves < DEFAULT_MOVES:
            return Meaning()
        return Meaning(Unit.POINTS, "random")


def _seed_of(seed: int, board: bytes) -> int:
    """Derive the seed of the random games from the player's seed and the board."""
    for start in range(0, len(board), 8):
        seed = mix64(seed ^ int.from_bytes(board[start : start + 8], "little"))
    return seed
