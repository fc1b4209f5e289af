"""Export marks to learning platforms, in their formats and with their student ids."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from py2048.core.errors import CourseError
from py2048.courses.grading.report import RunInfo, no_formula, number, to_gradescope
from py2048.courses.term.marks import Mark, Term
from py2048.courses.term.roster import Roster
from py2048.courses.term.tables import CsvTable, number_of, read_table, table_text


@dataclass(frozen=True)
class Export:
    """Files to write to ``results``, and the students whose marks do not appear in them."""

    files: dict[str, bytes]
    missing: tuple[str, ...] = ()


def feedback(mark: Mark) -> str:
    """Summarise a mark as text: comments, problems, marks lost per task, and lateness."""
    lost = ", ".join(
        f"task {task.id}: {number(task.earned)} / {number(task.marks)}"
        for task in mark.tasks
        if task.status == "failed"
    )
    late = f"{number(mark.days_late)} days late" if mark.days_late else ""
    reason = mark.report.reason if mark.report else ""
    return no_formula(". ".join(filter(None, [*mark.manual.comments, reason, lost, late])))


def scaled(mark: Mark, most: str) -> str:
    """Scale a total to the platform's maximum `most`; use the decimal separator of `most`."""
    total = mark.total if mark.total is not None else Fraction(0)
    try:
        whole = Fraction(number_of(most))
    except (ValueError, ZeroDivisionError):
        whole = mark.possible
    value = total * whole / mark.possible if mark.possible else total
    text = f"{float(value):.2f}".rstrip("0").rstrip(".")
    return text.replace(".", ",") if "," in most else text


def _by_student(marks: Sequence[Mark]) -> dict[str, Mark]:
    return {m.student.id: m for m in marks if m.student and m.total is not None}


def _filled(
    table: CsvTable, roster: Roster, marks: Sequence[Mark], fill: Callable[[list[str], Mark], None]
) -> tuple[str, ...]:
    """Fill in a platform's table; return students who have marks but are not in the table."""
    missing = _by_student(marks)
    for row in table.rows:
        student = roster.of_row(table, row)
        mark = missing.pop(student.id, None) if student else None
        if mark:
            fill(row, mark)
    return tuple(mark.name for mark in missing.values())


def to_moodle(term: Term, name: str, marks: Sequence[Mark], template: Path | None) -> Export:
    """Fill in the grades and feedback comments of Moodle's grading worksheet."""
    if template is None:
        found = sorted((term.folder / "submissions" / name).glob("*.csv"))
        sheets = [path for path in found if read_table(path).column("identifier") is not None]
        if not sheets:
            raise CourseError(
                "Moodle's grading worksheet is missing: download it from Moodle, and pass it with "
                "--template FILE"
            )
        template = sheets[0]
    table = read_table(template)
    table.required("identifier")
    grade, words = table.required("grade"), table.column("feedback comments")
    term.roster.learn(table)

    def fill(row: list[str], mark: Mark) -> None:
        row[grade] = scaled(mark, table.cell(row, "maximum grade"))
        if words is not None:
            row[words] = feedback(mark)

    missing = _filled(table, term.roster, marks, fill)
    return Export({f"{name}-moodle.csv": table.to_bytes()}, missing)


def to_canvas(term: Term, name: str, marks: Sequence[Mark], template: Path | None) -> Export:
    """Return a Canvas gradebook with only the student columns and this assignment's column.

    Without a template, students are identified by their roster ids.
    """
    heads = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    title = term.settings.assignments[name].canvas or term.settings.assignments[name].title
    if template is None:
        rows = [
            [m.name, "", m.student.id, m.student.login, m.student.section, scaled(m, "")]
            for m in _by_student(marks).values()
            if m.student
        ]
        return Export({f"{name}-canvas.csv": table_text([*heads, title], rows)})
    table = read_table(template)
    place = _canvas_column(table, title, name)
    possible = next((row[place] for row in table.rows if "Points Possible" in row[0]), "")

    def fill(row: list[str], mark: Mark) -> None:
        row[place] = scaled(mark, possible)

    missing = _filled(table, term.roster, marks, fill)
    kept = [number for number, head in enumerate(table.head) if head in heads]
    kept.append(place)
    table.head = [table.head[number] for number in kept]
    table.rows = [[row[number] for number in kept] for row in table.rows]
    return Export({f"{name}-canvas.csv": table.to_bytes()}, missing)


