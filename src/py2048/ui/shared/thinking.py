"""Asking slow players in the background, so that the screen never waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.session import Hint


PERIOD = 0.5
"""Seconds between two looks at how far the compiler is."""


@dataclass(frozen=True, slots=True)
class Thought:
    """What came out of a job: a hint, how far the compiler is, or the line that says what failed.

    Attributes:
        purpose: what the job was for, as its asker called it.
        hint: the answer; more follows one that has `instead_of`.
        compiling: what there is to wait for; more follows.
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
"""Something to think about, such as a question to `py2048.session.advise`."""


class Thinker:
    """One thread that thinks about the latest job; a new one replaces those before.

    The thread is a daemon: quitting never waits for a slow player.

    Args:
        deliver: called in the thinking thread with each thought.
    """

    def __init__(self, deliver: Callable[[Thought], object]) -> None:
        self._deliver = deliver
        self._job: tuple[str, Job] | None = None
        self._is_dropped = False
        self._wakeup = threading.Condition()
        self._thread: threading.Thread | None = None

    def ask(self, purpose: str, job: Job) -> None:
        """Think about `job` as soon as the thread is free."""
        with self._wakeup:
            self._job = purpose, job
            self._wakeup.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="thinker", daemon=True)
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
                assert self._job is not None  # what it waited for
                (purpose, job), self._job, self._is_dropped = self._job, None, False
            for thought in _think(purpose, job):
                self._deliver(thought)
                if thought.compiling and self._is_interrupted():
                    break

    def _is_interrupted(self) -> bool:
        """Wait a moment for the compiler; return whether the job was dropped or replaced."""
        with self._wakeup:
            return self._wakeup.wait_for(lambda: self._job is not None or self._is_dropped, PERIOD)


def _think(purpose: str, job: Job) -> Iterator[Thought]:
    from py2048.session import Hint  # whoever asks a player has loaded it

    try:
        for answer in job():
            if isinstance(answer, Hint):
                yield Thought(purpose, hint=answer)
            else:
                yield Thought(purpose, compiling=answer)
    except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
        yield Thought(purpose, error=str(error) or type(error).__name__)
