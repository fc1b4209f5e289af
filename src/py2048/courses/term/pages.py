"""Write students' result pages: self-contained HTML without hidden results."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from html import escape

from py2048.core.language import ENGLISH, use_language
from py2048.courses.grading.report import (
    RunInfo,
    TaskResult,
    file_names,
    marks_of,
    number,
    render_page,
    task_section,
)
from py2048.courses.term.marks import Mark, Term
from py2048.courses.term.tables import replace_file


def write_pages(term: Term, name: str, marks: Sequence[Mark], run: RunInfo, now: datetime) -> None:
    """Write a page for each student of an assignment."""
    names = [mark.student.id if mark.student else f"unknown-{mark.name}" for mark in marks]
    for mark, file in zip(marks, file_names(map(str.lower, names)), strict=True):
        if mark.report is not None or mark.manual.items or mark.manual.comments:
            path = term.folder / "results" / name / file
            with use_language(mark.report.language if mark.report else ENGLISH):
                replace_file(path, student_page(mark, run, now))


# --- for a student ---


def student_page(mark: Mark, run: RunInfo, now: datetime) -> bytes:
    """Render a mark with the details that the student may see at time `now`."""
    assignment = mark.assignment
    hidden = {task.id for task in mark.tasks if assignment.hides(task.id, now)}
    withheld = _is_withheld(mark, now)
    parts = [_total(mark) if not hidden else f"<p>{_until(mark)}</p>"]
    if withheld:
        parts.append(
            f"<p>You get at most {assignment.feedback_a_day} full reports per day before the due "
            "date, and this attempt came after them.</p>"
        )
    parts += [f"<p>{escape(comment)}</p>" for comment in mark.manual.comments]
    parts.append(_attempts(mark, plain=bool(hidden)))
    parts += [f"<p>{escape(line)}</p>" for line in (mark.report.summary if mark.report else ())]
    parts.append(_rubric(mark))
    parts += [
        _hidden(task, mark) if task.id in hidden else _section(task, mark, plain=withheld)
        for task in mark.tasks
    ]
    title = f"{mark.name}: {assignment.title}"
    return render_page(title, "\n".join(parts), run).encode()


def _is_withheld(mark: Mark, now: datetime) -> bool:
    """Return whether the daily number of reports was used up before this attempt."""
    most, one = mark.assignment.feedback_a_day, mark.hand_in
    if not most or not one or now >= mark.assignment.due:
        return False
    day = [other for other, _ in mark.attempts if other.when.date() == one.when.date()]
    return day.index(one) >= most


def _until(mark: Mark) -> str:
    until = mark.assignment.hidden_until
    return f"Some results are hidden until {until:%Y-%m-%d %H:%M}." if until else "Some are hidden."


def _hidden(task: TaskResult, mark: Mark) -> str:
    title = f"Task {escape(task.id)}: {escape(task.title)}"
    return f"<section>\n<h2>{title}</h2>\n<p>{_until(mark)}</p>\n</section>"


def _total(mark: Mark) -> str:
    """Describe the total and the late penalty."""
    if mark.total is None:
        return "<p><strong>no mark</strong></p>"
    text = f"<strong>{number(mark.total)} / {number(mark.possible)} marks</strong>"
    if "total" in mark.manual.items:
        return f"<p>{text}, set by your teacher</p>"
    if mark.days_late:
        days, kept = number(mark.days_late), number(100 * mark.kept_share)
        text += f": {number(mark.earned)} earned, {kept} % kept because it is {days} days late"
    return f"<p>{text}</p>"


def _attempts(mark: Mark, *, plain: bool) -> str:
    """Return a table of attempts with times and marks."""
    rows = []
    for count, (one, report) in enumerate(mark.attempts, 1):
        marks = "" if plain or report is None else marks_of(report)
        counts = " (counts)" if one is mark.hand_in else ""
        when = f"{one.when:%Y-%m-%d %H:%M}, according to {escape(one.time_source)}"
        rows.append(f'<tr><td>{count}{counts}</td><td>{when}</td><td class="number">{marks}</td>')
    head = '<tr><th>Attempt</th><th>Handed in</th><th class="number">Marks of the tests</th></tr>'
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _rubric(mark: Mark) -> str:
    rows = [
        f'<tr><td>{escape(item)}</td><td class="number">'
        f"{number(mark.manual.items[item]) if item in mark.manual.items else '-'} / {most:g}</td>"
        for item, most in mark.assignment.rubric.items()
    ]
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _section(task: TaskResult, mark: Mark, *, plain: bool) -> str:
    by_hand = " (by hand)" if task.id in mark.manual.items else ""
    body = f"<pre>{escape(task.asked)}</pre>" if plain else ""
    return task_section(task, f"{marks_of(task)}{by_hand}", body)
