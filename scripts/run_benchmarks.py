"""Measure the engine and the environments against baselines in C and plain Python.

Usage: run_benchmarks.py [NAME…] [--rounds N] [--seconds S] [--threads N] [--json]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import tempfile
from functools import partial
from pathlib import Path

from py2048.engine.jit import available_threads
from py2048.lab.commands.bench import machine

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.insert(0, str(FOLDER))

from baselines import compiler_version  # noqa: E402  # needs the path above
from measuring import Effort, Measurement, report  # noqa: E402

SUBJECTS = "engine", "environments", "startup", "memory"
"""The benchmarks. Each benchmark is a module with a function of the same name."""


def main(words: list[str]) -> None:
    """Run the selected benchmarks."""
    parser = argparse.ArgumentParser(description="Measure the engine and the environments.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument("--rounds", type=int, default=15, help="measurements per contestant")
    parser.add_argument("--seconds", type=float, default=0.1, help="length of a measurement")
    parser.add_argument("--threads", "-j", type=int, default=available_threads())
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")
    options = parser.parse_args(words)
    if unknown := set(options.names) - set(SUBJECTS):
        parser.error(f"there is no benchmark {min(unknown)!r}; choose from {', '.join(SUBJECTS)}")
    names: list[str] = options.names or _usual()
    effort = Effort(options.rounds, options.seconds, options.threads, sys.stderr.isatty())
    with tempfile.TemporaryDirectory(prefix="py2048-bench-") as folder:
        subjects = {name: partial(_measure, name, folder=Path(folder)) for name in names}
        found = machine() | {"compiler": compiler_version()}
        report(effort, subjects, found=found, json=options.json)


def _usual() -> list[str]:
    """Return the default benchmarks that can run here."""
    if importlib.util.find_spec("gymnasium") is not None:
        return list(SUBJECTS)
    print("environments are skipped: they need pip install 'py2048[rl]'", file=sys.stderr)
    return [name for name in SUBJECTS if name != "environments"]


def _measure(name: str, effort: Effort, folder: Path) -> list[Measurement]:
    return list(getattr(importlib.import_module(name), name)(effort, folder))


if __name__ == "__main__":
    main(sys.argv[1:])
