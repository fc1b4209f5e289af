"""Other libraries that step many games at once on any JAX backend."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any


def is_here(module: str) -> bool:
    """Return whether a module is installed."""
    return importlib.util.find_spec(module) is not None


def _pgx(count: int) -> Callable[[Any], Any]:
    """Create a step function for pgx, compiled and with automatic resets."""
    jax: Any = importlib.import_module("jax")
    env = importlib.import_module("pgx").make("2048")
    renew = importlib.import_module("pgx.experimental").auto_reset(env.step, env.init)
    advance, split = jax.jit(jax.vmap(renew)), jax.jit(lambda key: jax.random.split(key, count))
    keys = iter(jax.random.split(jax.random.PRNGKey(1), 1 << 16))
    state = jax.jit(jax.vmap(env.init))(split(next(keys)))

    def step(actions: Any) -> None:
        nonlocal state
        state = jax.block_until_ready(advance(state, actions, split(next(keys))))

    return step


def _jumanji(count: int) -> Callable[[Any], Any]:
    """Create a step function for jumanji, compiled and with automatic resets."""
    jax: Any = importlib.import_module("jax")
    jumanji: Any = importlib.import_module("jumanji")
    wrappers: Any = importlib.import_module("jumanji.wrappers")
    env = wrappers.VmapAutoResetWrapper(jumanji.make("Game2048-v1"))
    advance = jax.jit(env.step)
    state, _ = jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(1), count))

    def step(actions: Any) -> None:
        nonlocal state
        state, told = advance(state, actions)
        jax.block_until_ready(told.observation)

    return step


PEERS = {"pgx": _pgx, "jumanji": _jumanji}
"""For each library, a function that creates a step function for a given number of games."""
