"""What grading found, as plain data that can be written down and read back."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class CheckResult:
    """One check: whether it holds, and if not the smallest example that shows it.

    `carried` says that it holds only with right versions of what other tasks ask for.
    """

    title: str
    weight: int
    passed: bool
    carried: bool = False
    example: str = ""
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True)
class TaskResult:
    """One task: what was asked and the marks `earned` of `marks`."""

    id: str
    title: str
    asked: str
    marks: Fraction
    earned: Fraction
    checks: tuple[CheckResult, ...] = ()

    @property
    def status(self) -> str:
        """``passed`` with full marks, else ``failed``."""
        return "passed" if self.earned == self.marks else "failed"


@dataclass(frozen=True)
class Report:
    """One graded submission.

    `problem` says why it could not be graded at all, if so; `opening` is what to type before the
    examples.
    """

    name: str
    course: str
    tasks: tuple[TaskResult, ...]
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0
    opening: str = ""
    key: str = field(default="", compare=False)

    @property
    def earned(self) -> Fraction:
        """Marks earned in all."""
        return sum((task.earned for task in self.tasks), Fraction(0))

    @property
    def marks(self) -> Fraction:
        """Marks possible in all."""
        return sum((task.marks for task in self.tasks), Fraction(0))

    @property
    def lost(self) -> tuple[str, ...]:
        """The ids of the tasks that did not earn full marks."""
        return tuple(task.id for task in self.tasks if task.status == "failed")

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON; marks are numbers with at most four decimals."""
        data = asdict(self)
        for task, result in zip(data["tasks"], self.tasks, strict=True):
            task["marks"] = str(result.marks)
            task["earned"] = str(result.earned)
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Report:
        """The report that `to_data` wrote."""
        tasks = tuple(
            TaskResult(
                **{
                    **task,
                    "marks": Fraction(task["marks"]),
                    "earned": Fraction(task["earned"]),
                    "checks": tuple(CheckResult(**check) for check in task["checks"]),
                }
            )
            for task in data["tasks"]
        )
        plain = {**data, "files": tuple(data["files"]), "notes": tuple(data["notes"])}
        return cls(**{**plain, "tasks": tasks})


def number(marks: Fraction) -> float | int:
    """Marks as a number to print: whole where they are, else with two decimals."""
    return int(marks) if marks.denominator == 1 else round(float(marks), 2)
