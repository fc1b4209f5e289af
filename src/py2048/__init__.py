"""py2048: play, teach and study the game 2048.

The names below are the public API, described in ``docs/reference``; ``ARCHITECTURE.md`` shows the
layers behind it. Names are loaded on first use, so ``import py2048`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py2048.core.board import Board, Motion, Slide
    from py2048.core.direction import Direction
    from py2048.core.errors import Py2048Error
    from py2048.core.game import Game, Outcome, Record, Spawn, Turn
    from py2048.core.rules import Merging, Rules, get_rules, list_rules
    from py2048.players import Player, list_players, make_player

__version__ = "0.1.0"

__all__ = [
    "Board",
    "Direction",
    "Game",
    "Merging",
    "Motion",
    "Outcome",
    "Player",
    "Py2048Error",
    "Record",
    "Rules",
    "Slide",
    "Spawn",
    "Turn",
    "get_rules",
    "list_players",
    "list_rules",
    "make_player",
]

_MODULES = {
    "core.board": ("Board", "Motion", "Slide"),
    "core.direction": ("Direction",),
    "core.errors": ("Py2048Error",),
    "core.game": ("Game", "Outcome", "Record", "Spawn", "Turn"),
    "players": ("Player", "list_players", "make_player"),
    "core.rules": ("Merging", "Rules", "get_rules", "list_rules"),
}
"""The module that defines each public name."""


def __getattr__(name: str) -> Any:
    """Load a public name or subpackage on first access."""
    from importlib import import_module

    if name in ("core", "players"):
        return import_module(f"{__name__}.{name}")
    for home, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the loaded names and the public API."""
    return sorted({*globals(), *__all__})
