"""What stands between a submission and the machine: bubblewrap, or Landlock and a separate user.

`choose_protection` tries each once by running a trivial command in it. Where neither works, a
submission could read py2048's own solutions, and is graded only if the teacher insists.

Programs with windows draw on a virtual display: one Xvfb for each submission, in a separate sandbox
and as a separate user where that is possible. It admits only who has its key.
"""

from __future__ import annotations

import atexit
import compileall
import functools
import itertools
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from py2048.courses.grading.agent import landlock
from py2048.errors import CourseError

AGENT = Path(__file__).resolve().parent / "agent"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
FONTS = ("/etc/fonts", "/var/cache/fontconfig")
AUTHORITY, DISPLAY_KEY = "/py2048/authority", "/py2048/key"
SUBMISSION_SECONDS = 60.0
DISPLAY_KIB = 1 << 20  # the address space of a virtual display
USERS = 4096
SCRATCH = "/py2048/scratch"  # as a submission in bubblewrap sees it


@dataclass(frozen=True)
class ResourceLimits:
    """What one process of a submission may use."""

    cpu_seconds: int = 60
    memory_mib: int = 512
    output_bytes: int = 1_000_000
    file_mib: int = 8
    scratch_mib: int = 64
    processes: int = 32
    open_files: int = 64

    def by_name(self) -> dict[str, int]:
        """The limits as ``resource.RLIMIT_*`` names them."""
        return {
            "CPU": self.cpu_seconds,
            "AS": self.memory_mib << 20,
            "FSIZE": self.file_mib << 20,
            "NPROC": self.processes,
            "NOFILE": self.open_files,
            "CORE": 0,
        }

    def __str__(self) -> str:
        return (
            f"{self.memory_mib} MiB memory, {self.cpu_seconds} s processor time, "
            f"{self.output_bytes // 1000} kB output, {self.file_mib} MiB per file, "
            f"{self.processes} processes"
        )


@dataclass(frozen=True)
class ProcessSetup:
    """The folders of one process: the prepared submission, given files, the scratch folder.

    For windows, `sockets` is the folder with the virtual display's socket and `authority` the
    file with its key.
    """

    folder: Path
    given: Path | None
    scratch: Path
    limits: ResourceLimits
    libraries: bool = False
    trusted: bool = False
    sockets: Path | None = None
    authority: Path | None = None

    @property
    def library_paths(self) -> list[str]:
        """Folders of importable packages beside the standard library."""
        found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        paths = list(dict.fromkeys(found)) if self.libraries or self.trusted else []
        return [*paths, str(package_root())] if self.trusted else paths


@dataclass(frozen=True)
class Protection:
    """One way to isolate a submission: the command around it, and what that keeps off.

    With `own_root` the submission sees folders under other names. With `landlock` its process
    drops its own access to most files. `lacks` is what is not protected.
    """

    name: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...]
    wrap: Callable[[ProcessSetup], list[str]] = field(repr=False)
    own_root: bool = False
    landlock: bool = False

    def __str__(self) -> str:
        held = ", ".join(self.holds)
        if not self.lacks:
            return f"{self.name}: {held}"
        return f"{self.name}. NOT protected: {', '.join(self.lacks)}. Protected: {held}"


def package_root() -> Path:
    """The folder that holds the package py2048."""
    return Path(__file__).resolve().parents[3]


_user_slots = itertools.count(secrets.randbelow(USERS))


@functools.cache
def _first_user() -> int | None:
    """The first of the user numbers that submissions run as, when this is root."""
    if os.geteuid():
        return None
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
        all_are_there = int(lines[0].split()[2]) > 2_000_000
    except OSError:
        all_are_there = False
    return 1_000_000 if all_are_there else 60_000  # few are in a container without root


def next_user() -> int | None:
    """A user number for one submission, when this is root."""
    first = _first_user()
    return None if first is None else first + next(_user_slots) % USERS


