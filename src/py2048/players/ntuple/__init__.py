"""Evaluation of boards by n-tuple networks, with their weights files, and by a heuristic."""

from __future__ import annotations
