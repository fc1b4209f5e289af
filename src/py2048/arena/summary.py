"""What came of a contest: a summary of each player, and each two compared on the same games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from py2048.arena.contest import Results
from py2048.arena.jobs import Played
from py2048.arena.statistics import Estimate, Rate, estimate, quantile, rate

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, slots=True)
class Summary:
    """A player's games in numbers.

    Attributes:
        player: the player's spec.
        games: how many games are over.
        score: the mean score, in points.
        quantiles: the score below which each share of the games lies.
        least: the lowest score.
        most: the highest score.
        tiles: how often each tile was reached.
        moves: the mean number of legal turns.
        moves_per_second: legal turns in a second of one processor's time; infinite if it took none.
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
        difference: how many points more the first makes in the mean.
        won: how often the first has the higher score.
        drawn: in how many games both have the same.
    """

    first: str
    second: str
    difference: Estimate
    won: Rate
    drawn: int


def summaries(results: Results) -> list[Summary]:
    """Return the summary of each player with a finished game."""
    played = {spec: list(results.of(spec).values()) for spec in results.contest.players}
    return [summary(spec, games) for spec, games in played.items() if games]


def summary(player: str, games: Sequence[Played]) -> Summary:
    """Return the summary of a player's games, at least one."""
    scores = sorted(game.score for game in games)
    seconds = sum(game.seconds for game in games)
    moves = sum(game.moves for game in games)
    return Summary(
        player,
        len(games),
        estimate(scores),
        {share: quantile(scores, share) for share in QUANTILES},
        scores[0],
        scores[-1],
        tile_rates([game.max_tile for game in games]),
        estimate([game.moves for game in games]),
        moves / seconds if seconds else float("inf"),
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
    """Return each two players compared on the games that both have finished."""
    pairs = combinations(results.contest.players, 2)
    found = (compare(first, second, results) for first, second in pairs)
    return [comparison for comparison in found if comparison]


def compare(first: str, second: str, results: Results) -> Comparison | None:
    """Return two players compared; `None` if there is no game that both have finished."""
    one, other = results.of(first), results.of(second)
    differences = [game.score - other[n].score for n, game in one.items() if n in other]
    if not differences:
        return None
    won = rate(sum(each > 0 for each in differences), len(differences))
    return Comparison(first, second, estimate(differences), won, differences.count(0))
