"""The text on a tile, for every width that a terminal leaves for it."""

from __future__ import annotations

import string

FULL_WIDTH = 6
"""Columns that show every tile up to 131072 in digits."""

POWERS_WIDTH = 2
"""At this width and below a label is the tile's rank, since digits would not fit."""

_UNITS = "kMGTPE"
_BASE36 = string.digits + string.ascii_lowercase


def label(value: int, width: int) -> str:
    """Return the text for a tile on `width` columns, at most that long.

    Digits where they fit, then thousands (``131k``), and on one or two columns the rank: ``11``
    is 2048. A board uses one width for all its tiles, so that a label has one meaning.

    >>> label(131072, 6), label(131072, 4), label(131072, 3), label(131072, 2)
    ('131072', '131k', '.1M', '17')
    """
    if width <= POWERS_WIDTH:
        return _rank(value.bit_length() - 1, width)
    for text in _spellings(value):
        if len(text) <= width:
            return text
    return "·"


def _rank(rank: int, width: int) -> str:
    if width == 1:
        return _BASE36[rank] if rank < len(_BASE36) else "·"
    return str(rank) if rank < 100 else "··"


def _spellings(value: int) -> list[str]:
    """The ways to write `value`, the most exact first."""
    spellings = [str(value)]
    for power, unit in enumerate(_UNITS, start=1):
        thousands = value / 1000**power
        if thousands >= 1:
            spellings.append(f"{int(thousands)}{unit}")
        elif thousands >= 0.1:
            spellings.append(f".{int(thousands * 10)}{unit}")
    return [*spellings, f"2^{value.bit_length() - 1}"]
