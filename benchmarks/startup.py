"""Measure imports, first steps and first compilations."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import Effort, Measurement, Stretch, race

import py2048

FIRST_BATCH_STEP = """
from py2048 import get_rules
from py2048.engine.batch import BatchGames
BatchGames(get_rules("classic"), 1024).step([0] * 1024)
"""
FIRST_STEP = """
import gymnasium, py2048.envs
env = gymnasium.make("py2048/Classic-v0")
env.reset(seed=1)
env.step(0)
"""


def startup(effort: Effort, folder: Path) -> list[Measurement]:
    """Measure new Python processes, with and without cached kernels."""
    codes = {
        "import py2048": "import py2048",
        "first step of a batch": FIRST_BATCH_STEP,
    }
    if importlib.util.find_spec("gymnasium") is not None:
        codes["gymnasium.make, reset, first step"] = FIRST_STEP
    warm = {"an empty Python": _python("pass"), **{n: _python(c) for n, c in codes.items()}}
    title = "a fresh Python, kernels compiled before"
    tables = [race(title, warm, effort, unit="seconds", is_less_better=True)]
    steps = {name: code for name, code in codes.items() if "first" in name}
    cold = {name: _python(code, folder) for name, code in steps.items()}
    few = Effort(min(effort.rounds, 3), effort.seconds, effort.threads, effort.shows)
    title = "the same on a new installation"
    return [*tables, race(title, cold, few, unit="seconds", is_less_better=True)]


def _python(code: str, cold: Path | None = None) -> Stretch:
    """Measure a new Python process that runs `code`; with `cold`, in a new installation."""

    def play() -> float:
        extra = {} if cold is None else new_installation(cold)
        start = time.perf_counter()
        run_python(code, **extra)
        return time.perf_counter() - start

    return play


def new_installation(folder: Path) -> dict[str, str]:
    """Copy the package without compiled files; return the environment variables that select it."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    source = Path(py2048.__file__).parent
    shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    cache = str(folder / "cache")
    return {"PYTHONPATH": str(folder), "XDG_CACHE_HOME": cache, "NUMBA_CACHE_DIR": cache}


def run_python(code: str, **environment: str) -> str:
    """Run code in a new Python process and return its output."""
    # PYTHONDONTWRITEBYTECODE would make Python recompile all sources in each process.
    around = {name: os.environ[name] for name in os.environ if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=around | environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
