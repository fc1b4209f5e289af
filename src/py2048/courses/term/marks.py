"""Marks: hand-ins graded, the attempt that counts, late days, and what a person has decided.

``manual.csv`` is the teacher's and is only read. Each row is about one student, assignment and
item: a task's id or a name of the rubric (its marks), ``total`` (the final marks), ``late`` (the
days that count), ``attempt`` (the one that counts), or nothing (a comment). So it outlives every
new run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from py2048.courses import get_course
from py2048.courses.grading.report import Report, TaskResult, number
from py2048.courses.grading.submissions import Submission
from py2048.courses.grading.tasks import Grading
from py2048.courses.term.handins import Finder, HandIn
from py2048.courses.term.roster import Roster, Student, read_roster
from py2048.courses.term.settings import MANUAL, Assignment, Settings, read_settings
from py2048.courses.term.tables import number_of, read_table, table_text
from py2048.errors import CourseError, did_you_mean


@dataclass(frozen=True)
class Manual:
    """What a person has decided on one student's work: numbers by item, and comments."""

    items: dict[str, Fraction] = field(default_factory=dict)
    comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Mark:
    """What one student has for an assignment; `hand_in` is the one that counts, if any.

    A hand-in of no known student has a mark without one, so that it is not lost.
    """

    student: Student | None
    assignment: Assignment
    hand_in: HandIn | None = None
    report: Report | None = None
    days_late: Fraction = Fraction(0)
    attempts: tuple[tuple[HandIn, Report | None], ...] = ()
    manual: Manual = Manual()

    @property
    def tasks(self) -> tuple[TaskResult, ...]:
        """The tasks with the marks that count, those by hand included."""
        tasks = self.report.tasks if self.report else ()
        given = self.manual.items
        return tuple(replace(task, earned=given.get(task.id, task.earned)) for task in tasks)

    @property
    def possible(self) -> Fraction:
        """The marks of all tasks and the rubric."""
        rubric = sum((Fraction(str(most)) for most in self.assignment.rubric.values()), Fraction(0))
        return sum((task.marks for task in self.tasks), rubric)

    @property
    def earned(self) -> Fraction:
        """The marks before days late count."""
        given = self.manual.items
        rubric = sum((given.get(item, Fraction(0)) for item in self.assignment.rubric), Fraction(0))
        return sum((task.earned for task in self.tasks), rubric)

    @property
    def kept(self) -> Fraction:
        """The share that is kept, given the days late."""
        return self.assignment.kept(float(self.days_late))

    @property
    def total(self) -> Fraction | None:
        """The final marks; none without a hand-in, or where the grader has failed."""
        if "total" in self.manual.items:
            return self.manual.items["total"]
        if self.report is None or self.report.failure:
            return None
        return self.earned * self.kept

    @property
    def attempt(self) -> int:
        """The number of the attempt that counts."""
        return 1 + [one for one, _ in self.attempts].index(self.hand_in) if self.hand_in else 0

    @property
    def name(self) -> str:
        """The student's name, or what the hand-in is called."""
        if self.student:
            return self.student.name or self.student.id
        return self.hand_in.entry if self.hand_in else ""

    @property
    def problem(self) -> str:
        """What a teacher must know beyond the marks."""
        if self.student is None:
            return "fits no student of roster.csv"
        if self.hand_in is None:
            return "nothing handed in"
        missing = [item for item in self.assignment.rubric if item not in self.manual.items]
        waits = [f"{item} is not marked" for item in missing if "total" not in self.manual.items]
        return "; ".join([*filter(None, [self.report.reason if self.report else ""]), *waits])


@dataclass
class Course:
    """A term's folder, read: settings, roster and what was decided by hand."""

    folder: Path
    settings: Settings
    roster: Roster
    manual: dict[tuple[str, str], Manual]

    @classmethod
    def read(cls, folder: Path) -> Course:
        """Read a term's folder; raise `CourseError` for what is wrong in it, in one line."""
        settings, roster = read_settings(folder), read_roster(folder)
        return cls(folder, settings, roster, read_manual(folder, settings, roster))

    def grading(self, assignment: Assignment) -> Grading:
        """The tasks that an assignment is graded by."""
        return get_course(assignment.course or self.settings.course).grading()

    def finder(self, name: str, scratch: Path) -> Finder:
        """What finds the hand-ins of an assignment."""
        assignment = self.settings.assignment(name)
        grading, zone = self.grading(assignment), self.settings.zone
        return Finder(name, assignment, self.roster, grading, zone, scratch)


