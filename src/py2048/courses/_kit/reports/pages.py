"""Web pages: an index of the class and a page for each submission, complete in themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from html import escape
from pathlib import Path

from py2048.courses._kit.reports.data import Run
from py2048.courses._kit.reports.words import check_line, failure_lines, summary
from py2048.courses._kit.results import CheckResult, Report, TaskResult, number
from py2048.errors import CourseError

STYLE = """
:root { color-scheme: light dark; --page: #fbfaf8; --card: #fff; --ink: #24211e; --muted: #635c54;
  --line: #ded8d0; --link: #0b57b0; --good: #1a7f37; --bad: #c02626; }
@media (prefers-color-scheme: dark) { :root { --page: #171614; --card: #201e1c; --ink: #ece7e0;
  --muted: #aaa298; --line: #3b3733; --link: #8ab8ff; --good: #4ac26b; --bad: #ff8078; } }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto;
  padding: 1.5rem 1rem 3rem; background: var(--page); color: var(--ink);
  overflow-wrap: anywhere; }
h1 { font-size: clamp(1.3rem, 4.5vw, 1.9rem); line-height: 1.25; margin: .3rem 0 .6rem; }
h1 + p { font-size: 1.15rem; margin-top: 0; }
h2 { display: flex; justify-content: space-between; align-items: baseline; gap: 1rem;
  font-size: 1.15rem; margin: 0 0 .4rem; }
h2 .marks { white-space: nowrap; font-variant-numeric: tabular-nums; }
a { color: var(--link); }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.muted, footer { color: var(--muted); font-size: .9rem; }
section, table { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
section { padding: .9rem 1rem; margin: 1rem 0; }
section > p { margin: 0 0 .6rem; }
table { border-collapse: separate; border-spacing: 0; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .7rem; }
tbody td { border-top: 1px solid var(--line); }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
ul { list-style: none; margin: 0; padding: 0; }
li { padding-left: 1.5em; text-indent: -1.5em; margin: .15rem 0; }
li b { display: inline-block; width: 1.5em; text-indent: 0; }
pre { font: .875rem/1.45 ui-monospace, monospace; text-indent: 0; margin: .4rem 0 .8rem -1.5em;
  padding: .6rem .8rem; background: var(--page); border-left: 4px solid var(--bad);
  white-space: pre-wrap; }
.good { color: var(--good); } .bad { color: var(--bad); }
footer { margin-top: 2rem; }
@media (max-width: 36rem) { th, td { padding: .4rem .45rem; } }
@media print { body { background: none; } section { break-inside: avoid; } }
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
        f"<footer>Graded by py2048 {escape(run.grader)}. "
        f"{escape(run.protected)}.</footer>\n</body>\n</html>\n"
    )


def index_page(run: Run, reports: Sequence[Report], names: Sequence[str]) -> str:
    """The class: one row for each submission."""
    rows = "\n".join(
        f'<tr><td><a href="{escape(name)}">{escape(report.name)}</a></td>'
        f'<td class="number">{_marks(report.earned, report.marks)}</td>'
        f"<td>{_lost(report)}</td></tr>"
        for report, name in zip(reports, names, strict=True)
    )
    head = '<tr><th>Submission</th><th class="number">Marks</th><th>Lost in</th></tr>'
    table = f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    weak = f'<p class="bad">{escape(run.protected)}</p>\n' if run.weak else ""
    return _page(run.title, f"{weak}<p>{_class(reports)}</p>\n{table}", run)


def _class(reports: Sequence[Report]) -> str:
    """How the class did, in a sentence."""
    count = f"{len(reports)} submission{'' if len(reports) == 1 else 's'}"
    if not reports:
        return count
    full = sum(not report.lost and not report.problem for report in reports)
    mean = sum(float(report.earned) for report in reports) / len(reports)
    marks = number(max(report.marks for report in reports))
    return f"{count}: {mean:.3g} of {marks} marks on average, {full} with full marks"


def _marks(earned: Fraction, marks: Fraction) -> str:
    return f"{number(earned)} of {number(marks)}"


def _lost(report: Report) -> str:
    if report.problem:
        return f'<span class="bad">not graded: {escape(report.problem)}</span>'
    return escape(", ".join(f"task {id}" for id in report.lost)) or '<span class="good">none</span>'


def student_page(run: Run, report: Report) -> str:
    """One submission: what was asked, what was earned, what went wrong."""
    total = f"<p><strong>{_marks(report.earned, report.marks)} marks</strong></p>\n"
    notes = "".join(f"<p>{escape(line)}</p>\n" for line in summary(report))
    missing = ""
    if run.not_graded:
        missing = f'<p class="muted">Not graded here: {escape(run.not_graded)}</p>\n'
    tasks = "\n".join(map(_task, report.tasks))
    back = f'<p><a href="index.html">All submissions</a> · {escape(run.title)}</p>\n'
    return _page(report.name, total + notes + missing + tasks + back, run)


def _task(task: TaskResult) -> str:
    look = "good" if task.status == "passed" else "bad"
    marks = f'<span class="marks {look}">{_marks(task.earned, task.marks)}</span>'
    checks = "\n".join(map(_check, task.checks))
    listed = f"<ul>\n{checks}\n</ul>\n" if checks else ""
    return (
        f"<section>\n<h2><span>Task {escape(task.id)}: {escape(task.title)}</span> {marks}</h2>\n"
        f"<p>{escape(task.asked)}</p>\n{listed}</section>"
    )


def _check(check: CheckResult) -> str:
    sign, words = check_line(check).split(" ", 1)
    look = "good" if check.passed else "bad"
    line = f'<b class="{look}">{sign}</b>{escape(words)}'
    if check.passed:
        return f"<li>{line}</li>"
    return f"<li>{line}\n<pre>{escape(chr(10).join(failure_lines(check)))}</pre></li>"
