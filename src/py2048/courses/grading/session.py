"""Run a submission: its processes, the code that they run, and the expected results.

Every check loads the program in a new fork of a clean process, so that all checks start in the same
state.

A call may use as much CPU time as its check allows, and it must not sleep for long. CPU time and
sleep are measured in the submission's process (see ``agent/host.py``), so a busy machine costs no
marks. The grader's own wall-clock limits grow with the load. The wall-clock limit of a call is
`WAIT_FACTOR` times its CPU time limit. Only processes that disable their own timers can reach this
limit. When the whole submission reaches its limit (see `SandboxConfig`), the remaining tasks stay
undecided.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from py2048.core.errors import CourseError
from py2048.core.language import N_, _
from py2048.courses import CALL_S
from py2048.courses.grading.patches import compiled
from py2048.courses.grading.sandbox import (
    ON_SCREEN,
    OVERRUN,
    Display,
    Folders,
    LeftOut,
    Process,
    ProcessDied,
    ProcessReport,
    Request,
    SandboxConfig,
    library_paths,
    next_user,
    remove_tree,
)
from py2048.courses.grading.submissions import (
    PreparedSubmission,
    Unreadable,
    defined_in,
    other_course,
    text_of,
    text_with_imports,
)
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

WAIT_FACTOR = 10  # Wall-clock limit of a call, relative to its CPU time limit.
GRACE_S = CALL_S / 2  # Additional wall-clock time for the reply to a request.
LOADING_FACTOR = 4  # Loading may take longer than a call, because importing NumPy is slow.
MAX_STUCK_STATEMENTS = 5  # Maximum number of statements that may time out during loading.
MAX_LINE_CHARACTERS = 120
CALLED = re.compile(r"\b(\w+)\(")  # Without \b, long words would take quadratic time.
MAX_SHOWN_LINES = 24  # enough for code that builds a board tile by tile
# Prefixes of unindented lines that continue a block, such as an else clause.
CONTINUATIONS = ("elif ", "else:", "except", "finally:", ")", "]", "}")


class RunAborted(CourseError):  # noqa: N818 - not an error
    """Raised if the run was aborted while a submission was being graded."""


class TimeUp(Exception):  # noqa: N818 - not an error
    """Raised when a submission's wall-clock limit is reached. Its other tasks are undecided."""


def load_factor() -> float:
    """Return the number of runnable processes per CPU, at least 1.

    The load average over one minute reacts slowly, so the current number of runnable processes is
    used if it is higher.
    """
    programs = os.getloadavg()[0]
    with suppress(OSError, ValueError, LookupError):  # missing on macOS
        running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        programs = max(programs, int(running))
    return max(1.0, programs / (os.cpu_count() or 1))


