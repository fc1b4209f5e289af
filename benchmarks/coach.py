"""Repeat the experiments behind the coach, as described in docs/explanation/review.md.

Usage: coach.py [GAMES]
       coach.py accuracy [GAMES]

The first table shows the strength of each player level: the median score, and how many of 1,000
simulated games reach each tile. The second experiment plays GAMES games (4 by default) of a Casual
player. It measures the cost of each mistake in two units: the points that a search expects, and the
chance that a Casual player reaches the goal. The comparison shows what losses in points mean for
such a player.

With ``accuracy``, GAMES games (100 by default) of each player in `PLAYERS` are judged against the
level Practised. After every game, a line shows the accuracies of all games so far. It also shows
how many reasons for mistakes are confirmed by simulations with another seed. Only 80 random
positions from the first 2,000 moves of a game are judged.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from py2048 import Board, Direction, Game, get_rules
from py2048.players import make_player
from py2048.players.registry import with_seed
from py2048.review import judge_for
from py2048.review.coaching import Judgement, LevelJudge
from py2048.review.games import accuracy_of_moves
from py2048.review.levels import LEVELS, TABLE, Goals, Level
from py2048.review.moves import MoveReview, Position, legal_turns
from py2048.review.playouts import turns, words
from py2048.review.simulation import SEED

TILES = 256, 512, 1024, 2048, 4096
BANDS = (0, 1_000), (1_000, 10_000), (10_000, 30_000), (30_000, float("inf"))
"""Losses in points are reported for each of these ranges."""
CLEAR_LOSS = 0.05
CASUAL, PRACTISED = LEVELS[1], LEVELS[2]
ENDLESS = Goals(1 << 30, 1 << 30)

PLAYERS = "random", "greedy", "0.3", "0.2", "0.1", "0.05", "0.02", "0"
"""The players whose accuracy is measured. Numbers are slips."""
MAX_MOVES, MAX_POSITIONS = 2_000, 80
"""Accuracy is measured on a random sample of positions from the first moves of a game."""
POSITION_MOVES = 80_000
"""Simulated moves for one position if a review contains 500 positions."""


def show_curves() -> None:
    """Print the strength of each level under classic rules, as simulated by make_levels.py."""
    rows = json.loads(TABLE.read_text(encoding="ascii"))["classic"]["slips"]
    print(f"{'level':<12} {'median':>7}" + "".join(f"{tile:>7}" for tile in TILES))
    for name, slip in LEVELS:
        row = rows[str(slip)]
        shares = (row["made"].get(str(tile), 0.0) for tile in TILES)
        print(f"{name:<12} {row['median']:>7,}" + "".join(f"{share:>7.0%}" for share in shares))


def moves_of(level: Level, number: int) -> Iterator[tuple[Board, Direction]]:
    """Simulate a game of a player level; yield each board and the move made."""
    rules = get_rules("classic")
    board = Game(rules, seed=number).board
    first, draws = board.legal_directions()[0], words(SEED, 0, number)
    for turn in turns(rules, board, first, ENDLESS, level.slip, draws):
        yield board, turn.slide.direction
        board = turn.board


def losses_of(moves: Iterable[tuple[Board, Direction]]) -> Iterator[tuple[float, float]]:
    """Yield the cost of each move that is not the best, in points and as a lost chance."""
    rules = get_rules("classic")
    search, judge = judge_for(rules), LevelJudge(rules, CASUAL)
    for ply, (board, direction) in enumerate(moves, start=1):
        points = search.rate(board)
        best = max(points, key=points.__getitem__)
        if best is not direction:
            chances = judge.judge(Position(ply, board)).review(direction).values
            yield points[best] - points[direction], chances[best] - chances[direction]


def show_losses(games: int) -> None:
    """Print the chance that mistakes cost a Casual player, by their loss in points."""
    found = np.array([each for game in range(games) for each in losses_of(moves_of(CASUAL, game))])
    points, chances = found.T
    print(
        f"{len(found)} moves of {games} games; correlation {np.corrcoef(points, chances)[0, 1]:.2f}"
    )
    for low, high in BANDS:
        here = chances[(points >= low) & (points < high)]
        print(
            f"lost {low:>6,.0f} or more points: {len(here):>4} moves, {here.mean():6.1%} of the"
            f" chance on average; {(here > CLEAR_LOSS).mean():4.0%} cost over 5 points of"
            f" percentage, {(here < 0).mean():4.0%} gained"
        )


def positions_by(player: str, number: int) -> Iterator[Position]:
    """Yield the positions of a game by one of the `PLAYERS`."""
    if player[0].isdigit():
        for ply, (board, direction) in enumerate(moves_of(Level("", float(player)), number), 1):
            yield Position(ply, board, played=direction)
        return
    game, chosen = Game(get_rules("classic"), seed=number), make_player(with_seed(player, number))
    while not game.is_over:
        game.play(chosen.choose(game))
    yield from (at for at, _turn in legal_turns(game.record()))


def show_accuracies(games: int) -> None:
    """Print each player's accuracy, and how many reasons another seed confirms."""
    rules, budget = get_rules("classic"), POSITION_MOVES * MAX_POSITIONS
    judge, fresh = (LevelJudge(rules, PRACTISED, seed=seed, budget=budget) for seed in range(2))
    found: dict[str, list[MoveReview]] = {player: [] for player in PLAYERS}
    held: list[bool] = []
    for number in range(games):
        for player in PLAYERS:
            positions = [*islice(positions_by(player, number), MAX_MOVES)]
            count = min(MAX_POSITIONS, len(positions))
            reviews = judge.review(random.Random(number).sample(positions, count))
            moves = {move.ply: move for move in reviews}
            found[player] += moves.values()
            for move in moves.values():
                if move.reason:
                    again = Judgement(rules, PRACTISED, Position(move.ply, move.board))
                    fresh.play([again], move.games[move.best])
                    held.append(again.compared(move.reason.kind, move.played, move.best).z > 0)
        known = (f"{player} {accuracy_of_moves(moves)}" for player, moves in found.items())
        print(*known, f"{sum(held)} of {len(held)} reasons held", sep=", ", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["accuracy"]:
        show_accuracies(*map(int, sys.argv[2:] or ["100"]))
    else:
        show_curves()
        show_losses(*map(int, sys.argv[1:] or ["4"]))
