"""Board evaluation by n-tuple networks and by a heuristic."""

from __future__ import annotations
