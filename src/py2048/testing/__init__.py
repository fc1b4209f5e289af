"""Checks for parts that users write themselves: does it keep the laws of its kind?

Each check raises `AssertionError` naming the broken law, and is loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py2048.testing.players import check_player
    from py2048.testing.stores import check_store

__all__ = ["check_player", "check_store"]

_HOMES = {"check_player": "py2048.testing.players", "check_store": "py2048.testing.stores"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
