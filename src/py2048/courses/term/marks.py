"""Compute marks from graded hand-ins, attempts, lateness and manual decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path

from py2048.core.errors import CourseError
from py2048.courses import get_course
from py2048.courses.grading.grader import ResultsFile, result_key
from py2048.courses.grading.report import GradeReport, TaskResult, number
from py2048.courses.grading.submissions import Submission
from py2048.courses.grading.tasks import Grading
from py2048.courses.term.handins import Finder, HandIn
from py2048.courses.term.manual import NO_DECISIONS, Decisions, Manual, decisions, manual_table
from py2048.courses.term.roster import Roster, Student, read_roster
from py2048.courses.term.settings import Assignment, TermSettings, read_settings
from py2048.courses.term.tables import table_text


@dataclass(frozen=True)
class Mark:
    """A student's mark for an assignment.

    Attributes:
        student: The student, or None if the hand-in matches no student.
        hand_in: The hand-in used for the mark, if any.
        report: Its report, if it has been graded.
        days_late: Days late used for the penalty.
        attempts: All hand-ins with their reports, oldest first.
        manual: Manual decisions.
    """

    student: Student | None
    assignment: Assignment
    hand_in: HandIn | None = None
    report: GradeReport | None = None
    days_late: Fraction = Fraction(0)
    attempts: tuple[tuple[HandIn, GradeReport | None], ...] = ()
    manual: Manual = NO_DECISIONS

    @property
    def tasks(self) -> tuple[TaskResult, ...]:
        """Tasks with their final marks, including manual marks."""
        tasks = self.report.tasks if self.report else ()
        given = self.manual.items
        return tuple(replace(task, earned=given.get(task.id, task.earned)) for task in tasks)

    @property
    def possible(self) -> Fraction:
        """Maximum marks of all tasks and rubric items."""
        rubric = sum((Fraction(str(most)) for most in self.assignment.rubric.values()), Fraction(0))
        return sum((task.marks for task in self.tasks), rubric)

    @property
    def earned(self) -> Fraction:
        """Marks before the late penalty."""
        given = self.manual.items
        rubric = sum((given.get(item, Fraction(0)) for item in self.assignment.rubric), Fraction(0))
        return sum((task.earned for task in self.tasks), rubric)

    @property
    def kept_share(self) -> Fraction:
        """Share of the marks left after the late penalty."""
        return self.assignment.kept_share(float(self.days_late))

    @property
    def total(self) -> Fraction | None:
        """Final marks; None without a hand-in, or if the grader failed."""
        if "total" in self.manual.items:
            return self.manual.items["total"]
        if self.report is None or self.report.failure:
            return None
        return self.earned * self.kept_share

    @property
    def attempt(self) -> int:
        """Number of the attempt that counts, from 1; 0 without a hand-in."""
        return 1 + [one for one, _ in self.attempts].index(self.hand_in) if self.hand_in else 0

    @property
    def name(self) -> str:
        """Student's name, or the hand-in's name if the student is unknown."""
        if self.student:
            return self.student.name or self.student.id
        return self.hand_in.entry if self.hand_in else ""

    @property
    def problem(self) -> str:
        """Problems for the teacher to look at; empty if there are none."""
        if self.student is None:
            return "matches no student in roster.csv"
        if self.hand_in is None:
            return "nothing handed in"
        reason = self.report.reason if self.report else "not graded yet"
        missing = [item for item in self.assignment.rubric if item not in self.manual.items]
        waits = missing and "total" not in self.manual.items
        waiting = f"not marked: {', '.join(missing)}" if waits else ""
        return "; ".join(filter(None, [reason, waiting]))


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
        """Return the tasks and checks of an assignment's course."""
        grading = get_course(assignment.course or self.settings.course).grading()
        return grading.in_language(self.settings.language)

    def finder(self, name: str, scratch: Path) -> Finder:
        """Return the finder of an assignment's hand-ins."""
        assignment = self.settings.assignment(name)
        grading, zone = self.grading(assignment), self.settings.zone
        return Finder(name, assignment, self.roster, grading, zone, scratch)


# --- grading ---

Grader = Callable[[list[Submission], Grading, Path], Sequence[GradeReport]]


class Stopped(Exception):  # noqa: N818 - the teacher pressed Ctrl-C
    """A run was stopped before everything was graded; the message says how far it got."""


def grade_assignment(term: Term, name: str, scratch: Path, grade: Grader) -> list[Mark]:
    """Grade an assignment's new hand-ins; return the marks in roster order.

    Args:
        term: The term.
        name: The assignment's name.
        scratch: Folder for unpacked files; it must exist as long as the marks are in use.
        grade: Function that grades submissions and appends the reports to a file, so that a stopped
            run can be resumed.

    Raises:
        Stopped: If `grade` returns fewer reports than submissions.
    """
    assignment = term.settings.assignment(name)
    hand_ins = term.finder(name, scratch).find(term.folder / "submissions" / name)
    wanted = [one.submission for one in _to_grade(term, name, assignment, hand_ins)]
    kept = _results_file(term, name)
    reports = grade(wanted, term.grading(assignment), kept) if wanted else []
    if len(reports) < len(wanted):
        raise Stopped(
            f"stopped after {len(reports)} of {len(wanted)} submissions; their results are kept"
        )
    return class_marks(term, name, hand_ins, {one.name: one for one in reports})


