"""Work in the background: a screen never waits for a player or a judge."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from time import sleep
from typing import Any, TypeVar

PERIOD_S = 0.5
"""Seconds between two looks at the compiler's progress."""

LOOK_S = 0.01
"""Seconds between a screen's looks for answers, while some are expected."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job has no further answer, in one line."""

    reason: str


Job = Callable[[], Iterator[T]]
"""A job such as a call of `py2048.review.advice.advise`: yields answers and compiler progress."""

Take = Callable[[T | Failure], object]
"""What uses the answers of a job, in the screen's thread."""


Later = Callable[[float, Callable[[], None]], object]
"""Calls a function after some seconds, in the screen's thread."""


class Worker:
    """Does each job at once, in the thread that asks, for screens that wait."""

    def ask(self, job: Job[T], take: Take[T]) -> None:
        """Do `job`; `take` gets its answers."""
        for answer, pause_s in answers(job):
            take(answer)
            sleep(pause_s)

    def drop(self) -> None:
        """Take no further answer to the job."""


class _Task:
    """A job, the answers that are not taken yet, and whether it is dropped."""

    def __init__(self, job: Job[Any], take: Take[Any]) -> None:
        self.job, self.take = job, take
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self.dropped = threading.Event()


_END = object()


class BackgroundWorker(Worker):
    """One thread that does the latest job; a new job replaces the one before.

    The thread is a daemon: quitting never waits for a slow player.

    Args:
        later: the screen's timer.
    """

    def __init__(self, later: Later) -> None:
        self._later = later
        self._task: _Task | None = None
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether answers are to come."""
        return self._task is not None

    def ask(self, job: Job[T], take: Take[T]) -> None:
        """Do `job` as soon as the thread is free; `take` is called in the screen's thread."""
        self.drop()
        self._task = task = _Task(job, take)
        self._tasks.put(task)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
            self._thread.start()
        self._later(LOOK_S, partial(self._look, task))

    def drop(self) -> None:
        """Take no further answer to the job, also one that waits for the compiler."""
        if self._task is not None:
            self._task.dropped.set()
            self._task = None

    def close(self) -> None:
        """Drop the job and end the thread, once a player that is asked has answered."""
        self.drop()
        self._tasks.put(None)

    def _look(self, task: _Task) -> None:
        """Take the answers that have come, and look again while there may be more."""
        while self._task is task and not task.answers.empty():
            answer = task.answers.get()
            if answer is _END:
                self._task = None
            else:
                task.take(answer)
        if self._task is task:
            self._later(LOOK_S, partial(self._look, task))

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            if task.dropped.is_set():
                continue
            for answer, pause_s in answers(task.job):
                task.answers.put(answer)
                if task.dropped.wait(pause_s):
                    break
            task.answers.put(_END)


def answers(job: Job[T]) -> Iterator[tuple[T | Failure, float]]:
    """Yield each answer to a job, and the seconds to wait for the next.

    The last one says why the job has failed, if it has.
    """
    try:
        for answer in job():
            from py2048.engine.jit.progress import Compiling  # the job has loaded it

            yield answer, PERIOD_S if isinstance(answer, Compiling) else 0.0
    except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
        yield Failure(str(error) or type(error).__name__), 0.0
