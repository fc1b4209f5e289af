"""`Crew`: threads that play the blocks of a batch together, with one write to begin a round.

Each thread has a range of blocks, from which it takes one after another; one whose range is empty
takes from the others. So no round waits for a thread that has not come, or that the system has set
aside, except for the block that it is at. Without work a thread looks for some, inside compiled
code, for some tens of microseconds, and then goes back to its pool.

The threads share words, int64 `[8 * (threads + 1)]`, a cache line for each and one for all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from py2048.engine.jit import exchange, fetch_add, kernel, pool_of, shares

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Words = NDArray[np.int64]
Int = int | np.int64

LINE = 8
"""Words in a cache line."""

NEXT, END, IS_HERE, ENDED, TOTAL = range(5)
"""Of each thread: the next block of its range, the block after the last, whether it looks for work,
and what it adds up in a round: games that ended, and their scores."""
DONE = 0
"""In the last line: the blocks that are done."""

MAX_LOOKS = 1000
"""How often a thread looks for work before it gives up: some tens of microseconds."""

ZERO, ONE = np.int64(0), np.int64(1)


class Crew:
    """Threads that share the blocks of one batch.

    Args:
        play: a kernel, called with the number of a thread, whether it opens a round, and
            `arguments`; it returns whether all blocks are done.
        arguments: its other arguments for each thread; the first is given these words.
        blocks: the number of blocks.
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
        self._lines[:-1, NEXT] = self._lines[:-1, END] = ends  # nothing to do yet
        words = self._lines.reshape(-1)
        self._play, self._jobs = play, [(words, *rest) for rest in arguments]
        self._pool: ThreadPoolExecutor | None = None
        self._called: list[Future[bool]] = []

    def play(self, threads: int) -> tuple[int, int]:
        """Play a round on `threads` threads; return how many games ended, and their scores."""
        if threads > 1:
            self._call(threads)
        is_done = self._play(0, True, *self._jobs[0])
        while not is_done:
            time.sleep(0)
            for future in self._called:
                if future.done():
                    future.result()  # raises what went wrong there
            is_done = self._play(0, False, *self._jobs[0])
        lines = self._lines
        if threads == 1:
            return int(lines[0, ENDED]), int(lines[0, TOTAL])
        return int(lines[:-1, ENDED].sum()), int(lines[:-1, TOTAL].sum())

    def _call(self, threads: int) -> None:
        """Call the threads that have gone back to the pool."""
        pool, lines = pool_of(len(self._jobs) - 1), self._lines
        if pool is not self._pool:  # at first, and in a process that was forked
            self._pool, lines[:-1, IS_HERE] = pool, 0
        away = [thread for thread in range(1, threads) if not lines[thread, IS_HERE]]
        if away:
            lines[away, IS_HERE] = 1
            jobs = [(thread, False, *self._jobs[thread]) for thread in away]
            self._called = [pool.submit(self._play, *job) for job in jobs]


@kernel(inline=True, borrows=True)
def open_round(words: Words) -> None:
    """Begin a round: from here on all threads take blocks."""
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
    """Return the next block for a thread, of its own range if it can be, or -1."""
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
    """Note that a block is done, and what happened in it."""
    words[thread * LINE + ENDED] += ended
    words[thread * LINE + TOTAL] += total
    fetch_add(words, np.int64(len(words) - LINE + DONE), ONE)


@kernel(inline=True, borrows=True)
def is_round_done(words: Words) -> bool:
    """Return whether all blocks are done."""
    last = len(words) - LINE
    return bool(fetch_add(words, np.int64(last + DONE), ZERO) == words[last - LINE + END])


@kernel(inline=True, borrows=True)
def leave(words: Words, thread: Int) -> None:
    """Note that a thread goes back to its pool."""
    exchange(words, np.int64(thread * LINE + IS_HERE), ZERO)
