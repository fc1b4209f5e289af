"""2048 in PufferLib's native interface, which has no action masks.

PufferLib 3.0.0 requires an older NumPy than py2048, so run it from source, through PYTHONPATH::

    python examples/pufferlib_games.py
"""

from __future__ import annotations

import sys
from typing import Any

try:
    import numpy as np
    import pufferlib
    import pufferlib.vector

    from py2048.envs import GameVectorEnv
except ModuleNotFoundError as error:
    print(f"{error.name} is missing: it is PufferLib's or of the extra rl", file=sys.stderr)
    sys.exit(2)


class Games(pufferlib.PufferEnv):
    """Games that write their outputs to PufferLib's buffers."""

    def __init__(self, count: int = 4096, buf: Any = None, seed: int = 0) -> None:  # noqa: ARG002
        self.envs = GameVectorEnv(count, illegal="penalty")
        self.single_observation_space = self.envs.single_observation_space
        self.single_action_space = self.envs.single_action_space
        self.num_agents = count
        super().__init__(buf)
        names = "observations", "rewards", "terminations", "truncations"
        buffers = self.observations, self.rewards, self.terminals, self.truncations
        self.out = dict(zip(names, buffers, strict=True))

    def reset(self, seed: int = 0) -> tuple[np.ndarray, list[Any]]:
        """Start all games."""
        self.observations[:] = self.envs.reset(seed=seed)[0]
        return self.observations, []

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        """Play one action per game; report the scores of finished games."""
        infos = self.envs.step(actions, out=self.out)[-1]
        ended = infos["final_info"]["score"][infos["_final_obs"]] if "final_obs" in infos else []
        return *self.out.values(), [{"score": score} for score in ended]

    def close(self) -> None:
        """Close the games."""
        self.envs.close()


def main() -> None:
    """Play random moves and print the mean score."""
    games, chance = pufferlib.vector.make(Games), np.random.default_rng(1)
    games.reset(1)
    ended = [games.step(chance.integers(0, 4, 4096))[-1] for _ in range(300)]
    print(np.mean([each["score"] for infos in ended for each in infos]))


if __name__ == "__main__":
    main()
