"""``results.json`` as Gradescope's autograder harness reads it.

The fields are those of Gradescope's published specification ("Autograder Specifications",
output format): a top-level score, and a list of tests with score, max_score, status, name,
number, output and visibility.
"""

from __future__ import annotations

from typing import Any

from py2048.courses._kit.reports.data import Run
from py2048.courses._kit.reports.words import summary, task_text
from py2048.courses._kit.results import Report, TaskResult, number


def to_gradescope(run: Run, report: Report) -> dict[str, Any]:
    """One submission's results."""
    lines = summary(report) or ["Graded."]
    if run.not_graded:
        lines.append(f"Not graded here: {run.not_graded}")
    return {
        "score": number(report.earned),
        "execution_time": round(report.seconds),
        "output": "\n".join(lines),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(task, report.problem) for task in report.tasks],
        "extra_data": {
            "course": run.course,
            "grader": run.grader,
            "protection": run.protection.name,
            "submission": report.name,
        },
    }


def _test(task: TaskResult, problem: str) -> dict[str, Any]:
    return {
        "score": number(task.earned),
        "max_score": number(task.marks),
        "status": task.status,
        "name": task.title,
        "number": task.id,
        "output": f"{task.asked}\n\nNot graded: {problem}" if problem else task_text(task),
        "visibility": "visible",
    }
