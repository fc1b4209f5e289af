"""The grading of qsan_qarut: the reference has full marks, the starter's own tests are right."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import py2048.courses.qsan_qarut as package
from py2048.courses import get_course
from py2048.courses.grading.grader import grade
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.submissions import collect
from py2048.courses.qsan_qarut.tasks import GRADING

HERE = Path(__file__).parent
MODULES = ("model.py", "view.py", "controller.py", "game.py")


def graded(folder: Path, scratch: Path, **around: bool):
    (submission,) = collect([folder], GRADING, scratch)
    usual = SandboxConfig.default()
    return grade(submission, GRADING, SandboxConfig(usual.protection, **around))


def copied(source: Path, target: Path, names: tuple[str, ...] = MODULES) -> Path:
    target.mkdir()
    for name in names:
        shutil.copy(source / name, target)
    return target


def test_our_own_solution_has_full_marks(tmp_path: Path) -> None:
    folder = copied(Path(package.__path__[0]), tmp_path / "ours")
    report = graded(folder, tmp_path / "scratch", trusted=True)
    assert report.lost == ()
    assert report.earned == report.marks == 100


def test_the_starter_earns_nothing_as_it_is(tmp_path: Path) -> None:
    folder = copied(get_course("qsan_qarut").starter, tmp_path / "starter")
    assert graded(folder, tmp_path / "scratch").earned == 0


@pytest.mark.parametrize("right", ["as_in_the_document", "turned_boards"])
def test_the_starters_tests_pass_on_right_solutions(right: str, tmp_path: Path) -> None:
    folder = copied(HERE / "right" / right, tmp_path / right)
    shutil.copy(get_course("qsan_qarut").starter / "tests.py", folder)
    done = subprocess.run(
        [sys.executable, "tests.py"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert re.findall(r"^(\w+): (\w+)", done.stdout, re.MULTILINE) == [
        ("passed", "test_start"),
        ("passed", "test_moves"),
        ("passed", "test_score"),
    ]


def test_the_tasks_sheet_has_every_task_with_its_marks() -> None:
    sheet = (get_course("qsan_qarut").starter / "TASKS.md").read_text()
    for task in GRADING.tasks:
        assert f"## Task {task.id}: {task.title} ({task.marks} marks)\n" in sheet
