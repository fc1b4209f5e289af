"""Replacements for the terminal, the random module and the clock in a submission's process.

Input is scripted, output is captured, random numbers are seeded, and sleeping takes no time.
"""

from __future__ import annotations

import builtins
import io
import os
import random
import sys
import time
from _thread import get_ident
from collections import deque
from os import _exit as os_exit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# A private copy, so that submissions cannot replace the builtins used here.
globals()["__builtins__"] = dict(vars(builtins))

OUTPUT_FLOOD = 85  # Exit code after too much output.
IDLE_POLLS = 12  # A program counts as waiting after this many consecutive polls without events.
SPAN_S = 5.0  # Seconds of virtual time that a program may run after each request.
TICK_S = 0.01  # Virtual seconds per poll.


class CapturedOutput(io.TextIOBase):
    """Captures the output, and ends the process if the output exceeds a limit."""

    encoding = "utf-8"

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.parts: list[str] = []
        self.size = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Capture `text`."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.parts.append(text)
        self.size += len(text)
        if self.size > self.limit:
            os_exit(OUTPUT_FLOOD)
        return len(text)

    def take(self) -> str:
        """Return and clear the captured output."""
        text = "".join(self.parts)
        self.parts.clear()
        self.size = 0
        return text


class ScriptedInput(io.TextIOBase):
    """Provides lines of input. Reading past the last line signals the end of the file."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.lines: deque[str] = deque()
        self.asked = 0

    def type(self, lines: Iterable[str]) -> None:
        """Replace the remaining lines."""
        self.lines = deque(lines)
        self.asked = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]
        """Return the next line with its line break, or "" at the end of the input."""
        self.asked += 1
        return self.lines.popleft() + "\n" if self.lines else ""

    def read(self, size: int | None = -1) -> str:
        """Return all remaining lines."""
        self.asked += 1
        text = "".join(line + "\n" for line in self.lines)
        self.lines.clear()
        return text

    def input(self, prompt: object = "") -> str:
        """Replace the builtin `input`: print the prompt, but do not echo the line."""
        sys.stdout.write(str(prompt))
        line = self.readline()
        if not line:
            raise EOFError(f"input() was called too often: input({str(prompt)[:80]!r})")
        return line[:-1]


def clear_without_shell() -> None:
    """Make ``os.system("clear")`` do nothing, because there is no terminal to clear."""
    system = os.system

    def quiet(command: Any) -> int:
        return 0 if str(command).strip().lower() in {"clear", "cls"} else system(command)

    os.system = quiet


class SeededRandom(random.Random):
    """Replaces ``random.Random`` and ``random.SystemRandom``; never seeded by the clock."""

    def __init__(self, seed: Any = 0) -> None:
        super().__init__(0 if seed is None else seed)


def take_over_random() -> random.Random:
    """Make the functions of the random module use a seeded generator, and return this generator."""
    generator = random.Random(0)
    for name in random.__all__:
        if hasattr(generator, name):
            setattr(random, name, getattr(generator, name))
    random._inst = generator
    random.Random = random.SystemRandom = SeededRandom  # type: ignore[assignment,misc]
    return generator


class VirtualClock:
    """A clock that advances only when the program sleeps or polls for events.

    Args:
        wait: Called when the program must yield control to the grader.
    """

    def __init__(self, wait: Callable[[], None]) -> None:
        self.wait = wait
        self.now = 0.0  # virtual seconds since the start
        self.until = SPAN_S
        self.polls = 0
        self._real_sleep = time.sleep
        self._main = get_ident()

    def take_over(self) -> None:
        """Replace the functions of the time module."""
        real_time, monotonic, counter = time.time, time.monotonic, time.perf_counter
        time.sleep = self.sleep  # type: ignore[assignment]
        time.time = lambda: real_time() + self.now
        time.monotonic = lambda: monotonic() + self.now
        time.perf_counter = lambda: counter() + self.now

    def allow(self, seconds: float = SPAN_S) -> None:
        """Let the program run for `seconds` of virtual time before it must yield control."""
        self.until = self.now + seconds
        self.polls = 0

    def sleep(self, seconds: float) -> None:
        """Replace `time.sleep`."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if get_ident() != self._main:  # only the main thread can yield
            self._real_sleep(seconds)
            return
        self.now += seconds
        if self.now >= self.until:
            self.yield_to_grader()

    def poll(self, *, news: bool) -> None:
        """Advance the clock by a tick, and yield to the grader after many idle polls.

        A poll is not idle if the program has drawn something new (`news`).
        """
        self.polls = 0 if news else self.polls + 1
        self.now += TICK_S
        if self.polls > IDLE_POLLS or self.now >= self.until:
            self.yield_to_grader()

    def yield_to_grader(self) -> None:
        """Hand control to the grader, and reset the poll counter afterwards."""
        self.wait()
        self.polls = 0
