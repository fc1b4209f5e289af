"""``bench`` and ``warm-up``, which measure this machine's speed and compile all kernels."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from py2048.core.errors import need_compiler
from py2048.presentation import options
from py2048.presentation.streams import StatusLine

GAMES = 65_536
WARM_UP_STEPS = 150
"""Number of steps before the measurement. A random game lasts about 118 moves, so after these
steps, the batch contains games in all phases.
"""

LIBRARIES = ("numpy", "numba", "llvmlite", "gymnasium")
VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "sse2": "SSE2"}
VECTORS |= {"sve": "SVE", "neon": "NEON"}


def bench(
    rounds: Annotated[int, options.counting("Number of measurements.", most=10**6)] = 15,
    seconds: Annotated[
        float, typer.Option(min=0.001, max=3600, help="Length of a measurement in seconds.")
    ] = 0.1,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Measure how fast this machine plays random games, and print the engine's signature."""
    from py2048.engine.jit import available_threads

    need_compiler("measuring")
    found = machine()
    if not json:
        width = max(map(len, found))
        print("\n".join(f"{name:<{width}}  {value}" for name, value in found.items()), flush=True)
    cores = sorted({1, threads or available_threads()})
    with StatusLine(quiet=json):
        speeds = _random_play(cores, rounds, seconds)
    rows = [
        {"name": f"batch, {count} core{'s' * (count > 1)}", "values": values}
        | {"median": statistics.median(values), "best": max(values)}
        for count, values in speeds.items()
    ]
    if json:
        options.print_json({"machine": found, "unit": "moves/s", "rows": rows})
        return
    print(f"\n{'random play, moves/s':<24}{'median':>14}{'best':>14}")
    for row in rows:
        print(f"  {row['name']:<22}{row['median']:>14,.0f}{row['best']:>14,.0f}")


def _random_play(cores: list[int], rounds: int, seconds: float) -> dict[int, list[float]]:
    """Return the moves per second of random play in each round, keyed by the number of threads.

    The thread counts alternate in short rounds, so that other programs and changes of the clock
    speed affect all of them equally. A warm-up round comes first.
    """
    from py2048.core.rules import get_rules
    from py2048.engine.batch import BatchGames

    batches = {count: BatchGames(get_rules("classic"), GAMES, 1, count) for count in cores}
    speeds: dict[int, list[float]] = {count: [] for count in cores}
    for batch in batches.values():
        batch.play_random(WARM_UP_STEPS)
    for turn in range(rounds + 1):
        for count, batch in batches.items():
            done, start, now = 0, time.perf_counter(), 0.0
            while now < seconds:
                done += batch.play_random(50).steps
                now = time.perf_counter() - start
            if turn:
                speeds[count].append(done / now)
    return speeds


def warm_up(quiet: options.QuietOption = False) -> None:
    """Compile all kernels now, so that no game, hint or training waits for the compiler later."""
    from py2048.engine import jit
    from py2048.engine.jit.disk_cache import cache_directory

    need_compiler("compiling")
    start = time.perf_counter()
    with StatusLine(quiet=quiet) as line:

        def show(done: int, total: int, name: str) -> None:
            kernel = name.removeprefix("py2048.").partition("[")[0]  # drops the specialisation
            line.news = f"{done} of {total} compiled; now {kernel}"

        done = jit.warm_up(show, warmup_tasks())
    if not quiet:
        folder = cache_directory()
        where = f"in {folder}" if folder else "for this process only: no folder can be written"
        print(f"{done} compiled forms ready after {time.perf_counter() - start:.1f} s, {where}")


def warmup_tasks() -> list[tuple[str, Callable[[], object]]]:
    """Return named tasks that compile the kernels for players, training and reviews."""
    from py2048.lab.training import trainer
    from py2048.players import preparing
    from py2048.review import coaching

    return [*preparing.warmup_tasks(), *trainer.warmup_tasks(), *coaching.warmup_tasks()]


# --- the machine ---------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """Describe the machine and the software used for a measurement."""
    from py2048.engine.batch import behaviour_signature
    from py2048.engine.jit import available_threads

    return {
        "processor": processor(),
        "cores": str(available_threads()),
        "instructions": instruction_set(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "libraries": ", ".join(filter(None, map(_version, LIBRARIES))),
        "py2048": importlib.metadata.version("py2048"),
        "load": load(),
        "signature": f"{behaviour_signature()} (of the engine's behaviour)",
    }


def instruction_set() -> str:
    """Return the widest vector instructions that kernels use, and the name of the CPU."""
    from py2048.engine.jit.numba_parts import processor as compiled_for

    name, features = compiled_for()
    present = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    widest = next((title for flag, title in VECTORS.items() if flag in present), "no known vectors")
    return f"{widest} ({name})"


def processor() -> str:
    """Return the CPU's model name, with a remark if kernels are not compiled."""
    from py2048.engine.jit import IS_PLAIN

    path = Path("/proc/cpuinfo")
    text = path.read_text() if path.exists() else ""
    found = re.search(r"^model name\s*: (.*)", text, re.MULTILINE)
    name = found[1] if found else platform.processor() or platform.machine()
    return f"{name}, kernels not compiled" if IS_PLAIN else name


def load() -> str:
    """Return the load average of the machine as text."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    return f"{os.getloadavg()[0]:.1f} programs waiting or running in the last minute"


def _version(name: str) -> str:
    with suppress(importlib.metadata.PackageNotFoundError):
        return f"{name} {importlib.metadata.version(name)}"
    return ""
