"""The `perfect` player: optimal moves on boards small enough to be solved."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from py2048.core.direction import Direction
from py2048.core.errors import BoardError, PlayerError, SolvingError
from py2048.core.game import Game
from py2048.core.rules import Rules
from py2048.players.player import ChoosesBest, Meaning, Recent, Unit, checked_game
from py2048.players.solving import Goal, Solution, solve
from py2048.players.solving.distilled import DistilledMoves, boards_key, shipped_moves
from py2048.players.solving.solver import solve_from

QUICK_CELLS = 8
"""Boards with at most this many cells are solved on first use, which takes a few seconds."""


_solved = Recent[Solution](4)
"""Solutions that all players share, because a tournament creates a new player for each game."""

_followed = Recent[Solution](4)
"""Solutions for boards that the bundled best moves do not cover."""


@lru_cache(maxsize=4)
def _loaded(file: Path, _changed: int) -> Solution:
    return Solution.load(file)


class PerfectPlayer(ChoosesBest):
    """Plays the optimal move on boards that are small enough to be solved.

    For the classic rules on 2x2, 2x3, 2x4 and 3x3, py2048 includes the best moves, but not their
    values. Other boards of up to eight cells are solved on first use. All other boards require a
    solution file, created by ``py2048 solve RULES --output FILE``. A solution file also contains
    the values.

    Args:
        goal: ``score``, or a tile such as ``tile=256``.
        file: Solution file, used only for the rules and the goal for which it was created.
    """

    def __init__(self, goal: str = "score", file: str = "") -> None:
        self._goal = Goal.parse(goal)
        self._file: Solution | None = None
        options = [] if self._goal == Goal() else [f"goal={self._goal}"]
        if file:
            path = Path(file)
            changed = path.stat().st_mtime_ns if path.exists() else 0
            self._file = solution = _loaded(path, changed)
            if solution.goal != self._goal:
                raise PlayerError(f"{file} is for {solution.goal}: give goal={solution.goal}")
            options.append(f"file={file}")
        self.name = f"perfect:{','.join(options)}" if options else "perfect"

    def rate(self, game: Game) -> dict[Direction, float]:
        """Return the value of each legal move, in future points or as a percentage.

        If only the best move is known, it has the value 1 and all other moves have the value 0.

        Raises:
            PlayerError: If there is no solution for the rules, or the board is unreachable.
        """
        legal = checked_game(game).legal_directions()
        if not legal:
            return {}
        moves = self._moves(game.rules)
        try:
            if moves is not None and moves.covers(game.board):
                chosen = moves.best(game.board)
                return {direction: float(direction is chosen) for direction in legal}
            values = self._solution_for(game).move_values(game.board)
        except BoardError as error:
            raise PlayerError(f"perfect: {error}") from None
        if self._goal.tile is None:
            return values
        # After the goal is reached, the solution has no values, because all moves are equally good.
        chances = values or dict.fromkeys(game.legal_directions(), 1.0)
        return {direction: 100 * chance for direction, chance in chances.items()}

    def meaning(self, game: Game) -> Meaning:
        """Return the unit of the values and whether the best move is proven to be optimal."""
        if self._goal.tile is not None:
            return Meaning()
        moves = self._moves(game.rules)
        if moves is not None and moves.covers(game.board):
            return Meaning(is_exact=True)
        return Meaning(Unit.POINTS, self.name, is_exact=True)

    def _moves(self, rules: Rules) -> DistilledMoves | None:
        """Return the bundled best moves if they exist and fit the player's options."""
        if self._goal.tile is not None or self._serves(rules):
            return None
        try:
            return shipped_moves(rules)
        except SolvingError as error:
            raise PlayerError(f"perfect: {error}") from None

    def _solution_for(self, game: Game) -> Solution:
        """Return a solution that covers the game's board."""
        if self._moves(game.rules) is None:
            return self.solution(game.rules)
        return _followed.find(
            boards_key(game.rules),
            lambda: solve_from(game.rules, [game.board]),
            lambda solution: solution.meets(game.board),
        )

    def _serves(self, rules: Rules) -> bool:
        """Return whether the player has a solution file for these rules."""
        return self._file is not None and boards_key(self._file.rules) == boards_key(rules)

    def solution(self, rules: Rules) -> Solution:
        """Return the solution of a rule set; small boards are solved on first use.

        Raises:
            PlayerError: If there is no solution for these rules.
        """
        if self._file is not None and self._serves(rules):
            return self._file
        rows, columns = rules.shape
        if rules.cells > QUICK_CELLS:
            raise PlayerError(
                f"perfect needs a file for {rules.name} on {rows}x{columns}: "
                "py2048 solve RULES --output FILE makes one, and perfect:file=FILE reads it"
            )
        try:
            return _solved.find((boards_key(rules), self._goal), lambda: solve(rules, self._goal))
        except SolvingError as error:
            raise PlayerError(f"perfect: {error}") from None