def read_manual(folder: Path, settings: Settings, roster: Roster) -> dict[tuple[str, str], Manual]:
    """Read ``manual.csv``: by assignment and student.

    Raises:
        CourseError: in one line, for a row that is about no assignment, student or item.
    """
    path = folder / "manual.csv"
    if not path.exists():
        return {}
    table = read_table(path)
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
                items[key][item] = _checked(assignment, settings, item, marks)
            elif marks:
                raise CourseError(f"which item has {marks!r} marks? The item is empty")
        except CourseError as error:
            raise CourseError(f"{path}, row {line}: {error}") from None
        comments[key] += [comment] if comment else []
    return {key: Manual(items[key], tuple(comments[key])) for key in {*items, *comments}}


def _checked(assignment: Assignment, settings: Settings, item: str, marks: str) -> Fraction:
    """The number of one item, in the range that it may have."""
    tasks = get_course(assignment.course or settings.course).grading().tasks
    most = {task.id: Fraction(task.marks) for task in tasks}
    most |= {name: Fraction(str(value)) for name, value in assignment.rubric.items()}
    known = {*most, "total", "late", "attempt"}
    if item not in known:
        raise CourseError(f"there is no item {item!r}{did_you_mean(item, known)}")
    try:
        value = Fraction(number_of(marks))
    except (ValueError, ZeroDivisionError):
        raise CourseError(f"{item} = {marks!r}: this is not a number") from None
    if value < 0 or value > most.get(item, value):
        raise CourseError(f"{item} = {marks}: it is from 0 to {number(most.get(item, value))}")
    return value


# --- grading ---

Grader = Callable[[list[Submission], Grading, Path], Sequence[Report]]


class Stopped(Exception):  # noqa: N818 - a teacher's wish
    """A run ended before everything was graded; the message says how far it came."""


def grade_assignment(course: Course, name: str, scratch: Path, grade: Grader) -> list[Mark]:
    """Grade what counts of an assignment; return the marks in the roster's order.

    Args:
        course: the term.
        name: the assignment's.
        scratch: a folder that lives as long as the marks are used.
        grade: grades submissions and returns the reports; it keeps them in the file, so that a run
            that was stopped continues.

    Raises:
        Stopped: if `grade` does not return all reports.
    """
    assignment = course.settings.assignment(name)
    hand_ins = course.finder(name, scratch).find(course.folder / "submissions" / name)
    wanted = [one.submission for one in _to_grade(course, name, assignment, hand_ins)]
    kept = course.folder / "results" / f".{name}.jsonl"
    reports = grade(wanted, course.grading(assignment), kept) if wanted else []
    if len(reports) < len(wanted):
        raise Stopped(f"stopped after {len(reports)} of {len(wanted)} submissions, which are kept")
    return _marks(course, name, hand_ins, {one.name: _of_tasks(one, assignment) for one in reports})


def _of_tasks(report: Report, assignment: Assignment) -> Report:
    """A report with the assignment's tasks only."""
    if not assignment.tasks:
        return report
    return replace(report, tasks=tuple(t for t in report.tasks if t.id in assignment.tasks))


def _to_grade(
    course: Course, name: str, assignment: Assignment, hand_ins: Sequence[HandIn]
) -> list[HandIn]:
    """The hand-ins that can count: the last of each student, or all where the best does."""
    wanted = {id(one): one for one in hand_ins if not one.owners}
    for student in course.roster.students:
        own = _own(student, hand_ins)
        by_hand = course.manual.get((name, student.id), Manual()).items.get("attempt")
        for attempt in own if assignment.attempts == "best" else _last(own, assignment):
            wanted[id(attempt)] = attempt
        if by_hand is not None:
            chosen = _chosen(own, by_hand, student)
            wanted[id(chosen)] = chosen
    return list(wanted.values())


