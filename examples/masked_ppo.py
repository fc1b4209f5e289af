"""Train a masked PPO agent briefly, and compare it with random play.

Requires the extra ``sb3``, which installs PyTorch::

    python examples/masked_ppo.py --steps 200000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

try:
    import gymnasium
    import numpy as np
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from stable_baselines3.common.vec_env import VecNormalize

    import py2048.envs  # noqa: F401  # registers the environments
except ModuleNotFoundError as error:
    print(f"{error.name} is missing: in a clone, pip install '.[sb3]'", file=sys.stderr)
    sys.exit(2)

ENVIRONMENT = "py2048/Classic-v0"
GAMMA = 0.99
OPTIONS: dict[str, Any] = {"observation": "onehot", "reward": "log"}

Policy = Callable[[np.ndarray, np.ndarray], int]
"""A function that chooses an action from an observation and its action mask."""


class Planes(BaseFeaturesExtractor):
    """Two layers of 2x2 convolutions over the one-hot planes."""

    def __init__(self, observation_space: gymnasium.spaces.Box, features: int = 256) -> None:
        super().__init__(observation_space, features)
        planes, rows, columns = observation_space.shape
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(planes, 64, 2),
            torch.nn.ReLU(),
            torch.nn.Conv2d(64, 64, 2),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(64 * (rows - 2) * (columns - 2), features),
            torch.nn.ReLU(),
        )

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """Compute the features, float32 `[batch, features]`."""
        return self.layers(planes)


def train(steps: int, seed: int) -> MaskablePPO:
    """Train an agent for `steps` steps in 16 environments."""
    envs = make_vec_env(ENVIRONMENT, n_envs=16, seed=seed, env_kwargs=OPTIONS)
    # With normalised rewards, the value loss does not dominate the policy loss.
    envs = VecNormalize(envs, norm_obs=False, gamma=GAMMA)
    agent = MaskablePPO(
        "CnnPolicy",
        envs,
        n_steps=256,
        batch_size=1024,
        n_epochs=4,
        learning_rate=5e-4,
        gamma=GAMMA,
        ent_coef=0.003,
        seed=seed,
        policy_kwargs={
            "features_extractor_class": Planes,
            "normalize_images": False,
            "net_arch": [],
        },
    )
    return agent.learn(steps)


def scores(policy: Policy, games: int, seed: int) -> np.ndarray:
    """Return the scores of `games` games, int64 `[games]`."""
    env = gymnasium.make(ENVIRONMENT, **OPTIONS)
    results = []
    for number in range(games):
        observation, info = env.reset(seed=seed if number == 0 else None)
        terminated = False
        while not terminated:
            action = policy(observation, info["action_mask"])
            observation, _, terminated, _, info = env.step(action)
        results.append(info["score"])
    return np.array(results)


def report(name: str, results: np.ndarray) -> None:
    """Print the mean score with its standard error."""
    error = results.std(ddof=1) / len(results) ** 0.5
    print(f"{name:<12} {results.mean():7.0f} ± {error:.0f} points over {len(results)} games")


def main() -> None:
    """Train, play, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200_000, help="environment steps to train")
    parser.add_argument("--games", type=int, default=200, help="games to compare")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    start = time.perf_counter()
    agent = train(arguments.steps, arguments.seed)
    print(f"trained {agent.num_timesteps:,} steps in {time.perf_counter() - start:.0f} s")

    chance = np.random.default_rng(arguments.seed)
    report("random", scores(lambda _, mask: int(chance.choice(np.flatnonzero(mask))), 200, 10**6))

    def learned(observation: np.ndarray, mask: np.ndarray) -> int:
        return int(agent.predict(observation, action_masks=mask, deterministic=False)[0])

    report("masked PPO", scores(learned, arguments.games, 10**6))


if __name__ == "__main__":
    main()
