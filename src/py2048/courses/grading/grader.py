"""Grade submissions: load the program, run the checks of every task, add up the marks.

Several submissions are graded in parallel. Results are yielded as soon as they are ready, and can
be appended to a file so that an interrupted run can be resumed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
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
    load_program,
    submission_folder,
)
from py2048.courses.grading.submissions import PreparedSubmission, Submission, Unreadable, prepare
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

# Errors raised in a check's own code by values of the wrong type.
WRONG_TYPE_ERRORS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
PATCHED = N_("# with correct versions of the other tasks' functions")


def grade(
    submission: Submission, grading: Grading, sandbox: SandboxConfig, secret: str = ""
) -> GradeReport:
    """Grade one submission; errors in it never affect others.

    With a course's `secret`, random examples are seeded with the secret and the submission's files,
    so they differ between submissions but not between runs. Without a secret, all submissions get
    the same examples.

    A submission that cannot be graded gets a `problem` and no marks. If the grader itself fails,
    the report has a `failure` and counts as ungraded.

    Raises:
        RunAborted: If the run ends while this submission is being graded.
    """
    began = time.monotonic()
    prepared: PreparedSubmission | None = None
    session: SubmissionSession | None = None
    tasks: list[TaskResult] = []
    problem, failure, key, seed = submission.problem, "", "", ""
    with submission_folder() as folder, use_language(grading.language):
        try:
            key = result_key(submission, grading, secret)
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
                            key = ""  # the result depends on the time available
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
        opening=import_line(prepared) if prepared else "",
        seconds=round(time.monotonic() - began, 2),
        key=key,
        seed=seed,
        language=grading.language,
    ).printable()


def import_line(prepared: PreparedSubmission) -> str:
    """Return the line to type before an example; empty if examples are not Python."""
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
    """Describe why the grader failed."""
    if isinstance(error, CourseError | MissingExtraError | OSError):
        return str(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    words = f": {error}" if session is None or not session.reference_patch else ""
    return f"the grader failed: {type(error).__name__}{words} ({place})"


def _grade_tasks(session: SubmissionSession, found: list[TaskResult]) -> None:
    """Grade tasks and append the results to `found`, until the submission's time runs out."""
    load_program(session)
    runner = session.runner
    for task in session.grading.tasks:
        began_late = runner.out_of_time
        found.append(grade_task(task, session))
        if runner.out_of_time and not began_late:
            session.submission.notes.append(
                _(
                    "the time limit of {seconds} s per submission ran out in task {task}; later "
                    "checks were not run"
                ).format(seconds=f"{runner.sandbox.seconds:g}", task=task.id)
            )


def _task_result(
    task: Task, grading: Grading, checks: Sequence[CheckResult] = (), earned: Fraction = Fraction(0)
) -> TaskResult:
    title, asked = grading.translated(task.title), grading.translated(task.asked)
    return TaskResult(task.id, title, asked, Fraction(task.marks), earned, tuple(checks))


def grade_task(task: Task, session: SubmissionSession) -> TaskResult:
    """Run a task's checks, and rerun failed checks with reference patches."""
    failures = [
        run_check(check, session, hurry=bool(task.patches_of(check))) for check in task.checks
    ]
    patched = _retry_with_patches(task, session, failures)
    found = tuple(
        _result(
            replace(check, title=session.grading.translated(check.title)),
            failure,
            patched.get(number),
            session.submission.exchanged,
        )
        for number, (check, failure) in enumerate(zip(task.checks, failures, strict=True))
    )
    earned = task.earned([result.passed for result in found])
    return _task_result(task, session.grading, found, earned)


def _retry_with_patches(
    task: Task, session: SubmissionSession, failures: Sequence[CheckFailed | None]
) -> dict[int, list[CheckFailed]]:
    """Rerun failed checks with each patch; map those that never pass to their failures.

    The outer loop is over patches, so that processes that contain a patch can be reused.
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
            failure = run_check(task.checks[number], session, patch, hurry=hangs)
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
    """Return a check's result; `patched` is None if the check passes with some patch."""
    if failure is None or patched is None:
        carried = failure is not None
        return CheckResult(check.title, check.weight, passed=True, carried=carried)
    failure = _reportable(check, failure, patched)
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
    """Return the likely cause: swapped parameters or a well-known mistake; "" if unknown."""
    called = CALLED.findall(failure.example)
    boards = boards_of(failure.example, failure.expected, failure.actual)
    orders = [exchanged[name] for name in called if name in exchanged]
    return orders[0] if orders else trap_of(boards) if boards else ""


