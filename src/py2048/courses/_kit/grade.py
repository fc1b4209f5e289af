"""Grading one submission: load it, try every check of every task, add up the marks."""

from __future__ import annotations

import functools
import hashlib
import tempfile
import time
from fractions import Fraction
from pathlib import Path

from py2048 import __version__
from py2048.courses._kit.process import ProcessDied
from py2048.courses._kit.results import CheckResult, Report, TaskResult
from py2048.courses._kit.runner import RunBrokenOffError, SandboxConfig
from py2048.courses._kit.session import Session, find_way
from py2048.courses._kit.sources import Unreadable, Workspace, digest_of, prepare
from py2048.courses._kit.submissions import Submission
from py2048.courses._kit.tasks import Check, Grading, Mismatch, PatchFailed, Task
from py2048.errors import CourseError

# What a check's own code may stumble over when a submission answers with the wrong kind of value.
ODD_ANSWERS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
PATCHED = "# with right versions of what other tasks ask for"


def grade(submission: Submission, grading: Grading, sandbox: SandboxConfig) -> Report:
    """Grade one submission. Whatever goes wrong is a problem of this submission and no other.

    Raises:
        RunBrokenOffError: when the run ends while this submission is graded.
    """
    began = time.monotonic()
    work: Workspace | None = None
    tasks: list[TaskResult] = []
    problem, key = submission.problem, ""
    with tempfile.TemporaryDirectory(prefix="py2048-grade-", ignore_cleanup_errors=True) as place:
        try:
            key = key_of(submission, grading)
            if not problem:
                Path(place).chmod(0o711)  # the course's files beside it are for the submission
                folder = Path(place, "submission")
                folder.mkdir(mode=0o700)
                work = prepare(
                    list(submission.files),
                    grading,
                    folder,
                    from_python2=submission.from_python2,
                )
                grading = work.grading
                _grade_tasks(grading, work, sandbox, tasks)
        except Unreadable as error:
            problem = str(error)
        except RunBrokenOffError:
            raise
        except Exception as error:  # noqa: BLE001 - one submission must not end the class's run
            problem, key = _not_graded(error), ""
    missing = grading.tasks[len(tasks) :]
    return Report(
        name=submission.name,
        course=grading.course,
        tasks=(*tasks, *map(_nothing, missing)),
        files=tuple(str(path.relative_to(submission.root)) for path in submission.files),
        notes=tuple(work.notes if work else ()),
        problem=problem,
        opening=opening_of(work) if work else "",
        seconds=round(time.monotonic() - began, 2),
        key=key,
    )


def opening_of(work: Workspace) -> str:
    """What a student types before an example."""
    module = Path(work.file).stem
    if module.isidentifier():
        return work.grading.opening.format(module=module)
    typed = work.grading.opening.format(module=work.grading.module)
    return f"{typed} (once {work.file} is saved as {work.grading.module}.py)"


def _not_graded(error: Exception) -> str:
    """Why the grader could not do its work; such a result is not kept for the next run."""
    if isinstance(error, CourseError | OSError):
        return str(error)
    return f"the grader failed, please report it: {type(error).__name__}: {error}"


def _grade_tasks(
    grading: Grading, work: Workspace, sandbox: SandboxConfig, found: list[TaskResult]
) -> None:
    """Grade all tasks into `found`, as far as the time for one submission goes."""
    with Session(grading, work, sandbox) as session:
        find_way(session)
        for task in grading.tasks:
            began_late = session.out_of_time
            found.append(grade_task(task, session))
            if session.out_of_time and not began_late:
                work.notes.append(
                    f"the time of {sandbox.seconds:g} s for one submission was over in task "
                    f"{task.id}; what comes after it was not tried"
                )


def _nothing(task: Task) -> TaskResult:
    return TaskResult(task.id, task.title, task.asked, Fraction(task.marks), Fraction(0))


def grade_task(task: Task, session: Session) -> TaskResult:
    """Try the checks of one task."""
    found = tuple(_result(check, session, task) for check in task.checks)
    earned = task.earned([result.passed for result in found])
    return TaskResult(task.id, task.title, task.asked, Fraction(task.marks), earned, found)


def _result(check: Check, session: Session, task: Task) -> CheckResult:
    """Try a check as handed in, and again with what other tasks ask for put right if it fails."""
    failure = attempt(check, session)
    if failure is None:
        return CheckResult(check.title, check.weight, passed=True)
    patched: list[Mismatch] = []
    for patch in task.patches_of(check) if not session.out_of_time else ():
        other = attempt(check, session, patch)
        if other is None:
            return CheckResult(check.title, check.weight, passed=True, carried=True)
        patched.append(other)
    failure = _own_cause(failure, patched)
    return CheckResult(
        check.title,
        check.weight,
        passed=False,
        example=failure.example,
        expected=failure.expected,
        actual=failure.actual,
    )


def _own_cause(failure: Mismatch, patched: list[Mismatch]) -> Mismatch:
    """What to show of a check that fails with the student's functions and among right ones.

    Among right functions the cause is the check's own; with the student's it may be another
    task's. Where both show the same, the student's can be typed as it stands.
    """
    own = next((other for other in patched if not isinstance(other, PatchFailed)), failure)
    if (own.example, own.expected, own.actual) == (
        failure.example,
        failure.expected,
        failure.actual,
    ):
        return failure
    return Mismatch(f"{PATCHED}\n{own.example}", own.expected, own.actual)


def attempt(check: Check, session: Session, patch: str = "") -> Mismatch | None:
    """Try one check: None if it holds, else what shows that it does not."""
    if session.out_of_time:
        return Mismatch("", check.title, "not tried: the time for one submission was over")
    session.start_check(check.seconds, patch)
    try:
        if check.run is not None:
            session.begin()
            check.run(session)
        session.examples(check.listed())
    except Mismatch as mismatch:
        return mismatch
    except ProcessDied as death:
        return Mismatch(session.text(), check.title, str(death))
    except ODD_ANSWERS:
        if check.run is None:
            raise
        return Mismatch(session.text(), check.title, "a value of another kind")
    return None


@functools.cache
def grader_version(grading: Grading) -> str:
    """py2048's version and a digest of the grader's code: results of another are not reused."""
    here = Path(__file__).resolve().parent
    hasher = hashlib.sha256()
    course = here.parent / grading.course
    for path in sorted([*here.rglob("*.py"), *course.rglob("*.py"), *grading.given_files]):
        hasher.update(path.read_bytes())
    return f"{__version__}+{hasher.hexdigest()[:12]}"


def key_of(submission: Submission, grading: Grading) -> str:
    """What a result may be reused for: the same files under the same name, the same grader."""
    parts = (
        submission.name,
        submission.problem,
        str(submission.from_python2),
        digest_of(list(submission.files), submission.root),
        grading.course,
        grader_version(grading),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
