"""Driving one submission: type lines into it and compare what they give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from py2048.courses.grading.patches import compiled
from py2048.courses.grading.process import (
    BLANK,
    OVERRUN,
    LeftOut,
    ProcessDied,
    ProcessReport,
    Request,
    Runner,
)
from py2048.courses.grading.sandbox import SandboxConfig
from py2048.courses.grading.submissions import ADVICE, PreparedSubmission, Unreadable
from py2048.courses.grading.tasks import (
    CheckFailed,
    Example,
    Grading,
    PatchFailed,
    Raised,
    SubmissionCrash,
    fact_of,
    same,
    show,
)

LOAD_MODES = ("whole", "each", "quiet")  # see ``agent/host.py``
MAX_SHOWN_LINES = 24  # a board of sixteen tiles, made tile by tile, and what is done with it
HURRY = 0.125  # of the usual time, for a call that is likely to hang
PARTS = ("elif ", "else:", "except", "finally:", ")", "]", "}")  # what no block ends before


class SubmissionSession:
    """One submission, driven in a process that each check finds untouched.

    Calls raise `SubmissionCrash` when the process ends or overruns, `CheckFailed` where an
    expectation fails. A session is a context manager; leaving it ends the processes.
    """

    def __init__(
        self, grading: Grading, submission: PreparedSubmission, sandbox: SandboxConfig
    ) -> None:
        self.grading = grading
        self.submission = submission
        self.runner = Runner(grading, submission, sandbox)
        self.seconds = grading.seconds
        self.reference_patch = ""
        self.shown: list[str] = []
        self._lent = ""  # the patch that processes still hold
        self._has_overrun = False

    def __enter__(self) -> SubmissionSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.runner.end()

    # -- the process --------------------------------------------------------------------

    @property
    def out_of_time(self) -> bool:
        """Whether the time for the whole submission is over."""
        return self.runner.out_of_time

    def start_check(
        self, seconds: float | None = None, reference_patch: str = "", *, hurry: bool = False
    ) -> None:
        """Begin a check: in an untouched process, with `reference_patch` run in it if given.

        Each call of the check may take `seconds`. In a `hurry` it gets an eighth of that once the
        submission has overrun: a function that hangs hangs in every check that calls it.

        Nothing that a submission can have kept of another patch is met again, in memory shared
        with copies, in a file or on the display: all processes that were lent it end here.
        """
        usual = seconds or self.grading.seconds
        self.seconds = usual * (HURRY if hurry and self._has_overrun else 1)
        self.reference_patch = reference_patch
        self.shown.clear()
        self.close()
        if self._lent and self._lent != reference_patch:
            self.runner.renew()
            self._lent = ""

    def close(self) -> None:
        """Leave the process: the next call begins in an untouched one."""
        self.runner.leave()

    def fresh(self) -> None:
        """Begin again in an untouched process: whatever the submission changed is gone."""
        try:
            self.runner.begin()
            self._begin()
            if self.reference_patch:
                self._run_patch()
                self._begin()
        except ProcessDied as death:
            self._crashed("the program to load", death)

    def _run_patch(self) -> None:
        self._lent = self.reference_patch
        code = compiled(self.reference_patch)
        report = self._ask({"op": "run", "code": code, "typed": [], "seed": None})
        if report.error:
            raise PatchFailed(self.text(), "right versions of other functions", str(report.error))

    def _ask(self, request: Request) -> ProcessReport:
        """Send one request to a process that is there; raise `ProcessDied`."""
        if not self.runner.ready:
            self.fresh()
        return self.runner.ask({"seconds": self.seconds, **request}, self.seconds)

    def _begin(self) -> None:
        report = self._ask({"op": "begin", "prelude": self.grading.prelude})
        if report.error:
            self.fail("the names that the examples use", str(report.error), fact_of(report.error))

    # -- typing lines -------------------------------------------------------------------

    def begin(self) -> None:
        """Forget the example so far and every name made in it; the module keeps its state."""
        self.shown.clear()
        if not self.runner.ready:
            self.fresh()
            return
        try:
            self._begin()
        except ProcessDied as death:
            self._crashed("the program to load", death)

    def run(
        self, code: str, *, typed: Sequence[str] = (), seed: int | None = None, show: bool = True
    ) -> ProcessReport:
        """Run lines; what the submission raises is part of the result.

        Without `show` the lines are left out of the example that a student may get to see.
        """
        if show:
            self._show(code, typed)
        request = {"op": "run", "code": code, "typed": list(typed), "seed": seed}
        return self._result(request, "an end")

    def program(self, *, seed: int = 0) -> ProcessReport:
        """Run the student's file as a program in a new process."""
        self.runner.begin(BLANK)
        self.shown[:] = [f"$ python {self.submission.file}"]
        request = {"op": "program", "typed": [], "seed": seed}
        result = self._result(request, "an end, or waiting for the player")
        if result.state == "waiting":
            self._begin()
        return result

    def _result(self, request: Request, expected: str) -> ProcessReport:
        try:
            report = self._ask(request)
        except ProcessDied as death:
            self._crashed(expected, death)
        self._check_time(report.error, expected)
        return report

    def _check_time(self, error: Raised | None, expected: str) -> None:
        """Raise `SubmissionCrash` if a call has overrun; its process is not used again."""
        if error is not None and error.type == "OutOfTime":
            self.close()
            self._crashed(expected, error)

    def _crashed(self, expected: str, reason: ProcessDied | Raised) -> NoReturn:
        self._has_overrun = True
        if isinstance(reason, Raised):
            fact = fact_of(reason)
        else:
            fact = OVERRUN if str(reason) == OVERRUN else "the process ended"
        crash = SubmissionCrash(self.text(), expected, str(reason), fact)
        if isinstance(reason, ProcessDied):
            crash.exit_code = reason.exit_code
        raise crash from None

    def value(self, code: str, **options: Any) -> Any:
        """Run lines and return the value of the last; raise `CheckFailed` if they raise."""
        result = self.run(code, **options)
        if result.error is not None:
            self.fail("a value", show(result.error))
        return result.value

    def expect(self, code: str, expected: object = ..., **options: Any) -> ProcessReport:
        """Run lines and compare the value of the last; see `Example` for `expected`."""
        try:
            result = self.run(code, **options)
        except SubmissionCrash as crash:
            crash.expected = _wanted(expected)
            raise
        self._compare(expected, result.error or result.value)
        return result

    def _compare(self, expected: object, actual: object) -> None:
        if expected is ...:
            if isinstance(actual, Raised):
                self.fail("no exception", show(actual), fact_of(actual))
        elif not same(expected, actual):
            wanted, got = show(expected), show(actual)
            if wanted == got:
                wanted, got = (
                    f"{text} ({type(value).__name__})"
                    for text, value in ((wanted, expected), (got, actual))
                )
            self.fail(wanted, got, fact_of(actual))

    # -- examples -----------------------------------------------------------------------

    def examples(self, examples: Sequence[Example]) -> None:
        """Try examples, each with fresh names; raise `CheckFailed` at the first that fails."""
        for example in examples:
            self.shown.clear()
            self._show(example.given, ())
            self._show(example.code, example.typed)
            request = {
                "op": "example",
                "prelude": self.grading.prelude,
                "given": example.given,
                "code": example.code,
                "then": list(example.then),
                "typed": list(example.typed),
                "seed": example.seed,
            }
            try:
                report = self._ask(request)
            except ProcessDied as death:
                self._crashed(_wanted(example.expected), death)
            self._judge(example, report)

    def _judge(self, example: Example, report: ProcessReport) -> None:
        """Compare what an example gave with what is expected."""
        self._check_time(report.early, _wanted(example.expected))
        self._check_time(report.error, _wanted(example.expected))
        if report.early is not None:
            self.fail("to get that far", show(report.early), fact_of(report.early))
        self._compare(example.expected, report.error or report.value)
        if example.prints is not None and not same(example.prints, report.output):
            printed = _printed(report.output)
            wanted = f"to print {_printed(example.prints)}"
            self.fail(wanted, f"printed {printed}", "printed something else")
        for (expression, value), after in zip(example.then.items(), report.then, strict=True):
            self.shown.append(expression)
            self._compare(value, after.error or after.value)
            self.shown.pop()

    # -- reporting ----------------------------------------------------------------------

    def fail(self, expected: str, actual: str, fact: str = "something else") -> NoReturn:
        """Report the example shown so far, in words of the check's own."""
        raise CheckFailed(self.text(), expected, actual, fact)

    def _show(self, code: str, typed: Sequence[str]) -> None:
        self.shown.extend(code.strip("\n").split("\n") if code else [])
        if typed:
            self.shown.append(f"# typed: {' ⏎ '.join(typed)} ⏎")

    def text(self) -> str:
        """The example so far, as a student can paste it; the middle of a long one is left out."""
        lines = list(_pasteable(self.shown))
        if len(lines) > MAX_SHOWN_LINES:
            half = MAX_SHOWN_LINES // 2
            left_out = f"# … {len(lines) - 2 * half} lines …"
            lines = [*lines[:half], left_out, *lines[-half:]]
        return "\n".join(lines)


