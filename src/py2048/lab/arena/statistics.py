"""Statistics of tournaments: summaries, comparisons, losses and luck, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean, stdev

import numpy as np

from py2048.core.board import Board
from py2048.core.errors import TournamentError
from py2048.core.game import Record
from py2048.core.rules import BoardSum, Rules
from py2048.lab.arena.jobs import GameResult
from py2048.lab.arena.tournament import Results
from py2048.players import Unit
from py2048.players.perfect import QUICK_CELLS, PerfectPlayer
from py2048.players.solving import Goal
from py2048.players.solving.goal import Problem
from py2048.review import Judge, judge_for
from py2048.review.games import LARGE, judge_by, last_board

CONFIDENCE = 0.95
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

MIN_SAMPLE = 4
"""Smaller samples have no confidence interval."""

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sample mean and its precision.

    Attributes:
        mean: Mean of the sample.
        error: Standard error, or NaN for a sample of size one.
        low: Lower end of the 95 % interval (Student's t), or NaN for samples smaller than
            `MIN_SAMPLE`.
        high: Upper end of the interval.
    """

    mean: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """How often an event occurred in a number of trials.

    Attributes:
        hits: Number of trials in which the event occurred.
        trials: Number of trials.
        share: `hits` divided by `trials`.
        low: Lower end of Wilson's 95 % interval for the probability.
        high: Upper end of the interval.
    """

    hits: int
    trials: int
    share: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of a non-empty sample, with the standard error and the interval."""
    mean, count = fmean(values), len(values)
    error = stdev(values) / math.sqrt(count) if count > 1 else math.nan
    reach = student_quantile(count - 1) * error if count >= MIN_SAMPLE else math.nan
    return Estimate(mean, error, mean - reach, mean + reach)


def rate(hits: int, trials: int) -> Rate:
    """Return the rate of `hits` in `trials`, with Wilson's interval (1927).

    Wilson's interval stays between 0 and 1, and remains meaningful if all or none of the trials are
    hits. There must be at least one trial.
    """
    share, weight = hits / trials, _Z * _Z / trials
    centre = (share + weight / 2) / (1 + weight)
    reach = _Z / (1 + weight) * math.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = centre - reach if hits else 0.0
    high = centre + reach if hits < trials else 1.0
    return Rate(hits, trials, share, low, high)


def student_quantile(freedom: int) -> float:
    """Return the half-width of the 95 % interval of Student's distribution, in standard errors.

    Args:
        freedom: Degrees of freedom: the size of the sample minus one, at least 3.

    This is an approximation with an error of at most 1 % (Abramowitz & Stegun, Handbook of
    Mathematical Functions, 26.7.5).
    """
    return (
        _Z
        + (_Z**3 + _Z) / (4 * freedom)
        + (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / (96 * freedom**2)
        + (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / (384 * freedom**3)
    )


# --- players --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """Summary of a player's games.

    Attributes:
        player: The player's spec.
        games: Number of finished games.
        score: Mean score, in points.
        quantiles: Quantiles of the scores.
        least: Lowest score of a game.
        most: Highest score.
        tiles: Share of games that reached each tile.
        moves: Mean number of legal moves.
        moves_per_second: Moves per second of CPU time, or infinity if no time was measured.
    """

    player: str
    games: int
    score: Estimate
    quantiles: Mapping[float, float]
    least: int
    most: int
    tiles: Mapping[int, Rate]
    moves: Estimate
    moves_per_second: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two players on the same games.

    Attributes:
        first: Spec of the first player.
        second: Spec of the second player.
        difference: Mean difference between the scores of the first and the second player in a game.
        won: Number of games in which the first player had the higher score.
        drawn: Number of games in which both players had the same score.
    """

    first: str
    second: str
    difference: Estimate
    won: Rate
    drawn: int


def summaries(results: Results) -> list[PlayerSummary]:
    """Return a summary of each player that has finished games."""
    played = {spec: list(results.of(spec).values()) for spec in results.tournament.players}
    return [summary(spec, games) for spec, games in played.items() if games]


