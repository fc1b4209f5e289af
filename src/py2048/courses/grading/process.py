"""The processes of one submission: started in a sandbox, asked, copied, and ended for certain.

A process loads the program once and makes a copy of itself (a fork) for each check, so every check
begins in a process that nothing has touched. Requests go down one pipe as marshalled data, facts
come back up another as JSON. The process is never trusted with a verdict: it reports what a call
returned, and the grader compares.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import msgspec

from py2048.courses.grading.sandbox import (
    AUTHORITY,
    ON_SCREEN,
    SCRATCH,
    Display,
    ProcessSetup,
    ResourceLimits,
    SandboxConfig,
    agent_folder,
    interpreter_for,
    landlock_rules,
    next_user,
)
from py2048.courses.grading.submissions import PreparedSubmission
from py2048.courses.grading.tasks import Array, Grading, Opaque, Raised, show
from py2048.errors import CourseError

MAX_REPLY_BYTES = 32 << 20
SLACK = 3  # how much longer a call may wait than work, on a machine that is not busy
GRACE_S = 1.0  # after its own alarm, in which a process may still answer
START_TIMEOUT_S = 60.0  # for the interpreter to start on a busy machine
COPY_TIMEOUT_S = 4.0  # for a copy to begin, or to end and be cleared up
MAX_SLOWNESS = 8.0  # how much more time a submission gets at most on a busy machine
FLOODED, DEAF = 85, 86  # exit codes of a process that ends itself; see ``agent/host.py``
OVERRUN = "still running when the time was over: an endless loop?"
LOADED, BLANK = "loaded", "blank"  # with the program as a module; with nothing

Request = dict[str, Any]


class ProcessDied(Exception):  # noqa: N818 - a fact about a submission
    """The process ended, or had to be ended; the message says why, for the student.

    Attributes:
        exit_code: that of a process which has ended itself, negative for a signal.
    """

    exit_code: int | None = None


class StartError(CourseError):
    """The interpreter for a submission does not start, which is hardly the submission's fault."""


class RunAborted(CourseError):  # noqa: N818 - nothing has gone wrong
    """The run ends, and with it what is being graded."""


# --- what processes send ---


class After(msgspec.Struct):
    """What one expression gave that was evaluated after an example."""

    value: Any
    error: Raised | None


class LeftOut(msgspec.Struct):
    """A statement that was left out when the program was loaded: where it begins, how it failed."""

    statement: int
    line: int
    error: str
    message: str


class ProcessReport(msgspec.Struct, kw_only=True):
    """What a process answers to one request: of some lines, what they gave, printed and raised.

    `asked` counts the lines that were read; `state` is ``waiting`` when a program waits for its
    user. Values are as ``agent/serialize.py`` writes them until `read_report` has decoded them.
    """

    state: Literal["done", "waiting", "forked", "ended"]
    output: str = ""
    asked: int = 0
    value: Any = None
    error: Raised | None = None
    early: Raised | None = None
    then: list[After] = []
    left_out: list[LeftOut] = []
    can_be_copied: bool = False
    status: int = 0
    changed: bool = False


_REPORTS = msgspec.json.Decoder(ProcessReport)


