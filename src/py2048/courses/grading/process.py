"""The processes of one submission: started in a sandbox, asked, copied, and ended for certain.

A process loads the program once and makes a copy of itself (a fork) for each check, so every check
begins in a process that nothing has touched. Requests go down one pipe as marshalled data, facts
come back up another as JSON. The process is never trusted with a verdict: it reports what a call
returned, and the grader compares.
"""

from __future__ import annotations

import atexit
import compileall
import contextlib
import functools
import itertools
import json
import marshal
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from py2048.courses.grading.agent import landlock
from py2048.courses.grading.sandbox import (
    AGENT,
    AUTHORITY,
    BUBBLEWRAP,
    NOBODY,
    ON_SCREEN,
    SCRATCH,
    UNSHARE,
    Display,
    ProcessSetup,
    ResourceLimits,
    SandboxConfig,
    interpreter_for,
    landlock_rules,
    submissions_user,
)
from py2048.courses.grading.submissions import PreparedSubmission
from py2048.courses.grading.tasks import Array, Grading, Opaque, show
from py2048.errors import CourseError

REPLY_BYTES = 32 << 20
SLACK = 3  # how much longer a call may wait than work, on a machine that is not busy
GRACE = 1.0  # seconds after its own alarm in which a process may still answer
START = 60.0  # seconds for the interpreter to start on a busy machine
FORK = 4.0  # seconds for a copy to begin, or to end and be cleared up
FLOODED, DEAF = 85, 86  # exit codes of a process that ends itself; see ``agent/host.py``
OVERRUN = "still running when the time was over: an endless loop?"
LOADED, BLANK = "loaded", "blank"  # with the program as a module; with nothing
SLOWEST = 8.0  # how much more time a submission gets at most on a busy machine

Facts = dict[str, Any]
"""What a process reports: data of a submission, of any type."""

_user_slots = itertools.count(secrets.randbelow(4096))


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


def decode(data: Any) -> Any:
    """The value that a process sent, from parsed JSON (see ``agent/serialize.py``)."""
    if isinstance(data, list):
        return [decode(member) for member in data]
    if not isinstance(data, dict):
        return data
    ((tag, members),) = data.items()
    return DECODERS[tag](members)


def _hashable(data: Any) -> Any:
    """A value that can be a key or a member of a set: what cannot be becomes a text."""
    value = decode(data)
    try:
        hash(value)
    except TypeError:
        return show(value)
    return value


DECODERS: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda members: tuple(map(decode, members)),
    "set": lambda members: set(map(_hashable, members)),
    "frozenset": lambda members: frozenset(map(_hashable, members)),
    "dict": lambda members: {_hashable(key): decode(value) for key, value in members},
    "int": lambda members: int(members[0], 16),
    "float": lambda members: float(members[0]),
    "bytes": lambda members: bytes.fromhex(members[0]),
    "array": lambda members: Array(decode(members[0])),
    "object": lambda members: Opaque(str(members[0]), str(members[1])),
}


def is_answer(facts: Facts, request: Facts) -> bool:
    """Whether facts are what the agent answers to a request, and no submission's forgery.

    May raise what Python raises for data of another shape.
    """
    ended = facts["state"] == "ended"
    wanted = ("status", "changed") if ended else ANSWERS.get(request["op"], ())
    sound = all(PARTS[part](facts[part]) for part in ("state", "output", "asked", *wanted))
    if not sound or ended or request["op"] != "example":
        return sound
    cut_short = facts["early"] or (facts["error"] and facts["error"]["type"] == "OutOfTime")
    return "value" in facts and (cut_short or len(facts["then"]) == len(request["then"]))


def _is_error(data: Any) -> bool:
    """Whether data describe an exception (see `Raised`), or that there was none."""
    return data is None or (
        [type(data[name]) for name in ("type", "bases", "message", "file", "line")]
        == [str, tuple, str, str, int]
        and len(data) == 5
        and all(isinstance(base, str) for base in data["bases"])
    )


def _is_left_out(data: Any) -> bool:
    """Whether data describe the statements that were left out when a program was loaded."""
    names = ("statement", "line", "error", "message")
    return all([type(one[name]) for name in names] == [int, int, str, str] for one in data)


