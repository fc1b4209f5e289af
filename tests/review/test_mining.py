"""Rating and selection of puzzles in `scripts/mine_puzzles.py`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scripts import module_of

from py2048 import Board, Direction, get_rules
from py2048.review.puzzles import PACK, puzzles

miner = module_of("scripts", "mine_puzzles")


def test_ratings_are_those_that_the_misses_came_from(miner):
    """The fit recovers simulated ratings, up to a common level and the prior's shrinkage."""
    draws = np.random.default_rng(1)
    ratings, abilities = draws.normal(0, 300, 500), np.linspace(-500, 500, 40)
    chances = 1 / (1 + 10 ** ((abilities - ratings[:, None]) / 400))
    found, able = miner.fitted((draws.random(chances.shape) < chances).astype(float))
    assert np.corrcoef(found, ratings)[0, 1] > 0.95
    assert able[-1] - able[0] == pytest.approx(1000, abs=120)
    assert abs(found - (ratings - ratings.mean())).mean() < 80


def test_directions_on_an_image_are_those_on_the_board(miner):
    """Sliding a symmetric board gives the symmetric image of the original slide."""
    board = Board.parse("2 2 4 . / . 8 . . / 16 . . 2 / 4 4 8 8")
    for image, directions in miner.images(board, get_rules("classic")):
        assert set(directions) == set(image.legal_directions())
        for theirs, ours in directions.items():
            assert image.slide(theirs).points == board.slide(ours).points
    first, second = list(miner.images(board, get_rules("classic")))[:2]  # itself, and mirrored
    assert all(theirs is ours for theirs, ours in first[1].items())
    assert second[1][Direction.LEFT] is Direction.RIGHT


def test_a_pack_is_read_as_it_was_written(miner, tmp_path):
    """Writing the shipped puzzles reproduces the shipped file."""
    miner.write_pack(reversed(puzzles()), copy := tmp_path / "pack.txt")
    assert copy.read_bytes() == PACK.read_bytes()
