"""Learners with a CPU-time budget: TD, DQN and MaskablePPO.

The trained agents play as ``py2048 benchmark-agent policy:learners:dqn`` (or ``ppo``), run in the
folder of ``dqn.zip`` with this folder in PYTHONPATH. DQN and PPO require the extra ``sb3``.
Everything runs in one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from py2048.core.rules import Rules
from py2048.envs import GameVectorEnv
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher

Actions = NDArray[np.int64]
Policy = Callable[[NDArray[np.uint8], NDArray[np.bool_]], Actions]
"""Chooses actions from exponents `[n, rows, columns]` and masks `[n, 4]`."""

GAMMA = 0.997
CHUNK = 20_000


class Budget:
    """A CPU-time budget for learning; evaluations do not count.

    Args:
        marks: When to evaluate, in seconds of CPU time, ascending; the last mark ends the budget.
        judge: Called with the policy, the seconds used and the moves made.
    """

    def __init__(
        self, marks: list[float], judge: Callable[[Policy, float, int], None] | None = None
    ) -> None:
        self._marks, self._judge = marks, judge
        self._began: float | None = None

    def is_spent(self, policy: Policy, moves: int) -> bool:
        """Evaluate when a mark is reached; return whether it was the last.

        The first call starts the clock.
        """
        if self._began is None:
            self._began = time.process_time()
        used = time.process_time() - self._began
        if used >= self._marks[0]:
            self._marks.pop(0)
            if self._judge:
                self._judge(policy, used, moves)
            self._began = time.process_time() - used
        return not self._marks


def train_td(rules: Rules, budget: Budget, seed: int = 1) -> None:
    """Train an n-tuple network by TD(0.5), with the default settings of `py2048 train`."""
    trainer = Trainer(TrainingConfig(rules_text=str(rules), seed=seed))
    trainer.prepare()

    def policy(boards: NDArray[np.uint8], _: NDArray[np.bool_]) -> Actions:
        searcher = Searcher(rules, trainer.network(), SearchLimits(depth=1))
        return np.asarray(searcher.rate(boards).argmax(axis=1))

    while not budget.is_spent(policy, trainer.moves):
        trainer.run(moves=CHUNK)


def train_sb3(name: str, rules: Rules, budget: Budget, seed: int = 1) -> Any:
    """Train ``dqn`` or ``ppo`` on points and one-hot planes; return the agent."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import DQN
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecNormalize

    from py2048.envs.stable_baselines import GameVecEnv

    class Watch(BaseCallback):
        def _on_step(self) -> bool:
            return not budget.is_spent(policy_of(self.model), self.num_timesteps)

    torch.set_num_threads(1)
    envs = GameVectorEnv(
        32, rules=rules, observation="onehot", autoreset_mode="SameStep", threads=1
    )
    # Normalize rewards, so that their size does not depend on the tiles.
    games = VecNormalize(GameVecEnv(envs), norm_obs=False, gamma=GAMMA)
    common: dict[str, Any] = {"gamma": GAMMA, "seed": seed, "device": "cpu"}
    common["policy_kwargs"] = {"net_arch": [256, 256]}
    if name == "ppo":
        agent: Any = MaskablePPO("MlpPolicy", games, n_steps=128, batch_size=1024, **common)
    else:
        agent = DQN(
            "MlpPolicy",
            games,
            buffer_size=200_000,
            batch_size=256,
            learning_rate=5e-4,
            train_freq=1,
            gradient_steps=2,
            target_update_interval=8_000,
            exploration_fraction=5e-4,
            **common,
        )
    return agent.learn(10**8, Watch())  # the budget ends it


def policy_of(agent: Any) -> Policy:
    """Return a policy that chooses the agent's preferred legal actions."""
    import torch

    planes = np.arange(agent.observation_space.shape[0])[:, None, None]

    def policy(boards: NDArray[np.uint8], masks: NDArray[np.bool_]) -> Actions:
        seen = (boards[:, None] == planes).astype(np.uint8)
        if not hasattr(agent, "q_net"):
            return np.array(agent.predict(seen, action_masks=masks, deterministic=True)[0])
        with torch.no_grad():
            values = agent.q_net(torch.as_tensor(seen)).numpy()
        return np.array(np.where(masks, values, -np.inf).argmax(axis=1))

    return policy


@cache
def _loaded(name: str) -> Policy:
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3 import DQN

    torch.set_num_threads(1)
    return policy_of({"dqn": DQN, "ppo": MaskablePPO}[name].load(name, device="cpu"))


def dqn(board: NDArray[np.int8], mask: NDArray[np.bool_]) -> int:
    """Choose an action with ``dqn.zip``."""
    return int(_loaded("dqn")(board[None].astype(np.uint8), mask[None])[0])


def ppo(board: NDArray[np.int8], mask: NDArray[np.bool_]) -> int:
    """Choose an action with ``ppo.zip``."""
    return int(_loaded("ppo")(board[None].astype(np.uint8), mask[None])[0])
