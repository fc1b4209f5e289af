"""The compiler reports progress, and callers may refuse to wait."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tests.processes import python

from py2048.engine import jit

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))


def test_progress_is_reported_and_waiting_is_optional(tmp_path):
    """Inside `ready_only` a missing kernel raises; elsewhere the reported share only grows.

    Inlined kernels are not counted as steps, and after an error nothing is being compiled.
    """
    program = tmp_path / "program_kernels.py"
    program.write_text(PROGRAMS["progress"])
    source = Path(jit.__file__).parents[3]
    settings = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(source)}
    done = python(program, **settings)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "not ready None 0 0",
        "20 True True True True",
        "True {2} None",
        "45",
        "TypingError None",
    ]
