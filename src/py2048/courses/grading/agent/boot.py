"""Entry point of a submission's process: drops privileges, sets limits, then serves requests.

The script is run by path: ``python -s -S -P boot.py REQUESTS REPLIES``, with two inherited file
descriptors. The first request is the configuration (see `py2048.courses.grading.sandbox.Process`).

Landlock, available since Linux 5.13, restricts a process's file access and needs no privileges
(https://docs.kernel.org/userspace-api/landlock.html). Newer kernels can also block TCP (Landlock
version 4) and signals to other processes (version 6).
"""

from __future__ import annotations

import marshal
import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # Importing typing takes longer than the rest of this module.
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
SUBMISSION = "/py2048/submission"

# Numbers of Landlock's system calls, which are the same on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
NO_NEW_PRIVILEGES = 38  # Option of prctl.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
READ = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # Access rights for binding and connecting TCP sockets.
SCOPES = 0b11  # Scopes that restrict abstract sockets and signals.


def read_request(descriptor: int, loads: Callable[[bytes], Any] = marshal.loads) -> dict[str, Any]:
    """Read a request: a length of four bytes, then data marshalled by the trusted grader.

    Raises:
        EOFError: If the grader has closed the pipe.
    """
    size = int.from_bytes(_read(descriptor, 4), "big")
    request: dict[str, Any] = loads(_read(descriptor, size))
    return request


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            raise EOFError("the grader has closed the pipe")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def copy_tree(source: str, target: str, user: int | None) -> None:
    """Copy the contents of `source` into the folder `target`, and make `user` the owner."""
    for entry in os.scandir(source):
        place = f"{target}/{entry.name}"
        if entry.is_dir():
            os.mkdir(place)
            copy_tree(entry.path, place, user)
        else:
            with open(entry.path, "rb") as original, open(place, "wb") as copy:
                copy.write(original.read())
        if user is not None:
            os.chown(place, user, user)
    if user is not None:
        os.chown(target, user, user)


def drop_privileges(user: int | None, limits: dict[str, int]) -> None:
    """Switch to `user` permanently, and set resource limits that the process cannot raise again.

    The process limit counts the processes of a user, so the limits are set after the switch. Limits
    that the system does not support are skipped.
    """
    import resource

    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    for name, value in limits.items():
        try:
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (lower, lower))
        except (AttributeError, OSError, ValueError):
            continue


def landlock_version() -> int:
    """Return the kernel's Landlock version, or 0 without Landlock."""
    try:
        return max(0, _system_call(CREATE_RULESET, None, 0, 1))
    except (ImportError, OSError, AttributeError):
        return 0


def _system_call(number: int, *words: object) -> int:
    import ctypes

    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *words))


def restrict(writable: Iterable[str], readable: Iterable[str], listed: Iterable[str]) -> None:
    """Permanently restrict the file access of this process and its children.

    Args:
        writable: Files and folders (including their contents) that can be read and written.
        readable: Files and folders (including their contents) that can be read.
        listed: Folders whose file names can be listed.

    Missing paths are skipped.

    Raises:
        OSError: If Landlock does not work.
    """
    import ctypes

    version = landlock_version()
    everything = (1 << 13) - 1
    everything |= (REFER if version > 1 else 0) | (TRUNCATE if version > 2 else 0)
    everything |= IOCTL if version > 4 else 0
    parts = [everything, TCP if version > 3 else 0, SCOPES if version > 5 else 0]
    size = 24 if version > 5 else 16 if version > 3 else 8
    attributes = b"".join(part.to_bytes(8, "little") for part in parts)[:size]
    rules = _system_call(CREATE_RULESET, attributes, size, 0)
    succeeded = version > 0 and rules >= 0
    for paths, rights in ((writable, everything), (readable, READ), (listed, READ_DIR)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            allowed = rights if os.path.isdir(path) else rights & FOR_FILES
            rule = allowed.to_bytes(8, "little") + place.to_bytes(4, "little")
            succeeded = _system_call(ADD_RULE, rules, 1, rule, 0) == 0 and succeeded
            os.close(place)
    succeeded = succeeded and ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    if not succeeded or _system_call(RESTRICT_SELF, rules, 0) != 0:
        raise OSError("Landlock does not work on this system")
    os.close(rules)


def main(requests: int, replies: int) -> None:
    """Drop privileges, then serve requests until the grader closes the pipe.

    All modules that the agent needs are imported before the submission's folder is on the path,
    because the folder may contain files such as ``random.py`` or ``enum.py``.
    """
    config = read_request(requests)
    scratch = config["scratch"]
    package = ModuleType("_grader")
    package.__path__ = [HERE]
    sys.modules["_grader"] = package
    try:
        host = __import__("_grader.host", fromlist=["host"]).Agent(requests, replies, config)
        if os.path.isdir(SUBMISSION) and not os.listdir(scratch):
            copy_tree(SUBMISSION, scratch, config["user"])
        os.chdir(scratch)
        drop_privileges(config["user"], config["limits"])
        if config["landlock"] is not None:
            restrict(**config["landlock"])
        host.take_over()
        sys.path[:] = [*config["support"], *sys.path, *config["library_paths"]]
        sys.dont_write_bytecode = True
        host.forget_shadowed_modules()
        sys.path.insert(len(config["support"]), scratch)
    except Exception as error:  # noqa: BLE001 - reported to the grader
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
        os._exit(1)
    host.serve()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