class Runner:
    """Starts, forks and ends the process of a submission and its virtual display.

    Each check runs in a fork of a process that never loads the program itself. This process is
    replaced if it dies or a fork changes files.
    """

    def __init__(self, submission: PreparedSubmission, sandbox: SandboxConfig) -> None:
        self.grading = submission.grading
        self.submission = submission
        self.sandbox = sandbox
        self._user = next_user()
        self._display: Display | None = None
        self._process: Process | None = None
        self.ready = False  # whether a fork is ready for requests
        self._deadline = time.monotonic() + sandbox.seconds * load_factor()
        sandbox.live.add(self.kill)

    @property
    def remaining_s(self) -> float:
        """Seconds left for the whole submission."""
        return self._deadline - time.monotonic()

    @contextmanager
    def turn(self, *, alone: bool) -> Iterator[None]:
        """Wait until a check may run, and extend the submission's deadline by the wait."""
        began = time.monotonic()
        with self.sandbox.turns.take(alone=alone):
            self._deadline += time.monotonic() - began
            yield

    def begin(self, *, loaded: bool = True) -> None:
        """Fork a clean process and load the program, or only fork if `loaded` is false.

        Raises:
            ProcessDied: If the program cannot be loaded.
        """
        self.leave()
        if self._display is not None and not self._display.alive:
            self.reset()  # processes cannot survive their display
        try:
            self.ask({"op": "fork"})
        except ProcessDied:
            self._start()
        self.ready = True
        if loaded:
            self._load()

    def load(self) -> ProcessReport:
        """Load the program in a new process. The report lists the statements that were skipped."""
        self.close()
        self.begin(loaded=False)
        report = self._load()
        self.leave()
        return report

    def _load(self) -> ProcessReport:
        submission, seconds = self.submission, LOADING_FACTOR * self.grading.seconds
        how = {"quiet": submission.quiet, "skip": list(submission.skip), "seconds": seconds}
        return self.ask({"op": "load", **how}, MAX_STUCK_STATEMENTS)

    def ask(self, request: Request, calls: int = 1) -> ProcessReport:
        """Send a request, with a time limit that allows `calls` slow calls of student functions.

        Raises:
            ProcessDied: If no process is running, or the process dies.
        """
        if self._process is None:
            raise ProcessDied("there is no process")
        seconds = calls * request.get("seconds", self.grading.seconds)
        timeout_s = load_factor() * (WAIT_FACTOR * seconds + GRACE_S)
        try:
            report = self._process.ask(request, min(timeout_s, self.remaining_s))
        except ProcessDied:
            self.close()
            if self.remaining_s <= 0:
                raise TimeUp from None
            raise
        if report.state == "ended":
            self.ready = False
            if report.changed:
                self.close()
            raise ProcessDied.from_exit_code(report.exit_code)
        return report

    def leave(self) -> None:
        """End the current fork and discard its state."""
        if self.ready:
            with suppress(ProcessDied):
                self.ask({"op": "leave"})
                self.close()  # the submission has forged the reply

    def _start(self) -> None:
        """Start a new process and fork it."""
        grading, sandbox, submission = self.grading, self.sandbox, self.submission
        if sandbox.aborted.is_set():
            raise RunAborted("the run was interrupted")
        if self.remaining_s <= 0:
            raise TimeUp
        scratch = submission.folder
        if not sandbox.protection.own_root:
            scratch = Path(tempfile.mkdtemp(prefix="py2048-scratch-"))
            shutil.copytree(submission.folder, scratch, dirs_exist_ok=True)
        if grading.gui and self._display is None and not ON_SCREEN:
            self._display = Display(sandbox.protection, self._user, self.remaining_s)
        libraries: tuple[str, ...] = ()
        if grading.libraries or grading.gui or sandbox.trusted:
            libraries = library_paths(trusted=sandbox.trusted)
        places = submission.folder, submission.given, scratch, libraries
        folders = Folders(*places, sandbox.trusted, self._display, grading.folder)
        config = {
            "file": submission.file,
            "module": grading.module,
            "gui": grading.gui,
            "libraries": list(grading.libraries),
        }
        process = self._process = Process(folders, sandbox, self._user, config, self.remaining_s)
        try:
            self.ask({"op": "fork", "seconds": self.remaining_s})
        except ProcessDied as error:
            reason = process.last_error or str(error)
            if "tkinter" in reason:
                reason += ": install it for this Python (apt install python3-tk)"
            raise CourseError(f"cannot start a process for submissions: {reason}") from None

    def kill(self) -> None:
        """Kill the process from another thread.

        Calls that are waiting for a reply raise `ProcessDied`.
        """
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """End the process, and remove its folder."""
        if (process := self._process) is not None:
            self._process, self.ready = None, False
            process.close()
            if process.folders.scratch != self.submission.folder:
                remove_tree(process.folders.scratch)

    def reset(self) -> None:
        """End the submission's process and display, so that the next process starts clean."""
        self.close()
        if self._display is not None:
            self._display.close()
            self._display = None

    def end(self) -> None:
        """Stop all processes and close the display for good."""
        self.reset()
        self.sandbox.live.discard(self.kill)


@contextmanager
def submission_folder() -> Iterator[Path]:
    """Create a temporary folder for a submission, with room for the course's files next to it."""
    place = Path(tempfile.mkdtemp(prefix="py2048-grade-"))
    try:
        place.chmod(0o711)
        folder = place / "submission"
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        remove_tree(place)


