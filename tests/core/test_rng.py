"""The numbers of the documented generator never change, and it is fair."""

from __future__ import annotations

import pytest

from py2048 import Game
from py2048.core import rng
from py2048.core.errors import SeedError
from py2048.core.rules import Weights


def test_mix64_is_the_finaliser_of_splitmix64():
    """SplitMix64 seeded with 1234567 gives the outputs published with its reference code."""
    state, outputs = 1234567, []
    for _ in range(3):
        state += rng.GOLDEN
        outputs.append(rng.mix64(state))
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_the_generator_is_pinned():
    """The same seed gives the same numbers on every machine and version."""
    key = rng.key_of(7)
    assert key == rng.draw(7 - rng.GOLDEN, 1) == 7191089600892374487
    assert [rng.draw(key, ply) for ply in range(2)] == [13309476754707697221, 11984929618412882174]
    assert rng.derive_seed(7, 1) == rng.draw(key, 2**62 + 1) == 9416537733669411647


def test_a_draw_selects_a_tile_by_its_high_half_and_a_cell_by_its_low_half():
    """Both halves are scaled to the number of choices."""
    word = 0xFEDCBA98_76543211
    assert (rng.pick_high(word, 2**32), rng.pick_low(word, 2**32)) == (0xFEDCBA98, 0x76543211)
    assert (rng.pick_high(word, 10), rng.pick_low(word, 10)) == (9, 4)
    weights = Weights({2: 1, 4: 2, 8: 1})
    assert [rng.pick_tile(weights, word << 62) for word in range(4)] == [2, 4, 4, 8]


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "7", True])
def test_invalid_seeds_are_refused(seed):
    """Invalid seeds are rejected with the value and the range."""
    with pytest.raises(SeedError, match="whole number from 0"):
        Game(seed=seed)  # type: ignore[arg-type]


def test_seeds_are_read_from_text():
    """Seeds can be parsed from command lines."""
    assert (rng.parse_seed("0"), rng.parse_seed(str(2**64 - 1))) == (0, 2**64 - 1)
    with pytest.raises(SeedError, match="'abc' is not a seed"):
        rng.parse_seed("abc")
    assert 2**52 < max(rng.random_seed() for _ in range(100)) < 2**53
