"""Measure the memory that a game takes, alone and in a batch."""

from __future__ import annotations

import gc
import importlib.util
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Contestant, Effort, Measurement

from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.engine.batch import BatchGames

MANY = 65_536
FEW = 50


def memory(_effort: Effort, _folder: Path) -> list[Measurement]:
    """Measure the bytes per game that NumPy and Python allocate."""
    rules = get_rules("classic")
    found = {
        "Game at its start": _bytes_of(lambda: [Game(rules, seed=n) for n in range(FEW)]) / FEW,
        "Game after 100 turns": _bytes_of(lambda: [_played(n) for n in range(FEW)]) / FEW,
        "batch of 65,536": _bytes_of(lambda: BatchGames(rules, MANY)) / MANY,
    }
    if importlib.util.find_spec("gymnasium") is not None:
        found["GameEnv"] = _bytes_of(lambda: [_env() for _ in range(FEW)]) / FEW
        found["VectorEnv of 65,536"] = _bytes_of(_vector) / MANY
    rows = tuple(Contestant(name, (size,)) for name, size in found.items())
    return [Measurement("memory", "bytes a game", rows, is_less_better=True)]


def _bytes_of(make: Callable[[], Any]) -> float:
    """Return the bytes that the result of `make` keeps allocated."""
    kept = [make()]  # the first call, which imports and compiles, is not counted
    del kept[:]
    gc.collect()
    tracemalloc.start()
    try:
        kept.append(make())
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def _played(seed: int) -> Game:
    game = Game(get_rules("classic"), seed=seed)
    while game.ply < 100 and (legal := game.legal_directions()):
        game.play(legal[-1])
    return game


def _env() -> Any:
    from py2048.envs.single import GameEnv

    env = GameEnv()
    env.reset(seed=1)
    return env


def _vector() -> Any:
    from py2048.envs.vector import GameVectorEnv

    envs = GameVectorEnv(MANY)
    return envs, envs.reset(seed=1)
