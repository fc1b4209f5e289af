"""Measure how close TD, DQN and MaskablePPO come to the known optimum of small boards.

Usage: learners.py [BOARD…] [--learners NAME…] [--moves N] [--seeds N]

All learners get the same number of moves. For each board, every combination in `Learner.grid` is
first tried with seed 0 and a quarter of the moves. The settings with the least regret are then
trained with seeds 1 to N. Regret is exact, and measured on the same games for all learners.
Finished runs are kept in ``results/exact/learners.json`` and are not repeated. Learning uses one
thread. DQN and PPO require the extra ``sb3``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import cache, partial
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from exact import load_results, save_result
from numpy.typing import NDArray
from strength_page import table

from py2048 import Board, get_rules
from py2048.core.rules import Rules
from py2048.engine.batch import BatchGames
from py2048.engine.boards import tiles_of
from py2048.envs import GameVectorEnv
from py2048.lab.arena.statistics import estimate
from py2048.lab.commands.bench import processor
from py2048.lab.training.trainer import Trainer, TrainingConfig
from py2048.players.search.limits import SearchLimits
from py2048.players.search.searcher import Searcher
from py2048.players.solving import Solution, solve

Array = NDArray[Any]
Policy = Callable[[Array, Array], Array]
"""A function that chooses actions from exponents `[n, rows, columns]` and masks `[n, 4]`."""
Watch = Callable[[Policy], None]
"""A function that is called with the current policy whenever it should be evaluated."""

ENVS, GAMMA, LAYERS = 64, 0.997, [128, 128]
GAMES = 200
SHARES = 1 / 64, 1 / 16, 1 / 4, 1
"""Fractions of the training moves after which the policy is evaluated."""


def train_td(rules: Rules, marks: list[int], seed: int, watch: Watch, **settings: Any) -> None:
    """Train the default n-tuple network of `py2048 train`."""
    trainer = Trainer(TrainingConfig(rules_text=str(rules), seed=seed, **settings))

    def policy(boards: Array, _: Array) -> Array:
        searcher = Searcher(rules, trainer.network(), SearchLimits(depth=1))
        return np.asarray(searcher.rate(boards).argmax(axis=1))

    for mark in marks:
        trainer.run(moves=mark - trainer.moves)
        watch(policy)


def train_sb3(
    name: str, rules: Rules, marks: list[int], seed: int, watch: Watch, **settings: Any
) -> None:
    """Train ``DQN`` or ``MaskablePPO`` on points and one-hot planes."""
    import sb3_contrib
    import stable_baselines3
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecNormalize

    from py2048.envs.stable_baselines import GameVecEnv

    class AtMarks(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps >= left[0]:
                left.pop(0)
                watch(policy_of(self.model))
            return bool(left)

    torch.set_num_threads(1)
    envs = GameVectorEnv(
        ENVS, rules=rules, observation="onehot", autoreset_mode="SameStep", threads=1
    )
    # Normalize rewards, so that their size does not depend on the tiles.
    games, left = VecNormalize(GameVecEnv(envs), norm_obs=False, gamma=GAMMA), [*marks]
    algorithm = getattr(sb3_contrib, name, None) or getattr(stable_baselines3, name)
    common = {"policy_kwargs": {"net_arch": LAYERS}, "gamma": GAMMA, "seed": seed, "device": "cpu"}
    algorithm("MlpPolicy", games, **common, **settings).learn(marks[-1], AtMarks())


def policy_of(agent: Any) -> Policy:
    """Return a policy that chooses the agent's preferred legal actions."""
    import torch

    planes = np.arange(agent.observation_space.shape[0])[:, None, None]

    def policy(boards: Array, masks: Array) -> Array:
        seen = (boards[:, None] == planes).astype(np.uint8)
        if not hasattr(agent, "q_net"):
            return np.array(agent.predict(seen, action_masks=masks, deterministic=True)[0])
        with torch.no_grad():
            values = agent.q_net(torch.as_tensor(seen)).numpy()
        return np.array(np.where(masks, values, -np.inf).argmax(axis=1))

    return policy


class Learner(NamedTuple):
    """A learning algorithm.

    Attributes:
        title: Name in tables.
        train: Function that trains with a seed and settings, and calls a `Watch` after each number
            of moves in `marks`.
        grid: Values to try for each setting.
    """

    title: str
    train: Callable[..., None]
    grid: dict[str, tuple[Any, ...]]