def check_start(grading: Grading, sandbox: SandboxConfig) -> None:
    """Start a process, to find out whether this machine can run submissions.

    Raises:
        CourseError: If it does not start.
    """
    with submission_folder() as folder:
        nothing = PreparedSubmission(folder, f"{grading.module}.py", grading)
        with SubmissionSession(nothing, sandbox) as session:
            session.runner.begin(loaded=False)


class SubmissionSession:
    """Runs the checks of a submission, each in a clean process.

    Calls raise `SubmissionCrash` if the process ends or exceeds its time limit, and `CheckFailed`
    if the result is not as expected. `seed` determines the random examples. Leaving the context
    ends all processes.
    """

    def __init__(
        self, submission: PreparedSubmission, sandbox: SandboxConfig, seed: str = ""
    ) -> None:
        grading = self.grading = submission.grading
        self.submission = submission
        self.seed = seed
        self.words = grading.words
        self.runner = Runner(submission, sandbox)
        self.seconds = grading.seconds
        self.reference_patch = ""
        self.shown: list[str] = []
        self._loaded_patch = ""  # the patch that these processes have run
        # Functions that never returned, by reference patch; cleared for each task.
        self._spent: defaultdict[str, set[str]] = defaultdict(set)
        self.overran: set[str] = set()  # functions that did not return in this check
        self.is_repeated = False

    def __enter__(self) -> SubmissionSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.runner.end()

    # -- the process --------------------------------------------------------------------

    def start_task(self) -> None:
        """Allow calls of all functions again, even if they did not return in an earlier task."""
        self._spent.clear()

    def refuse_endless(self) -> None:
        """Skip functions that hung, until the task or the patch changes."""
        self._spent[self.reference_patch] |= self.overran - {""}

    def start_check(
        self, seconds: float | None = None, reference_patch: str = "", *, is_repeated: bool = False
    ) -> None:
        """Begin a check in a clean process. The process first runs `reference_patch`, if given.

        Each call may take `seconds`. `is_repeated` is true for the second and last attempt.

        Code of a patch could leak into other checks through forked memory, files or the display, so
        processes that have run another patch are ended, unless the program is trusted.
        """
        self.seconds = seconds or self.grading.seconds
        self.overran, self.is_repeated = set(), is_repeated
        self.reference_patch = reference_patch
        self.shown.clear()
        self.runner.leave()
        trusted = self.runner.sandbox.trusted
        if self._loaded_patch not in {"", reference_patch} and not trusted:
            self.runner.reset()
            self._loaded_patch = ""

    def seed_for(self, number: int) -> int:
        """Derive a seed for the random module from `number` and the submission's seed."""
        return random.Random(f"{self.seed} {number}").getrandbits(32) if self.seed else number

    def fresh(self) -> None:
        """Switch to a clean process, to discard everything that the submission has changed."""
        with self._crashes("the program to load"):
            self.runner.begin()
        self._make_names()
        if self.reference_patch:
            self._loaded_patch = self.reference_patch
            code = compiled(self.words(self.reference_patch))
            report = self._ask({"op": "run", "code": code, "typed": [], "seed": None})
            if report.error:
                words = "right versions of other functions"
                raise PatchFailed(self.text(), words, str(report.error))
            self._make_names()

    def begin(self) -> None:
        """Clear the example and its names. The module keeps its state."""
        self.shown.clear()
        if self.runner.ready:
            self._make_names()
        else:
            self.fresh()

    def _make_names(self) -> None:
        report = self._ask({"op": "begin", "prelude": self.grading.prelude})
        if report.error:
            wanted = _("the names that the examples use")
            self.fail(wanted, str(report.error), fact_of(report.error))

    def _ask(self, request: Request, expected: str = "the program to load") -> ProcessReport:
        """Send a request, starting a process if needed.

        Raises:
            SubmissionCrash: If the process dies or a call does not end.
        """
        if not self.runner.ready:
            self.fresh()
        spent = [*self._spent[self.reference_patch]]
        with self._crashes(expected):
            report = self.runner.ask({"seconds": self.seconds, "spent": spent, **request})
        if report.error is not None and report.error.overran:
            self.runner.leave()
            self._crashed(expected, report.error)
        return report

    @contextmanager
    def _crashes(self, expected: str) -> Iterator[None]:
        """Raise `SubmissionCrash` if the process dies in the block."""
        try:
            yield
        except ProcessDied as death:
            self._crashed(expected, death)

    def _crashed(self, expected: str, reason: ProcessDied | Raised) -> NoReturn:
        crash = SubmissionCrash(self.text(), expected, str(reason), "the process ended")
        if isinstance(reason, Raised):
            crash.fact = fact_of(reason)
            if reason.type != "NotTried":
                self.overran.add(reason.function)
        else:
            crash.exit_code = reason.exit_code
            if str(reason) == OVERRUN:
                crash.fact = OVERRUN
                self.overran.add("")
        raise crash from None

    # -- running code -------------------------------------------------------------------

    def run(
        self,
        code: str,
        *,
        typed: Sequence[str] = (),
        seed: int | None = None,
        show: bool = True,
        wanted: str = "an end",
    ) -> ProcessReport:
        """Run code. Exceptions raised by the submission are part of the result.

        Args:
            code: Python statements. The last line may be an expression.
            typed: Lines for `input()`.
            seed: Seed of the random module, or None to keep its state.
            show: Whether to add the code to the example that students see.
            wanted: Expected result, which is reported if the process dies.
        """
        if show:
            self._show(code, typed)
        request = {"op": "run", "code": self.words(code), "typed": list(typed), "seed": seed}
        return self._ask(request, wanted)

    def program(self, *, seed: int = 0) -> ProcessReport:
        """Run the student's file as a program in a new process."""
        self.shown[:] = [f"$ python {self.submission.file}"]
        wanted = "an end, or waiting for the player"
        with self._crashes(wanted):
            self.runner.begin(loaded=False)
        result = self._ask({"op": "program", "typed": [], "seed": seed}, wanted)
        if result.state == "waiting":
            self._make_names()
        return result

    def value(self, code: str, **options: Any) -> Any:
        """Run code and return the last expression's value. Raise `CheckFailed` on exceptions."""
        result = self.run(code, **options)
        if result.error is not None:
            self.fail(_("a value"), show(result.error))
        return result.value

    def expect(self, code: str, expected: object = ..., **options: Any) -> ProcessReport:
        """Run code and compare the value of the last expression with `expected` (see `Example`)."""
        expected = self.words(expected)
        wanted = _("a result") if expected is ... else show(expected)
        result = self.run(code, wanted=wanted, **options)
        actual = result.error or result.value
        if expected is ...:
            if isinstance(actual, Raised):
                self.fail(_("no exception"), show(actual), fact_of(actual))
        elif not same(expected, actual):
            got = show(actual)
            if wanted == got:
                wanted += f" ({type(expected).__name__})"
                got += f" ({type(actual).__name__})"
            self.fail(wanted, got, fact_of(actual))
        return result

    def examples(self, examples: Sequence[Example]) -> None:
        """Run examples, each in a new namespace. Raise `CheckFailed` at the first failure."""
        for example in map(self.words, examples):
            self.begin()
            self._show(example.given, ())
            self._show(example.code, example.typed)
            how: dict[str, Any] = {"seed": example.seed, "show": False}
            if example.given:
                error = self.run(example.given, wanted=_("a result"), **how).error
                if error is not None:
                    self.fail(_("the setup to succeed"), show(error), fact_of(error))
            result = self.expect(example.code, example.expected, typed=example.typed, **how)
            if example.prints is not None and not same(example.prints, result.output):
                wanted = _("to print {text}").format(text=_printed(example.prints))
                printed = _("printed {text}").format(text=_printed(result.output))
                self.fail(wanted, printed, _("printed something else"))
            for expression, value in example.then.items():
                self.expect(expression, value)
                self.shown.pop()

    # -- reporting ----------------------------------------------------------------------

    def fail(self, expected: str, actual: str, fact: str = N_("something else")) -> NoReturn:
        """Raise `CheckFailed` with the lines of the example that have run so far."""
        raise CheckFailed(self.text(), self.words(expected), actual, fact)

    def _show(self, code: str, typed: Sequence[str]) -> None:
        self.shown.extend(code.strip("\n").split("\n") if code else [])
        if typed:
            self.shown.append(f"# typed: {' ⏎ '.join(typed)} ⏎")

    def text(self) -> str:
        """Return the example in a form that can be pasted. Long examples are cut in the middle.

        At the interactive prompt, each block must be followed by an empty line.
        """
        lines: list[str] = []
        for line, after in zip(self.shown, [*self.shown, ""][1:], strict=True):
            lines.append(line)
            if line.startswith(" ") and after and not after.startswith((" ", *CONTINUATIONS)):
                lines.append("")
        if len(lines) > MAX_SHOWN_LINES:
            half = MAX_SHOWN_LINES // 2
            lines[half:-half] = [f"# … {len(lines) - 2 * half} lines …"]
        text: str = self.words("\n".join(lines))
        return text


