"""A term from roster to mark files: no student's work is lost or changed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import tomllib
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from toys import RIGHT, toy_course

from py2048 import courses
from py2048.cli import main
from py2048.courses.grading import grader
from py2048.courses.grading.grader import result_key
from py2048.courses.grading.report import CheckResult, GradeReport, TaskResult
from py2048.courses.grading.submissions import text_of
from py2048.courses.term.roster import Roster, Student
from py2048.courses.term.settings import Assignment, Late
from py2048.courses.term.tables import worksheet_columns

LISBON = ZoneInfo("Europe/Lisbon")
TERM = tomllib.loads(Path(__file__).with_name("term.toml").read_text("utf-8"))


def _fake(submission, grading, sandbox, secret):
    """A report in which the tasks named in a comment such as ``# earns 1 3`` are passed."""
    assert secret == "0123456789abcdef"
    text = "".join(map(text_of, submission.files))
    earns = re.search(r"# earns(.*)", text)
    passed = earns[1].split() if earns else []
    tasks = tuple(
        TaskResult(
            *(task.id, task.title, task.asked, Fraction(task.marks)),
            Fraction(task.marks if task.id in passed else 0),
            (CheckResult("sums", 1, task.id in passed, example="add(1, 2)"),),
        )
        for task in grading.tasks
    )
    key = result_key(submission, grading, secret)
    return GradeReport(submission.name, "toy", tasks, problem=submission.problem, key=key)


@pytest.fixture
def term(tmp_path, monkeypatch):
    """The folder of a term of the toy course, with fast grading."""
    monkeypatch.setitem(courses.COURSES, "toy", toy_course())
    monkeypatch.setattr(grader, "grade", _fake)
    (tmp_path / "submissions").mkdir()
    (tmp_path / "course.toml").write_text(TERM["settings"])
    (tmp_path / "roster.csv").write_text(TERM["roster"])
    (tmp_path / "manual.csv").write_text("assignment,id,item,marks,comment\n")
    return tmp_path


@pytest.fixture
def run(term, capsys) -> Callable[..., tuple[int, str]]:
    """Run a command on the term; return its status and output."""

    def command(name: str, *words: object) -> tuple[int, str]:
        status = main(["course", name, str(term), *map(str, words)])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return command


def hand_in(term: Path, place: str, text: str | bytes = "# earns 1 2 3", when: str = "") -> Path:
    """Put a file into the hand-ins, dated in Lisbon time."""
    path = term / "submissions" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    stamp = datetime.fromisoformat(when or "2026-10-01T12:00").replace(tzinfo=LISBON).timestamp()
    os.utime(path, (stamp, stamp))
    return path


def autograded(created: str, email: str) -> dict[str, Any]:
    """Gradescope's metadata of a submission that was due on 11 December."""
    due = {"due_date": "2026-12-11T23:59:00.000000+00:00"}
    return {"created_at": created, "assignment": due, "users": [{"email": email, "id": 8}]}


def rows(term: Path, name: str) -> dict[str, dict[str, str]]:
    """A table of marks, by id or, for unknown hand-ins, by name."""
    text = (term / "results" / f"{name}.csv").read_text("utf-8")
    return {row["id"] or row["name"]: row for row in csv.DictReader(io.StringIO(text))}


