"""Computer players: the `Player` protocol, and a registry that creates players by name."""

from __future__ import annotations

from py2048.players.player import Chance, Meaning, Player, Unit, meaning_of
from py2048.players.registry import list_players, make_player

__all__ = ["Chance", "Meaning", "Player", "Unit", "list_players", "make_player", "meaning_of"]