def _printed(text: object) -> str:
    """Format text that a program has printed or should print."""
    return show(text) if not isinstance(text, str) or "\n" not in text.strip() else f"\n{text}"


def load_program(session: SubmissionSession) -> None:
    """Load the program. If a statement does not end or the process dies, load the program again.

    The second attempt waits until no other check runs. The third attempt runs only imports,
    definitions and assignments (quiet mode).

    Raises:
        Unreadable: If the program cannot be loaded at all.
    """
    submission = session.submission
    for alone, submission.quiet in ((False, False), (True, False), (True, True)):
        try:
            with session.runner.turn(alone=alone):
                report = session.runner.load()
        except ProcessDied as death:
            if submission.quiet:
                words = _("{file} cannot be loaded: {reason}")
                raise Unreadable(words.format(file=submission.file, reason=death)) from None
        else:
            if alone or not any(found.error == "OutOfTime" for found in report.left_out):
                break
    if (error := report.error) is not None:
        place = submission.file
        if error.line:
            place = _("{file}, line {line}").format(file=place, line=error.line)
        syntax = {"SyntaxError", "ImportError"} & {error.type, *error.bases}
        advice = submission.advice if syntax else ""
        if syntax and not advice:
            lines = text_of(submission.folder / submission.file).split("\n")
            line = "".join(lines[error.line - 1 : error.line]).strip()[:MAX_LINE_CHARACTERS]
            advice = _("the line is: {line}").format(line=line)
        if error.type == "TabError":
            advice = submission.advice or _("indent all lines with spaces only")
        raise Unreadable(f"{place}: {error.type}: {error.message}{advice and f'; {advice}'}")
    skipped = [one for one in report.left_out if session.grading.gui or one.error == "OutOfTime"]
    submission.skip = tuple(one.statement for one in skipped)
    submission.notes.extend(_note(submission.file, found) for found in report.left_out[:5])
    _reject_wrong_program(session)


def _reject_wrong_program(session: SubmissionSession) -> None:
    """Reject programs for another course, and programs without any of the required names."""
    grading, file = session.grading, session.submission.file
    program = session.submission.folder / file
    if other := other_course(program, grading):
        words = _("{file} is a program for {other}, not for {course}")
        raise Unreadable(words.format(file=file, other=other, course=grading.course))
    if grading.expects and not defined_in(text_with_imports(program), grading):
        asked = {*grading.expects, *CALLED.findall(" ".join(task.asked for task in grading.tasks))}
        with suppress(CheckFailed):
            if not session.value(f"[name for name in {sorted(asked)} if name in globals()]"):
                words = _("{file} defines none of the names that the course asks for")
                raise Unreadable(words.format(file=file))


def _note(file: str, found: LeftOut) -> str:
    """Explain to the student why a statement was skipped."""
    reason = f"{found.error}: {found.message}".removesuffix(": ")
    if found.error in {"LeftAlone", "EOFError"}:
        reason = _("it waits for user input")
    inner = f" (line {found.line})" if found.line != found.statement else ""
    why = f": {reason}{inner}" if reason else ""
    words = _("{file}, line {line} was left out when loading")
    return words.format(file=file, line=found.statement) + why
