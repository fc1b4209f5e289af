"""Output formats of reports: JSON, gradebook, web pages, Gradescope and terminal."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from test_course_windows import luminance
from toys import RIGHT, TOY, grade_source

from py2048.core.errors import CourseError
from py2048.core.language import use_language
from py2048.courses import COURSES
from py2048.courses.grading import report as pages
from py2048.courses.grading.report import (
    CheckResult,
    GradeReport,
    RunInfo,
    TaskResult,
    gradebook,
    print_reports,
    to_json,
)
from py2048.courses.grading.sandbox import UNPROTECTED
from py2048.courses.term.exports import gradescope_results
from py2048.courses.term.marks import Mark
from py2048.courses.term.settings import Assignment

RUN = RunInfo("toy", "A toy", "1+abc", UNPROTECTED, not_graded="style")
EVIL = "<script>alert(1)</script> & \"quotes\" 'single' [bold]markup[/bold] ]]> \x1b[31m"


def _report(name: str, earned: Fraction = Fraction(1), problem: str = "") -> GradeReport:
    failed = CheckResult(EVIL, 1, passed=False, example=EVIL, expected=EVIL, actual=EVIL)
    good = CheckResult("fine", 2, passed=True, carried=True)
    tasks = (
        TaskResult("1", "add", "Add up.", Fraction(4), earned, (failed, good)),
        TaskResult("2", "greet", "Greet.", Fraction(2), Fraction(2)),
        TaskResult("3", "grow", "Grow.", Fraction(3), Fraction(0)),
    )
    return GradeReport(name, "toy", tasks, ("app.py",), (f"note {EVIL}",), problem, 1.5, "key")


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(NAMES, st.fractions(0, 4, max_denominator=12), st.text(max_size=10))
@settings(deadline=None)
def test_reports_survive_a_round_trip(name, earned, problem):
    """A stored report is complete, and its marks are exact."""
    report = _report(name, earned, problem)
    assert GradeReport.from_json(report.to_json()) == report


def test_json_is_complete():
    """It includes the course, the grader, the protection and all tasks and checks."""
    data = json.loads(json.dumps(to_json(RUN, [grade_source(RIGHT.replace("a + b", "a * b"))])))
    assert data.keys() == {
        "course", "title", "grader", "complete", "not_graded", "protection", "submissions",
    }  # fmt: skip
    assert data["protection"]["name"] == "limits only"
    assert "the network" in data["protection"]["lacks"]
    limits = "512 MiB memory, 60 s processor time, 1000 kB output, 8 MiB per file, 32 processes"
    assert data["protection"]["limits"] == limits
    (submission,) = data["submissions"]
    assert (submission["score"], submission["max_score"]) == (6, 9)
    task = submission["tasks"][0]
    assert (task["id"], task["score"], task["max_score"], task["status"]) == ("1", 1, 4, "failed")
    assert task["asked"].startswith("add(a, b)")
    assert task["checks"][0] == {
        "title": "sums",
        "weight": 3,
        "passed": False,
        "carried": False,
        "example": "add(1, 2)",
        "expected": "3",
        "actual": "2",
        "cause": "",
    }


@given(st.lists(NAMES.filter(lambda name: "\r" not in name and "\n" not in name), max_size=5))
@settings(deadline=None)
def test_the_gradebook_has_one_line_for_each_submission(names):
    """It is valid CSV with all marks, if there are any; only formulas in names are changed."""
    text = gradebook(TOY, [_report(name, Fraction(8, 3)) for name in names]).decode()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    heads = b"submission,score,possible,percent,task 1 (4),task 2 (2),task 3 (3),problem\r\n"
    assert gradebook(TOY, [GradeReport("ann", "toy", ())]) == heads + b"ann,0,0,0,\r\n"
    assert [row[0].removeprefix("'") for row in rows[1:]] == [n.removeprefix("'") for n in names]
    assert all(row[1:] == ["4.67", "9", "51.9", "2.67", "2", "0", ""] for row in rows[1:])


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_the_gradebook_contains_no_formulas(name):
    """Spreadsheets do not run a student's file name."""
    text = gradebook(TOY, [_report(name, problem=name)]).decode()
    row = list(csv.reader(io.StringIO(text, newline="")))[1]
    assert row[0] == row[-1] == f"'{name}"


def test_invisible_characters_are_escaped():
    """A submission's text can neither hide characters nor reorder a line."""
    source = RIGHT.replace("no number", "\u202eno\u200b number\ufeff")
    (actual,) = (check.actual for check in grade_source(source).tasks[0].checks if not check.passed)
    assert actual.startswith(r"ValueError: \u202eno\u200b number\ufeff (app.py")
    assert "\u202e" not in pages.student_page(RUN, grade_source(source))
    assert "\u202e" not in pages.index_page(RUN, [_report("ann", problem="\u202e")], ["a.html"])


