"""Conformance checks for your own players and stores.

Each check raises `AssertionError` with a message that names the violated rule.
"""

from __future__ import annotations

from py2048.testing.players import check_player
from py2048.testing.stores import check_store

__all__ = ["check_player", "check_store"]
