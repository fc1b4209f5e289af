"""Rules as data: `Rules`, its parts, and the presets."""

from __future__ import annotations

from py2048.core.rules.parts import (
    BoardSum,
    EdgeSpawn,
    MergePoints,
    Merging,
    MovePoints,
    RandomSpawn,
    RandomStart,
    Scoring,
    Spawning,
    Weights,
    is_tile,
)
from py2048.core.rules.rules import Rules, get_rules, list_rules

__all__ = [
    "BoardSum",
    "EdgeSpawn",
    "MergePoints",
    "Merging",
    "MovePoints",
    "RandomSpawn",
    "RandomStart",
    "Rules",
    "Scoring",
    "Spawning",
    "Weights",
    "get_rules",
    "is_tile",
    "list_rules",
]
