"""Manual marks and comments, stored in ``manual.csv``. Regrading never changes them.

Each row names a student, an assignment and an item. The item is a task id or rubric item (for its
marks), ``total`` (final marks), ``late`` (days late), ``attempt`` (number of the attempt that
counts) or empty (for a comment). Teachers edit the file at the desk or in a spreadsheet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from py2048.core.errors import CourseError, did_you_mean
from py2048.courses import get_course
from py2048.courses.grading.report import no_formula, number
from py2048.courses.term.roster import Roster, Student
from py2048.courses.term.settings import MANUAL_COLUMNS, Assignment, TermSettings
from py2048.courses.term.tables import CsvTable, number_of, read_table


@dataclass(frozen=True)
class Manual:
    """Manual decisions on a student's work: a number per item, and comments."""

    items: dict[str, Fraction] = field(default_factory=dict)
    comments: tuple[str, ...] = ()


NO_DECISIONS = Manual()
Decisions = dict[tuple[str, str], Manual]  # by assignment name and student id


def manual_table(folder: Path) -> CsvTable:
    """Read a term's ``manual.csv``; return an empty table if there is none."""
    path = folder / "manual.csv"
    return read_table(path) if path.exists() else CsvTable(list(MANUAL_COLUMNS), path=path)


def decisions(table: CsvTable, settings: TermSettings, roster: Roster) -> Decisions:
    """Return the decisions in a table, keyed by assignment name and student id.

    Raises:
        CourseError: If a row has an unknown assignment, student or item, or an invalid number.
    """
    places = [*map(table.required, MANUAL_COLUMNS)]
    items: dict[tuple[str, str], dict[str, Fraction]] = defaultdict(dict)
    comments: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line, row in enumerate(table.rows, 2):
        name, who, item, marks, comment = (row[place].strip() for place in places)
        try:
            assignment = settings.assignment(name)
            student = roster.find(who)
            if student is None:
                raise CourseError(f"there is no student with the id {who!r} in roster.csv")
            key = (name, student.id)
            if item:
                if item in items[key]:
                    raise CourseError(f"{item!r} of {who!r} appears twice")
                items[key][item] = parse_marks(assignment, settings, item, marks)
            elif marks:
                raise CourseError(f"the marks {marks!r} have no item: fill in the item")
        except CourseError as error:
            raise CourseError(f"{table.path}, row {line}: {error}") from None
        comments[key] += [comment] if comment else []
    return {key: Manual(items[key], tuple(comments[key])) for key in {*items, *comments}}


def parse_marks(assignment: Assignment, settings: TermSettings, item: str, marks: str) -> Fraction:
    """Parse an item's number and check its range.

    Raises:
        CourseError: If the item is unknown, or the number is invalid or out of range.
    """
    tasks = get_course(assignment.course or settings.course).grading().tasks
    most = {task.id: Fraction(task.marks) for task in tasks}
    most |= {name: Fraction(str(value)) for name, value in assignment.rubric.items()}
    known = {*most, "total", "late", "attempt"}
    if item not in known:
        raise CourseError(f"there is no item {item!r}{did_you_mean(item, known)}")
    try:
        value = Fraction(number_of(marks))
    except (ValueError, ZeroDivisionError):
        raise CourseError(f"{item} = {marks!r} is not a number") from None
    if value < 0 or value > most.get(item, value):
        raise CourseError(f"{item} = {marks} must be from 0 to {number(most.get(item, value))}")
    return value


def decide(
    table: CsvTable,
    roster: Roster,
    name: str,
    student: Student,
    items: Mapping[str, str],
    comments: Iterable[str],
) -> None:
    """Update a table with the decisions on a student's work in an assignment.

    Items with empty marks are removed, and `comments` replace the student's existing comments.
    Other rows and additional columns are unchanged.
    """
    at_name, at_id, at_item, at_marks, at_comment = map(table.required, MANUAL_COLUMNS)
    wanted = {item: marks.strip() for item, marks in items.items()}
    new = [line.strip() for line in comments if line.strip()]
    kept = []
    for row in table.rows:
        if row[at_name].strip() == name and roster.find(row[at_id]) == student:
            marks = wanted.pop(row[at_item].strip(), row[at_marks])
            row[at_marks] = marks
            row[at_item] = row[at_item] if marks.strip() else ""
            if row[at_comment].strip() in new:
                new.remove(row[at_comment].strip())
            else:
                row[at_comment] = ""
            if not (row[at_item].strip() or row[at_comment]):
                continue
        kept.append(row)
    rows = [(item, marks, "") for item, marks in wanted.items() if marks]
    for item, marks, comment in [*rows, *(("", "", line) for line in new)]:
        row = [""] * len(table.head)
        row[at_name], row[at_id], row[at_item], row[at_marks] = name, student.id, item, marks
        row[at_comment] = comment if no_formula(comment) == comment else f" {comment}"
        kept.append(row)
    table.rows = kept