def read_report(data: bytes, request: Request) -> ProcessReport:
    """The report in an answer to `request`; raise `ValueError` if it is not one."""
    try:
        report = _REPORTS.decode(data)
        report.value = decode(report.value)
        for after in report.then:
            after.value = decode(after.value)
    except (msgspec.MsgspecError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a report: {error}") from None
    cut_short = report.early or (report.error is not None and report.error.type == "OutOfTime")
    asked = len(request["then"]) if request["op"] == "example" else 0
    if report.state == "done" and not cut_short and len(report.then) != asked:
        raise ValueError(f"{len(report.then)} results afterwards, not {asked}")
    return report


def decode(data: Any) -> Any:
    """The value that a process sent, from parsed JSON (see ``agent/serialize.py``)."""
    if isinstance(data, list):
        return [decode(member) for member in data]
    if not isinstance(data, dict):
        return data
    ((tag, members),) = data.items()
    if tag == "dict":
        return {_hashable(key): decode(member) for key, member in members}
    if tag in _COLLECTIONS:
        return _COLLECTIONS[tag](map(decode if tag == "tuple" else _hashable, members))
    return _scalar(tag, *members)


_COLLECTIONS: dict[str, type] = {"tuple": tuple, "set": set, "frozenset": frozenset}


def _scalar(tag: str, data: Any, text: str = "") -> Any:
    """The value that is marked `tag` and is not a container."""
    match tag:
        case "int":
            return int(data, 16)
        case "float":
            return float(data)
        case "bytes":
            return bytes.fromhex(data)
        case "array":
            return Array(decode(data))
        case "object":
            return Opaque(str(data), str(text))
    raise ValueError(f"no value is marked {tag!r}")


def _hashable(data: Any) -> Any:
    """A value that can be a key or a member of a set: what cannot be becomes a text."""
    value = decode(data)
    try:
        hash(value)
    except TypeError:
        return show(value)
    return value


# --- one process ---


def cause(code: int) -> str:
    """Why a process ended by itself, from its exit code; negative for a signal."""
    number = -code if code < 0 else code - 128 if code > 128 else 0
    if code == FLOODED:
        return "printed far too much"
    if code == DEAF:
        return OVERRUN
    if number == signal.SIGSEGV:
        return "crashed the interpreter: recursion without end?"
    if number in {signal.SIGKILL, signal.SIGXCPU}:
        return "was stopped by the system: too much memory or processor time"
    if number:
        return f"was ended by signal {number}"
    return f"ended the process (exit code {code}): os._exit()?"


class Process:
    """A running interpreter in a sandbox that serves one submission."""

    def __init__(
        self,
        setup: ProcessSetup,
        sandbox: SandboxConfig,
        config: Request,
        user: int | None = None,
        display: str = "",
    ) -> None:
        self.protection = sandbox.protection
        self.user = user
        self.setup = setup
        own_root = self.protection.own_root
        self.agent = Path("/py2048/agent") if own_root else agent_folder()
        self.closed = False
        self.complaint = ""
        executable = interpreter_for(self.protection)
        if executable is None:
            raise CourseError(f"the protection {self.protection.name!r} does not work here")
        down, self._requests = os.pipe()
        self._replies, up = os.pipe()
        os.set_blocking(self._replies, False)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        words = [executable, "-s", "-S", "-P", str(self.agent / "boot.py"), str(down), str(up)]
        self._child = subprocess.Popen(
            [*self.protection.wrap(setup), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(down, up),
            env=self._environment(display),
            start_new_session=True,
        )
        os.close(down)
        os.close(up)
        self._send({**config, **self._places(), "trusted": sandbox.trusted})

    def _places(self) -> Request:
        """The part of the configuration that depends on where things are."""
        setup, protection = self.setup, self.protection
        scratch, given = str(setup.scratch), str(setup.given or "")
        if protection.own_root:
            scratch, given = SCRATCH, "/py2048/given" if setup.given else ""
        elif self.user is not None:
            for path in (setup.scratch, *setup.scratch.rglob("*")):
                os.chown(path, self.user, self.user, follow_symlinks=False)
        limits = setup.limits.by_name()
        if self.user is None and not protection.own_root:
            del limits["NPROC"]  # which would count this user's other processes
        return {
            "scratch": scratch,
            "support": [given] if given else [],
            "user": self.user,
            "limits": limits,
            "output": setup.limits.output_bytes,
            "library_paths": setup.library_paths,
            "landlock": landlock_rules(setup, self.agent) if protection.landlock else None,
            "own_processes": protection.own_root or self.user is not None,
        }

    def _environment(self, display: str) -> dict[str, str]:
        own_root = self.protection.own_root
        home = SCRATCH if own_root else str(self.setup.scratch)
        words = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "XCOMPOSEFILE": "/dev/null",  # reading the usual one takes longer than all of Tk
        }
        if self.setup.authority is not None:
            words["XAUTHORITY"] = AUTHORITY if own_root else str(self.setup.authority)
            words["DISPLAY"] = display
        return words

    # -- asking -------------------------------------------------------------------------

    def ask(self, request: Request, seconds: float) -> ProcessReport:
        """Send a request and return the answer.

        Raises:
            ProcessDied: if the process ends, or has not answered after `seconds` and is killed.
        """
        deadline = time.monotonic() + seconds
        self._send(request)
        size = int.from_bytes(self._read(4, deadline), "big")
        if size > MAX_REPLY_BYTES:
            self.close()
            raise ProcessDied("the answer is too large to look at")
        data = self._read(size, deadline)
        try:
            return read_report(data, request)
        except ValueError:
            self.close()
            raise ProcessDied("the submission spoiled the process that runs it") from None

    def _send(self, request: Request) -> None:
        data = marshal.dumps(request)
        data = len(data).to_bytes(4, "big") + data
        with contextlib.suppress(BrokenPipeError):  # the reason shows when reading
            while data:
                data = data[os.write(self._requests, data) :]

    def _read(self, size: int, deadline: float) -> bytes:
        parts = []
        while size:
            left = deadline - time.monotonic()
            if left <= 0 or not self._readable(left):
                self.close()
                raise ProcessDied(OVERRUN)
            part = os.read(self._replies, min(size, 1 << 16))
            if not part:
                raise ProcessDied(self._cause())
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _readable(self, seconds: float) -> bool:
        waiter = select.poll()
        waiter.register(self._replies, select.POLLIN)
        return bool(waiter.poll(seconds * 1000))

    def _cause(self) -> str:
        """Why the process ended by itself."""
        try:
            code = self._child.wait(timeout=2)
        except subprocess.TimeoutExpired:
            code = 0
        self.close()
        return cause(code)

    def wait_until_up(self) -> None:
        """Wait for the first answer; raise `StartError` if the interpreter does not start."""
        try:
            self.ask({"op": "hello"}, START_TIMEOUT_S)
        except ProcessDied as error:
            reason = self.complaint or str(error)
            if "tkinter" in reason:
                reason += ": install it for this Python (apt install python3-tk)"
            raise StartError(f"no process could be started for submissions: {reason}") from None

    # -- ending -------------------------------------------------------------------------

    def kill(self) -> None:
        """End the group of the process, without waiting for it; safe from another thread."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and everything it started; do nothing the second time."""
        if self.closed:
            return
        self.closed = True
        self.kill()
        self._child.wait()
        if not self.protection.own_root and self.user is not None:
            _end_all_of(self.user)
        os.close(self._requests)
        os.close(self._replies)
        self._errors.seek(0)
        lines = self._errors.read(4000).decode(errors="replace").strip().splitlines()
        self.complaint = lines[-1] if lines else ""
        self._errors.close()


def _end_all_of(user: int) -> None:
    """End processes that left the group: each submission has a user number to itself."""
    for _ in range(20):
        found = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _owner(path) == user]
        if not found:
            return
        for number in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)