# What an answer has beside its state, by request, and how each part looks.
ANSWERS = {
    "load": ("error", "left_out", "can_be_copied"),
    "begin": ("error",),
    "run": ("error",),
    "program": ("error",),
    "example": ("early", "error", "then"),
}
PARTS: dict[str, Callable[[Any], bool]] = {
    "state": lambda data: isinstance(data, str),
    "output": lambda data: isinstance(data, str),
    "asked": lambda data: isinstance(data, int),
    "status": lambda data: isinstance(data, int),
    "changed": lambda data: isinstance(data, bool),
    "can_be_copied": lambda data: isinstance(data, bool),
    "error": _is_error,
    "early": _is_error,
    "then": lambda data: all("value" in one and _is_error(one["error"]) for one in data),
    "left_out": _is_left_out,
}


# --- one process ---


@functools.cache
def agent_folder() -> Path:
    """The folder of the agent, compiled, where the user that submissions run as can read it."""
    if submissions_user() is None or _open_to_others(AGENT):
        if not sys.dont_write_bytecode:
            compileall.compile_dir(AGENT, maxlevels=0, quiet=2)
        return AGENT
    folder = Path(tempfile.mkdtemp(prefix="py2048-agent-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(AGENT, folder, dirs_exist_ok=True)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    compileall.compile_dir(folder, maxlevels=0, quiet=2)
    return folder


def _open_to_others(folder: Path) -> bool:
    """Whether any user can read what is in a folder."""
    inner = all(path.stat().st_mode & 0o004 for path in (folder, *folder.glob("*.*")))
    return inner and all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))


def next_user() -> int | None:
    """A user number for one submission, when this is root."""
    first = submissions_user()
    return first if first in {None, NOBODY} else first + next(_user_slots) % 4096


