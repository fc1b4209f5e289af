"""The cache of shared results."""

from __future__ import annotations

import asyncio

import pytest

from py2048.server.cache import TimedCache


async def test_an_answer_is_worked_out_once_for_all_who_ask() -> None:
    """Callers share one computation until it expires; failures are not kept."""
    now, asked = 10.0, []
    recent = TimedCache(1.0, 10, clock=lambda: now)

    async def answer() -> int:
        asked.append(now)
        await asyncio.sleep(0)
        return len(asked)

    async def fail() -> int:
        raise ValueError("no answer")

    assert await asyncio.gather(*(recent.get("a", answer) for _ in range(24))) == [1] * 24
    now = 11.0
    assert await recent.get("a", answer) == 1
    assert await recent.get("b", answer) == 2
    now = 11.1
    assert await recent.get("a", answer) == 3
    with pytest.raises(ValueError, match="no answer"):
        await recent.get("c", fail)
    assert await recent.get("c", answer) == 4
