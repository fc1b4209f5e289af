"""Error rates of the sequential test of odds."""

from __future__ import annotations

import random
from contextlib import nullcontext
from types import SimpleNamespace
from typing import NoReturn

import pytest

from py2048.courses.grading import CheckFailed
from py2048.courses.grading.chance import BATCH_SIZE, Odds, draws_evenly


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


class Drawing(SimpleNamespace):
    """A session with a program that draws from `population`."""

    def begin(self) -> None:
        self.prepared = []

    def expect(self, code: str) -> None:
        self.prepared.append(code)

    def seed_for(self, batch: int) -> int:
        return batch

    def value(self, code: str, seed: int) -> list[int]:
        assert self.prepared == ["bag = []"]
        assert code == f"[draw() for _ in range({BATCH_SIZE})]"
        self.batches += 1
        return random.Random(seed).choices(self.population, k=BATCH_SIZE)

    def fail(self, expected: str, actual: str) -> NoReturn:
        raise CheckFailed("draw()", expected, actual)


@pytest.mark.parametrize(
    ("population", "fault"),
    [
        ([1, 2, 3], ""),
        ([1, 1, 1, 2, 2, 3, 3], r"got \d+ times [123] in \d+00$"),
        ([1, 9], "got 9$"),
    ],
)
def test_draws_must_be_even(population, fault):
    """Every value is drawn equally often, and no other value at all."""
    session = Drawing(population=population, shown=[], batches=0)
    with pytest.raises(CheckFailed, match=fault) if fault else nullcontext():
        draws_evenly(session, "draw()", [1, 2, 3], "bag = []")


def test_a_single_value_needs_one_batch():
    """More draws of it would tell nothing."""
    session = Drawing(population=[1], shown=[], batches=0)
    draws_evenly(session, "draw()", [1], "bag = []")
    assert session.batches == 1
