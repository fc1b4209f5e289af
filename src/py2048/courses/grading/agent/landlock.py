"""Hide the files of this machine from this process by Landlock, which needs no rights.

Linux since 5.13 (https://docs.kernel.org/userspace-api/landlock.html). A newer kernel also keeps
off TCP (interface 4) and signals to other processes (interface 6).
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
NO_NEW_PRIVILEGES = 38  # of prctl

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REFER, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
READ = EXECUTE | READ_FILE | READ_DIR
TCP = 0b11  # to listen and to connect
OUTSIDE = 0b11  # abstract sockets and signals


def interface() -> int:
    """Return the number of the kernel's Landlock interface; 0 where there is none."""
    try:
        return max(0, _call(CREATE_RULESET, None, 0, 1))
    except (ImportError, OSError, AttributeError):
        return 0


def _call(number: int, *words: object) -> int:
    """A system call."""
    import ctypes

    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *words))


def restrict(writable: Iterable[str], readable: Iterable[str], listed: Iterable[str]) -> bool:
    """Leave this process and its children these files only, for good; say whether that holds.

    `writable` and `readable` are folders, with all that is in them, or files; of the folders
    `listed` the names of their files can be read, and no more. What does not exist is passed over.
    """
    import ctypes

    version = interface()
    if not version:
        return False
    everything = (1 << 13) - 1
    everything |= (REFER if version > 1 else 0) | (TRUNCATE if version > 2 else 0)
    everything |= IOCTL if version > 4 else 0
    parts = [everything, TCP if version > 3 else 0, OUTSIDE if version > 5 else 0]
    size = 24 if version > 5 else 16 if version > 3 else 8
    attributes = b"".join(part.to_bytes(8, "little") for part in parts)[:size]
    rules = _call(CREATE_RULESET, attributes, size, 0)
    if rules < 0:
        return False
    rights = [(writable, everything), (readable, READ), (listed, READ_DIR)]
    held = all(_allow(rules, path, right) for paths, right in rights for path in paths)
    held = held and ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
    held = held and _call(RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return held


def _allow(rules: int, path: str, rights: int) -> bool:
    """Add one path to the rules."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return True
    if not os.path.isdir(path):
        rights &= FOR_FILES
    rule = rights.to_bytes(8, "little") + place.to_bytes(4, "little")
    added = _call(ADD_RULE, rules, 1, rule, 0) == 0
    os.close(place)
    return added
