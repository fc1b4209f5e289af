"""`GameVecEnv`, which adapts the vector environment to Stable-Baselines3's `VecEnv`.

::

    from sb3_contrib import MaskablePPO

    from py2048.envs import GameVectorEnv
    from py2048.envs.stable_baselines import GameVecEnv

    envs = GameVectorEnv(256, observation="onehot", reward="log", autoreset_mode="SameStep")
    MaskablePPO("MlpPolicy", GameVecEnv(envs)).learn(100_000)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from py2048.core.errors import extra_for
from py2048.envs.options import Array, Info, OptionError
from py2048.envs.vector import GameVectorEnv

with extra_for("environments of Stable-Baselines3", "sb3"):
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv


class GameVecEnv(VecEnv):
    """Games of 2048 for Stable-Baselines3, with action masks for MaskablePPO.

    Args:
        envs: The games, with ``autoreset_mode='SameStep'``.

    Raises:
        OptionError: If `envs` has an autoreset mode other than ``SameStep``.
    """

    def __init__(self, envs: GameVectorEnv) -> None:
        if envs.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise OptionError("Stable-Baselines3 needs autoreset_mode='SameStep'")
        self.envs = envs
        self.render_mode = envs.render_mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Array:
        """Start all games, using the seeds set by `seed` and the options set by `set_options`.

        Raises:
            OptionError: If different options were set for different games.
        """
        seeds = None if all(each is None for each in self._seeds) else self._seeds
        options = self._options[0]
        if any(self._options) and any(each is not options for each in self._options):
            raise OptionError("the games of a vector share their options: give one dict")
        observations, infos = self.envs.reset(seed=seeds, options=options)
        self._masks: NDArray[np.int8] = infos["action_mask"]
        self.reset_infos: list[Info] = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        self._lengths, self._returns = np.zeros(self.num_envs, int), np.zeros(self.num_envs)
        return observations

    def step_async(self, actions: NDArray[np.integer]) -> None:
        """Store the actions for the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[Info]]:
        """Play the stored actions. Finished games have an ``episode`` info, as with `Monitor`."""
        observations, rewards, ends, cuts, infos = self.envs.step(self._actions)
        self._masks = infos["action_mask"]
        self._lengths += 1
        self._returns += rewards
        dones = ends | cuts
        results: list[Info] = [{} for _ in range(self.num_envs)]
        for n in np.flatnonzero(dones):
            results[n] = {
                "terminal_observation": infos["final_obs"][n],
                "TimeLimit.truncated": bool(cuts[n] and not ends[n]),
                "episode": {"r": float(self._returns[n]), "l": int(self._lengths[n])},
                "score": int(infos["final_info"]["score"][n]),
            }
        self._lengths[dones], self._returns[dones] = 0, 0
        return observations, rewards.astype(np.float32), dones, results

    def close(self) -> None:
        """Close the environments."""
        self.envs.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions in each game, `[num_envs, 4]`."""
        return self._masks.astype(bool)

    def has_attr(self, attr_name: str) -> bool:
        """Return whether an attribute exists; ``action_masks`` always does."""
        return attr_name == "action_masks" or hasattr(self.envs, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return the shared value of an attribute, repeated for each game."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, _value: Any, _indices: Any = None) -> None:
        """Raise an error, because attributes cannot be set for single games."""
        raise OptionError(f"{attr_name} is the same for all games of a vector: make another")

    def env_method(
        self, method_name: str, *_args: Any, indices: Any = None, **_options: Any
    ) -> list[Any]:
        """Return the action masks. No other method is supported."""
        if method_name != "action_masks":
            raise OptionError(f"a game of a vector has no {method_name}(), only action_masks()")
        masks = self.action_masks()
        return [masks[n] for n in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None
    ) -> list[bool]:
        """Return true only for `Monitor`, because infos already contain episode statistics."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Array | None]:
        """Return an image of each game if ``render_mode='rgb_array'``, and otherwise nothing."""
        return self.envs.render() or ()
