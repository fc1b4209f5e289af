"""`py2048 course`: commands, their output, and one clear line for bad input."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from toys import RIGHT, TOY, toy_course

from py2048 import courses
from py2048.cli import main
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


def _run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = main(["course", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_list_names_every_course(capsys):
    """Each course has a line."""
    status, out, _ = _run(capsys, "list")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(COURSES)


def test_check_shows_one_submission_in_full(capsys, toy, students):
    """A single report shows the tasks, marks and shortest failing example."""
    status, out, _ = _run(capsys, "check", "toy", students / "bob.py")
    assert status == 0
    assert out.startswith("Protection: ")
    for text in ("6 / 9", "add(a, b) returns the sum", "add(1, 2)", "expected: 3", "actual:   -1"):
        assert text in " ".join(out.split()) or text in out


def test_check_shows_a_class_as_a_gradebook(capsys, toy, students):
    """A class gets a line per result, then a table."""
    status, out, _ = _run(capsys, "check", "toy", students, "--jobs", 2)
    assert status == 0
    assert "ann  9 / 9" in out
    assert "bob  6 / 9  marks lost in 1" in out
    assert "cy  0 / 9  not graded: cy.py, line 1: SyntaxError" in " ".join(out.split("\n"))
    assert "Gradebook" in out


def _odd_files(folder: Path) -> None:
    """Add hand-ins with unusual names and contents."""
    with zipfile.ZipFile(folder / "damaged.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("app.py", RIGHT)
    data = bytearray((folder / "damaged.zip").read_bytes())
    data[40] ^= 0xFF
    (folder / "damaged.zip").write_bytes(data)
    for name in (b"caf\xe9", b"files", b"2048.py", b"half"):
        student = folder / os.fsdecode(name)
        student.mkdir()
        (student / "app.py").write_text(RIGHT)
    (folder / "files" / os.fsdecode(b"r\xe9sum\xe9.txt")).write_text("")
    (folder / "half" / "app.py").write_text(RIGHT.replace("Hello", r"\ud83d"))


def test_odd_files_affect_only_their_student(capsys, toy, students, tmp_path):
    """Damaged ZIPs, names and texts outside UTF-8 and a folder 2048.py are handled."""
    _odd_files(students)
    csv_file, html = tmp_path / "marks.csv", tmp_path / "html"
    assert _run(capsys, "check", "toy", students, "--csv", csv_file, "--pages", html)[0] == 0
    with csv_file.open(encoding="utf-8", newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    odd = {r"caf\udce9": "9", "files": "9", "2048.py": "9", "half": "7", "damaged": "0"}
    marks = {name: row["score"] for name, row in rows.items()}
    assert marks == {"ann": "9", "bob": "6", "cy": "0"} | odd
    assert "damaged.zip is not a readable ZIP file" in rows["damaged"]["problem"]
    assert len(list(html.iterdir())) == 1 + len(rows)


def test_json_output_contains_nothing_else(capsys, toy, students):
    """Standard output is valid JSON, with submissions ordered by name."""
    status, out, err = _run(capsys, "check", "toy", students, "--json")
    assert status == 0
    data = json.loads(out)
    assert [(s["name"], s["score"]) for s in data["submissions"]] == [
        ("ann", 9),
        ("bob", 6),
        ("cy", 0),
    ]
    assert "Protection: " in err


def test_all_files_at_once_from_a_zip(capsys, toy, students, tmp_path):
    """CSV, pages and the results file are written by one run over a ZIP."""
    archive = tmp_path / "class.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        for path in students.iterdir():
            opened.write(path, path.name)
    out = tmp_path / "out"
    status, *_ = _run(
        capsys, "check", "toy", archive, "--csv", tmp_path / "g.csv", "--pages", out,
        "--log", tmp_path / "r.jsonl",
    )  # fmt: skip
    assert status == 0
    with (tmp_path / "g.csv").open(newline="") as file:
        assert [row[:2] for row in csv.reader(file)][1:] == [
            ["ann", "9"],
            ["bob", "6"],
            ["cy", "0"],
        ]
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "ann.html",
        "bob.html",
        "cy.html",
    }
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 3
    words = ["check", "toy", archive, "--csv", tmp_path / "g.csv", "--log", tmp_path / "r.jsonl"]
    assert _run(capsys, *words)[0] == 0, "unedited files are replaced"
    (tmp_path / "g.csv").write_text("by hand")
    status, _, err = _run(capsys, *words)
    assert status == 2
    assert "--force" in err
    assert (tmp_path / "g.csv").read_text() == "by hand"
    assert _run(capsys, *words, "--force")[0] == 0
    assert (tmp_path / "g.csv").read_text() != "by hand"
    assert not list(Path.cwd().glob("class*"))


def _stopping_after(count: int) -> Callable[..., Iterator[GradeReport]]:
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
    status, out, err = _run(
        capsys, "check", "toy", students, "-j", 1, "--csv", table, "--pages", pages, *words
    )
    assert status == 130
    assert err.splitlines()[-1] == "py2048: stopped after 2 of 3 submissions"
    assert [line.split(",")[0] for line in table.read_text().splitlines()[1:]] == ["ann", "bob"]
    assert sorted(path.name for path in pages.iterdir()) == ["ann.html", "bob.html", "index.html"]
    assert "stopped after 2 of 3 submissions" in (pages / "index.html").read_text()
    if words:
        data = json.loads(out)
        assert ([one["name"] for one in data["submissions"]], data["complete"]) == (
            ["ann", "bob"],
            False,
        )
    else:
        assert "Gradebook" in out


def test_ctrl_c_before_the_first_result_keeps_older_results(
    capsys, monkeypatch, toy, students, tmp_path
):
    monkeypatch.setattr(grader, "grade_all", _stopping_after(0))
    table = tmp_path / "marks.csv"
    table.write_text("of last week")
    status, _, err = _run(capsys, "check", "toy", students, "--csv", table, "--force")
    assert (status, err) == (130, "py2048: stopped after 0 of 3 submissions\n")
    assert table.read_text() == "of last week"


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
    status, out, err = _run(capsys, *words, "--log", results)
    assert status == 2
    assert "the grader failed on 1 of 3 submissions" in err.splitlines()[-1]
    with table.open(newline="") as file:
        rows = {row["submission"]: row for row in csv.DictReader(file)}
    assert (rows["ann"]["score"], rows["bob"]["score"], rows["cy"]["score"]) == ("9", "", "0")
    assert rows["bob"]["problem"].startswith("the grader failed: RuntimeError")
    assert "bob  no mark" in " ".join(out.split("\n"))
    assert "of 9 marks on average" in (pages / "index.html").read_text()
    assert "2 submissions" in (pages / "index.html").read_text()
    status, out, _ = _run(capsys, "check", "toy", students, "--json", "--log", results)
    assert status == 2, "failures are graded again"
    scores = {one["name"]: one["score"] for one in json.loads(out)["submissions"]}
    assert scores == {"ann": 9, "bob": None, "cy": 0}
    target = tmp_path / "results.json"
    words = ["check", "toy", students / "bob.py", "--gradescope", target]
    assert _run(capsys, *words)[0] == 2
    assert not target.exists(), "Gradescope itself reports that the grader failed"


def test_gradescope_writes_results_json(capsys, toy, students, tmp_path):
    """The results of a submission include the days late from Gradescope's metadata."""
    target = tmp_path / "results.json"
    metadata = {
        "created_at": "2026-10-18T14:22:32.365935-07:00",
        "assignment": {"due_date": "2026-10-17T23:00:00.000000-07:00"},
        "users": [{"email": "bob@uni.edu", "id": 1234, "name": "Bob"}],
    }
    (students / "submission_metadata.json").write_text(json.dumps(metadata))
    status, *_ = _run(capsys, "check", "toy", students / "bob.py", "--gradescope", target)
    assert status == 0
    data = json.loads(target.read_text())
    assert data["score"] == 6
    assert data["extra_data"]["days_late"] == 1
    assert "Days late: 1." in data["output"]
    assert [test["status"] for test in data["tests"]] == ["failed", "passed", "passed"]


