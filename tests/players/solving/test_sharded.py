"""Tests of the sharded solver: same file as on one machine, and robust against failures."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from py2048.core.errors import SolvingError
from py2048.players.solving import Solution, sharded, solve
from py2048.players.solving.sharded import Task, solve_sharded


class Died(Exception):  # noqa: N818 - what happens to a process
    """Stands for the end of the process."""


class Workers:
    """Run tasks in this process in a shuffled order, some of them twice.

    Args:
        width: Number of shards to ask for.
        deaths: The driver dies after this number of tasks, repeatedly.
    """

    def __init__(self, width: int, deaths: int | None = None) -> None:
        self.width, self._deaths = width, deaths
        self.done: list[Task] = []
        self._random = random.Random(7)

    def run(self, tasks: Sequence[Task], /) -> list[Any]:
        """Do all tasks."""
        results: list[Any] = [None] * len(tasks)
        for index in self._random.sample(range(len(tasks)), len(tasks)):
            for _ in range(self._random.choice([1, 1, 1, 2])):
                results[index] = tasks[index]()
            self.done.append(tasks[index])
            if self._deaths and len(self.done) % self._deaths == 0:
                raise Died
        return results


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split small layers as well."""
    monkeypatch.setattr(sharded, "MIN_SHARD_KEYS", 32)


def without_times(file: Path) -> bytes:
    """Return the keys and values of a saved solution, without its footer."""
    return file.read_bytes()[: 18 + 16 * Solution.load(file).positions]


@pytest.mark.parametrize(
    ("rules", "goal"),
    [
        ("classic:size=2x3", "tile=64"),
        ("classic:size=2x2", "score"),
        ("classic:size=1x2", "score"),
        ("comp1127:size=2x2,target=16", "score"),
        ("qsan_qarut:size=2x2", "score"),
        ("classic:size=2x2,start=1..4,spawn=2:1+8:2", "tile=32"),
        ("cits1401:size=2x2,start=1..4x2:1", "score"),
    ],
)
def test_shards_give_the_file_of_one_machine(rules: str, goal: str, tmp_path: Path) -> None:
    """The file is bit-for-bit that of one machine, although tasks are shuffled and repeated."""
    ours = solve_sharded(Workers(3), rules, goal, save=tmp_path / "shards")
    theirs = solve(rules, goal, save=tmp_path / "whole")
    assert without_times(tmp_path / "shards") == without_times(tmp_path / "whole")
    assert (ours.value, ours.error, ours.layers) == (theirs.value, theirs.error, theirs.layers)
    assert {path.name for path in tmp_path.iterdir()} == {"shards", "whole"}


KEPT = "before", "after", "values"
"""First words of the names of the files that stay until the end."""


@pytest.mark.parametrize("deaths", [41, 150])
def test_a_driver_that_dies_goes_on(deaths: int, tmp_path: Path) -> None:
    """After the driver dies, finished keys and values are reused."""
    file, workers, seen = tmp_path / "file", Workers(4, deaths), dict[str, int]()
    while not file.exists():
        try:
            solve_sharded(workers, "classic:size=2x2", save=file)
        except Died:
            paths = (tmp_path / "file.unfinished").iterdir()
            found = {path.name: path.stat().st_ino for path in paths if path.name.startswith(KEPT)}
            assert seen.items() <= found.items()
            seen = found
    assert len(seen) > 50
    solve("classic:size=2x2", save=tmp_path / "whole")
    assert without_times(file) == without_times(tmp_path / "whole")


class Measuring(Workers):
    """Record the keys per task, and the layers whose successors are kept."""

    def __init__(self) -> None:
        super().__init__(1)
        self.given: list[int] = []
        self.kept: list[int] = []

    def run(self, tasks: Sequence[Task], /) -> list[Any]:
        """Do all tasks."""
        for task in tasks:
            if isinstance(task, partial) and task.func is sharded.find:
                plan, shard, sources, _ = task.args
                parts = [shard.cut(sharded.mapped(path), plan.width) for path in sources]
                self.given.append(sum(map(len, parts)))
                found = {path.name.split("-")[1] for path in plan.folder.glob("found-*")}
                self.kept.append(len(found))
        return super().run(tasks)


def test_a_shard_is_given_no_more_than_fits(tmp_path: Path) -> None:
    """The memory limit bounds the keys of a task, and successors are deleted early."""
    most, roomy, tight = 150, Measuring(), Measuring()
    for workers, memory in ((roomy, 1 << 30), (tight, most * sharded.BYTES_PER_KEY)):
        solve_sharded(workers, "classic:size=2x3", "tile=64", save=tmp_path / "file", memory=memory)
    assert max(tight.given) < 2 * most < max(roomy.given)
    assert max(tight.kept) <= 3


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    """The error names the damaged file and the fix."""
    file, folder = tmp_path / "file", tmp_path / "file.unfinished"
    with pytest.raises(Died):
        solve_sharded(Workers(2, 100), "classic:size=2x2", save=file)
    victim = max(folder.glob("before-*"), key=lambda path: path.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[3] ^= 1
    victim.write_bytes(data)
    with pytest.raises(SolvingError, match=f"{victim.name} is damaged: remove "):
        solve_sharded(Workers(2), "classic:size=2x2", save=file)


def test_a_folder_that_a_machine_does_not_see_is_named(tmp_path: Path) -> None:
    """The error names the folder if it is not shared."""
    plan = sharded.Plan("classic:size=2x2", "score", tmp_path / "elsewhere")
    with pytest.raises(
        SolvingError, match=r"elsewhere does not exist on .*: save to a folder that"
    ):
        sharded.find(
            plan, sharded.Shard(sharded.LayerName("before", 4), 0, 1), [], np.empty(0, np.uint64)
        )


def test_rules_that_cannot_be_solved_leave_no_folder(tmp_path: Path) -> None:
    """Unsolvable rules are rejected before anything is written."""
    with pytest.raises(SolvingError, match="is too large to be solved"):
        solve_sharded(Workers(2), "classic", save=tmp_path / "file")
    assert not any(tmp_path.iterdir())
