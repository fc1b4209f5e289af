"""Mark files in the form of each platform, with its own ids for students."""

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
from py2048.courses.term.marks import Course, Mark
from py2048.courses.term.roster import Roster
from py2048.courses.term.tables import Table, number_of, read_table, table_text


@dataclass(frozen=True)
class Export:
    """The files to write, by their names in ``results``, and whose marks found no place in them."""

    files: dict[str, bytes]
    left: tuple[str, ...] = ()


def feedback(mark: Mark) -> str:
    """Return a mark in a few words: what was earned and lost where, and a person's comments."""
    lost = ", ".join(
        f"task {task.id}: {number(task.earned)} / {number(task.marks)}"
        for task in mark.tasks
        if task.status == "failed"
    )
    late = f"{number(mark.days_late)} days late" if mark.days_late else ""
    reason = mark.report.reason if mark.report else ""
    return no_formula(". ".join(filter(None, [*mark.manual.comments, reason, lost, late])))


def scaled(mark: Mark, most: str) -> str:
    """Return a total on a platform's own scale, which `most` names, with its decimal sign."""
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
    table: Table, roster: Roster, marks: Sequence[Mark], fill: Callable[[list[str], Mark], None]
) -> tuple[str, ...]:
    """Fill a platform's table in; return the students with marks whom it does not have."""
    left = _by_student(marks)
    for row in table.rows:
        student = roster.of_row(table, row)
        mark = left.pop(student.id, None) if student else None
        if mark:
            fill(row, mark)
    return tuple(mark.name for mark in left.values())


def to_moodle(course: Course, name: str, marks: Sequence[Mark], template: Path | None) -> Export:
    """Return Moodle's grading worksheet with its columns Grade and Feedback comments filled in."""
    if template is None:
        found = sorted((course.folder / "submissions" / name).glob("*.csv"))
        sheets = [path for path in found if read_table(path).column("identifier") is not None]
        if not sheets:
            raise CourseError(
                "Moodle wants its own grading worksheet: download it there, and name it with "
                "--template FILE"
            )
        template = sheets[0]
    table = read_table(template)
    table.needed("identifier")
    grade, words = table.needed("grade"), table.column("feedback comments")
    course.roster.learn(table)

    def fill(row: list[str], mark: Mark) -> None:
        row[grade] = scaled(mark, table.cell(row, "maximum grade"))
        if words is not None:
            row[words] = feedback(mark)

    left = _filled(table, course.roster, marks, fill)
    return Export({f"{name}-moodle.csv": table.text()}, left)


def to_canvas(course: Course, name: str, marks: Sequence[Mark], template: Path | None) -> Export:
    """Return Canvas's gradebook with only the columns of names and of the assignment.

    Without the gradebook as a template students are named by their ids in the roster.
    """
    heads = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    title = course.settings.assignments[name].canvas or course.settings.assignments[name].title
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

    left = _filled(table, course.roster, marks, fill)
    kept = [number for number, head in enumerate(table.head) if head in heads]
    kept.append(place)
    table.head = [table.head[number] for number in kept]
    table.rows = [[row[number] for number in kept] for row in table.rows]
    return Export({f"{name}-canvas.csv": table.text()}, left)


def _canvas_column(table: Table, title: str, name: str) -> int:
    """Return an assignment's column: its title, with or without Canvas's number in parentheses."""
    plain = [re.sub(r"\s*\(\d+\)$", "", head).strip().lower() for head in table.head]
    for wanted in (title.lower(), re.sub(r"\s*\(\d+\)$", "", title).lower(), name.lower()):
        places = [number for number, head in enumerate(plain) if head == wanted]
        exact = [number for number in places if table.head[number].lower() == title.lower()]
        if len(exact or places) == 1:
            return (exact or places)[0]
    listed = ", ".join(head for head in table.head if re.search(r"\(\d+\)$", head)) or "none"
    raise CourseError(
        f"{table.path}: no one column is {title!r}: name it in course.toml as "
        f"assignments.{name}.canvas; it has {listed}"
    )


def to_gradescopes(course: Course, name: str, marks: Sequence[Mark], run: RunInfo) -> Export:
    """Return ``results.json`` of each student, with days late and what is hidden."""
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


def to_classroom50(course: Course, name: str, marks: Sequence[Mark], run: RunInfo) -> Export:
    """Return each student's ``result.json`` for Classroom 50, whose marks are whole numbers.

    Where marks are not, all are given in hundredths.
    """
    files = {}
    for mark in marks:
        if mark.student and mark.hand_in and mark.report and mark.total is not None:
            rows = [(f"{t.id}: {t.title}", t.earned * mark.kept, t.marks) for t in mark.tasks]
            for item, most in mark.assignment.rubric.items():
                given = mark.manual.items.get(item, Fraction(0)) * mark.kept
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
                "classroom": course.settings.course,
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
    assert mark.student  # each file is one student's
    return re.sub(r"[^\w.@+-]+", "-", mark.student.login or mark.student.id).strip(".") or "-"


def _json(data: Any) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False).encode(errors="replace")


def export(
    course: Course,
    name: str,
    marks: Sequence[Mark],
    platform: str,
    template: Path | None,
    run: RunInfo,
) -> Export:
    """Return the mark files of an assignment for a platform."""
    if platform in ("gradescope", "classroom50"):
        if template:
            raise CourseError(f"--template is for Moodle and Canvas, not for {platform}")
        make = to_gradescopes if platform == "gradescope" else to_classroom50
        return make(course, name, marks, run)
    return (to_moodle if platform == "moodle" else to_canvas)(course, name, marks, template)