def _pasteable(lines: Sequence[str]) -> Iterator[str]:
    """Lines with an empty one after each block, without which Python's prompt takes no more."""
    for number, line in enumerate(lines, 1):
        after = lines[number] if number < len(lines) else ""
        yield line
        if line.startswith(" ") and after and not after.startswith((" ", *PARTS)):
            yield ""


def _wanted(expected: object) -> str:
    return "a result" if expected is ... else show(expected)


def _printed(text: object) -> str:
    """Printed text for a report: as lines, unless it is a matcher."""
    return show(text) if not isinstance(text, str) or "\n" not in text.strip() else f"\n{text}"


# --- loading ---


def find_load_mode(session: SubmissionSession) -> None:
    """Find out how the submission's program can be loaded; raise `Unreadable` if it cannot."""
    submission = session.submission
    for load_mode in LOAD_MODES:
        try:
            report = session.runner.load(load_mode)
        except ProcessDied as death:
            if load_mode == LOAD_MODES[-1]:
                raise Unreadable(f"{submission.file} cannot be loaded: {death}") from None
            continue
        if report.error is not None:
            raise Unreadable(_load_error(submission, report.error))
        left_out = report.left_out
        if load_mode != LOAD_MODES[0] or not left_out:
            submission.load_mode = load_mode
            submission.skip = tuple(found.statement for found in left_out)
            submission.notes.extend(_note(submission.file, found) for found in left_out[:5])
            return


def _load_error(submission: PreparedSubmission, error: Raised) -> str:
    """Why a program cannot even be parsed, and what to do about it."""
    place = f"{submission.file}, line {error.line}" if error.line else submission.file
    syntax = {"SyntaxError", "ImportError"} & {error.type, *error.bases}
    advice = ADVICE if error.type == "TabError" else submission.advice if syntax else ""
    return f"{place}: {error.type}: {error.message}{advice and f'; {advice}'}"


def _note(file: str, found: LeftOut) -> str:
    """A note for the student about a statement that was left out."""
    reason = f"{found.error}: {found.message}".removesuffix(": ")
    inner = f" (line {found.line})" if found.line != found.statement else ""
    why = f": {reason}{inner}" if reason else ""
    return f"{file}, line {found.statement} was left out when loading{why}"
