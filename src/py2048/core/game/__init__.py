"""Games, their turns, and their records."""

from __future__ import annotations

from py2048.core.game.game import Game
from py2048.core.game.record import Record
from py2048.core.game.turn import Outcome, Position, Spawn, Turn

__all__ = ["Game", "Outcome", "Position", "Record", "Spawn", "Turn"]