def _own(student: Student, hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """A student's hand-ins by time, those of a group included."""
    return sorted((one for one in hand_ins if student in one.owners), key=lambda one: one.when)


def _last(own: Sequence[HandIn], assignment: Assignment) -> list[HandIn]:
    """The last hand-in that came before the cut-off, or else the first that came after it."""
    in_time = [one for one in own if assignment.kept(assignment.days_late(one.when)) > 0]
    return in_time[-1:] or list(own[:1])


def _chosen(own: Sequence[HandIn], attempt: Fraction, student: Student) -> HandIn:
    if attempt not in range(1, len(own) + 1):
        raise CourseError(
            f"manual.csv: {student.id!r} has {len(own)} attempts, and attempt {attempt} is not one"
        )
    return own[int(attempt) - 1]


def _marks(
    course: Course, name: str, hand_ins: Sequence[HandIn], reports: dict[str, Report]
) -> list[Mark]:
    """The mark of each student, then those of hand-ins of no known student."""
    assignment = course.settings.assignment(name)
    found = []
    for student in course.roster.students:
        manual = course.manual.get((name, student.id), Manual())
        own = _own(student, hand_ins)
        attempts = tuple((one, reports.get(one.submission.name)) for one in own)
        marks = [
            Mark(student, assignment, one, report, _days(one, assignment, manual), attempts, manual)
            for one, report in attempts
            if report is not None
        ]
        if "attempt" in manual.items and own:
            chosen = _chosen(own, manual.items["attempt"], student)
            marks = [mark for mark in marks if mark.hand_in is chosen]
        elif assignment.attempts == "last":
            last = _last(own, assignment)
            marks = [mark for mark in marks if mark.hand_in in last]
        empty = Mark(student, assignment, attempts=attempts, manual=manual)
        found.append(max(marks, key=_worth, default=empty))
    for one in hand_ins:
        if not one.owners:
            days = _days(one, assignment, Manual())
            report = reports.get(one.submission.name)
            found.append(Mark(None, assignment, one, report, days, ((one, report),)))
    return found


def _days(hand_in: HandIn, assignment: Assignment, manual: Manual) -> Fraction:
    return manual.items.get("late", Fraction(assignment.days_late(hand_in.when)))


def _worth(mark: Mark) -> tuple[Fraction, datetime]:
    """What makes an attempt the best: its marks, then that it is the later one."""
    assert mark.hand_in  # only attempts are compared
    return mark.earned * mark.kept, mark.hand_in.when


# --- the table of marks ---


def marks_table(course: Course, name: str, marks: Sequence[Mark]) -> bytes:
    """The marks of an assignment as CSV, a row for each student and each unknown hand-in."""
    assignment = course.settings.assignment(name)
    tasks = next((mark.tasks for mark in marks if mark.tasks), ())
    heads = [f"task {task.id} ({number(task.marks)})" for task in tasks]
    rubric = [f"{item} ({most:g})" for item, most in assignment.rubric.items()]
    head = ["id", "name", "email", "section", "handed in", "attempt", "attempts", *heads, *rubric]
    head += ["earned", "days late", "total", "possible", "comment", "problem"]
    return table_text(head, [_row(mark, len(heads)) for mark in marks])


def _row(mark: Mark, tasks: int) -> list[object]:
    student, one = mark.student or Student(""), mark.hand_in
    failed = mark.report is None or bool(mark.report.failure)
    given = mark.manual.items
    own = [""] * tasks if failed else [number(task.earned) for task in mark.tasks]
    rubric = [number(given[item]) if item in given else "" for item in mark.assignment.rubric]
    total = mark.total
    return [
        student.id,
        mark.name,
        student.email,
        student.section,
        f"{one.when:%Y-%m-%d %H:%M}" if one else "",
        mark.attempt if one else "",
        len(mark.attempts),
        *own,
        *rubric,
        "" if failed else number(mark.earned),
        number(mark.days_late) if one else "",
        "" if total is None else number(total),
        "" if failed else number(mark.possible),
        " ".join(mark.manual.comments),
        mark.problem,
    ]
