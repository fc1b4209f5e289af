"""Marks: hand-ins graded, the attempt that counts, late days, and what a person has decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from py2048.core.errors import CourseError
from py2048.courses import get_course
from py2048.courses.grading.grader import ResultsFile, key_of
from py2048.courses.grading.report import Report, TaskResult, number
from py2048.courses.grading.submissions import Submission
from py2048.courses.grading.tasks import Grading
from py2048.courses.term.handins import Finder, HandIn
from py2048.courses.term.manual import UNDECIDED, Manual, decisions, manual_table
from py2048.courses.term.roster import Roster, Student, read_roster
from py2048.courses.term.settings import Assignment, Settings, read_settings
from py2048.courses.term.tables import table_text


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
    manual: Manual = UNDECIDED

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
        reason = self.report.reason if self.report else "not graded yet"
        missing = [item for item in self.assignment.rubric if item not in self.manual.items]
        waits = missing and "total" not in self.manual.items
        waiting = f"not marked: {', '.join(missing)}" if waits else ""
        return "; ".join(filter(None, [reason, waiting]))


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
        return cls(folder, settings, roster, decisions(manual_table(folder), settings, roster))

    def grading(self, assignment: Assignment) -> Grading:
        """Return the tasks that an assignment is graded by."""
        grading = get_course(assignment.course or self.settings.course).grading()
        return grading.told_in(self.settings.language)

    def finder(self, name: str, scratch: Path) -> Finder:
        """Return the finder of the hand-ins of an assignment."""
        assignment = self.settings.assignment(name)
        grading, zone = self.grading(assignment), self.settings.zone
        return Finder(name, assignment, self.roster, grading, zone, scratch)


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
    kept = _results_file(course, name)
    reports = grade(wanted, course.grading(assignment), kept) if wanted else []
    if len(reports) < len(wanted):
        raise Stopped(f"stopped after {len(reports)} of {len(wanted)} submissions, which are kept")
    return class_marks(course, name, hand_ins, {one.name: one for one in reports})


def kept_reports(course: Course, name: str, hand_ins: Sequence[HandIn]) -> dict[str, Report]:
    """Return what `grade_assignment` has kept of these hand-ins, by their names."""
    grading = course.grading(course.settings.assignment(name))
    known = ResultsFile(_results_file(course, name)).known
    secret = course.settings.secret
    keys = [key_of(one.submission, grading, secret) for one in hand_ins]
    return {known[key].name: known[key] for key in keys if key in known}


def _results_file(course: Course, name: str) -> Path:
    return course.folder / "results" / f".{name}.jsonl"


def _of_tasks(report: Report, assignment: Assignment) -> Report:
    """Return a report with the assignment's tasks only."""
    if not assignment.tasks:
        return report
    return replace(report, tasks=tuple(t for t in report.tasks if t.id in assignment.tasks))


def _to_grade(
    course: Course, name: str, assignment: Assignment, hand_ins: Sequence[HandIn]
) -> list[HandIn]:
    """Return the hand-ins that can count: the last of each student, or all where the best does."""
    wanted = {id(one): one for one in hand_ins if not one.owners}
    for student in course.roster.students:
        own = _own(student, hand_ins)
        by_hand = course.manual.get((name, student.id), UNDECIDED).items.get("attempt")
        for attempt in own if assignment.attempts == "best" else _last(own, assignment):
            wanted[id(attempt)] = attempt
        if by_hand is not None:
            chosen = _chosen(own, by_hand, student)
            wanted[id(chosen)] = chosen
    return list(wanted.values())


def _own(student: Student, hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """Return a student's hand-ins by time, those of a group included."""
    return sorted((one for one in hand_ins if student in one.owners), key=lambda one: one.when)


def _last(own: Sequence[HandIn], assignment: Assignment) -> list[HandIn]:
    """Return the last hand-in before the cut-off, or else the first after it."""
    in_time = [one for one in own if assignment.kept(assignment.days_late(one.when)) > 0]
    return in_time[-1:] or list(own[:1])


def _chosen(own: Sequence[HandIn], attempt: Fraction, student: Student) -> HandIn:
    if attempt not in range(1, len(own) + 1):
        raise CourseError(
            f"manual.csv: {student.id!r} has {len(own)} attempts, and attempt {attempt} is not one"
        )
    return own[int(attempt) - 1]


def class_marks(
    course: Course, name: str, hand_ins: Sequence[HandIn], graded: Mapping[str, Report]
) -> list[Mark]:
    """Return the mark of each student, then those of hand-ins of no known student.

    A student of whose hand-ins none that can count is graded has a mark without a report.
    """
    assignment = course.settings.assignment(name)
    reports = {key: _of_tasks(report, assignment) for key, report in graded.items()}
    found = []
    for student in course.roster.students:
        manual = course.manual.get((name, student.id), UNDECIDED)
        own = _own(student, hand_ins)
        attempts = tuple((one, reports.get(one.submission.name)) for one in own)
        counting = own if assignment.attempts == "best" else _last(own, assignment)
        if "attempt" in manual.items and own:
            counting = [_chosen(own, manual.items["attempt"], student)]
        marks = [
            Mark(student, assignment, one, report, _days(one, assignment, manual), attempts, manual)
            for one, report in attempts
            if one in counting
        ]
        own_marks = [mark for mark in marks if mark.report] or marks
        empty = Mark(student, assignment, attempts=attempts, manual=manual)
        found.append(max(own_marks, key=_worth, default=empty))
    for one in hand_ins:
        if not one.owners:
            days = _days(one, assignment, UNDECIDED)
            report = reports.get(one.submission.name)
            found.append(Mark(None, assignment, one, report, days, ((one, report),)))
    return found


def _days(hand_in: HandIn, assignment: Assignment, manual: Manual) -> Fraction:
    return manual.items.get("late", Fraction(assignment.days_late(hand_in.when)))


def _worth(mark: Mark) -> tuple[Fraction, datetime]:
    """Return what makes an attempt the best: its marks, then that it is the later one."""
    assert mark.hand_in  # only attempts are compared
    return mark.earned * mark.kept, mark.hand_in.when


# --- the table of marks ---


def marks_table(course: Course, name: str, marks: Sequence[Mark]) -> bytes:
    """Return an assignment's marks as CSV, a row for each student and each unknown hand-in."""
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