def test_a_term_from_roster_to_mark_files(term, run):
    """Late, repeated and group hand-ins from three platforms get the right marks."""
    hand_in(term, "first/1001/app.py")
    hand_in(term, "first/1002.py", "# earns 1 2 3", "2026-10-18T08:00")  # 2 days late
    hand_in(term, "first/cy@uni.edu/attempt 1/app.py", "# earns 1 2", "2026-10-10T09:00")
    hand_in(term, "first/cy@uni.edu/attempt 2/app.py", "# earns 1", "2026-10-12T09:00")
    hand_in(term, "first/Dee Yang_41_assignsubmission_file/app.py", "# earns 3")
    online = "assignsubmission_onlinetext/onlinetext.html"
    hand_in(term, f"first/Dee Yang_41_{online}", "<p>I sent a file.</p>")
    text = "<p># earns 2<br>def add(a, b):<br>&nbsp; &nbsp; return a + b</p>"
    hand_in(term, f"first/Eve Fox_42_{online}", text)
    hand_in(term, "first/1007/app.py", when="2026-10-25T12:00")  # after the cut-off
    hand_in(term, "first/t.csv", "id,submitted\n1002,2026-10-18T08:00\n1007,2026-10-25T12:00\n")
    hand_in(term, "first/stranger/app.py", "# earns 2")
    before = {path: path.read_bytes() for path in term.rglob("*") if path.is_file()}
    status, output = run("grade", "first")
    assert status == 0, output
    assert "6 of 8 students have handed in" in output
    assert "'stranger' matches no student" in output
    marks = rows(term, "first")
    assert {who: row["total"] for who, row in marks.items()} == {
        "1001": "9", "1002": "7.2", "1003": "6", "1004": "3", "1005": "2", "1006": "",
        "1007": "0", "1008": "", "stranger": "2",
    }  # fmt: skip
    assert marks["1003"]["attempt"] == "1"
    assert marks["1002"]["days late"] == "2"
    assert {path: path.read_bytes() for path in before} == before

    hand_in(term, "second/red/app.py", "# earns 1", "2026-11-10T10:00")
    hand_in(term, "second/foxeve_71_900_app.py", "# earns 1 2", "2026-11-20T10:00")
    hand_in(term, "second/foxeve_71_901_help-2.py", "", "2026-11-20T10:00")
    hand_in(term, "second/youngcy_LATE_72_902_app-1.py", "# earns 1 2 3", "2026-11-20T10:00")
    hand_in(term, "second/t.csv", "id,submitted\n1003,2026-11-14T10:00\n")
    assert run("grade", "second")[0] == 0
    marks = rows(term, "second")
    assert {who: row["total"] for who, row in marks.items() if row["total"]} == {
        "1001": "4", "1002": "4", "1003": "8.1", "1005": "6", "1006": "6",
    }  # fmt: skip
    assert marks["1001"]["problem"] == "not marked: style"
    exported = run("export", "second", "--platform", "classroom50")[1]
    assert "Ann Smith: exported with a problem: not marked: style" in exported
    result = json.loads((term / "results/second-classroom50/1003/result.json").read_text())
    assert (result["score"], result["max-score"]) == (810, 1050)  # in hundredths

    cells = [{"cell_type": "markdown", "source": "# earns 3"}]
    cells += [{"cell_type": "code", "source": ["%pip install x\n", "# earns 1 2\n"]}]
    notebook = json.dumps({"cells": cells})
    hand_in(term, "third/1006/work.ipynb", notebook, "2026-12-01T10:00")
    hand_in(term, "third/export/submission_5/app.py", "# earns 1", "2027-01-01T10:00")
    hand_in(
        term,
        "third/export/submission_metadata.yml",
        "---\nsubmission_5:\n  :submitters:\n  - :name: Gil\n    :sid: '1007'\n"
        "    :email: gil@uni.edu\n  :created_at: 2026-12-12 23:30:00.123456789 Z\n",
    )
    metadata = autograded("2026-12-01T10:00:00.365935+00:00", "sam@uni.edu")
    hand_in(term, "third/autograder/submission/app.py", "# earns 2", "2027-01-01T10:00")
    hand_in(term, "third/autograder/submission_metadata.json", json.dumps(metadata))
    status, output = run("grade")
    assert status == 0, output
    marks = rows(term, "third")
    assert (marks["1008"]["total"], marks["1008"]["days late"]) == ("2", "0")
    assert (marks["1006"]["total"], marks["1006"]["possible"]) == ("6", "6")
    assert (marks["1007"]["days late"], marks["1007"]["total"]) == ("1", "3.6")
    page = (term / "results" / "third" / "1006.html").read_text("utf-8")
    assert "hidden until 2999-01-01" in page
    assert "6 / 6" not in page  # neither the total nor an attempt


