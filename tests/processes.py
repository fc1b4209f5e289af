"""Run programs and wait for their effects."""

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
    """Run a Python script in a new process, with `more` environment variables."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, input=stdin, check=check, env=os.environ | more, capture_output=True,
        text=True, timeout=900,
    )  # fmt: skip


def xdotool(*words: str) -> str:
    """Run xdotool; return its output, or an empty string if it fails."""
    done = subprocess.run(["xdotool", *words], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def until(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    """Poll for a result that another process produces, and return it."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)
    return found
