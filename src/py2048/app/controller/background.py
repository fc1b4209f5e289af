"""Background jobs, so that screens stay responsive while a player or a judge computes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import sleep
from typing import Any, TypeVar

COMPILER_POLL_S = 0.5
RESULT_POLL_S = 0.01

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """The final result of a job that failed, with the error message as one line."""

    reason: str


Job = Callable[[], Iterator[T]]
"""A function that returns an iterator over results and compiler progress, such as
`py2048.review.advice.advise`.
"""

OnResult = Callable[[T | Failure], object]
"""A callback that the screen's thread calls with each result of a job."""

Scheduler = Callable[[float, Callable[[], None]], object]
"""Schedules a callback on the screen's thread after a delay in seconds."""


class JobRunner:
    """Runs jobs synchronously, for front ends that can block."""

    def run(self, job: Job[T], on_result: OnResult[T]) -> None:
        """Run `job` and pass its results to `on_result`."""
        for result, pause_s in results(job):
            on_result(result)
            sleep(pause_s)

    def cancel(self) -> None:
        """Ignore further results of the job."""


class _Task:
    """A job with its unread results."""

    def __init__(self, job: Job[Any], on_result: OnResult[Any]) -> None:
        self.job, self.on_result = job, on_result
        self.results: SimpleQueue[Any] = SimpleQueue()
        self.is_cancelled = threading.Event()


_END = object()


class BackgroundWorker(JobRunner):
    """Runs jobs in a single thread. A new job replaces the previous one.

    The thread is a daemon, so the program can exit while a slow player computes.

    Args:
        schedule: The screen's timer.
    """

    def __init__(self, schedule: Scheduler) -> None:
        self._schedule = schedule
        self._task: _Task | None = None
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether more results are expected."""
        return self._task is not None

    def run(self, job: Job[T], on_result: OnResult[T]) -> None:
        """Run `job` when the thread is free, and call `on_result` in the screen's thread."""
        self.cancel()
        self._task = task = _Task(job, on_result)
        self._tasks.put(task)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="worker", daemon=True)
            self._thread.start()
        self._schedule(RESULT_POLL_S, partial(self._poll, task))

    def cancel(self) -> None:
        """Ignore further results, and stop waiting for the compiler."""
        if self._task is not None:
            self._task.is_cancelled.set()
            self._task = None

    def close(self) -> None:
        """Cancel the job, and stop the thread when the running call to a player returns."""
        self.cancel()
        self._tasks.put(None)

    def _poll(self, task: _Task) -> None:
        """Deliver available results, and poll again until the job has ended."""
        while self._task is task and not task.results.empty():
            result = task.results.get()
            if result is _END:
                self._task = None
            else:
                task.on_result(result)
        if self._task is task:
            self._schedule(RESULT_POLL_S, partial(self._poll, task))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            if task.is_cancelled.is_set():
                continue
            for result, pause_s in results(task.job):
                task.results.put(result)
                if task.is_cancelled.wait(pause_s):
                    break
            task.results.put(_END)


def results(job: Job[T]) -> Iterator[tuple[T | Failure, float]]:
    """Yield each result of a job, and the number of seconds to wait before the next result.

    If the job raises, the last result is a `Failure`.
    """
    try:
        for result in job():
            from py2048.engine.jit.progress import Compiling  # already loaded by the job

            yield result, COMPILER_POLL_S if isinstance(result, Compiling) else 0.0
    except Exception as error:  # noqa: BLE001 - a plugin's player may raise anything
        yield Failure(str(error) or type(error).__name__), 0.0
