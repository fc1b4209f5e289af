"""The kernels of the environments do the same in every form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def exercise(**environment: str) -> str:
    """Run the kernels in a process of their own; return what came out."""
    source = Path(__file__).parents[2] / "src"
    return subprocess.run(
        [sys.executable, str(Path(__file__).parent / "exercise.py")],
        env=os.environ | {"PYTHONPATH": str(source)} | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    ).stdout


@pytest.mark.timeout(600)
def test_kernels_are_the_same_compiled_and_plain() -> None:
    """No kernel of the environments relies on being compiled."""
    compiled = exercise()
    assert len(compiled) > 10_000
    assert exercise(PY2048_JIT="0") == compiled


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_kernels_stay_in_their_arrays() -> None:
    """With every index checked they do the same: none reads or writes outside."""
    assert exercise(NUMBA_BOUNDSCHECK="1") == exercise()
