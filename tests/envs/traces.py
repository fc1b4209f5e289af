"""Golden traces: each environment id's outputs for one seed, as a hash.

``python -m tests.envs.traces`` rewrites them. Ids are frozen: a change of behaviour needs a new
version of the id, with its own trace.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import gymnasium

from py2048.envs import environment_ids

FILE = Path(__file__).with_name("traces.json")
SEED, STEPS = 2048, 150
OPTIONS: list[dict[str, Any]] = [
    {},
    {"observation": "onehot", "reward": "log", "illegal": "penalty"},
    {"observation": "normalised", "illegal": "terminate"},
]


def trace(identifier: str) -> dict[str, object]:
    """Return final scores, the last board and a hash of all outputs.

    Single games and three at once, with every kind of observation and some illegal actions.
    """
    scores, digest = [], hashlib.sha256()
    for options in OPTIONS:
        env = gymnasium.make(identifier, **options)
        envs = gymnasium.make_vec(identifier, num_envs=3, **options)
        space = env.observation_space
        shown: list[Any] = [space.dtype.str, space.low.min(), space.high.max()]
        shown += [env.reset(seed=SEED), envs.reset(seed=SEED)]
        for step in range(STEPS):
            action = step * 7 // 3 % 4
            told = env.step(action)
            shown += [told, envs.step([action, step % 4, step % 3])]
            if told[2]:
                scores.append(told[4]["score"])
                shown.append(env.reset())
        text = json.dumps(shown, default=lambda array: array.tolist(), sort_keys=True)
        digest.update(text.encode())
    last = env.unwrapped.state().exponents
    return {"scores": scores, "last": last.hex(), "sha256": digest.hexdigest()}


if __name__ == "__main__":
    traces = {each: trace(each) for each in environment_ids().values()}
    rows = ",\n".join(f"{json.dumps(each)}: {json.dumps(told)}" for each, told in traces.items())
    FILE.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
