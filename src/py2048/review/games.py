"""`Review`: a whole game, move by move, and what follows from its moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import groupby, zip_longest
from math import hypot
from typing import Any

from py2048.core.board import Board
from py2048.core.errors import PlayerError, RecordError, check_kind
from py2048.core.game import Game, Record
from py2048.core.rules import Rules
from py2048.players import Player, Unit, make_player
from py2048.review.moves import DIGITS, Grade, Judge, MoveReview, accuracy_of

MAX_CRITICAL = 5
"""How many critical moments are named at most."""

DEFAULT, MANY_CELLS = "expectimax:depth=3", 16
"""The judge of boards of up to 16 cells. A deeper search confirms more of the mistakes that it
finds than of those that depth 2 finds (``benchmarks/review.py``)."""

LARGE, HUGE = "expectimax:depth=2", "heuristic:depth=1"
"""The judges of larger boards, and under rules that a compiled search does not take."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The moves while one tile was the largest.

    Attributes:
        tile: the tile.
        first: the ply of the first move.
        last: that of the last.
        loss: what the moves lost, in the unit of the values.
        luck: what the new tiles gave or took.
        accuracy: 0 to 100.
    """

    tile: int
    first: int
    last: int
    loss: float
    luck: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Review:
    """The review of a game.

    Where values are points, the final score is the expected one at the start less `loss` plus
    `luck`; for that of a game that is not over stands what is expected. Under an exact judge `loss`
    is the sum of the moves' losses; another judge changes its mind about a position when it has
    come, and that counts, too.

    Attributes:
        record: the game.
        judge: the name of the judge.
        unit: the unit of values, losses and luck.
        is_exact: whether they are exact.
        moves: the review of each legal move; those after a goal was reached are left out.
    """

    record: Record
    judge: str
    unit: Unit
    is_exact: bool
    moves: tuple[MoveReview, ...]

    @classmethod
    def of(cls, record: Record, judge: Judge, moves: Iterable[MoveReview]) -> Review:
        """Return the review that a judge gives with these moves, all of the game or its first."""
        return cls(record, judge.name, judge.unit, judge.is_exact, tuple(moves))

    @property
    def accuracy(self) -> float:
        """The accuracy of the game, 0 to 100; 100 without a move."""
        return accuracy_of_moves(self.moves)

    @property
    def luck(self) -> float:
        """What the new tiles gave, or took if negative, against their expectation."""
        return sum(move.luck for move in self.moves)

    @property
    def swing(self) -> float:
        """How far the luck of such a game usually is from none: its standard deviation."""
        return hypot(*(move.luck for move in self.moves))

    @property
    def expected(self) -> float:
        """The final score that is expected at the start, if values are points."""
        return self.moves[0].expected - self.moves[0].score if self.moves else self.record.score

    @property
    def is_whole(self) -> bool:
        """Whether the last move that is reviewed ended the game, so that nothing more comes."""
        is_last = bool(self.moves) and self.moves[-1].ply == self.record.plies
        return is_last and Game(self.record.rules, board=last_board(self.record)).is_over

    @property
    def loss(self) -> float:
        """What the moves lost, and illegal attempts where they cost points.

        Points are balanced: the expected final score at the start, less the loss, plus the luck, is
        the final score, or what is expected of a game that is not over. So it is negative where the
        play was better than what the judge expects.
        """
        return self._lost(self.moves, None)

    def _lost(self, moves: Sequence[MoveReview], following: MoveReview | None) -> float:
        """Return what some moves lost, of which `following` is the next."""
        if self.unit is not Unit.POINTS or not moves:
            return sum(move.loss for move in moves)
        last = moves[-1]
        after = last.expected - last.loss + last.luck  # where the review ends before the game
        if following:
            after = following.expected
        elif self.is_whole:
            after = self.record.score
        before = moves[0].expected if moves[0].ply > 1 else self.expected
        luck = sum(move.luck for move in moves)
        return round(before + luck - after, DIGITS) + 0.0  # never -0.0

    @property
    def counts(self) -> dict[Grade, int]:
        """How many moves have each grade, the best grade first."""
        found = Counter(move.grade for move in self.moves)
        return {grade: found[grade] for grade in Grade}

    @property
    def mistakes(self) -> tuple[MoveReview, ...]:
        """The inaccuracies, mistakes and blunders, in order."""
        return tuple(move for move in self.moves if move.grade.is_mistake)

    @property
    def critical(self) -> tuple[MoveReview, ...]:
        """The few mistakes that lost most, in order."""
        worst = sorted(self.mistakes, key=lambda move: -move.loss)[:MAX_CRITICAL]
        return tuple(sorted(worst, key=lambda move: move.ply))

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The game divided by its largest tile."""
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
        """The phase in which most was lost, if anything was."""
        worst = max(self.phases, key=lambda phase: phase.loss, default=None)
        return worst if worst and worst.loss else None

    def to_json(self) -> dict[str, Any]:
        """Return the review as plain JSON values."""
        return {
            "rules": str(self.record.rules),
            "player": self.record.player,
            "score": self.record.score,
            "plies": self.record.plies,
            "judge": self.judge,
            "unit": self.unit.value,
            "exact": self.is_exact,
            "accuracy": self.accuracy,
            "expected": round(self.expected, DIGITS) if self.unit is Unit.POINTS else None,
            "loss": round(self.loss, DIGITS),
            "luck": round(self.luck, DIGITS),
            "counts": {grade.value: count for grade, count in self.counts.items()},
            "critical": [move.ply for move in self.critical],
            "phases": list(map(asdict, self.phases)),
            "moves": [self._move_data(move) for move in self.moves],
        }

    def _move_data(self, move: MoveReview) -> dict[str, Any]:
        chances = {str(each): round(chance, DIGITS) for each, chance in move.chances.items()}
        return {
            "ply": move.ply,
            "score": move.score,
            "played": str(move.played),
            "best": str(move.best),
            "values": {str(each): round(value, DIGITS) for each, value in move.values.items()},
            "expected": round(move.expected, DIGITS) if self.unit is Unit.POINTS else None,
            "loss": round(move.loss, DIGITS),
            "share": move.share,
            "stake": move.stake,
            "accuracy": move.accuracy,
            "grade": move.grade.value,
            "luck": round(move.luck, DIGITS),
            "source": move.source,
            "chances": chances or None,
        }


