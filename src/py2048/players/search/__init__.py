"""Search: expectimax and planning."""

from __future__ import annotations
