"""n-tuple networks: layout, weights files, values, temporal-difference learning; a heuristic."""

from __future__ import annotations
