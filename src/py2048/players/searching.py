"""Players that search: what `ntuple`, `expectimax` and `heuristic` have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from py2048.direction import Direction
from py2048.errors import PlayerError
from py2048.game import Game
from py2048.ntuple.heuristic import DEFAULT, Heuristic, board_value
from py2048.ntuple.network import Network
from py2048.players.player import Unit, asked
from py2048.players.simple import best
from py2048.players.whole_games import Finished
from py2048.rules import Rules
from py2048.search.desk import MAX_CELLS
from py2048.search.expectimax import Expectimax
from py2048.search.limits import Limits
from py2048.search.play import play_games
from py2048.search.searcher import Searcher

PLAIN_DEPTH = 2
"""How far the search in plain Python looks, on boards too large for the compiled one."""


class SearchPlayer:
    """Plays the best move of a search.

    The first search on a kind of board has to be compiled, once on a machine, which takes some
    seconds: ask in a thread of its own where somebody waits, or run ``py2048 warm-up`` before.

    Args:
        name: the spec of the player.
        limits: how far it searches.
        evaluation_for: what leaves are worth under given rules.
        threads: how many threads work on a move.
    """

    def __init__(
        self,
        name: str,
        limits: Limits,
        evaluation_for: Callable[[Rules], Network | Heuristic],
        threads: int = 1,
    ) -> None:
        if not 1 <= threads <= len(Direction):
            raise PlayerError(f"threads must be 1 to {len(Direction)}, not {threads}")
        self.name = name
        self._limits = limits
        self._evaluation_for = evaluation_for
        self._threads = threads
        self._searchers: dict[Rules, Searcher] = {}
        self._lock = threading.Lock()

    def choose(self, game: Game) -> Direction:
        """Return the direction with the highest value."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal direction, in what `unit` says.

        Raises:
            PlayerError: if there are no weights for the rules of the game.
        """
        if not asked(game).legal_directions():
            return {}
        if game.rules.cells > MAX_CELLS:
            return self._plain(game)
        return self.searcher(game.rules).rate(game.board)

    def unit(self, game: Game) -> Unit:
        """Return points where a network has learnt them, and else a rating.

        A network has learnt the points still to come after boards that it sees as they are. One
        with larger tiles than it tells apart is shown to it with smaller ones, and rated far too
        high.
        """
        evaluation = self._evaluation_for(game.rules)
        if not isinstance(evaluation, Network):
            return Unit.RATING
        known = game.board.max_tile < 1 << evaluation.layout.ranks
        return Unit.POINTS if known else Unit.RATING

    def searcher(self, rules: Rules) -> Searcher:
        """Return the compiled search under the rules, made once.

        Raises:
            PlayerError: if there are no weights for the rules.
        """
        with self._lock:
            if rules not in self._searchers:
                evaluation = self._evaluation_for(rules)
                self._searchers[rules] = Searcher(
                    rules, evaluation, self._limits, threads=self._threads
                )
            return self._searchers[rules]

    def play_games(self, rules: Rules, seeds: Sequence[int]) -> list[Finished]:
        """Play the game of each seed to its end, compiled; wait for the compiler if need be.

        Raises:
            PlayerError: if there are no weights for the rules.
        """
        if rules.cells > MAX_CELLS:
            return [self._play(rules, seed) for seed in seeds]
        searcher = self.searcher(rules)
        searcher.prepare()
        games = play_games(searcher, seeds)
        results = zip(
            games.scores.tolist(), games.tiles.tolist(), games.plies.tolist(), strict=True
        )
        return [Finished(*result) for result in results]

    def _play(self, rules: Rules, seed: int) -> Finished:
        game = Game(rules, seed=seed)
        while not game.is_over:
            game.play(self.choose(game))
        return Finished(game.score, game.board.max_tile, game.ply)

    def _plain(self, game: Game) -> dict[Direction, float]:
        depth = min(self._limits.moves, PLAIN_DEPTH)
        evaluation = self._evaluation_for(game.rules)
        if isinstance(evaluation, Network):
            return Expectimax(game.rules, evaluation.value, depth).rate(game.board)
        won = DEFAULT.base * sum(game.rules.shape)
        return Expectimax(game.rules, board_value, depth, won).rate(game.board)


def options_text(**options: object) -> str:
    """Return the options of a spec that were given, as they are written there."""
    given = [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
             for name, value in options.items() if value not in (None, "", 0.0)]  # fmt: skip
    return ",".join(given)
