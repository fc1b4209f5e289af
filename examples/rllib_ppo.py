"""Train RLlib's PPO on many games at once, with action masks.

In a clone, ``pip install '.[rl]' "ray[rllib]" torch`` installs the libraries::

    python examples/rllib_ppo.py --iterations 20
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

try:
    import gymnasium
    import numpy as np
    from gymnasium.spaces import Box, Dict
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    from py2048.envs import GameVectorEnv
except ModuleNotFoundError as error:
    line = 'in a clone, pip install ".[rl]" "ray[rllib]" torch'
    print(f"{error.name} is missing: {line}", file=sys.stderr)
    sys.exit(2)


class MaskedGames(gymnasium.vector.VectorWrapper):
    """Games with flat observations and action masks, which RLlib's module expects.

    RLlib passes the number of games in `options`, and expects finished episodes to restart at the
    next step.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(GameVectorEnv(**options, autoreset_mode="NextStep"))
        size = int(np.prod(self.env.single_observation_space.shape))
        parts = {"observations": Box(0, 1, (size,)), "action_mask": Box(0, 1, (4,))}
        self.single_observation_space = Dict(parts)
        self.observation_space = gymnasium.vector.utils.batch_space(Dict(parts), self.num_envs)

    def reset(self, **options: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start new games."""
        boards, infos = self.env.reset(**options)
        return self._masked(boards, infos), infos

    def step(self, actions: np.ndarray) -> tuple[dict[str, np.ndarray], Any, Any, Any, Any]:
        """Play one action in each game."""
        boards, *told, infos = self.env.step(actions)
        return self._masked(boards, infos), *told, infos

    def _masked(self, boards: np.ndarray, infos: dict[str, Any]) -> dict[str, np.ndarray]:
        flat = boards.reshape(self.num_envs, -1).astype(np.float32)
        return {"observations": flat, "action_mask": infos["action_mask"].astype(np.float32)}


def config(games: int, **options: Any) -> PPOConfig:
    """Return PPO settings that step all games in this process."""
    options = {"observation": "onehot", "reward": "log"} | options
    return (
        PPOConfig()
        .environment(MaskedGames, env_config=options)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=games,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(
            train_batch_size_per_learner=4096,
            minibatch_size=1024,
            num_epochs=4,
            gamma=0.99,
            lr=5e-4,
            entropy_coeff=0.003,
        )
    )


def main() -> None:
    """Train and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--games", type=int, default=64, help="games at once")
    parser.add_argument("--rules", default="classic")
    arguments = parser.parse_args()
    algorithm = config(arguments.games, rules=arguments.rules).build_algo()
    for _ in range(arguments.iterations):
        told = algorithm.train()["env_runners"]
        print(f"{told['num_env_steps_sampled_lifetime']:,.0f} steps", end=", ")
        print(f"return {told['episode_return_mean']:.1f}, {told['episode_len_mean']:.0f} moves")


if __name__ == "__main__":
    main()
