"""What stands between a submission and the machine, from the strongest that works here down.

`strongest()` tries each way once by running a trivial command in it. A protection under which a
submission could read py2048's own solutions is refused unless the teacher insists; what else does
not hold is said in words, so that a teacher knows on each run.
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

from py2048.courses._kit.agent import landlock
from py2048.errors import CourseError

AGENT = Path(__file__).resolve().parent / "agent"
NOBODY = 65534
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/gnu/store")
SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
FONTS = ("/etc/fonts", "/var/cache/fontconfig")
AUTHORITY, DISPLAY_KEY = "/py2048/authority", "/py2048/key"
DISPLAY_KIB = 1 << 20  # the address space of a virtual display
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

    For windows, `sockets` is the folder with the virtual display's socket and `authority` the
    file with its key.
    """

    folder: Path
    given: Path | None
    scratch: Path
    limits: Limits
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
    """One way to run a submission: the command around it, and what that keeps off.

    With `own_root` the submission sees folders under other names. With `landlock` its process
    gives up most files by itself, where the kernel can do that.
    """

    name: str
    holds: tuple[str, ...]
    lacks: tuple[str, ...]
    wrap: Callable[[Setup], list[str]] = field(repr=False)
    own_root: bool = False
    landlock: bool = False

    @property
    def hides_files(self) -> bool:
        """Whether a submission can read its own files and the system's, and no others."""
        return self.own_root or (self.landlock and landlock.interface() > 0)

    @property
    def hides_solutions(self) -> bool:
        """Whether py2048's solutions are out of a submission's reach."""
        return self.hides_files or (submissions_user() is not None and not _readable_by_others())

    @property
    def missing(self) -> tuple[str, ...]:
        """What this does not keep off, on this machine."""
        found = [] if self.hides_solutions else ["the solutions (a submission can read them)"]
        files = [] if self.hides_files else ["files of this machine"]
        return (*found, *files, *self.lacks)

    def __str__(self) -> str:
        hidden = ["other files hidden or read-only"] if self.hides_files else []
        held = ", ".join([*self.holds, *hidden])
        if not self.missing:
            return f"{self.name}: {held}"
        return f"{self.name}. NOT protected: {', '.join(self.missing)}. Protected: {held}"


def package_root() -> Path:
    """The folder that holds the package py2048."""
    return Path(__file__).resolve().parents[3]


@functools.cache
def submissions_user() -> int | None:
    """The first of 4096 user numbers to run submissions as, when this is root; else `None`."""
    if os.geteuid():
        return None
    try:
        lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    except OSError:
        return NOBODY
    inside, _, count = map(int, lines[0].split())
    return 1_000_000 if inside == 0 and count > 2_000_000 else NOBODY


@functools.cache
def _readable_by_others() -> bool:
    """Whether any other user can read a solution."""
    return any(
        copy.stat().st_mode & 0o004 and all(above.stat().st_mode & 0o001 for above in copy.parents)
        for package in copies_of_py2048()
        for copy in (package / "courses").glob("*/__init__.py")
    )


def copies_of_py2048(libraries: Sequence[str] = ()) -> list[Path]:
    """Every folder of the package py2048 where a submission may come upon its solutions."""
    places = {package_root(), *map(Path, libraries)}
    for prefix in (sys.prefix, sys.base_prefix, sys.base_exec_prefix, "/usr", "/usr/local"):
        places.update(Path(prefix).glob("lib/python3*/*-packages"))
    found = {(place / "py2048").resolve() for place in places if (place / "py2048").is_dir()}
    return sorted(found)


def _places(setup: Setup) -> list[str]:
    """What of this machine a submission can read."""
    prefixes = {sys.base_prefix, sys.base_exec_prefix}
    return [*SYSTEM, *SETTINGS, *FONTS, *sorted(prefixes), *setup.library_paths]


def landlock_rules(setup: Setup, agent: Path) -> dict[str, list[str]]:
    """What a process restricted by Landlock is left: see `agent/landlock.py`."""
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
    """`places` without what is `hidden` in them, and the folders that were opened for that."""
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


def _binds(setup: Setup) -> list[str]:
    """Arguments for bubblewrap: what can be read."""
    words: list[str] = []
    for place in SYSTEM:
        if Path(place).is_symlink():
            words += ["--symlink", str(Path(place).readlink()), place]
        elif Path(place).exists():
            words += ["--ro-bind", place, place]
    for place in dict.fromkeys(_places(setup)):
        if place not in SYSTEM and Path(place).exists() and not place.startswith("/usr/"):
            words += [*_way_to(Path(place)), "--ro-bind", place, place]
    for package in [] if setup.trusted else copies_of_py2048(setup.library_paths):
        bound = [Path(place) for place in _places(setup)]
        if any(place in package.parents for place in bound):
            words += ["--tmpfs", str(package)]
    return words


def _way_to(place: Path) -> list[str]:
    """Arguments for bubblewrap that make the folders above `place` passable for everybody."""
    above = [str(folder) for folder in reversed(place.parents) if folder != Path("/")]
    return [word for folder in above for word in ("--perms", "0755", "--dir", folder)]


