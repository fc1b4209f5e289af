"""A course outside the package: creating, proving and installing it, and its author's mistakes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from toys import run_course

from py2048.cli import main
from py2048.courses import get_course
from py2048.courses.grading.report import grader_version
from py2048.courses.term.settings import read_settings


@pytest.fixture
def course(tmp_path) -> Path:
    """A new course's folder."""
    folder = tmp_path / "mine"
    assert main(["course", "new", str(folder)]) == 0
    return folder


@pytest.fixture
def run(capsys) -> Callable[..., tuple[int, str, str]]:
    """Run a course command; return its status and output."""
    return partial(run_course, capsys)


def test_a_new_course_works_as_it_is(course, run):
    """Its solutions, starter and mutants have the expected marks."""
    status, out, _ = run("prove", course)
    assert status == 0
    lines = out.splitlines()
    assert lines[:3] == ["starter: 0 / 10", "loops: 10 / 10", "sums: 10 / 10"]
    assert lines[3] == "first_row_only: 7 / 10, marks lost in 1"
    assert lines[-1] == "mine: all 6 programs get the expected marks"


def test_every_command_accepts_a_course_folder(course, run, tmp_path, monkeypatch):
    """A term refers to the folder by its relative path."""
    assert run("start", course, tmp_path / "ann")[0] == 0
    status, out, _ = run("check", course, tmp_path / "ann")
    assert (status, "0 / 10" in out) == (0, True)
    term = tmp_path / "terms" / "autumn"
    assert run("new-term", term, "--course", course)[0] == 0
    assert 'course = "../../mine"' in (term / "course.toml").read_text()
    monkeypatch.chdir(term)
    for folder in (term, Path()):
        assert get_course(read_settings(folder).course).folder == course


def test_a_built_in_name_cannot_be_reused(course, run):
    """Existing files are not overwritten either, as `test_starters.py` checks."""
    assert "cannot be a course's name" in run("new", course / "ist")[2]


MISTAKES = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text())["mistakes"]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["message"])
def test_an_authors_mistake_is_one_line(course, run, mistake):
    """The status is 2 and the line names the place, before any program is graded."""
    path, old, new = course / mistake["file"], mistake["old"], mistake.get("new")
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new)) if new is not None else path.unlink()
    status, out, error = run("prove", course)
    assert (status, out) == (2, "")
    assert mistake["message"] in error
    assert error.count("\n") == 1


def test_programs_with_unexpected_marks_are_listed(course, run):
    """A check that raises an exception is a failure of the course."""
    for file, old, new in [
        ("tasks.py", "(UNCHANGED,)", "run=lambda session: open('none')"),
        ("starter/app.py", "def total", "def total("),
        ("mutants.toml", 'costs = ["1"]', 'costs = ["2"]'),
    ]:
        (course / file).write_text((course / file).read_text().replace(old, new))
    status, out, error = run("prove", course)
    assert (status, error) == (2, "py2048: 6 of 6 programs do not get the expected marks\n")
    starter, loops, *_ = out.splitlines()
    assert starter.startswith("starter: app.py, line 1: SyntaxError")
    assert loops == "loops: [Errno 2] No such file or directory: 'none'"


def test_a_wrong_check_is_described(course, run):
    """The line names the tasks, and the failed check of a solution."""
    for file, old, new in [
        ("tasks.py", '"show([[0, 4, 8]])"', '"show([[0, 4, 4]])"'),
        ("mutants.toml", 'costs = ["1"]', 'costs = ["2"]'),
    ]:
        (course / file).write_text((course / file).read_text().replace(old, new))
    out = run("prove", course)[1].splitlines()
    shown = "; show prints the rows and the total: show([[0, 4, 4]]) is printed . 4 4 Total: 8"
    assert out[1] == f"loops: loses marks in 2, but should in no task{shown}"
    assert out[4].startswith("empties_the_board: loses marks in 1, 2, but should in 1; ")


def test_an_installed_course_is_found_by_its_entry_point(course, run, tmp_path, monkeypatch):
    """A missing package is reported on one line."""
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
    assert "lost        the course 'lost' is registered, but its package no.where is missing" in out


def test_changing_a_course_changes_the_graders_version(course):
    """The task sheet counts, because it contains texts and marks."""
    grading = get_course(str(course)).grading()
    assert grader_version(replace(grading)) == (before := grader_version(grading))
    (course / "starter" / "TASKS.md").write_text("## Task 1: total (5 marks)\n\nAll.\n")
    assert grader_version(replace(grading)) != before
