"""Tests of tile-downgrading for boards with tiles beyond a network's ranks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from py2048.engine.jit import plain_form
from py2048.players.ntuple._network_kernels import downgraded_rank, known_word, removed_ranks
from py2048.players.ntuple.layout import downgraded

boards = st.lists(st.integers(0, 4) | st.integers(0, 31), min_size=16, max_size=16)
known_ranks = st.integers(1, 15)


@pytest.mark.parametrize(
    ("ranks", "known", "expected"),
    [
        ([16, 14, 3, 0], 15, [15, 14, 3, 0]),
        ([17, 16, 14, 1], 15, [15, 14, 13, 1]),
        ([14, 14, 13, 11, 2], 13, [13, 13, 12, 11, 2]),
        ([15, 14, 3, 0], 15, [15, 14, 3, 0]),
        ([4, 3, 2, 1], 3, [3, 3, 2, 1]),
    ],
)
def test_the_largest_missing_rank_leaves_the_count(ranks, known, expected):
    """Missing ranks are skipped, largest first, until the maximum is small enough."""
    assert downgraded(ranks, known) == expected


@given(boards, known_ranks)
def test_packed_boards_are_lowered_alike(ranks, known):
    """The kernel agrees with the reference, both compiled and as plain Python."""
    low = sum((rank & 15) << 4 * cell for cell, rank in enumerate(ranks))
    high = sum((rank >> 4) << 4 * cell for cell, rank in enumerate(ranks))
    expected = sum(rank << 4 * cell for cell, rank in enumerate(downgraded(ranks, known)))
    for form in (known_word, plain_form(known_word)):
        with np.errstate(over="ignore"):
            assert form(np.uint64(low), np.uint64(high), np.uint64(known)) == expected


@given(st.lists(st.integers(0, 31), min_size=25, max_size=25), st.integers(1, 31))
def test_each_rank_falls_by_those_taken_out_below_it(ranks, known):
    """Each rank falls by the number of skipped ranks below it, on boards of any size."""
    seen = sum(1 << rank for rank in set(ranks))
    taken = removed_ranks(np.uint64(seen), np.uint64(known))
    found = [int(downgraded_rank(np.uint64(rank), taken, np.uint64(known))) for rank in ranks]
    assert found == downgraded(ranks, known)
