"""Grading submissions: load each, try every check of every task, add up the marks.

Many are graded several at a time; results are yielded as they are ready, and can be kept in a file
so that an interrupted run continues.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from py2048.core.errors import CourseError, MissingExtraError
from py2048.core.language import N_, _, use_language
from py2048.courses.grading.report import CheckResult, GradeReport, TaskResult, grader_version
from py2048.courses.grading.sandbox import ProcessDied, SandboxConfig
from py2048.courses.grading.session import (
    CALLED,
    RunAborted,
    SubmissionSession,
    folder_for_one,
    load_program,
)
from py2048.courses.grading.submissions import (
    PreparedSubmission,
    Submission,
    Unreadable,
    prepare,
)
from py2048.courses.grading.tasks import (
    Check,
    CheckFailed,
    Grading,
    PatchFailed,
    SubmissionCrash,
    Task,
    printable,
    validate,
)
from py2048.courses.grading.traps import boards_of, trap_of

# What a check's own code may raise when a submission returns the wrong kind of value.
ODD_ANSWERS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
PATCHED = N_("# with right versions of what other tasks ask for")


def grade(
    submission: Submission, grading: Grading, sandbox: SandboxConfig, secret: str = ""
) -> GradeReport:
    """Grade one submission. Whatever goes wrong concerns this submission and no other.

    With a course's `secret` the examples are drawn anew for it, and the same ones for the same
    files; without one they are the same for all.

    What makes a submission impossible to grade is its `problem`, and costs all marks. Where it is
    the grader that fails, the report says so as `failure`, and has no mark.

    Raises:
        RunAborted: when the run ends while this submission is graded.
    """
    began = time.monotonic()
    prepared: PreparedSubmission | None = None
    session: SubmissionSession | None = None
    tasks: list[TaskResult] = []
    problem, failure, key, seed = submission.problem, "", "", ""
    with folder_for_one() as folder, use_language(grading.language):
        try:
            key = key_of(submission, grading, secret)
            seed = seed_of(submission, secret)
            if not problem:
                prepared = prepare(submission, grading, folder)
                grading = prepared.grading
                with SubmissionSession(grading, prepared, sandbox, seed) as session:
                    try:
                        with use_language(grading.language):
                            _grade_tasks(session, tasks)
                    finally:
                        if session.runner.out_of_time:
                            key = ""  # with more time it may be another
        except Unreadable as error:
            problem = str(error)
        except RunAborted:
            raise
        except Exception as error:  # noqa: BLE001 - one submission must not end the class's run
            failure, key = _failure(error, session), ""
    with use_language(grading.language):
        missing = [_task_result(task, grading) for task in grading.tasks[len(tasks) :]]
    return GradeReport(
        name=submission.name,
        course=grading.course,
        tasks=(*tasks, *missing),
        files=tuple(str(path.relative_to(submission.root)) for path in submission.files),
        notes=tuple(prepared.notes if prepared else ()),
        problem=problem,
        failure=failure,
        opening=opening_of(prepared) if prepared else "",
        seconds=round(time.monotonic() - began, 2),
        key=key,
        seed=seed,
        language=grading.language,
    ).printable()


def opening_of(prepared: PreparedSubmission) -> str:
    """Return what a student types before an example; nothing where examples are not Python."""
    if not prepared.grading.opening:
        return ""
    module = Path(prepared.file).stem
    if module.isidentifier():
        return prepared.grading.opening.format(module=module)
    typed = prepared.grading.opening.format(module=prepared.grading.module)
    return _("{typed} (once {file} is saved as {name})").format(
        typed=typed, file=prepared.file, name=f"{prepared.grading.module}.py"
    )


def _failure(error: Exception, session: SubmissionSession | None) -> str:
    """Return why the grader could not do its work: no mark, and not kept for the next run."""
    if isinstance(error, CourseError | MissingExtraError | OSError):
        return str(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    words = f": {error}" if session is None or not session.reference_patch else ""
    return f"the grader failed: {type(error).__name__}{words} ({place})"


def _grade_tasks(session: SubmissionSession, found: list[TaskResult]) -> None:
    """Grade all tasks into `found`, as far as the time for one submission goes."""
    load_program(session)
    runner = session.runner
    for task in session.grading.tasks:
        began_late = runner.out_of_time
        found.append(grade_task(task, session))
        if runner.out_of_time and not began_late:
            session.submission.notes.append(
                _(
                    "the time of {seconds} s for one submission was over in task {task}; what "
                    "comes after it was not tried"
                ).format(seconds=f"{runner.sandbox.seconds:g}", task=task.id)
            )


def _task_result(
    task: Task, grading: Grading, checks: Sequence[CheckResult] = (), earned: Fraction = Fraction(0)
) -> TaskResult:
    title, asked = grading.told(task.title), grading.told(task.asked)
    return TaskResult(task.id, title, asked, Fraction(task.marks), earned, tuple(checks))


def grade_task(task: Task, session: SubmissionSession) -> TaskResult:
    """Try the checks of one task, and those that fail again with reference patches."""
    failures = [
        attempt(check, session, hurry=bool(task.patches_of(check))) for check in task.checks
    ]
    patched = _tried_with_patches(task, session, failures)
    found = tuple(
        _result(
            replace(check, title=session.grading.told(check.title)),
            failure,
            patched.get(number),
            session.submission.exchanged,
        )
        for number, (check, failure) in enumerate(zip(task.checks, failures, strict=True))
    )
    earned = task.earned([result.passed for result in found])
    return _task_result(task, session.grading, found, earned)


def _tried_with_patches(
    task: Task, session: SubmissionSession, failures: Sequence[CheckFailed | None]
) -> dict[int, list[CheckFailed]]:
    """Return how checks fail with each patch, by their numbers, but for those that then hold.

    A patch is tried with all of them in turn: what was lent to one check is not a secret to
    the next, and the processes that hold it need not start anew.
    """
    patches = [task.patches_of(check) for check in task.checks]
    failing: dict[int, list[CheckFailed]] = {
        number: [] for number, failure in enumerate(failures) if failure is not None
    }
    for patch in dict.fromkeys(patch for number in failing for patch in patches[number]):
        for number in [number for number in failing if patch in patches[number]]:
            if session.runner.out_of_time:
                return failing
            hangs = any(isinstance(other, SubmissionCrash) for other in failing[number])
            failure = attempt(task.checks[number], session, patch, hurry=hangs)
            if failure is None:
                del failing[number]
            else:
                failing[number].append(failure)
    return failing


def _result(
    check: Check,
    failure: CheckFailed | None,
    patched: list[CheckFailed] | None,
    exchanged: Mapping[str, str],
) -> CheckResult:
    """Return a check's report; it holds with a patch if `patched` does not say how it fails."""
    if failure is None or patched is None:
        carried = failure is not None
        return CheckResult(check.title, check.weight, passed=True, carried=carried)
    failure = _own_cause(check, failure, patched)
    return CheckResult(
        check.title,
        check.weight,
        passed=False,
        example=failure.example,
        expected=failure.expected,
        actual=failure.actual,
        cause=_cause_of(failure, exchanged),
    )


