"""`Review`: the review of a game, with its moves, accuracy, luck and phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import groupby, zip_longest
from math import hypot
from statistics import fmean
from typing import Any

from py2048.core.board import Board
from py2048.core.errors import PlayerError, RecordError, check_kind
from py2048.core.game import Game, Record
from py2048.core.rules import Rules
from py2048.players import Player, Unit, make_player
from py2048.review.levels import PERFECT, Goals, Level
from py2048.review.moves import DIGITS, Grade, Judge, MoveReview, accuracy_of
from py2048.review.reasons import Habit

MAX_MOMENTS = 10
"""Maximum number of moves that a review highlights."""

MAX_HABITS = 3

MIN_STAKE = 0.3
"""Reviews for a level report an accuracy only if the total stake of the moves is at least this
high; otherwise, the accuracy would be mostly noise.
"""

DEFAULT, MANY_CELLS = "expectimax:depth=3", 16
"""The default judge for boards of up to `MANY_CELLS` cells. Checks with deeper searches show that
depth 3 reports fewer false mistakes than depth 2.
"""

LARGE, HUGE = "expectimax:depth=2", "heuristic:depth=1"
"""Default judges for boards of more than `MANY_CELLS` cells, and for rules without a compiled
search.
"""


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a game, during which the largest tile stays the same.

    Attributes:
        tile: Largest tile during the phase.
        first: Ply of the first move.
        last: Ply of the last move.
        loss: Total loss of the moves, in the unit of the values.
        luck: Total luck.
        accuracy: As in `Review`.
    """

    tile: int
    first: int
    last: int
    loss: float
    luck: float
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Review:
    """The review of a game.

    If values are points, the final score is the score expected at the start, minus `loss`, plus
    `luck`. For an unfinished game, the result is the expected final score. With an exact judge,
    `loss` is the sum of the moves' losses. Judges without exact values revise their estimates
    during the game, and the revisions are part of `loss`.

    In a review for a level, values and losses are probabilities of reaching the goal, and luck is
    not measured.

    Attributes:
        record: Record of the game.
        judge: Name of the judge.
        unit: Unit of the values, losses and luck.
        is_exact: Whether values are exact.
        moves: Reviews of the legal moves. If the judge has a fixed goal, moves after the goal was
            reached are not reviewed.
        level: Level of the simulated players, or None for perfect play.
    """

    record: Record
    judge: str
    unit: Unit
    is_exact: bool
    moves: tuple[MoveReview, ...]
    level: Level | None = None

    @classmethod
    def of(cls, record: Record, judge: Judge, moves: Iterable[MoveReview]) -> Review:
        """Create a review from a judge's move reviews. The last moves may be missing.

        A later review of the same move replaces an earlier review.
        """
        latest = {move.ply: move for move in moves}
        ordered = tuple(sorted(latest.values(), key=lambda move: move.ply))
        return cls(record, judge.name, judge.unit, judge.is_exact, ordered, judge.level)

    @property
    def accuracy(self) -> float | None:
        """Accuracy of the game, 0 to 100, or None if unknown; see `accuracy_of_moves`."""
        return accuracy_of_moves(self.moves)

    @property
    def goal(self) -> Goals | None:
        """Goals at the last reviewed move, or None if the review is not for a level."""
        return self.moves[-1].goal if self.moves else None

    @property
    def habits(self) -> tuple[Habit, ...]:
        """The kinds of mistakes with the highest total cost, costliest first."""
        found = [move for move in self.mistakes if move.reason]
        kinds = {move.reason.kind for move in found if move.reason}
        habits = [
            Habit(kind, len(moves), fmean(move.loss for move in moves), tuple(m.ply for m in moves))
            for kind in sorted(kinds)
            if (moves := [move for move in found if move.reason and move.reason.kind is kind])
        ]
        return tuple(sorted(habits, key=lambda each: -each.count * each.cost)[:MAX_HABITS])

    @property
    def luck(self) -> float:
        """Total luck: how much better the spawned tiles were than expected."""
        return sum(move.luck for move in self.moves)

    @property
    def swing(self) -> float:
        """Estimated standard deviation of the luck in this game."""
        return hypot(*(move.luck for move in self.moves))

    @property
    def expected(self) -> float:
        """Expected final score at the start of the game, if values are points."""
        return self.moves[0].expected - self.moves[0].score if self.moves else self.record.score

    @property
    def is_whole(self) -> bool:
        """Whether the last reviewed move ended the game."""
        is_last = bool(self.moves) and self.moves[-1].ply == self.record.plies
        return is_last and Game(self.record.rules, board=last_board(self.record)).is_over

    @property
    def loss(self) -> float:
        """Total loss of the moves, including penalties for illegal moves.

        If values are points, the loss is derived from the final score (see `Review`). A negative
        loss means that the player did better than the judge expected.
        """
        return self._lost(self.moves, None)

    def _lost(self, moves: Sequence[MoveReview], following: MoveReview | None) -> float:
        """Return the total loss of consecutive moves. `following` is the next move, if any."""
        if self.unit is not Unit.POINTS or not moves:
            return sum(move.loss for move in moves)
        last = moves[-1]
        after = last.expected - last.loss + last.luck  # the review stops before the end of the game
        if following:
            after = following.expected
        elif self.is_whole:
            after = self.record.score
        before = moves[0].expected if moves[0].ply > 1 else self.expected
        luck = sum(move.luck for move in moves)
        return round(before + luck - after, DIGITS) + 0.0  # never -0.0

    @property
    def counts(self) -> dict[Grade, int]:
        """Number of moves by grade, best grade first."""
        counter = Counter(move.grade for move in self.moves)
        return {grade: counter[grade] for grade in Grade}

    @property
    def mistakes(self) -> tuple[MoveReview, ...]:
        """Inaccuracies, mistakes and blunders, in game order."""
        return tuple(move for move in self.moves if move.grade.is_mistake)

    @property
    def moments(self) -> tuple[MoveReview, ...]:
        """Up to ten mistakes with the largest losses, in game order."""
        return moments_of(self.moves)

    @property
    def first(self) -> MoveReview | None:
        """The mistake with the largest loss, which screens show first."""
        return max(self.mistakes, key=lambda move: move.loss, default=None)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases of the game. Each phase begins when a new largest tile appears."""
        groups = [
            tuple(group) for _, group in groupby(self.moves, key=lambda move: move.board.max_tile)
        ]
        return tuple(
            Phase(
                moves[0].board.max_tile,
                *(moves[0].ply, moves[-1].ply),
                self._lost(moves, following[0] if following else None),
                sum(move.luck for move in moves),
                accuracy_of_moves(moves),
            )
            for moves, following in zip_longest(groups, groups[1:])
        )

    @property
    def worst_phase(self) -> Phase | None:
        """The phase with the largest loss, or None if no phase has a loss."""
        worst = max(self.phases, key=lambda phase: phase.loss, default=None)
        return worst if worst and worst.loss else None

    def to_json(self) -> dict[str, Any]:
        """Return the review as JSON values.

        A review for a level has no ``luck`` and no ``expected``, and its moves have ``chance`` and
        ``error`` instead of ``values``.
        """
        data = {
            "rules": str(self.record.rules),
            "player": self.record.player,
            "score": self.record.score,
            "plies": self.record.plies,
            "judge": self.judge,
            "level": str(self.level or PERFECT),
            "accuracy": self.accuracy,
            "goal": self.goal and self.goal.tile,
            "habits": [
                {"reason": each.kind, "count": each.count, "cost": round(each.cost, DIGITS)}
                | {"plies": each.plies}
                for each in self.habits
            ],
            "counts": {grade.value: count for grade, count in self.counts.items()},
            "moments": [move.ply for move in self.moments],
        }
        if self.level is None:
            data |= {
                "unit": self.unit.value,
                "exact": self.is_exact,
                "expected": round(self.expected, DIGITS) if self.unit is Unit.POINTS else None,
                "loss": round(self.loss, DIGITS),
                "luck": round(self.luck, DIGITS),
                "phases": list(map(asdict, self.phases)),
            }
        return data | {"moves": [self._move_data(move) for move in self.moves]}

    def _move_data(self, move: MoveReview) -> dict[str, Any]:
        data = move.to_json()
        if self.level is None:
            data["expected"] = round(move.expected, DIGITS) if self.unit is Unit.POINTS else None
        return data


def moments_of(moves: Iterable[MoveReview]) -> tuple[MoveReview, ...]:
    """Return up to ten mistakes with the largest losses, in game order."""
    mistakes = (move for move in moves if move.grade.is_mistake)
    worst = sorted(mistakes, key=lambda move: -move.loss)[:MAX_MOMENTS]
    return tuple(sorted(worst, key=lambda move: move.ply))


def last_board(record: Record) -> Board:
    """Return a game's final board."""
    return record.replayed[-1][0] if record.replayed else record.start


