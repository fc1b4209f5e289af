"""What a person decides on students' work: ``manual.csv``, which the desk and spreadsheets write.

Each row is about one student, assignment and item: a task's id or a name of the rubric (its marks),
``total`` (the final marks), ``late`` (the days that count), ``attempt`` (the one that counts), or
nothing (a comment). So it outlives every new run.
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
from py2048.courses.term.settings import MANUAL, Assignment, Settings
from py2048.courses.term.tables import Table, number_of, read_table


@dataclass(frozen=True)
class Manual:
    """What a person has decided on one student's work: numbers by item, and comments."""

    items: dict[str, Fraction] = field(default_factory=dict)
    comments: tuple[str, ...] = ()


UNDECIDED = Manual()


def manual_table(folder: Path) -> Table:
    """Return ``manual.csv`` of a term's folder; without one, an empty table."""
    path = folder / "manual.csv"
    return read_table(path) if path.exists() else Table(list(MANUAL), path=path)


def decisions(table: Table, settings: Settings, roster: Roster) -> dict[tuple[str, str], Manual]:
    """Return what the rows of a table decide, by assignment and student.

    Raises:
        CourseError: in one line, for a row that is about no assignment, student or item.
    """
    places = [table.needed(name) for name in MANUAL]
    items: dict[tuple[str, str], dict[str, Fraction]] = defaultdict(dict)
    comments: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line, row in enumerate(table.rows, 2):
        name, who, item, marks, comment = (row[place].strip() for place in places)
        try:
            assignment = settings.assignment(name)
            student = roster.find(who)
            if student is None:
                raise CourseError(f"no student of roster.csv has the id {who!r}")
            key = (name, student.id)
            if item:
                if item in items[key]:
                    raise CourseError(f"{item!r} of {who!r} is there twice")
                items[key][item] = checked(assignment, settings, item, marks)
            elif marks:
                raise CourseError(f"which item has {marks!r} marks? The item is empty")
        except CourseError as error:
            raise CourseError(f"{table.path}, row {line}: {error}") from None
        comments[key] += [comment] if comment else []
    return {key: Manual(items[key], tuple(comments[key])) for key in {*items, *comments}}


def checked(assignment: Assignment, settings: Settings, item: str, marks: str) -> Fraction:
    """Return the number of one item, in the range that it may have."""
    tasks = get_course(assignment.course or settings.course).grading().tasks
    most = {task.id: Fraction(task.marks) for task in tasks}
    most |= {name: Fraction(str(value)) for name, value in assignment.rubric.items()}
    known = {*most, "total", "late", "attempt"}
    if item not in known:
        raise CourseError(f"{item!r} is not an item{did_you_mean(item, known)}")
    try:
        value = Fraction(number_of(marks))
    except (ValueError, ZeroDivisionError):
        raise CourseError(f"{item} = {marks!r}: this is not a number") from None
    if value < 0 or value > most.get(item, value):
        raise CourseError(f"{item} = {marks}: it is from 0 to {number(most.get(item, value))}")
    return value


def decide(
    table: Table,
    roster: Roster,
    name: str,
    student: Student,
    items: Mapping[str, str],
    comments: Iterable[str],
) -> None:
    """Have a table say of a student's work on an assignment what these items and comments say.

    An item without marks is taken out. Of all else each row, and its further columns, stay.
    """
    at_name, at_id, at_item, at_marks, at_comment = (table.needed(each) for each in MANUAL)
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
