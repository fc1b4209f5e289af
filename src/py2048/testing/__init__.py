"""Checks for parts that users write themselves: does it keep the laws of its kind?

Each check raises `AssertionError` naming the broken law.
"""

from __future__ import annotations

from py2048.testing.players import check_player
from py2048.testing.stores import check_store

__all__ = ["check_player", "check_store"]
