"""The subjects that can be measured, and measuring them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from py2048.bench.compiling import compilation
from py2048.bench.engine import engine
from py2048.bench.environments import environments
from py2048.bench.harness import Effort, Table
from py2048.bench.memory import memory
from py2048.bench.startup import startup


@dataclass(frozen=True)
class Subject:
    """A group of tables.

    Attributes:
        name: how it is asked for.
        summary: what is measured, in one line.
        measure: measures, given the effort and a folder for compiled programs.
    """

    name: str
    summary: str
    measure: Callable[[Effort, Path], list[Table]]


SUBJECTS = {
    subject.name: subject
    for subject in (
        Subject("engine", "random play: single boards, batches, whole games", engine),
        Subject("environments", "Gymnasium environments, single and vector", environments),
        Subject("startup", "imports and first steps, compiled and not", startup),
        Subject("compilation", "every kernel compiled anew, then loaded", compilation),
        Subject("memory", "bytes a game", memory),
    )
}


def run(name: str, effort: Effort) -> list[Table]:
    """Return the tables of one subject."""
    with tempfile.TemporaryDirectory(prefix="py2048-bench-") as folder:
        return SUBJECTS[name].measure(effort, Path(folder))
