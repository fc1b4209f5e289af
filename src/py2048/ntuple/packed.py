"""`PackedWeights`, and `LazyTable`, whose parts stay packed until they are needed.

Few games come to the late bands of a network (``network.py``), and the table of one takes 200 MB.
So a part of a table is unpacked when a search asks for it, or in the background shortly before, and
its memory is given back some time after the last one did.
"""

from __future__ import annotations

import mmap
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from py2048.compiled.jit import IS_PLAIN
from py2048.errors import WeightsError
from py2048.ntuple import _network_kernels as kernels

Quantized = NDArray[np.int16]
Bytes = NDArray[np.uint8]

IDLE = 30.0
"""Seconds for which a part is kept that no search asks for: games in progress come back to it."""
UNPACKING = "py2048-unpacking"
"""The name of threads that unpack in the background."""
PAGE = 1 << 21
"""Memory is given back in such pages."""


class PackedWeights(NamedTuple):
    """16-bit weights of which most are zero, as files hold them (``weights.py``).

    Attributes:
        used: a bit for each weight, the first one highest: whether it is not zero.
        low: the low bytes of those, as zigzag numbers.
        high: their high bytes.
    """

    used: Bytes
    low: Bytes
    high: Bytes

    def add_to(self, steps: Quantized) -> None:
        """Add the weights to others, which wrap around."""
        (add_changes if IS_PLAIN else kernels.add_changes)(*self, steps)


def add_changes(used: Bytes, low: Bytes, high: Bytes, steps: Quantized) -> None:
    """Do the same as the kernel in NumPy, for use where kernels are not compiled."""
    zigzag = low.astype(np.uint16) | high.astype(np.uint16) << 8
    bits = np.unpackbits(used, count=steps.size).view(np.bool_)
    steps[bits] += ((zigzag >> 1) ^ (0 - (zigzag & 1))).view(np.int16)


class LazyTable:
    """A table of equally large parts, of which those that are in use are unpacked.

    Args:
        packed: for each part a function that returns its weights.
        size: the number of weights of a part.

    Attributes:
        table: the weights, int16 `[parts * size]`; zeros where a part is not unpacked.
        loaded: the numbers of the parts that are, with the time when each was last asked for.
    """

    def __init__(self, packed: Sequence[Callable[[], PackedWeights]], size: int) -> None:
        self._packed = packed
        self._size = size
        self._memory = _zeros(2 * size * len(packed))
        self.table: Quantized = np.frombuffer(self._memory, np.int16)
        self.loaded: dict[int, float] = {}
        self._holders = [0] * len(packed)
        self._lock = threading.Lock()
        self._unpacking = [threading.Lock() for _ in packed]

    @contextmanager
    def holding(self, numbers: Iterable[int]) -> Iterator[None]:
        """Have some parts unpacked for a while."""
        held = list(numbers)
        self._take(held)
        try:
            yield
        finally:
            with self._lock:
                for number in held:
                    self._holders[number] -= 1

    def hold_all(self) -> Quantized:
        """Unpack all parts for good; return the table."""
        self._take(range(len(self._packed)))
        return self.table

    def check(self) -> None:
        """Read all parts, one after the other, and keep none.

        Raises:
            WeightsError: if one is damaged.
        """
        for read in self._packed:
            read()

    def expect(self, numbers: Iterable[int]) -> None:
        """Unpack some parts in the background, for whoever asks for them soon."""
        for number in numbers:
            if number not in self.loaded and not self._holders[number]:
                thread = threading.Thread(target=self._visit, args=[number], name=UNPACKING)
                with suppress(RuntimeError):  # where none can start, the search unpacks the part
                    thread.start()

    def _visit(self, number: int) -> None:
        with suppress(WeightsError), self.holding([number]):  # the search that needs it says so
            pass

    def _take(self, numbers: Sequence[int]) -> None:
        with self._lock:
            for number in numbers:  # from now on they are not given back
                self._holders[number] += 1
        for number in numbers:
            with self._unpacking[number]:
                if number not in self.loaded:
                    self._packed[number]().add_to(self._part(number))
                self.loaded[number] = time.monotonic()
        with self._lock:
            for number, asked in list(self.loaded.items()):
                if asked < time.monotonic() - IDLE and not self._holders[number]:
                    self._give_back(number)

    def _part(self, number: int) -> Quantized:
        return self.table[number * self._size :][: self._size]

    def _give_back(self, number: int) -> None:
        del self.loaded[number]
        start, length = 2 * self._size * number, 2 * self._size
        if sys.platform == "linux" and start % PAGE == length % PAGE == 0:
            self._memory.madvise(mmap.MADV_DONTNEED, start, length)  # there it is all zeros then
        else:
            self._part(number)[:] = 0


def _zeros(size: int) -> mmap.mmap:
    """Return memory that is taken when it is written, in large pages where there are such."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # this kernel has none
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory
