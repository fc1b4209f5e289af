"""The behaviour signature: one number that changes when any game would go another way."""

from __future__ import annotations

import numpy as np

from py2048.compiled.batch import BatchGames
from py2048.rules import list_rules

STEPS = 200
GAMES = 48


def behaviour_signature(steps: int = STEPS, games: int = GAMES) -> int:
    """Return the signature of fixed random games of every preset, a whole number below 2**64.

    It covers rules, starts, slides, points, spawns, ends and the generator, as the compiled
    engine computes them. A change that alters it changes what players and records mean: say so.

    Args:
        steps: how many steps to play.
        games: how many games of each preset.
    """
    signature = np.uint64(0)
    for number, rules in enumerate(list_rules()):
        batch = BatchGames(rules, games, seed=number, threads=1)
        batch.play_random(steps)
        for array in (batch.observe(), batch.scores, batch.last_scores, batch.episodes):
            signature = _digest(signature, array)
    return int(signature)


def _digest(start: np.uint64, array: np.ndarray) -> np.uint64:
    """Return a number that depends on `start` and on every element in its place (FNV-1a)."""
    prime, value = 0x100000001B3, int(start) ^ 0xCBF29CE484222325
    for byte in np.ascontiguousarray(array).tobytes():
        value = (value ^ byte) * prime & 2**64 - 1
    return np.uint64(value)
