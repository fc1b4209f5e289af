"""Regret: what a player's moves lose against perfect play, without the luck of the tiles.

A score mixes skill and luck. The regret of a move is the value of the best move less that of the
one made, both exact; the sum over a game is what its moves cost. A player's expected regret of a
game is the value of the game less the player's expected score, and varies far less than scores do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from py2048.arena.statistics import Estimate, Rate, estimate, rate
from py2048.arena.tournament import Results
from py2048.errors import TournamentError
from py2048.game import Record
from py2048.review import reviewing
from py2048.review.judges import ExactJudge
from py2048.solving import Solution


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

    Raises:
        PlayerError: if a board of the record cannot be solved.
        RecordError: if the record breaks its rules.
    """
    judge = ExactJudge(solution, record.rules)
    return [move.loss for move in reviewing(record, judge)]


def regrets(results: Results, solution: Solution) -> Iterator[Regret]:
    """Yield the regret of each player of a tournament with records.

    Raises:
        TournamentError: if a game has no record.
    """
    for spec in results.tournament.players:
        games = [_regrets(played.record, solution) for played in results.of(spec).values()]
        moves = [loss for game in games for loss in game]
        if moves:
            best = moves.count(0.0)
            per_game = estimate([sum(game) for game in games])
            yield Regret(spec, per_game, estimate(moves), rate(best, len(moves)))


def _regrets(record: str | None, solution: Solution) -> list[float]:
    if record is None:
        raise TournamentError("games without records have no regret: leave --log out")
    return regrets_of(Record.from_json(record), solution)