SLID = CheckResult(
    "slides",
    1,
    passed=False,
    example="main.grid = [[2, 2, 2, 0], [0, 0, 4, 0]]\nleft()",
    expected="[[4, 2, 0, 0],\n [4, 0, 0, 0]]",
    actual="[[2, 4, 0, 0], [4, 0, 0, 0]]",
    cause="tiles far from the edge merge first",
)


def test_boards_before_expected_and_actual_are_drawn():
    """They are side by side in text, and tables with wrong cells highlighted on pages."""
    task = TaskResult("1", "left", "Left.", Fraction(4), Fraction(0), (SLID,))
    assert (
        """
before     expected    actual
2 2 2 .    4 2 . .     2 4 . .
. . 4 .    4 . . .     4 . . .
expected: [[4, 2"""
        in task.text
    )
    assert "likely:   tiles far from the edge merge first" in task.text
    heads = [replace(SLID, weight=weight).head[0] for weight in (1, 0)]
    assert heads == ["✗ slides", "✗ slides (costs no marks)"]
    page = pages.student_page(RUN, GradeReport("ann", "toy", (task,)))
    assert (page.count("<table>"), page.count("<td class=bad>")) == (3, 2)
    assert "tiles far from the edge merge first" in page


def test_a_report_is_in_the_language_of_its_course():
    """Texts and pages are translated, and the teacher can choose another language."""
    source = RIGHT.replace("a + b", "a * b")
    report = grade_source(source, replace(TOY, language="pt"))
    page = pages.student_page(RUN, report)
    assert report.language == "pt"
    assert '<html lang="pt">' in page
    assert "esperado: 3\nobtido:   2" in page
    assert "expected" not in page
    english = grade_source(source, replace(TOY, language="pt").in_language("en"))
    assert "expected: 3\nactual:   2" in pages.student_page(RUN, english)
    with pytest.raises(CourseError, match="--language 'fr' is unknown: use one of en, pt"):
        TOY.in_language("fr")


@pytest.mark.parametrize(
    ("language", "words"),
    [("pt", "coordenadas_iguais compara a linha"), ("en", "coordenadas_iguais compares row")],
)
def test_ist_reports_in_both_languages_keep_the_programs_names(language, words):
    """Only the report's words are translated, not the program's names."""
    grading = COURSES["ist"].grading()
    titles = [check.title for task in grading.tasks for check in task.checks]
    assert grading.language == "pt"
    with use_language(language):
        assert any(grading.translated(title).startswith(words) for title in titles)


def test_pages_escape_students_texts(tmp_path):
    """A submission's output is shown but never interpreted."""
    index = pages.write_pages(tmp_path / "out", RUN, [_report(EVIL, problem=EVIL)])
    for path in index.parent.iterdir():
        page = path.read_text(encoding="utf-8")
        assert "<script>" not in page
        assert html.escape(EVIL.replace("\x1b", "")[:25]) in page
        assert "Content-Security-Policy" in page
    assert len(list(index.parent.iterdir())) == 2


def test_the_index_links_to_a_page_per_student(tmp_path):
    """Names that would give the same file name, or none, get separate pages."""
    names = ["ann", "ANN", "a/b", "a b", "ann", "..", "index", "日本", "x" * 300]
    index = pages.write_pages(tmp_path, RUN, [_report(name) for name in names])
    links = re.findall(r'href="([^"]+)"', index.read_text(encoding="utf-8"))
    plain = ["ann", "ANN-2", "a-b", "a-b-2", "ann-3", "submission", "index-2", "日本"]
    assert list(map(unquote, links)) == [f"{name}.html" for name in (*plain, "x" * 80)]
    assert all((tmp_path / unquote(link)).is_file() for link in links)
    assert "limits only" in index.read_text(encoding="utf-8")


def test_the_index_summarises_the_class():
    """It shows the mean and the number of full marks, without blank lines; failures count."""
    full = GradeReport("ann", "toy", (TaskResult("1", "add", "Add.", Fraction(4), Fraction(4)),))
    broken = replace(full, tasks=(replace(full.tasks[0], earned=Fraction(0)),), problem="no")
    index = pages.index_page(RUN, [full, broken, broken], ["a.html", "b.html", "c.html"])
    assert "<p>3 submissions: 1.33 of 4 marks on average, 1 with full marks</p>\n<table>" in index