def test_lateness_decides_which_attempt_counts(term, run):
    """The best attempt is chosen after late penalties; the last one must precede the cut-off."""
    for who, attempts in {
        "first/1001": (("1 2", "2026-10-10"), ("1 2 3", "2026-10-21")),  # 5 days late
        "first/1002": (("1 2", "2026-10-10"), ("1 2 3", "2026-10-17")),  # 1 day late
        "third/1001": (("1 2", "2026-12-01"), ("1", "2026-12-02")),
        "third/1002": (("1", "2026-12-01"), ("1 2", "2026-12-30")),  # after the cut-off
        "third/1003": (("1", "2026-12-29"), ("1 2", "2026-12-30")),
    }.items():
        name, _, student = who.partition("/")
        for number, (earned, day) in enumerate(attempts, 1):
            date = (*map(int, day.split("-")), 12, 0, 0)
            (term / "submissions" / name).mkdir(exist_ok=True)
            with zipfile.ZipFile(term / "submissions" / name / "class.zip", "a") as opened:
                info = zipfile.ZipInfo(f"class/{student}/{number}/app.py", date)
                opened.writestr(info, f"# earns {earned}\n")
    assert run("grade")[0] == 0
    marks = {name: rows(term, name) for name in ("first", "third")}
    counted = {
        (name, who): (row["attempt"], row["total"])
        for name, table in marks.items()
        for who, row in table.items()
        if row["attempt"]
    }
    assert counted == {
        ("first", "1001"): ("1", "6"),
        ("first", "1002"): ("2", "8.1"),
        ("third", "1001"): ("2", "4"),
        ("third", "1002"): ("1", "4"),
        ("third", "1003"): ("1", "0"),
    }


def test_each_day_begun_after_the_grace_period_costs_marks():
    """Nothing is kept after the cut-off, and never less than nothing."""
    due = datetime(2026, 10, 16, 23, 59, tzinfo=LISBON)
    one, strict = Assignment("", due), Assignment("", due, late=Late(percent_a_day=40))
    over = [one.days_late(due + timedelta(minutes=each)) for each in (-9, 15, 15.1, 1440, 1440.1)]
    assert over == [0, 0, 1, 1, 2]
    kept = [100 * each.kept_share(days) for each in (one, strict) for days in (0, 2.5, 7, 7.1)]
    assert kept == [100, 75, 30, 0, 100, 0, 0, 0]


def test_manual_decisions_survive_every_run(term, run):
    """Marks, lateness, attempts and comments set by hand are kept and shown to students."""
    for number, text in enumerate(("# one", "# two", "# earns 1", "# four"), 1):
        hand_in(term, f"second/1003/{number}/app.py", text, f"2026-11-{14 + number}T10:00")
    hand_in(term, "second/1004/app.py", "", "2026-11-15T10:00")
    manual = term / "manual.csv"
    manual.write_text(
        "assignment;id;item;marks;comment\nsecond;1003;attempt;3;\nsecond;1003;late;0;was ill\n"
        "second;1003;style;1,5;=good\nsecond;cy@uni.edu;3;2;\nsecond;1004;total;5;\n"
        "second;1008;total;3;an oral examination\n"
    )
    was = manual.read_bytes()
    for _ in range(2):
        assert run("grade", "second")[0] == 0
        marks = rows(term, "second")
        assert (marks["1003"]["total"], marks["1003"]["comment"]) == ("7.5", "was ill =good")
        assert (marks["1004"]["total"], marks["1008"]["total"]) == ("5", "3")
        dated = "may be late: only its files are dated 2026-11-15 10:00"
        assert marks["1004"]["problem"] == dated
        hand_in(term, "second/1005/app.py")
    assert manual.read_bytes() == was
    page = (term / "results" / "second" / "1003.html").read_text("utf-8")
    assert "was ill" in page
    assert "2 / 3 (by hand)" in page


