"""Repeat the two experiments behind the coach, see docs/explanation/review.md.

Usage: coach.py [GAMES]

The first table has the curves of the levels: the median score, and how many of 1,000 simulated
games make each tile. The second experiment plays GAMES games (4 by default) of a Casual player and
judges every move that is not the best one twice: by the points that the search expects, and by the
chance of a Casual player's goal. It shows what losses in points mean to such a player.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

import numpy as np

from py2048 import Board, Direction, Game, get_rules
from py2048.review import judge_for
from py2048.review.coaching import LevelJudge, Position
from py2048.review.levels import LEVELS, TABLE, Goals, Level
from py2048.review.playouts import turns, words
from py2048.review.simulation import SEED

TILES = 256, 512, 1024, 2048, 4096
BANDS = (0, 1_000), (1_000, 10_000), (10_000, 30_000), (30_000, float("inf"))
"""Ranges of losses in points."""
CLEAR_LOSS = 0.05
CASUAL = next(level for level in LEVELS if level.name == "Casual")
ENDLESS = Goals(1 << 30, 1 << 30)


def show_curves() -> None:
    """Print the curves of the levels under classic rules, as simulated by make_levels.py."""
    rows = json.loads(TABLE.read_text(encoding="ascii"))["classic"]["slips"]
    print(f"{'level':<12} {'median':>7}" + "".join(f"{tile:>7}" for tile in TILES))
    for name, slip in LEVELS:
        row = rows[str(slip)]
        shares = (row["made"].get(str(tile), 0.0) for tile in TILES)
        print(f"{name:<12} {row['median']:>7,}" + "".join(f"{share:>7.0%}" for share in shares))


def moves_of(level: Level, number: int) -> Iterator[tuple[Board, Direction]]:
    """Yield the boards of a game of a level's player, and the moves."""
    rules = get_rules("classic")
    board = Game(rules, seed=number).board
    first, draws = board.legal_directions()[0], words(SEED, 0, number)
    for turn in turns(rules, board, first, ENDLESS, level.slip, draws):
        yield board, turn.slide.direction
        board = turn.board


def losses_of(moves: Iterable[tuple[Board, Direction]]) -> Iterator[tuple[float, float]]:
    """Yield what each move that is not the best one loses: in points, and in chances."""
    rules = get_rules("classic")
    search, judge = judge_for(rules), LevelJudge(rules, CASUAL)
    for ply, (board, direction) in enumerate(moves, start=1):
        points = search.rate(board)
        best = max(points, key=points.__getitem__)
        if best is not direction:
            chances = judge.judge(Position(ply, board)).review(direction).values
            yield points[best] - points[direction], chances[best] - chances[direction]


def show_losses(games: int) -> None:
    """Print what losses in points cost a Casual player, and the correlation."""
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


if __name__ == "__main__":
    show_curves()
    show_losses(*map(int, sys.argv[1:] or ["4"]))
