"""How fast the search is, and how well it plays without weights.

Usage: bench_search.py speed [WEIGHTS]          moves a second at depth 1, 2 and 3
       bench_search.py strength [GAMES]         at the time per move of two settings of nneonneo's
                                                2048-ai: 0.32 ms and 11.4 ms

Times are of this process's own work, on one thread; the games are those of the seeds 1, 2, 3, …
"""

from __future__ import annotations

import sys
import time

import numpy as np

from py2048 import get_rules
from py2048.players.ntuple.heuristic import DEFAULT, Heuristic
from py2048.players.ntuple.network import Network
from py2048.players.ntuple.weights import load
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import SearchedGames, Searcher, play_games

CLASSIC = get_rules("classic")
SECONDS = 4.0
BUDGETS = {0.32: "122,600 ± 7,000", 11.4: "317,000 ± 24,000"}
"""Milliseconds for a move, and the mean score of 2048-ai at that time on a machine like ours."""


def play(searcher: Searcher, seeds: range) -> tuple[SearchedGames, float]:
    """Return games, and the seconds of this process's work that they took."""
    searcher.prepare()
    start = time.process_time()
    games = play_games(searcher, seeds)
    return games, time.process_time() - start


def speed(evaluation: Network | Heuristic, name: str) -> None:
    """Print the moves a second at fixed depths, each measured for some seconds."""
    for depth in (1, 2, 3):
        searcher = Searcher(CLASSIC, evaluation, SearchLimits(depth))
        moves, seconds, seed = 0, 0.0, 1
        while seconds < SECONDS:
            games, taken = play(searcher, range(seed, seed + 1))
            moves += int(games.plies.sum())
            seconds, seed = seconds + taken, seed + 1
        print(
            f"{name:12}depth {depth}  seeds 1 to {seed - 1:<5}{moves / seconds:>12,.0f} moves/s",
            flush=True,
        )


def strength(games: int) -> None:
    """Print mean scores at the anchors' times per move."""
    for budget, anchor in BUDGETS.items():
        searcher = Searcher(CLASSIC, DEFAULT, SearchLimits(ms=budget))
        found, seconds = play(searcher, range(1, games + 1))
        scores = found.scores
        error = scores.std(ddof=1) / np.sqrt(games)
        reached = ", ".join(
            f"{tile}: {(found.tiles >= tile).mean():.0%}" for tile in (4096, 8192, 16384, 32768)
        )
        print(
            f"heuristic:ms={budget}  seeds 1 to {games}  {scores.mean():,.0f} ± {error:,.0f}  "
            f"({reached})  {1000 * seconds / found.plies.sum():.2f} ms/move; 2048-ai {anchor}",
            flush=True,
        )


def main() -> None:
    """Measure what the command line asks for."""
    what, *more = sys.argv[1:] or ["speed"]
    if what == "strength":
        strength(int(more[0]) if more else 20)
    else:
        speed(DEFAULT, "heuristic")
        if more:
            speed(load(*more), "network")


if __name__ == "__main__":
    main()
