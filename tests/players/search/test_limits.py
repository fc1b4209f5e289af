"""Search limits at their boundaries, and the speed that turns time into nodes."""

from __future__ import annotations

import pytest

from py2048.players.search.context import COSTS_PER_BIT, MAX_LEVELS
from py2048.players.search.limits import SearchLimits, SearchSpeed


@pytest.mark.parametrize(
    ("name", "inside", "outside", "range_"),
    [
        ("depth", (1, MAX_LEVELS), (0, -1, MAX_LEVELS + 1), f"1 to {MAX_LEVELS}"),
        ("nodes", (1, 2**60 - 1), (0, -1, 2**60, 2**61), f"1 to {2**60 - 1}"),
        ("ms", (0.001, 999_999_999.0), (0.0, -1.0, 1e9, 2e9), "more than 0 and less than 1e9"),
        ("cutoff", (0.0, 0.999), (-0.001, 1.0, 1.5), "at least 0 and less than 1"),
    ],
)
def test_limits_are_refused_exactly_outside_their_range(name, inside, outside, range_):
    """Every value in the range is accepted; any other is refused with the range."""
    for value in inside:
        assert getattr(SearchLimits(**{name: value}), name) == value
    for value in outside:
        with pytest.raises(ValueError, match=f"{name} must be {range_}, not "):
            SearchLimits(**{name: value})


def test_a_budget_is_in_nodes_or_in_time():
    """Both together are refused."""
    with pytest.raises(ValueError, match="give nodes or ms, not both"):
        SearchLimits(nodes=1, ms=1.0)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (SearchLimits(), (True, 2, True)),
        (SearchLimits(3), (True, 3, True)),
        (SearchLimits(3, cutoff=0.1), (True, 3, False)),
        (SearchLimits(nodes=9), (False, MAX_LEVELS, False)),
        (SearchLimits(ms=9.0), (False, MAX_LEVELS, False)),
        (SearchLimits(1, nodes=9), (False, 1, False)),
    ],
)
def test_a_budget_deepens_until_it_is_used_up(limits, expected):
    """Without a budget the depth is fixed, 2 by default; with one it is only an upper bound."""
    assert (limits.has_fixed_depth, limits.max_depth, limits.is_exhaustive) == expected


def test_the_maximum_cost_is_that_of_the_cutoff():
    """A path's cost is -log2 of its probability; without a cutoff no path is too costly."""
    assert SearchLimits(cutoff=0.5).max_cost == COSTS_PER_BIT
    assert SearchLimits(cutoff=2**-9).max_cost == 9 * COSTS_PER_BIT
    assert SearchLimits().max_cost > 1000 * COSTS_PER_BIT


def test_the_first_measurement_replaces_the_guess_and_old_ones_decay():
    """Nodes and seconds are totals until they cover the window; then the oldest are forgotten."""
    speed = SearchSpeed()
    speed.record(40, 0.01)
    assert speed.nodes_per_second == pytest.approx(4000)
    speed.record(4, 0.01)  # one board took as long as ten
    assert speed.nodes_per_second == pytest.approx(2200)
    speed.record(39_956, 0.98)  # 40,000 nodes in a second, half of which are beyond the window
    speed.record(20_000, 2.0)
    assert speed.nodes_per_second == pytest.approx(16_000)


def test_a_clock_that_stands_still_gives_a_finite_speed():
    """Searches of no measurable time or nodes neither divide by zero nor give a speed of 0."""
    speed = SearchSpeed()
    speed.record(0, 0.0)
    assert speed.nodes_per_second == pytest.approx(1e7)
    speed.record(0, 1.0)
    assert speed.nodes_per_second == pytest.approx(1.0)
