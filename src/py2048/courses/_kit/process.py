"""One process with a submission in it: started, asked, and ended for certain.

Requests go down one pipe as marshalled data, facts come back up another as JSON. The process
is never believed about a verdict: it says what a call gave, and the grader compares.
"""

from __future__ import annotations

import compileall
import contextlib
import functools
import itertools
import json
import marshal
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from py2048.courses._kit.protection import (
    AUTHORITY,
    INSIDE,
    PLAIN,
    SCRATCH,
    Protection,
    Setup,
    python,
)
from py2048.courses._kit.values import decode
from py2048.errors import CourseError

REPLY_BYTES = 32 << 20
SLACK = 3  # how much longer a call may wait than work; see ``inside/host.py``
GRACE = 1.0  # seconds after its own alarm in which a process may still answer
START = 20.0  # seconds for the interpreter to start on a busy machine
NOBODY = 65534
FLOODED = 85  # the exit code of a process that printed too much; see ``inside/host.py``

_slots = itertools.count()


class Died(Exception):  # noqa: N818 - a fact about a submission
    """The process ended, or had to be ended; the message says why, for the student."""


@functools.cache
def _compile_inside() -> None:
    """Compile the modules for submissions' processes once; those may write nothing there."""
    if not sys.dont_write_bytecode:
        compileall.compile_dir(INSIDE, maxlevels=0, quiet=2)


@functools.cache
def _first_user() -> int | None:
    """The first of 4096 user numbers to run submissions as, when this is root."""
    if os.geteuid():
        return None
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    except OSError:
        return NOBODY
    inside, _, count = map(int, lines[0].split())
    return 1_000_000 if inside == 0 and count > 2_000_000 else NOBODY


def _user() -> int | None:
    first = _first_user()
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
    if number == signal.SIGSEGV:
        return "crashed the interpreter: recursion without end?"
    if number in {signal.SIGKILL, signal.SIGXCPU}:
        return "was stopped by the system: too much memory or processor time"
    if number:
        return f"was ended by signal {number}"
    return f"ended the process (exit code {code}): os._exit()?"


class Process:
    """A running interpreter, wrapped by a protection, that serves one submission."""

    def __init__(self, setup: Setup, protection: Protection, config: dict[str, Any]) -> None:
        self.protection = protection
        _compile_inside()
        self.user = None if protection.keeps_root else _user()
        self._keys: tempfile.TemporaryDirectory[str] | None = None
        self.setup = setup = replace(setup, authority=self._authority(setup))
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
        boot = "/py2048/grader/boot.py" if self.protection.own_root else self._inside("boot.py")
        return [python(), "-s", "-S", "-P", boot, str(down), str(up)]

    @staticmethod
    def _inside(name: str) -> str:
        return str(Path(__file__).resolve().parent / "inside" / name)

    def _places(self) -> dict[str, Any]:
        """The part of the configuration that depends on where things are."""
        setup = self.setup
        scratch, given = str(setup.scratch), str(setup.given or "")
        if self.protection.own_root:
            scratch, given = SCRATCH, "/py2048/given" if setup.given else ""
        elif self.user is not None:
            _hand_over(setup.scratch, self.user)
        shared_count = os.geteuid() != 0 and not self.protection.own_root
        return {
            "scratch": scratch,
            "support": [given] if given else [],
            "user": self.user,
            "limits": setup.limits.by_name(_other_processes() if shared_count else 0),
            "output": setup.limits.output_bytes,
            "library_paths": setup.library_paths,
            "trusted": setup.trusted,
            "own_processes": self.protection is not PLAIN or self.user not in {None, NOBODY},
            "real_window": setup.real_window,
        }

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
        }
        if self.setup.real_window:
            words["DISPLAY"] = os.environ.get("DISPLAY", "")
        if self.setup.authority is not None:
            seen = AUTHORITY if self.protection.own_root else str(self.setup.authority)
            words["XAUTHORITY"] = seen
        return words

    def _authority(self, setup: Setup) -> Path | None:
        """A copy of the display's key that the submission's user can read, and no other."""
        path = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
        if not setup.real_window or not path.is_file():
            return None
        self._keys = tempfile.TemporaryDirectory(prefix="py2048-keys-")
        copy = Path(self._keys.name, "authority")
        shutil.copyfile(path, copy)
        copy.chmod(0o400)
        if self.user is not None:
            Path(self._keys.name).chmod(0o711)
            os.chown(copy, self.user, self.user)
        return copy

    # -- asking -------------------------------------------------------------------------

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send `request`, which may take `seconds` of work, return the facts; raise `Died`."""
        self._send(request)
        deadline = time.monotonic() + SLACK * seconds + GRACE
        size = int.from_bytes(self._receive(4, deadline), "big")
        if size > REPLY_BYTES:
            self.close()
            raise Died("the answer is too large to look at")
        try:
            facts: dict[str, Any] = decode(json.loads(self._receive(size, deadline)))
            facts["state"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            self.close()
            raise Died("the submission spoiled the process that runs it") from error
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
                raise Died("still running when the time was over: an endless loop?")
            part = os.read(self._replies, min(size, 1 << 16))
            if not part:
                raise Died(self._cause())
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
        """The first answer; that the interpreter does not come up is the grader's own fault."""
        try:
            return self.ask({"op": "hello"}, START)
        except Died as error:
            reason = self.complaint or str(error)
            raise CourseError(f"no process could be started for submissions: {reason}") from None

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
        if self._keys is not None:
            self._keys.cleanup()


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
