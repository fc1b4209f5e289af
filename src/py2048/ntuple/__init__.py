"""n-tuple networks: layout, weight files, values, learning by temporal differences; a heuristic."""

from __future__ import annotations
