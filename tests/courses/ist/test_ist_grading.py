"""The parts of ist's grading: the right types that stand in, and what the student receives."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from py2048.courses import get_course
from py2048.courses.ist import adt


def test_examples_of_the_starter(tmp_path: Path) -> None:
    """With the reference in place of the skeleton, the starter's examples all come out."""
    starter = get_course("ist").starter
    for name in ("tests.py", "examples.txt"):
        shutil.copy(starter / name, tmp_path)
    shutil.copy(str(adt.__file__), tmp_path / "project.py")
    done = subprocess.run(
        [sys.executable, "tests.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "27 of 27 examples came out as expected.\n"


def test_skeleton_is_ascii_and_lacks_nothing() -> None:
    """The skeleton defines every function of the reference that the document names."""
    source = (get_course("ist").starter / "project.py").read_bytes()
    assert source.isascii()
    skeleton: dict[str, Any] = {}
    exec(source, skeleton)
    named = [
        name
        for name, value in vars(adt).items()
        if callable(value) and getattr(value, "__module__", "") == adt.__name__
    ]
    assert {name for name in named if not name.startswith("_")} <= set(skeleton)
