"""Error rates of the sequential test of odds."""

from __future__ import annotations

import random
from contextlib import nullcontext
from types import SimpleNamespace
from typing import NoReturn

import pytest

from py2048.courses.grading import CheckFailed
from py2048.courses.grading.chance import BATCH_SIZE, Odds, draws_evenly, judge_cells


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
        ([1, 1, 1, 2, 2, 3, 3], r"each of \[1, 2, 3\] equally often, got 420 times 1 in 1000$"),
        ([1, 9], "expected 1 or 2 or 3, got 9$"),
    ],
)
def test_draws_must_be_even(population, fault):
    """Every value is drawn equally often, and no other value at all."""
    session = Drawing(population=population, shown=[], batches=0)
    with pytest.raises(CheckFailed, match=fault) if fault else nullcontext():
        draws_evenly(session, "draw()", [1, 2, 3], "bag = []")


@pytest.mark.parametrize(("values", "batches"), [([1], 1), ([1, 2, 3], 2), ([*range(30)], 12)])
def test_draws_end_once_they_are_decided(values, batches):
    """More draws of a single value would tell nothing. There is a maximum for many values."""
    session = Drawing(population=values, shown=["a", "b"], batches=0)
    draws_evenly(session, "draw()", values, "bag = []")
    assert (session.batches, session.shown) == (batches, ["b"])


def test_a_cell_with_too_many_tiles_is_named():
    """The report compares the number of tiles with the expected one."""
    tests = {(1, 1): Odds(), (1, 2): Odds(), (2, 1): Odds()}
    for number in range(80):
        tests[1, 1].note(0.5, came=number % 2 == 0)
        tests[1, 2].note(0.25, came=True)
    with pytest.raises(CheckFailed, match=r"expected even, got 80 on \(1, 2\); 20 were expected$"):
        judge_cells(Drawing(), tests, "even")
