"""A term as web pages: one for each student, and the teacher's desk.

Each page is complete in itself. What is in ``results/ASSIGNMENT`` is for students and leaves out
what is hidden; ``results/index.html`` and ``results/desk`` are the teacher's and show all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from pathlib import Path

from py2048.courses.grading.report import (
    PAGE,
    Report,
    RunInfo,
    TaskResult,
    body_of,
    marks_of,
    number,
)
from py2048.courses.grading.submissions import text_of
from py2048.courses.grading.tasks import printable
from py2048.courses.term.marks import Course, Mark
from py2048.courses.term.tables import Table, read_table, replace_file

MAX_PROGRAM = 200_000
STYLE = """<style>body { max-width: none; } body > * { max-width: 60rem; margin-inline: auto; }
.beside { max-width: none; display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.beside > div { min-width: 0; } .beside pre { white-space: pre; overflow-x: auto; }
meter { width: 8rem; } mark { background: #f3d36b; color: #24211e; }
@media (max-width: 60rem) { .beside { grid-template-columns: 1fr; } }</style>
"""


def page(title: str, body: str, run: RunInfo | str) -> bytes:
    """A page in the look of all reports, of a `run` or of a version of the grader."""
    grader = run if isinstance(run, str) else run.grader
    protected = "No program was run" if isinstance(run, str) else run.protected
    words = {"title": title, "grader": grader, "protected": protected}
    return PAGE.substitute({key: escape(text) for key, text in words.items()}, body=body).encode()


def file_names(marks: Sequence[Mark]) -> list[str]:
    """A file name for each mark, all different."""
    names: list[str] = []
    for mark in marks:
        who = mark.student.id if mark.student else f"unknown-{mark.name}"
        plain = re.sub(r"[^\w.@+-]+", "-", who).strip("-.")[:80] or "student"
        count = sum(name.rpartition("~")[0] == plain.lower() for name in names)
        names.append(f"{plain.lower()}~{count}")
    return [name.removesuffix("~0").replace("~", "-") + ".html" for name in names]


def write_pages(
    course: Course, name: str, marks: Sequence[Mark], run: RunInfo, now: datetime
) -> None:
    """Write the pages of an assignment, for its students and for the desk."""
    results = course.folder / "results"
    names = file_names(marks)
    for mark, file in zip(marks, names, strict=True):
        if mark.report is not None or mark.manual.items or mark.manual.comments:
            replace_file(results / name / file, student_page(mark, run, now))
        if mark.report is not None:
            replace_file(results / "desk" / name / file, beside_page(mark, run))
    replace_file(results / "desk" / f"{name}.html", class_page(name, marks, names, run))


# --- for a student ---


def student_page(mark: Mark, run: RunInfo, now: datetime) -> bytes:
    """What a student may see of a mark, now."""
    assignment = mark.assignment
    hidden = {task.id for task in mark.tasks if assignment.hides(task.id, now)}
    withheld = _is_withheld(mark, now)
    parts = [_total(mark) if not hidden else f"<p>{_until(mark)}</p>"]
    if withheld:
        parts.append(
            f"<p>Full reports are limited to {assignment.feedback_a_day} a day before the due "
            "date; this attempt came after them.</p>"
        )
    parts += [f"<p>{escape(comment)}</p>" for comment in mark.manual.comments]
    parts += [_attempts(mark, plain=bool(hidden)), _notes(mark.report), _rubric(mark)]
    parts += [
        _hidden(task, mark) if task.id in hidden else _section(task, mark, plain=withheld)
        for task in mark.tasks
    ]
    return page(f"{mark.name}: {assignment.title}", "\n".join(parts), run)


def _is_withheld(mark: Mark, now: datetime) -> bool:
    """Whether the day's reports were used up when this attempt came."""
    most, one = mark.assignment.feedback_a_day, mark.hand_in
    if not most or not one or now >= mark.assignment.due:
        return False
    day = [other for other, _ in mark.attempts if other.when.date() == one.when.date()]
    return day.index(one) >= most


def _until(mark: Mark) -> str:
    until = mark.assignment.hidden_until
    return f"Some results are shown from {until:%Y-%m-%d %H:%M}." if until else "Some are hidden."


def _hidden(task: TaskResult, mark: Mark) -> str:
    title = f"Task {escape(task.id)}: {escape(task.title)}"
    return f"<section>\n<h2>{title}</h2>\n<p>{_until(mark)}</p>\n</section>"


def _total(mark: Mark) -> str:
    """The marks in a sentence, with what days late cost."""
    if mark.total is None:
        return "<p><strong>no mark</strong></p>"
    text = f"<strong>{number(mark.total)} / {number(mark.possible)} marks</strong>"
    if "total" in mark.manual.items:
        return f"<p>{text}, as decided by hand</p>"
    if mark.days_late:
        days, kept = number(mark.days_late), number(100 * mark.kept)
        text += f": {number(mark.earned)} earned, {days} days late, of which {kept} % are kept"
    return f"<p>{text}</p>"


def _attempts(mark: Mark, *, plain: bool) -> str:
    """When each attempt came and what it earned."""
    rows = []
    for count, (one, report) in enumerate(mark.attempts, 1):
        marks = "" if plain or report is None else marks_of(report)
        counts = " (counts)" if one is mark.hand_in else ""
        when = f"{one.when:%Y-%m-%d %H:%M}, by {escape(one.known_by)}"
        rows.append(f'<tr><td>{count}{counts}</td><td>{when}</td><td class="number">{marks}</td>')
    head = '<tr><th>Attempt</th><th>Handed in</th><th class="number">Marks of the tests</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _notes(report: Report | None) -> str:
    return "\n".join(f"<p>{escape(line)}</p>" for line in (report.summary if report else ()))


def _rubric(mark: Mark) -> str:
    rows = [
        f'<tr><td>{escape(item)}</td><td class="number">'
        f"{number(mark.manual.items[item]) if item in mark.manual.items else '-'} / {most:g}</td>"
        for item, most in mark.assignment.rubric.items()
    ]
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _section(task: TaskResult, mark: Mark, *, plain: bool = False) -> str:
    """One task: what was asked and how it went."""
    look = "good" if task.status == "passed" else "bad"
    by_hand = " (by hand)" if task.id in mark.manual.items else ""
    body = f"<pre>{escape(task.asked)}</pre>" if plain else body_of(task)
    return (
        f"<section>\n<h2><span>Task {escape(task.id)}: {escape(task.title)}</span> "
        f'<span class="marks {look}">{marks_of(task)}{by_hand}</span></h2>\n'
        f"{body}\n</section>"
    )


# --- for the teacher ---


def programs_of(mark: Mark) -> list[tuple[str, str]]:
    """The Python files of the hand-in that counts, by name."""
    one = mark.hand_in.submission if mark.hand_in else None
    files = [path for path in one.files if path.suffix.lower() == ".py"] if one else []
    return [
        (str(path.relative_to(one.root)), text_of(path)[:MAX_PROGRAM])
        for path in files
        if one is not None
    ]


def beside_page(mark: Mark, run: RunInfo) -> bytes:
    """A hand-in's program and its whole report, side by side."""
    programs = "".join(
        f"<h2>{escape(file)}</h2><pre>{numbered(text)}</pre>" for file, text in programs_of(mark)
    )
    parts = [_total(mark), _attempts(mark, plain=False), _notes(mark.report), _rubric(mark)]
    parts += [_section(task, mark) for task in mark.tasks]
    body = f'<div class="beside"><div>{programs}</div><div>{"".join(parts)}</div></div>'
    back = '<p><a href="../../index.html">The term</a></p>'
    return page(f"{mark.name}: {mark.assignment.title}", STYLE + body + back, run)


def numbered(text: str, marked: frozenset[int] = frozenset()) -> str:
    """A program with the numbers of its lines, some of them marked."""
    lines = []
    for count, line in enumerate(text.splitlines(), 1):
        shown = escape(printable(line))
        lines.append(f"{count:4}  {f'<mark>{shown}</mark>' if count in marked else shown}")
    return "\n".join(lines)


def class_page(name: str, marks: Sequence[Mark], names: Sequence[str], run: RunInfo) -> bytes:
    """An assignment: each student's marks, how each task went, and which checks failed most."""
    rows = []
    for mark, file in zip(marks, names, strict=True):
        total = "" if mark.total is None else f"{number(mark.total)} / {number(mark.possible)}"
        link = f'<a href="{name}/{escape(file)}">{escape(mark.name)}</a>'
        lost = ", ".join(task.id for task in mark.tasks if task.status == "failed")
        rows.append(
            f"<tr><td>{link if mark.report else escape(mark.name)}</td>"
            f'<td class="number">{total}</td><td class="number">{number(mark.days_late) or ""}</td>'
            f"<td>{escape(lost)}</td><td>{escape(mark.problem)}</td></tr>"
        )
    heads = ("Student", "Marks", "Days late", "Lost in task", "To see to")
    failed = Counter(
        (task.id, check.title)
        for mark in marks
        for task in mark.tasks
        for check in task.checks
        if not check.passed
    )
    checks = [
        f'<tr><td>{escape(task)}</td><td>{escape(title)}</td><td class="number">{count}</td></tr>'
        for (task, title), count in failed.most_common()
    ]
    body = STYLE + _table(heads, rows) + "<h2>Marks by task</h2>" + _distribution(marks)
    body += "<h2>Checks that fail</h2>" + _table(("Task", "Check", "Students"), checks)
    return page(name, body + '<p><a href="../index.html">The term</a></p>', run)


def _distribution(marks: Sequence[Mark]) -> str:
    """For each task how many have all, some and none of its marks, and the mean share."""
    graded = [mark for mark in marks if mark.tasks and not (mark.report and mark.report.failure)]
    rows = []
    for place, task in enumerate(graded[0].tasks if graded else ()):
        shares = [
            float(mark.tasks[place].earned / task.marks) if task.marks else 1.0 for mark in graded
        ]
        full, none = shares.count(1.0), shares.count(0.0)
        mean = sum(shares) / len(shares)
        bar = f'<meter value="{mean:.3f}"></meter> {mean:.0%}'
        counts = "".join(f'<td class="number">{n}</td>' for n in (full, len(shares) - full - none))
        rows.append(
            f"<tr><td>{escape(task.id)}: {escape(task.title)}</td>{counts}"
            f'<td class="number">{none}</td><td>{bar}</td></tr>'
        )
    return _table(("Task", "All marks", "Some", "None", "Mean"), rows)


def _table(heads: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def write_index(course: Course, run: RunInfo) -> Path:
    """Write the term's first page from the tables of marks that are there; return its path."""
    results = course.folder / "results"
    tables: dict[str, Table] = {
        name: read_table(results / f"{name}.csv")
        for name in course.settings.assignments
        if (results / f"{name}.csv").exists()
    }
    totals = {
        name: {row[0]: table.cell(row, "total") for row in table.rows if row[0]}
        for name, table in tables.items()
    }
    rows = []
    for student in course.roster.students:
        cells = "".join(
            f'<td class="number">{escape(totals[name].get(student.id, ""))}</td>' for name in tables
        )
        who = f"<td>{escape(student.id)}</td><td>{escape(student.name)}</td>"
        rows.append(f"<tr>{who}<td>{escape(student.section)}</td>{cells}</tr>")
    links = "".join(
        f'<li><a href="desk/{name}.html">{escape(course.settings.assignments[name].title)}</a></li>'
        for name in tables
    )
    body = f"<ul>{links}</ul>" + _table(("Id", "Name", "Section", *tables), rows)
    replace_file(results / "index.html", page(course.settings.title, STYLE + body, run))
    return results / "index.html"
