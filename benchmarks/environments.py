"""How fast the Gymnasium environments step, one at a time and thousands together."""

from __future__ import annotations

import importlib
import importlib.util
import random
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from baselines import Environments, build
from measuring import Effort, Measurement, Stretch, race, stretch

from py2048.direction import Direction
from py2048.game import Game
from py2048.rules import get_rules

CLASSIC_ID = "py2048/Classic-v0"
ENVIRONMENTS = 65_536
C_CORE = "C environments, 1 core"
PEER, PEER_ID = "gymnasium_2048", "gymnasium_2048/TwentyFortyEight-v0"
PEER_NAME = "gymnasium-2048, the package"


def environments(effort: Effort, folder: Path) -> list[Measurement]:
    """Measure random actions, illegal ones included, with everything that Gymnasium returns.

    Raises:
        MissingExtraError: if Gymnasium is not installed.
    """
    importlib.import_module("py2048.envs")
    singles = _single_contestants(effort)
    base = PEER_NAME if PEER_NAME in singles else "Game, wrapped in Python"
    title = f"{ENVIRONMENTS:,} environments at once"
    return [
        race("one environment", singles, effort, unit="steps/s", base=base),
        race(title, _vectors(effort, folder), effort, unit="steps/s", base=C_CORE),
    ]


def _single_contestants(effort: Effort) -> dict[str, Stretch]:
    from gymnasium import make

    named = {
        "gymnasium.make": _steps_of(make(CLASSIC_ID)),
        "with Gymnasium's checker": _steps_of(make(CLASSIC_ID, disable_env_checker=False)),
        "one-hot observations": _steps_of(make(CLASSIC_ID, observation="onehot")),
        "Game, wrapped in Python": _wrapped_game(),
    }
    if importlib.util.find_spec(PEER) is not None:
        importlib.import_module(PEER)
        named[PEER_NAME] = _steps_of(make(PEER_ID))
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
    """Return what an environment would be that is written in Python around `Game`."""
    rules, seeds = get_rules("classic"), iter(range(1 << 62))
    actions, directions = _random_actions(200), tuple(Direction)
    game = Game(rules, seed=next(seeds))

    def some() -> int:
        nonlocal game
        for action in actions:
            direction = directions[action]
            if game.board.slide(direction).changed:
                game.play(direction)
            np.array(game.board.rows)
            if not game.legal_directions():
                game = Game(rules, seed=next(seeds))
        return len(actions)

    return some


def _vectors(effort: Effort, folder: Path) -> dict[str, Stretch]:
    found: dict[str, Stretch] = {}
    for threads, cores in {1: "1 core", effort.threads: f"{effort.threads} cores"}.items():
        found[f"VectorEnv.step, {cores}"] = _repeated(_vector(threads), effort)
        found[f"the same, SameStep, {cores}"] = _repeated(_vector(threads, "SameStep"), effort)
        library = build("environment_core.c", folder, "-shared", "-fPIC")
        if library is not None:
            step = Environments(library, ENVIRONMENTS, threads).step
            found[f"C environments, {cores}"] = _repeated(step, effort)
    return found


def _vector(threads: int, autoreset: str = "NextStep") -> Callable[[Any], Any]:
    from gymnasium import make_vec

    envs = make_vec(CLASSIC_ID, num_envs=ENVIRONMENTS, threads=threads, autoreset_mode=autoreset)
    envs.reset(seed=1)
    step: Callable[[Any], Any] = envs.step
    return step


def _repeated(step: Callable[[Any], Any], effort: Effort) -> Stretch:
    """Return the speed of stepping all environments with random actions."""
    chance = np.random.default_rng(1)
    actions = cycle([chance.integers(0, 4, ENVIRONMENTS) for _ in range(8)])
    for _ in range(200):
        step(next(actions))  # until games of all ages are among them

    def some() -> int:
        step(next(actions))
        return ENVIRONMENTS

    return stretch(some, effort.seconds)
