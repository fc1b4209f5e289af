"""n-tuple networks (layouts, weights files, evaluation) and the heuristic."""

from __future__ import annotations