def _cause_of(failure: CheckFailed, exchanged: Mapping[str, str]) -> str:
    """Return what is likely to be wrong: the order of a function's parameters, or a known trap."""
    called = CALLED.findall(failure.example)
    boards = boards_of(failure.example, failure.expected, failure.actual)
    orders = [exchanged[name] for name in called if name in exchanged]
    return orders[0] if orders else trap_of(boards) if boards else ""


def _own_cause(check: Check, failure: CheckFailed, patched: list[CheckFailed]) -> CheckFailed:
    """Return the failure to report of a check that fails with and without reference patches.

    With them the cause is the check's own; without them it may be another task's. Where one of
    them shows the same, the failure without is reported as it is.

    A program that was lent right versions can read their code, and put it into whatever it
    returns, prints or raises. So of a failure with patches only the grader's own words and a fact
    are reported. Those of a check that drives the submission may be made of what it saw there.
    """
    own = next((other for other in patched if not isinstance(other, PatchFailed)), failure)
    if str(failure) in map(str, [own, *patched]):
        return failure
    if check.run is not None:
        return CheckFailed(_(PATCHED), check.title, _(own.fact))
    return CheckFailed(f"{_(PATCHED)}\n{own.example}", own.expected, _(own.fact))


def attempt(
    check: Check, session: SubmissionSession, patch: str = "", *, hurry: bool = False
) -> CheckFailed | None:
    """Try one check: None if it holds, else what shows that it does not.

    It can be tried in a `hurry` if it is tried again, or was with all of its time.
    """
    if session.runner.out_of_time:
        fact = _("not tried: the time for one submission was over")
        return CheckFailed("", session.grading.told(check.title), fact)
    session.start_check(check.seconds, patch, hurry=hurry)
    try:
        if check.run is not None:
            check.run(session)
        session.examples(check.listed(session.seed))
    except CheckFailed as mismatch:
        return mismatch
    except ProcessDied as death:
        return CheckFailed(session.text(), session.grading.told(check.title), str(death))
    except ODD_ANSWERS:
        if check.run is None:
            raise
        return CheckFailed(
            session.text(), session.grading.told(check.title), _("a value of another kind")
        )
    return None


