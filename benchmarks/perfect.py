"""Compare games of `perfect` with the exact value, on every board whose moves come with py2048.

Usage: perfect.py [GAMES [BOARD...]]

Prints the mean score of so many games (100,000 by default), its standard error, and by how many
standard errors it differs from the value that `py2048 solve` finds.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from py2048 import get_rules
from py2048.players.perfect import PerfectPlayer
from py2048.rng import derive_seed

VALUES = {"2x2": 66.964149, "2x3": 480.258272, "2x4": 2_641.873036, "3x3": 5_468.486797}
"""Expected scores under the classic rules (docs/explanation/exact.md)."""


def main(games: int, *sizes: str) -> None:
    """Play and print a line for each board."""
    print(f"{games:,} games each, seed 0")
    for size in sizes or VALUES:
        rules, value, player = get_rules(f"classic:size={size}"), VALUES[size], PerfectPlayer()
        player.play_games(rules, [])
        start = time.process_time()
        played = player.play_games(rules, [derive_seed(0, number) for number in range(games)])
        seconds = time.process_time() - start
        scores = np.array([game.score for game in played], np.float64)
        mean, error = scores.mean(), scores.std(ddof=1) / len(scores) ** 0.5
        away = (mean - value) / error
        moves = sum(game.moves for game in played)
        print(
            f"{size}  {mean:,.3f} ± {error:,.3f}, exactly {value:,.6f}: {away:+.2f} errors, "
            f"{seconds:,.0f} s of processor time, {1e6 * seconds / moves:.2f} µs a move",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, *sys.argv[2:])
