"""A class of thirty in two courses, ten of them hostile, is graded correctly.

``pytest tests/courses/test_hostile_class.py -s`` prints how long it took. We promise teachers less
than two minutes on two idle cores.
"""

from __future__ import annotations

import shutil
import time
import tomllib
from pathlib import Path

import pytest

from py2048.courses import COURSES
from py2048.courses.grading.grader import grade_all
from py2048.courses.grading.report import GradeReport
from py2048.courses.grading.sandbox import SandboxConfig, copies_of_py2048
from py2048.courses.grading.submissions import Submission, collect
from py2048.courses.proving import trials

HERE = Path(__file__).parent
SOLUTIONS = [str(place / "courses") for place in copies_of_py2048()]

HOSTILE = tomllib.loads((HERE / "hostile.toml").read_text())["class"]
CHEAT = f"""
import os
for place in {SOLUTIONS}:
    for folder, _, names in os.walk(place):
        for name in names:
            try: exec(open(os.path.join(folder, name)).read(), globals())
            except Exception: pass
"""


def _class(course: str, folder: Path) -> dict[str, set[str] | None]:
    """Write fifteen submissions; return the tasks each should lose, or None if unknown."""
    right = sorted((HERE / course / "right").glob("*.py"))
    expected: dict[str, set[str] | None] = {}
    for name, source in HOSTILE[course].items():
        (folder / f"{name}.py").write_text(f"{right[0].read_text()}\n{source}")
        expected[name] = None
    (folder / "cheat.py").write_text(CHEAT)
    expected["cheat"] = {task.id for task in COURSES[course].grading().tasks}
    named = folder / "names"
    named.mkdir()
    program = COURSES[course].grading().files[0]
    (named / program).write_text(right[0].read_text())
    for name in ("enum", "functools", "collections", "typing", "ast", "tkinter"):
        (named / f"{name}.py").write_text("raise SystemError\n")
    expected["names"] = set()
    for path in right:
        shutil.copy(path, folder)
        expected[path.stem] = set()
    mutants = [trial for trial in trials(COURSES[course]) if trial.mutant]
    for mutant in mutants[: 15 - len(expected)]:
        mutant.write(folder)
        expected[mutant.name] = set(mutant.loses)
    return expected


@pytest.mark.slow
@pytest.mark.gui
@pytest.mark.timeout(900)
def test_a_class_with_hostile_submissions_is_graded(tmp_path):
    """Marks do not depend on the rest of the class, and no report is missing."""
    began = time.monotonic()
    for course in HOSTILE:
        folder = tmp_path / course
        folder.mkdir()
        expected = _class(course, folder)
        grading = COURSES[course].grading()
        submissions: list[Submission] = collect([folder], grading, tmp_path / f"{course}-scratch")
        assert len(submissions) == 15
        reports: dict[str, GradeReport] = {}
        for report in grade_all(submissions, grading, SandboxConfig(), jobs=2):
            reports[report.name] = report
            print(f"{course} {report.name}: {float(report.earned):g} in {report.seconds} s")
        lost = {name: set(report.lost) for name, report in reports.items()}
        assert reports.keys() == {submission.name for submission in submissions}
        assert {name: lost[name] for name, ids in expected.items() if ids is not None} == {
            name: ids for name, ids in expected.items() if ids is not None
        }
    print(f"30 submissions in {time.monotonic() - began:.0f} s")
