"""How long the computer players of cits1401 survive: planner, look-ahead, expectimax, random.

Run ``python benchmarks/cits1401.py [--games N] [--seconds S]``. Each player gets the same starts.
A score is the number of successful moves minus the number of failed ones, so a game of a player
that never fails scores its length.

- planner: the computer of the course, with S processor seconds to think about a game; then it
  plays the rest with its narrowest beam;
- look-ahead: plays the first move of the best line of a given number of moves, by the planner's own
  evaluation, over and over; every line is looked at;
- expectimax: the package's player of that name, by its own evaluation; without chance it is a
  look-ahead too;
- random: any of the four directions.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from py2048 import Board, Direction, Game, Rules, get_rules, make_player
from py2048.players.search.beam import BeamPlanner, beam_search, longest_game


@dataclass(frozen=True)
class Played:
    """One finished game."""

    score: int
    largest: int
    seconds: float


Play = Callable[[Board, Rules, int], tuple[Board, int]]
"""Plays from a start, with a seed for its own chances; returns the last board and the score."""


def play_random(start: Board, rules: Rules, seed: int) -> tuple[Board, int]:
    """Try directions by chance until the game is over."""
    chance = random.Random(seed)
    game = Game(rules, board=start)
    while not game.is_over:
        game.attempt(chance.choice(tuple(Direction)))
    return game.board, game.score


def move_by_move(choose: Callable[[Game], Direction]) -> Play:
    """Return the player that asks `choose` for one move after the other."""

    def play(start: Board, rules: Rules, _: int) -> tuple[Board, int]:
        board, score = start, 0
        while board.can_move():
            game = Game(rules, board=board)  # a new one each time: a game remembers all its turns
            board = game.play(choose(game)).board
            score += 1
        return board, score

    return play


def lookahead(depth: int) -> Play:
    """Return the player that looks at every line of `depth` moves."""
    return move_by_move(
        lambda game: beam_search(game.board, game.rules, width=4**depth, depth=depth)[0]
    )


def planner(seconds: float, moves: int | None) -> Play:
    """Return the planner with `seconds` of a processor for a game, or stopped after `moves`."""

    def play(start: Board, rules: Rules, _: int) -> tuple[Board, int]:
        plan = BeamPlanner(start, rules)
        end = time.thread_time() + seconds
        while not plan.is_complete and time.thread_time() < end:
            if moves is not None and len(plan) >= moves:
                return plan.last_board(), len(plan)  # a lower bound: the game is not over
            plan.extend()
        plan.finish()
        last = plan.last_board()
        assert not last.can_move()
        assert last.sum == start.sum + 2 * len(plan)
        return last, len(plan)

    return play


def measure(name: str, play: Play, games: int) -> float:
    """Play `games` games with fixed starts, print how they ended; return the mean score."""
    rules = get_rules("cits1401")
    played = []
    for seed in range(games):
        start = Game(rules, seed=seed).board
        before = time.perf_counter()
        last, score = play(start, rules, seed)
        played.append(Played(score, last.max_tile, time.perf_counter() - before))
    scores = [game.score for game in played]
    print(
        f"{name:<22}{games:>6}{statistics.mean(scores):>14,.0f}{statistics.median(scores):>12,.0f}"
        f"{min(scores):>11,}{max(scores):>11,}{max(game.largest for game in played):>11,}"
        f"{statistics.mean(game.seconds for game in played):>10.2f} s",
        flush=True,
    )
    return statistics.mean(scores)


def main() -> None:
    """Print the table and the ratios."""
    parser = argparse.ArgumentParser(description="How long the computer players survive.")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0, help="for a game of the planner")
    parser.add_argument("--moves", type=int, help="stop a game of the planner after this number")
    parser.add_argument("--players", nargs="*", help="the first words of those to play; all")
    options = parser.parse_args()
    rules = get_rules("cits1401")
    system = f"Python {platform.python_version()} on {sys.platform}"
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {system}")
    print(rules)
    print(f"planner: {options.seconds:g} s a game; starts: seeds 0 to {options.games - 1}")
    print(f"no game is longer than {longest_game(Board.empty(5, 5)):,} moves\n")
    columns = ("games", 6), ("mean score", 14), ("median", 12), ("least", 11), ("most", 11)
    print(f"{'player':<22}" + "".join(f"{n:>{w}}" for n, w in columns), f"{'tile':>10}  a game")
    beam_search(Board.empty(5, 5), rules, width=1, depth=1)  # compiles
    players = {
        "random": (play_random, options.games),
        "expectimax, 2 moves": (
            move_by_move(make_player("expectimax:depth=2").choose),
            options.games,
        ),
        "look-ahead, 2 moves": (lookahead(2), options.games),
        "look-ahead, 4 moves": (lookahead(4), -(-options.games // 10)),
        "planner": (planner(options.seconds, options.moves), options.games),
    }
    means = {
        name: measure(name, play, games)
        for name, (play, games) in players.items()
        if not options.players or name.startswith(tuple(options.players))
    }
    print()
    for name in means.keys() - {"planner"} if "planner" in means else ():
        print(f"planner : {name} = {means['planner'] / means[name]:,.1f} : 1")


if __name__ == "__main__":
    main()
