"""What others train with takes our environments as they are, by its own checker and in training."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch")

from py2048.envs import GameVectorEnv  # noqa: E402 - after what may be missing
from py2048.envs.options import OptionError  # noqa: E402

ROOT = Path(__file__).parents[2]


def test_masked_ppo_learns_on_many_games() -> None:
    """MaskablePPO trains on the vector environment; ends tell the return, the length, the board."""
    contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.evaluation import evaluate_policy

    from py2048.envs.stable_baselines import GameVecEnv

    def games(count: int) -> GameVecEnv:
        envs = GameVectorEnv(count, "2x4", reward="log", autoreset_mode="SameStep", threads=1)
        return GameVecEnv(envs)

    envs = games(16)
    envs.seed(5)
    first = envs.reset().copy()
    envs.seed(5)
    assert (envs.reset() == first).all()
    told, rewards, lengths = [], np.zeros(16), np.zeros(16, int)
    while len(told) < 20:
        masks = np.stack(envs.env_method("action_masks"))
        _, reward, dones, infos = envs.step(masks.argmax(axis=1))
        rewards, lengths = rewards + reward, lengths + 1
        for n in np.flatnonzero(dones):
            told.append(infos[n]["episode"])
            assert told[-1]["r"] == pytest.approx(rewards[n], rel=1e-5)
            assert told[-1]["l"] == lengths[n]
            assert infos[n]["terminal_observation"].shape == (2, 4)
        rewards[dones], lengths[dones] = 0, 0
    model = contrib.MaskablePPO("MlpPolicy", games(16), n_steps=32, batch_size=128, seed=1)
    model.learn(1024)
    assert model.num_timesteps == 1024
    with warnings.catch_warnings(action="error"):
        assert evaluate_policy(model, games(4), 8)[0] > 0  # as if a Monitor were there
    with pytest.raises(OptionError, match="SameStep"):
        GameVecEnv(GameVectorEnv(2, autoreset_mode="NextStep"))


def test_torchrl_checks_and_masks_the_vector_environment() -> None:
    """Its own check passes, and its ActionMask leaves legal actions only."""
    envs = pytest.importorskip("torchrl.envs")
    from torchrl.envs.utils import check_env_specs

    games = envs.GymWrapper(GameVectorEnv(8, "2x4", threads=1))
    cast = envs.DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
    masked = envs.TransformedEnv(games, envs.Compose(cast, envs.ActionMask()))
    check_env_specs(masked)
    played = masked.rollout(60, break_when_any_done=False)
    assert played["next", "done"].any()
    chosen, legal = played["action"].bool(), played["action_mask"]
    assert (chosen & ~legal).sum() == 0


def test_rllib_trains_on_many_games_with_masks():
    """Our example's vector passes Gymnasium's rules for spaces, and PPO chooses legal actions."""
    pytest.importorskip("ray.rllib")
    example = runpy.run_path(str(ROOT / "examples" / "rllib_ppo.py"))
    games = example["MaskedGames"]({"rules": "2x4", "num_envs": 8, "observation": "onehot"})
    shown = games.reset(seed=1)[0]
    for number in range(40):
        assert shown in games.observation_space
        shown = games.step(np.arange(number, number + 8) % 4)[0]
    options = {"rules": "2x4", "reward": "log", "illegal": "raise", "threads": 1}
    config = example["config"](8, **options).training(train_batch_size_per_learner=256)
    algorithm = config.training(minibatch_size=128).build_algo()
    try:
        told = algorithm.train()["env_runners"]
        algorithm.env_runner.assert_healthy()
    finally:
        algorithm.stop()
    assert told["episode_len_mean"] > 5
