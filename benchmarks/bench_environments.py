"""Steps a second of the Gymnasium environments, beside a C core and a peer where there is one.

All candidates take turns, a short stretch each, so that a busy machine disturbs all alike; the
ratios are medians over the rounds.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import py2048.envs
from py2048.engine.workers import available_threads, shares

SOURCE = Path(__file__).with_name("environment_core.c")
PEER = "gymnasium_2048"
SECONDS = 0.05
"""The length of a turn."""

FIRST_STEP = """
import gymnasium, py2048.envs
env = gymnasium.make("py2048/Classic-v0")
env.reset(seed=1)
env.step(0)
"""

Candidate = Callable[[], float]
"""Plays a stretch and returns the steps a second."""


def single(env: gymnasium.Env[Any, Any]) -> Candidate:
    """Return a candidate that plays random actions in one environment."""
    chance = random.Random(1)
    actions = [chance.randrange(4) for _ in range(500)]
    env.reset(seed=1)

    def some() -> int:
        step, reset = env.step, env.reset
        for action in actions:
            told = step(action)
            if told[2] or told[3]:
                reset()
        return len(actions)

    return stretches(some)


def stretches(some: Callable[[], int]) -> Candidate:
    """Return a candidate that calls `some`, which returns its steps, for a short while."""

    def play() -> float:
        steps, start, now = 0, time.perf_counter(), 0.0
        while now < SECONDS:
            steps += some()
            now = time.perf_counter() - start
        return steps / now

    return play


def vector(count: int, threads: int) -> Candidate:
    """Return a candidate that plays random actions in a vector environment."""
    envs = gymnasium.make_vec("py2048/Classic-v0", num_envs=count, threads=threads)
    envs.reset(seed=1)
    return repeated(envs.step, count)


def repeated(step: Callable[[Any], Any], count: int) -> Candidate:
    """Return a candidate that steps `count` environments at once with random actions."""
    chance = np.random.default_rng(1)
    actions = cycle([chance.integers(0, 4, count) for _ in range(8)])
    for _ in range(200):
        step(next(actions))  # until games of all ages are among them

    def some() -> int:
        step(next(actions))
        return count

    return stretches(some)


def c_core(library: ctypes.CDLL, count: int, threads: int) -> Candidate:
    """Return a candidate that does the same in C; it writes to the same arrays at each step."""
    library.game_size.restype = ctypes.c_uint64
    width = int(library.game_size())
    games = np.zeros(count * width, np.uint8)
    boards, masks = np.zeros((count, 16), np.uint8), np.zeros(count, np.uint32)
    rewards, ends = np.zeros(count), np.zeros(count, np.uint8)
    library.reset_all(pointer(games, 0), ctypes.c_int64(count), ctypes.c_uint64(1))
    pool = ThreadPoolExecutor(threads)

    def part(share: tuple[int, int], actions: np.ndarray[Any, Any]) -> None:
        first, end = share
        arrays = (actions, boards, masks, rewards, ends)
        there = (pointer(array, first) for array in arrays)
        library.step_all(pointer(games, first * width), ctypes.c_int64(end - first), *there)

    def step(actions: np.ndarray[Any, Any]) -> None:
        list(pool.map(lambda share: part(share, actions), shares(count, threads)))

    return repeated(step, count)


def pointer(array: np.ndarray[Any, Any], row: int) -> ctypes.c_void_p:
    """Return the address of a row of an array."""
    return ctypes.c_void_p(array.ctypes.data + row * array.strides[0])


def compiled_core(folder: str) -> ctypes.CDLL | None:
    """Return the C core, compiled now; None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    target = Path(folder) / "core.so"
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, "-o", target, SOURCE], check=True)
    return ctypes.CDLL(str(target))


def compare(title: str, candidates: dict[str, Candidate], base: str | None, rounds: int) -> None:
    """Let the candidates take turns; print medians, and the ratios to `base`."""
    speeds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, play in candidates.items():
            speeds[name].append(play())
    print(f"{title:<44}{'steps/s':>14}{'best':>14}" + (f"{'ratio':>9}" if base else ""))
    for name, found in speeds.items():
        line = f"  {name:<42}{statistics.median(found):>14,.0f}{max(found):>14,.0f}"
        if base:
            pairs = zip(found, speeds[base], strict=True)
            line += f"{statistics.median(own / other for own, other in pairs):>9.1f}"
        print(line)


def first_step_seconds() -> float:
    """Return how long a fresh Python takes to import, make, reset and step once."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", FIRST_STEP], check=True)
    return time.perf_counter() - start


def single_candidates() -> dict[str, Candidate]:
    """Return the environments that are stepped one at a time."""
    name = "py2048/Classic-v0"
    checked = gymnasium.make(name, disable_env_checker=False)
    found = {
        "gymnasium.make, as registered": single(gymnasium.make(name)),
        "with Gymnasium's passive checker and order": single(
            gymnasium.wrappers.OrderEnforcing(checked)
        ),
        "one-hot observations": single(gymnasium.make(name, observation="onehot")),
    }
    if importlib.util.find_spec(PEER) is not None:
        importlib.import_module(PEER)
        found["gymnasium-2048"] = single(gymnasium.make(f"{PEER}/TwentyFortyEight-v0"))
    return found


def main() -> None:
    """Print one table for single environments, one for vectors, and the time of a first step."""
    parser = argparse.ArgumentParser(description="Environment steps a second.")
    parser.add_argument("--envs", type=int, default=65_536, help="environments in the vector")
    parser.add_argument("--rounds", type=int, default=25, help="turns of each candidate")
    arguments = parser.parse_args()
    assert py2048.envs.environment_ids()

    singles = single_candidates()
    peer = "gymnasium-2048" if "gymnasium-2048" in singles else None
    compare("one environment", singles, peer, arguments.rounds)

    count, threads = arguments.envs, available_threads()
    title = f"{count:,} environments, uint8 boards, masks, rewards, ends"
    with tempfile.TemporaryDirectory() as folder:
        core = compiled_core(folder)
        vectors = {f"VectorEnv.step, {n} threads": vector(count, n) for n in {1, threads}}
        if core is not None:
            vectors |= {f"C core, {n} threads": c_core(core, count, n) for n in {1, threads}}
        base = "C core, 1 threads" if core is not None else None
        compare(title, vectors, base, arguments.rounds)

    first_step_seconds()
    times = [first_step_seconds() for _ in range(arguments.rounds)]
    print(
        f"import, make, reset and step in a fresh Python: {statistics.median(times):.2f} s", end=""
    )
    print(f" (fastest {min(times):.2f} s)")


if __name__ == "__main__":
    main()
