"""`Crew`: threads that step a batch together.

A step starts when the calling thread updates an array that all threads share and poll.

Each thread processes its own range of blocks; when the range is empty, the thread steals blocks
from the others. If the OS suspends a thread, only the block in progress is delayed. Idle threads
poll inside compiled code for tens of microseconds before they return to the pool.

The threads communicate through an int64 array `[8 * (threads + 1)]`. Each thread has its own cache
line in the array, and the last line is common to all threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from py2048.engine.jit import kernel, pool_of, shares
from py2048.engine.jit.numba_parts import exchange, fetch_add

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Words = NDArray[np.int64]
Int = int | np.int64

LINE = 8
"""Words per cache line."""

NEXT, END, IS_POLLING, ENDED, TOTAL = range(5)
"""Words of a thread's cache line. `NEXT` is the thread's next block, and `END` the block after its
last block. `IS_POLLING` is set while the thread waits for work. `ENDED` is the number of games that
ended in this round, and `TOTAL` is the sum of their scores.
"""
DONE = 0
"""Word of the shared cache line that counts finished blocks."""

MAX_IDLE_POLLS = 1000
"""Number of idle polls (tens of microseconds in total) before a thread returns to the pool."""

ZERO, ONE = np.int64(0), np.int64(1)


class Crew:
    """Threads that divide the blocks of a batch among themselves.

    Args:
        play: A kernel, called as ``play(thread, opens, words, *arguments)``. `words` is the array
            that the threads share. If `opens` is true, the call starts a new round. `play` returns
            whether the round is complete.
        arguments: The remaining arguments of `play`, one tuple per thread.
        blocks: Number of blocks.
    """

    def __init__(
        self,
        play: Callable[..., bool],
        arguments: Sequence[tuple[object, ...]],
        blocks: int,
    ) -> None:
        threads = len(arguments)
        self._lines = np.zeros((threads + 1, LINE), np.int64)
        ends = [end for _, end in shares(blocks, threads)]
        self._lines[:-1, NEXT] = self._lines[:-1, END] = ends  # no work yet
        words = self._lines.reshape(-1)
        self._play, self._jobs = play, [(words, *rest) for rest in arguments]
        self._pool: ThreadPoolExecutor | None = None
        self._futures: list[Future[bool]] = []

    def play(self, threads: int) -> tuple[int, int]:
        """Play a round; return how many games ended and their total score."""
        if threads > 1:
            self._wake(threads)
        is_done = self._play(0, True, *self._jobs[0])
        while not is_done:
            time.sleep(0)
            for future in self._futures:
                if future.done():
                    future.result()  # re-raises its exception
            is_done = self._play(0, False, *self._jobs[0])
        lines = self._lines
        if threads == 1:
            return int(lines[0, ENDED]), int(lines[0, TOTAL])
        return int(lines[:-1, ENDED].sum()), int(lines[:-1, TOTAL].sum())

    def _wake(self, threads: int) -> None:
        """Submit a job to the pool for each thread that has stopped polling."""
        pool, lines = pool_of(len(self._jobs) - 1), self._lines
        if pool is not self._pool:  # first use, or after a fork
            self._pool, lines[:-1, IS_POLLING] = pool, 0
        idle = [thread for thread in range(1, threads) if not lines[thread, IS_POLLING]]
        if idle:
            lines[idle, IS_POLLING] = 1
            jobs = [(thread, False, *self._jobs[thread]) for thread in idle]
            self._futures = [pool.submit(self._play, *job) for job in jobs]


@kernel(inline=True, borrows=True)
def open_round(words: Words) -> None:
    """Start a round: reset the counters, then make all blocks available to the threads."""
    threads = len(words) // LINE - 1
    exchange(words, np.int64(threads * LINE + DONE), ZERO)
    for thread in range(threads):
        words[thread * LINE + ENDED] = ZERO
        words[thread * LINE + TOTAL] = ZERO
    first = ZERO
    for thread in range(threads):
        exchange(words, np.int64(thread * LINE + NEXT), first)
        first = words[thread * LINE + END]


@kernel(inline=True, borrows=True)
def take_block(words: Words, thread: Int) -> np.int64:
    """Return the next block for a thread to process, or -1 if no blocks are left.

    Blocks from the thread's own range come first.
    """
    threads = len(words) // LINE - 1
    for number in range(threads):
        owner = (thread + number) % threads
        place, end = np.int64(owner * LINE + NEXT), words[owner * LINE + END]
        if fetch_add(words, place, ZERO) < end:
            block = fetch_add(words, place, ONE)
            if block < end:
                return block
    return np.int64(-1)


@kernel(inline=True, borrows=True)
def finish_block(words: Words, thread: Int, ended: Int, total: Int) -> None:
    """Count a finished block, and add its results to the thread's totals."""
    words[thread * LINE + ENDED] += ended
    words[thread * LINE + TOTAL] += total
    fetch_add(words, np.int64(len(words) - LINE + DONE), ONE)


@kernel(inline=True, borrows=True)
def is_round_done(words: Words) -> bool:
    """Return whether all blocks are finished."""
    last = len(words) - LINE
    return bool(fetch_add(words, np.int64(last + DONE), ZERO) == words[last - LINE + END])


@kernel(inline=True, borrows=True)
def mark_idle(words: Words, thread: Int) -> None:
    """Record that a thread has returned to the pool."""
    exchange(words, np.int64(thread * LINE + IS_POLLING), ZERO)
