"""One submission: its processes, the lines typed into them, and what they must give.

A process loads the program once and makes a copy of itself (a fork) for each check, so every check
begins in a process that nothing has touched.

There are two limits of time. A call may take the seconds of its check: of work, which a timer in
the process measures, or `SLACK` times as long of waiting, on a busy machine longer. And a
submission may take the seconds of `SandboxConfig` by the clock, however busy the machine is: a
program that loads it has no more time for that. Loading may take half of what is left of it,
which leaves time to load quietly.
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

SLACK = 3  # how much longer a call may wait than work
GRACE_S = CALL_S / 2  # after its own alarm, in which a process may still answer
HURRY = 0.125  # of the usual time, for a call that is likely to hang
MAX_SLOWNESS = 8.0
MAX_LINE = 120  # characters of a student's line in a message
CALLED = re.compile(r"\b(\w+)\(")  # from the start of a word: else a long one takes its square
MAX_SHOWN_LINES = 24  # a board of sixteen tiles, made tile by tile, and what is done with it
PARTS = ("elif ", "else:", "except", "finally:", ")", "]", "}")  # what no block ends before


class StartError(CourseError):
    """The interpreter for a submission does not start, which is hardly the submission's fault."""


class RunAborted(CourseError):  # noqa: N818 - nothing has gone wrong
    """The run ends, and with it what is being graded."""


def slowness() -> float:
    """Return how many programs share a processor: on a busy machine everything takes longer.

    The mean of the last minute is late to notice, so those that want one just now count, too.
    """
    programs = os.getloadavg()[0]
    with suppress(OSError, ValueError, LookupError):  # no such file on macOS
        running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        programs = max(programs, int(running))
    return min(MAX_SLOWNESS, max(1.0, programs / (os.cpu_count() or 1)))


class Runner:
    """Starts, copies and ends the processes of one submission, and its virtual display.

    When a copy crashes, exits or changes files, the original makes another; when the original is
    lost, a new one is started. A program with windows or threads cannot be copied: then every check
    loads it anew, in a copy of a process that has loaded nothing.
    """

    def __init__(
        self, grading: Grading, submission: PreparedSubmission, sandbox: SandboxConfig
    ) -> None:
        self.grading = grading
        self.submission = submission
        self.sandbox = sandbox
        self._user = next_user()
        self._display: Display | None = None
        self._originals: dict[bool, Process] = {}  # by whether the program is loaded
        self._loads_in_copies = False
        self._current: Process | None = None
        self._deadline = time.monotonic() + sandbox.seconds
        sandbox.live.add(self)

    @property
    def left_s(self) -> float:
        """What is left of the time for the whole submission."""
        return self._deadline - time.monotonic()

    @property
    def out_of_time(self) -> bool:
        """Whether the time for the whole submission is over."""
        return self.left_s <= 0

    @property
    def ready(self) -> bool:
        """Whether there is a process to ask."""
        return self._current is not None

    def begin(self, *, loaded: bool = True) -> None:
        """Get an untouched process, with the program `loaded` as a module, or with nothing.

        Raises:
            ProcessDied: if the program does not load.
        """
        self.leave()
        if self._display is not None and not self._display.alive:
            self.renew()  # a display that a submission has ended takes its processes with it
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
        """Load the program in a new process; return which statements were left out."""
        self.close()
        self._loads_in_copies = False
        return self._load(self._start(loaded=True))

    def _load(self, process: Process) -> ProcessReport:
        submission, seconds = self.submission, self.grading.seconds
        how = {"quiet": submission.quiet, "skip": list(submission.skip), "seconds": seconds}
        timeout_s = self.left_s if submission.quiet else self.left_s / 2
        report = self._ask(process, {"op": "load", **how}, timeout_s)
        if not report.can_be_copied and not self._loads_in_copies:
            self._drop(process)
            self._loads_in_copies = True
        return report

    def _fork(self, original: Process) -> bool:
        """Have a copy made; say whether that worked."""
        with suppress(ProcessDied):
            self._ask(original, {"op": "fork"})
            return True
        return False

    def ask(self, request: Request) -> ProcessReport:
        """Ask the current process for a call; raise `ProcessDied` if it dies."""
        assert self._current is not None
        return self._ask(self._current, request)

    def _ask(
        self, process: Process, request: Request, timeout_s: float | None = None
    ) -> ProcessReport:
        """Ask for what takes as long as a call, such as a copy to begin, or else `timeout_s`."""
        slack = SLACK * slowness()
        if timeout_s is None:
            timeout_s = slack * request.get("seconds", self.grading.seconds) + GRACE_S
        try:
            report = process.ask({**request, "slack": slack}, min(timeout_s, self.left_s))
        except ProcessDied:
            self._drop(process)
            raise
        if report.state == "ended":
            self._current = None
            if report.changed:
                self._drop(process)
            raise ProcessDied.by_itself(report.exit_code)
        return report

    def leave(self) -> None:
        """End the current copy, if there is one; what it changed is gone with it."""
        if self._current is not None:
            process = self._current
            with suppress(ProcessDied):
                self._ask(process, {"op": "leave"})
                self._drop(process)  # whatever answers there is not the original

    def _start(self, loaded: bool) -> Process:
        """Start a new process with nothing loaded yet."""
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
            self._display = Display(sandbox.protection, self._user, self.left_s)
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
        process = Process(folders, sandbox, self._user, config, self.left_s)
        try:
            process.ask({"op": "hello"}, self.left_s)
        except ProcessDied as error:
            self._drop(process)
            if self.out_of_time:
                raise
            reason = process.complaint or str(error)
            if "tkinter" in reason:
                reason += ": install it for this Python (apt install python3-tk)"
            raise StartError(f"no process could be started for submissions: {reason}") from None
        self._originals[loaded] = process
        return process

    def _drop(self, process: Process) -> None:
        """End a process for good, and remove its folder."""
        process.close()
        self._originals = {k: other for k, other in self._originals.items() if other != process}
        if self._current is process:
            self._current = None
        if process.folders.scratch != self.submission.folder:
            remove_tree(process.folders.scratch)

    def kill(self) -> None:
        """End everything, from another thread; the one that waits gets `ProcessDied`."""
        for process in list(self._originals.values()):
            process.kill()

    def close(self) -> None:
        """End all processes of the program and remove their folders."""
        for process in list(self._originals.values()):
            self._drop(process)

    def renew(self) -> None:
        """End all that a submission can have left something in; the next process starts anew."""
        self.close()
        if self._display is not None:
            self._display.close()
            self._display = None

    def end(self) -> None:
        """Close for good, the display too."""
        self.renew()
        self.sandbox.live.discard(self)


