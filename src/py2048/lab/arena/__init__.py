"""Tournaments: all players play the same games, on all CPU cores or on a Ray cluster."""

from __future__ import annotations

from py2048.lab.arena.jobs import GameResult as GameResult
from py2048.lab.arena.jobs import Job as Job
from py2048.lab.arena.pools import local_pool as local_pool
from py2048.lab.arena.statistics import PlayerSummary as PlayerSummary
from py2048.lab.arena.statistics import comparisons as comparisons
from py2048.lab.arena.statistics import summaries as summaries
from py2048.lab.arena.tournament import Results as Results
from py2048.lab.arena.tournament import Tournament as Tournament
from py2048.lab.arena.tournament import compare_players as compare_players
from py2048.lab.arena.tournament import run_tournament as run_tournament
