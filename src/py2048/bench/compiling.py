"""How long each kernel takes to compile on a new installation, and to load afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from py2048.bench.harness import Effort, Row, Table, tell
from py2048.bench.startup import run_python

COMPILE_ALL = """
import json, time
from py2048.compiled import jit
seconds, last = [], [None, 0.0]
def progress(done, count, name):
    now = time.perf_counter()
    if last[0]:
        seconds.append([last[0], now - last[1]])
    last[:] = name, now
jit.warm_up(progress)
print(json.dumps(seconds))
"""


def compilation(effort: Effort, folder: Path) -> list[Table]:
    """Measure the compilation of each kernel on a new installation, and loading it afterwards."""
    tell("compiling every kernel: this takes a minute or two", effort)
    colds, warms = (_seconds_of_kernels(folder / "all") for _ in range(2))
    tell("", effort)
    slowest = sorted(colds, key=colds.__getitem__, reverse=True)[:10]
    names = [*slowest, f"all {len(colds)} kernels"]
    rows = [Row(_short(name), (_of(colds, name),)) for name in names]
    again = [Row(_short(name), (_of(warms, name),)) for name in names]
    return [
        Table("compiling a kernel: the slowest, and all", "seconds", tuple(rows)),
        Table("loading it from the cache", "seconds", tuple(again)),
    ]


def _of(seconds: dict[str, float], name: str) -> float:
    return seconds[name] if name in seconds else sum(seconds.values())


def _short(name: str) -> str:
    return name.removeprefix("py2048.").partition("[")[0]


def _seconds_of_kernels(cache: Path) -> dict[str, float]:
    """Return how long each kernel takes in a process of its own, by its name."""
    done = run_python(COMPILE_ALL, NUMBA_CACHE_DIR=str(cache))
    pairs: list[list[Any]] = json.loads(done)
    seconds: dict[str, float] = {}
    for name, taken in pairs:
        seconds[name] = seconds.get(name, 0.0) + taken
    return seconds
