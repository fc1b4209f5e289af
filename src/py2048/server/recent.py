"""Answers that hold for a moment: worked out once, however many ask meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")
_MOST = 256


class Recent(Generic[_T]):
    """The latest answers by what was asked.

    Args:
        seconds: how long an answer holds.
        clock: tells the seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._answers: dict[object, tuple[float, asyncio.Future[_T]]] = {}

    async def get(self, asked: object, answer: Callable[[], Awaitable[_T]]) -> _T:
        """Return the answer that holds, or work it out; a failure is told to all who wait."""
        now = self._clock()
        since, found = self._answers.get(asked, (0.0, None))
        if found is None or (found.done() and now - since > self._seconds):
            if len(self._answers) >= _MOST:
                self._answers.clear()
            found = asyncio.ensure_future(answer())
            self._answers[asked] = now, found
        return await asyncio.shield(found)

    def clear(self) -> None:
        """Forget all answers."""
        self._answers.clear()