def _owner(path: Path) -> int | None:
    try:
        return path.stat().st_uid
    except OSError:
        return None


# --- all processes of a submission ---


class Runner:
    """Starts, copies and ends the processes of one submission, and its virtual display.

    When a copy crashes, exits or changes files, the original makes another; when the original is
    lost, a new one is started.
    """

    def __init__(
        self, grading: Grading, submission: PreparedSubmission, sandbox: SandboxConfig
    ) -> None:
        self.grading = grading
        self.submission = submission
        self.sandbox = sandbox
        self._user = next_user()
        self._display: Display | None = None
        self._originals: dict[str, Process] = {}
        self._loads_in_copies = False
        self._current: Process | None = None
        self._waited = 0.0
        self._ran_out = False
        sandbox.live.add(self)

    @property
    def out_of_time(self) -> bool:
        """Whether the time for the whole submission is over."""
        return self._ran_out or self._waited >= self.sandbox.seconds * slowness()

    @property
    def ready(self) -> bool:
        """Whether there is a process to ask."""
        return self._current is not None

    def begin(self, kind: str = LOADED) -> None:
        """Get an untouched process of a kind; raise `ProcessDied` if the program does not load."""
        self.leave()
        if self._display is not None and not self._display.alive:
            self.renew()  # a display that a submission has ended takes its processes with it
        if kind == LOADED and self._loads_in_copies:
            self.begin(BLANK)
            assert self._current is not None
            self._load(self._current, self.submission.load_mode)
            return
        original = self._originals.get(kind)
        if original is None or not self._fork(original):
            original = self._start(kind)
            if kind == LOADED:
                self._load(original, self.submission.load_mode)
                if self._loads_in_copies:
                    self.begin(kind)
                    return
            if not self._fork(original):
                raise ProcessDied("the process does not answer once the program is loaded")
        self._current = original

    def _fork(self, original: Process) -> bool:
        """Have a copy made; say whether that worked."""
        try:
            original.ask({"op": "fork"}, COPY_TIMEOUT_S)
        except ProcessDied:
            self._drop(original)
            return False
        return True

    def load(self, load_mode: str) -> ProcessReport:
        """Load the program in a new process; return which statements were left out."""
        self.close()
        self._loads_in_copies = False
        return self._load(self._start(LOADED), load_mode)

    def _load(self, process: Process, load_mode: str) -> ProcessReport:
        """Load the program.

        A process with windows or threads cannot be copied: then every check loads the program
        anew, in a copy of a process that has loaded nothing.
        """
        seconds = self.grading.seconds
        request = {
            "op": "load",
            "load_mode": load_mode,
            "skip": list(self.submission.skip),
            "seconds": seconds,
        }
        report = self._ask(process, request, seconds * (1 if load_mode == "whole" else 6))
        if not report.can_be_copied and not self._loads_in_copies:
            self._drop(process)
            self._loads_in_copies = True
        return report

    def _ask(self, process: Process, request: Request, seconds: float) -> ProcessReport:
        """Ask for what may take `seconds` of work; raise `ProcessDied` if the process dies.

        The wait counts towards the time of the submission.
        """
        began = time.monotonic()
        slack = SLACK * slowness()
        left = self.sandbox.seconds * slowness() - self._waited
        try:
            report = process.ask({**request, "slack": slack}, min(slack * seconds + GRACE_S, left))
        except ProcessDied:
            self._ran_out |= time.monotonic() - began >= left  # also if the machine is busier now
            self._drop(process)
            raise
        finally:
            self._waited += time.monotonic() - began
        if report.state == "ended":
            self._after(process, report)
            code = _code(report.status)
            death = ProcessDied(cause(code))
            death.exit_code = code
            raise death
        return report

    def ask(self, request: Request, seconds: float) -> ProcessReport:
        """Ask the current process, which may work for `seconds`; raise `ProcessDied` if it dies."""
        assert self._current is not None
        return self._ask(self._current, request, seconds)

    def leave(self) -> None:
        """End the current copy, if there is one; what it changed is gone with it."""
        current = self._current
        if current is None:
            return
        try:
            self._after(current, current.ask({"op": "leave"}, COPY_TIMEOUT_S))
        except ProcessDied:
            self._drop(current)

    def _after(self, original: Process, report: ProcessReport) -> None:
        """A copy has ended: keep the original if its folder is as it was."""
        self._current = None
        if report.state != "ended" or report.changed:
            self._drop(original)

    def _start(self, kind: str) -> Process:
        """A new process with nothing loaded."""
        grading, sandbox = self.grading, self.sandbox
        if sandbox.aborted.is_set():
            raise RunAborted("the run was interrupted")
        source = self.submission.folder
        scratch = source
        if not sandbox.protection.own_root:
            scratch = Path(tempfile.mkdtemp(prefix="py2048-scratch-"))
            shutil.copytree(source, scratch, dirs_exist_ok=True)
        if grading.gui and self._display is None and not ON_SCREEN:
            self._display = Display(sandbox.protection, self._user, next_user())
        display = self._display
        setup = ProcessSetup(
            source,
            _given_folder(grading, source),
            scratch,
            ResourceLimits(memory_mib=grading.memory_mib),
            libraries=bool(grading.libraries) or grading.gui,
            trusted=sandbox.trusted,
            sockets=display.sockets if display else None,
            authority=display.authority if display else None,
        )
        config = {
            "file": self.submission.file,
            "module": grading.module,
            "gui": grading.gui,
            "libraries": list(grading.libraries),
        }
        process = Process(setup, sandbox, config, self._user, display.name if display else "")
        process.wait_until_up()
        self._originals[kind] = process
        return process

    def _drop(self, process: Process) -> None:
        """End a process for good, and remove its folder."""
        process.close()
        self._originals = {k: other for k, other in self._originals.items() if other != process}
        if self._current is process:
            self._current = None
        if process.setup.scratch != process.setup.folder:
            shutil.rmtree(process.setup.scratch, ignore_errors=True)

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


