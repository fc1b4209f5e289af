"""The grader tells right from wrong: each mutant loses exactly the marks that it should.

`py2048.courses.proving` says what ``<course>/right`` and ``<course>/mutants.toml`` are.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from toys import grade_path

from py2048.courses import COURSES
from py2048.courses.grading.sandbox import SandboxConfig, choose_protection
from py2048.courses.proving import trials, tried

TRIALS = {course: trials(COURSES[course]) for course in COURSES}

# Playing in a window takes seconds for each, so those are for `make test-slow`.
WINDOWS = [course for course in COURSES if COURSES[course].grading().gui]
EVERY_TRIAL = [
    pytest.param(
        course,
        trial,
        marks=[pytest.mark.slow] if course in WINDOWS and number > 1 else [],
        id=f"{course}-{trial.name}",
    )
    for course, trials in TRIALS.items()
    for number, trial in enumerate(trials)
]


@pytest.mark.parametrize(("course", "trial"), EVERY_TRIAL)
def test_programs_lose_the_marks_of_their_tasks_and_no_others(course, trial):
    """The starter all, a right solution none, and a mutant those of what is wrong with it.

    A student who loses marks sees what to type, what is expected and what is there.
    """
    ((_, report),) = tried([trial], COURSES[course].grading(), choose_protection())
    assert trial.finding(report) == ""


def test_each_course_has_several_right_solutions():
    """One structure alone would not show that others are accepted."""
    for found in TRIALS.values():
        assert sum(not trial.loses for trial in found) >= 2


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
def test_our_reference_solution_has_full_marks(course):
    """What we hand out as the solution loses nothing; it alone may import py2048."""
    if course == "cits1401":  # else each of its processes compiles the planner, and keeps nothing
        compiled = {name: value for name, value in os.environ.items() if name != "NUMBA_OPT"}
        board = "2 . . . . / . . . . . / . . . . . / . . . . . / . . . . 2"
        hint = ["hint", board, "--rules", "cits1401", "--player", "beam"]
        subprocess.run([sys.executable, "-m", "py2048", *hint], env=compiled, check=True)
    sandbox = SandboxConfig(choose_protection(), seconds=600, trusted=True)
    path = COURSES[course].folder / REFERENCES[course]
    report = grade_path(path, COURSES[course].grading(), sandbox)
    assert report.lost == ()
    assert report.earned == COURSES[course].grading().marks
