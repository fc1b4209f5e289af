"""What stands between a submission and the machine, from the strongest that works here down.

`strongest()` tries each way once by running a trivial command in it, and says in words what
holds and what does not, so that a teacher knows on each run.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from py2048.errors import CourseError

INSIDE = Path(__file__).resolve().parent / "inside"
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
FONTS = ("/etc/fonts", "/var/cache/fontconfig")
AUTHORITY = "/py2048/authority"
SCRATCH = "/py2048/scratch"  # as a submission in bubblewrap sees it


@dataclass(frozen=True)
class Limits:
    """What one process of a submission may use."""

    cpu_seconds: int = 60
    memory_mib: int = 512
    output_bytes: int = 1_000_000
    file_mib: int = 8
    scratch_mib: int = 64
    processes: int = 32
    open_files: int = 64

    def by_name(self, others: int = 0) -> dict[str, int]:
        """The limits under the names of ``resource.RLIMIT_*``; `others` processes run already."""
        return {
            "CPU": self.cpu_seconds,
            "AS": self.memory_mib << 20,
            "FSIZE": self.file_mib << 20,
            "NPROC": self.processes + others,
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
class Setup:
    """The folders of one process: the prepared submission, given files, the scratch folder.

    `authority` is the X display's key, for a real window.
    """

    folder: Path
    given: Path | None
    scratch: Path
    limits: Limits
    libraries: bool = False
    trusted: bool = False
    real_window: bool = False
    authority: Path | None = None

    @property
    def library_paths(self) -> list[str]:
        """Folders of importable packages beside the standard library."""
        found = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        paths = list(dict.fromkeys(found)) if self.libraries or self.trusted else []
        return [*paths, str(package_root())] if self.trusted else paths


@dataclass(frozen=True)
class Protection:
    """One way to run a submission: the command around it, and what that keeps off."""

    name: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...]
    wrap: Callable[[Setup], list[str]] = field(repr=False)
    own_root: bool = False  # whether the submission sees folders under other names

    @property
    def keeps_root(self) -> bool:
        """Whether submissions run as root, because no other user can reach the interpreter."""
        return os.geteuid() == 0 and not self.own_root and not _open_to_all()

    @property
    def missing(self) -> tuple[str, ...]:
        """What this does not keep off, on this machine."""
        extra = ("submissions run as root", "so the number of processes is not limited")
        return (*self.lacks, *extra) if self.keeps_root else self.lacks

    def __str__(self) -> str:
        words = f"{self.name}: {', '.join(self.holds)}"
        return f"{words}. NOT protected: {', '.join(self.missing)}" if self.missing else words


def package_root() -> Path:
    """The folder that holds the package py2048."""
    return Path(__file__).resolve().parents[3]


def python() -> str:
    """The interpreter for submissions: the one below any virtual environment."""
    return str(Path(getattr(sys, "_base_executable", "") or sys.executable).resolve())


@functools.cache
def _open_to_all() -> bool:
    """Whether any user can read the interpreter, its library and the code in `INSIDE`."""
    places = [Path(python()), Path(os.__file__), INSIDE / "boot.py"]
    folders = {folder for place in places for folder in place.resolve().parents}
    readable = all(place.stat().st_mode & 0o004 for place in places)
    return readable and all(folder.stat().st_mode & 0o001 for folder in folders)


def _binds(setup: Setup) -> list[str]:
    """Arguments for bubblewrap: what can be read."""
    words: list[str] = []
    for place in SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).exists():
            words += ["--ro-bind", place, place]
    places = [*SETTINGS, *FONTS, sys.base_prefix, sys.base_exec_prefix, *setup.library_paths]
    for place in dict.fromkeys(places):
        if Path(place).exists() and not place.startswith("/usr/"):
            words += [*_way_to(Path(place)), "--ro-bind", place, place]
    for place in setup.library_paths if not setup.trusted else ():
        if (Path(place) / "py2048").is_dir():
            words += ["--tmpfs", f"{place}/py2048"]
    return words


def _way_to(place: Path) -> list[str]:
    """Arguments for bubblewrap that make the folders above `place` passable for everybody."""
    above = [str(folder) for folder in reversed(place.parents) if folder != Path("/")]
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]


def _bubblewrap(setup: Setup) -> list[str]:
    """The command line of bubblewrap around `setup`."""
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-user"] if os.geteuid() else []
    words += ["--die-with-parent", "--dev", "/dev", "--proc", "/proc"]
    words += ["--perms", "1777", "--tmpfs", "/tmp", *_binds(setup)]
    words += ["--perms", "0755", "--dir", "/py2048"]
    words += ["--ro-bind", str(INSIDE), "/py2048/grader"]
    words += ["--ro-bind", str(setup.folder), "/py2048/submission"]
    if setup.given:
        words += ["--ro-bind", str(setup.given), "/py2048/given"]
    if setup.real_window:
        words += _window_binds(setup)
    words += ["--size", str(setup.limits.scratch_mib << 20), "--tmpfs", SCRATCH]
    return [*words, "--chdir", SCRATCH, "--"]


def _window_binds(setup: Setup) -> list[str]:
    """Arguments for bubblewrap that let a submission open windows on this display."""
    words = ["--ro-bind-try", "/tmp/.X11-unix", "/tmp/.X11-unix"]
    if setup.authority is not None:
        words += ["--ro-bind", str(setup.authority), AUTHORITY]
    return words


def _unshare(setup: Setup) -> list[str]:
    """The command line of unshare."""
    del setup
    mapped = ["--user", "--map-current-user"] if os.geteuid() else []
    return ["unshare", *mapped, "--net", "--ipc", "--pid", "--fork", "--kill-child", "--"]


BUBBLEWRAP = Protection(
    "bubblewrap",
    (
        "no network",
        "other files hidden or read-only",
        "its own processes only",
        "a scratch folder in memory",
        "limits on time, memory, output, files and processes",
    ),
    (),
    _bubblewrap,
    own_root=True,
)
UNSHARE = Protection(
    "unshare",
    (
        "no network",
        "its own processes only",
        "limits on time, memory, output, file size and processes",
    ),
    ("files of this machine can be read", "and changed where the user may"),
    _unshare,
)
PLAIN = Protection(
    "limits only",
    ("limits on time, memory, output, file size and processes",),
    ("the network", "files of this machine", "other processes of the same user"),
    lambda setup: [],
)
ALL = (BUBBLEWRAP, UNSHARE, PLAIN)


def works(protection: Protection) -> bool:
    """Whether `protection` runs a trivial command here."""
    words = protection.wrap(Setup(INSIDE, None, Path("/"), Limits()))
    if not words or not shutil.which(words[0]):
        return not words
    try:
        done = subprocess.run(
            [*words, python(), "-I", "-S", "-c", "pass"],
            capture_output=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


@functools.cache
def strongest() -> Protection:
    """The strongest protection that works on this machine."""
    if os.name != "posix":
        raise CourseError("grading runs submissions in limited processes: use Linux or macOS")
    return next(protection for protection in ALL if works(protection))


def protection_named(name: str) -> Protection:
    """A protection by its name, for those who want a certain one."""
    known: Sequence[Protection] = ALL
    for protection in known:
        if protection.name == name:
            return protection
    names = ", ".join(protection.name for protection in known)
    raise CourseError(f"no protection is called {name!r}: choose one of {names}")