@functools.cache
def agent_folder() -> Path:
    """The folder of the agent, compiled, where the user that submissions run as can read it."""
    folder = AGENT
    if _first_user() is not None:
        folder = Path(tempfile.mkdtemp(prefix="py2048-agent-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        shutil.copytree(AGENT, folder, dirs_exist_ok=True)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
    if folder != AGENT or not sys.dont_write_bytecode:
        compileall.compile_dir(folder, maxlevels=0, quiet=2)
    return folder


def copies_of_py2048(libraries: Sequence[str] = ()) -> list[Path]:
    """Every folder of the package py2048 in which a submission might find the solutions."""
    places = {package_root(), *map(Path, libraries)}
    for prefix in (sys.prefix, sys.base_prefix, sys.base_exec_prefix, "/usr", "/usr/local"):
        places.update(Path(prefix).glob("lib/python3*/*-packages"))
    found = {(place / "py2048").resolve() for place in places if (place / "py2048").is_dir()}
    return sorted(found)


def _places(setup: ProcessSetup) -> list[str]:
    """What of this machine a submission can read."""
    prefixes = {sys.base_prefix, sys.base_exec_prefix}
    return [*SYSTEM, *SETTINGS, *FONTS, *sorted(prefixes), *setup.library_paths]


def landlock_rules(setup: ProcessSetup, agent: Path) -> dict[str, list[str]]:
    """What a process restricted by Landlock may still use: see `landlock.restrict`."""
    hidden = tuple([] if setup.trusted else copies_of_py2048(setup.library_paths))
    readable, listed = _all_but(tuple(_places(setup)), hidden)
    more = [setup.given, setup.authority, agent, Path("/dev/urandom"), Path("/dev/random")]
    return {
        "writable": [str(setup.scratch), "/dev/null", "/dev/zero", "/dev/full"],
        "readable": [*readable, *(str(place) for place in more if place)],
        "listed": list(listed),
    }


@functools.cache
def _all_but(
    places: tuple[str, ...], hidden: tuple[Path, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`places` without what is `hidden` in them, and the folders that had to be split for that."""
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


def _binds(setup: ProcessSetup) -> list[str]:
    """Arguments for bubblewrap: what can be read."""
    words: list[str] = []
    for place in SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).exists():
            words += ["--ro-bind", place, place]
    for place in dict.fromkeys(_places(setup)):
        if place not in SYSTEM and Path(place).exists() and not place.startswith("/usr/"):
            words += [*_parents_of(Path(place)), "--ro-bind", place, place]
    for package in [] if setup.trusted else copies_of_py2048(setup.library_paths):
        bound = [Path(place) for place in _places(setup)]
        if any(place in package.parents for place in bound):
            words += ["--tmpfs", str(package)]
    return words


def _parents_of(place: Path) -> list[str]:
    """Arguments for bubblewrap that make the folders above `place` passable for everybody."""
    above = [str(folder) for folder in reversed(place.parents) if folder != Path("/")]
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]


def _namespaces() -> list[str]:
    """The beginning of bubblewrap's command line: nothing shared but the user's number."""
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-user"] if os.geteuid() else []
    words += ["--die-with-parent", "--dev", "/dev", "--proc", "/proc"]
    return [*words, "--perms", "1777", "--tmpfs", "/tmp"]


def _bubblewrap(setup: ProcessSetup) -> list[str]:
    """The command line of bubblewrap around `setup`."""
    words = [*_namespaces(), *_binds(setup)]
    words += ["--perms", "0755", "--dir", "/py2048"]
    words += ["--ro-bind", str(agent_folder()), "/py2048/agent"]
    words += ["--ro-bind", str(setup.folder), "/py2048/submission"]
    if setup.given:
        words += ["--ro-bind", str(setup.given), "/py2048/given"]
    if setup.sockets and setup.authority:
        words += ["--ro-bind", str(setup.sockets), "/tmp/.X11-unix"]
        words += ["--ro-bind", str(setup.authority), AUTHORITY]
    words += ["--size", str(setup.limits.scratch_mib << 20), "--tmpfs", SCRATCH]
    return [*words, "--chdir", SCRATCH, "--"]


def display_command(
    protection: Protection, sockets: Path, key: Path, user: int | None
) -> list[str]:
    """The command around a virtual display, in a separate sandbox where `protection` is one."""
    words = ["sh", "-c", f'ulimit -v {DISPLAY_KIB}; exec "$@"', "sh"]
    if user is not None:
        numbers = ["--reuid", str(user), "--regid", str(user), "--clear-groups"]
        words = ["setpriv", *numbers, *words]
    if protection.own_root:
        binds = [word for place in SYSTEM for word in ("--ro-bind-try", place, place)]
        binds += ["--bind", str(sockets), "/tmp/.X11-unix", "--perms", "0755", "--dir", "/py2048"]
        words = [*_namespaces(), *binds, "--ro-bind", str(key), DISPLAY_KEY, "--", *words]
    return words


LIMITED = "limits on time, memory, output, file size and processes"
HIDDEN = "other files hidden or read-only"
BUBBLEWRAP = Protection(
    "bubblewrap",
    ("no network", "its own processes only", "a scratch folder in memory", LIMITED, HIDDEN),
    (),
    _bubblewrap,
    own_root=True,
)
LANDLOCK = Protection(
    "landlock",
    ("a user of its own", LIMITED, HIDDEN),
    ("parts of the network", "the sight of other processes"),
    lambda setup: [],
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
    lambda setup: [],
)
PROTECTIONS = (BUBBLEWRAP, LANDLOCK, UNPROTECTED)


@functools.cache
def interpreter_for(protection: Protection) -> str | None:
    """The interpreter that runs submissions under `protection`; `None` if that does not work.

    It is the one below any virtual environment. Where that cannot be read by the user that
    submissions run as, the system's Python of the same version takes its place.
    """
    words = protection.wrap(ProcessSetup(AGENT, None, Path("/"), ResourceLimits()))
    if words and not shutil.which(words[0]):
        return None
    if protection.landlock and (os.geteuid() or not landlock.interface()):
        return None
    own = str(Path(getattr(sys, "_base_executable", "") or sys.executable).resolve())
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    others = [] if protection.own_root else [f"/usr/local/bin/{name}", f"/usr/bin/{name}"]
    return next((path for path in (own, *others) if _starts([*words, path])), None)


def _starts(command: list[str]) -> bool:
    """Whether Python can be started with `command` and become the user of submissions."""
    user = _first_user()
    become = f"os.setgroups([]); os.setgid({user}); os.setuid({user})" if user else "pass"
    code = f"import os\n{become}\nimport random"
    try:
        done = subprocess.run(
            [*command, "-I", "-S", "-c", code], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def works(protection: Protection) -> bool:
    """Whether `protection` runs a trivial command here."""
    return interpreter_for(protection) is not None


def choose_protection(*, unprotected: bool = False) -> Protection:
    """The strongest protection that works here.

    Raises:
        CourseError: if none does and `unprotected` is not set.
    """
    if os.name != "posix":
        raise CourseError("grading runs submissions in limited processes: use Linux or macOS")
    for protection in PROTECTIONS if unprotected else PROTECTIONS[:2]:
        if works(protection):
            return protection
    raise CourseError(
        "submissions could read py2048's solutions here: install bubblewrap (apt install "
        "bubblewrap) and let it make namespaces, or grade as root on Linux with Landlock, or grade "
        "all the same with --unprotected"
    )


DISPLAY_SIZE = "1280x1024x24"
DISPLAY_START = 20.0  # seconds that Xvfb may take on a busy machine
FAMILY_ANY = 0xFFFF
ON_SCREEN = os.name == "posix" and os.uname().sysname == "Darwin"  # Tk there knows no X


def check_display() -> None:
    """Raise `CourseError` if windows cannot be graded on this machine."""
    if not ON_SCREEN and not shutil.which("Xvfb"):
        raise CourseError(
            "programs with windows are graded on a virtual display, and there is no Xvfb: "
            "install it (apt install xvfb)"
        )


def key_file(key: bytes) -> bytes:
    """The contents of an X authority file that gives `key` for every display."""
    parts = [b"", b"", b"MIT-MAGIC-COOKIE-1", key]
    return FAMILY_ANY.to_bytes(2, "big") + b"".join(
        len(part).to_bytes(2, "big") + part for part in parts
    )


class Display:
    """A display that `user` may open; ``name`` is the value for ``DISPLAY``.

    Attributes:
        authority: the file with the key.
        sockets: the folder to mount as ``/tmp/.X11-unix`` where the sandbox has its own root.
    """

    def __init__(self, protection: Protection, user: int | None, server_user: int | None) -> None:
        check_display()
        self._folder = Path(tempfile.mkdtemp(prefix="py2048-display-"))
        self._folder.chmod(0o711)
        self.sockets = self._folder / "sockets"
        self.sockets.mkdir()
        self.sockets.chmod(0o1777)
        key = key_file(secrets.token_bytes(16))
        self.authority = self._private("authority", key, user)
        own_root = protection.own_root
        kept = self._private("server", key, server_user)
        reading, writing = os.pipe()
        words = ["Xvfb", "-displayfd", str(writing), "-screen", "0", DISPLAY_SIZE, "-noreset"]
        words += ["-nolisten", "tcp", "-nolisten", "local"]
        words += ["-auth", DISPLAY_KEY if own_root else str(kept)]
        self._server = subprocess.Popen(
            [*display_command(protection, self.sockets, kept, server_user), *words],
            pass_fds=[writing],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(writing)
        number = _line(reading)
        self.name = f":{number}"
        self._left = [] if own_root else [f"/tmp/.X11-unix/X{number}", f"/tmp/.X{number}-lock"]
        if not number:
            self.close()
            raise CourseError("no virtual display could be started: Xvfb ended")

    def _private(self, name: str, data: bytes, user: int | None) -> Path:
        """A file that only `user` can read."""
        path = self._folder / name
        path.touch(0o600)
        path.write_bytes(data)
        path.chmod(0o400)
        if user is not None:
            os.chown(path, user, user)
        return path

    @property
    def alive(self) -> bool:
        """Whether it still runs: a submission may have broken it."""
        return self._server.poll() is None

    def close(self) -> None:
        """End it and remove its files."""
        if self.alive:
            os.killpg(self._server.pid, signal.SIGKILL)
        self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        for path in self._left:
            Path(path).unlink(missing_ok=True)


def _line(descriptor: int) -> str:
    """The line that a server writes when it is ready; nothing if it ends or takes too long."""
    with os.fdopen(descriptor, "rb") as answer:
        ready = select.select([answer], [], [], DISPLAY_START)[0]
        return answer.readline().decode().strip() if ready else ""


class _Killable(Protocol):
    def kill(self) -> None: ...


@dataclass(frozen=True)
class SandboxConfig:
    """How processes are started, and with which protection.

    `seconds` is the time that one submission may take in all. `trusted` lets the code import
    py2048; it is for our own reference solutions only. `live` are the running submissions, which
    `abort` stops.
    """

    protection: Protection
    trusted: bool = False
    seconds: float = SUBMISSION_SECONDS
    live: set[_Killable] = field(default_factory=set, compare=False)
    aborted: threading.Event = field(default_factory=threading.Event, compare=False)

    @classmethod
    def default(cls) -> SandboxConfig:
        """The strongest protection that works here."""
        return cls(choose_protection())

    def abort(self) -> None:
        """Stop everything that is running: the run is finished or was interrupted."""
        self.aborted.set()
        for running in list(self.live):
            running.kill()
