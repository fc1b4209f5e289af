"""Temporal-difference learning: trains networks and bands from games and saved boards."""

from __future__ import annotations
