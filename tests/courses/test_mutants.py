"""The grader tells right from wrong: each mutant loses exactly the marks that it should.

``<course>/right`` holds solutions that lose nothing. ``<course>/mutants.toml`` turns them into
wrong ones: ``[solution.name]`` is the solution with each search text of ``changes`` replaced, and
it loses marks of the tasks in ``loses`` (task ids, or ``all``): as many as ``costs`` says, if it
does. A search text stands in the solution once, or is replaced ``everywhere``.
One that hangs may have fewer ``seconds`` for each call than a student's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

import py2048.courses
from py2048.courses import COURSES
from py2048.courses.grading.grader import grade_all
from py2048.courses.grading.report import Report
from py2048.courses.grading.sandbox import SandboxConfig, choose_protection
from py2048.courses.grading.submissions import collect

HERE = Path(__file__).parent
RIGHT = {
    course: sorted(
        path
        for path in (HERE / course / "right").iterdir()
        if path.suffix == ".py" or path.is_dir()
    )
    for course in COURSES
}


@dataclass(frozen=True)
class Mutant:
    """A right solution made wrong by replacing search texts."""

    course: str
    solution: str
    name: str
    flaw: str
    loses: list[str]
    changes: list[tuple[str, str]]
    costs: tuple[str, ...] = ()
    everywhere: bool = False
    seconds: float | None = None

    @property
    def lost(self) -> tuple[str, ...]:
        """The ids of the tasks that lose marks."""
        every = tuple(task.id for task in COURSES[self.course].grading().tasks)
        return every if self.loses == ["all"] else tuple(self.loses)

    def write(self, folder: Path) -> Path:
        """Write the wrong solution into a folder; return its path."""
        (source,) = (path for path in RIGHT[self.course] if path.stem == self.solution)
        path = folder / (self.name + source.suffix)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, path)
        files = sorted(path.glob("*.py")) if path.is_dir() else [path]
        texts = [file.read_text() for file in files]
        for search, _ in self.changes:
            found = "\0".join(texts).count(search)
            assert found == 1 or (found and self.everywhere), (
                f"{self.name}: {found} times in {self.solution}: {search!r}"
            )
        find = re.compile("|".join(re.escape(search) for search, _ in self.changes))
        replacements = dict(self.changes)
        for file, text in zip(files, texts, strict=True):
            file.write_text(find.sub(lambda match: replacements[match[0]], text))
        return path


def _mutants(course: str) -> list[Mutant]:
    solutions = tomllib.loads((HERE / course / "mutants.toml").read_text())
    return [
        Mutant(course, solution, name, **entry)
        for solution, mutants in solutions.items()
        for name, entry in mutants.items()
    ]


MUTANTS = {course: _mutants(course) for course in COURSES}

# Playing in a window takes seconds for each, so those are for `make test-slow`.
WINDOWS = [course for course in COURSES if COURSES[course].grading().gui]
EVERY_MUTANT = [
    pytest.param(
        mutant,
        marks=[pytest.mark.slow] if course in WINDOWS else [],
        id=f"{course}-{mutant.name}",
    )
    for course, mutants in MUTANTS.items()
    for mutant in mutants
]


def _graded(
    course: str, path: Path, scratch: Path, seconds: float | None = None, **around: bool
) -> Report:
    grading = COURSES[course].grading()
    if seconds is not None:
        grading = replace(grading, seconds=seconds)
    submissions = collect([path], grading, scratch)
    # Time enough for a busy machine: what is graded here, hanging mutants apart, comes to its end.
    sandbox = SandboxConfig(choose_protection(), seconds=600, **around)
    (report,) = grade_all(submissions, grading, sandbox)
    return report


@pytest.mark.parametrize("mutant", EVERY_MUTANT)
def test_mutants_lose_the_marks_of_their_tasks_and_no_others(mutant, tmp_path):
    """What is wrong with a solution is found, and nothing else is held against it.

    A student who loses marks sees what to type, what is expected and what is there.
    """
    path, scratch = mutant.write(tmp_path), tmp_path / "scratch"
    report = _graded(mutant.course, path, scratch, mutant.seconds)
    assert report.lost == mutant.lost, f"{mutant.name}: {mutant.flaw}"
    if mutant.costs:
        costs = [task.marks - task.earned for task in report.tasks if task.id in mutant.lost]
        assert costs == list(map(Fraction, mutant.costs))
    failed = [check for task in report.tasks for check in task.checks if not check.passed]
    assert failed or report.problem or not mutant.lost
    assert all(check.example and check.expected and check.actual for check in failed)


@pytest.mark.parametrize("course", COURSES)
def test_each_task_has_a_mutant(course):
    """No task of a course is left whose loss is never seen."""
    lost = {task for mutant in MUTANTS[course] if mutant.loses != ["all"] for task in mutant.lost}
    assert lost == {task.id for task in COURSES[course].grading().tasks}


EVERY_RIGHT = [
    pytest.param(
        course,
        path,
        marks=[pytest.mark.slow] if course in WINDOWS and path is not paths[0] else [],
        id=f"{course}-{path.stem}",
    )
    for course, paths in RIGHT.items()
    for path in paths
]


def test_each_course_has_several_right_solutions():
    """One structure alone would not show that others are accepted."""
    assert all(len(paths) >= 2 for paths in RIGHT.values())


@pytest.mark.parametrize(("course", "path"), EVERY_RIGHT)
def test_right_solutions_have_full_marks(course, path, tmp_path):
    """However a right solution is structured, it loses nothing."""
    report = _graded(course, path, tmp_path)
    assert (report.name, report.lost) == (path.stem, ())


REFERENCES = {
    "cits1401": "",
    "cmput175": "game.py",
    "comp1127": "main.py",
    "ist": "adt.py",
    "qsan_qarut": "",
}
"""Where each course's reference solution is, below the course's package."""


@pytest.mark.parametrize(
    "course",  # the planner of cits1401 plays in its window for two minutes
    [pytest.param(c, marks=pytest.mark.slow) if c == "cits1401" else c for c in COURSES],
)
def test_our_reference_solution_has_full_marks(course, tmp_path):
    """What we hand out as the solution loses nothing; it alone may import py2048."""
    if course == "cits1401":  # else each of its processes compiles the planner, and keeps nothing
        compiled = {name: value for name, value in os.environ.items() if name != "NUMBA_OPT"}
        board = "2 . . . . / . . . . . / . . . . . / . . . . . / . . . . 2"
        hint = ["hint", board, "--rules", "cits1401", "--player", "beam"]
        subprocess.run([sys.executable, "-m", "py2048", *hint], env=compiled, check=True)
    package = Path(py2048.courses.__file__).parent / course
    report = _graded(course, package / REFERENCES[course], tmp_path, trusted=True)
    assert report.lost == ()
    assert report.earned == COURSES[course].grading().marks
