"""Judge moves for players of a given level by simulating the rest of the game after each move.

The value of a move is the probability that a player of this level then reaches the goal. The
probability is estimated from simulated games, called *playouts*, so it has a standard error.

Playouts are allocated in three steps, until a budget of simulated moves is spent. Every move first
gets the same number of playouts. Next, the quarter of the positions in which the moves' values
differ most gets more playouts. Finally, the rest of the budget is spent on the positions with the
least certain grades.

The allocation does not depend on timing, so the same seed gives the same review on any machine and
with any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from math import ceil, exp, sqrt
from statistics import fmean, variance

import numpy as np

from py2048.core.board import Board
from py2048.core.direction import Direction
from py2048.core.errors import PlayerError, missing_compiler
from py2048.core.game import Game, Record, Turn
from py2048.core.language import N_, _
from py2048.core.rules import Rules, list_rules
from py2048.engine.jit import IS_PLAIN
from py2048.players import Unit
from py2048.players.ntuple.layout import board_kind
from py2048.players.perfect import QUICK_CELLS
from py2048.players.search.context import is_searchable
from py2048.review import _playout_kernels as kernels
from py2048.review.levels import LEVELS, Level, goal_of
from py2048.review.moves import DIGITS, Grade, Judge, MoveReview, Position, accuracy_of, legal_turns
from py2048.review.reasons import MIN_Z, Reason, ReasonKind, watch
from py2048.review.simulation import SEED, Batch, Playouts, Sums

BUDGETS = {"4x4": 40_000_000, "small": 20_000_000, "cells": 4_000_000}
"""Number of simulated moves in a review, by kind of board."""
LONG_GAME = 500
"""In games with more moves than this, the budget is proportional to the number of moves."""

HINT_SHARE = 1 / 128
"""Share of the budget that is used to judge a single position."""

PROBE_GAMES, BATCH_GAMES = 8, 64
"""Playouts per move, in the first estimate and in each later batch."""
FIRST_GAMES, MORE_GAMES = 64, 512
"""Maximum number of playouts per move, in ordinary and in decisive positions."""
FIRST_SHARE, MORE_SHARE = 0.35, 0.75
"""Maximum fractions of the budget that the first step, and the first two steps, may spend."""
DECISIVE_SHARE = 0.25
"""Fraction of positions that count as decisive: those whose moves differ most in value."""
CLEAR_GAMES = 256
"""Number of playouts per move after which the reason for a mistake is considered clear."""
ROUND = 16
"""Number of positions that get a batch of playouts in each round."""
MIN_DOUBT = 0.01
"""A position gets no more playouts once its grade is less likely than this to change."""
REASON_DOUBT = 0.05
"""Minimum `Judgement.doubt` of mistakes with fewer than `CLEAR_GAMES` playouts."""
TYPICAL_LOSS = 0.04
"""Prior standard deviation of a move's loss, as a probability."""

STEADY_DIGITS = 9
"""Decimal places that results are rounded to, so that the web page ranks positions equally."""

MIN_CHANCE = 0.02
"""If no move has at least this chance of reaching the goal, moves are judged by survival."""

MIN_ERRORS = 2.5
"""The loss of a mistake must exceed this many standard errors."""

LOSSES = {Grade.INACCURACY: 0.03, Grade.MISTAKE: 0.06, Grade.BLUNDER: 0.12}
"""Minimum loss of each kind of mistake, as a probability."""

MIN_VARIANCE = 0.25
"""Minimum variance assumed for a statistic, because a few equal samples may be a coincidence."""

_PER = {ReasonKind.ENDED: 100, ReasonKind.CORNER: 100}
"""For these kinds of reasons, counts are reported per 100 playouts."""
_COLUMNS = {
    ReasonKind.TRAPPED: kernels.TRAPPED,
    ReasonKind.MEETING: kernels.MEETING,
    ReasonKind.ROOM: kernels.ROOM,
}


def why_not(rules: Rules) -> str:
    """Return the reason why the rules do not support levels, or an empty string."""
    if line := missing_compiler():
        return _("judging moves for a level needs Numba: {line}").format(line=line)
    if IS_PLAIN:
        return _("judging moves for a level needs compiled kernels")
    if rules.cells <= QUICK_CELLS:
        text = _("moves on boards of up to {n} cells are judged exactly, for every level")
        return text.format(n=QUICK_CELLS)
    text = _("{rules} is too large to judge moves for a level")
    return "" if is_searchable(rules) else text.format(rules=rules.name)


