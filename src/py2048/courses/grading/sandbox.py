"""Sandboxed processes in which submissions run.

The sandbox uses bubblewrap, or Landlock together with a separate user. `choose_protection` runs a
trivial command to find out whether a protection works. Without protection, submissions could read
the solutions in py2048, so they are graded only with ``--unprotected``.

Requests are sent through a pipe as marshalled data, and replies are returned through another pipe
as JSON. The process reports the results of calls, and the grader decides whether these results are
correct.

Programs with windows draw on a virtual display. Each submission has its own Xvfb server, if
possible in a separate sandbox and as a separate user. Only clients with the server's key can
connect.
"""

from __future__ import annotations

import atexit
import compileall
import contextlib
import functools
import itertools
import marshal
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from py2048.core.errors import CourseError
from py2048.courses import SUBMISSION_S
from py2048.courses.grading.agent import boot
from py2048.courses.grading.tasks import Raised, decode

AGENT = Path(__file__).resolve().parent / "agent"
PACKAGE_ROOT = Path(__file__).resolve().parents[3]  # the folder that contains the package py2048
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
FONTS = ("/etc/fonts", "/var/cache/fontconfig")
AUTHORITY, DISPLAY_KEY = "/py2048/authority", "/py2048/key"
SCRATCH = "/py2048/scratch"  # Working folder inside bubblewrap.
MAX_DISPLAY_KIB = 1 << 20  # Limit on Xvfb's address space.
DISPLAY_SIZE = "1280x1024x24"
USERS = 4096
MAX_REPLY_BYTES = 8 << 20
EXIT_S = 10.0  # Time limit for a process to end, even on a busy machine.
OUTPUT_FLOOD = 85  # Exit code from ``agent/terminal.py``.
OVERRUN = "does not end: an infinite loop?"
ON_SCREEN = os.name == "posix" and os.uname().sysname == "Darwin"  # On macOS, Tk does not use X.

# Limits per process, named like ``resource.RLIMIT_*``.
LIMITS = {"CPU": 60, "AS": 512 << 20, "FSIZE": 8 << 20, "NPROC": 32, "NOFILE": 64, "CORE": 0}
OUTPUT_BYTES = 1_000_000
SCRATCH_BYTES = 64 << 20
LIMITS_IN_WORDS = (
    f"{LIMITS['AS'] >> 20} MiB memory, {LIMITS['CPU']} s processor time, "
    f"{OUTPUT_BYTES // 1000} kB output, {LIMITS['FSIZE'] >> 20} MiB per file, "
    f"{LIMITS['NPROC']} processes"
)


# --- protections ---


@dataclass(frozen=True)
class Protection:
    """A way to isolate submissions.

    Attributes:
        name: Name in reports.
        holds: Descriptions of the attacks that the protection prevents.
        lacks: Descriptions of the attacks that the protection does not prevent.
        own_root: Whether submissions have a root folder of their own, and see only their own
            processes.
        landlock: Whether processes restrict their own file access with Landlock.
    """

    name: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...]
    own_root: bool = False
    landlock: bool = False

    def __str__(self) -> str:
        held = ", ".join(self.holds)
        if not self.lacks:
            return f"{self.name}: {held}"
        return f"{self.name}. NOT protected: {', '.join(self.lacks)}. Protected: {held}"


LIMITED = "limits on time, memory, output, file size and processes"
HIDDEN = "other files hidden or read-only"
BUBBLEWRAP = Protection(
    "bubblewrap",
    ("no network", "sees only its own processes", "scratch folder in memory", LIMITED, HIDDEN),
    (),
    own_root=True,
)
LANDLOCK = Protection(
    "landlock",
    ("separate user", LIMITED, HIDDEN),
    ("parts of the network", "the list of other processes"),
    landlock=True,
)
UNPROTECTED = Protection(
    "limits only",
    (LIMITED,),
    (
        "the solutions (a submission can read them)",
        "files of this machine",
        "the network",
        "other processes of the same user",
    ),
)
PROTECTIONS = (BUBBLEWRAP, LANDLOCK, UNPROTECTED)


