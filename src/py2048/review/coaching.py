"""Judging moves for players of a level, by games played on from every move.

A move's value is the chance that such a player then makes the goal. It is counted in games, so it
has an error, and games are spent where they matter: first the same number after every move of a
game, then more in the quarter of the positions whose moves differ most, then fixed batches where a
grade is most likely to change, until a budget of moves is spent. Games are numbered for each
position and move, and no clock influences the allocation, so equal seeds give equal reviews on any
machine and any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import ceil, exp, sqrt
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError, missing_compiler
from py2048.core.game import Game, Record, Turn
from py2048.core.rules import Rules, list_rules
from py2048.engine.jit import IS_PLAIN
from py2048.players import Unit
from py2048.players.ntuple.layout import board_kind
from py2048.players.perfect import QUICK_CELLS
from py2048.players.search.context import is_searchable
from py2048.review import _playout_kernels as kernels
from py2048.review.games import Review
from py2048.review.levels import LEVELS, Level, goal_of
from py2048.review.moves import DIGITS, Grade, Judge, MoveReview, accuracy_of
from py2048.review.reasons import MIN_Z, Reason, ReasonKind, watch
from py2048.review.simulation import SEED, Batch, Playouts, Sums

BUDGETS = {"4x4": 40_000_000, "small": 20_000_000, "cells": 4_000_000}
"""Moves played for a review, by kind of board."""
LONG_GAME = 500
"""The budget of a game with more moves is proportionally larger."""

HINT_SHARE = 1 / 128
"""Share of the budget that a single position gets."""

PROBE_GAMES, BATCH_GAMES = 8, 64
"""Games after each move: at first, and in the batches at the end."""
FIRST_GAMES, MORE_GAMES = 64, 512
"""Most games after each move: of every position, and more of the decisive ones."""
FIRST_SHARE, MORE_SHARE = 0.35, 0.75
"""Share of the budget that may be spent when every position, and the decisive ones, have theirs."""
DECISIVE_SHARE = 0.25
"""Share of the positions that get more games, because their moves differ most."""
CLEAR_GAMES = 256
"""Games after each move that make the reason of a mistake clear."""
ROUND = 16
"""Number of positions per round. Each gets one batch of games."""
MIN_DOUBT = 0.01
"""Probability of another grade below which a position is settled."""
REASON_DOUBT = 0.05
"""Doubt about a mistake without a clear reason."""
TYPICAL_LOSS = 0.04
"""Standard deviation of the losses of moves."""

MIN_CHANCE = 0.02
"""If even the best move makes the goal more rarely, the chance of surviving decides."""

MIN_ERRORS = 2.5
"""Losses of fewer standard errors do not count as mistakes."""

LOSSES = {Grade.INACCURACY: 0.03, Grade.MISTAKE: 0.06, Grade.BLUNDER: 0.12}
"""Minimum loss of each kind of mistake, as a probability."""

MIN_VARIANCE = 0.25
"""Minimum variance of a count; a few equal games prove nothing."""

_PER = {ReasonKind.ENDED: 100, ReasonKind.CORNER: 100}
"""Counts of games are given per 100."""
_COLUMNS = {
    ReasonKind.TRAPPED: kernels.TRAPPED,
    ReasonKind.MEETING: kernels.MEETING,
    ReasonKind.ROOM: kernels.ROOM,
}


class Position(NamedTuple):
    """A position to judge.

    Attributes:
        ply: Number of the move.
        board: Board before the move, with at least one legal direction.
        score: Score before the move.
        played: Direction played, if known.
    """

    ply: int
    board: Board
    score: int = 0
    played: Direction | None = None


def why_not(rules: Rules) -> str:
    """Return why moves cannot be judged for a level under these rules, or an empty string."""
    if line := missing_compiler():
        return f"judging moves for a level needs Numba: {line}"
    if IS_PLAIN:
        return "judging moves for a level needs compiled kernels"
    if rules.cells <= QUICK_CELLS:
        return f"moves on boards of up to {QUICK_CELLS} cells are judged exactly, for every level"
    return "" if is_searchable(rules) else f"{rules.name} is too large to judge moves for a level"


class Judgement:
    """What is known about the moves of a position.

    Attributes:
        rules: Rules of the game.
        position: The position.
        goal: The tiles to make.
        watch: The tiles to watch.
        directions: Legal directions.
        sums: Counts of the games, int64 `[4, 2, columns]`; see `Playouts.play`.
        since: Counts when the games began that measure the accuracy. Games that chose a position do
            not measure it.
        until: Counts when they ended; None while they are played. Later games are played until the
            grade is clear, which would bias the accuracy.
    """

    def __init__(self, rules: Rules, level: Level, position: Position) -> None:
        self.rules, self.position = rules, position
        self.goal = goal_of(rules, level, position.board)
        self.watch = watch(rules, position.board)
        self.directions = position.board.legal_directions()
        self.sums: Sums = np.zeros((len(Direction), 2, kernels.SUMS), np.int64)
        self.since = np.zeros_like(self.sums)
        self.until: Sums | None = None

    # --- allocation ------------------------------------------------------------------------------

    @property
    def games(self) -> int:
        """Number of games played on from each move."""
        return int(self.sums[self.directions[0].value, :, kernels.GAMES].sum())

    def batch(self, games: int) -> Batch:
        """Return the next games after every move."""
        at, watch = self.position, self.watch
        return Batch(at.board, at.ply, self.goal, watch, self.directions, self.games, games)

    @property
    def played(self) -> Direction:
        """Direction played, or the best one."""
        return self.position.played or self._best(self._chances(self._column))

    def contrast(self, counts: Sums) -> float:
        """Return how much of the difference between the moves in some games is more than chance."""
        chances = self._chances(self._column, counts).values()
        games = max(int(counts[self.directions[0].value, kernels.GAMES]), 1)
        spread = variance(chances) if len(chances) > 1 else 0.0
        noise = fmean(chance * (1 - chance) for chance in chances) / games
        return max(1 - noise / spread, 0.0) if spread else 0.0

    @property
    def doubt(self) -> float:
        """The probability that more games change the grade."""
        chances, played = self._chances(self._column), self.played
        grade, others = self._grade(played), [each for each in chances if each is not played]
        doubts = [
            _doubt(grade, chances[other] - chances[played], self._error(other, played))
            for other in others
        ]
        if grade.is_mistake and self.games < CLEAR_GAMES:
            doubts.append(REASON_DOUBT)
        return max(doubts, default=0.0)

    # --- results ---------------------------------------------------------------------------------

    def review(self, played: Direction | None = None) -> MoveReview:
        """Review a legal direction, by default the one played.

        The loss that counts for the accuracy is measured on other games than those that chose the
        best move: choosing and measuring on the same games would invent losses.
        """
        column, played = self._column, played or self.played
        chances, grade = self._chances(column), self._grade(played)
        best, is_best = self._best(chances), grade is Grade.BEST
        share, stake = self._cross_fitted(column, played)
        games = self.sums[..., kernels.GAMES].sum(axis=1)
        at = self.position
        return MoveReview(
            *(at.ply, at.board, at.score, played, played if is_best else best, chances),
            loss=0.0 if is_best else round(chances[best] - chances[played], DIGITS),
            share=round(share, DIGITS),
            stake=round(stake, DIGITS),
            accuracy=accuracy_of(share, stake),
            grade=grade,
            luck=0.0,
            source="playouts",
            chances={},
            goal=self.goal,
            games={each: int(games[each.value]) for each in chances},
            next_values=self._chances(kernels.NEXT_MADE),
            errors={each: 0.0 if each is best else self._error(best, each) for each in chances},
            reason=self._reason(played, best) if grade.is_mistake else None,
            survival=column == kernels.SURVIVED,
        )

    def _reason(self, played: Direction, best: Direction) -> Reason | None:
        """Return what is clearly worse after a move than after the best one, if anything is."""
        reasons = (self.compared(kind, played, best) for kind in self._kinds())
        clear = (reason for reason in reasons if reason.z >= MIN_Z)
        return max(clear, key=self._effect, default=None)

    def _effect(self, reason: Reason) -> float:
        """Return the difference that a reason makes, as a share of the largest possible one."""
        numbers = reason.numbers
        most = {**_PER, ReasonKind.ROOM: self.rules.cells}.get(reason.kind, kernels.WATCHED_BOARDS)
        return abs(numbers["played"] - numbers["best"]) / most

    def _kinds(self) -> Iterator[ReasonKind]:
        """Yield the kinds that were counted in this position."""
        tiles = {
            ReasonKind.CORNER: self.watch.corner,
            ReasonKind.TRAPPED: self.watch.small,
            ReasonKind.MEETING: self.watch.pair,
        }
        yield from (kind for kind in ReasonKind if tiles.get(kind, 1))

    def compared(self, kind: ReasonKind, played: Direction, best: Direction) -> Reason:
        """Compare two moves on one count; `z` is positive if the first is worse."""
        (bad, squared), (other, other_squared) = (
            _statistics(kind, self.sums[each.value].sum(axis=0)) for each in (played, best)
        )
        sign, per = (-1 if kind is ReasonKind.ROOM else 1), _PER.get(kind, 1)
        numbers: dict[str, float] = {"played": per * bad, "best": per * other, "per": per}
        match kind:
            case ReasonKind.CORNER:
                numbers["tile"] = self.watch.corner
            case ReasonKind.TRAPPED:
                numbers |= {"tile": self.watch.small, "behind": self.watch.large}
            case ReasonKind.MEETING:
                numbers["tile"] = self.watch.pair
        z = sign * (bad - other) / sqrt(squared + other_squared)
        return Reason(kind, {name: round(each, 2) for name, each in numbers.items()}, round(z, 2))

    @property
    def _column(self) -> int:
        is_rare = max(self._chances(kernels.MADE).values()) < MIN_CHANCE
        return kernels.SURVIVED if is_rare else kernels.MADE

    def _chances(self, column: int, counts: Sums | None = None) -> dict[Direction, float]:
        counts = self.sums.sum(axis=1) if counts is None else counts
        return {
            each: float(counts[each.value, column] / max(counts[each.value, kernels.GAMES], 1))
            for each in self.directions
        }

    def _best(self, chances: dict[Direction, float]) -> Direction:
        return max(chances, key=chances.__getitem__)

    def _error(self, one: Direction, other: Direction) -> float:
        """Return the standard error of the difference between two chances."""
        squared, column = 0.0, self._column
        for each in (one, other):
            games, made = (int(self.sums[each.value, :, i].sum()) for i in (kernels.GAMES, column))
            chance = (made + 1) / (games + 2)  # never certain
            squared += chance * (1 - chance) / max(games, 1)
        return round(sqrt(squared), DIGITS)

    def _grade(self, played: Direction) -> Grade:
        chances = self._chances(self._column)
        best = self._best(chances)
        error = 0.0 if best is played else self._error(best, played)
        return grade_for(chances[best] - chances[played], error)

    def _cross_fitted(self, column: int, played: Direction) -> tuple[float, float]:
        """Return the loss of a move and that of a random one, from the even and the odd games.

        Each half of the games measures the losses. All others choose the best move, and the weight
        of the position.
        """
        until = self.sums if self.until is None else self.until
        losses, stakes = [], []
        for half in range(2):
            measured = (until - self.since)[:, half]
            others = until.sum(axis=1) - measured
            chosen, chances = self._chances(column, others), self._chances(column, measured)
            weight = self.contrast(others)
            best = chances[self._best(chosen)]
            losses.append(weight * (best - chances[played]))
            stakes.append(weight * (best - fmean(chances.values())))
        return fmean(losses), fmean(stakes)


def _statistics(kind: ReasonKind, sums: Sums) -> tuple[float, float]:
    """Return the mean of a count in some games, and the square of its standard error."""
    games = max(int(sums[kernels.GAMES]), 1)
    if kind in _PER:
        column = kernels.SURVIVED if kind is ReasonKind.ENDED else kernels.OUT
        share = sums[column] / games
        smooth = (sums[column] + 1) / (games + 2)  # never certain
        mean = 1 - share if kind is ReasonKind.ENDED else share
        return float(mean), float(smooth * (1 - smooth) / games)
    column = _COLUMNS[kind]
    mean = sums[column] / games
    spread = sums[column + kernels.SQUARES] / games - mean**2
    return float(mean), float(max(spread, MIN_VARIANCE) / games)


def grade_for(loss: float, error: float) -> Grade:
    """Return the grade of a loss, as a probability, that is known with a standard error."""
    if loss <= MIN_ERRORS * error:
        return Grade.BEST if loss <= error else Grade.GOOD
    reached = [grade for grade, least in LOSSES.items() if loss >= least]
    return reached[-1] if reached else Grade.GOOD


def _doubt(grade: Grade, loss: float, error: float) -> float:
    """Return the probability that a loss counted with an error belongs to another grade.

    Most moves lose little, so a large loss in few games is probably chance.
    """
    weight = TYPICAL_LOSS**2 / (TYPICAL_LOSS**2 + error**2)
    bounds = [-1.0, *LOSSES.values(), 2.0]
    place = [Grade.GOOD, *LOSSES].index(max(grade, Grade.GOOD, key=[*Grade].index))
    z = ((bound - weight * loss) / (sqrt(weight) * error) for bound in bounds[place : place + 2])
    low, high = (1 / (1 + exp(-1.702 * min(max(each, -99.0), 99.0))) for each in z)  # near normal
    return 1 - (high - low)


class LevelJudge(Judge):
    """Judges moves for players of a level. Thread-safe.

    The value of a move is the probability of making the goal. Luck is not measured.

    Args:
        rules: Rules of the games.
        level: The level.
        seed: Seed of the games played on.
        threads: Number of threads; one for each CPU by default.
        budget: Moves to play for a review of up to 500 moves; by default, see `BUDGETS`.

    Raises:
        PlayerError: See `why_not`.
    """

    level: Level
    unit, is_exact = Unit.CHANCE, False

    def __init__(
        self,
        rules: Rules,
        level: Level,
        *,
        seed: int = SEED,
        threads: int | None = None,
        budget: int | None = None,
    ) -> None:
        if why := why_not(rules):
            raise PlayerError(why)
        self.rules, self.level, self.name = rules, level, f"playouts at level {level}"
        self._playouts = Playouts(rules, level.slip, seed=seed, threads=threads)
        self._budget = budget or BUDGETS[board_kind(*rules.shape)]

    def prepare(self) -> None:
        """Compile the kernel, or load it from the cache."""
        board = Game(self.rules, seed=0).board
        self.play([Judgement(self.rules, self.level, Position(1, board))], 0)

    def rate(self, board: Board) -> Mapping[Direction, float]:
        """Return the chance of the goal after each legal move."""
        return self.review_move(board, 0).values if board.can_move() else {}

    def luck(self, turn: Turn, values: Mapping[Direction, float]) -> float:  # noqa: ARG002
        """Return 0."""
        return 0.0

    def review_move(
        self,
        board: Board,
        score: int,
        played: Direction | None = None,
        turn: Turn | None = None,  # noqa: ARG002
        *,
        ply: int = 1,
    ) -> MoveReview:
        """Review a move, by default the best one.

        Raises:
            PlayerError: The move is illegal.
        """
        if played not in (None, *board.legal_directions()):
            raise PlayerError(f"{played} is not a legal move to review")
        return self.judge(Position(ply, board, score, played)).review()

    def judge(self, position: Position) -> Judgement:
        """Judge a position as thoroughly as a hint requires. A review can add games later."""
        judgement = Judgement(self.rules, self.level, position)
        games, budget = PROBE_GAMES, self._budget * HINT_SHARE
        while games >= PROBE_GAMES and len(judgement.directions) > 1:
            budget -= self.play([judgement], games)
            spent = self._budget * HINT_SHARE - budget
            games = int(judgement.games * min(budget / spent, 7)) // 2 * 2
        return judgement

    def review(
        self, positions: Iterable[Position], known: Iterable[Judgement] = ()
    ) -> Iterator[tuple[MoveReview, ...]]:
        """Review the moves of a game, yielding reviews as they are found and improved.

        Args:
            positions: The positions, with the directions played.
            known: Earlier judgements of positions, which are extended.

        Yields:
            Reviews of some moves. A later review of the same move replaces the earlier one.
        """
        earlier = {(each.position.ply, each.position.board): each for each in known}
        found: list[Judgement] = []
        for position in positions:
            key = position.ply, position.board
            judgement = earlier.get(key) or Judgement(self.rules, self.level, position)
            judgement.position = position
            found.append(judgement)
            judgement.since = judgement.until = np.zeros_like(judgement.sums)
        budget = self._budget * max(1.0, len(found) / LONG_GAME)
        spent = yield from self._play_equally(found, FIRST_GAMES, FIRST_SHARE * budget)
        ordered = sorted(found, key=lambda each: -each.contrast(each.sums.sum(axis=1)))
        decisive = ordered[: ceil(DECISIVE_SHARE * len(found))]
        for each in decisive:
            each.since, each.until = each.sums.copy(), None
        spent += yield from self._play_equally(decisive, MORE_GAMES, MORE_SHARE * budget - spent)
        for each in decisive:
            each.until = each.sums.copy()
        doubts = {number: each.doubt for number, each in enumerate(found)}
        while spent < budget:
            chosen = sorted(doubts, key=lambda number: (-doubts[number], number))[:ROUND]
            part = [found[number] for number in chosen if doubts[number] >= MIN_DOUBT]
            if not part:
                return
            spent += self.play(part, BATCH_GAMES)
            doubts |= {number: found[number].doubt for number in chosen}
            yield tuple(each.review() for each in part)

    def _play_equally(
        self, found: Sequence[Judgement], most: int, budget: float
    ) -> Generator[tuple[MoveReview, ...], None, int]:
        """Play equally many games on from some positions; yield reviews, return the moves played.

        Args:
            found: The positions.
            most: Maximum number of games after each move.
            budget: Maximum number of moves, which the first games may exceed.
        """
        spent, done, games = 0, 0, PROBE_GAMES
        while found and games:
            for first in range(0, len(found), ROUND):
                part = found[first : first + ROUND]
                spent += self.play(part, games)
                yield tuple(each.review() for each in part)
            done += games
            games = max(min(int(done * (budget / spent - 1)), most - done) // 2 * 2, 0)
        return spent

    def play(self, judgements: Sequence[Judgement], games: int) -> int:
        """Play games on from some positions and count; return the number of moves played."""
        sums = self._playouts.play([each.batch(games) for each in judgements])
        for each, counts in zip(judgements, sums, strict=True):
            each.sums += counts
        return int(sums[..., [kernels.GAMES, kernels.MOVES]].sum())


@lru_cache(maxsize=4)
def level_judge(rules: Rules, level: Level) -> LevelJudge:
    """Return a judge, which is kept for the next positions.

    Raises:
        PlayerError: See `why_not`.
    """
    return LevelJudge(rules, level)


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return named tasks that compile the judge under all presets."""

    def compile_for(rules: Rules) -> None:
        LevelJudge(rules, LEVELS[0]).prepare()

    judged = [rules for rules in list_rules() if not why_not(rules)]
    return [(f"levels under {rules.name}", partial(compile_for, rules)) for rules in judged]


