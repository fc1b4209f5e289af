"""The cache of shared results."""

from __future__ import annotations

import asyncio

import pytest

from py2048.server.cache import TimedCache


async def test_an_answer_is_worked_out_once_for_all_who_ask() -> None:
    """Concurrent and later callers share one computation until it expires."""
    now, asked = 10.0, []
    recent = TimedCache(1.0, clock=lambda: now)

    async def answer() -> int:
        asked.append(now)
        await asyncio.sleep(0)
        return len(asked)

    assert await asyncio.gather(*(recent.get("a", answer) for _ in range(24))) == [1] * 24
    now = 11.0
    assert await recent.get("a", answer) == 1
    assert await recent.get("b", answer) == 2
    now = 11.1
    assert await recent.get("a", answer) == 3


async def test_a_failure_is_told_and_tried_again() -> None:
    """All waiting callers get the exception, and the next call tries again."""
    recent = TimedCache(1e9)

    async def fail() -> int:
        raise ValueError("no answer")

    async def answer() -> int:
        return 7

    with pytest.raises(ValueError, match="no answer"):
        await recent.get("a", fail)
    assert await recent.get("a", answer) == 7