def kept_reports(term: Term, name: str, hand_ins: Sequence[HandIn]) -> dict[str, GradeReport]:
    """Return the stored reports of hand-ins, by submission name."""
    grading = term.grading(term.settings.assignment(name))
    known = ResultsFile(_results_file(term, name)).stored
    secret = term.settings.secret
    keys = [result_key(one.submission, grading, secret) for one in hand_ins]
    return {known[key].name: known[key] for key in keys if key in known}


def _results_file(term: Term, name: str) -> Path:
    return term.folder / "results" / f".{name}.jsonl"


def _only_its_tasks(report: GradeReport, assignment: Assignment) -> GradeReport:
    """Reduce a report to the assignment's tasks."""
    if not assignment.tasks:
        return report
    return replace(report, tasks=tuple(t for t in report.tasks if t.id in assignment.tasks))


def _to_grade(
    term: Term, name: str, assignment: Assignment, hand_ins: Sequence[HandIn]
) -> list[HandIn]:
    """Return the hand-ins that may count: the last one per student, or all if the best counts."""
    wanted = {id(one): one for one in hand_ins if not one.owners}
    for student in term.roster.students:
        own = _hand_ins_of(student, hand_ins)
        by_hand = term.manual.get((name, student.id), NO_DECISIONS).items.get("attempt")
        for attempt in own if assignment.attempts == "best" else _last_in_time(own, assignment):
            wanted[id(attempt)] = attempt
        if by_hand is not None:
            chosen = _chosen(own, by_hand, student)
            wanted[id(chosen)] = chosen
    return list(wanted.values())


def _hand_ins_of(student: Student, hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """Return a student's hand-ins, including those of the group, oldest first."""
    return sorted((one for one in hand_ins if student in one.owners), key=lambda one: one.when)


def _last_in_time(own: Sequence[HandIn], assignment: Assignment) -> list[HandIn]:
    """Return the last hand-in before the cut-off; if there is none, the first one after it."""
    in_time = [one for one in own if assignment.kept_share(assignment.days_late(one.when)) > 0]
    return in_time[-1:] or list(own[:1])


def _chosen(own: Sequence[HandIn], attempt: Fraction, student: Student) -> HandIn:
    if attempt not in range(1, len(own) + 1):
        raise CourseError(
            f"manual.csv: there is no attempt {attempt} of {student.id!r}, who has {len(own)}"
        )
    return own[int(attempt) - 1]


def class_marks(
    term: Term, name: str, hand_ins: Sequence[HandIn], graded: Mapping[str, GradeReport]
) -> list[Mark]:
    """Return each student's mark, followed by marks for hand-ins that match no student.

    A mark has no report if none of the eligible hand-ins has been graded.
    """
    assignment = term.settings.assignment(name)
    reports = {key: _only_its_tasks(report, assignment) for key, report in graded.items()}
    found = []
    for student in term.roster.students:
        manual = term.manual.get((name, student.id), NO_DECISIONS)
        own = _hand_ins_of(student, hand_ins)
        attempts = tuple((one, reports.get(one.submission.name)) for one in own)
        counting = own if assignment.attempts == "best" else _last_in_time(own, assignment)
        if "attempt" in manual.items and own:
            counting = [_chosen(own, manual.items["attempt"], student)]
        marks = [
            Mark(student, assignment, one, report, _days(one, assignment, manual), attempts, manual)
            for one, report in attempts
            if one in counting
        ]
        own_marks = [mark for mark in marks if mark.report] or marks
        empty = Mark(student, assignment, attempts=attempts, manual=manual)
        found.append(max(own_marks, key=_marks_and_time, default=empty))
    for one in hand_ins:
        if not one.owners:
            days = _days(one, assignment, NO_DECISIONS)
            report = reports.get(one.submission.name)
            found.append(Mark(None, assignment, one, report, days, ((one, report),)))
    return found


def _days(hand_in: HandIn, assignment: Assignment, manual: Manual) -> Fraction:
    return manual.items.get("late", Fraction(assignment.days_late(hand_in.when)))


def _marks_and_time(mark: Mark) -> tuple[Fraction, datetime]:
    """Sort key to find the best attempt: highest marks, then latest time."""
    assert mark.hand_in
    return mark.earned * mark.kept_share, mark.hand_in.when


# --- the table of marks ---


def marks_table(term: Term, name: str, marks: Sequence[Mark]) -> bytes:
    """Return an assignment's marks as CSV: all students, then hand-ins that match no student."""
    assignment = term.settings.assignment(name)
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
