"""Threads for compiled kernels, which release the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")


def available_threads() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def shares(count: int, workers: int) -> list[tuple[int, int]]:
    """Return `workers` ranges of nearly equal length that cover `count`."""
    bounds = [count * k // workers for k in range(workers + 1)]
    return list(pairwise(bounds))


def together(function: Callable[..., Result], jobs: Sequence[tuple[object, ...]]) -> list[Result]:
    """Call `function` with the arguments of each job, the first one on this thread."""
    if len(jobs) == 1:
        return [function(*jobs[0])]
    waiting = [_pool(len(jobs) - 1).submit(function, *job) for job in jobs[1:]]
    return [function(*jobs[0]), *(future.result() for future in waiting)]


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers, "py2048-batch")


if hasattr(os, "register_at_fork"):
    # A child process has none of its parent's threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)
