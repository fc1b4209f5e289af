"""The grader tells right from wrong: every kept solution loses exactly the marks it should.

A file in ``<course>/wrong`` begins with ``# loses: 4, 5`` (task ids, or ``all``); a folder has
that line in a file ``LOSES``. Those in ``<course>/right`` lose nothing, and neither does the
course's own reference solution.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import py2048.courses
from py2048.courses import COURSES
from py2048.courses._kit.batch import grade_all
from py2048.courses._kit.results import Report
from py2048.courses._kit.runner import SandboxConfig
from py2048.courses._kit.submissions import Submission, collect

HERE = Path(__file__).parent
GRADED = [name for name in COURSES if (HERE / name / "wrong").is_dir()]


def _entries(folder: Path) -> list[Path]:
    return sorted(p for p in folder.iterdir() if p.suffix == ".py" or p.is_dir())


def _graded(course: str, paths: list[Path], scratch: Path, **around: bool) -> dict[str, Report]:
    grading = COURSES[course].grading()
    submissions: list[Submission] = []
    for path in paths:
        submissions += collect([path], grading, scratch / path.name)
    surroundings = SandboxConfig(SandboxConfig.usual().protection, **around)
    reports = grade_all(submissions, grading, surroundings, jobs=2)
    return {report.name: report for report in reports}


def _loses(path: Path, course: str) -> tuple[str, ...]:
    first = (path / "LOSES" if path.is_dir() else path).read_text().split("\n")[0]
    found = re.fullmatch(r"#? ?loses: (.+)", first)
    assert found, f"{path} does not begin with '# loses: ...'"
    if found[1] == "all":
        return tuple(task.id for task in COURSES[course].grading().tasks)
    return tuple(re.split(r", *", found[1]))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("course", GRADED)
def test_wrong_solutions_lose_the_marks_of_their_tasks_and_no_others(course, every, tmp_path):
    """What is wrong with a solution is found, and nothing else is held against it.

    Grading them all takes minutes; ``make test`` takes every tenth.
    """
    wrong = _entries(HERE / course / "wrong")
    assert len(wrong) >= 12
    paths = wrong[::every]
    reports = _graded(course, paths, tmp_path)
    lost = {path.stem: reports[path.stem].lost for path in paths}
    assert lost == {path.stem: _loses(path, course) for path in paths}


@pytest.mark.parametrize("course", GRADED)
def test_right_solutions_have_full_marks(course, tmp_path):
    """However a right solution is structured, it loses nothing."""
    paths = _entries(HERE / course / "right")
    assert len(paths) >= 2
    reports = _graded(course, paths, tmp_path)
    assert {name: report.lost for name, report in reports.items()} == dict.fromkeys(reports, ())


REFERENCES = {
    "cits1401": "",
    "cmput175": "game.py",
    "comp1127": "main.py",
    "ist": "adt.py",
    "qsan_qarut": "",
}
"""Where each course's reference solution is, below the course's package."""


@pytest.mark.parametrize("course", GRADED)
def test_our_reference_solution_has_full_marks(course, tmp_path):
    """What we hand out as the solution loses nothing; it alone may import py2048."""
    package = Path(py2048.courses.__file__).parent / course
    (report,) = _graded(course, [package / REFERENCES[course]], tmp_path, trusted=True).values()
    assert report.lost == ()
    assert report.earned == COURSES[course].grading().marks


@pytest.mark.parametrize("course", GRADED)
def test_a_failure_always_shows_an_example(course, tmp_path):
    """A student who loses marks sees what to type, what should come of it, and what came of it."""
    path = next(p for p in _entries(HERE / course / "wrong") if _loses(p, course) != ("all",))
    (report,) = _graded(course, [path], tmp_path).values()
    failed = [check for task in report.tasks for check in task.checks if not check.passed]
    assert failed or report.problem
    assert all(check.example and check.expected and check.actual for check in failed)
