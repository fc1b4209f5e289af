"""``python -m py2048.courses._kit COURSE PATH...``: grade on the spot, for authors of tasks."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from py2048.courses import get_course
from py2048.courses._kit.grade import grade
from py2048.courses._kit.results import Report, number
from py2048.courses._kit.runner import SandboxConfig
from py2048.courses._kit.submissions import collect


def lines(report: Report) -> list[str]:
    """A report as plain lines: tasks with marks, failures with their smallest example."""
    out = [f"{report.name}: {number(report.earned)}/{number(report.marks)} in {report.seconds} s"]
    out += [f"  ! {report.problem}"] if report.problem else []
    out += [f"  ~ {note}" for note in report.notes]
    for task in report.tasks:
        out.append(f"  {task.id} {task.title}: {number(task.earned)}/{number(task.marks)}")
        for check in task.checks:
            if check.carried:
                out.append(f"    + {check.title} (with other tasks put right)")
            if not check.passed:
                example = "\n        ".join(check.example.split("\n"))
                out.append(f"    - {check.title}\n        {example}")
                out.append(f"      expected {check.expected}\n      got {check.actual}")
    return out


def main() -> None:
    """Grade the paths given on the command line."""
    grading = get_course(sys.argv[1]).grading()
    trusted = "--trusted" in sys.argv
    paths = [Path(word) for word in sys.argv[2:] if not word.startswith("--")]
    usual = SandboxConfig.usual()
    sandbox = SandboxConfig(usual.protection, trusted)
    with tempfile.TemporaryDirectory() as scratch:
        for submission in collect(paths, grading, Path(scratch)):
            print("\n".join(lines(grade(submission, grading, sandbox))))


if __name__ == "__main__":
    main()
