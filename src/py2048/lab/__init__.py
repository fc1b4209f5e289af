"""Training, tournaments and benchmarks of players, with their commands."""

from __future__ import annotations
