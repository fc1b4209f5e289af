"""Virtual time: a submission's pauses pass at once, and long waits come back to the grader."""

from __future__ import annotations

import time
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

IDLE_POLLS = 12  # looks at nothing new in a row, after which a program is taken to wait
SPAN = 5.0  # virtual seconds that a program may go on after each request
TICK = 0.01  # virtual seconds that pass with each look


class Clock:
    """A clock that `sleep` moves on. `wait` is called when the program has to give way."""

    def __init__(self, wait: Callable[[], None]) -> None:
        self.wait = wait
        self.now = 0.0  # virtual seconds since the start
        self.until = SPAN
        self.polls = 0
        self._real_sleep = time.sleep
        self._main = get_ident()

    def take_over(self) -> None:
        """Put this clock behind the time module."""
        real_time, monotonic, counter = time.time, time.monotonic, time.perf_counter
        time.sleep = self.sleep  # type: ignore[assignment]
        time.time = lambda: real_time() + self.now
        time.monotonic = lambda: monotonic() + self.now
        time.perf_counter = lambda: counter() + self.now

    def allow(self, seconds: float = SPAN) -> None:
        """Let the program go on for `seconds` of virtual time before it has to give way."""
        self.until = self.now + seconds
        self.polls = 0

    def skip(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.now += max(0.0, seconds)

    def sleep(self, seconds: float) -> None:
        """What `time.sleep` becomes."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if get_ident() != self._main:  # a thread beside the program: it has no turn to give
            self._real_sleep(seconds)
            return
        self.skip(seconds)
        if self.now >= self.until:
            self.give_way()

    def poll(self, *, news: bool) -> None:
        """The program looked for events; `news` says whether anything happened since before."""
        self.polls = 0 if news else self.polls + 1
        self.skip(TICK)
        if self.polls > IDLE_POLLS or self.now >= self.until:
            self.give_way()

    def give_way(self) -> None:
        """Hand over to the grader; start counting anew afterwards."""
        self.wait()
        self.polls = 0
