"""The kinds of judges: an exact solution, a compiled search, any player."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, PlayerError, SolvingError
from py2048.core.game import Game, Turn
from py2048.core.game.turn import Spawn, possible_cells
from py2048.core.rules import Rules
from py2048.players import Player, Unit, meaning_of
from py2048.players.ntuple.network import Network
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.players.searching import SearchPlayer
from py2048.players.solving import Solution, find_ending
from py2048.players.solving.distilled import DistilledMoves
from py2048.players.solving.solver import solve_from
from py2048.review.moves import Basis, Judge, gain_of

Answer = TypeVar("Answer")

MAX_SUM = 1 << 15
"""The largest sum of a board for which no larger tile than a solution can hold is in reach."""

LIKELY = 0.9
"""With a lower chance to make its tile, a table of endings judges no move."""

LUCK_DEPTH = 2
"""The depth of the search that tells luck if that for the moves has none."""


class ExactJudge(Judge):
    """Values moves by a solution, and positions that it lacks by one that begins there.

    Args:
        solution: the exact values.
        rules: the rules of the games; by default those of the solution.
    """

    is_exact = True

    def __init__(self, solution: Solution, rules: Rules | None = None) -> None:
        self.name = "exact" if solution.goal.tile is None else f"exact for {solution.goal}"
        self.rules = rules or solution.rules
        self.unit = Unit.POINTS if solution.goal.tile is None else Unit.CHANCE
        self._solution = solution

    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return the exact value of each legal move."""
        return self._asked(board, Solution.move_values)

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        """Return how far the value after the spawn is from its exact mean."""
        gain = gain_of(self.rules, turn) if self.unit is Unit.POINTS else 0
        return gain + self._asked(turn.board, Solution.value_of) - values[turn.direction]

    def _asked(self, board: Board, ask: Callable[[Solution, Board], Answer]) -> Answer:
        """Return what the solution answers, or one that begins at the board if that is unknown."""
        if board.sum > MAX_SUM:
            raise PlayerError(
                f"a board with a sum of {board.sum} cannot be solved: at most {MAX_SUM}"
            )
        with suppress(BoardError):
            return ask(self._solution, board)
        try:
            self._solution = solve_from(self.rules, [board], self._solution.goal)
            return ask(self._solution, board)
        except (BoardError, SolvingError) as error:
            raise PlayerError(f"perfect: {error}") from None


class PlayerJudge(Judge):
    """Values moves as a player rates them."""

    is_exact = False

    def __init__(self, player: Player, rules: Rules) -> None:
        self.name, self.rules, self._player = player.name, rules, player
        self.unit = meaning_of(player, Game(rules, seed=0)).unit

    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return how the player rates each legal move."""
        return self._player.rate(Game(self.rules, seed=0, board=board))

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:  # noqa: ARG002
        """Return how far the player's best value after the spawn is from the mean of them all."""
        return luck_by(lambda board: max(self.rate(board).values(), default=0.0), self.rules, turn)


class SearchJudge(Judge):
    """Values moves by a compiled search, in calibrated points where its network has records.

    Luck is the value after the spawn less the mean over all spawns, both one move less deep: the
    mean is that which the search itself takes.

    Args:
        player: the player that searches.
        rules: the rules.
        moves: the best moves where they are known exactly; none is then worth more.
    """

    is_exact = False

    def __init__(
        self, player: SearchPlayer, rules: Rules, moves: DistilledMoves | None = None
    ) -> None:
        self.name, self.rules = player.name, rules
        self._searcher = player.new_searcher(rules)
        evaluation, limits = self._searcher.evaluation, self._searcher.limits
        self._network = evaluation if isinstance(evaluation, Network) else None
        has_records = self._network is not None and self._network.records is not None
        self.unit = Unit.POINTS if has_records else Unit.RATING
        self._deep = self._searcher
        if not limits.is_exhaustive or limits.max_depth < LUCK_DEPTH:
            self._deep = Searcher(rules, evaluation, SearchLimits(LUCK_DEPTH))
        self._shallow = Searcher(rules, evaluation, SearchLimits(self._deep.limits.max_depth - 1))
        self._moves = moves

    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return what the search finds each legal move worth."""
        scale = self._scale(board)
        values = {each: scale * value for each, value in self._searcher.rate(board).items()}
        if values and self._moves and self._moves.covers(board):
            with suppress(BoardError):  # of a start that no game meets
                best = self._moves.best(board)
                values |= {best: max(values.values())} if best else {}
        return values

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        """Return how far the value after the spawn is from the mean that the search found."""
        board, network = turn.slide.before, self._network
        if self.rules.is_deterministic or self._is_won(turn.board):
            return 0.0
        scale = self._scale(board)
        if network and network.band_of(board) is not network.band_of(turn.board):
            return scale * luck_by(self._value, self.rules, turn)
        found = gain_of(self.rules, turn) + self._value(turn.board)
        if self._deep is self._searcher and not self._moves:
            return scale * found - values[turn.direction]
        return scale * (found - self._deep.rate(board)[turn.direction])

    def basis(self, board: Board) -> Basis:
        """Return the search, or the table of endings that knows the board.

        A table says nothing of the moves where all of them make its tile for certain, and where
        its best chance is low, a move that leaves the formation may be better than it tells.
        """
        ending = find_ending(board, self.rules)
        if ending is None or ending.chance < LIKELY or min(ending.chances.values()) == 1.0:
            return Basis(self.name)
        return Basis(ending.table, ending.chances)

    def _value(self, board: Board) -> float:
        return max(self._shallow.rate(board).values(), default=0.0)

    def _is_won(self, board: Board) -> bool:
        return not Game(self.rules, seed=0, board=board).legal_directions() and board.can_move()

    def _scale(self, board: Board) -> float:
        """Return the points that came, in recorded games, for each that the network expected."""
        records = self._network.records if self._network else None
        return records.scale(board) if records else 1.0


def luck_by(value: Callable[[Board], float], rules: Rules, turn: Turn) -> float:
    """Return how far the points and the value after a spawn are from the mean of all spawns."""
    after, mean = turn.slide.board, 0.0
    cells = possible_cells(rules, after, turn.direction)
    if len(cells) * len(rules.spawn_weights.pairs) == 1:
        return 0.0
    for tile, chance in rules.spawn_weights.pairs:
        for cell in cells:
            other = Turn(turn.direction, turn.slide, Spawn(tile, cell))
            share = float(chance) / len(cells)
            mean += share * (gain_of(rules, other) + value(other.board))
    return gain_of(rules, turn) + value(turn.board) - mean
