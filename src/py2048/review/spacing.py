"""When a mistake is practised again: the boxes of Leitner.

A mistake moves to the next box each time the answer is right and back to the first when it is
wrong; each box is practised half as often as the one before it. Source: S. Leitner, So lernt man
lernen, 1972.
"""

from __future__ import annotations

from datetime import timedelta

FIRST_BOX, LAST_BOX = 1, 7


def next_box(box: int, *, is_success: bool) -> int:
    """Return the box of a mistake after it was practised."""
    return min(box + 1, LAST_BOX) if is_success else FIRST_BOX


def interval(box: int) -> timedelta:
    """Return how long a mistake stays in a box: a day in the first, 64 in the last."""
    return timedelta(days=2 ** (box - FIRST_BOX))
