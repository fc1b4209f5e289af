"""Rules as data: `Rules`, its parts, and the presets."""

from __future__ import annotations

from py2048.rules.parts import (
    BoardSum,
    EdgeSpawn,
    Merging,
    MergePoints,
    MovePoints,
    RandomSpawn,
    RandomStart,
    Scoring,
    Spawning,
    Weights,
    is_tile,
)
from py2048.rules.presets import get_rules, list_rules
from py2048.rules.rules import Rules

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