def _namespaces() -> list[str]:
    """The beginning of bubblewrap's command line: nothing shared but the user's number."""
    words = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    words += ["--unshare-user"] if os.geteuid() else []
    words += ["--die-with-parent", "--dev", "/dev", "--proc", "/proc"]
    return [*words, "--perms", "1777", "--tmpfs", "/tmp"]


def _bubblewrap(setup: Setup) -> list[str]:
    """The command line of bubblewrap around `setup`."""
    words = [*_namespaces(), *_binds(setup)]
    words += ["--perms", "0755", "--dir", "/py2048"]
    words += ["--ro-bind", str(AGENT), "/py2048/agent"]
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
    """The command around a virtual display, in a sandbox of its own where `protection` is one."""
    words = ["sh", "-c", f'ulimit -v {DISPLAY_KIB}; exec "$@"', "sh"]
    if user is not None:
        numbers = ["--reuid", str(user), "--regid", str(user), "--clear-groups"]
        words = ["setpriv", *numbers, *words]
    if protection.own_root:
        binds = [word for place in SYSTEM for word in ("--ro-bind-try", place, place)]
        binds += ["--bind", str(sockets), "/tmp/.X11-unix", "--perms", "0755", "--dir", "/py2048"]
        words = [*_namespaces(), *binds, "--ro-bind", str(key), DISPLAY_KEY, "--", *words]
    return words


def _unshare(setup: Setup) -> list[str]:
    """The command line of unshare."""
    del setup
    mapped = ["--user", "--map-current-user"] if os.geteuid() else []
    return ["unshare", *mapped, "--net", "--ipc", "--pid", "--fork", "--kill-child", "--"]


LIMITED = "limits on time, memory, output, file size and processes"
BUBBLEWRAP = Protection(
    "bubblewrap",
    ("no network", "its own processes only", "a scratch folder in memory", LIMITED),
    (),
    _bubblewrap,
    own_root=True,
)
UNSHARE = Protection(
    "unshare",
    ("no network", "its own processes only", LIMITED),
    (),
    _unshare,
    landlock=True,
)
LANDLOCK = Protection(
    "landlock",
    (LIMITED,),
    ("parts of the network", "the sight of other processes"),
    lambda setup: [],
    landlock=True,
)
PLAIN = Protection(
    "limits only",
    (LIMITED,),
    ("the network", "other processes of the same user"),
    lambda setup: [],
)
ALL = (BUBBLEWRAP, UNSHARE, LANDLOCK, PLAIN)


@functools.cache
def python(protection: Protection) -> str | None:
    """The interpreter that runs submissions under `protection`; `None` if that does not work.

    It is the one below any virtual environment. Where that cannot be read by the user that
    submissions run as, the system's Python of the same version takes its place.
    """
    setup = Setup(AGENT, None, Path("/"), Limits())
    words = protection.wrap(setup)
    if words and not shutil.which(words[0]):
        return None
    if protection.landlock and not words and not landlock.interface():
        return None
    own = str(Path(getattr(sys, "_base_executable", "") or sys.executable).resolve())
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    others = [] if protection.own_root else [f"/usr/local/bin/{name}", f"/usr/bin/{name}"]
    return next((path for path in (own, *others) if _starts([*words, path])), None)


def _starts(command: list[str]) -> bool:
    """Whether Python can be started with `command` and become the user of submissions."""
    user = submissions_user()
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
    return python(protection) is not None


def strongest() -> Protection:
    """The strongest protection that works on this machine.

    Raises:
        CourseError: if submissions could read py2048's solutions under all that work.
    """
    return chosen()


def chosen(name: str | None = None, *, unprotected: bool = False) -> Protection:
    """The protection called `name`, or the strongest that works here.

    Raises:
        CourseError: if it does not work, or does not hide the solutions and is not wanted
            `unprotected`.
    """
    if os.name != "posix":
        raise CourseError("grading runs submissions in limited processes: use Linux or macOS")
    wanted = ALL if name is None else (protection_named(name),)
    found = next((protection for protection in wanted if works(protection)), None)
    if found is None:
        which = f"the protection {name!r} does not work" if name else "no protection works"
        raise CourseError(f"{which} here: {BUBBLEWRAP_FIX}")
    if not found.hides_solutions and not unprotected:
        raise CourseError(
            f"with the protection {found.name!r} a submission can read py2048's solutions here: "
            f"{BUBBLEWRAP_FIX}, or as root let no other user read {package_root() / 'py2048'} "
            "(chmod -R o-rwx), or grade all the same with --unprotected"
        )
    return found


BUBBLEWRAP_FIX = "install bubblewrap (apt install bubblewrap) and let it make namespaces"


def protection_named(name: str) -> Protection:
    """A protection by its name, for those who want a certain one."""
    for protection in ALL:
        if protection.name == name:
            return protection
    names = ", ".join(protection.name for protection in ALL)
    raise CourseError(f"no protection is called {name!r}: choose one of {names}")
