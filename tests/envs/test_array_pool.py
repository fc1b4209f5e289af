"""Memory is used again only when nobody can see it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from py2048.envs.vector import ArrayPool, ShownBatch
from py2048.rules import get_rules


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_memory_that_nobody_holds_is_used_again() -> None:
    """What was dropped comes back; nothing new is allocated."""
    pool = ArrayPool((8, 4), np.uint8)
    places = {address(pool.take()) for _ in range(20)}
    assert len(places) == 1


@pytest.mark.parametrize(
    "hold",
    [
        lambda array: array[:3],
        lambda array: array.view(np.int8).reshape(-1)[2:],
        lambda array: memoryview(array[:2]),
        lambda array: np.frombuffer(array[:2], np.uint8),
        lambda array: {"deep": [array[1:].T]},
        lambda array: iter(array[:2]),
    ],
    ids=["slice", "views", "memoryview", "buffer", "container", "iterator"],
)
def test_memory_in_use_is_never_handed_out(hold) -> None:  # type: ignore[no-untyped-def]
    """A view of whatever kind keeps its memory from being written to."""
    pool = ArrayPool((8, 4), np.uint8)
    held = hold(pool.take())
    first = address(pool.take())
    for _ in range(20):
        assert address(pool.take()) == first
    del held
    assert {address(pool.take()) for _ in range(3)} != {first}


def test_those_who_keep_everything_get_new_memory() -> None:
    """However many arrays are kept, each has memory of its own, and few wait to be used again."""
    pool = ArrayPool(16, np.int64)
    kept = [pool.take()[:] for _ in range(3 * ArrayPool.KEPT)]
    assert len({address(array) for array in kept}) == len(kept)
    assert len(pool._kept) == ArrayPool.KEPT


def test_without_reference_counts_all_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a Python that does not count references nothing is used again."""
    monkeypatch.setattr("sys.implementation.name", "other")
    pool = ArrayPool(16, np.int64)
    kept = [address(pool.take()) for _ in range(ArrayPool.KEPT)]
    assert len(set(kept)) == len(kept)


def test_copies_share_no_memory() -> None:
    """A copy of a batch of games writes to arrays of its own."""
    batch = ShownBatch(get_rules("classic"), 8, seed=1, threads=1)
    options = {"penalty": 0.0, "is_log": False, "is_terminal": False}
    boards = batch.show(**options)[0].boards  # type: ignore[arg-type]
    before = boards.copy()
    for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        other.play_random(5)
        assert not np.shares_memory(other.show(**options)[0].boards, boards)
    assert np.array_equal(boards, before)
