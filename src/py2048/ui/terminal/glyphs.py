"""Large digits made of pixels, for tiles with room for them."""

from __future__ import annotations

from collections.abc import Iterator

HEIGHT = 5
_WIDTH = 3

# Five rows of three pixels each, from the top.
_DIGITS = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", "  #", "  #"),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
}


def width_of(text: str) -> int:
    """Return how many dots wide a number is."""
    return len(text) * (_WIDTH + 1) - 1


def dots(text: str) -> Iterator[tuple[int, int]]:
    """Yield the dots ``(x, y)`` of a number, from its top left."""
    for index, digit in enumerate(text):
        for y, row in enumerate(_DIGITS[digit]):
            for x, dot in enumerate(row):
                if dot == "#":
                    yield index * (_WIDTH + 1) + x, y
