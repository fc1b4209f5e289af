"""`py2048 course`: commands, their output, and one clear line for bad input."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
from toys import RIGHT, TOY, run_course, toy_course

from py2048 import courses
from py2048.courses import COURSES
from py2048.courses.grading import Check, grader
from py2048.courses.grading.grader import grade_all
from py2048.courses.grading.report import GradeReport


@pytest.fixture
def toy(monkeypatch):
    """Add the toy course to the built-in ones."""
    monkeypatch.setitem(courses.COURSES, "toy", toy_course())


@pytest.fixture
def students(tmp_path):
    """A class of three: one right, one wrong, one with a syntax error."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "ann.py").write_text(RIGHT)
    (folder / "bob.py").write_text(RIGHT.replace("a + b", "a - b"))
    (folder / "cy.py").write_text("def add(")
    return folder


def test_list_names_every_course(capsys):
    """Each course has a line."""
    status, out, _ = run_course(capsys, "list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(COURSES)


def test_check_shows_one_submission_in_full(capsys, toy, students):
    """A single report shows the tasks, marks and shortest failing example."""
    status, out, _ = run_course(capsys, "check", "toy", students / "bob.py")
    assert status == 0
    assert out.startswith("Protection: ")
    for text in ("6 / 9", "add(a, b) returns the sum", "add(1, 2)", "expected: 3", "actual:   -1"):
        assert text in " ".join(out.split()) or text in out


def test_check_grades_only_the_tasks_it_is_given(capsys, toy, students, tmp_path):
    """Results of other tasks in the log are not reused, and an unknown task is an error."""
    for task, marks in (("1", "1 / 4"), ("2", "2 / 2")):
        words = ("check", "toy", students / "bob.py", "--task", task, "--log", tmp_path / "log")
        status, out, _ = run_course(capsys, *words)
        assert (status, out.split()[-5:-2]) == (0, marks.split())
    status, _, error = run_course(capsys, "check", "toy", students / "bob.py", "--task", "9")
    assert (status, error) == (2, "py2048: --task '9' is unknown: use one of 1, 2, 3\n")


def test_check_shows_a_class_as_a_gradebook(capsys, toy, students):
    """A class gets a line per result, then a table."""
    status, out, _ = run_course(capsys, "check", "toy", students, "--jobs", 2)
    assert status == 0
    assert "ann  9 / 9" in out
    assert "bob  6 / 9  marks lost in 1" in out
    assert "cy  0 / 9  not graded: cy.py, line 1: SyntaxError" in " ".join(out.split("\n"))
    assert "Gradebook" in out


def test_odd_files_affect_only_their_student(capsys, toy, students):
    """Damaged ZIPs, names and texts outside UTF-8 and a folder 2048.py are handled."""
    with zipfile.ZipFile(students / "damaged.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("app.py", RIGHT)
    data = bytearray((students / "damaged.zip").read_bytes())
    data[40] ^= 0xFF
    (students / "damaged.zip").write_bytes(data)
    for name in (b"caf\xe9", b"files", b"2048.py", b"half"):
        student = students / os.fsdecode(name)
        student.mkdir()
        (student / "app.py").write_text(RIGHT)
    (students / "files" / os.fsdecode(b"r\xe9sum\xe9.txt")).write_text("")
    (students / "half" / "app.py").write_text(RIGHT.replace("Hello", r"\ud83d"))
    status, out, error = run_course(capsys, "check", "toy", students, "--json")
    assert (status, "Protection: " in error) == (0, True)
    found = {each["name"]: each for each in json.loads(out)["submissions"]}
    right = dict.fromkeys(("ann", r"caf\udce9", "files", "2048.py"), 9)
    scores = right | {"bob": 6, "cy": 0, "half": 7, "damaged": 0}
    assert {name: one["score"] for name, one in found.items()} == scores
    assert "damaged.zip is not a readable ZIP file" in found["damaged"]["problem"]


def test_all_files_at_once_from_a_zip(capsys, toy, students, tmp_path):
    """CSV, pages and the results file are written by one run over a ZIP."""
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for path in students.iterdir():
            opened.write(path, path.name)
    out = tmp_path / "out"
    status, *_ = run_course(
        capsys, "check", "toy", archive, "--csv", tmp_path / "g.csv", "--pages", out,
        "--log", tmp_path / "r.jsonl",
    )  # fmt: skip
    assert status == 0
    with (tmp_path / "g.csv").open(newline="") as file:
        marks = {row["submission"]: row["score"] for row in csv.DictReader(file)}
    assert marks == {"ann": "9", "bob": "6", "cy": "0"}
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        *(f"{who}.html" for who in marks),
    }
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 3
    words = ["check", "toy", archive, "--csv", tmp_path / "g.csv", "--log", tmp_path / "r.jsonl"]
    (tmp_path / "g.csv").write_text("by hand")
    status, _, err = run_course(capsys, *words)
    assert status == 2
    assert "--force" in err
    assert (tmp_path / "g.csv").read_text() == "by hand"
    assert run_course(capsys, *words, "--force")[0] == 0
    assert (tmp_path / "g.csv").read_text() != "by hand"


def _stopping_after(count: int) -> Any:
    """Grading interrupted by Ctrl-C after some submissions."""

    def graded(*args: Any, **options: Any) -> Iterator[GradeReport]:
        yield from islice(grade_all(*args, **options), count)
        raise KeyboardInterrupt

    return graded


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_ctrl_c_reports_finished_submissions(words, capsys, monkeypatch, toy, students, tmp_path):
    """Report, table and pages say that the class is incomplete."""
    monkeypatch.setattr(grader, "grade_all", _stopping_after(2))
    table, pages = tmp_path / "marks.csv", tmp_path / "pages"
    status, out, err = run_course(
        capsys, "check", "toy", students, "-j", 1, "--csv", table, "--pages", pages, *words
    )
    assert status == 130
    assert err.splitlines()[-1] == "py2048: stopped after 2 of 3 submissions"
    assert [line.split(",")[0] for line in table.read_text().splitlines()[1:]] == ["ann", "bob"]
    assert sorted(path.name for path in pages.iterdir()) == ["ann.html", "bob.html", "index.html"]
    assert "stopped after 2 of 3 submissions" in (pages / "index.html").read_text()
    if words:
        data = json.loads(out)
        assert [one["name"] for one in data["submissions"]] == ["ann", "bob"]
        assert data["complete"] is False
    else:
        assert "Gradebook" in out


def test_a_grader_failure_gives_no_mark(capsys, monkeypatch, toy, students, tmp_path):
    """Other submissions are graded, and the exit status is 2."""

    def fails(session):
        if session.submission.file == "bob.py":
            raise RuntimeError("a slip of the course's author")

    task = replace(TOY.tasks[0], checks=(Check("fails", run=fails),))
    faulty = replace(TOY, tasks=(task, *TOY.tasks[1:]))
    monkeypatch.setattr(type(courses.COURSES["toy"]), "found", faulty)
    table, pages = tmp_path / "marks.csv", tmp_path / "pages"
    results = tmp_path / "results.jsonl"
    words = ["check", "toy", students, "--csv", table, "--pages", pages]
    status, out, err = run_course(capsys, *words, "--log", results)
    assert status == 2
    assert "the grader failed on 1 of 3 submissions" in err.splitlines()[-1]
    with table.open(newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert (rows["ann"]["score"], rows["bob"]["score"], rows["cy"]["score"]) == ("9", "", "0")
    *empty, problem = [*rows["bob"].values()][1:]
    assert empty == ["", "9", "", "", "", ""]
    place = r"\(test_grading_cli\.py, line \d+\)"
    assert re.fullmatch(f"the grader failed: RuntimeError: a slip of .* author {place}", problem)
    assert "bob  no mark" in " ".join(out.split("\n"))
    assert "of 9 marks on average" in (pages / "index.html").read_text()
    assert "2 submissions" in (pages / "index.html").read_text()
    status, out, _ = run_course(capsys, "check", "toy", students, "--json", "--log", results)
    assert status == 2, "failures are graded again"
    scores = {one["name"]: one["score"] for one in json.loads(out)["submissions"]}
    assert scores == {"ann": 9, "bob": None, "cy": 0}


def test_play_runs_the_reference_solution(capsys, monkeypatch):
    """Arguments are passed to the course."""
    monkeypatch.setattr("builtins.input", lambda _="": "p")
    before = sys.argv
    status, out, _ = run_course(capsys, "play", "cmput175", "2", "3")
    assert status == 0
    assert 'Enter "p" to quit.' in out
    assert sys.argv is before


PAGES = "check toy {class}/ann.py --pages {class}/ann.py"
BAD = {
    "check cmput157 x.py": "did you mean 'cmput175'?",
    PAGES: "--pages {class}/ann.py would replace a file that is read",
    "check toy {class} --pages {class}/ann.py/pages": "there is no folder {class}/ann.py",
    "check toy {class} --log {class}/ann.py": "is not a results file",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_clear_line_and_status_2(line, capsys, toy, students):
    """The line names the problem, and nothing is graded or written."""
    places = {"class": str(students)}
    status, out, err = run_course(capsys, *(word.format(**places) for word in line.split()))
    assert status == 2
    assert BAD[line].format(**places) in err
    assert err.splitlines()[-1].startswith("py2048: ")
    assert "Traceback" not in out + err
    assert "ann  9 / 9" not in out


def test_windows_need_a_virtual_display(capsys, monkeypatch, tmp_path):
    """A missing Xvfb is reported to the teacher and costs no marks."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bwrap", "unshare", "rm"):
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    status, _, err = run_course(capsys, "check", "cits1401", tmp_path / "none.py")
    assert status == 2
    assert "install it (apt install xvfb)" in err


def test_mutants_lists_undetected_faults(toy, capsys, tmp_path):
    """Planted faults that cost no marks in their function's tasks are listed."""
    solution = tmp_path / "app.py"
    solution.write_text(RIGHT)
    words = "mutants", "toy", solution, "--match", "in add)"
    before = "if isinstance(a, str) or isinstance(b, str):"
    missed = f"{before} → if (isinstance(a, str)):"
    status, out, _ = run_course(capsys, *words)
    assert status == 1
    assert [line for line in out.splitlines() if line.startswith("not")] == [
        f"not detected: app.py:3: {missed} (and, or, in add)"
    ]
    assert "detected: 8 of 9 mutants" in out
    exempt = f'[[exempt]]\nwhere = "add"\nchange = "{missed}"\nreason = "texts come first"\n'
    solution.with_suffix(".toml").write_text(exempt)
    status, out, _ = run_course(capsys, *words, "--count", 1)
    assert status == 0
    assert "detected: 1 of 1 mutants of app.py, 100.0 %" in out
    solution.with_suffix(".toml").write_text(exempt.replace("a, str", "c, str"))
    status, _, err = run_course(capsys, *words)
    assert status == 2
    assert "app.toml: add " in err
    assert "matches 0 mutants" in err


def test_mutants_lists_marks_lost_in_unrelated_tasks(toy, capsys, tmp_path, monkeypatch):
    """This happens if a patch does not replace a function that a check depends on."""
    solution = tmp_path / "app.py"
    solution.write_text(RIGHT)
    first, second, third = TOY.tasks
    lent = "if hasattr(app, 'sub'): app.add = app.sub"
    third = replace(third, reference_patches=(lent,))
    monkeypatch.setattr(type(COURSES["toy"]), "found", replace(TOY, tasks=(first, second, third)))
    status, out, _ = run_course(capsys, "mutants", "toy", solution, "--match", "a - b")
    assert status == 1
    assert "marks lost in unrelated tasks 3: app.py:5: return a + b → return (a - b)" in out