class Judgement:
    """Collects a position's playouts, and reviews a move based on them.

    Attributes:
        rules: Rules of the game.
        position: The position.
        goal: The tiles to reach.
        watch: The tiles to watch.
        directions: Legal directions.
        sums: Totals of the playouts, int64 `[4, 2, columns]`; see `Playouts.play`.
        since: Copy of `sums` from the start of the accuracy measurement. Earlier playouts are
            excluded, because they determined whether the position is decisive.
        until: Copy of `sums` from the end of the accuracy measurement, or None while the
            measurement is running. Including later playouts would bias the accuracy,
            because they go mostly to moves with doubtful grades.
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
        """Number of playouts for each move."""
        return int(self.sums[self.directions[0].value, :, kernels.GAMES].sum())

    def batch(self, games: int) -> Batch:
        """Return the next batch of playouts for every move."""
        at, watch = self.position, self.watch
        return Batch(at.board, at.ply, self.goal, watch, self.directions, self.games, games)

    @property
    def played(self) -> Direction:
        """Direction played, or the best direction if unknown."""
        return self.position.played or self._best(self._chances(self._column))

    def contrast(self, counts: Sums) -> float:
        """Return the fraction of the variance between moves that is not due to chance."""
        chances = self._chances(self._column, counts).values()
        games = max(int(counts[self.directions[0].value, kernels.GAMES]), 1)
        spread = variance(chances) if len(chances) > 1 else 0.0
        noise = fmean(chance * (1 - chance) for chance in chances) / games
        return round(max(1 - noise / spread, 0.0), STEADY_DIGITS) if spread else 0.0

    @property
    def doubt(self) -> float:
        """The probability that more playouts would change the grade."""
        chances, played = self._chances(self._column), self.played
        grade, others = self._grade(played), [each for each in chances if each is not played]
        doubts = [
            _doubt(grade, chances[other] - chances[played], self._error(other, played))
            for other in others
        ]
        if grade.is_mistake and self.games < CLEAR_GAMES:
            doubts.append(REASON_DOUBT)
        return round(max(doubts, default=0.0), STEADY_DIGITS)

    # --- results ---------------------------------------------------------------------------------

    def review(self, played: Direction | None = None) -> MoveReview:
        """Return the review of a legal direction, by default the direction played.

        For the accuracy, one set of playouts selects the best move and another set measures the
        loss, because a single set would overestimate the loss.
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
            source=N_("playouts"),
            chances={},
            goal=self.goal,
            games={each: int(games[each.value]) for each in chances},
            next_values=self._chances(kernels.NEXT_MADE),
            errors={each: 0.0 if each is best else self._error(best, each) for each in chances},
            reason=self._reason(played, best) if grade.is_mistake else None,
            survival=column == kernels.SURVIVED,
        )

    def _reason(self, played: Direction, best: Direction) -> Reason | None:
        """Return the clearest reason why a move is worse than the best move, or None."""
        kinds = (kind for kind in ReasonKind if all(self._tiles(kind).values()))
        reasons = (self.compared(kind, played, best) for kind in kinds)
        clear = (reason for reason in reasons if reason.z >= MIN_Z)
        return max(clear, key=self._effect, default=None)

    def _effect(self, reason: Reason) -> float:
        """Return a reason's effect, scaled so that the largest possible effect is 1."""
        numbers = reason.numbers
        most = {**_PER, ReasonKind.ROOM: self.rules.cells}.get(reason.kind, kernels.WATCHED_BOARDS)
        return abs(numbers["played"] - numbers["best"]) / most

    def _tiles(self, kind: ReasonKind) -> dict[str, int]:
        """Return the tiles that a reason of this kind mentions, or 0 for a missing tile."""
        tiles = {
            ReasonKind.CORNER: {"tile": self.watch.corner},
            ReasonKind.TRAPPED: {"tile": self.watch.small, "behind": self.watch.large},
            ReasonKind.MEETING: {"tile": self.watch.pair},
        }
        return tiles.get(kind, {})

    def compared(self, kind: ReasonKind, played: Direction, best: Direction) -> Reason:
        """Compare a statistic of two moves. A positive `Reason.z` means that `played` is worse."""
        (bad, squared), (other, other_squared) = (
            _statistics(kind, self.sums[each.value].sum(axis=0)) for each in (played, best)
        )
        sign, per = (-1 if kind is ReasonKind.ROOM else 1), _PER.get(kind, 1)
        numbers = {"played": per * bad, "best": per * other, "per": per, **self._tiles(kind)}
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
        """Return the loss of a move and of a random move, estimated by cross-fitting.

        Even-numbered playouts measure the losses, and all other playouts select the best move. Then
        odd-numbered playouts measure the losses, and the two results are averaged. Positions
        whose moves clearly differ have a larger weight.
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
    """Return the mean of a statistic over playouts, and the square of its standard error."""
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
    """Return the grade for a loss in probability, given its standard error."""
    if loss <= MIN_ERRORS * error:
        return Grade.BEST if loss <= error else Grade.GOOD
    reached = [grade for grade, least in LOSSES.items() if loss >= least]
    return reached[-1] if reached else Grade.GOOD


def _doubt(grade: Grade, loss: float, error: float) -> float:
    """Return the probability that a move's true loss deserves a different grade.

    Most moves lose little, so a large loss in a few playouts is probably due to chance.
    """
    weight = TYPICAL_LOSS**2 / (TYPICAL_LOSS**2 + error**2)
    bounds = [-1.0, *LOSSES.values(), 2.0]
    place = [Grade.GOOD, *LOSSES].index(max(grade, Grade.GOOD, key=[*Grade].index))
    z = ((bound - weight * loss) / (sqrt(weight) * error) for bound in bounds[place : place + 2])
    low, high = (1 / (1 + exp(-1.702 * min(max(each, -99.0), 99.0))) for each in z)  # near normal
    return 1 - (high - low)


class LevelJudge(Judge):
    """A thread-safe judge for players of a level.

    The value of a move is the probability that the player then reaches the goal. Luck is not
    measured.

    Args:
        rules: Rules of the games.
        level: The level.
        seed: Random seed of all playouts.
        threads: Number of threads, by default one for each CPU.
        budget: Number of moves to simulate in a review of at most 500 moves. Defaults to `BUDGETS`.

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
        """Return the chance of reaching the goal after each legal move."""
        return self.review_move(Position(1, board)).values if board.can_move() else {}

    def review_move(self, at: Position, turn: Turn | None = None) -> MoveReview:  # noqa: ARG002
        """Review the move that was played in a position, by default the best move.

        Raises:
            PlayerError: If the move is illegal.
        """
        if at.played not in (None, *at.board.legal_directions()):
            raise PlayerError(f"{at.played} is not a legal move to review")
        return self.judge(at).review()

    def judge(self, position: Position) -> Judgement:
        """Judge a single position, spending `HINT_SHARE` of the budget."""
        judgement = Judgement(self.rules, self.level, position)
        games, budget = PROBE_GAMES, self._budget * HINT_SHARE
        while games >= PROBE_GAMES and len(judgement.directions) > 1:
            budget -= self.play([judgement], games)
            spent = self._budget * HINT_SHARE - budget
            games = int(judgement.games * min(budget / spent, 7)) // 2 * 2
        return judgement

    def reviews(self, record: Record) -> Iterator[MoveReview]:
        """Review the moves of a game, and yield each review when it is available or more precise.

        A later review of the same move replaces an earlier review.

        Raises:
            RecordError: If a turn in the record breaks the rules.
        """
        return self.review(position for position, _ in legal_turns(record))

    def review(self, positions: Iterable[Position]) -> Iterator[MoveReview]:
        """Review the moves played in the given positions, as in `reviews`."""
        found = [Judgement(self.rules, self.level, position) for position in positions]
        for each in found:
            each.until = each.since
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
            yield from (each.review() for each in part)

    def _play_equally(
        self, found: Sequence[Judgement], most: int, budget: float
    ) -> Generator[MoveReview, None, int]:
        """Run the same number of playouts for each position, and yield the reviews.

        The generator returns the number of simulated moves.

        Args:
            found: The positions.
            most: Maximum number of playouts for each move.
            budget: Approximate maximum number of simulated moves. `PROBE_GAMES` playouts always
                run.
        """
        spent, done, games = 0, 0, PROBE_GAMES
        while found and games:
            for first in range(0, len(found), ROUND):
                part = found[first : first + ROUND]
                spent += self.play(part, games)
                yield from (each.review() for each in part)
            done += games
            games = max(min(int(done * (budget / spent - 1)), most - done) // 2 * 2, 0)
        return spent

    def play(self, judgements: Sequence[Judgement], games: int) -> int:
        """Run playouts and add up their statistics. Return the number of simulated moves."""
        sums = self._playouts.play([each.batch(games) for each in judgements])
        for each, counts in zip(judgements, sums, strict=True):
            each.sums += counts
        return int(sums[..., [kernels.GAMES, kernels.MOVES]].sum())


@lru_cache(maxsize=4)
def level_judge(rules: Rules, level: Level) -> LevelJudge:
    """Return the judge for a level (cached).

    Raises:
        PlayerError: See `why_not`.
    """
    return LevelJudge(rules, level)


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return named tasks that compile the judges for all presets."""

    def compile_for(rules: Rules) -> None:
        LevelJudge(rules, LEVELS[0]).prepare()

    judged = [rules for rules in list_rules() if not why_not(rules)]
    return [(f"levels under {rules.name}", partial(compile_for, rules)) for rules in judged]
