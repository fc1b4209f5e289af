"""Web pages: an index of the class and a page for each submission, complete in themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from py2048.courses._kit.reports.data import Run
from py2048.courses._kit.reports.words import check_line, failure_lines, summary
from py2048.courses._kit.results import CheckResult, Report, TaskResult, number
from py2048.errors import CourseError

STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c62828; }
@media (prefers-color-scheme: dark) { :root { --good: #4ac26b; --bad: #ff7b72; } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
section { border-top: 1px solid var(--line); margin-top: 1.5rem; }
pre { background: #8881; padding: .6rem .8rem; overflow-x: auto; white-space: pre-wrap; }
.good { color: var(--good); } .bad { color: var(--bad); }
h2 .marks { float: right; font-weight: normal; }
footer { margin-top: 3rem; font-size: .85rem; opacity: .8; }
"""
# No script can run in these pages, whatever a submission printed.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_pages(folder: Path, run: Run, reports: Sequence[Report]) -> Path:
    """Write the pages into `folder`; return the index."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = _file_names(reports)
        for report, name in zip(reports, names, strict=True):
            (folder / name).write_text(student_page(run, report), encoding="utf-8")
        index = folder / "index.html"
        index.write_text(index_page(run, reports, names), encoding="utf-8")
    except OSError as error:
        raise CourseError(f"no pages can be written to {str(folder)!r}: {error}") from None
    return index


def _file_names(reports: Sequence[Report]) -> list[str]:
    """A file name for each report, plain and all different."""
    names: list[str] = []
    for report in reports:
        plain = re.sub(r"[^\w.-]+", "-", report.name).strip("-.")[:80] or "submission"
        name, count = f"{plain}.html", 1
        while name.lower() in {"index.html", *(taken.lower() for taken in names)}:
            count += 1
            name = f"{plain}-{count}.html"
        names.append(name)
    return names


def _page(title: str, body: str, run: Run) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{body}\n"
        f"<footer>Graded by py2048 {escape(run.grader)}. Submissions ran under "
        f"{escape(run.protected)}.</footer>\n</body>\n</html>\n"
    )


def index_page(run: Run, reports: Sequence[Report], names: Sequence[str]) -> str:
    """The class: one row for each submission."""
    rows = "\n".join(
        f'<tr><td><a href="{escape(name)}">{escape(report.name)}</a></td>'
        f'<td class="number">{number(report.earned)}</td>'
        f'<td class="number">{number(report.marks)}</td>'
        f"<td>{_lost(report)}</td></tr>"
        for report, name in zip(reports, names, strict=True)
    )
    head = (
        '<tr><th>Submission</th><th class="number">Marks</th><th class="number">of</th>'
        "<th>Marks lost in</th></tr>"
    )
    table = f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    return _page(f"{run.title}: {len(reports)} submissions", table, run)


def _lost(report: Report) -> str:
    if report.problem:
        return f'<span class="bad">not graded: {escape(report.problem)}</span>'
    return escape(", ".join(f"task {id}" for id in report.lost)) or '<span class="good">none</span>'


def student_page(run: Run, report: Report) -> str:
    """One submission: what was asked, what was earned, what went wrong."""
    notes = "".join(f"<p>{escape(line)}</p>\n" for line in summary(report))
    total = f"<p><strong>{number(report.earned)} of {number(report.marks)} marks</strong></p>\n"
    missing = f"<p>Not graded here: {escape(run.not_graded)}</p>\n" if run.not_graded else ""
    tasks = "\n".join(map(_task, report.tasks))
    back = '<p><a href="index.html">All submissions</a></p>\n'
    return _page(f"{report.name}: {run.title}", back + total + notes + missing + tasks, run)


def _task(task: TaskResult) -> str:
    look = "good" if task.status == "passed" else "bad"
    marks = f'<span class="marks {look}">{number(task.earned)} of {number(task.marks)}</span>'
    checks = "\n".join(map(_check, task.checks))
    return (
        f"<section>\n<h2>Task {escape(task.id)}: {escape(task.title)} {marks}</h2>\n"
        f"<p>{escape(task.asked)}</p>\n{checks}\n</section>"
    )


def _check(check: CheckResult) -> str:
    line = f'<div class="{"good" if check.passed else "bad"}">{escape(check_line(check))}</div>'
    if check.passed:
        return line
    return f"{line}\n<pre>{escape(chr(10).join(failure_lines(check)))}</pre>"
