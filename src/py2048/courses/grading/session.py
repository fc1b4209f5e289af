"""Run a submission: its processes, the code run in them, and the expected results.

A process loads the program once and forks for each check, so every check starts from a clean state.

There are two time limits. A call may use as much CPU time as its check allows, measured by a timer
in the process. Its wall-clock limit is `WAIT_FACTOR` times as long, and longer on a busy machine.
The whole submission has a wall-clock limit (see `SandboxConfig`) that does not depend on load.
Loading may take half of the remaining time, so that there is enough left to load the program again
in quiet mode.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
import time
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

WAIT_FACTOR = 3  # Wall-clock limit of a call, relative to its CPU time limit.
GRACE_S = CALL_S / 2  # Extra time for a reply after the process's own alarm.
HURRY_FACTOR = 0.125  # Time limit of calls likely to hang, relative to the usual one.
MAX_LOAD_FACTOR = 8.0
MAX_LINE_CHARACTERS = 120
CALLED = re.compile(r"\b(\w+)\(")  # The \b avoids quadratic time on long words.
MAX_SHOWN_LINES = 24  # Enough for a board built tile by tile.
# Lines that start with these continue the block above them.
CONTINUATIONS = ("elif ", "else:", "except", "finally:", ")", "]", "}")


class StartError(CourseError):
    """The interpreter for submissions does not start."""


class RunAborted(CourseError):  # noqa: N818 - not an error
    """The run was aborted while a submission was being graded."""


def load_factor() -> float:
    """Return the number of runnable processes per CPU, clamped to 1 … `MAX_LOAD_FACTOR`.

    The one-minute load average lags behind, so the number of currently runnable processes is used
    if it is higher.
    """
    programs = os.getloadavg()[0]
    with suppress(OSError, ValueError, LookupError):  # missing on macOS
        running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        programs = max(programs, int(running))
    return min(MAX_LOAD_FACTOR, max(1.0, programs / (os.cpu_count() or 1)))


class Runner:
    """Starts, forks and ends a submission's processes and its virtual display.

    If a fork crashes, exits or changes files, the original process forks again. If the original
    dies, a new one is started. Programs with windows or threads cannot be forked, so each
    check loads them again in a fork of an empty process.
    """

    def __init__(
        self, grading: Grading, submission: PreparedSubmission, sandbox: SandboxConfig
    ) -> None:
        self.grading = grading
        self.submission = submission
        self.sandbox = sandbox
        self._user = next_user()
        self._display: Display | None = None
        self._originals: dict[bool, Process] = {}  # key: whether the program is loaded
        self._loads_in_copies = False
        self._current: Process | None = None
        self._deadline = time.monotonic() + sandbox.seconds
        sandbox.live.add(self)

    @property
    def remaining_s(self) -> float:
        """Seconds left for the whole submission."""
        return self._deadline - time.monotonic()

    @property
    def out_of_time(self) -> bool:
        """Whether the submission's time has run out."""
        return self.remaining_s <= 0

    @property
    def ready(self) -> bool:
        """Whether there is a process to send requests to."""
        return self._current is not None

    def begin(self, *, loaded: bool = True) -> None:
        """Fork a clean process; with `loaded`, it contains the program as a module.

        Raises:
            ProcessDied: If the program does not load.
        """
        self.leave()
        if self._display is not None and not self._display.alive:
            self.reset()  # processes cannot survive their display
        if loaded and self._loads_in_copies:
            self.begin(loaded=False)
            assert self._current is not None
            self._load(self._current)
            return
        original = self._originals.get(loaded)
        if original is None or not self._fork(original):
            original = self._start(loaded)
            if loaded:
                self._load(original)
                if self._loads_in_copies:
                    self.begin()
                    return
            if not self._fork(original):
                raise ProcessDied("the process does not answer once the program is loaded")
        self._current = original

    def load(self) -> ProcessReport:
        """Load the program in a new process; the report lists the statements left out."""
        self.close()
        self._loads_in_copies = False
        return self._load(self._start(loaded=True))

    def _load(self, process: Process) -> ProcessReport:
        submission, seconds = self.submission, self.grading.seconds
        how = {"quiet": submission.quiet, "skip": list(submission.skip), "seconds": seconds}
        timeout_s = self.remaining_s if submission.quiet else self.remaining_s / 2
        report = self._ask(process, {"op": "load", **how}, timeout_s)
        if not report.can_be_copied and not self._loads_in_copies:
            self._drop(process)
            self._loads_in_copies = True
        return report

    def _fork(self, original: Process) -> bool:
        """Fork a process; return whether that succeeded."""
        with suppress(ProcessDied):
            self._ask(original, {"op": "fork"})
            return True
        return False

    def ask(self, request: Request) -> ProcessReport:
        """Send a request to the current process; raise `ProcessDied` if it dies."""
        assert self._current is not None
        return self._ask(self._current, request)

    def _ask(
        self, process: Process, request: Request, timeout_s: float | None = None
    ) -> ProcessReport:
        """Send a request and wait for `timeout_s`, or by default as long as a call may take."""
        slack = WAIT_FACTOR * load_factor()
        if timeout_s is None:
            timeout_s = slack * request.get("seconds", self.grading.seconds) + GRACE_S
        try:
            report = process.ask({**request, "slack": slack}, min(timeout_s, self.remaining_s))
        except ProcessDied:
            self._drop(process)
            raise
        if report.state == "ended":
            self._current = None
            if report.changed:
                self._drop(process)
            raise ProcessDied.from_exit_code(report.exit_code)
        return report

    def leave(self) -> None:
        """End the current fork, discarding its state."""
        if self._current is not None:
            process = self._current
            with suppress(ProcessDied):
                self._ask(process, {"op": "leave"})
                self._drop(process)  # the reply was forged by the submission

    def _start(self, loaded: bool) -> Process:
        """Start a process without loading the program."""
        grading, sandbox, submission = self.grading, self.sandbox, self.submission
        if sandbox.aborted.is_set():
            raise RunAborted("the run was interrupted")
        if self.out_of_time:
            raise ProcessDied(OVERRUN)
        scratch = submission.folder
        if not sandbox.protection.own_root:
            scratch = Path(tempfile.mkdtemp(prefix="py2048-scratch-"))
            shutil.copytree(submission.folder, scratch, dirs_exist_ok=True)
        if grading.gui and self._display is None and not ON_SCREEN:
            self._display = Display(sandbox.protection, self._user, self.remaining_s)
        libraries: tuple[str, ...] = ()
        if grading.libraries or grading.gui or sandbox.trusted:
            libraries = library_paths(trusted=sandbox.trusted)
        given, trusted = submission.given, sandbox.trusted
        folders = Folders(
            *(submission.folder, given, scratch, libraries, trusted),
            display=self._display,
            course=grading.folder,
        )
        config = {
            "file": submission.file,
            "module": grading.module,
            "gui": grading.gui,
            "libraries": list(grading.libraries),
        }
        process = Process(folders, sandbox, self._user, config, self.remaining_s)
        try:
            process.ask({"op": "hello"}, self.remaining_s)
        except ProcessDied as error:
            self._drop(process)
            if self.out_of_time:
                raise
            reason = process.last_error or str(error)
            if "tkinter" in reason:
                reason += ": install it for this Python (apt install python3-tk)"
            raise StartError(f"cannot start a process for submissions: {reason}") from None
        self._originals[loaded] = process
        return process

    def _drop(self, process: Process) -> None:
        """End a process and remove its folder."""
        process.close()
        self._originals = {k: other for k, other in self._originals.items() if other != process}
        if self._current is process:
            self._current = None
        if process.folders.scratch != self.submission.folder:
            remove_tree(process.folders.scratch)

    def kill(self) -> None:
        """Kill all processes from another thread; the waiting thread gets `ProcessDied`."""
        for process in list(self._originals.values()):
            process.kill()

    def close(self) -> None:
        """End all of the program's processes and remove their folders."""
        for process in list(self._originals.values()):
            self._drop(process)

    def reset(self) -> None:
        """End everything that may hold the submission's data; the next process starts clean."""
        self.close()
        if self._display is not None:
            self._display.close()
            self._display = None

    def end(self) -> None:
        """End all processes and the display for good."""
        self.reset()
        self.sandbox.live.discard(self)


