"""The students of a term, read from ``roster.csv`` and found by id, email, login or name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from py2048.core.errors import CourseError
from py2048.courses.term.tables import CsvTable, read_table

IDS = ("id", "student id", "sid", "id number", "identifier", "username")
EMAILS = ("email", "e-mail", "email address", "e-mail address")
NAMES = ("name", "full name", "student name")
LOGINS = ("username", "github username", "login", "sis login id")
STAFF = {"teacher", "instructor", "ta", "hta", "head ta", "staff"}


@dataclass(frozen=True, order=True)
class Student:
    """A student on the roster.

    Attributes:
        login: User name on GitHub or a similar platform.
        group: Name of the student's group.
    """

    id: str
    name: str = ""
    email: str = ""
    section: str = ""
    login: str = ""
    group: str = ""


def read_roster(folder: Path) -> Roster:
    """Read ``roster.csv`` in the format of py2048, Classroom 50 or GitHub Classroom.

    Raises:
        CourseError: If an id is missing or occurs twice.
    """
    path = folder / "roster.csv"
    if not path.exists() and (folder / "classroom_roster.csv").exists():
        path = folder / "classroom_roster.csv"
    table = read_table(path)
    if table.column(*IDS) is None:
        heads = ", ".join(table.head)
        raise CourseError(
            f"{path} has no column 'id', only {heads}: make its first line id,name,email,section"
        )
    students: dict[str, Student] = {}
    for number, row in enumerate(table.rows, 2):
        if table.cell(row, "role", "roles").lower() in STAFF:
            continue
        student = _student(table, row)
        if not student.id:
            raise CourseError(f"{path}, row {number}: the student has no id")
        if student.id.lower() in students:
            raise CourseError(f"{path}, row {number}: the id {student.id!r} appears twice")
        students[student.id.lower()] = student
    return Roster(students.values())


def _student(table: CsvTable, row: list[str]) -> Student:
    parts = (table.cell(row, "first name", "first"), table.cell(row, "last name", "last"))
    return Student(
        id=table.cell(row, *IDS) or table.cell(row, *EMAILS),
        name=table.cell(row, *NAMES) or " ".join(filter(None, parts)),
        email=table.cell(row, *EMAILS),
        section=table.cell(row, "section", "sections"),
        login=table.cell(row, *LOGINS),
        group=table.cell(row, "group", "team"),
    )


def name_key(name: str) -> str:
    """Reduce a name to lower-case letters and digits, as in the file names of Canvas."""
    return re.sub(r"[\W_]+", "", name.lower())


class Roster:
    """Students, indexed by id, email, login and name.

    If several students share a key, `find` returns no student, so that the teacher decides.
    """

    def __init__(self, students: Iterable[Student]) -> None:
        self.students = list(students)
        self.keys: dict[str, set[Student]] = {}
        for student in self.students:
            for key in (student.id, student.email, student.login):
                self._add(key.lower(), student)
            first, _, last = student.name.rpartition(" ")
            surname, _, given = student.name.partition(",")
            for name in (student.name, last + first, given + surname):
                self._add(f"name:{name_key(name)}", student)
            if student.group:
                self.keys.setdefault(f"group:{student.group.lower()}", set()).add(student)

    def _add(self, key: str, student: Student) -> None:
        if key and key != "name:":
            self.keys.setdefault(key, set()).add(student)

    def find(self, *keys: str) -> Student | None:
        """Return the student identified by the first key that matches exactly one student."""
        for key in keys:
            found = self.keys.get(key.strip().lower(), set())
            if len(found) == 1:
                return next(iter(found))
        return None

    def group(self, name: str) -> set[Student]:
        """Return the students of a group."""
        return self.keys.get(f"group:{name.lower()}", set()) if name else set()

    def learn(self, table: CsvTable) -> None:
        """Add the student numbers in a table from Moodle or Canvas to the index."""
        for row in table.rows:
            student = self.of_row(table, row)
            if student is None:
                continue
            if number := re.search(r"\d+$", table.cell(row, "identifier")):
                self._add(f"moodle:{number[0]}", student)
            if table.column("sis login id", "sis user id") is not None:
                self._add(f"canvas:{table.cell(row, 'id')}", student)

    def of_row(self, table: CsvTable, row: list[str]) -> Student | None:
        """Return the student that a row of a platform's table describes."""
        ids = ("sis user id", "sis login id", "id number", "student id", "sid", "username")
        keys = [table.cell(row, name) for name in (*ids, *EMAILS)]
        if table.column("identifier") is None and table.column("sis login id") is None:
            keys.append(table.cell(row, "id"))
        if participant := re.search(r"\d+$", table.cell(row, "identifier")):
            keys.append(f"moodle:{participant[0]}")
        name = name_key(table.cell(row, "student", *NAMES))
        return self.find(*filter(None, keys), *([f"name:{name}"] if name else []))
