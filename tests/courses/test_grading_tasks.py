"""Every course's tasks are complete, and programs that do nothing earn nothing."""

from __future__ import annotations

import ast
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from toys import TOY, grade_path

from py2048.core.errors import CourseError
from py2048.courses import COURSES
from py2048.courses.grading import Check, Example
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.tasks import validate
from py2048.courses.proving import check_tasks


@pytest.mark.parametrize(
    ("part", "changes", "message"),
    [
        ("example", {"typed": "Ann"}, "task 1, check 'sums': 'add.* typed must be .*not 'Ann'"),
        ("example", {"then": ("x", 3)}, "then must be Mapping"),
        ("example", {"code": "add(1, 2"}, r"code 'add\(1, 2' .*never closed"),
        ("example", {"given": "x ="}, "given 'x =' is not valid Python: invalid syntax"),
        ("example", {"then": {3: 4}}, r"then must be Mapping\[str, object\], not {3: 4}"),
        ("check", {"weight": True}, "weight must be int, not True"),
        ("grading", {"prelude": "x ="}, "the course toy: prelude is not valid Python: invalid"),
        ("example", {"then": {"x = 2": 3}}, "then 'x = 2' .*invalid syntax"),
        ("check", {"examples": ()}, "check 'sums' needs examples or run"),
        ("check", {"weight": -1}, "needs examples or run, and a weight of at least 0"),
        ("check", {"reference_patches": "x = 1"}, "reference_patches .* 'x = 1'"),
        ("check", {"examples": Example("add(1, 2)", 3)}, "examples must be Sequence"),
        (
            "check",
            {"examples": lambda seed: int(f"x{seed}")},
            "examples: ValueError: invalid literal",
        ),
        ("task", {"checks": ()}, "task 1 needs marks and a check with a weight above 0"),
        ("task", {"marks": "4"}, "marks must be Fraction | int, not '4'"),
        ("task", {"marks": 0}, "task 1 needs marks and a check with a weight above 0"),
        ("task", {"id": "2"}, "two tasks have the id '2'"),
        ("grading", {"files": "app.py"}, "files .* 'app.py'"),
        ("grading", {"given_files": (Path("no.py"),)}, "given_files: 'no.py' is missing"),
    ],
)
def test_a_mistake_in_a_course_is_reported_before_grading(part, changes, message):
    """The author's mistake is located, and costs no student any marks."""
    task = TOY.tasks[0]
    check = task.checks[0]
    if part == "example":
        example = replace(Example("add(1, 2)"), **changes)
        check = replace(check, examples=(Example("add(1, 1)", 2), example))
    if part == "check":
        check = replace(check, **changes)
    task = replace(task, checks=(check, *task.checks[1:]))
    if part == "task":
        task = replace(task, **changes)
    grading = replace(TOY, tasks=(task, *TOY.tasks[1:]), **(changes if part == "grading" else {}))
    with pytest.raises(CourseError, match=message):
        validate(grading)


def test_short_examples_run_first():
    """Rank counts first, then the number of lines, then the length with setup and input."""
    aligned = Example("a" * 4), Example("a", given="bbbb"), Example("aa", typed=["bb", "bb"])
    examples = [*aligned, Example("a\nb"), Example("c", rank=1)]
    assert Check("c", examples[::-1]).listed() == examples


@pytest.mark.parametrize("course", COURSES)
def test_the_built_in_courses_are_valid(course):
    """Every task on the sheet is graded, with its marks."""
    check_tasks(COURSES[course])


def test_the_marks_are_those_of_the_document():
    """The marks add up to the totals of the documents."""
    documents = {"cits1401": 25, "cmput175": 60, "comp1127": 106, "ist": 14}
    assert documents == {course: COURSES[course].grading().marks for course in documents}


class _Lazy(ast.NodeTransformer):
    """Gives every unfinished function of a starter the same body."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if isinstance(node.body[-1], ast.Pass):
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
            code = self.answer.format(
                first=(names or ["None"])[0], last=(names or ["None"])[-1], name=node.name
            )
            node.body = ast.parse(code).body
        return node


LAZY = (
    *("return True", "return {first}"),
    *("return False", "raise ValueError('{name}: invalid arguments')"),
    *("return 0", "return []", "return ()"),
    *("return {last}", "return {first}, True", "return {first}, False"),
)


@pytest.mark.parametrize(
    ("course", "answer"),  # courses with windows are slow: only four answers
    [
        pytest.param(name, answer, marks=[pytest.mark.slow] * (gui or answer not in LAZY[:2]))
        for name in COURSES
        for gui in [COURSES[name].grading().gui]
        for answer in (LAZY[:4] if gui else LAZY)
    ],
)
def test_a_program_that_does_nothing_earns_nothing(course, answer, tmp_path):
    """Every check distinguishes a correct program from functions with constant results.

    `test_mutants.py` covers the starters, whose functions return None.
    """
    folder = Path(shutil.copytree(COURSES[course].starter, tmp_path / "lazy"))
    for path in folder.glob("*.py"):
        path.write_text(ast.unparse(_Lazy(answer).visit(ast.parse(path.read_text("utf-8")))))
    report = grade_path(folder, COURSES[course].grading(), SandboxConfig(seconds=300))
    assert not report.problem
    passed = [check.title for task in report.tasks for check in task.checks if check.passed]
    assert (report.earned, passed) == (0, [])


@pytest.mark.parametrize("course", COURSES)
def test_the_starter_explains_how_to_check(course):
    """README.md names the grading command and each system's requirements."""
    readme = (COURSES[course].starter / "README.md").read_text(encoding="utf-8")
    assert f"py2048 course check {course}" in readme
    assert all(word in readme for word in ("macOS", "--unprotected", "WSL"))
    assert ("Xvfb" in readme) is COURSES[course].grading().gui
