"""Virtual time: a submission's pauses pass at once, and long waits come back to the grader."""

from __future__ import annotations

import time
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

IDLE_POLLS = 12  # looks at nothing new in a row, after which a program is taken to wait
SPAN = 5.0  # virtual seconds that a program may go on after each request
QUIET = 0.3  # real seconds without news, after which a program is taken to wait
TICK = 0.01  # virtual seconds that pass with each look


class Clock:
    """A clock that `sleep` moves on. `wait` is called when the program has to give way.

    With `real` (a real window) time passes by itself and only the counting of looks is used.
    """

    def __init__(self, wait: Callable[[], None], *, real: bool = False) -> None:
        self.wait = wait
        self.real = real
        self.skipped = 0.0
        self.until = SPAN
        self.polls = 0
        self.real_sleep, self._real_time = time.sleep, time.time
        self._monotonic = time.monotonic
        self._counter = time.perf_counter
        self._heard = self._monotonic()
        self._main = get_ident()
        self.due: Callable[[], None] = lambda: None
        self.running: Callable[[], bool] = lambda: False

    def take_over(self) -> None:
        """Put this clock behind the time module."""
        if self.real:
            return
        time.sleep = self.sleep  # type: ignore[assignment]
        time.time = lambda: self._real_time() + self.skipped
        time.monotonic = lambda: self._monotonic() + self.skipped
        time.perf_counter = lambda: self._counter() + self.skipped

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        return self.skipped

    def allow(self, seconds: float = SPAN) -> None:
        """Let the program go on for `seconds` of virtual time before it has to give way."""
        self.until = self.skipped + seconds
        self.polls = 0
        self._heard = self._monotonic()

    def skip(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.skipped += max(0.0, seconds)

    def sleep(self, seconds: float) -> None:
        """What `time.sleep` becomes."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if get_ident() != self._main:  # a thread beside the program: it has no turn to give
            self.real_sleep(seconds)
            return
        self.skip(seconds)
        self.due()
        if self.skipped >= self.until:
            self.give_way()

    def poll(self, *, news: bool) -> None:
        """The program looked for events; `news` says whether anything happened since before."""
        self.polls = 0 if news else self.polls + 1
        if self.real:
            self._heard = self._monotonic() if news else self._heard
            if self._monotonic() - self._heard > QUIET:
                self.give_way()
            return
        self.skip(TICK)
        if self.polls > IDLE_POLLS or self.skipped >= self.until:
            self.give_way()

    def give_way(self) -> None:
        """Hand over to the grader; start counting anew afterwards."""
        self.wait()
        self.polls = 0