def test_an_edited_table_is_not_overwritten(term, run):
    """Grading stops before it starts, unless --force is given."""
    hand_in(term, "first/1001/app.py")
    assert [run("grade", "first")[0] for _ in range(2)] == [0, 0]
    table = term / "results" / "first.csv"
    table.write_text(table.read_text() + "my own row\n")
    status, output = run("grade", "first")
    assert status == 2
    assert re.search(r"first\.csv.* --force", output)
    assert "my own row" in table.read_text()
    assert run("grade", "first", "--force")[0] == 0
    assert "my own row" not in table.read_text()


def test_exports_use_each_platforms_own_ids(term, run, tmp_path):
    """Moodle, Canvas and Classroom 50 get files in their own formats."""
    hand_in(term, "first/S_77_assignsubmission_file/app.py", when="2026-10-30T10:00")
    hand_in(term, "first/1002/app.py", "# earns 1")
    worksheet = (
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,"
        "Last modified (submission),Feedback comments\n"
        'Participant 76,Z,zed@uni.edu,x,,"100,00",-,\n'
        'Participant 77,"Lee, S.",sam@uni.edu,x,,"100,00",'
        '"Friday, 16 October 2026, 11:50 PM",\n'
        'Participant 78,B,bob@uni.edu,x,,"100,00",-,\n'
    )
    sheet = hand_in(term, "first/worksheet.csv", "\ufeff" + worksheet)
    status, output = run("export", "first", "--platform", "moodle")
    assert (status, "Sam Lee: no total is exported: not graded yet" in output) == (0, True)
    assert run("grade", "first")[0] == 0
    assert run("export", "first", "--platform", "moodle", "--force")[0] == 0
    text = (term / "results" / "first-moodle.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    filled = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"))))
    assert [row["Grade"] for row in filled] == ["", "100", "44,44"]
    assert [row["Identifier"] for row in filled] == [f"Participant {n}" for n in (76, 77, 78)]
    assert "task 3: 0 / 3" in filled[2]["Feedback comments"]
    assert sheet.read_bytes().decode() == "\ufeff" + worksheet

    gradebook = tmp_path / "gradebook.csv"
    for names, bob, other in (
        ("Student", '"Stone, Bob"', '"Who, Else"'),
        ("LastName,FirstName", "Stone,Bob", "Who,Else"),
    ):
        gradebook.write_text(
            f"{names},ID,SIS User ID,SIS Login ID,Section,Other (11),First (12)\n"
            f"    Points Possible{',' * names.count(',')},,,,,5,18\n"
            f"{bob},501,1002,bob,A,4,\n{other},502,9,else,A,4,1\n"
        )
        words = ["first", "--platform", "canvas", "--template", gradebook, "--force"]
        status, output = run("export", *words)
        assert status == 0, output
        assert "Sam Lee has marks but is not in the platform's table" in output
        lines = (term / "results" / "first-canvas.csv").read_text().splitlines()
        assert lines[0] == f"{names},ID,SIS User ID,SIS Login ID,Section,First (12)"
        assert lines[2:] == [f"{bob},501,1002,bob,A,8", f"{other},502,9,else,A,1"]

    assert run("export", "first", "--platform", "classroom50")[0] == 0
    result = json.loads((term / "results" / "first-classroom50" / "1002/result.json").read_text())
    assert result["schema"] == "classroom50/result/v1"
    assert (result["score"], result["max-score"]) == (4, 9)
    status, output = run("export", "first", "--platform", "blackboard")
    assert status == 2
    assert "'moodle', 'canvas'" in output