def choose_protection(*, unprotected: bool = False) -> Protection:
    """Return the strongest protection that works on this machine.

    Raises:
        CourseError: If no protection works and `unprotected` is not set.
    """
    if os.name != "posix":
        raise CourseError("grading needs process limits that this system lacks: use Linux or macOS")
    for protection in PROTECTIONS if unprotected else PROTECTIONS[:2]:
        if interpreter_for(protection):
            return protection
    raise CourseError(
        "submissions could read py2048's solutions here: install bubblewrap (apt install "
        "bubblewrap) and allow user namespaces, grade as root on Linux with Landlock, or accept "
        "the risk with --unprotected"
    )


@functools.cache
def interpreter_for(protection: Protection) -> str | None:
    """Return the interpreter that runs submissions, or None if `protection` does not work.

    The default is the base interpreter of the virtual environment. If the accounts that run
    submissions cannot read this interpreter, the system's Python of the same version is used.
    """
    if protection.own_root and not shutil.which("bwrap"):
        return None
    if protection.landlock and (os.geteuid() or not boot.landlock_version()):
        return None
    command = _bubblewrap(Folders(AGENT, None, Path("/"))) if protection.own_root else []
    own = str(Path(getattr(sys, "_base_executable", "") or sys.executable).resolve())
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    others = [] if protection.own_root else [f"/usr/local/bin/{name}", f"/usr/bin/{name}"]
    return next((path for path in (own, *others) if _can_start([*command, path])), None)


