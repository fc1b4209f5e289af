"""Players: what chooses a direction, and the registry that makes one from a text."""

from __future__ import annotations

from py2048.players.player import Player, Unit, unit_of
from py2048.players.registry import list_players, make_player

__all__ = ["Player", "Unit", "list_players", "make_player", "unit_of"]
