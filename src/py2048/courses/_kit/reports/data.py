"""The whole run as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from py2048.courses._kit.protection import Limits, Protection
from py2048.courses._kit.results import Report, TaskResult, number


@dataclass(frozen=True)
class Run:
    """What all reports of one run have in common."""

    course: str
    title: str
    grader: str
    protection: Protection
    limits: Limits
    not_graded: str = ""

    @property
    def protected(self) -> str:
        """One line on what stands between the submissions and this machine."""
        begin = "WEAK PROTECTION" if self.weak else "Protection"
        return f"{begin}: {self.protection}; limits: {self.limits}"

    @property
    def weak(self) -> bool:
        """Whether there is anything that submissions are not kept from."""
        return bool(self.protection.missing)


def to_data(run: Run, reports: Sequence[Report]) -> dict[str, Any]:
    """Everything, as plain data."""
    return {
        "course": run.course,
        "title": run.title,
        "grader": run.grader,
        "not_graded": run.not_graded,
        "protection": {
            "name": run.protection.name,
            "holds": list(run.protection.holds),
            "lacks": list(run.protection.missing),
            "limits": str(run.limits),
        },
        "submissions": [_submission(report) for report in reports],
    }


def _submission(report: Report) -> dict[str, Any]:
    return {
        "name": report.name,
        "score": number(report.earned),
        "max_score": number(report.marks),
        "problem": report.problem,
        "notes": list(report.notes),
        "files": list(report.files),
        "seconds": report.seconds,
        "tasks": [_task(task) for task in report.tasks],
    }


def _task(task: TaskResult) -> dict[str, Any]:
    return {
        "id": task.id,
        "title": task.title,
        "asked": task.asked,
        "score": number(task.earned),
        "max_score": number(task.marks),
        "status": task.status,
        "checks": [vars(check) for check in task.checks],
    }
