"""`Judge`: what values the moves of a review, and which judge does: the best for the rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress

from py2048.board import Board
from py2048.direction import Direction
from py2048.errors import PlayerError, shown
from py2048.game import Turn
from py2048.game.turn import score_after
from py2048.players import Player, Unit, make_player
from py2048.review.moves import Basis, MoveReview, move_review
from py2048.rules import BoardSum, Rules

DEFAULT, MANY_CELLS = "expectimax:depth=3", 16
"""The judge of boards of up to so many cells. A deeper search confirms more of the mistakes that it
finds than of those that depth 2 finds (``benchmarks/review.py``)."""

LARGE, HUGE = "expectimax:depth=2", "heuristic:depth=1"
"""The judges of larger boards, and under rules that a compiled search does not take."""


class Judge(ABC):
    """Values the moves of games under some rules.

    The first use may have to compile kernels: a screen first prepares `player` in the background
    (`py2048.players.preparing`). It may be used by one thread at a time.

    Attributes:
        name: its name, such as ``expectimax:depth=2``.
        rules: the rules.
        unit: the unit of its values.
        is_exact: whether they are exact.
        player: a player that needs the same kernels.
    """

    name: str
    rules: Rules
    unit: Unit
    is_exact: bool
    player: Player

    @abstractmethod
    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return what each legal move is worth; nothing where the goal is reached.

        A score by the board's sum counts from the sum of the board.
        """

    @abstractmethod
    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:
        """Return what the spawn of a legal turn gave against the mean of all spawns.

        Args:
            turn: the turn.
            values: those that `rate` gave for the board before it.
        """

    def basis(self, board: Board) -> Basis:  # noqa: ARG002 - other judges look at it
        """Return what values the moves on a board."""
        return Basis(self.name, is_exact=self.is_exact)

    def review_move(
        self,
        board: Board,
        score: int,
        played: Direction,
        turn: Turn | None = None,
        *,
        ply: int = 1,
    ) -> MoveReview:
        """Return the review of a move.

        Args:
            board: the board before it.
            score: the score before it.
            played: a legal direction.
            turn: the turn that was played, for its luck.
            ply: the number of the move.

        Raises:
            PlayerError: if the judge cannot value the board.
        """
        rated = self.rate(board) or dict.fromkeys(board.legal_directions(), 1.0)
        if played not in rated:
            raise PlayerError(f"{played} is not a legal move to review")
        # By the sum of the board, the first move also brings the tiles of the start.
        is_sum = isinstance(self.rules.scoring, BoardSum) and self.unit is not Unit.CHANCE
        owed = board.sum - score if is_sum else 0
        values = {direction: value + owed for direction, value in rated.items()}
        luck = self.luck(turn, rated) if turn and turn.legal else 0.0
        return move_review(ply, board, score, played, values, luck, self.unit, self.basis(board))


def gain_of(rules: Rules, turn: Turn) -> int:
    """Return the points of a turn; a score by the board's sum grows from the sum before it."""
    before = turn.slide.before.sum
    return score_after(rules, before, turn, turn.board) - before


# --- which judge ---------------------------------------------------------------------------------


def judge_for(rules: Rules, spec: str = "", start: Board | None = None) -> Judge:
    """Return the judge that `spec` names, by default the best one for the rules.

    That is the exact solution on boards of up to eight cells, and a search by the network or the
    heuristic elsewhere.

    Args:
        rules: the rules.
        spec: a player such as ``expectimax:depth=3``, or ``perfect``.
        start: a board from which games begin, if it is not drawn by the rules.

    Raises:
        PlayerError: if there is no such player, or it does not play under the rules.
    """
    if not isinstance(spec, str):
        raise PlayerError(f"{shown(spec)} does not name a judge: give a player such as {DEFAULT!r}")
    if spec:
        return judge_by(rules, make_player(spec))
    from py2048.players.perfect import QUICK_CELLS

    if rules.cells <= QUICK_CELLS:
        with suppress(PlayerError):  # rules without chance, and tiles too large to be solved
            judge = judge_by(rules, make_player("perfect"))
            if start:
                judge.rate(start)
            return judge
    return judge_by(rules, make_player(_search_for(rules)))


def judging_player(rules: Rules, spec: str = "") -> Player:
    """Return a player that needs the kernels of `judge_for`'s judge: a screen prepares it first.

    Raises:
        PlayerError: if there is no such player.
    """
    from py2048.players.perfect import QUICK_CELLS

    if not spec and rules.cells <= QUICK_CELLS and not rules.is_deterministic:
        return make_player("perfect")
    return make_player(spec or _search_for(rules))


def _search_for(rules: Rules) -> str:
    from py2048.search.context import is_searchable

    if not is_searchable(rules):
        return HUGE
    return DEFAULT if rules.cells <= MANY_CELLS else LARGE


def judge_by(rules: Rules, player: Player) -> Judge:
    """Return the judge that values moves as a player does.

    Raises:
        PlayerError: if the player does not play under the rules.
    """
    # With NumPy, these take as long to import as a screen may take to open.
    from py2048.players.perfect import PerfectPlayer
    from py2048.players.searching import SearchPlayer
    from py2048.review.judges import ExactJudge, PlayerJudge, SearchJudge
    from py2048.search.context import is_searchable
    from py2048.solving.distilled import shipped_moves

    if isinstance(player, PerfectPlayer):
        return ExactJudge(player.solution(rules), rules, player)
    if isinstance(player, SearchPlayer) and is_searchable(rules):
        return SearchJudge(player, rules, shipped_moves(rules))
    return PlayerJudge(player, rules)
