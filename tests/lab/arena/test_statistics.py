"""Estimates and intervals, compared with scipy."""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.lab.arena.statistics import estimate, rate


@pytest.fixture(scope="module")
def stats() -> ModuleType:
    """Import scipy.stats only when a test needs it, because that takes a second."""
    return import_module("scipy.stats")


@given(values=st.lists(st.integers(0, 10**6), min_size=4, max_size=50))
def test_a_mean_has_scipys_error_and_interval(stats, values):
    """Mean and error equal scipy's, and the interval is within 1 % of it."""
    found = estimate(values)
    assert found.mean == pytest.approx(sum(values) / len(values))
    error = float(stats.sem(values))
    assert found.error == pytest.approx(error)
    reach = stats.t.ppf(0.975, len(values) - 1) * error
    assert found.high - found.mean == pytest.approx(reach, rel=0.01, abs=1e-6)
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_few_values_say_nothing_about_the_interval():
    """Small samples have no interval, and a single value has no error."""
    assert estimate([7]).mean == 7
    assert math.isnan(estimate([7]).error)
    assert estimate([7, 8, 9]).error > 0
    assert math.isnan(estimate([7, 8, 9]).high)


@given(counts=st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_rates_have_wilsons_interval(stats, counts):
    """Wilson intervals equal scipy's, also for no hits and only hits."""
    hits, trials = counts
    found = rate(hits, trials)
    wanted = stats.binomtest(hits, trials).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=1e-12)
    assert 0 <= found.low <= found.share <= found.high <= 1