def _reportable(check: Check, failure: CheckFailed, patched: list[CheckFailed]) -> CheckFailed:
    """Choose which failure to report for a check that fails both with and without patches.

    A failure with patches is due to the task itself, while a failure without patches may be due to
    another task. If both are the same, the failure without patches is reported unchanged.

    A patched program can read the reference solution's code, and leak it in whatever it returns,
    prints or raises. Reports of patched runs therefore contain only the grader's own words and a
    phrase from a fixed set (see `fact_of`). Checks that drive the submission build their examples
    from the submission's answers, so these examples are omitted.
    """
    own = next((other for other in patched if not isinstance(other, PatchFailed)), failure)
    if str(failure) in map(str, [own, *patched]):
        return failure
    if check.run is not None:
        return CheckFailed(_(PATCHED), check.title, _(own.fact))
    return CheckFailed(f"{_(PATCHED)}\n{own.example}", own.expected, _(own.fact))


def run_check(
    check: Check, session: SubmissionSession, patch: str = "", *, hurry: bool = False
) -> CheckFailed | None:
    """Run a check; return None if it passes, otherwise the failure.

    With `hurry`, calls may get less time (see `SubmissionSession.start_check`).
    """
    if session.runner.out_of_time:
        fact = _("not run: the submission's time limit ran out")
        return CheckFailed("", session.grading.translated(check.title), fact)
    session.start_check(check.seconds, patch, hurry=hurry)
    try:
        if check.run is not None:
            check.run(session)
        session.examples(check.listed(session.seed))
    except CheckFailed as mismatch:
        return mismatch
    except ProcessDied as death:
        return CheckFailed(session.text(), session.grading.translated(check.title), str(death))
    except WRONG_TYPE_ERRORS:
        if check.run is None:
            raise
        return CheckFailed(
            session.text(), session.grading.translated(check.title), _("a value of the wrong type")
        )
    return None


def digest_of(submission: Submission) -> bytes:
    """Return a digest of a submission's file names and contents; empty if any is unreadable."""
    hasher = hashlib.sha256()
    try:
        for path in submission.files:
            hasher.update(os.fsencode(path.relative_to(submission.root)) + b"\0")
            hasher.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return b""
    return hasher.digest()


def seed_of(submission: Submission, secret: str) -> str:
    """Return the seed of a submission's examples; empty without a `secret`."""
    if not secret:
        return ""
    return hmac.new(secret.encode(), digest_of(submission), "sha256").hexdigest()


def result_key(submission: Submission, grading: Grading, secret: str = "") -> str:
    """Return the cache key of a result; empty if files are unreadable.

    The key covers the files, the name, the secret, the course and the grader's version.
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
    """Results stored as JSON lines, so that an interrupted run can be resumed.

    Reading the file skips results without a key, for which the grader failed or the time ran out.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.stored: dict[str, GradeReport] = {}
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
                if number >= len(lines) - 1:  # the run was killed while writing this line
                    continue
                raise CourseError(
                    f"{str(path)!r} is not a results file (line {number}): choose another file"
                ) from None
            if report is not None and report.key:
                self.stored[report.key] = report

    def write(self, report: GradeReport) -> None:
        """Append a result and flush it to disk."""
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # terminate a truncated line
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

    Args:
        submissions: What to grade.
        grading: The course's tasks and checks.
        sandbox: How to run submissions.
        jobs: Number of submissions graded in parallel.
        results: Earlier results, yielded first instead of being graded again. New results are
            appended.
        secret: Seed of the examples (see `grade`).
        on_start: Called when grading of a submission begins.
    """
    validate(grading)
    results = results or ResultsFile(None)
    new = []
    for submission in submissions:
        key = result_key(submission, grading, secret)
        known = results.stored.get(key)
        if known is None:
            new.append(submission)
        else:
            yield known

    def grade_new(submission: Submission) -> GradeReport:
        on_start(submission)
        return grade(submission, grading, sandbox, secret)

    with sandbox.pool(jobs) as pool:
        waiting: set[Future[GradeReport]] = {pool.submit(grade_new, each) for each in new}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                report = future.result()
                results.write(report)
                yield report
