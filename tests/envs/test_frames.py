"""Frames are reused only when no view of them is in use."""

from __future__ import annotations

import numpy as np
import pytest

from py2048.envs.vector import FramePool, Layout

LAYOUT = Layout(8, 512, (4, 4), np.dtype(np.uint8), has_last=True, penalty=0.0)


def boards(pool: FramePool) -> np.ndarray:
    """Return an array of the next frame."""
    return pool.take().shown().observations


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_memory_not_in_use_is_used_again() -> None:
    """Dropped frames are reused without new allocations."""
    pool = FramePool(LAYOUT)
    places = {address(boards(pool)) for _ in range(20)}
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
    """Any view of a frame prevents its reuse."""
    pool = FramePool(LAYOUT)
    held = hold(boards(pool))
    first = address(boards(pool))
    for _ in range(20):
        assert address(boards(pool)) == first
    del held
    assert {address(boards(pool)) for _ in range(3)} != {first}


def test_without_reference_counts_all_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without reference counts, frames are never reused."""
    monkeypatch.setattr("sys.implementation.name", "other")
    pool = FramePool(LAYOUT)
    kept = [address(boards(pool)) for _ in range(FramePool.MAX_FRAMES)]
    assert len(set(kept)) == len(kept)