def _canvas_column(table: CsvTable, title: str, name: str) -> int:
    """Return the index of an assignment's column, whose title may end with Canvas's id."""
    plain = [re.sub(r"\s*\(\d+\)$", "", head).strip().lower() for head in table.head]
    for wanted in (title.lower(), re.sub(r"\s*\(\d+\)$", "", title).lower(), name.lower()):
        places = [number for number, head in enumerate(plain) if head == wanted]
        exact = [number for number in places if table.head[number].lower() == title.lower()]
        if len(exact or places) == 1:
            return (exact or places)[0]
    listed = ", ".join(head for head in table.head if re.search(r"\(\d+\)$", head)) or "none"
    raise CourseError(
        f"{table.path} has no column {title!r}, or several: set assignments.{name}.canvas in "
        f"course.toml to one of {listed}"
    )


def to_gradescopes(term: Term, name: str, marks: Sequence[Mark], run: RunInfo) -> Export:
    """Return a ``results.json`` per student, which includes lateness and marks hidden results."""
    now = datetime.now(UTC)
    files = {}
    for mark in marks:
        if mark.student and mark.report and mark.total is not None:
            data = to_gradescope(run, mark.report)
            hidden = [mark.assignment.hides(task.id, now) for task in mark.tasks]
            data["score"] = number(mark.total)
            data["visibility"] = "after_published" if any(hidden) else "visible"
            for test, task, hides in zip(data["tests"], mark.tasks, hidden, strict=True):
                test["score"] = number(task.earned)
                test["visibility"] = "after_published" if hides else "visible"
            data["extra_data"]["days_late"] = number(mark.days_late)
            data["output"] += f"\n{feedback(mark)}"
            files[f"{name}-gradescope/{_safe(mark)}/results.json"] = _json(data)
    return Export(files)


def to_classroom50(term: Term, name: str, marks: Sequence[Mark], run: RunInfo) -> Export:
    """Return a ``result.json`` per student for Classroom 50.

    Classroom 50 accepts only whole marks, so fractional marks are exported in hundredths.
    """
    files = {}
    for mark in marks:
        if mark.student and mark.hand_in and mark.report and mark.total is not None:
            rows = [(f"{t.id}: {t.title}", t.earned * mark.kept_share, t.marks) for t in mark.tasks]
            for item, most in mark.assignment.rubric.items():
                given = mark.manual.items.get(item, Fraction(0)) * mark.kept_share
                rows.append((item, given, Fraction(str(most))))
            if "total" in mark.manual.items:
                rows = [("marked by hand", mark.total, mark.possible)]
            whole = all(value.denominator == 1 for _, *values in rows for value in values)
            tests = [
                {
                    "test-name": title,
                    "passed": earned == most,
                    "score": round(earned * (1 if whole else 100)),
                    "max-score": round(most * (1 if whole else 100)),
                }
                for title, earned, most in rows
            ]
            when = mark.hand_in.when.astimezone(UTC)
            tag = f"submit/manual-{when:%Y-%m-%dT%H-%M-%SZ}"
            data = {
                "schema": "classroom50/result/v1",
                "classroom": term.settings.course,
                "assignment": name,
                "assignment_type": "group" if mark.assignment.groups else "individual",
                "owner": mark.student.login or mark.student.id,
                **dict.fromkeys(("submission", "commit", "release", "review"), tag),
                "datetime": f"{when:%Y-%m-%dT%H:%M:%SZ}",
                "score": sum(int(str(test["score"])) for test in tests),
                "max-score": sum(int(str(test["max-score"])) for test in tests),
                "tests": tests,
            }
            files[f"{name}-classroom50/{_safe(mark)}/result.json"] = _json(data)
    return Export(files)


def _safe(mark: Mark) -> str:
    assert mark.student
    return re.sub(r"[^\w.@+-]+", "-", mark.student.login or mark.student.id).strip(".") or "-"


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False).encode(errors="replace")


def export(
    term: Term, name: str, marks: Sequence[Mark], platform: str, template: Path | None, run: RunInfo
) -> Export:
    """Return an assignment's export files for a platform."""
    if platform in ("gradescope", "classroom50"):
        if template:
            raise CourseError(
                f"--template does not work with {platform}, only with moodle and canvas"
            )
        make = to_gradescopes if platform == "gradescope" else to_classroom50
        return make(term, name, marks, run)
    return (to_moodle if platform == "moodle" else to_canvas)(term, name, marks, template)
