"""Commands: train, weights, evaluate, benchmark-agent, solve, tables, bench, warm-up."""

from __future__ import annotations
