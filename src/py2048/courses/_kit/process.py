"""One process with a submission in it: started, asked, and ended for certain.

Requests go down one pipe as marshalled data, facts come back up another as JSON. The process
is never believed about a verdict: it says what a call gave, and the grader compares.
"""

from __future__ import annotations

import atexit
import compileall
import contextlib
import functools
import itertools
import json
import marshal
import math
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from py2048.courses._kit.agent import landlock
from py2048.courses._kit.protection import (
    AGENT,
    AUTHORITY,
    BUBBLEWRAP,
    NOBODY,
    SCRATCH,
    UNSHARE,
    Protection,
    Setup,
    landlock_rules,
    python,
    submissions_user,
)
from py2048.courses._kit.values import decode
from py2048.errors import CourseError

REPLY_BYTES = 32 << 20
SLACK = 3  # how much longer a call may wait than work; see ``agent/host.py``
GRACE = 1.0  # seconds after its own alarm in which a process may still answer
START = 20.0  # seconds for the interpreter to start on a busy machine
FLOODED, DEAF = 85, 86  # exit codes of a process that ends itself; see ``agent/host.py``
OVERRUN = "still running when the time was over: an endless loop?"

_slots = itertools.count()


class ProcessDied(Exception):  # noqa: N818 - a fact about a submission
    """The process ended, or had to be ended; the message says why, for the student."""


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
    inner = all(path.stat().st_mode & 0o004 for path in (folder, *folder.glob("*.py")))
    return inner and all(path.stat().st_mode & 0o001 for path in (folder, *folder.parents))


def next_user() -> int | None:
    """A user number that nobody else has, when this is root."""
    first = submissions_user()
    return first if first in {None, NOBODY} else first + next(_slots) % 4096


@functools.cache
def _other_processes() -> int:
    """Processes and threads of this user, which some systems count against a limit."""
    count = 0
    for status in Path("/proc").glob("[0-9]*/task"):
        with contextlib.suppress(OSError):
            if status.stat().st_uid == os.geteuid():
                count += len(list(status.iterdir()))
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


class StartError(CourseError):
    """The interpreter for a submission does not start, which is hardly the submission's fault."""


class Process:
    """A running interpreter, wrapped by a protection, that serves one submission."""

    def __init__(
        self,
        setup: Setup,
        protection: Protection,
        config: dict[str, Any],
        user: int | None = None,
        display: str = "",
    ) -> None:
        self.protection = protection
        self.user = user
        self.setup = setup
        self.display = display
        self.agent = Path("/py2048/agent") if protection.own_root else agent_folder()
        self.closed = False
        self.complaint = ""
        down, self._requests = os.pipe()
        self._replies, up = os.pipe()
        os.set_blocking(self._replies, False)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self._child = subprocess.Popen(
            [*protection.wrap(setup), *self._command(down, up)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(down, up),
            env=self._environment(),
            start_new_session=True,
        )
        os.close(down)
        os.close(up)
        self._send({**config, **self._places()})

    def _command(self, down: int, up: int) -> list[str]:
        """The interpreter with the agent's first file, and where to read and write."""
        executable = python(self.protection)
        if executable is None:
            raise CourseError(f"the protection {self.protection.name!r} does not work here")
        boot = str(self.agent / "boot.py")
        return [executable, "-s", "-S", "-P", boot, str(down), str(up)]

    def _places(self) -> dict[str, Any]:
        """The part of the configuration that depends on where things are."""
        setup = self.setup
        scratch, given = str(setup.scratch), str(setup.given or "")
        if self.protection.own_root:
            scratch, given = SCRATCH, "/py2048/given" if setup.given else ""
        elif self.user is not None:
            _hand_over(setup.scratch, self.user)
        hides = self.protection.hides_files and not self.protection.own_root
        shared_count = os.geteuid() != 0 and not self.protection.own_root
        return {
            "scratch": scratch,
            "support": [given] if given else [],
            "user": self.user,
            "limits": setup.limits.by_name(_other_processes() if shared_count else 0),
            "output": setup.limits.output_bytes,
            "library_paths": [*setup.library_paths, str(self.agent / "supplied")],
            "landlock": landlock_rules(setup, self.agent) if hides else None,
            "trusted": setup.trusted,
            "own_processes": self._own_processes(),
        }

    def _own_processes(self) -> bool:
        """Whether a process of this submission can end no other processes than its own."""
        namespaces = self.protection in {BUBBLEWRAP, UNSHARE}
        scoped = self.protection.hides_files and landlock.interface() >= 6
        return namespaces or scoped or self.user not in {None, NOBODY}

    def _environment(self) -> dict[str, str]:
        home = SCRATCH if self.protection.own_root else str(self.setup.scratch)
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
            own = self.protection.own_root
            words["XAUTHORITY"] = AUTHORITY if own else str(self.setup.authority)
            words["DISPLAY"] = self.display
        return words

    # -- asking -------------------------------------------------------------------------

    def ask(self, request: dict[str, Any], seconds: float, end: float = math.inf) -> dict[str, Any]:
        """Send `request`, which may take `seconds` of work, and return the facts.

        Raises:
            ProcessDied: also when the clock reaches `end`.
        """
        self._send(request)
        deadline = min(time.monotonic() + SLACK * seconds + GRACE, end)
        size = int.from_bytes(self._receive(4, deadline), "big")
        if size > REPLY_BYTES:
            self.close()
            raise ProcessDied("the answer is too large to look at")
        try:
            facts: dict[str, Any] = decode(json.loads(self._receive(size, deadline)))
            facts["state"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            self.close()
            raise ProcessDied("the submission spoiled the process that runs it") from error
        return facts

    def _send(self, request: dict[str, Any]) -> None:
        data = marshal.dumps(request)
        data = len(data).to_bytes(4, "big") + data
        with contextlib.suppress(BrokenPipeError):  # the reason shows when reading
            while data:
                data = data[os.write(self._requests, data) :]

    def _receive(self, size: int, deadline: float) -> bytes:
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

    def wait_until_up(self) -> dict[str, Any]:
        """The first answer.

        Raises:
            StartError: if the interpreter does not come up.
        """
        try:
            return self.ask({"op": "hello"}, START)
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


def _hand_over(folder: Path, user: int) -> None:
    """Give the scratch folder to the user that the submission runs as."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


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


def clear(folder: Path) -> None:
    """Remove a scratch folder, whatever a submission did to its permissions."""
    shutil.rmtree(folder, ignore_errors=True)
