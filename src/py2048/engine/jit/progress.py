"""Compilation progress, and a context manager that avoids waiting for the compiler.

`now` reports what this process is compiling. Inside `ready_only`, kernels that are not compiled yet
raise `NotReadyError`. Callers can then use a fallback instead of waiting.
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

from py2048.core.language import _
from py2048.engine.jit.numba_parts import Kernel, is_kernel, numba_module

PAUSE_S = 3.0
"""If nothing is compiled for this many seconds, progress restarts from 0."""

FIXED_WEIGHT = 25_000.0
"""Estimated compile time of an empty kernel, in the arbitrary unit of `_weights`."""

MIN_WEIGHT = 3_000_000.0
"""Lower bound on the estimated total compile time, in the unit of `_weights`.

Without this bound, the progress bar would be full after the first small kernels.
"""


class NotReadyError(Exception):
    """A kernel is not compiled yet."""


@dataclass(frozen=True, slots=True)
class Compiling:
    """Progress of the current compilations.

    Attributes:
        done: Number of compiled kernels.
        total: Number of kernels needed so far, which may still grow.
        share: Completed fraction of the work, from 0 to 1. Kernels are weighted by their estimated
            compile time.
    """

    done: int = 0
    total: int = 0
    share: float = 0.0

    def __str__(self) -> str:
        return _("compiling {n} % (once per installation)").format(n=round(100 * self.share))


class _Work:
    """Progress of the compilation under way. Kernels compile one at a time."""

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
            # Estimate the progress of the current kernel from the compilation speed so far.
            worked = self._changed - self._began
            speed = done / worked if worked > 0 else 0.0
            rest = self._weights.get(id(self._stack[-1]), 0.0)
            done += min(0.9 * rest, speed * (time.monotonic() - self._changed))
            self._share = max(self._share, min(done / total, 0.99))
            return Compiling(len(ready), len(self._weights), self._share)


_work = _Work()
_thread = threading.local()


def now() -> Compiling | None:
    """Return the compiler's progress in this process, or `None` if it is idle."""
    return _work.now()


@contextmanager
def ready_only() -> Iterator[None]:
    """Prevent compilation on this thread; kernels that are not ready raise `NotReadyError`."""
    before, _thread.ready_only = getattr(_thread, "ready_only", False), True
    try:
        yield
    finally:
        _thread.ready_only = before


def check(kernel: Kernel) -> None:
    """Handle a cache miss for `kernel`.

    Raises:
        NotReadyError: Inside `ready_only`.
    """
    if getattr(_thread, "ready_only", False):
        raise NotReadyError(kernel.py_func.__name__)
    _listen()


def note_loaded(kernel: Kernel) -> None:
    """Count a kernel loaded from the cache and its callees as compiled."""
    _work.note_loaded(kernel)


@contextmanager
def waiting_for(kernel: Kernel) -> Iterator[None]:
    """Count the time in the ``with`` block as compile time of `kernel`.

    Another process may compile the kernel.
    """
    _work.begin(kernel)
    try:
        yield
    finally:
        _work.end(kernel, is_done=False)


@cache
def _listen() -> None:
    """Subscribe to Numba's compilation events."""
    events = numba_module(".core.event")

    class Listener(events.Listener):  # type: ignore[misc, name-defined]
        def on_start(self, event: Any) -> None:
            if is_kernel(event.data["dispatcher"]):  # ignore the kernels of other packages
                _work.begin(event.data["dispatcher"])

        def on_end(self, event: Any) -> None:
            _work.end(event.data["dispatcher"])

    events.register("numba:compile", Listener())


def _weights(kernel: Kernel) -> dict[int, float]:
    """Return relative compile-time estimates for `kernel` and its callees, keyed by id.

    LLVM optimises a kernel together with all kernels that it calls. The exponent of 1.5 was fitted
    to measured compile times of the search and training kernels.
    """
    return {
        id(part): FIXED_WEIGHT + float(sum(map(_size, _reached(part)))) ** 1.5
        for part in _reached(kernel)
        if part.targetoptions.get("inline") != "always"  # inlined kernels never compile alone
    }


def _size(kernel: Kernel) -> int:
    return len(kernel.py_func.__code__.co_code)


def _reached(kernel: Kernel) -> list[Kernel]:
    """Return a kernel and all kernels that it calls, directly or indirectly."""
    found, waiting = {id(kernel): kernel}, [kernel]
    while waiting:
        callees = {id(each): each for each in _callees(waiting.pop().py_func)}
        waiting += [each for number, each in callees.items() if number not in found]
        found |= callees
    return list(found.values())


@cache
def _callees(function: FunctionType) -> list[Kernel]:
    """Return the kernels that a function calls."""
    names = names_in(function.__code__)
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    values += [getattr(module, name, None) for module in modules for name in names]
    values += [cell.cell_contents for cell in function.__closure__ or ()]
    return list(filter(is_kernel, values))


def names_in(code: CodeType) -> list[str]:
    """Return the sorted global and attribute names that code refers to."""
    nested = [name for c in code.co_consts if isinstance(c, CodeType) for name in names_in(c)]
    return sorted({*code.co_names, *nested})