def test_pages_have_enough_contrast_in_light_and_dark():
    """All text has a contrast of at least 4.5:1 in both colour schemes."""
    page = pages.student_page(RUN, _report("ann"))
    colours = re.findall(r"--(\w+): (#\w+)", page)
    light, dark = dict(colours[: len(colours) // 2]), dict(colours[len(colours) // 2 :])
    assert light.keys() == dark.keys() >= {"page", "card", "ink", "muted", "link", "good", "bad"}
    for scheme in (light, dark):
        for text in ("ink", "muted", "link", "good", "bad"):
            for ground in ("page", "card"):
                levels = sorted((luminance(scheme[text]), luminance(scheme[ground])))
                assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4.5, (text, ground, scheme)


def _results(report: GradeReport) -> dict[str, Any]:
    """The results.json of a mark with this report."""
    mark = Mark(None, Assignment("Project", datetime(2026, 12, 11, tzinfo=UTC)), report=report)
    return json.loads(gradescope_results(mark, RUN))


def test_gradescope_reads_results_json():
    """Fields, types and values follow Gradescope's specification."""
    data = _results(_report("ann", Fraction(8, 3)))
    assert data["score"] == 4.67
    assert isinstance(data["execution_time"], int)
    assert (data["visibility"], data["stdout_visibility"]) == ("visible", "hidden")
    formats = {data[f"{what}_format"] for what in ("output", "test_output", "test_name")}
    assert formats == {"text"}
    assert "style" in data["output"]
    assert [t["number"] for t in data["tests"]] == ["1", "2", "3"]
    for test in data["tests"]:
        assert test.keys() == {
            "score", "max_score", "status", "name", "number", "output", "visibility",
        }  # fmt: skip
        assert test["status"] == ("passed" if test["score"] == test["max_score"] else "failed")
        assert test["visibility"] == "visible"
        assert 0 <= test["score"] <= test["max_score"]
    assert EVIL in data["tests"][0]["output"]
    assert sum(test["score"] for test in data["tests"]) == data["score"]


def test_gradescope_shows_why_nothing_was_graded():
    """Every task shows the reason, because students look there."""
    data = _results(grade_source("def add(:"))
    assert data["score"] == 0
    assert "line 1: SyntaxError" in data["output"]
    assert all("Not graded: " in test["output"] for test in data["tests"])


def test_the_terminal_escapes_students_texts(capsys):
    """Markup and control characters of a submission are not interpreted."""
    console = Console(width=100, force_terminal=False)
    run = replace(RUN, not_graded="[red]style")
    print_reports(run, [_report(EVIL), _report("bob")], detailed=True, console=console)
    shown = capsys.readouterr().out
    assert "[bold]markup[/bold]" in shown.replace("\n", "")
    assert "\x1b" not in shown
    assert shown.endswith("Not graded here: [red]style\n")
    assert (shown.count("├"), "Gradebook" in shown) == (6, True), "lines between tasks"


def test_a_line_of_progress_has_marks_and_what_is_missing():
    """Full marks are green, lost ones red, and a failure of the grader is yellow."""
    full, bob = grade_source(RIGHT), _report("bob[x]")
    lines = [pages.one_line(one).markup for one in (full, bob, replace(bob, failure="odd"))]
    assert lines[0] == "[bold]app[/bold]  [green]9 / 9[/green]"
    assert lines[1] == r"[bold]bob\[x][/bold]  [red]3 / 9[/red]  marks lost in 1, 3"
    assert "[yellow]no mark[yellow]" in lines[2]
    assert lines[2].endswith("  not graded: odd[/yellow]")
    assert full.summary == []
    advice = "To try an example in Python, first type: from app import *"
    assert grade_source(RIGHT.replace("a + b", "a * b")).summary == [advice]


def test_the_gradebook_on_80_columns_has_names_and_totals():
    """It also lists the tasks in which marks were lost. Totals are shown in full on any width."""
    tasks = [TaskResult(str(n), "t", "a", Fraction(10), Fraction(n % 2 * 10)) for n in range(1, 22)]
    reports = [GradeReport(name, "toy", tuple(tasks)) for name in ("maria-manuela-fernandes", "x")]

    def shown(width: int) -> str:
        console = Console(width=width, record=True)
        print_reports(RUN, reports, detailed=False, console=console)
        return console.export_text()

    text = shown(80)
    assert re.search(r"maria-manuela-fernandes │ +110 │ 2, 4, 6, 8, 10, 12", text)
    assert (max(map(len, text.splitlines())) <= 80, text[-1]) == (True, "\n")
    assert "│   110 │" in shown(22)
