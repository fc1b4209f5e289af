"""Grade submissions: load the program, run the checks of every task, and add up the marks.

Several submissions are graded in parallel. Results are yielded as soon as they are ready, and can
be appended to a file, so that an interrupted run can be resumed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from py2048.core.errors import CourseError, MissingExtraError, os_errors_as
from py2048.core.language import N_, _, use_language
from py2048.courses.grading.report import CheckResult, GradeReport, TaskResult, grader_version
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.session import (
    CALLED,
    RunAborted,
    SubmissionSession,
    TimeUp,
    load_program,
    submission_folder,
)
from py2048.courses.grading.submissions import PreparedSubmission, Submission, Unreadable, prepare
from py2048.courses.grading.tasks import (
    WRONG_TYPE_ERRORS,
    Check,
    CheckFailed,
    Grading,
    PatchFailed,
    Task,
    printable,
    validate,
)
from py2048.courses.grading.traps import boards_of, trap_of

PATCHED = N_("# with correct versions of the other tasks' functions")


def grade(
    submission: Submission, grading: Grading, sandbox: SandboxConfig, secret: str = ""
) -> GradeReport:
    """Grade one submission. Errors in a submission never affect other submissions.

    Random examples are seeded with the course's `secret` and the submission's files, so they differ
    between submissions but not between runs. Without a secret, all submissions get the same
    examples.

    A submission that cannot be graded gets a `problem` and no marks. If the grader itself fails,
    the report has a `failure` and counts as ungraded. Tasks not graded within the sandbox's
    wall-clock limit are undecided.

    Raises:
        RunAborted: If the run ends while this submission is being graded.
    """
    began = time.monotonic()
    prepared: PreparedSubmission | None = None
    session: SubmissionSession | None = None
    tasks: list[TaskResult] = []
    problem, failure, key, seed, undecided = submission.problem, "", "", "", False
    with submission_folder() as folder, use_language(grading.language):
        try:
            key = result_key(submission, grading, secret)
            seed = seed_of(submission, secret)
            if not problem:
                prepared = prepare(submission, grading, folder)
                grading = prepared.grading
                session = SubmissionSession(prepared, sandbox, seed)
                with session, use_language(grading.language):
                    load_program(session)
                    tasks.extend(grade_task(task, session) for task in grading.tasks)
        except TimeUp:
            undecided = True
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
        tasks=(*tasks, *(replace(task, undecided=undecided) for task in missing)),
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
    """Return the line to type before an example, or "" if the examples are not Python code."""
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


def _task_result(
    task: Task, grading: Grading, checks: Sequence[CheckResult] = (), earned: Fraction = Fraction(0)
) -> TaskResult:
    title, asked = grading.translated(task.title), grading.translated(task.asked)
    return TaskResult(task.id, title, asked, Fraction(task.marks), earned, tuple(checks))


def grade_task(task: Task, session: SubmissionSession) -> TaskResult:
    """Run the checks of a task, and repeat failed checks with reference patches."""
    session.start_task()
    failures = [run_check(check, session) for check in task.checks]
    patched = _retry_with_patches(task, session, failures)
    found = [
        _result(check, session, failure, patched.get(number))
        for number, (check, failure) in enumerate(zip(task.checks, failures, strict=True))
    ]
    earned = task.earned([result.passed for result in found])
    return _task_result(task, session.grading, found, earned)


def _retry_with_patches(
    task: Task, session: SubmissionSession, failures: Sequence[CheckFailed | None]
) -> dict[int, list[CheckFailed]]:
    """Repeat failed checks with each patch until they pass; return all other failures.

    Checks with the same patch run one after another, because they can share processes.
    """
    patches = [task.patches_of(check) for check in task.checks]
    failing: dict[int, list[CheckFailed]] = {n: [] for n, failed in enumerate(failures) if failed}
    for patch in dict.fromkeys(patch for number in failing for patch in patches[number]):
        for number in [number for number in failing if patch in patches[number]]:
            failure = run_check(task.checks[number], session, patch)
            if failure is None:
                del failing[number]
            else:
                failing[number].append(failure)
    return failing


def _result(
    check: Check,
    session: SubmissionSession,
    failure: CheckFailed | None,
    patched: list[CheckFailed] | None,
) -> CheckResult:
    """Return a check's result.

    `patched` contains the failures with patches, or is None if the check passed with or without a
    patch.
    """
    title = session.grading.translated(check.title)
    if failure is None or patched is None:
        return CheckResult(title, check.weight, passed=True, carried=failure is not None)
    failure = _reportable(replace(check, title=title), failure, patched)
    texts = failure.example, failure.expected, failure.actual
    cause = _cause_of(failure, session.submission.exchanged)
    return CheckResult(title, check.weight, False, False, *texts, cause)


def _cause_of(failure: CheckFailed, exchanged: Mapping[str, str]) -> str:
    """Return the likely cause: swapped parameters, a well-known mistake, or "" if unknown."""
    called = CALLED.findall(failure.example)
    boards = boards_of(failure.example, failure.expected, failure.actual)
    orders = [exchanged[name] for name in called if name in exchanged]
    return orders[0] if orders else trap_of(boards) if boards else ""


def _reportable(check: Check, failure: CheckFailed, patched: list[CheckFailed]) -> CheckFailed:
    """Choose the failure to report for a check that fails both with and without patches.

    A patch replaces the functions of other tasks with correct ones. If the check still fails, the
    fault lies in the code for the checked task, so the failure with the patch is reported. If both
    failures are the same, the one without a patch is reported.

    A patched program can read the reference solution's code, and can return, print or raise parts
    of this code. To keep the solution secret, reports of patched runs contain only the grader's own
    texts. The examples of a check with a `run` function may contain values that the submission
    returned, so they are omitted.
    """
    own = next((other for other in patched if not isinstance(other, PatchFailed)), failure)
    if str(failure) in map(str, [own, *patched]):
        return failure
    if check.run is not None:
        return CheckFailed(_(PATCHED), check.title, _(own.fact))
    return CheckFailed(f"{_(PATCHED)}\n{own.example}", own.expected, _(own.fact))


def run_check(check: Check, session: SubmissionSession, patch: str = "") -> CheckFailed | None:
    """Run a check, and return the failure, or None if the check passes.

    If a call does not end, the check is repeated while no other check runs, so that students lose
    no marks because of a busy machine. A function that hangs both times is not called by the task's
    other checks.
    """
    failure: CheckFailed | None = None
    for alone in (False, True):
        session.start_check(check.seconds, patch, is_repeated=alone)
        with session.runner.turn(alone=alone):
            failure = _run_once(check, session)
        if not session.overran:
            break
    if failure is not None:
        session.refuse_endless()
    return failure


def _run_once(check: Check, session: SubmissionSession) -> CheckFailed | None:
    try:
        if check.run is not None:
            check.run(session)
        session.examples(check.listed(session.seed))
    except CheckFailed as mismatch:
        return mismatch
    except WRONG_TYPE_ERRORS:
        if check.run is None:
            raise
        title = session.grading.translated(check.title)
        return CheckFailed(session.text(), title, _("a value of the wrong type"))
    return None


def digest_of(submission: Submission) -> bytes:
    """Return a digest of the file names and contents, or b"" if a file is unreadable."""
    hasher = hashlib.sha256()
    try:
        for path in submission.files:
            hasher.update(os.fsencode(path.relative_to(submission.root)) + b"\0")
            hasher.update(hashlib.sha256(path.read_bytes()).digest())
    except OSError:
        return b""
    return hasher.digest()


def seed_of(submission: Submission, secret: str) -> str:
    """Return the seed for a submission's examples, or "" without a `secret`."""
    if not secret:
        return ""
    return hmac.new(secret.encode(), digest_of(submission), "sha256").hexdigest()


