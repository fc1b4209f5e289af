"""How far the compiler is, and how to do without it.

`now` says what is being compiled in this process. `ready_only` is for those who would rather have
another answer at once than wait: there, what is not compiled yet raises `NotReadyError`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from py2048.engine.jit.numba_parts import Kernel, is_kernel, numba_module

PAUSE_S = 3.0
"""Seconds without the compiler after which what it compiles next is another piece of work."""

FIXED_WEIGHT = 25_000.0
"""The part of a kernel's weight that does not depend on its size."""

MIN_WEIGHT = 3_000_000.0
"""What a piece of work weighs at least. Small kernels often come before the large one."""


class NotReadyError(Exception):
    """A kernel would have to be compiled first."""


@dataclass(frozen=True, slots=True)
class Compiling:
    """How far the compiler is with a piece of work.

    Attributes:
        done: how many kernels are compiled.
        total: how many the work needs, as far as is known: more may be found out on the way.
        share: how much of the work is done, 0 to 1; kernels weigh by the time that they take.
    """

    done: int = 0
    total: int = 0
    share: float = 0.0

    def __str__(self) -> str:
        return f"compiling {100 * self.share:.0f} % (once per installation)"


class _Work:
    """What was compiled of late, and what is being compiled; one kernel at a time is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stack: list[Kernel] = []
        self._weights: dict[int, float] = {}
        self._done: set[int] = set()
        self._began = self._changed = self._share = 0.0

    def begin(self, kernel: Kernel) -> None:
        with self._lock:
            now = time.monotonic()
            if not self._stack:
                if now > self._changed + PAUSE_S:
                    self._weights, self._done, self._began, self._share = {}, set(), now, 0.0
                self._weights |= _weights(kernel)
            self._stack.append(kernel)
            self._changed = now

    def end(self, kernel: Kernel, *, is_done: bool = True) -> None:
        with self._lock:
            if kernel in self._stack:
                while self._stack.pop() is not kernel:
                    pass
                self._changed = time.monotonic()
                if is_done:
                    self._done.add(id(kernel))

    def note_loaded(self, kernel: Kernel) -> None:
        with self._lock:
            if self._stack:
                self._done |= _weights(kernel).keys()

    def now(self) -> Compiling | None:
        with self._lock:
            if not self._stack:
                return None
            total = max(sum(self._weights.values()), MIN_WEIGHT)
            ready = self._done & self._weights.keys()
            done = sum(self._weights[number] for number in ready)
            # While one kernel is compiled, time passes at the speed that there was so far.
            worked = self._changed - self._began
            speed = done / worked if worked > 0 else 0.0
            rest = self._weights.get(id(self._stack[-1]), 0.0)
            done += min(0.9 * rest, speed * (time.monotonic() - self._changed))
            self._share = max(self._share, min(done / total, 0.99))
            return Compiling(len(ready), len(self._weights), self._share)


_work = _Work()
_here = threading.local()


def now() -> Compiling | None:
    """Return how far the compiler is in this process, or `None` if nothing is being compiled."""
    return _work.now()


@contextmanager
def ready_only() -> Iterator[None]:
    """Compile nothing on this thread: raise `NotReadyError` where a kernel is not ready."""
    before, _here.ready_only = getattr(_here, "ready_only", False), True
    try:
        yield
    finally:
        _here.ready_only = before


def check(kernel: Kernel) -> None:
    """Note that `kernel` is in no cache.

    Raises:
        NotReadyError: inside `ready_only`.
    """
    if getattr(_here, "ready_only", False):
        raise NotReadyError(kernel.py_func.__name__)
    _listen()


def note_loaded(kernel: Kernel) -> None:
    """Note that `kernel` was found in the cache, with all that it calls inside."""
    _work.note_loaded(kernel)


@contextmanager
def waiting_for(kernel: Kernel) -> Iterator[None]:
    """Count the time inside as work at `kernel`, which another process may be compiling."""
    _work.begin(kernel)
    try:
        yield
    finally:
        _work.end(kernel, is_done=False)


@cache
def _listen() -> None:
    """Hear of all compilations from now on, by the events that Numba sends for tools."""
    events = numba_module(".core.event")

    class Listener(events.Listener):  # type: ignore[misc, name-defined]
        def on_start(self, event: Any) -> None:
            if is_kernel(event.data["dispatcher"]):  # and no other package's
                _work.begin(event.data["dispatcher"])

        def on_end(self, event: Any) -> None:
            _work.end(event.data["dispatcher"])

    events.register("numba:compile", Listener())


def _weights(kernel: Kernel) -> dict[int, float]:
    """Return about how long `kernel` and all that it calls take to compile, in units of its own.

    A kernel is optimised together with all that it calls. The power was found by measuring
    searches and trainings.
    """
    calls: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    expanded: set[int] = set()  # written out in their callers, and never compiled alone
    waiting = [kernel]
    while waiting:
        part = waiting.pop()
        if id(part) not in calls:
            if part.targetoptions.get("inline") == "always":
                expanded.add(id(part))
            callees = list(_callees(part.py_func))
            calls[id(part)] = [id(callee) for callee in callees]
            sizes[id(part)] = len(part.py_func.__code__.co_code)
            waiting += callees
    return {
        part: FIXED_WEIGHT + float(sum(sizes[other] for other in _reached(part, calls))) ** 1.5
        for part in calls
        if part not in expanded
    }


def _reached(start: int, calls: dict[int, list[int]]) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        new = set(calls[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def _callees(function: FunctionType) -> Iterator[Kernel]:
    """Yield the kernels that a function calls."""
    names = names_in(function.__code__)
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    values += [getattr(module, name, None) for module in modules for name in names]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    yield from filter(is_kernel, values)


def names_in(code: CodeType) -> list[str]:
    """Return the names that code reads from its module and from others, sorted."""
    nested = [name for c in code.co_consts if isinstance(c, CodeType) for name in names_in(c)]
    return sorted({*code.co_names, *nested})
