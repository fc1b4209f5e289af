"""Each course's mutants lose exactly the marks they should.

`py2048.courses.proving` explains ``<course>/right`` and ``<course>/mutants.toml``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from toys import grade_path, grading_of

from py2048.courses import COURSES, get_course
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.proving import check_tasks, grade_trials, trials

EXAMPLES = Path(__file__).parents[2] / "examples" / "courses"
TRIALS = {course: trials(COURSES[course]) for course in COURSES}


QUICK = {course: (1,) if COURSES[course].grading().gui else (1, 5) for course in COURSES}
"""The programs that `make test` includes: a solution and a mutant per course."""


EVERY_TRIAL = [
    pytest.param(
        course,
        number,
        marks=[] if number in QUICK[course] else [pytest.mark.slow],
        id=f"{course}-{trial.name}",
    )
    for course, trials in TRIALS.items()
    for number, trial in enumerate(trials)
]


@pytest.mark.parametrize(("course", "number"), EVERY_TRIAL)
def test_programs_lose_marks_in_exactly_their_tasks(course, number):
    """Starters lose all marks, solutions none, and mutants those of their fault.

    The report shows what to type, what is expected and what came instead. Of the other tasks, each
    mutant is graded on a third.
    """
    trial, grading = TRIALS[course][number], grading_of(course)
    if trial.mutant:
        others = [task.id for task in grading.tasks if task.id not in trial.loses]
        grading = grading_of(course, *trial.loses, *others[number % 3 :: 3])
    ((_, report),) = grade_trials([trial], grading, SandboxConfig())
    assert trial.finding(report) == ""


def test_each_course_has_several_solutions():
    """Programs with a different structure must be accepted as well."""
    for found in TRIALS.values():
        assert sum(not trial.loses for trial in found) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("course", ["rice", "nifty2017"])
def test_courses_outside_the_package_pass_their_proof(course):
    """Two public assignments take fewer than 400 non-blank lines each."""
    folder = EXAMPLES / course
    texts = [
        path.read_text() for path in folder.rglob("*.*") if path.suffix in {".py", ".md", ".toml"}
    ]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) < 400
    found = get_course(str(folder))
    check_tasks(found)
    proof = grade_trials(trials(found), found.grading(), SandboxConfig(jobs=2))
    assert not list(filter(None, (trial.finding(report) for trial, report in proof)))


REFERENCES = {
    "cits1401": "",
    "cmput175": "game.py",
    "comp1127": "main.py",
    "ist": "adt.py",
    "qsan_qarut": "",
}
"""Location of each reference solution, relative to the course's folder."""


@pytest.mark.parametrize(
    "course",
    [pytest.param(c, marks=[pytest.mark.slow] * COURSES[c].grading().gui) for c in COURSES],
)
def test_the_reference_solution_has_full_marks(course):
    """Only reference solutions may import py2048."""
    if course == "cits1401":  # compile the planner once, because submissions cannot cache it
        compiled = {name: value for name, value in os.environ.items() if name != "NUMBA_OPT"}
        board = "2 . . . . / . . . . . / . . . . . / . . . . . / . . . . 2"
        hint = ["hint", board, "--rules", "cits1401", "--player", "beam"]
        subprocess.run([sys.executable, "-m", "py2048", *hint], env=compiled, check=True)
    sandbox = SandboxConfig(seconds=600, trusted=True)
    path = COURSES[course].folder / REFERENCES[course]
    report = grade_path(path, COURSES[course].grading(), sandbox)
    assert report.lost == ()
    assert report.earned == COURSES[course].grading().marks