def result_key(submission: Submission, grading: Grading, secret: str = "") -> str:
    """Return the cache key of a result, or "" if a file is unreadable.

    The key changes with the submission's files and name, the secret, the course and its tasks, and
    the version of the grader.
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
        *(task.id for task in grading.tasks),
        *(one.language for one in (grading, *grading.variants)),
        grader_version(grading),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class ResultsFile:
    """Results that are stored as JSON lines, so that an interrupted run can be resumed.

    Results without a key come from grader failures, and are skipped when the file is read.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines: list[bytes] = []
        reports: list[GradeReport] = []
        with os_errors_as(CourseError, f"{str(path)!r} cannot be read"):
            if path is not None and path.exists():
                lines = path.read_bytes().split(b"\n")[:-1]
        for line in lines:
            with suppress(ValueError):  # A killed run leaves an incomplete line.
                reports.append(GradeReport.from_json(line))
        if any(lines) and not reports:
            raise CourseError(f"{str(path)!r} is not a results file (line 1): choose another file")
        self.stored = {report.key: report for report in reports if report.key}

    def write(self, report: GradeReport) -> None:
        """Append a result, and flush the file to disk."""
        if self.path is None:
            return
        with os_errors_as(CourseError, f"{str(self.path)!r} cannot be written"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # terminate a truncated line
                        file.write(b"\n")
                file.write(report.to_json() + b"\n")
                file.flush()
                os.fsync(file.fileno())


def grade_all(
    submissions: Iterable[Submission],
    grading: Grading,
    sandbox: SandboxConfig,
    *,
    results: ResultsFile | None = None,
    secret: str = "",
    on_start: Callable[[Submission], None] = lambda submission: None,
) -> Generator[GradeReport, None, None]:
    """Grade submissions in parallel, and yield reports as they are ready.

    Args:
        submissions: What to grade.
        grading: The course's tasks and checks.
        sandbox: How to run submissions.
        results: Earlier results, to which new ones are appended. Earlier results are yielded first.
            Submissions with undecided tasks are graded again.
        secret: Seed of the examples (see `grade`).
        on_start: Called when grading of a submission begins.
    """
    validate(grading)
    results = results or ResultsFile(None)
    new = []
    for submission in submissions:
        key = result_key(submission, grading, secret)
        known = results.stored.get(key)
        if known is None or known.undecided:
            new.append(submission)
        else:
            yield known

    def grade_new(submission: Submission) -> GradeReport:
        on_start(submission)
        return grade(submission, grading, sandbox, secret)

    with sandbox.pool() as pool:
        waiting: set[Future[GradeReport]] = {pool.submit(grade_new, each) for each in new}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                report = future.result()
                results.write(report)
                yield report
