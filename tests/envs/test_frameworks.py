"""RL libraries accept and train on the environments."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch")

from py2048.envs import GameVectorEnv  # noqa: E402 - after what may be missing
from py2048.envs.options import OptionError  # noqa: E402

torch.set_num_threads(1)
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "train-with-gymnasium.md"


def script(library: str) -> str:
    """Return the documentation's script for a library, with a shorter training."""
    blocks = PAGE.read_text(encoding="utf-8").split("```py\n")[1:]
    code = next(each.partition("```")[0] for each in blocks if f"from {library}" in each)
    return code.replace("100_000", "2048")


@pytest.mark.filterwarnings("ignore::UserWarning")  # the checker takes planes for pixels
def test_the_script_for_stable_baselines_runs_as_written(capsys) -> None:
    """The SB3 script prints a mean reward, and SB3's checker accepts its environment."""
    pytest.importorskip("sb3_contrib")
    from stable_baselines3.common.env_checker import check_env

    exec(script("sb3_contrib"), {})
    assert float(capsys.readouterr().out) > 0
    check_env(gymnasium.make("py2048/Classic-v0", observation="onehot", reward="log"))


def test_masked_ppo_learns_on_many_games() -> None:
    """MaskablePPO trains on the vector environment and gets complete episode infos."""
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
    envs.set_options({"boards": first[::-1]})
    assert (envs.reset() == first[::-1]).all()
    envs.set_options([{"boards": first}, *({} for _ in range(15))])
    with pytest.raises(OptionError, match="share their options"):
        envs.reset()
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


@pytest.mark.filterwarnings("ignore")  # its own
@pytest.mark.parametrize("mode", ["Disabled", "SameStep"])
def test_torchrl_accepts_and_trains_on_what_our_script_makes(mode: str) -> None:
    """TorchRL's check passes, and its ActionMask allows legal actions only."""
    pytest.importorskip("torchrl")
    from torchrl.envs.utils import check_env_specs

    found: dict[str, Any] = {}
    code = script("torchrl").replace("Disabled", mode)
    if mode == "SameStep":  # as the page says
        code = code.replace(".auto_register_info_dict()", "")
    exec(code, found)
    check_env_specs(found["env"])
    played = found["env"].rollout(150, break_when_any_done=False)
    assert played["next", "done"].any()
    for batch in (found["batch"], played):
        assert not (batch["action"].bool() & ~batch["action_mask"]).any()


def test_pufferlib_s_buffers_are_filled_as_ours() -> None:
    """Two PufferLib copies fill one buffer with our environment's outputs."""
    vector = pytest.importorskip("pufferlib.vector")
    games = runpy.run_path(str(ROOT / "examples" / "pufferlib_games.py"))["Games"]
    kind, kwargs = vector.Serial, {"count": 512}
    puffer = vector.make(games, env_kwargs=kwargs, backend=kind, num_envs=2)
    puffer.reset(seed=3)
    ours, ended = [GameVectorEnv(512, illegal="penalty") for _ in range(2)], 0
    for n, each in enumerate(ours):
        each.reset(seed=3 + n)
    for step in range(200):
        actions = np.random.default_rng(step).integers(0, 4, 1024)
        shown = puffer.step(actions)
        wanted = [each.step(part) for each, part in zip(ours, np.split(actions, 2), strict=True)]
        for part, got in enumerate(shown[:4]):
            assert (got == np.concatenate([each[part] for each in wanted])).all()
        ended += shown[2].sum()
    assert ended


def test_rllib_trains_on_many_games_with_masks():
    """RLlib accepts the example's spaces, and PPO chooses legal actions."""
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
