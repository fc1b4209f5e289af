"""Check the accuracy of reviews against players of known strength.

Usage: review.py [MOVES [BOARD...]]

Reviews games of each player, until they have MOVES moves (8,000 by default), on 2x4 by the exact
values, and under classic rules by the default judge: of a long game stretches of 50 moves that lie
evenly, 1,000 moves in all. Prints a line for each player: its mean score, accuracy, best moves,
blunders and luck, with standard errors. Then it tells how many of the mistakes that searches find a
deeper one confirms.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from random import Random
from statistics import fmean
from typing import NamedTuple

from py2048 import Game, Record, Rules, get_rules, make_player
from py2048.core.rng import derive_seed
from py2048.lab.arena.statistics import estimate
from py2048.lab.commands.bench import processor
from py2048.players.registry import with_seed
from py2048.review import Grade, Judge, Review, judge_for, review


class Check(NamedTuple):
    """Players whose games are reviewed.

    Attributes:
        rules: the rules.
        judge: the spec of the judge.
        longest: about how many moves of a game are reviewed at most.
        players: their specs, from the weakest to the strongest.
    """

    rules: str
    judge: str
    longest: int
    players: tuple[str, ...]


CHECKS = (
    Check(
        *("2x4", "perfect", 10**6),
        ("random", "greedy", "corner", "heuristic", "expectimax", "perfect"),
    ),
    Check(
        *("classic", "", 1000),
        ("random", "corner", "greedy", "heuristic:depth=1", "heuristic/30", "heuristic", "ntuple"),
    ),
)
"""A player with ``/30`` presses a random key once in 30 moves: the careful beginner, who keeps a
corner and errs."""

STRETCH = 50


def played(rules: Rules, spec: str, number: int, longest: int | None = None) -> Record:
    """Return a player's game, or its first moves."""
    seed, (spec, _, slip) = derive_seed(0, number), spec.partition("/")
    game, player, keys = Game(rules, seed=seed), make_player(with_seed(spec, seed)), Random(seed)
    while not game.is_over and game.ply != longest:
        slips = slip and keys.random() < 1 / int(slip)
        game.play(keys.choice(game.legal_directions()) if slips else player.choose(game))
    return game.record()


def reviewed(record: Record, judge: Judge, longest: int) -> Review:
    """Return the review of a game, or of stretches that lie evenly in it."""
    every, moves, board, score = 1 + (record.plies - 1) // longest, [], record.start, 0
    for place, (after, turn, reached) in enumerate(record.replay()):
        if place // STRETCH % every == 0:
            moves.append(judge.review_move(board, score, turn.direction, turn, ply=place + 1))
        board, score = after, reached
    return Review.of(record, judge, moves)


def line(spec: str, reviews: list[Review]) -> str:
    """Return what is printed of the games of a player."""
    moves = [move for each in reviews for move in each.moves]
    best, blunders = (
        sum(move.grade is grade for move in moves) / len(moves)
        for grade in (Grade.BEST, Grade.BLUNDER)
    )
    score, accuracy, luck = (
        estimate([float(value) for value in values])
        for values in zip(*((r.record.score, r.accuracy, r.luck) for r in reviews), strict=True)
    )
    return (
        f"| `{spec}` | {len(reviews)} | {fmean(r.record.plies for r in reviews):,.0f} "
        f"| {score.mean:,.0f} ± {score.error:,.0f} | {accuracy.mean:.1f} ± {accuracy.error:.1f} "
        f"| {best:.1%} | {blunders:.1%} | {luck.mean:+,.0f} ± {luck.error:,.0f} |"
    )


def main(moves: int, *boards: str) -> None:
    """Play, review and print."""
    print(f"{processor()}; seeds from 0")
    for check in CHECKS:
        if boards and check.rules not in boards:
            continue
        rules = get_rules(check.rules)
        judge = judge_for(rules, check.judge)
        print(f"\n{check.rules}, judged by {judge.name}, up to {check.longest:,} moves of a game\n")
        print("| player | games | moves | score | accuracy | best | blunders | luck |")
        print("| --- | --: | --: | --: | --: | --: | --: | --: |")
        for spec in check.players:
            found: list[Review] = []
            while sum(len(each.moves) for each in found) < moves:
                game = played(rules, spec, len(found))
                found.append(reviewed(game, judge, check.longest))
            print(line(spec, found), flush=True)
        start = time.process_time()
        again = [reviewed(each.record, judge, check.longest) for each in found[:5]]
        seconds = time.process_time() - start
        speed = sum(len(each.moves) for each in again) / seconds
        print(f"\n{speed:,.0f} moves reviewed in a second of processor time")
    if not boards or "classic" in boards:
        searches = [f"expectimax:depth={depth}" for depth in (1, 2, 3)]
        confirm(searches, "expectimax:depth=4", ("greedy", "heuristic:depth=1", "heuristic"), 500)


def confirm(judges: Sequence[str], deeper: str, players: Sequence[str], longest: int) -> None:
    """Print how many of the mistakes that each judge finds the deeper one confirms."""
    rules = get_rules("classic")
    judging = judge_for(rules, deeper)
    games = [review(played(rules, each, 0, longest), judging) for each in players]
    print(f"\nmistakes in {sum(len(game.moves) for game in games):,} moves, by {deeper}\n")
    print("| judge | mistakes | confirmed |")
    print("| --- | --: | --: |")
    for spec in judges:
        judge = judge_for(rules, spec)
        pairs = [
            (mine, theirs)
            for game in games
            for mine, theirs in zip(review(game.record, judge).moves, game.moves, strict=True)
            if mine.grade.is_mistake
        ]
        confirmed = sum(theirs.grade.is_mistake for _, theirs in pairs)
        print(f"| `{spec}` | {len(pairs)} | {confirmed / len(pairs):.0%} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8_000, *sys.argv[2:])
