"""First code of a submission's process: give up rights, set the limits, then serve the grader.

Run by path: ``python -s -S -P boot.py REQUESTS REPLIES`` with two inherited file descriptors.
The first request is the configuration; see `py2048.courses.grading.process`.
"""

from __future__ import annotations

import marshal
import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # importing the real one costs more time than all the rest here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
COPIED = "/py2048/submission"


def read_exactly(descriptor: int, size: int) -> bytes:
    """Read `size` bytes, or raise EOFError when the grader has gone."""
    parts = []
    while size:
        part = os.read(descriptor, size)
        if not part:
            raise EOFError("the grader has gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_request(descriptor: int, loads: Callable[[bytes], Any] = marshal.loads) -> dict[str, Any]:
    """Read one request: four bytes of length, then marshalled data from the trusted side."""
    size = int.from_bytes(read_exactly(descriptor, 4), "big")
    request: dict[str, Any] = loads(read_exactly(descriptor, size))
    return request


def move_in(scratch: str, user: int | None) -> None:
    """Go to the scratch folder; fill it from the read-only copy where there is one."""
    if os.path.isdir(COPIED) and not os.listdir(scratch):
        copy_tree(COPIED, scratch, user)
    os.chdir(scratch)


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


def drop_rights(user: int | None) -> None:
    """Become `user` for good, so that the limit on processes counts and root's rights end."""
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def set_limits(limits: dict[str, int]) -> None:
    """Set each limit that this system knows, soft and hard."""
    import resource

    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        try:
            hard = resource.getrlimit(kind)[1]
            lower = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (lower, lower))
        except (OSError, ValueError):
            continue


def package_here() -> ModuleType:
    """Make this folder the package ``_grader``, wherever it lies; return its module `host`."""
    package = ModuleType("_grader")
    package.__path__ = [HERE]
    sys.modules["_grader"] = package
    return __import__("_grader.host", fromlist=["host"])


def main(requests: int, replies: int) -> None:
    """Serve the grader until it hangs up.

    All that the agent will ever import is imported before the submission's folder can be: the
    files there may be called ``random.py`` or ``enum.py``.
    """
    config = read_request(requests)
    try:
        host = prepared(requests, replies, config)
    except Exception as error:  # noqa: BLE001 - the grader reads the reason in any case
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
        os._exit(1)
    host.serve()


def prepared(requests: int, replies: int, config: dict[str, Any]) -> Any:
    """The server, in a process that has no rights any more."""
    host = package_here().Agent(requests, replies, config)
    move_in(config["scratch"], config["user"])
    drop_rights(config["user"])
    set_limits(config["limits"])
    if config["landlock"] is not None:
        from _grader.landlock import restrict  # type: ignore[import-not-found]

        if not restrict(**config["landlock"]):
            raise OSError("Landlock does not work here")
    host.take_over()
    sys.path[:] = [*config["support"], *sys.path, *config["library_paths"]]
    sys.dont_write_bytecode = True
    host.make_way()
    sys.path.insert(len(config["support"]), config["scratch"])
    return host


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
