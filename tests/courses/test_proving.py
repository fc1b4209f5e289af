"""A course outside the package: made, proved, found; a slip of its author is one clear error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from py2048.cli import main
from py2048.courses import get_course
from py2048.courses.grading.report import grader_version
from py2048.courses.term.settings import read_settings


@pytest.fixture
def course(tmp_path) -> Path:
    """The folder of a new course."""
    folder = tmp_path / "mine"
    assert main(["course", "new", str(folder)]) == 0
    return folder


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, str, str]]:
    """Run a command of courses; return its status, and what it says."""

    def command(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(["course", *map(str, words)])
        return status, *capsys.readouterr()

    return command


def test_a_new_course_works_as_it_is(course, run):
    """Right solutions lose nothing, the starter earns nothing, mutants lose what they should."""
    status, out, _ = run("prove", course)
    assert status == 0
    lines = out.splitlines()
    assert lines[:3] == ["starter: 0 / 10", "loops: 10 / 10", "sums: 10 / 10"]
    assert lines[3] == "first_row_only: 7 / 10, marks lost in 1"
    assert lines[-1] == "mine: all 6 programs have the marks that they should"


def test_every_command_takes_a_course_s_folder(course, run, tmp_path, monkeypatch):
    """In place of a name: to hand out, to grade, and in a term, beside which it stays."""
    assert run("start", course, tmp_path / "ann")[0] == 0
    status, out, _ = run("check", course, tmp_path / "ann")
    assert (status, "0 / 10" in out) == (0, True)
    term = tmp_path / "terms" / "autumn"
    assert run("new-term", term, "--course", course)[0] == 0
    assert 'course = "../../mine"' in (term / "course.toml").read_text()
    monkeypatch.chdir(term)
    for folder in (term, Path()):
        assert get_course(read_settings(folder).course).folder == course


def test_nothing_is_overwritten(course, run):
    """Neither by a second new course; nor does it take the name of one of ours."""
    before = (course / "tasks.py").read_text()
    status, _, error = run("new", course)
    assert (status, "is there already" in error) == (2, True)
    assert (course / "tasks.py").read_text() == before
    assert "cannot be a course's name" in run("new", course / "ist")[2]


THEN = 'Example("total(board)", 6, given="board = [[2, 4]]", then={"board": [[2, 4]]})'


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("about.toml", "", None, "about.toml' is missing: py2048 course new makes such a folder"),
        ("about.toml", "title =", "titel =", "titel is not a setting; did you mean 'title'?"),
        ("about.toml", '"two functions on a board"', "2", "asks is to be a text in quotes, not 2"),
        ("about.toml", '"mine"', '"other"', "the course is called 'other', not 'mine'"),
        ("tasks.py", "", None, "tasks.py' is missing"),
        ("starter/TASKS.md", "", None, "TASKS.md'"),
        ("about.toml", "given = []", 'given = ["more.py"]', "more.py' is missing"),
        ("tasks.py", "import random", "import randon", "tasks.py, line 5: ModuleNotFoundError"),
        ("tasks.py", "GRADING =", "GRADED =", "has no attribute 'GRADING'"),
        ("tasks.py", 'SHEET["2"]', 'SHEET["3"]', "tasks.py, line 44: KeyError: '3'"),
        ("tasks.py", THEN, THEN.replace("{", "(").replace("}", ",)").replace(":", ","), "then is"),
        ("tasks.py", "(UNCHANGED,)", "(UNCHANGED)", "examples is to be Sequence"),
        ("tasks.py", "board = [[draw", "board = [[drawn", "examples: NameError"),
        (
            "tasks.py",
            "            checks=(Check",
            "marks=5, checks=(Check",
            "task 2 has 6 marks, and 5",
        ),
        ("starter/TASKS.md", "## Task 2: ", "## Task two: ", "KeyError: '2'"),
        ("mutants.toml", "[loops.", "[loop.", "no right solution is called 'loop'; did you mean"),
        ("mutants.toml", 'loses = ["2"]', 'loses = ["3"]', "shows_zeros: no task '3'; known: 1, 2"),
        ("mutants.toml", 'flaw = "show', 'flow = "show', "shows_zeros: Object contains unknown"),
        (
            "mutants.toml",
            'str(tile or ".")',
            "str(tile)",
            "shows_zeros: 'str(tile)' stands 0 times",
        ),
        ("mutants.toml", 'loses = ["2"]', 'loses = ["all"]', "no mutant loses marks in 2"),
        ("mutants.toml", "[loops", "[[loops", "this is not TOML in UTF-8"),
    ],
)
def test_a_slip_is_an_error_for_the_author(course, run, file, old, new, message):
    """Status 2 and one line with the place, before any program is graded."""
    path = course / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new)) if new is not None else path.unlink()
    status, out, error = run("prove", course)
    assert (status, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1


def test_programs_with_other_marks_than_they_should_are_named(course, run):
    """A check that raises is a failure of the course; a wrong one shows what it finds."""
    for file, old, new in [
        ("tasks.py", "(UNCHANGED,)", "run=lambda session: open('none')"),
        ("starter/app.py", "def total", "def total("),
        ("mutants.toml", 'costs = ["1"]', 'costs = ["2"]'),
    ]:
        (course / file).write_text((course / file).read_text().replace(old, new))
    status, out, error = run("prove", course)
    assert (status, error) == (2, "py2048: 6 of 6 programs have other marks than they should\n")
    starter, loops, *_ = out.splitlines()
    assert starter.startswith("starter: app.py, line 1: SyntaxError")
    assert loops == "loops: [Errno 2] No such file or directory: 'none'"


def test_a_wrong_check_shows_what_it_finds(course, run):
    """A right solution that loses marks says in which check, a mutant how many."""
    for file, old, new in [
        ("tasks.py", '"show([[0, 4, 8]])"', '"show([[0, 4, 4]])"'),
        ("mutants.toml", 'costs = ["1"]', 'costs = ["2"]'),
    ]:
        (course / file).write_text((course / file).read_text().replace(old, new))
    out = run("prove", course)[1].splitlines()
    shown = "; show prints the rows and the total: show([[0, 4, 4]]) is printed . 4 4 Total: 8"
    assert out[1] == f"loops: loses marks in 2, and should in no task{shown}"
    assert out[4].startswith("empties_the_board: loses marks in 1, 2, and should in 1; ")


def test_an_installed_course_is_found_by_its_entry_point(course, run, tmp_path, monkeypatch):
    """Under the name of the entry point; a package that is missing is one line."""
    about = tmp_path / "theirs-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[py2048.courses]\nmine = mine\nlost = no.where\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = get_course("mine")
    assert (found.folder, found.package, found.grading().marks) == (course, "mine", 10)
    status, out, _ = run("list")
    assert status == 0
    assert "mine        A course to be replaced: two functions on a board (terminal)" in out
    assert "lost        the package of the course 'lost' is missing: no.where" in out


def test_a_result_is_that_of_the_course_s_files(course):
    """Text and marks are on the sheet, so that a change of it is another grader."""
    grading = get_course(str(course)).grading()
    assert grader_version(replace(grading)) == (before := grader_version(grading))
    (course / "starter" / "TASKS.md").write_text("## Task 1: total (5 marks)\n\nAll.\n")
    assert grader_version(replace(grading)) != before
