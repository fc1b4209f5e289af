"""Manual marks and comments in the file ``manual.csv``, which regrading never changes.

Each row names a student, an assignment and an item. The item is a task id or rubric item (for its
marks), ``total`` (final marks), ``late`` (days late), ``attempt`` (number of the attempt that
counts), ``hand-in`` (name of a hand-in that belongs to the student), a line such as ``game.py:12``
(for a comment on it) or empty (for a comment). Teachers edit the file on the desk's pages or in a
spreadsheet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from py2048.core.errors import CourseError, unknown
from py2048.courses import get_course
from py2048.courses.grading.report import no_formula, number
from py2048.courses.grading.tasks import Grading
from py2048.courses.term.roster import Roster, Student, read_roster
from py2048.courses.term.settings import MANUAL_COLUMNS, Assignment, TermSettings, read_settings
from py2048.courses.term.tables import CsvTable, number_of, read_table


@dataclass(frozen=True)
class Manual:
    """A teacher's marks and comments for a student, and hand-ins assigned by hand."""

    items: dict[str, Fraction] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    lines: dict[str, str] = field(default_factory=dict)
    hand_ins: list[str] = field(default_factory=list)


NO_DECISIONS = Manual()
HAND_IN = "hand-in"
LINE = re.compile(r".:\d+$")
Decisions = dict[tuple[str, str], Manual]  # by assignment name and student id


def manual_table(folder: Path) -> CsvTable:
    """Read the ``manual.csv`` of a term, and return an empty table if there is none."""
    path = folder / "manual.csv"
    return read_table(path) if path.exists() else CsvTable(list(MANUAL_COLUMNS), path=path)


def decisions(table: CsvTable, settings: TermSettings, roster: Roster) -> Decisions:
    """Return the decisions in a table, by assignment name and student id.

    Raises:
        CourseError: If a row has an unknown assignment, student or item, or an invalid number.
    """
    places = [*map(table.required, MANUAL_COLUMNS)]
    found: Decisions = {}
    for line, row in enumerate(table.rows, 2):
        name, who, item, marks, comment = (row[place].strip() for place in places)
        try:
            assignment = settings.assignment(name)
            student = roster.find(who)
            if student is None:
                raise CourseError(f"there is no student with the id {who!r} in roster.csv")
            manual = found.setdefault((name, student.id), Manual())
            if LINE.search(item):
                manual.lines[item] = comment
                continue
            if item == HAND_IN:
                manual.hand_ins.append(marks)
            elif item in manual.items:
                raise CourseError(f"{item!r} of {who!r} appears twice")
            elif item:
                manual.items[item] = parse_marks(assignment, item, marks)
            elif marks:
                raise CourseError(f"the marks {marks!r} have no item: fill in the item")
        except CourseError as error:
            raise CourseError(f"{table.path}, row {line}: {error}") from None
        manual.comments.extend([comment] if comment else [])
    return found


def parse_marks(assignment: Assignment, item: str, marks: str) -> Fraction:
    """Parse the number for an item and check its range.

    Raises:
        CourseError: If the item is unknown, or the number is invalid or out of range.
    """
    most = {t.id: Fraction(t.marks) for t in get_course(assignment.course).grading().tasks}
    most |= {name: Fraction(str(value)) for name, value in assignment.rubric.items()}
    known = {*most, "total", "late", "attempt"}
    if item not in known:
        raise CourseError(f"there is no item {unknown(item, known)}")
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
    """Enter a teacher's decisions about a student's work in the table of manual marks.

    Empty marks and empty comments on lines are removed from the table. `comments` replaces the
    student's general comments, which belong to no item. Other rows and additional columns are
    unchanged.
    """
    at_name, at_id, at_item, at_marks, at_comment = map(table.required, MANUAL_COLUMNS)
    wanted = {item: text.strip() for item, text in items.items()}
    new = [line.strip() for line in comments if line.strip()]
    kept = []
    for row in table.rows:
        if row[at_name].strip() == name and roster.find(row[at_id]) == student:
            item = row[at_item].strip()
            place = at_comment if LINE.search(item) else at_marks
            row[place] = wanted.pop(item, row[place])
            row[at_item] = row[at_item] if row[place].strip() else ""
            if place == at_marks and row[at_comment].strip() in new:
                new.remove(row[at_comment].strip())
            elif place == at_marks:
                row[at_comment] = ""
            if not (row[at_item].strip() or row[at_comment]):
                continue
        kept.append(row)
    table.rows = kept
    for item, text in [*wanted.items(), *(("", line) for line in new)]:
        if text:
            add_row(table, name, student, item, text)


def add_row(table: CsvTable, name: str, student: Student, item: str, text: str) -> None:
    """Add a row. `text` holds the marks for an item, or a comment on a line or the whole work."""
    place = "comment" if not item or LINE.search(item) else "marks"
    safe = text if no_formula(text) == text else f" {text}"
    cells = {"assignment": name, "id": student.id, "item": item, place: safe}
    columns = {table.required(column): cell for column, cell in cells.items()}
    table.rows.append([columns.get(place, "") for place in range(len(table.head))])


# --- a term in memory ---


@dataclass
class Term:
    """A term's folder, read into memory: settings, roster and manual decisions."""

    folder: Path
    settings: TermSettings
    roster: Roster
    manual: Decisions

    @classmethod
    def read(cls, folder: Path) -> Term:
        """Read a term's folder; raise `CourseError` if anything in it is invalid."""
        settings, roster = read_settings(folder), read_roster(folder)
        return cls(folder, settings, roster, decisions(manual_table(folder), settings, roster))

    def grading(self, assignment: Assignment) -> Grading:
        """Return an assignment's tasks with their checks."""
        grading = get_course(assignment.course).grading().only(assignment.tasks)
        return grading.in_language(self.settings.language)

    def hand_ins(self, name: str) -> Path:
        """Return the folder of an assignment's hand-ins."""
        return self.folder / "submissions" / name

    def results(self, name: str) -> Path:
        """Return the file that stores an assignment's reports."""
        return self.folder / "results" / f".{name}.jsonl"

    def decisions(self, name: str, student: Student) -> Manual:
        """Return the manual decisions on a student's work."""
        return self.manual.get((name, student.id), NO_DECISIONS)

    def assigned(self, name: str) -> dict[str, Student]:
        """Return the students to whom hand-ins of an assignment were assigned by hand."""
        return {
            hand_in: student
            for student in self.roster.students
            for hand_in in self.decisions(name, student).hand_ins
        }
