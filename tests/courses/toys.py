"""A small course of three tasks for testing the grader."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from py2048.cli import main
from py2048.courses import Course, get_course
from py2048.courses.grading import Check, Example, Grading, Raises, Task
from py2048.courses.grading.grader import grade
from py2048.courses.grading.report import GradeReport
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.submissions import collect

SUMS = (Example("add(30, 12)", 42), Example("add(1, 2)", 3))
REFUSES = (Example("add('1', 2)", Raises("ValueError", "no number")),)
GREETS = (Example("greet()", None, typed=["Ann"], prints="Name? Hello Ann\n"),)
GROWS = (Example("grow(list_)", None, given="list_ = [1, 2]", then={"list_": [1, 2, 3]}),)
ADDS = (Check("sums", SUMS, weight=3), Check("refuses", REFUSES))
ADDS_ASKED = "add(a, b) returns the sum; a text is refused with a ValueError."
GREET_ASKED = "greet() asks for a name and prints a greeting."
GROW_ASKED = "grow(numbers) appends the sum of the list, by add, to the list."
LENT = ("app.add = lambda a, b: a + b",)
TOY = Grading(
    course="toy",
    module="app",
    files=("app.py",),
    expects=("add", "greet", "grow"),
    seconds=0.4,
    tasks=(
        Task("1", "add", ADDS_ASKED, 4, ADDS),
        Task("2", "greet", GREET_ASKED, 2, (Check("greets", GREETS),)),
        Task("3", "grow", GROW_ASKED, 3, (Check("grows", GROWS),), reference_patches=LENT),
    ),
)


class ToyCourse(Course):
    """The toy course, which has no folder."""

    found = TOY
    handout_files = ()

    def grading(self) -> Grading:
        return self.found


def toy_course() -> Course:
    return ToyCourse("toy", "A toy", "three functions", "terminal", Path("toy"), "toy")


ADD = """
def add(a, b):
    if isinstance(a, str) or isinstance(b, str):
        raise ValueError("no number")
    return a + b
"""
GREET = """
def greet():
    name = input("Name? ")
    print("Hello", name)
"""
GROW = """
def grow(numbers):
    total = 0
    for number in numbers:
        total = add(total, number)
    numbers.append(total)
"""
RIGHT = ADD + GREET + GROW


def grade_source(
    source: str | bytes, grading: Grading = TOY, around: SandboxConfig | None = None
) -> GradeReport:
    """Grade a program with this source."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "app.py"
        path.write_bytes(source if isinstance(source, bytes) else source.encode())
        return grade_path(path, grading, around)


def grading_of(course: str, *ids: str) -> Grading:
    """The grading of a course, optionally restricted to some tasks."""
    return get_course(course).grading().only(ids)


def grade_path(
    path: Path, grading: Grading = TOY, around: SandboxConfig | None = None
) -> GradeReport:
    """Grade the single submission at a path."""
    with tempfile.TemporaryDirectory() as scratch:
        (submission,) = collect([path], grading, Path(scratch))
        return grade(submission, grading, around or SandboxConfig())


def failures(report: GradeReport) -> str:
    """Everything a report says about what went wrong."""
    checks = [check for task in report.tasks for check in task.checks if not check.passed]
    lines = [f"{check.example}\n{check.expected}\n{check.actual}" for check in checks]
    return "\n".join([report.problem, *report.notes, *lines])


def run_course(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a course command; return its status, output and errors."""
    capsys.readouterr()
    status = main(["course", *map(str, words)])
    return status, *capsys.readouterr()
