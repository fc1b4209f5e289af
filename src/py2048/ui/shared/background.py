"""Players asked in the background, for hints and for autoplay: the screen never waits for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.review import Judge, MoveReview, Review
    from py2048.session import Finding, Hint, Session
    from py2048.ui.shared.drills import Drill

PERIOD = 0.5
"""Seconds between two looks at the compiler's progress."""


@dataclass(frozen=True, slots=True)
class WorkResult:
    """A result of a job: a hint, judged moves, the compiler's progress, or the error in one line.

    Attributes:
        purpose: what the job was for, in the words of the caller.
        hint: the answer; another follows one that has `instead_of`.
        compiling: the compiler's progress; more results follow.
        judge: who judges the moves that follow.
        moves: moves that are judged; more may follow.
        review: the review of a whole game.
        drill: what is to be practised.
        error: why there is no answer.
    """

    purpose: str
    hint: Hint | None = None
    compiling: Compiling | None = None
    judge: Judge | None = None
    moves: Sequence[MoveReview] = ()
    review: Review | None = None
    drill: Drill | None = None
    error: str = ""

    @property
    def is_last(self) -> bool:
        """Whether the job ends with it."""
        return self.compiling is None and not (self.hint and self.hint.instead_of)


Job = Callable[[], Iterator["Hint | Compiling | Finding | Drill"]]
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
        self._is_dropped = self._is_closed = False
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

    def close(self) -> None:
        """Forget the job and end the thread, once a player that is asked has answered."""
        self._is_closed = True
        self.drop()

    def _run(self) -> None:
        while True:
            with self._wakeup:
                self._wakeup.wait_for(lambda: self._job is not None or self._is_closed)
                if self._job is None:
                    return
                (purpose, job), self._job, self._is_dropped = self._job, None, False
            for result in do(purpose, job):
                self._deliver(result)
                if self._is_interrupted(PERIOD if result.compiling else 0.0):
                    break

    def _is_interrupted(self, seconds: float) -> bool:
        """Wait so long, for the compiler; return whether the job was dropped or replaced."""
        with self._wakeup:
            return self._wakeup.wait_for(lambda: self._job is not None or self._is_dropped, seconds)


class ForegroundWorker:
    """Does each job at once, in the thread that asks, for screens that wait.

    Args:
        deliver: called with each result.
    """

    def __init__(self, deliver: Callable[[WorkResult], object]) -> None:
        self._deliver = deliver

    def ask(self, purpose: str, job: Job) -> None:
        """Do a job to its end."""
        for result in do(purpose, job):
            self._deliver(result)
            if result.compiling:
                sleep(PERIOD)

    def close(self) -> None:
        """Nothing is under way."""


def do(purpose: str, job: Job) -> Iterator[WorkResult]:
    """Yield the results of a job in this thread; the last one has the error of one that fails."""
    from py2048.compiled.jit.progress import Compiling
    from py2048.review import Judge, Review
    from py2048.session import Hint  # whoever asks a player has loaded it

    try:
        for answer in job():
            match answer:
                case Hint():
                    yield WorkResult(purpose, hint=answer)
                case Judge():
                    yield WorkResult(purpose, judge=answer)
                case Review():
                    yield WorkResult(purpose, review=answer)
                case tuple():
                    yield WorkResult(purpose, moves=answer)
                case Compiling():
                    yield WorkResult(purpose, compiling=answer)
                case _:
                    yield WorkResult(purpose, drill=answer)
    except Exception as error:  # noqa: BLE001 - a plugin's player may fail in any way
        yield WorkResult(purpose, error=str(error) or type(error).__name__)


# Autoplay

PURPOSE = "autoplay"
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
        worker: asks the player; the screen hands the results for `PURPOSE` to `take`.
        later: calls a function after some seconds, in the screen's thread.
        changed: called when autoplay starts or stops, and when the compiler gets on.
    """

    def __init__(
        self,
        session: Session,
        worker: BackgroundWorker,
        later: Callable[[float, Callable[[], None]], Stoppable],
        changed: Callable[[], None],
    ) -> None:
        self._session = session
        self._worker = worker
        self._later = later
        self._changed = changed
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
    def interval(self) -> float:
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

    def take(self, result: WorkResult) -> None:
        """Play the move that was chosen when it is due; until then show the compiler's progress."""
        if self.is_on and result.compiling != self.compiling:
            self.compiling = result.compiling
            self._changed()
        hint = result.hint
        if hint is None or not self.is_on or hint.version != self._session.version:
            return
        wait = max(0.0, self.interval - (monotonic() - self._asked))
        self._timer = self._later(wait, lambda: self._play(hint))

    def _ask(self) -> None:
        session, player, snapshot = self._session, self.player, self._session.snapshot()
        self._asked = monotonic()
        self._worker.ask(PURPOSE, lambda: session.advise(snapshot, player, only_move=True))

    def _play(self, hint: Hint) -> None:
        # Playing may end the game, and its listeners then stop this.
        if self.is_on and self._session.play_hint(hint) and self.is_on:
            self._ask()