@contextmanager
def folder_for_one() -> Iterator[Path]:
    """Make a folder for one prepared submission; what the course hands out goes beside it."""
    place = Path(tempfile.mkdtemp(prefix="py2048-grade-"))
    try:
        place.chmod(0o711)
        folder = place / "submission"
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        remove_tree(place)


def check_start(grading: Grading, sandbox: SandboxConfig) -> None:
    """Start one process, to learn before the work whether that is possible here.

    Raises:
        StartError: if it is not.
    """
    with folder_for_one() as folder:
        runner = Runner(
            grading, PreparedSubmission(folder, f"{grading.module}.py", grading), sandbox
        )
        try:
            runner.begin(loaded=False)
        finally:
            runner.end()


class SubmissionSession:
    """One submission, driven in a process that each check finds untouched.

    Calls raise `SubmissionCrash` when the process ends or overruns, `CheckFailed` where an
    expectation fails. What examples and checks draw comes from the `seed`. A session is a context
    manager; leaving it ends the processes.
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
        self._lent = ""  # the patch that processes still hold
        self._has_overrun = False

    def __enter__(self) -> SubmissionSession:
        return self

    def __exit__(self, *exc: object) -> None:
        self.runner.end()

    # -- the process --------------------------------------------------------------------

    def start_check(
        self, seconds: float | None = None, reference_patch: str = "", *, hurry: bool = False
    ) -> None:
        """Begin a check: in an untouched process, with `reference_patch` run in it if given.

        Each call of the check may take `seconds`. In a `hurry` it gets an eighth of that once the
        submission has overrun: a function that hangs hangs in every check that calls it.

        Nothing that a submission can have kept of another patch is met again, in memory shared
        with copies, in a file or on the display: all processes that were lent it end here, but
        those of a program that is trusted.
        """
        usual = seconds or self.grading.seconds
        self.seconds = usual * (HURRY if hurry and self._has_overrun else 1)
        self.reference_patch = reference_patch
        self.shown.clear()
        self.close()
        if self._lent and self._lent != reference_patch and not self.runner.sandbox.trusted:
            self.runner.renew()
            self._lent = ""

    def seed_for(self, number: int) -> int:
        """Return a seed for the random module, drawn from that of the submission, if it has one."""
        return random.Random(f"{self.seed} {number}").getrandbits(32) if self.seed else number

    def close(self) -> None:
        """Leave the process: the next call begins in an untouched one."""
        self.runner.leave()

    def fresh(self) -> None:
        """Begin again in an untouched process: whatever the submission changed is gone."""
        try:
            self.runner.begin()
            self._make_names()
            if self.reference_patch:
                self._lent = self.reference_patch
                code = compiled(self.reference_patch)
                report = self._ask({"op": "run", "code": code, "typed": [], "seed": None})
                if report.error:
                    words = "right versions of other functions"
                    raise PatchFailed(self.text(), words, str(report.error))
                self._make_names()
        except ProcessDied as death:
            self._crashed("the program to load", death)

    def begin(self) -> None:
        """Forget the example so far and every name made in it; the module keeps its state."""
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
        """Send one request, if needed to an untouched process; raise `ProcessDied`."""
        if not self.runner.ready:
            self.fresh()
        return self.runner.ask({"seconds": self.seconds, **request})

    # -- typing lines -------------------------------------------------------------------

    def run(
        self,
        code: str,
        *,
        typed: Sequence[str] = (),
        seed: int | None = None,
        show: bool = True,
        wanted: str = "an end",
    ) -> ProcessReport:
        """Run lines; what the submission raises is part of the result.

        Without `show` the lines are left out of the example that a student may get to see.
        `wanted` says what there is to expect should the process die.
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
        """Send a request; raise `SubmissionCrash` if the process dies or a call overruns."""
        try:
            report = self._ask(request)
        except ProcessDied as death:
            self._crashed(expected, death)
        for error in (report.early, report.error):
            if error is not None and error.type == "OutOfTime":
                self.close()  # such a process is not used again
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
        """Run lines and return the value of the last; raise `CheckFailed` if they raise."""
        result = self.run(code, **options)
        if result.error is not None:
            self.fail(_("a value"), show(result.error))
        return result.value

    def expect(self, code: str, expected: object = ..., **options: Any) -> ProcessReport:
        """Run lines and compare the value of the last; see `Example` for `expected`."""
        result = self.run(code, wanted=_wanted(expected), **options)
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
            report = self._result(request, _wanted(example.expected))
            if report.early is not None:
                self.fail(_("to get that far"), show(report.early), fact_of(report.early))
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
        """Report the example shown so far, in words of the check's own."""
        raise CheckFailed(self.text(), expected, actual, fact)

    def _show(self, code: str, typed: Sequence[str]) -> None:
        self.shown.extend(code.strip("\n").split("\n") if code else [])
        if typed:
            self.shown.append(f"# typed: {' ⏎ '.join(typed)} ⏎")

    def text(self) -> str:
        """Return the example so far, as a student can paste it, without the middle of a long one.

        After each block is an empty line, without which Python's prompt takes no more.
        """
        lines: list[str] = []
        for line, after in zip(self.shown, [*self.shown, ""][1:], strict=True):
            lines.append(line)
            if line.startswith(" ") and after and not after.startswith((" ", *PARTS)):
                lines.append("")
        if len(lines) > MAX_SHOWN_LINES:
            half = MAX_SHOWN_LINES // 2
            lines[half:-half] = [f"# … {len(lines) - 2 * half} lines …"]
        return "\n".join(lines)


