"""Compute marks from graded hand-ins, attempts, lateness and manual decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from py2048.core.errors import CourseError
from py2048.courses.grading.grader import ResultsFile, result_key
from py2048.courses.grading.report import GradeReport, TaskResult, csv_text, number
from py2048.courses.grading.submissions import Submission
from py2048.courses.term.handins import HandIn
from py2048.courses.term.manual import NO_DECISIONS, Manual, Term
from py2048.courses.term.roster import Student
from py2048.courses.term.settings import Assignment


@dataclass(frozen=True)
class Mark:
    """A student's mark for an assignment.

    Attributes:
        student: The student, or None if the hand-in matches no student.
        hand_in: The hand-in that counts for the mark, or None if there is none.
        report: Report on the hand-in, or None if it has not been graded.
        days_late: Number of days late, which determines the penalty.
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
        return tuple(
            replace(task, earned=given[task.id], undecided=False) if task.id in given else task
            for task in tasks
        )

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
        """Fraction of the marks that remains after the late penalty."""
        return self.assignment.kept_share(float(self.days_late))

    @property
    def total(self) -> Fraction | None:
        """Final marks after the late penalty, or None if the work is not fully graded."""
        if "total" in self.manual.items:
            return self.manual.items["total"]
        undecided = any(task.undecided for task in self.tasks)
        if self.report is None or self.report.failure or undecided:
            return None
        return self.earned * self.kept_share

    @property
    def attempt(self) -> int:
        """Number of the attempt that counts, starting at 1, or 0 if there is no hand-in."""
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
        undated = self.hand_in.is_undated(self.assignment) and "late" not in self.manual.items
        dated = f"may be late: only its files are dated {self.hand_in.when:%Y-%m-%d %H:%M}"
        return "; ".join(filter(None, [reason, waiting, dated if undated else ""]))


# --- grading ---


def kept_reports(term: Term, name: str, hand_ins: Sequence[HandIn]) -> dict[str, GradeReport]:
    """Return the stored reports of hand-ins, by submission name."""
    grading = term.grading(term.settings.assignment(name))
    known = ResultsFile(term.results(name)).stored
    secret = term.settings.secret
    keys = [result_key(one.submission, grading, secret) for one in hand_ins]
    return {known[key].name: known[key] for key in keys if key in known}


def to_grade(term: Term, name: str, hand_ins: Sequence[HandIn]) -> list[Submission]:
    """Return the hand-ins to grade: the last of each student, or all if the best one counts."""
    assignment = term.settings.assignment(name)
    wanted = [one for one in hand_ins if not one.owners]
    for student in term.roster.students:
        own = _hand_ins_of(student, hand_ins)
        by_hand = term.decisions(name, student).items.get("attempt")
        wanted += own if assignment.attempts == "best" else _last_in_time(own, assignment)
        wanted += [] if by_hand is None else [_chosen(own, by_hand, student)]
    return list({one.submission.name: one.submission for one in wanted}.values())


def _hand_ins_of(student: Student, hand_ins: Sequence[HandIn]) -> list[HandIn]:
    """Return a student's hand-ins, including those of the group, oldest first."""
    return sorted((one for one in hand_ins if student in one.owners), key=lambda one: one.when)


def _last_in_time(own: Sequence[HandIn], assignment: Assignment) -> list[HandIn]:
    """Return the last hand-in before the cut-off or, if there is none, the first after it."""
    in_time = [one for one in own if assignment.kept_share(one.days_late(assignment)) > 0]
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

    A mark's report is None if none of the student's eligible hand-ins has been graded.
    """
    assignment = term.settings.assignment(name)
    found = []
    for student in term.roster.students:
        manual = term.decisions(name, student)
        own = _hand_ins_of(student, hand_ins)
        attempts = tuple((one, graded.get(one.submission.name)) for one in own)
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
            report = graded.get(one.submission.name)
            found.append(Mark(None, assignment, one, report, days, ((one, report),)))
    return found


def _days(hand_in: HandIn, assignment: Assignment, manual: Manual) -> Fraction:
    return manual.items.get("late", Fraction(hand_in.days_late(assignment)))


def _marks_and_time(mark: Mark) -> tuple[bool, Fraction, datetime]:
    """Rate an attempt. The result is a key with which `max` finds the best attempt.

    An attempt with undecided tasks beats all others. Otherwise, the highest mark wins, and the
    latest attempt breaks a tie.
    """
    assert mark.hand_in
    undecided = any(task.undecided for task in mark.tasks)
    return undecided, mark.earned * mark.kept_share, mark.hand_in.when


# --- the table of marks ---


def marks_table(term: Term, name: str, marks: Sequence[Mark]) -> bytes:
    """Return marks as CSV. Hand-ins that match no student come after all students."""
    assignment = term.settings.assignment(name)
    tasks = next((mark.tasks for mark in marks if mark.tasks), ())
    heads = [f"task {task.id} ({number(task.marks)})" for task in tasks]
    rubric = [f"{item} ({most:g})" for item, most in assignment.rubric.items()]
    head = ["id", "name", "email", "section", "handed in", "attempt", "attempts", *heads, *rubric]
    head += ["earned", "days late", "total", "possible", "comment", "problem"]
    return csv_text([head, *(_row(mark, len(heads)) for mark in marks)])


def _row(mark: Mark, tasks: int) -> list[object]:
    student, one = mark.student or Student(""), mark.hand_in
    failed = mark.report is None or bool(mark.report.failure)
    given = mark.manual.items
    who = student.id, mark.name, student.email, student.section
    when = (f"{one.when:%Y-%m-%d %H:%M}", mark.attempt) if one else ("", "")
    own = [""] * tasks if failed else [task.score for task in mark.tasks]
    rubric = [number(given[item]) if item in given else "" for item in mark.assignment.rubric]
    late = number(mark.days_late) if one else ""
    total = "" if mark.total is None else number(mark.total)
    earned, possible = ("" if failed else number(sum_) for sum_ in (mark.earned, mark.possible))
    end = earned, late, total, possible, " ".join(mark.manual.comments), mark.problem
    return [*who, *when, len(mark.attempts), *own, *rubric, *end]
