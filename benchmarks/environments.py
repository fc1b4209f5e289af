"""Measure the environments and, for comparison, the bare batch, other libraries and C.

PufferLib's core is compiled from its source, in the folder named by the variable PUFFERLIB.
"""

from __future__ import annotations

import importlib
import os
import random
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from baselines import Environments, PufferGames, build
from measuring import Effort, Measurement, Stretch, race, stretch
from peers import PEERS, is_here

from py2048.core.direction import Direction
from py2048.core.game import Game
from py2048.core.rules import get_rules
from py2048.engine.batch import BatchGames
from py2048.envs import functional

CLASSIC_ID, CLASSIC = "py2048/Classic-v0", get_rules("classic")
COUNTS = 1024, 65_536
BATCH, WRAPPED = "the bare batch", "Game, wrapped in Python"
WARM_UP = 200
"""Number of untimed steps at the start, so that games of all ages are in progress."""
MODES: dict[str, dict[str, Any]] = {
    "NextStep": {"autoreset_mode": "NextStep"},
    "SameStep": {"autoreset_mode": "SameStep"},
    "NextStep, one-hot": {"autoreset_mode": "NextStep", "observation": "onehot"},
}


def environments(effort: Effort, folder: Path) -> list[Measurement]:
    """Measure steps with random actions, some of them illegal, and all Gymnasium outputs.

    Raises:
        MissingExtraError: If Gymnasium is not installed.
    """
    importlib.import_module("py2048.envs")
    found = [race("one environment", _singles(effort), effort, unit="steps/s", base=WRAPPED)]
    for count in COUNTS:
        title = f"{count:,} environments at once"
        contestants = _vectors(count, effort, folder)
        found.append(race(title, contestants, effort, unit="steps/s", base=f"{BATCH}, 1 core"))
    return found


# --- one at a time --------------------------------------------------------------------------------


def _singles(effort: Effort) -> dict[str, Stretch]:
    from gymnasium import make

    named = {
        "gymnasium.make": _steps_of(make(CLASSIC_ID)),
        WRAPPED: _wrapped_game(),
    }
    if is_here("gymnasium_2048"):
        importlib.import_module("gymnasium_2048")
        peer = make("gymnasium_2048/TwentyFortyEight-v0")
        named["gymnasium-2048, the package"] = _steps_of(peer)
    if is_here("pyspiel"):
        named["OpenSpiel, no arrays"] = _open_spiel()
    return {name: stretch(some, effort.seconds) for name, some in named.items()}


def _random_actions(count: int) -> list[int]:
    chance = random.Random(1)
    return [chance.randrange(4) for _ in range(count)]


def _steps_of(env: Any) -> Callable[[], int]:
    actions = _random_actions(200)
    env.reset(seed=1)

    def some() -> int:
        step, reset = env.step, env.reset
        for action in actions:
            told = step(action)
            if told[2] or told[3]:
                reset()
        return len(actions)

    return some


def _wrapped_game() -> Callable[[], int]:
    """Step an environment written in plain Python around `Game`."""
    seeds = iter(range(1 << 62))
    actions, directions = _random_actions(200), tuple(Direction)
    game = Game(CLASSIC, seed=next(seeds))

    def some() -> int:
        nonlocal game
        for action in actions:
            direction = directions[action]
            if game.board.slide(direction).changed:
                game.play(direction)
            np.array(game.board.rows)
            if not game.legal_directions():
                game = Game(CLASSIC, seed=next(seeds))
        return len(actions)

    return some


def _open_spiel() -> Callable[[], int]:
    """Step OpenSpiel's game, which accepts only legal actions."""
    game: Any = importlib.import_module("pyspiel").load_game("2048")
    chance, state = random.Random(1), game.new_initial_state()

    def some() -> int:
        nonlocal state
        steps = 0
        while steps < 100:
            if state.is_terminal():
                state = game.new_initial_state()
            steps += not state.is_chance_node()
            state.apply_action(chance.choice(state.legal_actions()))
        return steps

    return some


# --- many at a time -------------------------------------------------------------------------------


def _vectors(count: int, effort: Effort, folder: Path) -> dict[str, Stretch]:
    """Return the contestants that step `count` games at once."""
    found: dict[str, Callable[[Any], Any]] = {}
    for threads in sorted({1, effort.threads}):
        cores = f"{threads} core{'s' * (threads > 1)}"
        found[f"{BATCH}, {cores}"] = BatchGames(CLASSIC, count, threads=threads).step
        for name, options in MODES.items():
            found[f"{name}, {cores}"] = _vector(count, threads, options)
        library = build("environment_core.c", folder, "-shared", "-fPIC")
        if library is not None:
            found[f"C environments, {cores}"] = Environments(library, count, threads).step
    found["functional.step"] = _functional(count)
    found |= {name: peer(count) for name, peer in PEERS.items() if is_here(name)}
    if source := os.environ.get("PUFFERLIB"):
        found["PufferLib's core, 1 core"] = PufferGames(source, folder, count).step
    return {
        name: _repeated(step, count, effort, 10 if name in PEERS else WARM_UP)
        for name, step in found.items()
    }


def _vector(count: int, threads: int, options: dict[str, Any]) -> Callable[[Any], Any]:
    from gymnasium import make_vec

    envs = make_vec(CLASSIC_ID, num_envs=count, threads=threads, **options)
    envs.reset(seed=1)
    step: Callable[[Any], Any] = envs.step
    return step


def _functional(count: int) -> Callable[[Any], Any]:
    """Step boards with the functional API; finished boards do not change."""
    boards = functional.reset(CLASSIC, range(count))
    draws = cycle([functional.draws_of(range(count), ply) for ply in range(8)])

    def step(actions: Any) -> None:
        nonlocal boards
        boards, _, _ = functional.step(CLASSIC, boards, actions, next(draws))

    return step


def _repeated(step: Callable[[Any], Any], count: int, effort: Effort, warm_up: int) -> Stretch:
    """Measure steps of all games with random actions."""
    chance = np.random.default_rng(1)
    actions = cycle([chance.integers(0, 4, count) for _ in range(8)])
    for _ in range(warm_up):
        step(next(actions))

    def some() -> int:
        step(next(actions))
        return count

    return stretch(some, effort.seconds)
