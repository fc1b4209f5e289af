"""n-tuple networks: layouts, weights files and evaluation; also the heuristic."""

from __future__ import annotations
