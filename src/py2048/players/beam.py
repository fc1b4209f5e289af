"""The `beam` player, which plans deterministic games such as those of the course CITS1401."""

from __future__ import annotations

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import GameOverError, PlayerError
from py2048.core.game import Game
from py2048.core.game.turn import Turn, draw_spawn, score_after
from py2048.core.rules import Rules
from py2048.engine.rules import CompiledRules
from py2048.players.player import checked_game
from py2048.players.search.beam import BeamPlanner, beam_search

MAX_WIDTH = 100_000
RATING_DEPTH = 256
"""Number of moves to search ahead when rating a direction."""


class BeamPlayer:
    """Plans whole games under deterministic rules such as cits1401. Other rules are rejected."""

    def __init__(self, width: int = 12) -> None:
        if not 1 <= width <= MAX_WIDTH:
            raise PlayerError(f"width must be 1 to {MAX_WIDTH}, not {width}")
        self.name = f"beam:width={width}"
        self._width = width
        self._planner: BeamPlanner | None = None
        self._last_choice: tuple[Rules, Board, Direction] | None = None

    def choose(self, game: Game) -> Direction:
        """Return the next planned move; make a new plan if the game has deviated from the old one.

        Raises:
            PlayerError: If the rules are not deterministic, or a move costs points.
        """
        if not checked_game(game).legal_directions():
            raise GameOverError("the game is over: there is no direction to choose")
        rules, board = game.rules, game.board
        _check(rules)
        if self._last_choice is None or self._last_choice[:2] != (rules, board):
            self._last_choice = rules, board, self._next_planned(rules, board)
        return self._last_choice[2]

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the points of the best line that a beam search finds after each move.

        The planned direction always gets the highest rating, because it was searched more deeply.

        Raises:
            PlayerError: See `choose`.
        """
        legal = checked_game(game).legal_directions()
        if not legal:
            return {}
        chosen = self.choose(game)
        ratings = {direction: self._points_after(game, direction) for direction in legal}
        return ratings | {chosen: max(ratings.values())}

    def _next_planned(self, rules: Rules, board: Board) -> Direction:
        """Return the next planned move; make a new plan if the board does not match the plan."""
        planned = None
        if self._planner and self._last_choice and turn_of(*self._last_choice).board == board:
            planned = take(self._planner)
        if planned is None:  # the game deviated from the plan, or the plan ended
            self._planner = BeamPlanner(board, rules, width=self._width)
            planned = take(self._planner)
        assert planned is not None, "a board with a legal move has a plan of one move"
        return planned

    def _points_after(self, game: Game, direction: Direction) -> float:
        rules, board = game.rules, game.board
        first = turn_of(rules, board, direction).board
        score = before = board.sum  # the current score if games are scored by tile sum
        for move in (direction, *beam_search(first, rules, width=self._width, depth=RATING_DEPTH)):
            turn = turn_of(rules, board, move)
            board = turn.board
            score = score_after(rules, score, turn, board)
        return float(score - before)


def _check(rules: Rules) -> None:
    if not rules.is_deterministic:
        raise PlayerError(
            f"beam needs deterministic spawns, but {rules.name} has random ones: "
            "use expectimax, or play cits1401"
        )
    if CompiledRules.of(rules).legal_points < 0:
        raise PlayerError(
            "beam plans the longest game, which is not the best if moves cost points "
            f"(scoring={rules.scoring}): use expectimax"
        )


def turn_of(rules: Rules, board: Board, direction: Direction) -> Turn:
    """Return the turn of a legal move, including its deterministic spawn."""
    slide = board.slide(direction, rules.merging)
    return Turn(direction, slide, draw_spawn(rules, slide.board, direction, 0))


def take(planner: BeamPlanner) -> Direction | None:
    """Return the next planned move, or `None` at the end of the game.

    Extends the plan if necessary.
    """
    while (move := planner.take()) is None:
        if planner.is_complete:
            return None
        planner.extend()
    return move
