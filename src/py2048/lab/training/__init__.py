"""Temporal-difference learning of networks and their bands from games and saved boards."""

from __future__ import annotations