def judge_position(
    rules: Rules,
    board: Board,
    level: Level,
    *,
    ply: int = 1,
    score: int = 0,
    played: Direction | None = None,
) -> MoveReview:
    """Judge a move of a single position.

    Args:
        rules: Rules of the game.
        board: Board before the move, with at least one legal direction.
        level: Level of the player.
        ply: Number of the move.
        score: Score before the move.
        played: A legal direction; the best one by default.

    Raises:
        PlayerError: See `why_not`, or `played` is illegal.
    """
    return level_judge(rules, level).review_move(board, score, played, ply=ply)


# --- whole games ---------------------------------------------------------------------------------


def positions_of(record: Record) -> Iterator[Position]:
    """Yield the positions of a game's legal moves.

    Raises:
        RecordError: The record breaks its rules.
    """
    board, score, ply = record.start, 0, 0
    for after, turn, reached in record.replay():
        if turn.legal:
            ply += 1
            yield Position(ply, board, score, turn.direction)
        board, score = after, reached


def reviewing_at(record: Record, judge: LevelJudge) -> Iterator[tuple[MoveReview, ...] | Review]:
    """Yield reviews of moves as in `LevelJudge.review`, and finally the review of the game.

    Raises:
        RecordError: The record breaks its rules.
    """
    latest: dict[int, MoveReview] = {}
    for moves in judge.review(positions_of(record)):
        latest |= {move.ply: move for move in moves}
        yield moves
    yield Review.of(record, judge, latest.values())