def test_gradescope_runs_an_autograder(term, run, tmp_path_factory):
    """The ZIP carries the settings: tasks, hidden results, late rule; only results.json returns."""
    place = tmp_path_factory.mktemp("autograder")
    wheel = hand_in(term, "py2048-1.whl", "a wheel")
    words = ["autograder", "third", "--platform", "gradescope", "--wheel", wheel]
    assert run(*words)[0] == 0
    with zipfile.ZipFile(term / "results" / "third-gradescope.zip") as archive:
        archive.extractall(place / "source")
        assert {each.external_attr for each in archive.infolist()} == {0o755 << 16}
    assert "./py2048-1.whl" in (place / "source" / "setup.sh").read_text()
    assert "autograde source/term third ." in (place / "source" / "run_autograder").read_text()
    metadata = autograded("2026-12-13T10:00:00.000000+00:00", "ann@uni.edu")
    for folder in ("submission", "results"):
        (place / folder).mkdir()
    (place / "submission_metadata.json").write_text(json.dumps(metadata))
    (place / "submission" / "app.py").write_text("# earns 1 2")
    (place / "submission" / "settings").symlink_to(term / "course.toml")
    words = ["course", "autograde", str(place / "source/term"), "third", str(place)]
    assert main(words) == 0
    (result,) = (place / "results").iterdir()
    data = json.loads(result.read_text())
    assert (result.name, data["score"], data["extra_data"]["days_late"]) == ("results.json", 4.8, 2)
    shown = [each["visibility"] for each in (data, *data["tests"])]
    assert shown == ["after_published", "visible", "after_published"]
    metadata["users"][0]["assignment"] = {"due_date": metadata["created_at"]}  # an extension
    (place / "submission_metadata.json").write_text(json.dumps(metadata))
    assert main(words) == 0
    assert json.loads(result.read_text())["extra_data"]["days_late"] == 0
    (place / "submission_metadata.json").unlink()
    assert main(words) == 2


def test_classroom_50_collects_and_grades(term, run):
    """The workflow's steps name the assignment; hidden tasks stay out of the students' results."""
    assert run("autograder", "third", "--platform", "classroom50")[0] == 0
    workflow = (term / "results" / "py2048-third.yaml").read_text()
    assert "py2048 course grade py2048 third" in workflow
    assert "@" not in workflow.replace("actions/checkout@v7", "").replace("setup-python@v7", "")
    hand_in(term, "third/cs-third-1001/app.py", "# earns 1")
    assert run("grade", "third")[0] == 0
    assert run("export", "third", "--platform", "classroom50")[0] == 0
    result = json.loads((term / "results" / "third-classroom50" / "1001/result.json").read_text())
    assert [(test["test-name"], test["passed"]) for test in result["tests"]] == [("1: add", True)]
    assert (result["owner"], result["score"], result["max-score"]) == ("1001", 4, 4)
    assert run("autograder", "third", "--platform", "moodle")[0] == 2


@pytest.mark.parametrize("language", TERM["worksheets"])
def test_moodles_worksheet_is_read_in_the_teachers_language(term, run, language):
    """The worksheet gives numbers and submission times in any language, and takes marks."""
    sheet = TERM["worksheets"][language]
    hand_in(term, "first/P_77_assignsubmission_file/app.py", "# earns 1 2", "2026-10-01T10:00")
    hand_in(term, "first/sheet.csv", sheet)
    assert run("grade", "first")[0] == 0
    status, output = run("export", "first", "--platform", "moodle")
    assert status == 0, output
    text = (term / "results" / "first-moodle.csv").read_text("utf-8")
    sign = ";" if ";" in sheet else ","
    old, new = (list(csv.reader(io.StringIO(each), delimiter=sign))[-1] for each in (sheet, text))
    changed = [cell for was, cell in zip(old, new, strict=True) if was != cell]
    assert changed == ["46,67", "task 3: 0 / 3. 3 days late"], text


