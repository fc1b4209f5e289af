"""First code of a submission's process: give up rights, set the limits, then serve the grader.

Run by path: ``python -I -S boot.py REQUESTS REPLIES`` with two inherited file descriptors.
The first request is the configuration; see `py2048.courses._kit.process`.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
COPIED = Path("/py2048/submission")


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


def read_request(descriptor: int, loads: Any = marshal.loads) -> dict[str, Any]:
    """Read one request: four bytes of length, then marshalled data from the trusted side."""
    size = int.from_bytes(read_exactly(descriptor, 4), "big")
    request: dict[str, Any] = loads(read_exactly(descriptor, size))
    return request


def move_in(scratch: str, user: int | None) -> None:
    """Go to the scratch folder; fill it from the read-only copy where there is one."""
    if COPIED.is_dir() and not os.listdir(scratch):  # noqa: PTH208 - no Path needed twice
        shutil.copytree(COPIED, scratch, dirs_exist_ok=True)
        if user is not None:
            for path in [Path(scratch), *Path(scratch).rglob("*")]:
                os.chown(path, user, user)
    os.chdir(scratch)


def drop_rights(user: int | None) -> None:
    """Become `user` for good, so that the limit on processes counts and root's rights end."""
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def set_limits(limits: dict[str, int]) -> list[str]:
    """Set each limit, soft and hard; return the names of those that hold here."""
    try:
        import resource
    except ImportError:
        return []
    held = []
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        try:
            hard = resource.getrlimit(kind)[1]
            if hard != resource.RLIM_INFINITY:
                value = min(value, hard)
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):
            continue
        held.append(name)
    return held


def package_here() -> Any:
    """Load this folder as the package ``_grader``, wherever it lies."""
    name = "_grader"
    spec = importlib.util.spec_from_file_location(
        name, HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return importlib.import_module("_grader.host")


def main(requests: int, replies: int) -> None:
    """Serve the grader until it hangs up."""
    config = read_request(requests)
    move_in(config["scratch"], config["user"])
    drop_rights(config["user"])
    held = set_limits(config["limits"])
    sys.path[:] = [*config["support"], config["scratch"], *sys.path, *config["library_paths"]]
    sys.dont_write_bytecode = True
    host = package_here()
    host.Host(requests, replies, config, held).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
