"""The machinery that the five courses share: starters, grading, reports.

A course author needs the names below; ``docs/how-to/write-a-graded-task.md`` shows them at work.
"""

from __future__ import annotations

from py2048.courses._kit.session import Outcome, Session
from py2048.courses._kit.tasks import Check, Example, Grading, Mismatch, Task, Trouble
from py2048.courses._kit.values import (
    Array,
    Contains,
    Lines,
    Loosely,
    OneOf,
    Opaque,
    Raised,
    Raises,
    Satisfies,
    Words,
)

__all__ = [
    "Array",
    "Check",
    "Contains",
    "Example",
    "Grading",
    "Lines",
    "Loosely",
    "Mismatch",
    "OneOf",
    "Opaque",
    "Outcome",
    "Raised",
    "Raises",
    "Satisfies",
    "Session",
    "Task",
    "Trouble",
    "Words",
]
