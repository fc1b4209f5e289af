"""Grading many submissions: several at a time, results as they come, to be continued."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from py2048.courses._kit.grade import grade, key_of
from py2048.courses._kit.results import Report
from py2048.courses._kit.runner import SandboxConfig
from py2048.courses._kit.submissions import Submission
from py2048.courses._kit.tasks import Grading
from py2048.errors import CourseError


class Memory:
    """Results written down as they come, one JSON line each, so that a killed run can go on.

    A result counts only for the same files, the same name and the same version of the grader.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[str, Report] = {}
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise CourseError(f"{str(path)!r} cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            last = number >= len(lines) - 1
            try:
                report = Report.from_data(json.loads(line)) if line.strip() else None
            except (ValueError, KeyError, TypeError, AttributeError):
                if last:  # the line that a killed run was writing
                    continue
                raise CourseError(
                    f"{str(path)!r} is no results file of this command (line {number}): "
                    "name another file"
                ) from None
            if report is not None and report.key:
                self.known[report.key] = report

    def write(self, report: Report) -> None:
        """Write a result down, for good before the next one."""
        if self.path is None:
            return
        with _opened(self.path) as file:
            file.write((json.dumps(report.to_data()) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())


def _opened(path: Path) -> Any:
    """`path` opened to append whole lines: a line that was cut off is ended first."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab+")
    except OSError as error:
        raise CourseError(f"{str(path)!r} cannot be written: {error.strerror}") from None
    if file.tell():
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
    return file


def grade_all(
    submissions: Iterable[Submission],
    grading: Grading,
    sandbox: SandboxConfig,
    *,
    jobs: int = 1,
    memory: Memory | None = None,
    told: Callable[[Submission], None] = lambda submission: None,
) -> Iterator[Report]:
    """Grade submissions, `jobs` at a time; yield reports as they come.

    What `memory` knows comes first and is not graded again. `told` is called when the grading
    of a submission begins.
    """
    memory = memory or Memory(None)
    new = []
    for submission in submissions:
        known = memory.known.get(key_of(submission, grading))
        if known is None:
            new.append(submission)
        else:
            yield known

    def one(submission: Submission) -> Report:
        told(submission)
        return grade(submission, grading, sandbox)

    pool = ThreadPoolExecutor(jobs)
    try:
        waiting: set[Future[Report]] = {pool.submit(one, submission) for submission in new}
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                report = future.result()
                memory.write(report)
                yield report
    finally:
        sandbox.end()
        pool.shutdown(cancel_futures=True)
