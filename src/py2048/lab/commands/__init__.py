"""The commands train, weights, evaluate, benchmark-agent, solve, tables, bench and warm-up."""

from __future__ import annotations
