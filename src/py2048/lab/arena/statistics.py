"""Statistics of a tournament: players summarised and compared, with 95 % intervals; regret."""

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
"""Smaller samples have no interval: they say next to nothing."""

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its precision.

    Attributes:
        mean: the mean of the sample.
        error: its standard error; NaN for a sample of one.
        low: where the 95 % interval begins, by Student's distribution; NaN for fewer than four.
        high: where it ends.
    """

    mean: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happened.

    Attributes:
        hits: how many times it happened.
        trials: out of how many.
        share: the share of the trials in which it happened.
        low: where Wilson's 95 % interval of the probability begins.
        high: where it ends.
    """

    hits: int
    trials: int
    share: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of a sample of at least one value, with its standard error and interval."""
    mean, count = fmean(values), len(values)
    error = stdev(values) / math.sqrt(count) if count > 1 else math.nan
    reach = student_quantile(count - 1) * error if count >= MIN_SAMPLE else math.nan
    return Estimate(mean, error, mean - reach, mean + reach)


def rate(hits: int, trials: int) -> Rate:
    """Return `hits` of `trials`, at least one, with the interval of E. B. Wilson (1927).

    Unlike the mean plus and minus two standard errors it stays between 0 and 1, and says something
    where nothing or everything was hit.
    """
    share, weight = hits / trials, _Z * _Z / trials
    centre = (share + weight / 2) / (1 + weight)
    reach = _Z / (1 + weight) * math.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = centre - reach if hits else 0.0
    high = centre + reach if hits < trials else 1.0
    return Rate(hits, trials, share, low, high)


def student_quantile(freedom: int) -> float:
    """Return how many standard errors the 95 % interval reaches to each side of a mean.

    Args:
        freedom: the degrees of freedom, one less than the size of the sample, at least 3. The
            result is within 1 %, and closer the larger the sample is.

    Abramowitz & Stegun, Handbook of Mathematical Functions, 26.7.5.
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
    """The games of a player in numbers.

    Attributes:
        player: the player's spec.
        games: the number of finished games.
        score: the mean score, in points.
        quantiles: the score below which each share of the games lies.
        least: the lowest score.
        most: the highest score.
        tiles: how often each tile was reached.
        moves: the mean number of legal turns.
        moves_per_second: legal turns in a second of processor time; infinite if it took no time.
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
    """Two players on the same games.

    Attributes:
        first: the spec of the one.
        second: the spec of the other.
        difference: the mean of the first player's score less the second's, game by game.
        won: how often the first has the higher score.
        drawn: in how many games both have the same.
    """

    first: str
    second: str
    difference: Estimate
    won: Rate
    drawn: int


def summaries(results: Results) -> list[PlayerSummary]:
    """Return the summary of each player with a finished game."""
    played = {spec: list(results.of(spec).values()) for spec in results.tournament.players}
    return [summary(spec, games) for spec, games in played.items() if games]


def summary(player: str, games: Sequence[GameResult]) -> PlayerSummary:
    """Return the summary of a player's games, at least one."""
    scores, moves = sorted(game.score for game in games), [game.moves for game in games]
    seconds, largest = sum(game.seconds for game in games), [game.max_tile for game in games]
    quantiles = dict(zip(QUANTILES, np.quantile(scores, QUANTILES).tolist(), strict=True))
    return PlayerSummary(
        *(player, len(games), estimate(scores), quantiles, scores[0], scores[-1]),
        *(tile_rates(largest), estimate(moves), sum(moves) / seconds if seconds else math.inf),
    )


def tile_rates(largest: Sequence[int]) -> dict[int, Rate]:
    """Return how often each tile was reached, from the largest that was always up to the largest.

    Args:
        largest: the largest tile of each game.
    """
    low, high = min(largest).bit_length() - 1, max(largest).bit_length()
    tiles = [1 << rank for rank in range(low, high)]
    return {tile: rate(sum(each >= tile for each in largest), len(largest)) for tile in tiles}


def comparisons(results: Results) -> list[Comparison]:
    """Return each two players compared on the games that both have finished, if there are any."""
    found = []
    for first, second in combinations(results.tournament.players, 2):
        one, other = results.of(first), results.of(second)
        more = [game.score - other[n].score for n, game in one.items() if n in other]
        if more:
            won = rate(sum(each > 0 for each in more), len(more))
            found.append(Comparison(first, second, estimate(more), won, more.count(0)))
    return found


# --- regret --------------------------------------------------------------------------------------

# A score mixes skill and luck. The regret of a move is the value of the best move less that of the
# one made, both exact; the sum over a game is what its moves cost. A player's expected regret of a
# game is the value of the game less the player's expected score, and varies far less than scores.


@dataclass(frozen=True, slots=True)
class Regret:
    """The regret of a player, in the unit of the solution: points, or a chance.

    Attributes:
        player: the player's spec.
        per_game: the regret of a game.
        per_move: the regret of a move; moves of one game are not independent.
        best_moves: how many moves were as good as the best.
    """

    player: str
    per_game: Estimate
    per_move: Estimate
    best_moves: Rate


def regrets_of(record: Record, solution: Solution) -> list[float]:
    """Return the regret of each legal move of a game, up to the goal if that is a tile.

    To give a game up, as one without a legal answer does, is a move that loses what is left.

    Raises:
        PlayerError: if a board of the record cannot be solved.
        RecordError: if the record breaks its rules.
    """
    judge = ExactJudge(solution, record.rules)
    losses = [move.loss for move in reviewing(record, judge)]
    last = record.replayed[-1][0] if record.replayed else record.start
    left = max(judge.rate(last).values(), default=0.0)
    return [*losses, left] if left else losses


def regrets(results: Results, solution: Solution) -> Iterator[Regret]:
    """Yield the regret of each player of a tournament with records.

    Raises:
        TournamentError: if a game has no record.
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
