"""Estimates and their intervals, against scipy and against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from py2048.arena.statistics import (
    estimate,
    quantile,
    rate,
    student_quantile,
    student_within,
)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30, 99, 999, 1000, 5000, 10**6])
def test_student_quantiles_are_those_of_scipy(freedom: int) -> None:
    """With few degrees of freedom by the exact sums, with many by the normal and a correction."""
    assert student_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


@given(st.floats(0.01, 50), st.integers(1, 400))
def test_student_probabilities_are_those_of_scipy(reach: float, freedom: int) -> None:
    """The finite sums are the distribution, for odd and even degrees of freedom."""
    wanted = 1 - 2 * stats.t.sf(reach, freedom)
    assert student_within(reach, freedom) == pytest.approx(wanted, abs=1e-12)


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=50))
def test_a_mean_has_scipys_error_and_interval(values: list[int]) -> None:
    """Mean, standard error and Student's interval."""
    found = estimate(values)
    error = float(stats.sem(values))
    assert found.mean == pytest.approx(sum(values) / len(values))
    assert found.error == pytest.approx(error)
    reach = stats.t.ppf(0.975, len(values) - 1) * error
    assert (found.low, found.high) == pytest.approx((found.mean - reach, found.mean + reach))


def test_one_value_says_nothing_about_its_error() -> None:
    """Neither an error nor an interval can be had from a sample of one."""
    found = estimate([7])
    assert found.mean == 7
    assert all(map(math.isnan, (found.error, found.low, found.high)))


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_rates_have_wilsons_interval(counts: tuple[int, int]) -> None:
    """As scipy computes it, also where nothing or everything was hit."""
    hits, trials = counts
    found = rate(hits, trials)
    wanted = stats.binomtest(hits, trials).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert 0 <= found.low <= found.share <= found.high <= 1


def test_quantiles_by_hand() -> None:
    """The ends are the extremes; between two values the way is straight."""
    values = [10, 20, 40, 80]
    assert [quantile(values, share) for share in (0, 1 / 3, 0.5, 1)] == [10, 20, 30, 80]
    assert quantile([5], 0.75) == 5
