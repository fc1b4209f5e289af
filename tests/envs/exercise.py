"""Run all kernels of the environments and print the results.

The tests compare runs with compiled kernels, plain Python and bounds checks.
"""

from __future__ import annotations

import numpy as np

from py2048.core.rng import derive_seed
from py2048.core.rules import Rules
from py2048.envs import GameEnv, GameVectorEnv, functional

RULES = ("classic", "comp1127:target=16", "cits1401:size=3x3,start=1..9x2:1", "qsan_qarut:size=2x5")


def single_results(text: str) -> list[object]:
    """Return everything that steps of single games return."""
    results: list[object] = []
    for options in ({}, {"reward": "log", "illegal": "terminate"}, {"observation": "onehot"}):
        env = GameEnv(text, **options)  # type: ignore[arg-type]
        told = env.reset(seed=3)
        for step in range(40):
            board, reward, ended, _, info = env.step(step * 7 // 3 % 4)
            results.append([board.tolist(), reward, ended, info["action_mask"].tolist()])
            if ended:
                told = env.reset()
        results += [told[0].tolist(), env.score, env.state().exponents]
    return results


def vector_results(text: str) -> list[object]:
    """Return the steps of several games in each autoreset mode."""
    results: list[object] = []
    for mode in ("NextStep", "SameStep"):
        for options in ({}, {"reward": "log", "illegal": "terminate"}, {"observation": "onehot"}):
            envs = GameVectorEnv(5, text, autoreset_mode=mode, threads=1, **options)  # type: ignore[arg-type]
            envs.reset(seed=4)
            for step in range(12):
                told = envs.step(np.arange(5) * step % 4)
                results += [array.tolist() for array in told[:4]]
                results += [told[4]["action_mask"].tolist(), told[4]["score"].tolist()]
    return results


def functional_results(text: str) -> list[object]:
    """Return the results of the functional API along a few games."""
    rules = Rules.parse(text)
    seeds = [derive_seed(5, index) for index in range(6)]
    boards = functional.reset(rules, seeds)
    ways = functional.legal(rules, boards)
    playing, actions = ways.any(axis=1), ways.argmax(axis=1)
    after, points, _ = functional.slide(rules, boards[playing], actions[playing])
    outcomes, chances = functional.chance_outcomes(rules, after[0], int(actions[playing][0]))
    results: list[object] = [boards.tolist(), after.tolist(), points.tolist()]
    results += [outcomes.tolist(), chances.tolist()]
    for ply in range(8):
        legal = functional.legal(rules, boards)
        actions = legal.argmax(axis=1)
        draws = functional.draws_of(seeds, [ply] * 6)
        boards, *told = functional.step(rules, boards, actions, draws)
        results += [boards.tolist(), *(np.asarray(each).tolist() for each in told)]
    return results


def main() -> None:
    """Print the results of every kind and rule set."""
    with np.errstate(over="ignore"):
        for text in RULES:
            print(single_results(text), vector_results(text), functional_results(text), sep="\n")


if __name__ == "__main__":
    main()
