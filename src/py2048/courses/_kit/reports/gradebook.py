"""The gradebook: CSV, one line for each submission, for spreadsheets and learning platforms."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from py2048.courses._kit.results import Report, number
from py2048.courses._kit.tasks import Grading


def write_gradebook(path: Path, grading: Grading, reports: Sequence[Report]) -> None:
    """Write name, score, possible marks, percent, the marks of each task, and any problem."""
    heads = [f"task {task.id} ({number(_marks(task.marks))})" for task in grading.tasks]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["submission", "score", "possible", "percent", *heads, "problem"])
        for report in reports:
            percent = round(float(100 * report.earned / report.marks), 1) if report.marks else 0
            marks = [number(task.earned) for task in report.tasks]
            row = [number(report.earned), number(report.marks), percent, *marks]
            writer.writerow([harmless(report.name), *row, harmless(report.problem)])


def _marks(marks: object) -> Fraction:
    return Fraction(str(marks))


def harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
