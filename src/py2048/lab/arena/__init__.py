"""Tournaments: players on the same games, played on all cores or a cluster."""

from __future__ import annotations

from py2048.lab.arena.jobs import GameResult, Job, JobResult
from py2048.lab.arena.pools import Pool, local_pool
from py2048.lab.arena.statistics import Comparison, PlayerSummary, comparisons, summaries
from py2048.lab.arena.tournament import Results, Tournament, compare_players, run_tournament

__all__ = [
    "Comparison",
    "GameResult",
    "Job",
    "JobResult",
    "PlayerSummary",
    "Pool",
    "Results",
    "Tournament",
    "compare_players",
    "comparisons",
    "local_pool",
    "run_tournament",
    "summaries",
]
