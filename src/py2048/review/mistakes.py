"""The schedule for practising mistakes: the Leitner system."""

from __future__ import annotations

from datetime import timedelta

FIRST_BOX, LAST_BOX = 1, 7


def next_box(box: int, *, is_success: bool) -> int:
    """Return a mistake's box after an exercise, by the Leitner system.

    A correct answer moves it to the next box, a wrong answer back to the first. Each box is
    practised half as often as the one before. Source: S. Leitner, So lernt man lernen, 1972.
    """
    return min(box + 1, LAST_BOX) if is_success else FIRST_BOX


def interval(box: int) -> timedelta:
    """Return how long a mistake rests in a box: one day in the first, 64 in the last."""
    return timedelta(days=2 ** (box - FIRST_BOX))