DQN_GRID = {
    "learning_rate": (5e-4, 2e-3),
    "target_update_interval": (2_000, 8_000),
    "buffer_size": (100_000,),
    "batch_size": (256,),
    "train_freq": (1,),
    "gradient_steps": (4,),
}
PPO_GRID = {"learning_rate": (3e-4, 2e-3), "n_steps": (16, 64), "batch_size": (256,)}
LEARNERS = {
    "td": Learner("afterstate TD", train_td, {"lambda_": (0.0, 0.5), "learning_rate": (0.3, 1.0)}),
    "dqn": Learner("DQN", partial(train_sb3, "DQN"), DQN_GRID),
    "ppo": Learner("MaskablePPO", partial(train_sb3, "MaskablePPO"), PPO_GRID),
}


@cache
def values_of(solution: Solution, board: bytes) -> Array:
    """Return the value of each action on a board of exponents, or -inf if it is illegal."""
    exponents, values = np.frombuffer(board, np.uint8), np.full(4, -np.inf)
    rows = tiles_of(exponents.reshape(solution.rules.shape)).tolist()
    for direction, value in solution.move_values(Board(rows)).items():
        values[direction.value] = value
    return values


def regret_of(policy: Policy, solution: Solution) -> float:
    """Return a policy's mean regret per game, as a share of the optimum."""
    batch = BatchGames(solution.rules, GAMES, seed=2048, reset="disabled")
    actions, lost = np.zeros(GAMES, np.uint8), 0.0
    while (playing := np.flatnonzero(~batch.dones)).size:
        boards = batch.observe()[playing]
        actions[playing] = policy(boards, batch.legal_mask[playing])
        for board, action in zip(boards, actions[playing], strict=True):
            values = values_of(solution, board.tobytes())
            lost += values.max() - values[action]
        batch.step(actions)
    return lost / GAMES / solution.value


def run(
    solution: Solution, name: str, seed: int, settings: dict[str, Any], marks: list[int]
) -> dict[str, Any]:
    """Train once; return the regret after each number of moves in `marks`, and the CPU time."""
    key = f"{solution.rules} {name} {seed} {settings} {marks}"
    if known := load_results("learners").get(key):
        return known
    regrets, judging, began = [], 0.0, time.process_time()

    def watch(policy: Policy) -> None:
        nonlocal judging
        before = time.process_time()
        regrets.append(regret_of(policy, solution))
        judging += time.process_time() - before

    LEARNERS[name].train(solution.rules, marks, seed, watch, **settings)
    found = {"regrets": regrets, "seconds": time.process_time() - began - judging}
    save_result("learners", key, found)
    return found


def column(solution: Solution, name: str, moves: int, seeds: int) -> list[str]:
    """Search the settings of a learner and train it with all seeds; return a table column."""
    learner, marks = LEARNERS[name], [round(moves * share) for share in SHARES]
    grid = [dict(zip(learner.grid, each, strict=True)) for each in product(*learner.grid.values())]
    tried = [run(solution, name, 0, each, [moves // 4])["regrets"][-1] for each in grid]
    best = grid[tried.index(min(tried))]
    runs = [run(solution, name, seed, best, marks) for seed in range(1, seeds + 1)]
    shares = map(estimate, zip(*(run["regrets"] for run in runs), strict=True))
    cells = [f"{share.mean:.1%} ± {share.error:.1%}" for share in shares]
    chosen = ", ".join(f"{setting.strip('_')} {value:g}" for setting, value in best.items())
    return [learner.title, *cells, f"{fmean(run['seconds'] for run in runs):,.2g}", chosen]


def main() -> None:
    """Train, evaluate and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="*", default=["classic:size=2x3", "2x4"])
    parser.add_argument("--learners", nargs="+", default=[*LEARNERS], choices=LEARNERS)
    parser.add_argument("--moves", type=int, default=102_400)
    parser.add_argument("--seeds", type=int, default=5)
    wish = parser.parse_args()
    print(f"{wish.seeds} seeds on {processor()}, mean ± standard error")
    for board in wish.boards:
        solution = solve(get_rules(board))
        head = ["moves", *(f"{wish.moves * share:,.0f}" for share in SHARES)]
        columns = [column(solution, each, wish.moves, wish.seeds) for each in wish.learners]
        first, *rows = map(list, zip([*head, "CPU seconds", "settings"], *columns, strict=True))
        text = table(first, rows)
        print(f"\n`{board}`, optimum {solution.value:,.3f} points\n\n{text}", flush=True)


if __name__ == "__main__":
    main()
