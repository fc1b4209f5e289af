"""Compare games of `perfect` with the exact value, on every board whose moves come with py2048.

Usage: perfect.py [GAMES [BOARD...]]

Prints the mean score of GAMES games (100,000 by default), its standard error, and by how many
standard errors it differs from the value that `py2048 solve` finds.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from py2048 import Rules, get_rules
from py2048.engine.batch import BatchGames
from py2048.players.solving.distilled import DistilledMoves, shipped_moves
from py2048.players.solving.solver import solve_from

VALUES = {"2x2": 66.964149, "2x3": 480.258272, "2x4": 2_641.873036, "3x3": 5_468.486797}
"""Expected scores under the classic rules (docs/explanation/exact.md)."""


def played(rules: Rules, moves: DistilledMoves, games: int) -> BatchGames:
    """Return games of perfect play, all over."""
    batch = BatchGames(rules, games, seed=0, reset="disabled")
    places = np.arange(0, 4 * rules.cells, 4, dtype=np.uint64)
    directions = np.zeros(games, np.uint8)
    while (playing := np.flatnonzero(~batch.dones)).size:
        ranks = batch.boards[playing].reshape(len(playing), -1).astype(np.uint64)
        is_covered = np.where(ranks, 1 << ranks, 0).sum(axis=1) <= moves.covered
        chosen = moves.choose((ranks << places).sum(axis=1, dtype=np.uint64))
        for place in np.flatnonzero(~is_covered):  # about one game in a million
            board = batch.board(int(playing[place]))
            best = solve_from(rules, [board]).best(board)
            assert best is not None, "a game that is not over has a best move"
            chosen[place] = best.value
        directions[playing] = chosen
        batch.step(directions)
    return batch


def main(games: int, *sizes: str) -> None:
    """Play and print a line for each board."""
    print(f"{games:,} games each, seed 0")
    for size in sizes or VALUES:
        rules, value = get_rules(f"classic:size={size}"), VALUES[size]
        moves = shipped_moves(rules)
        assert moves is not None, f"no moves come with py2048 for {size}"
        start = time.process_time()
        batch = played(rules, moves, games)
        seconds, scores = time.process_time() - start, batch.scores.astype(np.float64)
        mean, error = scores.mean(), scores.std(ddof=1) / len(scores) ** 0.5
        print(
            f"{size}  {mean:,.3f} ± {error:,.3f}, exactly {value:,.6f}: "
            f"{(mean - value) / error:+.2f} errors, {seconds:,.0f} s of processor time, "
            f"{1e6 * seconds / int(batch.plies.sum()):.2f} µs a move",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, *sys.argv[2:])
