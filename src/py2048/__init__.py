"""py2048: the game 2048, to play it, to teach with it, to study it.

The names below are the public API; ``docs/reference`` describes them, and the layers behind
them are drawn in ``ARCHITECTURE.md``. A name is loaded when it is first used: who opens a
window or reads one module does not wait for the others.
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

_HOMES = {
    "core.board": ("Board", "Motion", "Slide"),
    "core.direction": ("Direction",),
    "core.errors": ("Py2048Error",),
    "core.game": ("Game", "Outcome", "Record", "Spawn", "Turn"),
    "players": ("Player", "list_players", "make_player"),
    "core.rules": ("Merging", "Rules", "get_rules", "list_rules"),
}
"""Where the names above come from."""


def __getattr__(name: str) -> Any:
    """Load a public name, or one of the packages that hold them."""
    from importlib import import_module

    if name in ("core", "players"):
        return import_module(f"{__name__}.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names that users see: what is loaded already and the public API."""
    return sorted({*globals(), *__all__})
