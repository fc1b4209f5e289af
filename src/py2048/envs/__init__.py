"""Gymnasium environments of every preset, one at a time or thousands together.

Importing this package registers the ids (``py2048/Classic-v0`` and so on) with Gymnasium, if it
is installed; `py2048.envs.functional` works without it. The classes are loaded at their first use::

    import gymnasium
    import py2048.envs

    env = gymnasium.make("py2048/Classic-v0")
    envs = gymnasium.make_vec("py2048/Classic-v0", num_envs=4096)
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from py2048.errors import MissingExtraError

if TYPE_CHECKING:
    from py2048.envs.options import Transition
    from py2048.envs.single import GameEnv
    from py2048.envs.state import GameState
    from py2048.envs.vector import GameVectorEnv

__all__ = ["GameEnv", "GameState", "GameVectorEnv", "Transition", "environment_ids"]

_HOMES = {
    "GameEnv": "single",
    "GameState": "state",
    "GameVectorEnv": "vector",
    "Transition": "options",
    "environment_ids": "registration",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "gymnasium":
            raise
        raise MissingExtraError(
            f"{__name__}.{name} needs Gymnasium, which is not installed: pip install py2048[rl]"
        ) from None


if find_spec("gymnasium") is not None:
    importlib.import_module(f"{__name__}.registration").register_all()