def _wanted(expected: object) -> str:
    return _("a result") if expected is ... else show(expected)


def _printed(text: object) -> str:
    """Return printed text for a report: as lines, unless it is a matcher."""
    return show(text) if not isinstance(text, str) or "\n" not in text.strip() else f"\n{text}"


def load_program(session: SubmissionSession) -> None:
    """Load the submission's program as it is, or quietly if that ends the process.

    Raises:
        Unreadable: if it cannot be loaded at all.
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
            line = "".join(lines[error.line - 1 : error.line]).strip()[:MAX_LINE]
            advice = _("the line is: {line}").format(line=line)
        if error.type == "TabError":
            advice = submission.advice or _("indent every line with blanks only")
        raise Unreadable(f"{place}: {error.type}: {error.message}{advice and f'; {advice}'}")
    submission.skip = tuple(found.statement for found in report.left_out)
    submission.notes.extend(_note(submission.file, found) for found in report.left_out[:5])
    _refuse_stranger(session)


def _refuse_stranger(session: SubmissionSession) -> None:
    """Refuse another course's program, and one that defines nothing of what is asked for."""
    grading, file = session.grading, session.submission.file
    program = session.submission.folder / file
    if other := other_course(program, grading):
        words = _("{file} is a program for {other}, and this is {course}")
        raise Unreadable(words.format(file=file, other=other, course=grading.course))
    if grading.expects and not defined_in(text_with_imports(program), grading):
        asked = {*grading.expects, *CALLED.findall(" ".join(task.asked for task in grading.tasks))}
        with suppress(CheckFailed):
            if not session.value(f"[name for name in {sorted(asked)} if name in globals()]"):
                words = _("{file} defines nothing that the course asks for")
                raise Unreadable(words.format(file=file))


def _note(file: str, found: LeftOut) -> str:
    """Return a note for the student about a statement that was left out."""
    reason = f"{found.error}: {found.message}".removesuffix(": ")
    if found.error in {"LeftAlone", "EOFError"}:
        reason = _("it waits for the player")
    inner = f" (line {found.line})" if found.line != found.statement else ""
    why = f": {reason}{inner}" if reason else ""
    words = _("{file}, line {line} was left out when loading")
    return words.format(file=file, line=found.statement) + why
