"""Rating and writing of puzzles in `scripts/mine_puzzles.py`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scripts import module_of

from py2048 import Direction
from py2048.review.puzzles import PACK, puzzles

UP, DOWN, LEFT, _ = Direction

miner = module_of("scripts", "mine_puzzles")


def test_chances_are_those_of_a_player_who_misjudges_moves(miner):
    """The integral gives the share of a simulated player's choices."""
    draws, values = np.random.default_rng(1), {UP: 90.0, LEFT: 100.0, DOWN: 60.0}
    judged = np.array([*values.values()]) * (1 + 0.3 * draws.uniform(-1, 1, (40_000, 3)))
    for place, best in enumerate(values):
        share = (judged.argmax(axis=1) == place).mean()
        assert miner.chance_to_find(values, best, 0.3) == pytest.approx(share, abs=0.01)
    assert miner.chance_to_find(values, LEFT, 0.001) == 1
    assert miner.chance_to_find(values, UP, 0.001) == 0


def test_a_pack_is_read_as_it_was_written(miner, tmp_path):
    """Writing the shipped puzzles reproduces the shipped file."""
    miner.write_pack(reversed(puzzles()), copy := tmp_path / "pack.txt")
    assert copy.read_bytes() == PACK.read_bytes()