@contextmanager
def submission_folder() -> Iterator[Path]:
    """Create a temporary folder for a prepared submission; handed-out files go next to it."""
    place = Path(tempfile.mkdtemp(prefix="py2048-grade-"))
    try:
        place.chmod(0o711)
        folder = place / "submission"
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        remove_tree(place)


def check_start(grading: Grading, sandbox: SandboxConfig) -> None:
    """Start a process to find out whether submissions can be run on this machine.

    Raises:
        StartError: If it does not start.
    """
    with submission_folder() as folder:
        runner = Runner(
            grading, PreparedSubmission(folder, f"{grading.module}.py", grading), sandbox
        )
        try:
            runner.begin(loaded=False)
        finally:
            runner.end()


class SubmissionSession:
    """Runs a submission's checks, each in a clean process.

    Calls raise `SubmissionCrash` if the process ends or exceeds its time, and `CheckFailed` if an
    expectation fails. `seed` determines the random examples. Leaving the context ends all
    processes.
    """

    def __init__(
        self,
        grading: Grading,
        submission: PreparedSubmission,
        sandbox: SandboxConfig,
        seed: str = "",
    ) -> None:
        self.grading = grading
        self.submission = submission
        self.seed = seed
        self.runner = Runner(grading, submission, sandbox)
        self.seconds = grading.seconds
        self.reference_patch = ""
        self.shown: list[str] = []
        self._loaded_patch = ""  # the reference patch that the current processes have run
        self._has_overrun = False

    def __enter__(self) -> SubmissionSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.runner.end()

    # -- the process --------------------------------------------------------------------

    def start_check(
        self, seconds: float | None = None, reference_patch: str = "", *, hurry: bool = False
    ) -> None:
        """Begin a check in a clean process, running `reference_patch` in it if given.

        Each call may take `seconds`. With `hurry`, each call gets an eighth of that time once any
        call has run out of time, because a function that hangs does so in every check that calls
        it.

        A patch could leak into other checks through forked memory, files or the display. Unless the
        program is trusted, all processes that ran a different patch therefore end here.
        """
        usual = seconds or self.grading.seconds
        self.seconds = usual * (HURRY_FACTOR if hurry and self._has_overrun else 1)
        self.reference_patch = reference_patch
        self.shown.clear()
        self.close()
        trusted = self.runner.sandbox.trusted
        if self._loaded_patch not in {"", reference_patch} and not trusted:
            self.runner.reset()
            self._loaded_patch = ""

    def seed_for(self, number: int) -> int:
        """Return a seed for the random module, derived from the submission's seed if it has one."""
        return random.Random(f"{self.seed} {number}").getrandbits(32) if self.seed else number

    def close(self) -> None:
        """End the current process; the next call starts in a clean one."""
        self.runner.leave()

    def fresh(self) -> None:
        """Switch to a clean process, discarding everything the submission changed."""
        try:
            self.runner.begin()
            self._make_names()
            if self.reference_patch:
                self._loaded_patch = self.reference_patch
                code = compiled(self.reference_patch)
                report = self._ask({"op": "run", "code": code, "typed": [], "seed": None})
                if report.error:
                    words = "right versions of other functions"
                    raise PatchFailed(self.text(), words, str(report.error))
                self._make_names()
        except ProcessDied as death:
            self._crashed("the program to load", death)

    def begin(self) -> None:
        """Clear the example and its names; the module keeps its state."""
        self.shown.clear()
        if not self.runner.ready:
            self.fresh()
            return
        try:
            self._make_names()
        except ProcessDied as death:
            self._crashed("the program to load", death)

    def _make_names(self) -> None:
        report = self._ask({"op": "begin", "prelude": self.grading.prelude})
        if report.error:
            self.fail(
                _("the names that the examples use"), str(report.error), fact_of(report.error)
            )

    def _ask(self, request: Request) -> ProcessReport:
        """Send a request, starting a clean process if needed; raise `ProcessDied` if it dies."""
        if not self.runner.ready:
            self.fresh()
        return self.runner.ask({"seconds": self.seconds, **request})

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
        """Run code; exceptions of the submission are part of the result.

        Args:
            code: Python statements; the last line may be an expression.
            typed: Lines for `input()`.
            seed: Seed of the random module, or None to keep its state.
            show: Add the code to the example shown to students.
            wanted: Expected result to report if the process dies.
        """
        if show:
            self._show(code, typed)
        return self._result({"op": "run", "code": code, "typed": list(typed), "seed": seed}, wanted)

    def program(self, *, seed: int = 0) -> ProcessReport:
        """Run the student's file as a program in a new process."""
        self.runner.begin(loaded=False)
        self.shown[:] = [f"$ python {self.submission.file}"]
        request = {"op": "program", "typed": [], "seed": seed}
        result = self._result(request, "an end, or waiting for the player")
        if result.state == "waiting":
            self._make_names()
        return result

    def _result(self, request: Request, expected: str) -> ProcessReport:
        """Send a request; raise `SubmissionCrash` if the process dies or runs out of time."""
        try:
            report = self._ask(request)
        except ProcessDied as death:
            self._crashed(expected, death)
        for error in (report.early, report.error):
            if error is not None and error.type == "OutOfTime":
                self.close()
                self._crashed(expected, error)
        return report

    def _crashed(self, expected: str, reason: ProcessDied | Raised) -> NoReturn:
        self._has_overrun = True
        crash = SubmissionCrash(self.text(), expected, str(reason), "the process ended")
        if isinstance(reason, Raised):
            crash.fact = fact_of(reason)
        else:
            crash.exit_code = reason.exit_code
            if str(reason) == OVERRUN:
                crash.fact = OVERRUN
        raise crash from None

    def value(self, code: str, **options: Any) -> Any:
        """Run code and return the last expression's value; raise `CheckFailed` on exceptions."""
        result = self.run(code, **options)
        if result.error is not None:
            self.fail(_("a value"), show(result.error))
        return result.value

    def expect(self, code: str, expected: object = ..., **options: Any) -> ProcessReport:
        """Run code and compare the last expression's value with `expected` (see `Example`)."""
        result = self.run(code, wanted=_expected_text(expected), **options)
        self._compare(expected, result.error or result.value)
        return result

    def _compare(self, expected: object, actual: object) -> None:
        if expected is ...:
            if isinstance(actual, Raised):
                self.fail(_("no exception"), show(actual), fact_of(actual))
        elif not same(expected, actual):
            wanted, got = show(expected), show(actual)
            if wanted == got:
                wanted += f" ({type(expected).__name__})"
                got += f" ({type(actual).__name__})"
            self.fail(wanted, got, fact_of(actual))

    def examples(self, examples: Sequence[Example]) -> None:
        """Run examples, each with fresh names; raise `CheckFailed` at the first failure."""
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
            report = self._result(request, _expected_text(example.expected))
            if report.early is not None:
                self.fail(_("the setup to succeed"), show(report.early), fact_of(report.early))
            self._compare(example.expected, report.error or report.value)
            if example.prints is not None and not same(example.prints, report.output):
                wanted = _("to print {text}").format(text=_printed(example.prints))
                printed = _("printed {text}").format(text=_printed(report.output))
                self.fail(wanted, printed, _("printed something else"))
            for (expression, value), after in zip(example.then.items(), report.then, strict=True):
                self.shown.append(expression)
                self._compare(value, after.error or after.value)
                self.shown.pop()

    # -- reporting ----------------------------------------------------------------------

    def fail(self, expected: str, actual: str, fact: str = N_("something else")) -> NoReturn:
        """Raise `CheckFailed` with the example so far."""
        raise CheckFailed(self.text(), expected, actual, fact)

    def _show(self, code: str, typed: Sequence[str]) -> None:
        self.shown.extend(code.strip("\n").split("\n") if code else [])
        if typed:
            self.shown.append(f"# typed: {' ⏎ '.join(typed)} ⏎")

    def text(self) -> str:
        """Return the example so far, ready to paste; the middle of a long example is omitted.

        The interactive prompt needs an empty line after each block.
        """
        lines: list[str] = []
        for line, after in zip(self.shown, [*self.shown, ""][1:], strict=True):
            lines.append(line)
            if line.startswith(" ") and after and not after.startswith((" ", *CONTINUATIONS)):
                lines.append("")
        if len(lines) > MAX_SHOWN_LINES:
            half = MAX_SHOWN_LINES // 2
            lines[half:-half] = [f"# … {len(lines) - 2 * half} lines …"]
        return "\n".join(lines)


