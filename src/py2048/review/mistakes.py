"""The practice schedule for a player's mistakes, using the Leitner system."""

from __future__ import annotations

from datetime import timedelta

FIRST_BOX, LAST_BOX = 1, 7


def next_box(box: int, *, is_success: bool) -> int:
    """Return a mistake's next Leitner box.

    A mistake moves up one box after a correct answer, and back to the first box after a wrong
    answer. Each box is practised half as often as the one before it.
    Source: S. Leitner, So lernt man lernen, 1972.
    """
    return min(box + 1, LAST_BOX) if is_success else FIRST_BOX


def interval(box: int) -> timedelta:
    """Return the practice interval of a box, from 1 day in box 1 to 64 days in box 7."""
    return timedelta(days=2 ** (box - FIRST_BOX))
