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


_END = object()


class BackgroundWorker(JobRunner):
    """Runs each job in a thread, one job at a time. A new job replaces the previous one.

    The threads are daemons, so the program can exit while a slow player computes.

    Args:
        schedule: The screen's timer.
    """

    def __init__(self, schedule: Scheduler) -> None:
        self._schedule = schedule
        self._cancelled: threading.Event | None = None  # of the current job
        self._turn = threading.Lock()

    @property
    def is_busy(self) -> bool:
        """Whether more results are expected."""
        return self._cancelled is not None

    def run(self, job: Job[T], on_result: OnResult[T]) -> None:
        """Run `job` after the running job, and call `on_result` in the screen's thread."""
        self.cancel()
        self._cancelled = cancelled = threading.Event()
        found = SimpleQueue[Any]()
        work = partial(self._work, job, found, cancelled)
        threading.Thread(target=work, name="worker", daemon=True).start()
        self._schedule(RESULT_POLL_S, partial(self._poll, found, cancelled, on_result))

    def cancel(self) -> None:
        """Ignore further results of the job, and stop waiting for the compiler."""
        if self._cancelled is not None:
            self._cancelled.set()
            self._cancelled = None

    def _poll(
        self, found: SimpleQueue[Any], cancelled: threading.Event, on_result: OnResult[Any]
    ) -> None:
        """Deliver available results, and poll again until the job has ended."""
        while self._cancelled is cancelled and not found.empty():
            result = found.get()
            if result is _END:
                self._cancelled = None
            else:
                on_result(result)
        if self._cancelled is cancelled:
            self._schedule(RESULT_POLL_S, partial(self._poll, found, cancelled, on_result))

    def _work(self, job: Job[T], found: SimpleQueue[Any], cancelled: threading.Event) -> None:
        with self._turn:
            for result, pause_s in results(job) if not cancelled.is_set() else ():
                found.put(result)
                if cancelled.wait(pause_s):
                    break
        found.put(_END)


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
