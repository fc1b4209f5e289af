"""The GPU batch plays the same games as the CPU batch, bit for bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from boards import ODD_RULES
from tests.engine import emulation

from py2048.core.errors import DirectionError, RulesError
from py2048.core.rules import Rules
from py2048.engine import cuda
from py2048.engine.batch import RESETS, BatchGames

SQUARE = [
    "classic",
    ODD_RULES[3],
    "sums:start=1..3x2:3+8:1,spawn=2:5+8:3,scoring=sum,target=64,end=target",
]
"""Rules that cover each kind of merging, scoring and ending."""


def host(batch: BatchGames) -> list[np.ndarray]:
    """Copy a batch state to host memory."""
    return [array.get() if hasattr(array, "get") else array for array in batch.get_state()]


card = emulation.every_card


@pytest.mark.parametrize("text", SQUARE)
def test_gpu_and_cpu_play_the_same_games(text, card):
    """All reset modes, random and given directions, given boards and copies agree with the CPU."""
    rules, random = Rules.parse(text), np.random.default_rng(1)
    for reset in RESETS:
        processor = BatchGames(rules, 50, seed=7, reset=reset)
        batch = BatchGames(rules, 50, seed=7, reset=reset, device="cuda")
        for _ in range(2):
            assert batch.play_random(100) == processor.play_random(100)
            for _ in range(20):
                ways = random.integers(0, 4, 50)
                rewards = card.get(batch.step(card.put(ways)))
                assert np.array_equal(rewards, processor.step(ways))
            assert all(map(np.array_equal, host(batch), host(processor)))
            assert np.array_equal(card.get(batch.legal_mask), processor.legal_mask)
            assert np.array_equal(card.get(batch.observe()), processor.observe())
            mask, start = random.random(50) < 0.5, processor.observe()[::-1]
            for each in (batch, processor):
                each.set_boards(start, mask)
                each.reset(~mask)
            batch = pickle.loads(pickle.dumps(batch))
        assert batch.board(3) == processor.board(3)
        assert np.array_equal(card.get(batch.seeds), processor.seeds)
        assert np.array_equal(card.get(batch.plies), processor.plies)
    with pytest.raises(DirectionError, match="4 is not a direction"):
        batch.step([4] * 50)


def test_arrays_are_shared_without_a_copy(card):
    """DLPack shares the memory of arrays, with PyTorch on a GPU and with NumPy elsewhere."""
    take = np if card.arrays is np else pytest.importorskip("torch")
    batch = BatchGames(Rules.parse("classic"), 5, device="cuda")
    for array in (batch.observe(), batch.legal_mask):
        taken = take.from_dlpack(array)
        array[...] = 1
        assert bool((taken == 1).all())


def test_unsupported_settings_are_refused(monkeypatch):
    """Other boards, deterministic spawns, histories and unknown devices are rejected."""
    for text in ("5x5", "cits1401:size=4x4,start=2x2:1"):
        with pytest.raises(RulesError, match="4x4 boards with random spawns"):
            cuda.source_of(Rules.parse(text), 32)
    for wrong in ({"device": "gpu"}, {"device": "cuda", "history": True}):
        with pytest.raises(ValueError, match="device must be"):
            BatchGames(Rules.parse("classic"), 1, **wrong)
