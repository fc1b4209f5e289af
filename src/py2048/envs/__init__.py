"""Gymnasium environments for every preset, with one game or with many games.

Importing this package registers the ids (``py2048/Classic-v0`` and so on) with Gymnasium if it is
installed. `py2048.envs.functional` works without Gymnasium. Classes are imported on first use::

    import gymnasium
    import py2048.envs

    env = gymnasium.make("py2048/Classic-v0")
    envs = gymnasium.make_vec("py2048/Classic-v0", num_envs=4096)
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from py2048.core.errors import extra_for
from py2048.core.rules import list_rules

if TYPE_CHECKING:
    from py2048.envs.options import Transition
    from py2048.envs.single import GameEnv, GameState
    from py2048.envs.vector import GameVectorEnv

__all__ = ["GameEnv", "GameState", "GameVectorEnv", "Transition", "environment_ids"]

_HOMES = {
    "GameEnv": "single",
    "GameState": "single",
    "GameVectorEnv": "vector",
    "Transition": "options",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with extra_for(f"{__name__}.{name}", "rl"):
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def environment_ids() -> dict[str, str]:
    """Map preset names to environment ids, such as ``qsan_qarut`` to ``py2048/QsanQarut-v0``."""
    names = {rules.name: rules.name.split("_") for rules in list_rules()}
    return {
        name: f"py2048/{''.join(map(str.capitalize, parts))}-v0" for name, parts in names.items()
    }


def register_all() -> None:
    """Register every preset with Gymnasium, once.

    By default, `gymnasium.make` does not wrap these environments in ``OrderEnforcing`` or
    ``PassiveEnvChecker``, because they check the order of calls themselves and the tests run
    Gymnasium's checker.
    """
    import gymnasium

    for name, identifier in environment_ids().items():
        if identifier not in gymnasium.registry:
            gymnasium.register(
                identifier,
                entry_point="py2048.envs.single:GameEnv",
                vector_entry_point="py2048.envs.vector:GameVectorEnv",
                order_enforce=False,
                disable_env_checker=True,
                kwargs={"rules": name},
            )


if find_spec("gymnasium") is not None:
    register_all()
