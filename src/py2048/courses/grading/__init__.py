"""Automatic grading of submissions, shared by all courses.

Authors of courses need the names below, as ``docs/how-to/write-a-graded-task.md`` explains.
"""

from __future__ import annotations

from py2048.courses.grading.patches import calling, right_versions
from py2048.courses.grading.sandbox import ProcessReport
from py2048.courses.grading.session import SubmissionSession
from py2048.courses.grading.tasks import (
    Array,
    Check,
    CheckFailed,
    Example,
    Grading,
    Loosely,
    OneOf,
    Opaque,
    Raised,
    Raises,
    Satisfies,
    SubmissionCrash,
    Task,
    TextLines,
    read_sheet,
)

__all__ = [
    "Array",
    "Check",
    "CheckFailed",
    "Example",
    "Grading",
    "Loosely",
    "OneOf",
    "Opaque",
    "ProcessReport",
    "Raised",
    "Raises",
    "Satisfies",
    "SubmissionCrash",
    "SubmissionSession",
    "Task",
    "TextLines",
    "calling",
    "read_sheet",
    "right_versions",
]
