"""Work in the background, and autoplay: a screen never waits for a player or a judge."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.session import Event, Hint, Session

PERIOD_S = 0.5
"""Seconds between two looks at the compiler's progress."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job has no further answer, in one line."""

    reason: str


Job = Callable[[], Iterator[T]]
"""A job such as a call of `py2048.session.advise`: yields answers, and the compiler's progress."""

Take = Callable[[T | Failure], object]
"""What uses the answers of a job, in the screen's thread."""


class Worker(Protocol):
    """Does the latest job that it is asked to do."""

    def ask(self, job: Job[T], take: Take[T]) -> None:
        """Do `job`, in place of the one before; `take` gets its answers."""

    def drop(self) -> None:
        """Forget the job; no answer to it is taken any more."""

    def close(self) -> None:
        """Forget the job, and end."""


class WorkScreen(Protocol):
    """A front end as a `BackgroundWorker` sees it."""

    def receive(self, call: Callable[[], object]) -> None:
        """Call a function in the screen's thread; called in any."""

    def await_results(self) -> None:
        """Expect that `receive` will be called soon."""


class BackgroundWorker:
    """One thread that does the latest job; a new job replaces the one before.

    The thread is a daemon: quitting never waits for a slow player.

    Args:
        screen: calls in its thread what takes the answers.
    """

    def __init__(self, screen: WorkScreen) -> None:
        self._screen = screen
        self._number = 0  # of the latest job
        self._wanted = 0  # the job whose answers are taken, 0 for none
        self._job: Callable[[], None] | None = None
        self._is_closed = False
        self._wakeup = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether answers are to come."""
        return bool(self._wanted)

    def ask(self, job: Job[T], take: Take[T]) -> None:
        """Do `job` as soon as the thread is free; `take` is called in the screen's thread."""
        with self._wakeup:
            self._number += 1
            self._wanted = self._number
            self._job = partial(self._do, self._number, job, take)
            self._wakeup.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
            self._thread.start()
        self._screen.await_results()

    def drop(self) -> None:
        """Forget the job, also one that waits for the compiler."""
        with self._wakeup:
            self._job, self._wanted = None, 0
            self._wakeup.notify()

    def close(self) -> None:
        """Forget the job and end the thread, once a player that is asked has answered."""
        self._is_closed = True
        self.drop()

    def _run(self) -> None:
        while True:
            with self._wakeup:
                self._wakeup.wait_for(lambda: self._job is not None or self._is_closed)
                job, self._job = self._job, None
            if job is None:
                return
            job()

    def _do(self, number: int, job: Job[T], take: Take[T]) -> None:
        from py2048.compiled.jit.progress import Compiling  # the job has loaded it

        def hand_over(answer: T | Failure) -> None:
            if number == self._wanted:
                take(answer)

        def finish() -> None:
            if number == self._wanted:
                self._wanted = 0

        for answer in answers(job):
            self._screen.receive(partial(hand_over, answer))
            seconds = PERIOD_S if isinstance(answer, Compiling) else 0.0
            with self._wakeup:
                if self._wakeup.wait_for(lambda: number != self._wanted, seconds):
                    return
        self._screen.receive(finish)


class ForegroundWorker:
    """Does each job at once, in the thread that asks, for screens that wait."""

    def ask(self, job: Job[T], take: Take[T]) -> None:
        """Do a job to its end."""
        from py2048.compiled.jit.progress import Compiling  # the job has loaded it

        for answer in answers(job):
            take(answer)
            if isinstance(answer, Compiling):
                sleep(PERIOD_S)

    def drop(self) -> None:
        """Nothing is under way."""

    def close(self) -> None:
        """Nothing is under way."""


def answers(job: Job[T]) -> Iterator[T | Failure]:
    """Yield the answers to a job in this thread; the last one says why it has failed, if it has."""
    try:
        yield from job()
    except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
        yield Failure(str(error) or type(error).__name__)


# Autoplay

SPEEDS = (1, 2, 4, 8, 16, 32, 1000)
"""Moves a second; the last means as fast as the player can."""

START_SPEED = 4


class Stoppable(Protocol):
    """A timer that can be stopped."""

    def stop(self) -> None:
        """Do not call the function."""


class Autoplay:
    """Lets a player play in a session, one move at a time.

    Args:
        session: where to play.
        worker: asks the player.
        later: calls a function after some seconds, in the screen's thread.
        show: shows the events of a move.
        changed: called when autoplay starts or stops, and with news of the compiler.
        failed: called with the reason if the player fails.
    """

    def __init__(
        self,
        session: Session,
        worker: Worker,
        later: Callable[[float, Callable[[], None]], Stoppable],
        show: Callable[[Iterable[Event]], object],
        changed: Callable[[], None],
        failed: Callable[[str], object],
    ) -> None:
        self._session, self._worker, self._later = session, worker, later
        self._show, self._changed, self._failed = show, changed, failed
        self._timer: Stoppable | None = None
        self._asked = 0.0
        self.player = ""
        self.compiling: Compiling | None = None
        self.speed = START_SPEED

    @property
    def is_on(self) -> bool:
        """Whether a player is playing."""
        return bool(self.player)

    @property
    def interval_s(self) -> float:
        """The least time between two moves, in seconds."""
        return 0.0 if self.speed == SPEEDS[-1] else 1 / self.speed

    def __str__(self) -> str:
        if self.is_on and self.compiling:
            return f"{self.player}: {self.compiling}"
        speed = "at full speed" if self.speed == SPEEDS[-1] else f"{self.speed}/s"
        return f"{self.player} {speed}" if self.is_on else ""

    def start(self, player: str) -> None:
        """Let `player` (a spec) play from now on."""
        self.player = player
        self._changed()
        self._ask()

    def stop(self) -> None:
        """Stop playing; a move that the player is still choosing is dropped."""
        if not self.is_on:
            return
        self.player, self.compiling = "", None
        self._worker.drop()
        if self._timer is not None:
            self._timer.stop()
        self._changed()

    def _ask(self) -> None:
        session, player, snapshot = self._session, self.player, self._session.snapshot()
        self._asked = monotonic()
        self._worker.ask(lambda: session.advise(snapshot, player, only_move=True), self._take)

    def _take(self, answer: Hint | Compiling | Failure) -> None:
        """Play the move that was chosen when it is due; until then show the compiler's progress."""
        from py2048.session import Hint  # the job has loaded it

        if isinstance(answer, Failure):
            self.stop()
            self._failed(answer.reason)
            return
        compiling = None if isinstance(answer, Hint) else answer
        if compiling != self.compiling:
            self.compiling = compiling
            self._changed()
        if isinstance(answer, Hint):
            wait_s = max(0.0, self.interval_s - (monotonic() - self._asked))
            self._timer = self._later(wait_s, partial(self._play, answer))

    def _play(self, hint: Hint) -> None:
        happened = self._session.play_hint(hint)
        self._show(happened)
        if self._session.game.is_over:
            self.stop()
        elif happened and self.is_on:
            self._ask()