def digest_of(submission: Submission) -> bytes:
    """Return a digest of a submission's files, by name; nothing where they cannot be read."""
    hasher = hashlib.sha256()
    try:
        for path in submission.files:
            hasher.update(os.fsencode(path.relative_to(submission.root)) + b"\0")
            hasher.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return b""
    return hasher.digest()


def seed_of(submission: Submission, secret: str) -> str:
    """Return what a submission's examples are drawn from: nothing without a `secret`."""
    if not secret:
        return ""
    return hmac.new(secret.encode(), digest_of(submission), "sha256").hexdigest()


def key_of(submission: Submission, grading: Grading, secret: str = "") -> str:
    """Return what a result may be reused for: the same files, name, secret and grader.

    Nothing, and ``""``, where the files cannot be read.
    """
    digest = digest_of(submission)
    if not digest:
        return ""
    parts = (
        digest.hex(),
        hashlib.sha256(secret.encode()).hexdigest(),
        submission.name,
        printable(submission.problem),
        str(submission.from_python2),
        grading.course,
        *(one.language for one in (grading, *grading.variants)),
        grader_version(grading),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class ResultsFile:
    """Results written as they come, one JSON line each, so that a killed run can continue.

    A result counts only for the same files, the same name and the same version of the grader. One
    without a key does not: where the grader failed or the time was over, the next run tries again.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[str, GradeReport] = {}
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError as error:
            raise CourseError(f"{str(path)!r} cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            try:
                report = GradeReport.from_json(line) if line.strip() else None
            except ValueError:
                if number >= len(lines) - 1:  # the line that a killed run was writing
                    continue
                raise CourseError(
                    f"{str(path)!r} is not a results file of this command (line {number}): "
                    "name another file"
                ) from None
            if report is not None and report.key:
                self.known[report.key] = report

    def write(self, report: GradeReport) -> None:
        """Append a result and flush it to the disk."""
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # a line that was cut off is ended first
                        file.write(b"\n")
                file.write(report.to_json() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CourseError(f"{str(self.path)!r} cannot be written: {error.strerror}") from None


def grade_all(
    submissions: Iterable[Submission],
    grading: Grading,
    sandbox: SandboxConfig,
    *,
    jobs: int = 1,
    results: ResultsFile | None = None,
    secret: str = "",
    on_start: Callable[[Submission], None] = lambda submission: None,
) -> Generator[GradeReport, None, None]:
    """Grade submissions, `jobs` at a time; yield reports as they are ready.

    Those that `results` holds come first and are not graded again. With a `secret` examples are
    drawn anew for each (see `grade`). `on_start` is called when the
    grading of a submission begins.
    """
    validate(grading)
    results = results or ResultsFile(None)
    new = []
    for submission in submissions:
        key = key_of(submission, grading, secret)
        known = results.known.get(key)
        if known is None:
            new.append(submission)
        else:
            yield known

    def one(submission: Submission) -> GradeReport:
        on_start(submission)
        return grade(submission, grading, sandbox, secret)

    pool = ThreadPoolExecutor(jobs)
    try:
        waiting: set[Future[GradeReport]] = {pool.submit(one, submission) for submission in new}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                report = future.result()
                results.write(report)
                yield report
    finally:
        sandbox.abort()
        pool.shutdown(cancel_futures=True)
