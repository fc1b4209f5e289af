"""Autoplay: a player makes move after move, at a speed that can change meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from py2048.compiled.jit.progress import Compiling
    from py2048.session import Hint, Session
    from py2048.ui.shared.background_worker import BackgroundWorker, WorkResult

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
        changed: called when autoplay starts, stops or changes its speed.
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

    def set_speed(self, speed: int) -> None:
        """Make so many moves a second, one of `SPEEDS`."""
        self.speed = speed
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
