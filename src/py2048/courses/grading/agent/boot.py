"""First code of a submission's process: give up rights, set the limits, then serve the grader.

Run by path: ``python -s -S -P boot.py REQUESTS REPLIES`` with two inherited file descriptors.
The first request is the configuration; see `py2048.courses.grading.sandbox.Process`.

Landlock hides the files of this machine from a process and needs no rights. It is there in Linux
since 5.13 (https://docs.kernel.org/userspace-api/landlock.html). A newer kernel also keeps off TCP
(interface 4) and signals to other processes (interface 6).
"""

from __future__ import annotations

import marshal
import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # importing the real one costs more time than all the rest here
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
COPIED = "/py2048/submission"

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
NO_NEW_PRIVILEGES = 38  # of prctl
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
READ = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # to listen and to connect
OUTSIDE = 0b11  # abstract sockets and signals


def read_request(descriptor: int, loads: Callable[[bytes], Any] = marshal.loads) -> dict[str, Any]:
    """Read one request: four bytes of length, then marshalled data from the trusted side.

    Raises:
        EOFError: when the grader has gone.
    """
    size = int.from_bytes(_read(descriptor, 4), "big")
    request: dict[str, Any] = loads(_read(descriptor, size))
    return request


def _read(descriptor: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            raise EOFError("the grader has gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def copy_tree(source: str, target: str, user: int | None) -> None:
    """Copy what is in `source` into the folder `target`, for `user`."""
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


def give_up_rights(user: int | None, limits: dict[str, int]) -> None:
    """Become `user` for good, so that the limit on processes counts; set `limits`, soft and hard.

    Those that this system does not know or change are passed over.
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


def landlock_interface() -> int:
    """Return the number of the kernel's Landlock interface; 0 where there is none."""
    try:
        return max(0, _system_call(CREATE_RULESET, None, 0, 1))
    except (ImportError, OSError, AttributeError):
        return 0


def _system_call(number: int, *words: object) -> int:
    import ctypes

    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *words))


def restrict(writable: Iterable[str], readable: Iterable[str], listed: Iterable[str]) -> None:
    """Leave this process and its children these files only, for good.

    `writable` and `readable` are folders, with all that is in them, or files; of the folders
    `listed` the names of their files can be read, and no more. What does not exist is passed over.

    Raises:
        OSError: if Landlock does not work here.
    """
    import ctypes

    version = landlock_interface()
    everything = (1 << 13) - 1
    everything |= (REFER if version > 1 else 0) | (TRUNCATE if version > 2 else 0)
    everything |= IOCTL if version > 4 else 0
    parts = [everything, TCP if version > 3 else 0, OUTSIDE if version > 5 else 0]
    size = 24 if version > 5 else 16 if version > 3 else 8
    attributes = b"".join(part.to_bytes(8, "little") for part in parts)[:size]
    rules = _system_call(CREATE_RULESET, attributes, size, 0)
    held = version > 0 and rules >= 0
    for paths, rights in ((writable, everything), (readable, READ), (listed, READ_DIR)):
        for path in paths:
            try:
                place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            allowed = rights if os.path.isdir(path) else rights & FOR_FILES
            rule = allowed.to_bytes(8, "little") + place.to_bytes(4, "little")
            held = _system_call(ADD_RULE, rules, 1, rule, 0) == 0 and held
            os.close(place)
    held = held and ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    if not held or _system_call(RESTRICT_SELF, rules, 0) != 0:
        raise OSError("Landlock does not work here")
    os.close(rules)


def main(requests: int, replies: int) -> None:
    """Serve the grader until it hangs up, in a process that has no rights any more.

    All that the agent will ever import is imported before the submission's folder can be: the
    files there may be called ``random.py`` or ``enum.py``.
    """
    config = read_request(requests)
    scratch = config["scratch"]
    package = ModuleType("_grader")  # this folder, wherever it lies
    package.__path__ = [HERE]
    sys.modules["_grader"] = package
    try:
        host = __import__("_grader.host", fromlist=["host"]).Agent(requests, replies, config)
        if os.path.isdir(COPIED) and not os.listdir(scratch):
            copy_tree(COPIED, scratch, config["user"])
        os.chdir(scratch)
        give_up_rights(config["user"], config["limits"])
        if config["landlock"] is not None:
            restrict(**config["landlock"])
        host.take_over()
        sys.path[:] = [*config["support"], *sys.path, *config["library_paths"]]
        sys.dont_write_bytecode = True
        host.make_way()
        sys.path.insert(len(config["support"]), scratch)
    except Exception as error:  # noqa: BLE001 - the grader reads the reason in any case
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
        os._exit(1)
    host.serve()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