@functools.cache
def _other_processes() -> int:
    """Processes and threads of this user, which some systems count against a limit."""
    count = 0
    for tasks in Path("/proc").glob("[0-9]*/task"):
        if _owner(tasks) == os.geteuid():
            with contextlib.suppress(OSError):
                count += len(list(tasks.iterdir()))
    return count


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
        config: Facts,
        user: int | None = None,
        display: str = "",
    ) -> None:
        self.protection = sandbox.protection
        self.user = user
        self.setup = setup
        own_root = self.protection.own_root
        self.agent = Path("/py2048/agent") if own_root else agent_folder()
        self.closed = False
        self.overran = False
        self.complaint = ""
        down, self._requests = os.pipe()
        self._replies, up = os.pipe()
        os.set_blocking(self._replies, False)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self._child = subprocess.Popen(
            [*self.protection.wrap(setup), *self._command(down, up)],
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

    def _command(self, down: int, up: int) -> list[str]:
        """The interpreter with the agent's first file, and where to read and write."""
        executable = interpreter_for(self.protection)
        if executable is None:
            raise CourseError(f"the protection {self.protection.name!r} does not work here")
        return [executable, "-s", "-S", "-P", str(self.agent / "boot.py"), str(down), str(up)]

    def _places(self) -> Facts:
        """The part of the configuration that depends on where things are."""
        setup, protection = self.setup, self.protection
        scratch, given = str(setup.scratch), str(setup.given or "")
        if protection.own_root:
            scratch, given = SCRATCH, "/py2048/given" if setup.given else ""
        elif self.user is not None:
            for path in (setup.scratch, *setup.scratch.rglob("*")):
                os.chown(path, self.user, self.user, follow_symlinks=False)
        restricted = protection.hides_files and not protection.own_root
        shared_count = os.geteuid() != 0 and not protection.own_root
        return {
            "scratch": scratch,
            "support": [given] if given else [],
            "user": self.user,
            "limits": setup.limits.by_name(_other_processes() if shared_count else 0),
            "output": setup.limits.output_bytes,
            "library_paths": [*setup.library_paths, str(self.agent / "supplied")],
            "landlock": landlock_rules(setup, self.agent) if restricted else None,
            "own_processes": self._own_processes(),
        }

    def _own_processes(self) -> bool:
        """Whether a process of this submission can end no other processes than its own."""
        namespaces = self.protection in {BUBBLEWRAP, UNSHARE}
        scoped = self.protection.hides_files and landlock.interface() >= 6
        return namespaces or scoped or self.user not in {None, NOBODY}

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

    def ask(self, request: Facts, seconds: float) -> Facts:
        """Send a request and return the answer.

        Raises:
            ProcessDied: if the process ends, or has not answered after `seconds` and is killed.
        """
        deadline = time.monotonic() + seconds
        self._send(request)
        size = int.from_bytes(self._read(4, deadline), "big")
        if size > REPLY_BYTES:
            self.close()
            raise ProcessDied("the answer is too large to look at")
        try:
            facts: Facts = decode(json.loads(self._read(size, deadline)))
            sound = is_answer(facts, request)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            sound = False
        if not sound:
            self.close()
            raise ProcessDied("the submission spoiled the process that runs it")
        return facts

    def _send(self, request: Facts) -> None:
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
                self.overran = True
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
            self.ask({"op": "hello"}, START)
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
        if not self.protection.own_root and self.user not in {None, NOBODY}:
            _end_all_of(self.user)
        os.close(self._requests)
        os.close(self._replies)
        self._errors.seek(0)
        lines = self._errors.read(4000).decode(errors="replace").strip().splitlines()
        self.complaint = lines[-1] if lines else ""
        self._errors.close()


def _end_all_of(user: int | None) -> None:
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
        self._ignored_alarms = False
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
        self._check_display()
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
            original.ask({"op": "fork"}, FORK)
        except ProcessDied:
            self._drop(original)
            return False
        return True

    def load(self, load_mode: str) -> Facts:
        """Load the program in a new process; return which statements were left out."""
        self.close()
        self._loads_in_copies = False
        return self._load(self._start(LOADED), load_mode)

    def _load(self, process: Process, load_mode: str) -> Facts:
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
        facts = self._ask(process, request, seconds * (1 if load_mode == "whole" else 6))
        if not facts["can_be_copied"] and not self._loads_in_copies:
            self._drop(process)
            self._loads_in_copies = True
        return facts

    def _ask(self, process: Process, request: Facts, seconds: float) -> Facts:
        """Ask for what may take `seconds` of work; raise `ProcessDied` if the process dies.

        The wait counts towards the time of the submission. Once a process had to be killed because
        it ignored its own alarms, none is given more than twice its time.
        """
        began = time.monotonic()
        slack = SLACK * slowness()
        wait = slack * seconds + GRACE
        if self._ignored_alarms:
            wait = min(wait, 2 * slowness() * seconds)
        left = self.sandbox.seconds * slowness() - self._waited
        try:
            facts = process.ask({**request, "slack": slack}, min(wait, left))
        except ProcessDied:
            self._ignored_alarms |= process.overran
            self._ran_out |= time.monotonic() - began >= left  # also if the machine is busier now
            self._drop(process)
            raise
        finally:
            self._waited += time.monotonic() - began
        if facts["state"] == "ended":
            self._after(process, facts)
            code = _code(facts["status"])
            death = ProcessDied(cause(code))
            death.exit_code = code
            raise death
        return facts

    def _check_display(self) -> None:
        """A display that a submission has ended takes its processes with it."""
        if self._display is not None and not self._display.alive:
            self.close()
            self._close_display()

    def _close_display(self) -> None:
        if self._display is not None:
            self._display.close()
            self._display = None

    def ask(self, request: Facts, seconds: float) -> Facts:
        """Ask the current process, which may work for `seconds`; raise `ProcessDied` if it dies."""
        assert self._current is not None
        return self._ask(self._current, request, seconds)

    def leave(self) -> None:
        """End the current copy, if there is one; what it changed is gone with it."""
        current = self._current
        if current is None:
            return
        try:
            self._after(current, current.ask({"op": "leave"}, FORK))
        except ProcessDied:
            self._drop(current)

    def _after(self, original: Process, facts: Facts) -> None:
        """A copy has ended: keep the original if its folder is as it was."""
        self._current = None
        if facts["state"] != "ended" or facts["changed"]:
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
        """End everything from another thread; whoever waits for an answer gets `ProcessDied`."""
        for process in list(self._originals.values()):
            process.kill()

    def close(self) -> None:
        """End all processes of the program and remove their folders."""
        for process in list(self._originals.values()):
            self._drop(process)

    def renew(self) -> None:
        """End all that a submission can have left something in; the next process starts anew."""
        self.close()
        self._close_display()

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
    programs = max(os.getloadavg()[0], _running())
    return min(SLOWEST, max(1.0, programs / (os.cpu_count() or 1)))


def _running() -> int:
    """How many programs run or could run at this moment; 0 where the system does not tell."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, LookupError):
        return 0


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
