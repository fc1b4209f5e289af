"""Answers that are worked out once for many: fresh enough, and never by two at a time."""

from __future__ import annotations

import asyncio

import pytest

from py2048.server.cache import TimedCache


async def test_an_answer_is_worked_out_once_for_all_who_ask() -> None:
    """All who ask while it is worked out, or a moment later, get the same; then it is anew."""
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
    """All who wait hear of it; then the question is asked again, however long answers last."""
    recent = TimedCache(1e9)

    async def fail() -> int:
        raise ValueError("no answer")

    async def answer() -> int:
        return 7

    with pytest.raises(ValueError, match="no answer"):
        await recent.get("a", fail)
    assert await recent.get("a", answer) == 7
