"""Training, tournaments, and the benchmark of agents."""

from __future__ import annotations
