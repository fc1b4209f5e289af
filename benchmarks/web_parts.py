"""Where a server's processor time goes: its threads by the kernel's count, the code by py-spy.

py-spy (``pip install py-spy``) looks at the event loop's stack many times a second. A look counts
for the part of the innermost function that belongs to one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

PARTS = {
    "rules: slide, spawn, score": r"py2048/(board|direction|rng|game|rules)\b"
    r"|py2048/server/(play/)?fairness\b",
    "session and numbered game": r"py2048/(session|server/(play/)?games)\b",
    "messages: events, sentences, JSON": r"py2048/(server/(play/)?(messages|schema)|ui)\b",
    "rooms, limits, metrics": r"py2048/server/(play/rooms|http/(limits|monitoring)|rooms)"
    r"|py2048/server/(limits|metrics)|prometheus_client",
    "WebSocket": r"py2048/server/|uvicorn|websockets|starlette",
    "store": r"py2048/storage|sqlalchemy|psycopg",
    "event loop": r"asyncio|uvloop|<module>",
}
WRITER = "writer and other threads"
_EVENT_LOOP = "asyncio/runners.py"
_LOOKS_PER_SECOND = "250"


def processor_seconds(pid: int) -> dict[str, float]:
    """Return the seconds of processor time that each thread of a process has used."""
    ticks = os.sysconf("SC_CLK_TCK")
    seconds = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has just ended
            continue
        seconds[task.name] = (int(fields[11]) + int(fields[12])) / ticks
    return seconds


class Profile:
    """Looks at a process for some seconds.

    Args:
        pid: the process.
        seconds: how long.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        program = shutil.which("py-spy")
        if program is None:
            sys.exit("--profile needs py-spy: pip install py-spy")
        self._folder = tempfile.TemporaryDirectory(prefix="py2048-profile-")
        self._stacks = Path(self._folder.name) / "stacks"
        self._process = subprocess.Popen(
            [
                *(program, "record", "--gil", "--format", "raw", "--rate", _LOOKS_PER_SECOND),
                *("--duration", str(round(seconds)), "--pid", str(pid)),
                *("--output", str(self._stacks)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def shares(self) -> dict[str, float]:
        """Return the share of each part in the event loop's time, when py-spy has ended."""
        self._process.wait()
        looks: Counter[str] = Counter()
        for line in self._stacks.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            if _EVENT_LOOP in stack:
                looks[part_of(stack)] += int(count)
        self._folder.cleanup()
        return {part: looks[part] / max(looks.total(), 1) for part in PARTS}


def part_of(stack: str) -> str:
    """Return the part of the innermost function of a stack that belongs to one."""
    for function in reversed(stack.split(";")):
        for part, pattern in PARTS.items():
            if re.search(pattern, function):
                return part
    return "event loop"