def test_all_participants_of_a_worksheet_have_the_same_word():
    """A table with other ids in its first column is not taken for Moodle's."""
    head = ["ID", "Name", "Status", "Grade", "Maximum (marks)"]
    moodles = {"identifier": 0, "full name": 1, "grade": 3, "maximum grade": 4}
    for other, found in (("Participant 78", moodles), ("Teilnehmer/in78", {})):
        rows = [[who, "Sam", "x", "", "100,00"] for who in ("Participant 77", other)]
        assert worksheet_columns(head, rows) == found


def test_students_files_cannot_claim_names_or_dates(term, run):
    """Names and dates that students write into their hand-ins are ignored."""
    hand_in(term, "first/Eve Fox_42_assignsubmission_file/1001/app.py", "")
    hand_in(term, "first/Zed_43_assignsubmission_file/1001/app.py", "# earns 1 2 3")
    hand_in(
        term,
        "first/1004/submission_metadata.yml",
        "submission_1:\n  :submitters:\n  - :sid: '1004'\n  :created_at: 2026-01-01 00:00:00 Z\n",
        "2026-10-18T08:00",
    )
    hand_in(term, "first/1004/app.py", "# earns 1", "2026-10-18T08:00")
    assert run("grade", "first")[0] == 0
    marks = rows(term, "first")
    assert marks["1001"]["problem"] == "nothing handed in"
    assert marks["Zed_43"]["total"] == "9"
    assert marks["1004"]["days late"] == "0"
    assert "only its files are dated 2026-10-18 08:00" in marks["1004"]["problem"]


def test_a_repositorys_commit_dates_it(term, run):
    """The last commit counts, or the last one up to --at; a clone's own settings run nothing."""
    clone = term / "submissions" / "first" / "first-1001"
    git = ["git", "-C", str(clone), "-c", "user.name=ann", "-c", "user.email=ann@uni.edu"]
    subprocess.run(["git", "init", "--quiet", str(clone)], check=True)
    for earned, day in (("1", "2026-10-10"), ("1 2 3", "2026-10-18")):
        hand_in(term, "first/first-1001/app.py", f"# earns {earned}", "2026-12-24T10:00")
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{day}T12:00:00+0100")
        subprocess.run([*git, "add", "app.py"], check=True)
        subprocess.run([*git, "commit", "-qm", "x"], check=True, env=os.environ | dates)
    (clone / "app.py").write_text("# earns nothing yet")
    ran = term / "ran"
    (clone / ".gitattributes").write_text("app.py filter=run\n")
    with (clone / ".git" / "config").open("a") as config:
        config.write(f'[filter "run"]\n\tsmudge = touch {ran}\n')
        config.write(f"[core]\n\tfsmonitor = touch {ran}\n\tpager = touch {ran}\n")
    subprocess.run(["git", "init", "--quiet", str(clone.with_name("1002"))], check=True)
    status, output = run("grade", "first")
    assert status == 0, output
    marks = rows(term, "first")
    found = [marks["1001"][key][:10] for key in ("total", "days late", "handed in")]
    assert found == ["7.2", "2", "2026-10-18"]
    assert marks["1002"]["problem"] == "nothing handed in"
    for date, total in (("2026-10-16T23:59", "4"), ("2026-10-19", "7.2"), ("2026-10-01", "")):
        assert run("grade", "first", "--at", date)[0] == 0
        assert rows(term, "first")["1001"]["total"] == total
    assert (term / "course.toml").read_text().count("\nat = ") == 1
    assert not ran.exists()
    assert run("grade", "--at", "2026-10-01")[0] == 2


