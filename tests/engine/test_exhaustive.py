"""All 65,536 rows slide correctly, in the line table and in all directions of a batch."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from py2048.core import board as reference
from py2048.core.direction import Direction
from py2048.core.rules import Merging, get_rules
from py2048.engine.batch import BatchGames
from py2048.engine.rules import line_table
from py2048.envs import functional

LINES = 1 << 16


@cache
def lines() -> np.ndarray:
    """All lines of four ranks up to 15: uint8 `[65536, 4]`."""
    return np.stack([np.arange(LINES) >> 4 * cell & 15 for cell in range(4)], 1).astype(np.uint8)


@cache
def slid(merging: Merging, is_forward: bool) -> tuple[np.ndarray, np.ndarray]:
    """The reference slide of every line: ranks, uint8 `[65536, 4]`, and points."""
    sign = 1 if is_forward else -1
    after, gained = np.zeros((LINES, 4), np.uint8), np.zeros(LINES, np.int64)
    for index, ranks in enumerate(lines().tolist()):
        line = tuple(1 << rank if rank else 0 for rank in ranks[::sign])
        tiles, gained[index], _ = reference.slide_line(line, merging)
        after[index] = [tile.bit_length() - 1 if tile else 0 for tile in tiles[::sign]]
    return after, gained


def boards_of(ranks: np.ndarray, direction: Direction, shape: tuple[int, int]) -> np.ndarray:
    """Boards with one line along `direction`, in the second row or column."""
    boards = np.zeros((LINES, *shape), np.uint8)
    if direction.is_vertical:
        boards[:, :4, 1] = ranks
    else:
        boards[:, 1, :4] = ranks
    return boards


@pytest.mark.parametrize("merging", list(Merging))
def test_every_row_of_the_table(merging):
    """The line table agrees with the reference for every line, both ways."""
    for part, is_forward in ((0, True), (16, False)):
        after, points = slid(merging, is_forward)
        entries = line_table(4, merging).astype(np.int64) >> part
        # The table stores 65536 as 32768, with the points of the 65536.
        held = np.minimum(after, 15)
        assert np.array_equal(entries[:, None] >> 4 * np.arange(4) & 15, held)
        assert np.array_equal((entries >> 32 & 0xFFFF) * 4, points)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(
    ("merging", "shape"),
    [(Merging.ONCE, (4, 4)), (Merging.CASCADE, (4, 4)), (Merging.ONCE, (4, 5))],
    ids=["classic", "cascade", "wide"],
)
def test_every_row_in_every_direction(direction, merging, shape):
    """A batch step of every row agrees with the reference: board, points, legality and spawn."""
    if shape == (4, 5) and not direction.is_vertical:
        shape = (5, 4)
    rules = get_rules("classic", rows=shape[0], columns=shape[1], merging=merging, target=None)
    batch = BatchGames(rules, LINES, seed=1, reset="disabled")
    before = boards_of(lines(), direction, shape)
    after, points = slid(merging, direction.is_forward)
    expected = boards_of(after, direction, shape)
    moved = (expected != before).any(axis=(1, 2))
    batch.set_boards(before)
    assert np.array_equal(batch.legal_mask[:, direction.value], moved)
    shown, gained, legal = functional.slide(rules, before, np.full(LINES, direction.value))
    assert np.array_equal(shown, expected)
    assert np.array_equal(gained, points)
    assert np.array_equal(legal, moved)

    # The batch's own start may be a board that cannot move, whose game is over.
    playing = batch.legal_bits != 0
    assert np.array_equal(batch.step(np.full(LINES, direction.value)), points * playing)
    assert np.array_equal(batch.illegal, ~moved & playing)
    result = batch.observe()
    spawned = result != expected
    assert np.array_equal(spawned.sum(axis=(1, 2)), moved)
    assert not expected[spawned].any()
    assert np.isin(result[spawned], (1, 2)).all()
    other = BatchGames(rules, LINES, seed=2)
    other.set_boards(result)
    assert np.array_equal(other.legal_bits, batch.legal_bits)