def summary(player: str, games: Sequence[GameResult]) -> PlayerSummary:
    """Summarise a player's finished games. There must be at least one game."""
    scores, moves = sorted(game.score for game in games), [game.moves for game in games]
    seconds, largest = sum(game.seconds for game in games), [game.max_tile for game in games]
    quantiles = dict(zip(QUANTILES, np.quantile(scores, QUANTILES).tolist(), strict=True))
    return PlayerSummary(
        *(player, len(games), estimate(scores), quantiles, scores[0], scores[-1]),
        *(tile_rates(largest), estimate(moves), sum(moves) / seconds if seconds else math.inf),
    )


def tile_rates(largest: Sequence[int]) -> dict[int, Rate]:
    """Return the rate at which each tile was reached.

    The result begins with the largest tile that every game reached.

    Args:
        largest: Largest tile of each game.
    """
    low, high = min(largest).bit_length() - 1, max(largest).bit_length()
    tiles = [1 << rank for rank in range(low, high)]
    return {tile: rate(sum(each >= tile for each in largest), len(largest)) for tile in tiles}


def comparisons(results: Results) -> list[Comparison]:
    """Compare each pair of players on the games that both have finished."""
    found = []
    for first, second in combinations(results.tournament.players, 2):
        one, other = results.of(first), results.of(second)
        more = [game.score - other[n].score for n, game in one.items() if n in other]
        if more:
            won = rate(sum(each > 0 for each in more), len(more))
            found.append(Comparison(first, second, estimate(more), won, more.count(0)))
    return found


# --- skill and luck ------------------------------------------------------------------------------

# A judge evaluates the board before and after every spawn. The luck of a spawn is the new value
# minus the mean over all possible spawns. The expectation of luck is 0 for any judge and any player
# that cannot predict tiles. With an exact judge, score + loss - luck equals the expected score of
# perfect play.

MAX_LUCK_ERRORS = 5
"""Runs are rejected if their mean luck exceeds this many standard errors. An honest run is rejected
by chance about once in 3.5 million runs.
"""

MIN_CORRECTED = 20
"""Minimum number of games for a mean that is corrected for luck."""

SHRINKING_ERRORS = 3
"""Luck coefficients within this many standard errors of 0 become 0. Larger ones shrink."""


@dataclass(frozen=True, slots=True)
class JudgedPlay:
    """The losses and the luck of a player, in the judge's unit.

    Attributes:
        player: The player's spec.
        judge: Name of the judge. With an exact judge, losses are called regret.
        is_exact: Whether the judge is exact.
        per_game: Loss per game.
        per_move: Loss per move. The error is that of a ratio of two means over the games, because
            moves of the same game are not independent.
        best_moves: Fraction of moves that were the best move.
        luck: Luck per game.
        hidden: Highest mean luck that passes as chance. A player that predicts tiles could gain
            this much per game without being noticed.
        score: The mean score, corrected for luck.
        saved: The fraction of the score's variance that the correction for luck removes.
    """

    player: str
    judge: str
    is_exact: bool
    per_game: Estimate
    per_move: Estimate
    best_moves: Rate
    luck: Estimate
    hidden: float
    score: Estimate
    saved: float


def judge_of(rules: Rules, solution: Path | None = None) -> Judge:
    """Return an exact judge for solvable boards, and a search-based judge for others.

    Args:
        rules: Rules of the games.
        solution: Solution file, required for exact judging of boards with more than eight cells.

    Raises:
        PlayerError: If the solution file is for a different goal, or if no judge supports these
            rules.
    """
    if solution or rules.cells <= QUICK_CELLS:
        return judge_by(rules, PerfectPlayer(file=str(solution or "")))
    return judge_for(rules, LARGE)


