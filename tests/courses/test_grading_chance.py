"""The sequential test of odds, without a sandbox: how often it is wrong."""

from __future__ import annotations

import random

import pytest

from py2048.courses.grading.chance import Odds


def _judged(seed: int, odds: float, should_be: float, fault: float) -> bool:
    """Whether a program that draws with `odds` is called wrong, and how many draws that takes."""
    draw = random.Random(seed)
    test = Odds(fault)
    for _ in range(20_000):
        test.note(should_be, came=draw.random() < odds)
        if test.settled:
            break
    return test.wrong


@pytest.mark.parametrize(("odds", "fault"), [(0.2, 0.2), (0.5, 0.2), (1 / 3, 0.2), (0.1, 0.5)])
def test_right_odds_are_not_called_wrong(odds, fault):
    """At most one right program in ten thousand is: none of 300."""
    assert not any(_judged(seed, odds, odds, fault) for seed in range(300))


@pytest.mark.parametrize(
    ("odds", "should_be", "fault"),
    [
        *((0.24, 0.2, 0.2), (0.16, 0.2, 0.2), (0.25, 0.2, 0.2), (0.6, 0.5, 0.2)),
        *((0.4, 1 / 3, 0.2), (0.05, 0.1, 0.5), (0, 0.1, 0.5), (1, 0.5, 0.2)),
    ],
)
def test_a_fault_of_a_fifth_is_found(odds, should_be, fault):
    """In 99 of 100 programs; a larger one the more so, and half the odds of a cell."""
    assert sum(_judged(seed, odds, should_be, fault) for seed in range(100)) >= 99


def test_the_only_possible_event_tells_nothing():
    """The last empty cell is taken."""
    test = Odds()
    for _ in range(1000):
        test.note(1, came=True)
    assert not test.wrong
