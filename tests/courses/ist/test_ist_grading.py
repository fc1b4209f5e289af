"""The parts of ist's grading: the right types that stand in, and what the student receives."""

from __future__ import annotations

from typing import Any

from py2048.courses import get_course
from py2048.courses.ist import adt


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