def _can_start(command: list[str]) -> bool:
    """Return whether `command` can start Python and switch to the user of a submission."""
    user = _first_user()
    become = f"os.setgroups([]); os.setgid({user}); os.setuid({user})" if user else "pass"
    code = f"import os\n{become}\nimport random"
    try:
        words = [*command, "-I", "-S", "-c", code]
        done = subprocess.run(words, capture_output=True, timeout=SUBMISSION_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


class Turns:
    """Shared-exclusive lock for checks: many run at the same time, or one runs alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = self._alone = 0

    @contextlib.contextmanager
    def take(self, *, alone: bool) -> Iterator[None]:
        """Wait until the block may run."""
        with self._changed:
            self._alone += alone
            self._changed.wait_for(lambda: not (self._running if alone else self._alone))
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._alone -= alone
                self._changed.notify_all()


@dataclass(frozen=True)
class SandboxConfig:
    """How to run submissions.

    Attributes:
        protection: The protection. By default, the strongest that works.
        trusted: Whether the code may import py2048. Only py2048's own solutions may.
        seconds: Wall-clock limit for a whole submission on an otherwise idle machine.
        jobs: Number of submissions that run in parallel.
        live: Callbacks that kill the running submissions.
        aborted: Event that is set when the run ends or is interrupted.
        turns: Shared-exclusive lock for checks.
    """

    protection: Protection = field(default_factory=choose_protection)
    trusted: bool = False
    seconds: float = SUBMISSION_S
    jobs: int = 1
    live: set[Callable[[], None]] = field(default_factory=set)
    aborted: threading.Event = field(default_factory=threading.Event)
    turns: Turns = field(default_factory=Turns)

    @contextlib.contextmanager
    def pool(self) -> Iterator[ThreadPoolExecutor]:
        """Yield a pool of grading threads. Leaving the context stops all running submissions."""
        pool = ThreadPoolExecutor(self.jobs)
        try:
            yield pool
        finally:
            self.aborted.set()
            for kill in list(self.live):
                kill()
            pool.shutdown(cancel_futures=True)


# --- users, folders and bubblewrap's command line ---

_user_slots = itertools.count(secrets.randbelow(USERS))


@functools.cache
def _first_user() -> int | None:
    """Return the first user id reserved for submissions, or None if not running as root."""
    if os.geteuid():
        return None
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
        has_high_ids = int(lines[0].split()[2]) > 2_000_000
    except OSError:
        has_high_ids = False
    return 1_000_000 if has_high_ids else 60_000  # rootless containers map few ids


def next_user() -> int | None:
    """Return a user id for a submission, or None if this process does not run as root."""
    first = _first_user()
    return None if first is None else first + next(_user_slots) % USERS


def remove_tree(folder: Path) -> None:
    """Remove a folder of any depth. Before Python 3.13, `shutil.rmtree` is recursive."""
    subprocess.run(["rm", "-rf", folder], stderr=subprocess.DEVNULL, check=False)


@functools.cache
def agent_folder() -> Path:
    """Copy the compiled agent to a folder that submissions can read, and return the folder."""
    folder = AGENT
    if _first_user() is not None:
        folder = Path(tempfile.mkdtemp(prefix="py2048-agent-"))
        atexit.register(remove_tree, folder)
        shutil.copytree(AGENT, folder, dirs_exist_ok=True)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    if folder != AGENT or not sys.dont_write_bytecode:
        compileall.compile_dir(folder, maxlevels=0, quiet=2)
    return folder


def library_paths(*, trusted: bool) -> tuple[str, ...]:
    """Return the folders of installed packages, including the folder of py2048 if `trusted`."""
    found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return tuple(dict.fromkeys([*found, str(PACKAGE_ROOT)] if trusted else found))


def copies_of_py2048(libraries: Sequence[str] = ()) -> list[Path]:
    """Return the folders of all installed copies of py2048.

    The sandbox hides them from submissions, because py2048 contains solutions.
    """
    places = {PACKAGE_ROOT, *map(Path, libraries)}
    for prefix in (sys.prefix, sys.base_prefix, sys.base_exec_prefix, "/usr", "/usr/local"):
        places.update(Path(prefix).glob("lib/python3*/*-packages"))
    return sorted({(place / "py2048").resolve() for place in places if (place / "py2048").is_dir()})


@dataclass(frozen=True)
class Folders:
    """The folders that a submission's process can access.

    Attributes:
        submission: The prepared submission.
        given: Folder of the files handed out by the course.
        scratch: Working folder.
        libraries: Folders of packages.
        trusted: Whether the process may import py2048.
        display: The virtual display, or None.
        course: Folder of the course, which must be hidden.
    """

    submission: Path
    given: Path | None
    scratch: Path
    libraries: tuple[str, ...] = ()
    trusted: bool = False
    display: Display | None = None
    course: Path | None = None

    @property
    def readable(self) -> list[str]:
        """Paths outside the sandbox to which the process has read access."""
        prefixes = {sys.base_prefix, sys.base_exec_prefix}
        return [*SYSTEM, *SYSTEM_FILES, *FONTS, *sorted(prefixes), *self.libraries]

    @property
    def hidden(self) -> tuple[Path, ...]:
        """Folders inside `readable` that the process must not be able to read."""
        if self.trusted:
            return ()
        return (*copies_of_py2048(self.libraries), *([self.course] if self.course else ()))


def _landlock_rules(folders: Folders, agent: Path) -> dict[str, list[str]]:
    """Return the arguments of `boot.restrict`."""
    readable, listed = _split_around(tuple(folders.readable), folders.hidden)
    key = folders.display and folders.display.authority
    more = [folders.given, key, agent, Path("/dev/urandom"), Path("/dev/random")]
    return {
        "writable": [str(folders.scratch), "/dev/null", "/dev/zero", "/dev/full"],
        "readable": [*readable, *(str(place) for place in more if place)],
        "listed": list(listed),
    }


@functools.cache
def _split_around(
    places: tuple[str, ...], hidden: tuple[Path, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the readable paths, and the folders that may be listed but not read."""
    readable: list[str] = []
    listed: list[str] = []
    waiting = {Path(place).resolve() for place in places}
    while waiting:
        place = waiting.pop()
        if place in hidden or not place.exists():
            continue
        if any(place in folder.parents for folder in hidden):
            listed.append(str(place))
            waiting.update(child for child in place.iterdir() if not child.is_symlink())
        else:
            readable.append(str(place))
    return tuple(sorted(readable)), tuple(sorted(listed))


def _namespaces() -> list[str]:
    """Return bubblewrap's options for private namespaces, ``/dev``, ``/proc`` and ``/tmp``."""
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-user"] if os.geteuid() else []
    words += ["--die-with-parent", "--dev", "/dev", "--proc", "/proc"]
    return [*words, "--perms", "1777", "--tmpfs", "/tmp"]


def _bubblewrap(folders: Folders) -> list[str]:
    """Return the command line of bubblewrap for a process with access to `folders`."""
    words = [*_namespaces(), *_binds(folders)]
    words += ["--perms", "0755", "--dir", "/py2048"]
    words += ["--ro-bind", str(agent_folder()), "/py2048/agent"]
    words += ["--ro-bind", str(folders.submission), "/py2048/submission"]
    if folders.given:
        words += ["--ro-bind", str(folders.given), "/py2048/given"]
    if folders.display:
        words += ["--ro-bind", str(folders.display.sockets), "/tmp/.X11-unix"]
        words += ["--ro-bind", str(folders.display.authority), AUTHORITY]
    words += ["--size", str(SCRATCH_BYTES), "--tmpfs", SCRATCH]
    return [*words, "--chdir", SCRATCH, "--"]


def _binds(folders: Folders) -> list[str]:
    """Return the arguments of bubblewrap for the readable system folders."""
    words: list[str] = []
    for place in SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        else:
            words += ["--ro-bind-try", place, place]
    for place in dict.fromkeys(folders.readable):
        if place not in SYSTEM and Path(place).exists() and not place.startswith("/usr/"):
            for folder in reversed(Path(place).parents[:-1]):  # users need access to all parents
                words += ["--perms", "0755", "--dir", str(folder)]
            words += ["--ro-bind", place, place]
    for package in folders.hidden:
        if any(Path(place) in package.parents for place in folders.readable):
            words += ["--tmpfs", str(package)]
    return words


# --- virtual display ---


class Display:
    """A virtual X display that only `user` may open.

    Attributes:
        name: Value for ``DISPLAY``.
        authority: File with the key.
        sockets: Folder that bubblewrap mounts as ``/tmp/.X11-unix``.
    """

    def __init__(self, protection: Protection, user: int | None, timeout_s: float) -> None:
        if not shutil.which("Xvfb"):
            raise CourseError(
                "Xvfb is missing, the virtual display for programs with windows: "
                "install it (apt install xvfb)"
            )
        self._folder = Path(tempfile.mkdtemp(prefix="py2048-display-"))
        self._folder.chmod(0o711)
        self.sockets = self._folder / "sockets"
        self.sockets.mkdir()
        self.sockets.chmod(0o1777)
        # An X authority entry for all displays (family 0xffff).
        parts = (b"", b"", b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16))
        key = b"\xff\xff" + b"".join(len(part).to_bytes(2, "big") + part for part in parts)
        server_user = next_user()
        self.authority = self._private("authority", key, user)
        kept = self._private("server", key, server_user)
        reading, writing = os.pipe()
        words = ["sh", "-c", f'ulimit -v {MAX_DISPLAY_KIB}; exec "$@"', "sh"]
        words += ["Xvfb", "-displayfd", str(writing), "-screen", "0", DISPLAY_SIZE, "-noreset"]
        words += ["-nolisten", "tcp", "-nolisten", "local"]
        words += ["-auth", DISPLAY_KEY if protection.own_root else str(kept)]
        if server_user is not None:
            numbers = ["--reuid", str(server_user), "--regid", str(server_user), "--clear-groups"]
            words = ["setpriv", *numbers, *words]
        if protection.own_root:
            binds = [word for place in SYSTEM for word in ("--ro-bind-try", place, place)]
            binds += ["--bind", str(self.sockets), "/tmp/.X11-unix"]
            binds += ["--perms", "0755", "--dir", "/py2048", "--ro-bind", str(kept), DISPLAY_KEY]
            words = [*_namespaces(), *binds, "--", *words]
        self._server = subprocess.Popen(
            words,
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(writing)
        # Xvfb writes a line once it is ready. If it fails, it writes nothing.
        with os.fdopen(reading, "rb") as answer:
            ready = select.select([answer], [], [], timeout_s)[0]
            number = answer.readline().decode().strip() if ready else ""
        self.name = f":{number}"
        left = [f"/tmp/.X11-unix/X{number}", f"/tmp/.X{number}-lock"]
        self._left = [] if protection.own_root else left
        if not number:
            self.close()
            raise CourseError("cannot start a virtual display: Xvfb ended")

    def _private(self, name: str, data: bytes, user: int | None) -> Path:
        """Write data to a new file that only `user` can read."""
        path = self._folder / name
        path.touch(0o600)
        path.write_bytes(data)
        path.chmod(0o400)
        if user is not None:
            os.chown(path, user, user)
        return path

    @property
    def alive(self) -> bool:
        """Whether the display is still running. A submission may crash it."""
        return self._server.poll() is None

    def close(self) -> None:
        """End the display server and remove its files."""
        if self.alive:
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()
        remove_tree(self._folder)
        for path in self._left:
            Path(path).unlink(missing_ok=True)


# --- processes and their reports ---

Request = dict[str, Any]


class ProcessDied(Exception):  # noqa: N818 - a finding about a submission
    """Raised if the process has ended or was killed. The message tells the student why.

    Attributes:
        exit_code: Exit code, negative for a signal, if the process ended by itself.
    """

    def __init__(self, reason: str, exit_code: int | None = None) -> None:
        super().__init__(reason)
        self.exit_code = exit_code

    @classmethod
    def from_exit_code(cls, code: int) -> ProcessDied:
        """Explain an exit code."""
        number = -code if code < 0 else code - 128 if code > 128 else 0
        reasons = {
            0: f"ended the process (exit code {code}): os._exit()?",
            signal.SIGSEGV: "crashed the interpreter: infinite recursion?",
            signal.SIGXCPU: OVERRUN,
            signal.SIGKILL: "was killed by the system: too much memory or processor time",
        }
        reason = reasons.get(number, f"was killed by signal {number}")
        return cls("printed too much output" if code == OUTPUT_FLOOD else reason, code)


class LeftOut(msgspec.Struct):
    """A top-level statement that was skipped when the program was loaded.

    Attributes:
        statement: Line where the statement begins.
        line: Line that failed.
        error: Name of the exception's type.
        message: The exception's message.
    """

    statement: int
    line: int
    error: str
    message: str


class ProcessReport(msgspec.Struct, kw_only=True):
    """A process's reply to a request.

    Attributes:
        state: ``waiting`` if the program is waiting for its user.
        output: Printed text.
        asked: Number of input lines read.
        value: Value of the last expression.
        error: Exception raised by the code.
        left_out: Statements skipped while loading.
        exit_code: Exit code of a forked process that has ended.
        changed: Whether that fork changed files.
    """

    state: Literal["done", "waiting", "forked", "ended"]
    output: str = ""
    asked: int = 0
    value: Any = None
    error: Raised | None = None
    left_out: list[LeftOut] = []
    exit_code: int = 0
    changed: bool = False


_REPORTS = msgspec.json.Decoder(ProcessReport)


class Process:
    """A Python interpreter that runs in a sandbox for one submission."""

    def __init__(
        self,
        folders: Folders,
        sandbox: SandboxConfig,
        user: int | None,
        config: Request,
        timeout_s: float,
    ) -> None:
        own_root = sandbox.protection.own_root
        self.folders = folders
        self.closed = False
        self.last_error = ""
        self._ends_all_of = None if own_root else user
        executable = interpreter_for(sandbox.protection)
        if executable is None:
            raise CourseError(f"the protection {sandbox.protection.name!r} does not work here")
        agent, scratch, given = agent_folder(), str(folders.scratch), str(folders.given or "")
        command = []
        if own_root:
            command = _bubblewrap(folders)
            agent, scratch = Path("/py2048/agent"), SCRATCH
            given = given and "/py2048/given"
        elif user is not None:
            for path in (folders.scratch, *folders.scratch.rglob("*")):
                os.chown(path, user, user, follow_symlinks=False)
        down, self._requests = os.pipe()
        self._replies, up = os.pipe()
        os.set_blocking(self._replies, False)
        os.set_blocking(self._requests, False)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        command += [executable, "-s", "-S", "-P", str(agent / "boot.py"), str(down), str(up)]
        environment = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": scratch,
            "TMPDIR": scratch,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "PYTHONHASHSEED": "0",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "XCOMPOSEFILE": "/dev/null",  # the default compose file doubles Tk's startup time
        }
        if folders.display:
            environment["DISPLAY"] = folders.display.name
            environment["XAUTHORITY"] = AUTHORITY if own_root else str(folders.display.authority)
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(down, up),
            env=environment,
            start_new_session=True,
        )
        os.close(down)
        os.close(up)
        is_alone = own_root or user is not None  # no unrelated process runs as this user
        landlock = sandbox.protection.landlock
        places = {
            "scratch": scratch,
            "support": [given] if given else [],
            "user": user,
            "limits": LIMITS if is_alone else {k: v for k, v in LIMITS.items() if k != "NPROC"},
            "output": OUTPUT_BYTES,
            "library_paths": list(folders.libraries),
            "landlock": _landlock_rules(folders, agent) if landlock else None,
            "own_processes": is_alone,
            "trusted": folders.trusted,
        }
        self._send({**config, **places}, time.monotonic() + timeout_s)

    def ask(self, request: Request, seconds: float) -> ProcessReport:
        """Send a request and return the reply.

        Raises:
            ProcessDied: If the process has ended, or was killed because it did not reply within
                `seconds` seconds.
        """
        deadline = time.monotonic() + seconds
        self._send(request, deadline)
        size = int.from_bytes(self._read(4, deadline), "big")
        if size > MAX_REPLY_BYTES:
            self.close()
            raise ProcessDied("the result is too large")
        data = self._read(size, deadline)
        try:
            report = _REPORTS.decode(data)
            report.value = decode(report.value)
            return report
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            self.close()
            raise ProcessDied("the submission damaged the process it runs in") from None

    def _send(self, request: Request, deadline: float) -> None:
        data = marshal.dumps(request)
        data = len(data).to_bytes(4, "big") + data
        with contextlib.suppress(BrokenPipeError):  # the next read reports why
            while data:
                self._await(self._requests, select.POLLOUT, deadline)
                data = data[os.write(self._requests, data) :]

    def _await(self, pipe: int, event: int, deadline: float) -> None:
        """Wait until a pipe is ready. After `deadline`, kill the process."""
        waiter = select.poll()
        waiter.register(pipe, event)
        left = deadline - time.monotonic()
        if left <= 0 or not waiter.poll(left * 1000):
            self.close()
            raise ProcessDied(OVERRUN)

    def _read(self, size: int, deadline: float) -> bytes:
        parts = []
        while size:
            self._await(self._replies, select.POLLIN, deadline)
            part = os.read(self._replies, min(size, 1 << 16))
            if not part:
                raise self._exit_reason()
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _exit_reason(self) -> ProcessDied:
        """Explain why the process has ended by itself."""
        code = 0
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._child.wait(EXIT_S)
        self.close()
        return ProcessDied.from_exit_code(code)

    def kill(self) -> None:
        """Kill the process group without waiting. Can be called from another thread."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def close(self) -> None:
        """Kill the process and all processes that it started. Later calls do nothing."""
        if self.closed:
            return
        self.closed = True
        self.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            user = self._ends_all_of
            if user:  # Also kill processes that have left the process group.
                words = ["sh", "-c", "kill -s KILL -- -1"]
                killer = subprocess.Popen(words, user=user, group=user, extra_groups=())
                killer.wait(EXIT_S)
            self._child.wait(EXIT_S)
        os.close(self._requests)
        os.close(self._replies)
        self._errors.seek(0)
        lines = self._errors.read(4000).decode(errors="replace").strip().splitlines()
        self.last_error = lines[-1] if lines else ""
        self._errors.close()
