"""Asking slow players in the background, so that the screen never waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py2048.session import Hint


@dataclass(frozen=True, slots=True)
class Thought:
    """What came out of a job: a hint or the line that says what went wrong.

    Attributes:
        purpose: what the job was for, as its asker called it.
        hint: the answer.
        error: why there is none.
    """

    purpose: str
    hint: Hint | None = None
    error: str = ""


class Thinker:
    """One thread that thinks about the latest job; jobs it has not begun are replaced.

    The thread is a daemon: quitting never waits for a slow player.

    Args:
        deliver: called in the thinking thread with each thought.
    """

    def __init__(self, deliver: Callable[[Thought], object]) -> None:
        self._deliver = deliver
        self._job: tuple[str, Callable[[], Hint]] | None = None
        self._wakeup = threading.Condition()
        self._thread: threading.Thread | None = None

    def ask(self, purpose: str, job: Callable[[], Hint]) -> None:
        """Think about `job` as soon as the thread is free."""
        with self._wakeup:
            self._job = purpose, job
            self._wakeup.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="thinker", daemon=True)
            self._thread.start()

    def drop(self) -> None:
        """Forget the job that has not begun."""
        with self._wakeup:
            self._job = None

    def _run(self) -> None:
        while True:
            with self._wakeup:
                self._wakeup.wait_for(lambda: self._job is not None)
                assert self._job is not None  # what it waited for
                (purpose, job), self._job = self._job, None
            self._deliver(_think(purpose, job))


def _think(purpose: str, job: Callable[[], Hint]) -> Thought:
    try:
        return Thought(purpose, job())
    except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
        return Thought(purpose, error=str(error) or type(error).__name__)