def test_play_runs_the_reference_solution(capsys, monkeypatch):
    """Arguments are passed to the course."""
    monkeypatch.setattr("builtins.input", lambda _="": "p")
    before = sys.argv
    status, out, _ = _run(capsys, "play", "cmput175", "2", "3")
    assert status == 0
    assert 'Enter "p" to quit.' in out
    assert sys.argv is before


BAD = {
    "an unknown course": (("check", "cmput157", "x.py"), "did you mean 'cmput175'?"),
    "a missing path": (("check", "toy", "{tmp}/none.py"), "does not exist"),
    "a class for Gradescope": (
        ("check", "toy", "{class}", "--gradescope", "{tmp}/r.json"),
        "--gradescope writes the results of a single submission, not of 3",
    ),
    "a folder for CSV": (("check", "toy", "{class}", "--csv", "{tmp}"), "cannot write"),
    "a CSV in no folder": (("check", "toy", "{class}", "--csv", "{tmp}/no/g.csv"), "cannot write"),
    "a file for pages": (
        ("check", "toy", "{class}/ann.py", "--pages", "{class}/ann.py"),
        "--pages {class}/ann.py would replace a file that is read",
    ),
    "pages below a file": (
        ("check", "toy", "{class}", "--pages", "{class}/ann.py/pages"),
        "there is no folder {class}/ann.py",
    ),
    "one name for pages and CSV": (
        ("check", "toy", "{class}", "--csv", "{tmp}/marks", "--pages", "{tmp}/marks"),
        "{tmp}/marks would replace a file that is read or written here: name another",
    ),
    "a results file of something else": (
        ("check", "toy", "{class}", "--log", "{class}/ann.py"),
        "is not a results file",
    ),
    "a broken ZIP": (("check", "toy", "{tmp}/broken.zip"), "is not a readable ZIP file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_clear_line_and_status_2(name, capsys, toy, students, tmp_path):
    """The line names the problem, and nothing is graded or written."""
    (tmp_path / "broken.zip").write_text("x")
    words, message = BAD[name]
    places = {"tmp": str(tmp_path), "class": str(students)}
    status, out, err = _run(capsys, *(word.format(**places) for word in words))
    assert status == 2
    assert message.format(**places) in err
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
    status, _, err = _run(capsys, "check", "cits1401", tmp_path / "none.py")
    assert status == 2
    assert "install it (apt install xvfb)" in err


def test_mutants_lists_undetected_faults(toy, capsys, tmp_path):
    """Planted faults that cost no marks in their function's tasks are listed."""
    solution = tmp_path / "app.py"
    solution.write_text(RIGHT)
    words = "mutants", "toy", solution, "--match", "in add)"
    before = "if isinstance(a, str) or isinstance(b, str):"
    missed = f"{before} → if (isinstance(a, str)):"
    status, out, _ = _run(capsys, *words)
    assert status == 1
    assert [line for line in out.splitlines() if line.startswith("not")] == [
        f"not detected: app.py:3: {missed} (and, or, in add)"
    ]
    assert "detected: 8 of 9 mutants" in out
    exempt = f'[[exempt]]\nwhere = "add"\nchange = "{missed}"\nreason = "texts come first"\n'
    solution.with_suffix(".toml").write_text(exempt)
    status, out, _ = _run(capsys, *words, "--count", 1)
    assert status == 0
    assert "detected: 1 of 1 mutants of app.py, 100.0 %" in out
    solution.with_suffix(".toml").write_text(exempt.replace("a, str", "c, str"))
    status, _, err = _run(capsys, *words)
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
    status, out, _ = _run(capsys, "mutants", "toy", solution, "--match", "a - b")
    assert status == 1
    assert "marks lost in unrelated tasks 3: app.py:5: return a + b → return (a - b)" in out