def accuracy_of_moves(moves: Iterable[MoveReview]) -> float | None:
    """Return the accuracy of a game, 0 to 100.

    The accuracy compares the losses of the moves with those of random moves on the same boards. The
    accuracy is 100 if every move was the best move, and 0 for random play. Moves are weighted by
    their stake, so decisive moves count most and irrelevant moves do not count.

    Returns None if the values are estimates from playouts and the total stake is below `MIN_STAKE`.
    """
    judged = [*moves]
    lost, stake = sum(move.share for move in judged), sum(move.stake for move in judged)
    is_unclear = stake < MIN_STAKE and any(move.games for move in judged)
    return None if is_unclear else accuracy_of(lost, stake)


# --- reviewing -----------------------------------------------------------------------------------


def review(record: Record, judge: Judge | Player | str | None = None) -> Review:
    """Review a game.

    Args:
        record: Record of the game.
        judge: A `Judge`, a player or a player spec. Defaults to the best judge for the rules.

    Raises:
        PlayerError: If the judge does not exist, has different rules or cannot evaluate the game.
        RecordError: If `record` is not a record, or a turn in the record breaks the rules.
    """
    check_kind(record, Record, RecordError, "a record: Record.load reads one from a file")
    if judge is None or isinstance(judge, str):
        judge = judge_for(record.rules, judge or "", record.start)
    elif isinstance(judge, Player):
        judge = judge_by(record.rules, judge)
    check_kind(judge, Judge, PlayerError, "a judge: give a player such as expectimax:depth=2")
    if judge.rules != record.rules:
        raise PlayerError(f"the judge is for {judge.rules}, the record for {record.rules}")
    return Review.of(record, judge, judge.reviews(record))


