"""Perft: the boards that play can reach are as many as have been counted elsewhere."""

from __future__ import annotations

import pytest

from py2048.compiled.perft import GOLDEN, perft


@pytest.mark.parametrize(("side", "target"), [(2, 8), (2, 16), (2, 32), (2, 64), (3, 8), (3, 16)])
def test_reachable_boards_are_as_published(side: int, target: int) -> None:
    """The reference engine reaches exactly the published number of boards."""
    assert perft(side, side, target) == GOLDEN[side, target]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_reachable_boards_to_64_are_as_published() -> None:
    """The same for 3x3 with target 64: 594,046 boards."""
    assert perft(3, 3, 64) == GOLDEN[3, 64]
