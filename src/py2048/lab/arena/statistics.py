"""Statistics of tournaments: player summaries, comparisons and regret, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, fmean, stdev

import numpy as np

from py2048.core.errors import TournamentError
from py2048.core.game import Record
from py2048.lab.arena.jobs import GameResult
from py2048.lab.arena.tournament import Results
from py2048.players.solving import Solution
from py2048.review import reviewing
from py2048.review.judges import ExactJudge

CONFIDENCE = 0.95
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

MIN_SAMPLE = 4
"""Smaller samples get no interval."""

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A sample mean and its precision.

    Attributes:
        mean: Mean of the sample.
        error: Standard error; NaN for a sample of one.
        low: Lower end of the 95 % interval (Student's t); NaN below `MIN_SAMPLE`.
        high: Upper end of the interval.
    """

    mean: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """Frequency of an event.

    Attributes:
        hits: Number of trials in which it happened.
        trials: Number of trials.
        share: `hits` divided by `trials`.
        low: Lower end of Wilson's 95 % interval of the probability.
        high: Upper end of the interval.
    """

    hits: int
    trials: int
    share: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of a non-empty sample, with its standard error and interval."""
    mean, count = fmean(values), len(values)
    error = stdev(values) / math.sqrt(count) if count > 1 else math.nan
    reach = student_quantile(count - 1) * error if count >= MIN_SAMPLE else math.nan
    return Estimate(mean, error, mean - reach, mean + reach)


def rate(hits: int, trials: int) -> Rate:
    """Return the rate of `hits` in `trials` with the interval of E. B. Wilson (1927).

    This interval stays between 0 and 1, and is meaningful even for no hits or only hits. There must
    be at least one trial.
    """
    share, weight = hits / trials, _Z * _Z / trials
    centre = (share + weight / 2) / (1 + weight)
    reach = _Z / (1 + weight) * math.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = centre - reach if hits else 0.0
    high = centre + reach if hits < trials else 1.0
    return Rate(hits, trials, share, low, high)


def student_quantile(freedom: int) -> float:
    """Return the half-width of the 95 % interval in standard errors, by Student's distribution.

    Args:
        freedom: Degrees of freedom, at least 3: the sample size minus one.

    Accurate to 1 %, and better for larger samples. Abramowitz & Stegun, Handbook of Mathematical
    Functions, 26.7.5.
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
        tiles: How often each tile was reached.
        moves: Mean number of legal moves.
        moves_per_second: Moves per second of processor time; infinite if no time was measured.
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
    """Comparison of two players on the same games.

    Attributes:
        first: Spec of the first player.
        second: Spec of the second player.
        difference: Mean of the first player's score minus the second's, over games.
        won: Number of games in which the first player's score was higher.
        drawn: Number of games with equal scores.
    """

    first: str
    second: str
    difference: Estimate
    won: Rate
    drawn: int


def summaries(results: Results) -> list[PlayerSummary]:
    """Summarise each player that has finished games."""
    played = {spec: list(results.of(spec).values()) for spec in results.tournament.players}
    return [summary(spec, games) for spec, games in played.items() if games]


def summary(player: str, games: Sequence[GameResult]) -> PlayerSummary:
    """Summarise a player's games; there must be at least one."""
    scores, moves = sorted(game.score for game in games), [game.moves for game in games]
    seconds, largest = sum(game.seconds for game in games), [game.max_tile for game in games]
    quantiles = dict(zip(QUANTILES, np.quantile(scores, QUANTILES).tolist(), strict=True))
    return PlayerSummary(
        *(player, len(games), estimate(scores), quantiles, scores[0], scores[-1]),
        *(tile_rates(largest), estimate(moves), sum(moves) / seconds if seconds else math.inf),
    )


def tile_rates(largest: Sequence[int]) -> dict[int, Rate]:
    """Return how often each tile was reached.

    The first tile is the largest that every game reached.

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


# --- regret --------------------------------------------------------------------------------------

# A score mixes skill and luck. The regret of a move is the exact value of the best move minus that
# of the move made. A player's expected regret per game equals the value of the game minus the
# player's expected score, and regret varies far less between games than scores do.


@dataclass(frozen=True, slots=True)
class Regret:
    """A player's regret, in the unit of the solution: points or a probability.

    Attributes:
        player: The player's spec.
        per_game: Regret per game.
        per_move: Regret per move. Moves of one game are not independent.
        best_moves: How many moves were optimal.
    """

    player: str
    per_game: Estimate
    per_move: Estimate
    best_moves: Rate


def regrets_of(record: Record, solution: Solution) -> list[float]:
    """Return the regret of each legal move of a game, up to the goal if that is a tile.

    Giving up counts as a move that loses the entire remaining value.

    Raises:
        PlayerError: If a board of the record cannot be solved.
        RecordError: If the record breaks its rules.
    """
    judge = ExactJudge(solution, record.rules)
    losses = [move.loss for move in reviewing(record, judge)]
    last = record.replayed[-1][0] if record.replayed else record.start
    left = max(judge.rate(last).values(), default=0.0)
    return [*losses, left] if left else losses


def regrets(results: Results, solution: Solution) -> Iterator[Regret]:
    """Yield the regret of each player of a recorded tournament.

    Raises:
        TournamentError: If a game has no record.
    """
    for spec in results.tournament.players:
        games = []
        for played in results.of(spec).values():
            if played.record is None:
                raise TournamentError("games without records have no regret: leave --log out")
            games.append(regrets_of(Record.from_json(played.record), solution))
        moves = [loss for game in games for loss in game]
        if moves:
            best = rate(moves.count(0.0), len(moves))
            yield Regret(spec, estimate([sum(game) for game in games]), estimate(moves), best)