def check_start(grading: Grading, sandbox: SandboxConfig) -> None:
    """Start one process, to learn before the work whether that is possible here.

    Raises:
        StartError: if it is not.
    """
    with tempfile.TemporaryDirectory(prefix="py2048-grade-") as place:
        Path(place).chmod(0o711)
        folder = Path(place, "submission")
        folder.mkdir(mode=0o700)
        nothing = PreparedSubmission(folder, f"{grading.module}.py", grading)
        runner = Runner(grading, nothing, sandbox)
        try:
            runner.begin(BLANK)
        finally:
            runner.end()


def slowness() -> float:
    """How many programs share a processor here: on a busy machine everything takes longer.

    The mean of the last minute is late to notice, so those that want one just now count, too.
    """
    programs = os.getloadavg()[0]
    with contextlib.suppress(OSError, ValueError, LookupError):  # no such file on macOS
        running = Path("/proc/loadavg").read_text().split()[3].partition("/")[0]
        programs = max(programs, int(running))
    return min(MAX_SLOWNESS, max(1.0, programs / (os.cpu_count() or 1)))


def _code(status: int) -> int:
    """A wait status as an exit code, negative for a signal."""
    try:
        return os.waitstatus_to_exitcode(status)
    except ValueError:
        return -int(signal.SIGKILL)


def _given_folder(grading: Grading, submission: Path) -> Path | None:
    """The folder of given files beside the prepared submission, made once."""
    if not grading.given_files:
        return None
    folder = submission.with_name(submission.name + "-given")
    if not folder.exists():
        folder.mkdir()
        folder.chmod(0o755)
        for path in grading.given_files:
            (folder / path.name).write_bytes(path.read_bytes())
    return folder
