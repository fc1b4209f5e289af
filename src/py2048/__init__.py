"""py2048: the game 2048, to play it, to teach with it, to study it.

The names below are the public API; ``docs/reference`` describes them, and the layers behind
them are drawn in ``ARCHITECTURE.md``.
"""

from __future__ import annotations

from py2048.engine import Board, Direction, Motion, Slide
from py2048.errors import Py2048Error
from py2048.game import Game, Outcome, Record, Spawn, Turn
from py2048.players import Player, list_players, make_player
from py2048.rules import Merging, Rules, get_rules, list_rules

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
