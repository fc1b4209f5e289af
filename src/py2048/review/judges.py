"""Judges that are based on an exact solution, a compiled search, or any player."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeVar

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import BoardError, PlayerError, SolvingError
from py2048.core.game import Game, Turn
from py2048.core.game.turn import Spawn, possible_cells
from py2048.core.language import N_
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
"""Boards with a larger tile sum are not solved, because tiles might exceed the solver's limit."""

MIN_TABLE_CHANCE = 0.9
"""If an endgame table's target is less likely than this, the search judges the position."""

LUCK_DEPTH = 2
"""Minimum depth of the search that measures luck."""


class ExactJudge(Judge):
    """Evaluates moves with a solution, and solves positions that the solution does not contain.

    Args:
        solution: The exact values.
        rules: Rules of the games. Defaults to the rules of the solution.
    """

    is_exact = True

    def __init__(self, solution: Solution, rules: Rules | None = None) -> None:
        self.name = N_("exact") if solution.goal.tile is None else f"exact for {solution.goal}"
        self.rules = rules or solution.rules
        self.unit = Unit.POINTS if solution.goal.tile is None else Unit.CHANCE
        self._solution = solution

    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return the exact value of each legal move."""
        return self._query(board, Solution.move_values)

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        """Return the exact value after the spawn minus the mean over all possible spawns."""
        gain = gain_of(self.rules, turn) if self.unit is Unit.POINTS else 0
        return gain + self._query(turn.board, Solution.value_of) - values[turn.direction]

    def _query(self, board: Board, query: Callable[[Solution, Board], Answer]) -> Answer:
        """Query the solution. Solve the board first if the solution does not contain the board."""
        if board.sum > MAX_SUM:
            raise PlayerError(
                f"a board with a sum of {board.sum} cannot be solved: at most {MAX_SUM}"
            )
        with suppress(BoardError):
            return query(self._solution, board)
        try:
            self._solution = solve_from(self.rules, [board], self._solution.goal)
            return query(self._solution, board)
        except (BoardError, SolvingError) as error:
            raise PlayerError(f"perfect: {error}") from None


class PlayerJudge(Judge):
    """Evaluates moves with a player's ratings."""

    is_exact = False

    def __init__(self, player: Player, rules: Rules) -> None:
        self.name, self.rules, self._player = player.name, rules, player
        self.unit = meaning_of(player, Game(rules, seed=0)).unit

    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return the player's rating of each legal move."""
        return self._player.rate(Game(self.rules, seed=0, board=board))

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:  # noqa: ARG002
        """Return the best rating after the spawn minus the mean over all possible spawns."""
        return luck_by(lambda board: max(self.rate(board).values(), default=0.0), self.rules, turn)


class SearchJudge(Judge):
    """Evaluates moves with a compiled search.

    Values are calibrated with the network's `TrackRecord`, if available.

    The luck of a turn is its value after the actual spawn, minus the mean value over all possible
    spawns. The search has the same depth for all spawns.

    Args:
        player: The searching player.
        rules: Rules of the game.
        moves: Moves that are known to be optimal, and always get the highest value.
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
        """Return the value of each legal move from the search."""
        scale = self._scale(board)
        values = {each: scale * value for each, value in self._searcher.rate(board).items()}
        if values and self._moves and self._moves.covers(board):
            with suppress(BoardError):  # the board cannot occur in a game
                best = self._moves.best(board)
                values |= {best: max(values.values())} if best else {}
        return values

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        """Return the value after the spawn minus the expected value before the spawn."""
        board, network = turn.slide.before, self._network
        if self.rules.is_deterministic or self._is_won(turn.board):
            return 0.0
        scale = self._scale(board)
        if network and network.band_of(board) is not network.band_of(turn.board):
            return scale * luck_by(self._value, self.rules, turn)
        value = gain_of(self.rules, turn) + self._value(turn.board)
        if self._deep is self._searcher and not self._moves:
            return scale * value - values[turn.direction]
        return scale * (value - self._deep.rate(board)[turn.direction])

    def basis(self, board: Board) -> Basis:
        """Return the source of the values: an endgame table that contains the board, or the search.

        A table cannot rank moves that are all certain to reach its target, so the search judges
        these moves. The search also judges positions from which the target is unlikely to be
        reached, because moves outside the table may be better.
        """
        ending = find_ending(board, self.rules)
        if (
            ending is None
            or ending.chance < MIN_TABLE_CHANCE
            or min(ending.chances.values()) == 1.0
        ):
            return Basis(self.name)
        return Basis(ending.table, ending.chances)

    def _value(self, board: Board) -> float:
        return max(self._shallow.rate(board).values(), default=0.0)

    def _is_won(self, board: Board) -> bool:
        return not Game(self.rules, seed=0, board=board).legal_directions() and board.can_move()

    def _scale(self, board: Board) -> float:
        """Return the ratio of actual points in recorded games to the estimated points."""
        records = self._network.records if self._network else None
        return records.scale(board) if records else 1.0


def luck_by(value: Callable[[Board], float], rules: Rules, turn: Turn) -> float:
    """Return the luck of a turn: its value minus the mean over all possible spawns.

    The value of a turn includes its points.
    """
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
