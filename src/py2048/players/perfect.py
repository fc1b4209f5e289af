"""`perfect`: the best move, exactly, on boards that are small enough to be solved."""

from __future__ import annotations

import threading
from pathlib import Path

from py2048.direction import Direction
from py2048.errors import BoardError, PlayerError, SolvingError
from py2048.game import Game
from py2048.ntuple.network import objective_key
from py2048.players.player import Meaning, Unit, best, checked_game
from py2048.rules import Rules
from py2048.solving import Goal, Solution, solve

QUICK_CELLS = 8
"""Boards of at most so many cells are solved when they are first played, in some seconds."""


def _key(rules: Rules) -> tuple[object, ...]:
    """Return what decides the values, and the boards that games meet."""
    return *objective_key(rules), rules.start


class PerfectPlayer:
    """The exactly best move, on boards that are small enough to be solved.

    A board of up to eight cells is solved when it is first played. For others a file is needed,
    made by ``py2048 solve RULES --save FILE``.

    Args:
        goal: ``score``, or a tile such as ``tile=256``.
        file: a solution, for its rules and its goal.
    """

    def __init__(self, goal: str = "score", file: str = "") -> None:
        self._goal = Goal.parse(goal)
        self._solutions: dict[tuple[object, ...], Solution] = {}
        self._lock = threading.Lock()
        options = [] if self._goal == Goal() else [f"goal={self._goal}"]
        if file:
            solution = Solution.load(Path(file))
            if solution.goal != self._goal:
                raise PlayerError(f"{file} is for {solution.goal}: give goal={solution.goal}")
            self._solutions[_key(solution.rules)] = solution
            options.append(f"file={file}")
        self.name = f"perfect:{','.join(options)}" if options else "perfect"

    def choose(self, game: Game) -> Direction:
        """Return the best direction."""
        return best(self.rate(game))

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return what each legal move is worth: the points to come, or the chance in percent.

        Raises:
            PlayerError: if there is no solution for the rules, or no game under them meets the
                board.
        """
        if not checked_game(game).legal_directions():
            return {}
        try:
            values = self.solution(game.rules).move_values(game.board)
        except BoardError as error:
            raise PlayerError(f"perfect: {error}") from None
        if self._goal.tile is None:
            return values
        # Once the tile is made, every move is as good as any.
        chances = values or dict.fromkeys(game.legal_directions(), 1.0)
        return {direction: 100 * chance for direction, chance in chances.items()}

    def meaning(self, _game: Game) -> Meaning:
        """Return that values are the points of perfect play, if the goal is the score."""
        is_score = self._goal.tile is None
        return Meaning(Unit.POINTS, self.name, is_exact=True) if is_score else Meaning()

    def solution(self, rules: Rules) -> Solution:
        """Return the solution for rules; that of a small board is found when it is first asked for.

        Raises:
            PlayerError: if there is none.
        """
        key = _key(rules)
        with self._lock:
            if key not in self._solutions:
                self._solutions[key] = self._solved(rules)
            return self._solutions[key]

    def _solved(self, rules: Rules) -> Solution:
        rows, columns = rules.shape
        if rules.cells > QUICK_CELLS:
            raise PlayerError(
                f"perfect needs a file for {rules.name} on {rows}x{columns}: "
                "py2048 solve RULES --save FILE makes one, and perfect:file=FILE reads it"
            )
        try:
            return solve(rules, self._goal)
        except SolvingError as error:
            raise PlayerError(f"perfect: {error}") from None