def test_a_download_is_read_as_it_is(term, run):
    """A Moodle ZIP counts once, with the dates inside it. A damaged ZIP is reported."""
    archive = term / "submissions" / "first" / "First-submissions.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as opened:
        for who, date in (("Ann Smith_1", (2026, 10, 20)), ("Bob Stone_2", (2026, 9, 1))):
            info = zipfile.ZipInfo(f"all/{who}_assignsubmission_file_app.py", (*date, 9, 0, 0))
            opened.writestr(info, f"# earns 1 2 3 {who}")
    (archive.parent / "again.zip").write_bytes(archive.read_bytes())
    (archive.parent / "damaged.zip").write_bytes(archive.read_bytes()[:-9])
    assert "'damaged' matches no student" in run("grade", "first")[1]
    marks = rows(term, "first")
    assert [marks[who]["attempts"] for who in ("1001", "1002")] == ["1", "1"]
    assert marks["1002"]["total"] == "9"


@pytest.mark.parametrize("mistake", TERM["mistakes"])
def test_a_mistake_in_the_terms_files_is_one_clear_line(term, run, mistake):
    """The error names the file, the place, the value and the correction."""
    file, text, words = (mistake[key] for key in ("file", "text", "words"))
    if "old" in mistake:
        text = TERM["settings"].replace(mistake["old"], text, 1)
    (term / file).write_text(text, encoding="latin-1")
    (term / "submissions" / "first").mkdir()
    status, output = run("grade", "first")
    assert status == 2
    assert "\n" not in output.strip()
    for word in (file, *words) if "toi" not in words[0] else words:
        assert word in output


@pytest.mark.parametrize("text", TERM["rosters"].values(), ids=TERM["rosters"])
def test_rosters_of_other_systems_are_read(term, run, text):
    """Rosters from spreadsheets and from both classrooms on GitHub work."""
    (term / "roster.csv").write_text(text, newline="")
    hand_in(term, "first/first-ann/app.py")
    status, output = run("grade", "first")
    assert status == 0, output
    assert {who: row["name"] for who, row in rows(term, "first").items()} == {"ann": "Ann Smith"}


def test_a_name_of_several_students_identifies_none():
    """The next key that belongs to a single student decides."""
    find = Roster([Student("1", "Ann Li"), Student("2", "Ann Li")]).find
    assert (find("name:annli"), find("name:annli", "2")) == (None, Student("2", "Ann Li"))


def test_a_new_terms_folder_is_complete(tmp_path, capsys):
    """Its settings are valid, its secret is unique, and it is never overwritten."""
    for name in ("one", "two"):
        assert main(["course", "new-term", str(tmp_path / name), "--course", "ist"]) == 0
    texts = [(tmp_path / name / "course.toml").read_text() for name in ("one", "two")]
    assert texts[0] != texts[1]
    assert "rubric = { readability = 5, style = 1 }\n" in texts[0]
    folder = tmp_path / "one"
    (folder / "roster.csv").write_text("id,name\n1,Ann\n")
    capsys.readouterr()
    assert main(["course", "alike", str(folder), "project"]) == 0
    assert main(["course", "new-term", str(folder), "--course", "ist"]) == 2
    assert "already exists" in capsys.readouterr().err


def test_a_real_hand_in_is_graded(term, run, monkeypatch):
    """The real grader reads notebooks and names the file it chose."""
    monkeypatch.undo()
    monkeypatch.setitem(courses.COURSES, "toy", toy_course())
    cells = [{"cell_type": "code", "source": "!ls\n" + RIGHT}]
    hand_in(term, "first/1001/app.ipynb", json.dumps({"cells": cells}))
    hand_in(term, "first/1002/app.py", RIGHT)
    hand_in(term, "first/1002/old/add.py", "def add(a, b):\n    return a - b\n")
    status, output = run("grade", "first", "--jobs", 1)
    assert status == 0, output
    marks = rows(term, "first")
    assert [marks[who]["total"] for who in ("1001", "1002")] == ["9", "9"]
    page = (term / "results" / "first" / "1001.html").read_text("utf-8")
    assert "app.ipynb was read as app.py" in page
    page = (term / "results" / "first" / "1002.html").read_text("utf-8")
    assert "app.py was graded instead of old/add.py, because it fits the tasks best" in page