def last_board(record: Record) -> Board:
    """Return the board on which a game ended."""
    return record.replayed[-1][0] if record.replayed else record.start


class MeanAccuracy:
    """The accuracy of a game, move by move: see `accuracy_of_moves`."""

    def __init__(self) -> None:
        self._stakes = self._lost = 0.0

    def add(self, move: MoveReview) -> None:
        """Count a move."""
        self._stakes += move.stake
        self._lost += move.share

    @property
    def value(self) -> float:
        """The accuracy of the moves so far, 0 to 100; 100 where nothing was at stake."""
        return accuracy_of(self._lost, self._stakes)


def accuracy_of_moves(moves: Iterable[MoveReview]) -> float:
    """Return the accuracy of a game with these moves, 0 to 100.

    It compares what the moves lost with what random moves lose on the same boards: 100 if each move
    was the best, 0 for keys pressed at random. So a choice that decides the game counts most, and
    one in which nothing is at stake not at all.
    """
    mean = MeanAccuracy()
    for move in moves:
        mean.add(move)
    return mean.value


# --- reviewing -----------------------------------------------------------------------------------


def review(record: Record, judge: Judge | Player | str | None = None) -> Review:
    """Return the review of a game.

    Args:
        record: the game.
        judge: what values the moves, a player or its spec; by default the best there is.

    Raises:
        PlayerError: if there is no such judge, or it cannot value the game.
        RecordError: if the record breaks its rules.
    """
    judge = chosen_judge(record, judge)
    return Review.of(record, judge, reviewing(record, judge))


def reviewing(record: Record, judge: Judge | Player | str | None = None) -> Iterator[MoveReview]:
    """Yield the review of each legal move, up to the goal if the judge has one.

    Args:
        record: the game.
        judge: as `review`.

    Raises:
        PlayerError: as `review`.
        RecordError: as `review`.
    """
    judge = chosen_judge(record, judge)
    board, score, ply = record.start, 0, 0
    for after, turn, reached in record.replay():
        if turn.legal:
            ply += 1
            if judge.unit is Unit.CHANCE and not judge.rate(board):
                return
            yield judge.review_move(board, score, turn.direction, turn, ply=ply)
        board, score = after, reached


def chosen_judge(record: Record, judge: Judge | Player | str | None) -> Judge:
    """Return the judge of a record.

    Raises:
        PlayerError: if there is none, or it is for other rules.
        RecordError: if there is no record.
    """
    check_kind(record, Record, RecordError, "a record: Record.load reads one from a file")
    if judge is None or isinstance(judge, str):
        return judge_for(record.rules, judge or "", record.start)
    if isinstance(judge, Player):
        return judge_by(record.rules, judge)
    check_kind(judge, Judge, PlayerError, "a judge: give a player such as expectimax:depth=2")
    if judge.rules != record.rules:
        raise PlayerError(f"the judge is for {judge.rules}, the record for {record.rules}")
    return judge


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

    if not spec and rules.cells <= QUICK_CELLS:
        return make_player("perfect")
    return make_player(spec or _search_for(rules))


def _search_for(rules: Rules) -> str:
    from py2048.players.search.context import is_searchable

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
    from py2048.players.search.context import is_searchable
    from py2048.players.searching import SearchPlayer
    from py2048.players.solving.distilled import shipped_moves
    from py2048.review.judges import ExactJudge, PlayerJudge, SearchJudge

    if isinstance(player, PerfectPlayer):
        return ExactJudge(player.solution(rules), rules)
    if isinstance(player, SearchPlayer) and is_searchable(rules):
        return SearchJudge(player, rules, shipped_moves(rules))
    return PlayerJudge(player, rules)