def losses_and_luck(record: Record, judge: Judge) -> tuple[list[float], list[float]]:
    """Return the loss and the luck of each legal move. If the goal is a tile, stop when it is made.

    If the player resigned, the last loss is the value of the final board. If the judge is exact,
    the last element of the luck list is the luck of the start position.

    Raises:
        PlayerError: If the judge cannot evaluate a board.
        RecordError: If the record breaks the rules.
    """
    moves = list(judge.reviews(record))
    left = max(judge.rate(last_board(record)).values(), default=0.0)
    losses = [move.loss for move in moves] + ([left] if left else [])
    luck = [move.luck for move in moves]
    return losses, luck + ([_worth(record.start, judge) - _start(judge)] if judge.is_exact else [])


def _worth(board: Board, judge: Judge) -> float:
    """Return a start position's value, including the tile sum if it counts as points."""
    is_sum = isinstance(judge.rules.scoring, BoardSum) and judge.unit is not Unit.CHANCE
    return max(judge.rate(board).values(), default=0.0) + board.sum * is_sum


@lru_cache(maxsize=1)
def _start(judge: Judge) -> float:
    """Return the mean value of all start positions."""
    starts = Problem(judge.rules, Goal()).starts()
    return math.fsum(float(chance) * _worth(board, judge) for board, chance in starts.items())


def judged(results: Results, judge: Judge) -> Iterator[JudgedPlay]:
    """Yield the losses and the luck of each player of a recorded tournament.

    Raises:
        TournamentError: If a game has no record.
    """
    for spec in results.tournament.players:
        scores, losses, luck = [], [], []
        for played in results.of(spec).values():
            if played.record is None:
                raise TournamentError("games without records have no regret: leave --log out")
            lost, lucky = losses_and_luck(Record.from_json(played.record), judge)
            scores.append(played.score)
            losses.append(lost)
            luck.append(lucky)
        moves = [loss for game in losses for loss in game]
        if not moves:
            continue
        totals = [sum(game) for game in luck]
        raw, fair = estimate(scores), without_luck(scores, totals)
        error = math.hypot(*(each for game in luck for each in game)) / len(luck)
        yield JudgedPlay(
            player=spec,
            judge=judge.name,
            is_exact=judge.is_exact,
            per_game=estimate([sum(game) for game in losses]),
            per_move=_per_move(losses),
            best_moves=rate(moves.count(0.0), len(moves)),
            luck=estimate(totals),
            hidden=MAX_LUCK_ERRORS * error,
            score=fair,
            saved=1 - (fair.error / raw.error) ** 2 if raw.error else 0.0,
        )


def _per_move(losses: Sequence[Sequence[float]]) -> Estimate:
    moves = sum(map(len, losses))
    mean = sum(map(sum, losses)) / moves
    rest, games = estimate([sum(game) - mean * len(game) for game in losses]), len(losses)
    error, low, high = (games / moves * each for each in (rest.error, rest.low, rest.high))
    return Estimate(mean, error, mean + low, mean + high)


def without_luck(scores: Sequence[float], luck: Sequence[float]) -> Estimate:
    """Return the mean score, corrected for luck if this makes it more precise.

    The expected luck is 0, so subtracting a multiple of a game's luck does not bias the mean,
    provided that the coefficient does not depend on that game. Each game's coefficient is a
    least-squares fit to all *other* games. Noisy coefficients would add variance, so coefficients
    shrink towards 0 if luck does not clearly explain the scores. The method is based on Burch et
    al., "AIVAT: A New Variance Reduction Technique for Agent Evaluation", AAAI 2018.
    """
    raw, others = estimate(scores), len(scores) - 1
    if others + 1 < MIN_CORRECTED:
        return raw
    y, x = np.array(scores, float), np.array(luck, float)
    dy, dx = y - y.mean(), x - x.mean()
    # Centred sums over all other games. `share` accounts for the changed means.
    share = 1 + 1 / others
    xx, yy, xy = (a @ b - share * a * b for a, b in ((dx, dx), (dy, dy), (dx, dy)))
    explained = xy**2 - SHRINKING_ERRORS**2 * (xx * yy - xy**2) / (others - 2)
    known = (xx > 0) & (xy != 0)
    slopes = np.divide(np.maximum(explained, 0.0), xx * xy, out=np.zeros_like(x), where=known)
    corrected = estimate((y - slopes * x).tolist())
    return corrected if corrected.error < raw.error else raw
