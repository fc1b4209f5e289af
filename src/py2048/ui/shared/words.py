"""Numbers in words, for every screen. Imports nothing: a window opens with it."""

from __future__ import annotations


def counted(count: int, thing: str) -> str:
    """Return how many there are of something: "1 move", "1,203 moves"."""
    return f"{count:,} {thing}{'' if abs(count) == 1 else 's'}"