# --- which judge ---------------------------------------------------------------------------------


def judge_for(rules: Rules, spec: str = "", start: Board | None = None) -> Judge:
    """Return the judge for a player spec, by default the best judge for the rules.

    For boards of up to eight cells, the best judge is an exact solution. For larger boards, the
    best judge is a search with the network or the heuristic.

    Args:
        rules: Rules of the game.
        spec: A player such as ``expectimax:depth=3``, or ``perfect``.
        start: Starting position, or None if the rules determine the start.

    Raises:
        PlayerError: If the player does not exist or does not support the rules.
    """
    player = make_player(spec) if spec else judging_player(rules)
    if not spec and player.name == "perfect":
        with suppress(PlayerError):  # raised if the solver does not support the board
            judge = judge_by(rules, player)
            if start:
                judge.rate(start)
            return judge
        player = make_player(_search_for(rules))
    return judge_by(rules, player)


def judging_player(rules: Rules) -> Player:
    """Return the player that evaluates moves for the default judge.

    Raises:
        PlayerError: If the player does not exist.
    """
    from py2048.players.perfect import QUICK_CELLS

    return make_player("perfect" if rules.cells <= QUICK_CELLS else _search_for(rules))


def _search_for(rules: Rules) -> str:
    from py2048.players.search.context import is_searchable

    if not is_searchable(rules):
        return HUGE
    return DEFAULT if rules.cells <= MANY_CELLS else LARGE


def judge_by(rules: Rules, player: Player) -> Judge:
    """Return a judge that evaluates moves with a player.

    Raises:
        PlayerError: If the player does not support the rules.
    """
    # Importing NumPy and the players at module level would delay the first frame of a screen.
    from py2048.players.perfect import PerfectPlayer
    from py2048.players.search.context import is_searchable
    from py2048.players.searching import SearchPlayer
    from py2048.players.solving.distilled import shipped_moves
    from py2048.review.judges import ExactJudge, PlayerJudge, SearchJudge

    if isinstance(player, PerfectPlayer):
        return ExactJudge(player.solution(rules), rules)
    if isinstance(player, SearchPlayer) and is_searchable(rules):
        return SearchJudge(player, rules, shipped_moves(rules))
    return PlayerJudge(player, rules)
