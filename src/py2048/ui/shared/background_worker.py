"""`BackgroundWorker`: asks slow players in a thread, so that the screen never waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.session import Hint

PERIOD = 0.5
"""Seconds between two looks at the compiler's progress."""


@dataclass(frozen=True, slots=True)
class WorkResult:
    """The result of a job: a hint, the compiler's progress, or the error in one line.

    Attributes:
        purpose: what the job was for, in the words of the caller.
        hint: the answer; another follows one that has `instead_of`.
        compiling: the compiler's progress; more results follow.
        error: why there is no answer.
    """

    purpose: str
    hint: Hint | None = None
    compiling: Compiling | None = None
    error: str = ""

    @property
    def is_last(self) -> bool:
        """Whether the job ends with it."""
        return self.compiling is None and not (self.hint and self.hint.instead_of)


Job = Callable[[], Iterator["Hint | Compiling"]]
"""A job to do, such as a call of `py2048.session.advise`."""


class BackgroundWorker:
    """One thread that does the latest job; a new job replaces the one before.

    The thread is a daemon: quitting never waits for a slow player.

    Args:
        deliver: called in the worker's thread with each result.
    """

    def __init__(self, deliver: Callable[[WorkResult], object]) -> None:
        self._deliver = deliver
        self._job: tuple[str, Job] | None = None
        self._is_dropped = False
        self._wakeup = threading.Condition()
        self._thread: threading.Thread | None = None

    def ask(self, purpose: str, job: Job) -> None:
        """Do `job` as soon as the thread is free."""
        with self._wakeup:
            self._job = purpose, job
            self._wakeup.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
            self._thread.start()

    def drop(self) -> None:
        """Forget the job, also one that waits for the compiler."""
        with self._wakeup:
            self._job, self._is_dropped = None, True
            self._wakeup.notify()

    def _run(self) -> None:
        while True:
            with self._wakeup:
                self._wakeup.wait_for(lambda: self._job is not None)
                assert self._job is not None  # the condition it waited for
                (purpose, job), self._job, self._is_dropped = self._job, None, False
            for result in _do(purpose, job):
                self._deliver(result)
                if result.compiling and self._is_interrupted():
                    break

    def _is_interrupted(self) -> bool:
        """Wait a moment for the compiler; return whether the job was dropped or replaced."""
        with self._wakeup:
            return self._wakeup.wait_for(lambda: self._job is not None or self._is_dropped, PERIOD)


def _do(purpose: str, job: Job) -> Iterator[WorkResult]:
    from py2048.session import Hint  # whoever asks a player has loaded it

    try:
        for answer in job():
            if isinstance(answer, Hint):
                yield WorkResult(purpose, hint=answer)
            else:
                yield WorkResult(purpose, compiling=answer)
    except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
        yield WorkResult(purpose, error=str(error) or type(error).__name__)
