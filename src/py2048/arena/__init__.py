"""The arena: players on the same games, many of them, on many cores, and what came of it."""

from __future__ import annotations

from py2048.arena.contest import Contest, Results, compete
from py2048.arena.jobs import Done, Job, Played
from py2048.arena.pools import Pool, local_pool
from py2048.arena.summary import Comparison, Summary, comparisons, summaries

__all__ = [
    "Comparison",
    "Contest",
    "Done",
    "Job",
    "Played",
    "Pool",
    "Results",
    "Summary",
    "compare_players",
    "comparisons",
    "compete",
    "local_pool",
    "summaries",
]


def compare_players(contest: Contest, *, jobs: int | None = None) -> Results:
    """Play a contest on this machine.

    Args:
        contest: who plays what.
        jobs: in how many processes; by default one for each processor. With more than one, a script
            that calls this needs ``if __name__ == "__main__":`` around what it does.

    Raises:
        Py2048Error: if a player fails.
    """
    from contextlib import closing

    results = Results(contest)
    with closing(local_pool(jobs)) as pool:
        for _ in compete(results, pool):
            pass
    return results
