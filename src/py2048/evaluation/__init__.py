"""Evaluations: estimates of the points still to come."""

from __future__ import annotations

from py2048.evaluation.heuristic import board_value, line_value

__all__ = ["board_value", "line_value"]
