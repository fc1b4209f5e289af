"""Error rates of the sequential test of odds."""

from __future__ import annotations

import random

import pytest

from py2048.courses.grading.chance import Odds


def _judged(seed: int, odds: float, should_be: float, fault: float) -> bool:
    """Whether a program that draws with `odds` is rejected."""
    draw = random.Random(seed)
    test = Odds(fault)
    for _ in range(20_000):
        test.note(should_be, came=draw.random() < odds)
        if test.settled:
            break
    return test.wrong


@pytest.mark.parametrize(("odds", "fault"), [(0.2, 0.2), (0.5, 0.2), (1 / 3, 0.2), (0.1, 0.5)])
def test_correct_odds_are_accepted(odds, fault):
    """At most one correct program in ten thousand is rejected, so none of 300."""
    assert not any(_judged(seed, odds, odds, fault) for seed in range(300))


@pytest.mark.parametrize(
    ("odds", "should_be", "fault"),
    [
        *((0.24, 0.2, 0.2), (0.16, 0.2, 0.2), (0.25, 0.2, 0.2), (0.6, 0.5, 0.2)),
        *((0.4, 1 / 3, 0.2), (0.05, 0.1, 0.5), (0, 0.1, 0.5), (1, 0.5, 0.2)),
    ],
)
def test_a_fault_of_a_fifth_is_found(odds, should_be, fault):
    """At least 99 of 100 faulty programs are rejected."""
    assert sum(_judged(seed, odds, should_be, fault) for seed in range(100)) >= 99


def test_a_certain_event_gives_no_evidence():
    """An example is a tile in the last empty cell."""
    test = Odds()
    for _ in range(1000):
        test.note(1, came=True)
    assert not test.wrong