def _expected_text(expected: object) -> str:
    return _("a result") if expected is ... else show(expected)


def _printed(text: object) -> str:
    """Format what a program printed or should print."""
    return show(text) if not isinstance(text, str) or "\n" not in text.strip() else f"\n{text}"


def load_program(session: SubmissionSession) -> None:
    """Load the program; if that ends the process, load it again in quiet mode.

    Raises:
        Unreadable: If it cannot be loaded at all.
    """
    submission = session.submission
    try:
        report = session.runner.load()
    except ProcessDied:
        submission.quiet = True
        try:
            report = session.runner.load()
        except ProcessDied as death:
            words = _("{file} cannot be loaded: {reason}")
            raise Unreadable(words.format(file=submission.file, reason=death)) from None
    if (error := report.error) is not None:
        place = (
            _("{file}, line {line}").format(file=submission.file, line=error.line)
            if error.line
            else submission.file
        )
        syntax = {"SyntaxError", "ImportError"} & {error.type, *error.bases}
        advice = submission.advice if syntax else ""
        if syntax and not advice:
            lines = text_of(submission.folder / submission.file).split("\n")
            line = "".join(lines[error.line - 1 : error.line]).strip()[:MAX_LINE_CHARACTERS]
            advice = _("the line is: {line}").format(line=line)
        if error.type == "TabError":
            advice = submission.advice or _("indent all lines with blanks only")
        raise Unreadable(f"{place}: {error.type}: {error.message}{advice and f'; {advice}'}")
    submission.skip = tuple(found.statement for found in report.left_out)
    submission.notes.extend(_note(submission.file, found) for found in report.left_out[:5])
    _reject_wrong_program(session)


def _reject_wrong_program(session: SubmissionSession) -> None:
    """Reject programs for another course, and programs that define none of the required names."""
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
    """Explain to the student why a statement was left out."""
    reason = f"{found.error}: {found.message}".removesuffix(": ")
    if found.error in {"LeftAlone", "EOFError"}:
        reason = _("it waits for user input")
    inner = f" (line {found.line})" if found.line != found.statement else ""
    why = f": {reason}{inner}" if reason else ""
    words = _("{file}, line {line} was left out when loading")
    return words.format(file=file, line=found.statement) + why
