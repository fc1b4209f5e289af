"""Programs that tests start and look at from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def python(
    *arguments: object, cwd: Path | None = None, stdin: str = "", check: bool = False, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python of its own to its end, with `more` variables in its environment."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, input=stdin, check=check, env=os.environ | more, capture_output=True,
        text=True, timeout=900,
    )  # fmt: skip


def xdotool(*words: str) -> str:
    """Do something with keys, mouse or windows; return what it prints, nothing if it fails."""
    done = subprocess.run(["xdotool", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def until(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    """Wait for something that another process brings about, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found
