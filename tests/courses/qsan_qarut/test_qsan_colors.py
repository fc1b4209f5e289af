"""The colours of qsan_qarut: one for every number that can occur, readable and distinct."""

from __future__ import annotations

import numpy as np
import pytest

from py2048.courses.qsan_qarut.view import colors


def channels(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def contrast_with_white(color: str) -> float:
    """Contrast ratio of the Web Content Accessibility Guidelines 2.2."""
    parts = [c / 255 for c in channels(color)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 1.05 / (np.dot(linear, [0.2126, 0.7152, 0.0722]) + 0.05)


@pytest.mark.parametrize("rank", range(1, 63))
def test_every_number_has_a_colour_on_which_white_digits_can_be_read(rank: int) -> None:
    color = colors[np.int64(2**rank)]
    assert color == colors[2**rank]
    assert contrast_with_white(color) >= 4.5
    assert color != colors[0]
    assert color != colors[2 ** (rank + 1)]


def test_the_numbers_up_to_131072_all_differ() -> None:
    table = [colors[0], *(colors[2**rank] for rank in range(1, 18))]
    distances = [
        np.abs(np.subtract(channels(a), channels(b))).sum()
        for i, a in enumerate(table)
        for b in table[:i]
    ]
    assert min(distances) >= 24
